r"""Certificates of hardness: a dual matrix U made feasible, its numbers rounded outward, and the strongest such U.

**Theorem.** Let U have rows that sum to 0, W_v•U_v ≥ θ‖U_v‖₁ for every v, θ > 0, and put G = W•U/γ₂*(U). On the nonzero
rows let λ_v, μ_v = 2U_v^±/‖U_v‖₁, a_v = W_v•U_v/‖U_v‖₁ ≥ θ, μ̃_v = (1 − s_v)λ_v + s_vμ_v with s_v = θ'/a_v for a θ' ≤ θ.
Then every gap W_v•(λ_v − μ̃_v) is 2θ', and some weights π̂ > 0 give ‖M̃‖_{∞→L2(π̂)} ≤ 2θ'/G.

*Proof.* λ_v − μ_v = 2U_v/‖U_v‖₁, so M̃_v = 2θ'U_v/(W_v•U_v). With π̃_v = W_v•U_v/W•U the matrix Ũ = (π̃_vM̃_v) is
2θ'/(W•U)·U, and γ₂*(Ũ) = 2θ'/G. The norm is the next statement. ∎ (No binning and no logarithm: the mixing is chosen
row by row; Edmonds, PhD thesis, 2023, Lemmas 17 to 19, mixes all rows alike and keeps one level set of the a_v.)

**L₂ step.** Let Ũ = (π̃_vM̃_v) = PBQ with ‖B‖ = γ₂*(Ũ), tr P² = tr Q² = 1 (``norms.dual``), p_v = P_v². With
σ = Σπ̃_v²/p_v ≥ (Σπ̃_v)²/Σp_v = 1 and π̂_v = π̃_v²/(σp_v), for |f| ≤ 1

.. math:: E_{\hat\pi}(\tilde M_vf)^2 = \lVert P^{-1}\tilde Uf\rVert^2/\sigma = \lVert BQf\rVert^2/\sigma
          \le \gamma_2^*(\tilde U)^2/\sigma

(with constant 4 and half of the rows in Edmonds, Nikolov & Ullman, STOC 2020, Lemmas 14 and 15; Edmonds, 2023,
Lemmas 15 and 16).

**A centre.** In the L₂ step diag(y) ⪰ M̃ᵀΠ̂M̃ for y_x = Yq_x, q_x = Q_x², Y = γ₂*(Ũ)²/σ. Where φ > 0 has
Σ_x max(φq_x, D_x) ≤ 1, D_x = max_v |M̃_vx|/2, some distribution ν is at least φq and D: then ν ± M̃_v/2 are pairs of the
same gaps around a centre (``divergence``); with D_x = max_v M̃⁻_vx so are ν + M̃_v and ν, for sequential protocols.
``share`` is the largest such φ: as the sum is the largest over all choices of the lines with φq_x, it is the least of
(1 − Σ_{x∉S}D_x)/Σ_{x∈S}q_x over the sets S of the lines with the smallest D_x/q_x.

All of it holds for the numbers stored: rows of U are whole multiples of one power of two whose sums are exact, θ and
W•U are rounded down and γ₂*(U) up.

**The strongest certificate.** It is the U of the largest W•U/γ₂*(U) with U1 = 0 and W_v•U_v ≥ θ‖U_v‖₁ for every row.
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
from functools import cached_property
from typing import Any

import numpy as np

from factormech.arrays import FloatArray, check_dense_size, check_positive_integer
from factormech.bounds.hard.divergence import PROTOCOLS, Protocol
from factormech.errors import BadValue
from factormech.norms import approximate, involutions, splitting
from factormech.norms.approximate import feasible
from factormech.norms.boxes import Boxes, around
from factormech.norms.certificates import dual_norm, upper_bound
from factormech.norms.certified import checked_matrix
from factormech.norms.splitting import Iterate
from factormech.numerics.descent import Anderson
from factormech.numerics.rounding import above, below, gamma

# Certificates from a given dual matrix.

# A row that misses θ by less than this part is kept, and lowers the θ that is proved.
_ROW_TOLERANCE = 1e-7
_UNIT = 2.0**-53
# More than sums of the domain's length can lose to rounding.
_SHARE_SLACK = 1.0 - 1e-10


@dataclass(frozen=True)
class Witness:
    """U with its certified numbers (see the module).

    Attributes
    ----------
    matrix
        U, (k, N); rows sum to 0 exactly, rows that are not used are 0.
    theta
        W_v•U_v ≥ θ‖U_v‖₁ for every row.
    gain
        At most W•U.
    size
        At least γ₂*(U).
    centre
        q, (N,): the column weights that prove ``size``, their sum 1.
    spreads
        (2, N): D_x/θ' of pairs ν ± M̃_v/2, and of pairs ν + M̃_v, ν.
    rows
        p, (k,): the row weights that prove ``size``, their sum 1.
    """

    matrix: FloatArray
    theta: float
    gain: float
    size: float
    centre: FloatArray
    spreads: FloatArray
    rows: FloatArray

    @property
    def strength(self) -> float:
        """At most G = W•U/γ₂*(U)."""
        return below(self.gain / self.size, 2) if self.size > 0.0 else 0.0

    def share(self, theta: float, protocol: Protocol = "non-interactive") -> float:
        """φ of the pairs of half-gap θ' around a centre; 0 where there are none."""
        q, D = self._ordered[protocol]
        if theta * D[0] >= 1.0 or self.strength <= 0.0:
            return 0.0
        return min(max(float(((1.0 - theta * D[1:]) / q).min()) * _SHARE_SLACK, 0.0), 1.0)

    @cached_property
    def _ordered(self) -> dict[str, tuple[FloatArray, FloatArray]]:
        """Sums of q over the lines of the smallest D/q, and of D over the others (first over all)."""
        sums = {}
        for protocol, D in zip(PROTOCOLS, self.spreads, strict=True):
            order = np.argsort(D / np.maximum(self.centre, np.finfo(float).tiny))
            rest = np.concatenate([np.cumsum(D[order][::-1])[::-1], [0.0]])
            sums[str(protocol)] = (np.maximum(np.cumsum(self.centre[order]), np.finfo(float).tiny), rest)
        return sums

    def row_mass(self, theta: float) -> float:
        """At least the largest ‖λ_v − μ_v‖₁ of the pairs of half-gap θ' ≤ θ: 2θ'/a_v ≤ 2θ'/θ."""
        return min(above(2.0 * theta / self.theta, 4), 2.0)

    def norm(self, theta: float) -> float:
        """At least ‖M̃‖_{∞→L2(π̂)} of the pairs of half-gap θ'."""
        return above(2.0 * theta / self.strength, 4) if self.strength > 0.0 else math.inf


