r"""The strongest certificate: U of the largest W•U/γ₂*(U) with U1 = 0 and W_v•U_v ≥ θ‖U_v‖₁ for every row.

By Lagrangian duality (γ₂ is the dual of γ₂*, and each row's constraint has a multiplier s_v − 1 ≥ 0)

.. math:: G(\theta) = \min\{\gamma_2(\tilde W) : |\tilde W_{vx} - c_v - s_vW_{vx}| \le (s_v-1)\theta,\ s_v \ge 1\},

since ⟨W̃, U⟩ ≥ Σ_v s_vW_v•U_v − (s_v−1)θ‖U_v‖₁ ≥ W•U for a feasible U: G falls from γ̂₂(W, 0) as θ grows, and is at least
γ̂₂(W, θ), whose own dual matrix is feasible once its rows with W_v•U_v < θ‖U_v‖₁ are dropped. The least norm that pairs
of half-gap θ can have is 2θ/G(θ) (``witness``; conversely pairs with every gap at least 2θ give a feasible Ũ with
W•Ũ ≥ 2θ).

**Solver**: Douglas–Rachford splitting of the semidefinite program of γ₂(W̃), as for the approximate norms
(``norms.approximate.splitting``); the projection on the rows' sets is a convex problem in (c_v, s_v). Its residual
U = ρ(Z − V) is orthogonal to 1, and W_v•U_v ≥ θ‖U_v‖₁ with equality where s_v > 1, as the derivatives in c_v and s_v
say: it is feasible at every step, and ``witness.certify`` proves what it is worth.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from factormech.arrays import FloatArray, check_dense_size, check_positive_integer
from factormech.bounds.hard import witness
from factormech.bounds.hard.witness import Witness
from factormech.errors import BadValue
from factormech.norms.approximate import certificate, projections, symmetry
from factormech.norms.approximate.boxes import Boxes
from factormech.norms.approximate.splitting import Iterate
from factormech.norms.dual import dual_norm
from factormech.norms.exact import factorization_norm
from factormech.norms.matrices import checked_matrix
from factormech.numerics.acceleration import Anderson

_RELAXATION = 1.6
_LOOK_EVERY = 20
_MEMORY = 10
_ADAPT_EVERY, _ADAPT_UNTIL, _ADAPT_MOST = 20, 200, 2.0
_START_GAP = 2e-2
_WEIGHT_FLOOR = 1e-9
_NEWTON_TOLERANCE = 1e-13
# γ₂* is solved anew where better weights could close the gap.
_ASCENT = 50


@dataclass(frozen=True)
class BestWitness:
    """A certificate, and what no certificate at this θ can exceed.

    Attributes
    ----------
    witness
        The certificate; its ``strength`` is the lower end of G(θ).
    upper
        The upper end of G(θ), from factors of a W̃.
    record
        ``iterations``, ``stopped``.
    """

    witness: Witness
    upper: float
    record: dict[str, object] = field(default_factory=dict)

    @property
    def gap(self) -> float:
        """upper ÷ strength − 1."""
        return self.upper / self.witness.strength - 1.0 if self.witness.strength > 0.0 else math.inf


def best_witness(workload: Any, theta: float, *, gap: float = 2e-3, iterations: int = 600) -> BestWitness:
    """G(θ) to the relative gap asked for, or as near as ``iterations`` steps come.

    Parameters
    ----------
    workload
        W, (k, N): a ``Workload`` or a dense matrix.
    theta
        θ > 0, half of the gap of the pairs. A row whose entries lie within 2θ of each other takes no part.
    """
    W = checked_matrix("workload", workload)
    if not 0.0 < theta < math.inf:
        raise BadValue("theta", theta, "be a finite number above 0", "give for example 0.1")
    if not (gap > 0.0 and math.isfinite(gap)):
        raise BadValue("gap", gap, "be a finite number above 0", "give for example 1e-3")
    limit = check_positive_integer("iterations", iterations)
    rows = np.ptp(W, axis=1) > 2.0 * theta
    if not rows.any():
        return BestWitness(witness.nothing(W.shape, theta), 0.0, {"iterations": 0, "stopped": "gap"})
    best = _Best(W, rows, theta, gap)
    steps, stopped = _split(best, limit)
    return BestWitness(best.witness, best.upper, {"iterations": steps, "stopped": stopped})


class _Best:
    """The problem without its idle rows, centred, and the best of both ends so far."""

    def __init__(self, W: FloatArray, rows: FloatArray, theta: float, gap: float) -> None:
        self.whole, self.rows, self.gap, self.theta = W, rows, gap, theta
        kept = W[rows]
        middle = 0.5 * kept.max(axis=1) + 0.5 * kept.min(axis=1)
        self.scale = float(np.ptp(kept, axis=1).max())
        self.matrix, self.slack = (kept - middle[:, None]) / self.scale, theta / self.scale
        self.witness, self.upper = witness.nothing(W.shape, theta), math.inf

    def boxes(self, s: FloatArray) -> Boxes:
        """The box of W̃ − c1ᵀ for these s."""
        middle, half = s[:, None] * self.matrix, (s[:, None] - 1.0) * self.slack
        return Boxes(middle - half, middle + half, True)

    def enough(self, iterate: Iterate, s: FloatArray) -> bool:
        """Take what is better; whether both ends are as near as asked."""
        boxes = self.boxes(s)
        for R, A, shift in certificate.factors(boxes, iterate):
            self.upper = min(self.upper, self.scale * certificate.upper_end(boxes, R, A, shift)[0])
        found = self._certified(iterate)
        if found.strength > self.witness.strength:
            self.witness = found
        return self.upper <= (1.0 + self.gap) * self.witness.strength

    def _certified(self, iterate: Iterate) -> Witness:
        U = np.zeros(self.whole.shape)
        U[self.rows] = iterate.dual
        p, q = (np.maximum(x, _WEIGHT_FLOOR * x.mean()) for x in (iterate.row_weights, iterate.column_weights))
        if not (p.max() > 0.0 and q.max() > 0.0):
            return self.witness
        rows = np.full(len(U), _WEIGHT_FLOOR * p.mean())
        rows[self.rows] = p
        found = witness.certify(self.whole, U, self.theta, weights=(rows, q))
        if found.size > 0.0 and self.gap < self.upper / max(found.strength, 1e-300) - 1.0 < 4.0 * self.gap:
            start = iterate.root[len(self.matrix) :]
            better = dual_norm(found.matrix, gap=0.01 * self.gap, iterations=_ASCENT, start=start)
            if better.upper < found.size:
                centre = better.column_scales**2
                found = replace(found, size=better.upper, centre=centre / centre.sum())
        return found


def _split(best: _Best, iterations: int) -> tuple[int, str]:
    W = best.matrix
    k = len(W)
    check_dense_size("semidefinite matrices of the splitting", 2 * _MEMORY + 8, sum(W.shape), sum(W.shape))
    involution = symmetry.find(Boxes(W - best.slack, W + best.slack, True))
    V, rho = _start(W)
    V = involution.mean(V)
    c, s, before, memory = np.zeros(k), np.ones(k), V, Anderson(_MEMORY)
    for iteration in range(1, iterations + 1):
        Z = _bounded(V, W, best.slack, c, s, rho)
        reflected = 2.0 * Z - V
        S = projections.into_cone(reflected, involution)
        if iteration == 1 or iteration % _LOOK_EVERY == 0 or iteration == iterations:
            weights = np.maximum(np.diagonal(S) - np.diagonal(reflected), 0.0)
            root = projections.root_in_cone(reflected, involution)
            iterate = Iterate(Z[:k, k:], c.copy(), rho * (Z[:k, k:] - V[:k, k:]), weights[:k], weights[k:], root)
            if best.enough(iterate, s):
                return iteration, "gap"
        step = _RELAXATION * (S - Z)
        V = memory.next(V + step, step)
        if iteration % _ADAPT_EVERY == 0 and iteration <= _ADAPT_UNTIL:
            factor = _imbalance(S, Z, before, S - reflected)
            if factor != 1.0:
                V, rho = S + (V - S) / factor, rho * factor
                memory.forget()
        before = S
    return iterations, "iteration_limit"


def _start(W: FloatArray) -> tuple[FloatArray, float]:
    """V and ρ from the factors and the dual matrix of W itself (s = 1, c = 0)."""
    k = len(W)
    norm = factorization_norm(W, gap=_START_GAP)
    R, A = norm.left.dense(), norm.right.dense()
    balance = np.sqrt(np.linalg.norm(R, axis=1).max() / np.linalg.norm(A, axis=0).max())
    F = np.vstack([R / balance, A.T * balance])
    S, D = F @ F.T, np.zeros((len(F), len(F)))
    w, q = norm.witness["row_weights"], norm.witness["column_weights"]
    D[:k, k:] = -norm.witness["dual"]
    D[k:, :k] = D[:k, k:].T
    D[np.diag_indices(len(D))] = np.concatenate([w / w.sum(), q / q.sum()])
    rho = 0.5 * float(np.linalg.norm(D) / np.linalg.norm(S))
    return S + 0.5 * D / rho, rho


def _bounded(V: FloatArray, W: FloatArray, slack: float, c: FloatArray, s: FloatArray, rho: float) -> FloatArray:
    """Z, the proximal point of t/ρ over the rows' sets; c and s are updated in place."""
    from factormech.bounds.hard.kernels import nearest_scales

    k = len(c)
    Z, block = V.copy(), np.ascontiguousarray(V[:k, k:])
    nearest_scales(block, W, slack, c, s, _NEWTON_TOLERANCE * (1.0 + float(np.abs(block).max())))
    middle, half = c[:, None] + s[:, None] * W, (s[:, None] - 1.0) * slack
    Z[:k, k:] = np.clip(block, middle - half, middle + half)
    Z[k:, :k] = Z[:k, k:].T
    diagonal = np.diagonal(V)
    Z[np.diag_indices(len(Z))] = np.minimum(diagonal, projections.level(diagonal, 1.0 / rho))
    return Z


def _imbalance(S: FloatArray, Z: FloatArray, before: FloatArray, multiplier: FloatArray) -> float:
    """The factor for ρ: above 1 where the matrices differ by more than the multipliers move."""
    primal = np.linalg.norm(S - Z) / np.linalg.norm(Z)
    dual = np.linalg.norm(S - before) / np.linalg.norm(multiplier)
    if not (primal > 0.0 and dual > 0.0):
        return 1.0
    factor = float(np.clip(np.sqrt(primal / dual), 1.0 / _ADAPT_MOST, _ADAPT_MOST))
    return factor if abs(np.log(factor)) > 0.18 else 1.0