def certify(
    workload: Any,
    dual_matrix: FloatArray,
    theta: float,
    *,
    weights: tuple[FloatArray, FloatArray] | None = None,
    gap: float = 1e-4,
) -> Witness:
    """The certificate that a dual matrix gives once it is made feasible.

    Rows with W_v•U_v < 0 are negated; rows that then miss θ are left out.

    Parameters
    ----------
    workload
        W, (k, N); the bound holds for this matrix of doubles.
    dual_matrix
        U, (k, N), any numbers: they decide how good the bound is, not whether it holds.
    theta
        The half-gap asked for, above 0.
    weights
        Positive weights of rows and columns that bound γ₂*(U); it is solved to ``gap`` where there are none.
    """
    W = checked_matrix("workload", workload)
    U = checked_matrix("dual_matrix", dual_matrix)
    if U.shape != W.shape:
        raise BadValue("shape of dual_matrix", U.shape, f"be the workload's, {W.shape}", "give one row per query")
    if not 0.0 < theta < math.inf:
        raise BadValue("theta", theta, "be a finite number above 0", "give for example 0.1")
    if not U.any():
        return nothing(W.shape, theta)
    U = feasible(around(W, 0.0, shifted=True), U)
    gains, masses = _row_numbers(W, U)
    flip = (gains < 0.0) & (np.einsum("ij,ij->i", W, U) < 0.0)
    U[flip] *= -1.0
    gains, masses = _row_numbers(W, U)
    used = (masses > 0.0) & (gains >= theta * (1.0 - _ROW_TOLERANCE) * masses)
    U[~used] = 0.0
    if not used.any():
        return nothing(W.shape, theta)
    proved = below(float((gains[used] / masses[used]).min()), 2)
    gain = below(math.fsum(gains[used].tolist()), 2)
    if weights is None:
        found = dual_norm(U, gap=gap)
        size, p, q = found.upper, found.row_scales**2, found.column_scales**2
    else:
        size, (p, q) = upper_bound(U, *weights), weights
    return Witness(U, proved, gain, size, q / q.sum(), _spreads(U[used], gains[used]), p / p.sum())


def nothing(shape: tuple[int, int], theta: float) -> Witness:
    """The certificate that proves nothing."""
    k, N = shape
    return Witness(np.zeros((k, N)), theta, 0.0, 0.0, np.full(N, 1.0 / N), np.zeros((2, N)), np.full(k, 1.0 / k))


def _row_numbers(W: FloatArray, U: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Numbers at most W_v•U_v, and the exact ‖U_v‖₁ (sums of whole multiples of one power of two)."""
    size = np.einsum("ij,ij->i", np.abs(W), np.abs(U))
    error = 2.0 * gamma(W.shape[1] + 3) * size
    value = np.einsum("ij,ij->i", W, U) - error
    return value - np.abs(value) * (2.0 * _UNIT), np.abs(U).sum(axis=1)


def _spreads(U: FloatArray, gains: FloatArray) -> FloatArray:
    """max_v |U_vx|/(W_v•U_v) and, of U or −U whichever is less in sum, max_v 2U⁻_vx/(W_v•U_v)."""
    rows = U / gains[:, None]
    sides = [2.0 * np.maximum(sign * rows, 0.0).max(axis=0) for sign in (1.0, -1.0)]
    return np.array([np.abs(rows).max(axis=0), min(sides, key=lambda side: float(side.sum()))])


# The strongest certificate.

_RELAXATION = 1.6
_LOOK_EVERY = 20
_MEMORY = 10
_ADAPT_EVERY, _ADAPT_UNTIL = 20, 200
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
        return BestWitness(nothing(W.shape, theta), 0.0, {"iterations": 0, "stopped": "gap"})
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
        self.witness, self.upper = nothing(W.shape, theta), math.inf

    def boxes(self, s: FloatArray) -> Boxes:
        """The box of W̃ − c1ᵀ for these s."""
        middle, half = s[:, None] * self.matrix, (s[:, None] - 1.0) * self.slack
        return Boxes(middle - half, middle + half, True)

    def enough(self, iterate: Iterate, s: FloatArray) -> bool:
        """Keep the better ends; return whether they are as near to each other as requested."""
        boxes = self.boxes(s)
        for R, A, shift in approximate.factors(boxes, iterate):
            self.upper = min(self.upper, self.scale * approximate.upper_end(boxes, R, A, shift)[0])
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
        found = certify(self.whole, U, self.theta, weights=(rows, q))
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
    involution = involutions.find(Boxes(W - best.slack, W + best.slack, True))
    V, rho = splitting.start(W)
    V = involution.mean(V)
    c, s, before, memory = np.zeros(k), np.ones(k), V, Anderson(_MEMORY)
    for iteration in range(1, iterations + 1):
        Z = _bounded(V, W, best.slack, c, s, rho)
        reflected = 2.0 * Z - V
        S = splitting.into_cone(reflected, involution)
        if iteration == 1 or iteration % _LOOK_EVERY == 0 or iteration == iterations:
            weights = np.maximum(np.diagonal(S) - np.diagonal(reflected), 0.0)
            root = splitting.root_in_cone(reflected, involution)
            iterate = Iterate(Z[:k, k:], c.copy(), rho * (Z[:k, k:] - V[:k, k:]), weights[:k], weights[k:], root)
            if best.enough(iterate, s):
                return iteration, "gap"
        step = _RELAXATION * (S - Z)
        V = memory.next(V + step, step)
        if iteration % _ADAPT_EVERY == 0 and iteration <= _ADAPT_UNTIL:
            factor = splitting.imbalance(S, Z, before, S - reflected)
            if factor != 1.0:
                V, rho = S + (V - S) / factor, rho * factor
                memory.forget()
        before = S
    return iterations, "iteration_limit"


def _bounded(V: FloatArray, W: FloatArray, slack: float, c: FloatArray, s: FloatArray, rho: float) -> FloatArray:
    """Z, the proximal point of t/ρ over the rows' sets; c and s are updated in place."""
    from factormech.bounds.kernels import nearest_scales

    k = len(c)
    Z, block = V.copy(), np.ascontiguousarray(V[:k, k:])
    nearest_scales(block, W, slack, c, s, _NEWTON_TOLERANCE * (1.0 + float(np.abs(block).max())))
    middle, half = c[:, None] + s[:, None] * W, (s[:, None] - 1.0) * slack
    Z[:k, k:] = np.clip(block, middle - half, middle + half)
    Z[k:, :k] = Z[:k, k:].T
    diagonal = np.diagonal(V)
    Z[np.diag_indices(len(Z))] = np.minimum(diagonal, splitting.level(diagonal, 1.0 / rho))
    return Z
