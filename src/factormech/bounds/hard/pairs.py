"""Pairs of distributions that a workload answers differently and that are hard to tell apart through a randomizer.

**Families of pairs.** A matrix U whose rows sum to 0 makes π_v = ‖U_v‖₁/‖U‖₁ and λ_v, μ_v = 2U_v^±/‖U_v‖₁ (Edmonds,
Nikolov & Ullman, STOC 2020, Lemma 19; Edmonds, PhD thesis, 2023, Lemma 17): W_v•(λ_v − μ_v) = 2a_v with a_v =
W_v•U_v/‖U_v‖₁, and E_π a_v = W•U/‖U‖₁. To release answers a mechanism must tell each pair of a gap apart, so the gaps
are made equal by mixing:

- ``mix_rows``, ours: μ̃_v = (1 − s_v)λ_v + s_vμ_v with s_v = θ/a_v on the rows with a_v ≥ θ, weights ∝ π_va_v. Every gap
  is 2θ and π̃_v(λ_v − μ̃_v) = 2θU_v/Σ_{a≥θ}W_v•U_v: a multiple of U;
- ``mix_level_set``, as published (Edmonds, Nikolov & Ullman, 2020, Lemmas 20 and 21; Edmonds, 2023, Lemmas 18 and 19):
  one s for all rows, on the rows 2^{−l−1} < a_v/max a ≤ 2^{−l} of the level with the
  largest π(S)·min_S a_v: a logarithm is lost by the choice and a factor up to 2 within the level.

``symmetrised`` is the form of the STOC paper, for the workload (W, −W): one distribution of each pair answers 0 to
every query.

**The norm ‖M‖_{∞→L2(π)}.** Its square is the largest average squared difference of the pairs that any f with |f| ≤ 1
can see. ‖M‖² = max fᵀAf over the cube [−1, 1]^N, A = MᵀΠM ⪰ 0; the maximum is at a corner. ``upper_norm`` is its
semidefinite relaxation, within √(π/2) of it (Nesterov, 1998): max ⟨A, F⟩ over F ⪰ 0 of diagonal at most 1 = min 1ᵀy
over diag(y) ⪰ A. For any d > 0, y = ‖Π^{½}MD^{−1}‖²d² is feasible, D = diag(d), and its sum bounds ‖M‖²; the spectral
norm is bounded by a Cholesky factorization with its rounding counted.

The relaxation is solved by F_ij = ⟨x_i, x_j⟩, x ← Ax normalised (Burer–Monteiro; the form is convex, so it never
falls), with momentum; y_i is the norm of (Ax)_i.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from factormech.arrays import FloatArray, IntArray
from factormech.bounds.hard.certificate import Witness
from factormech.errors import BadValue
from factormech.norms.certificates import dual_norm
from factormech.norms.certified import checked_matrix
from factormech.numerics.rounding import TINY, above, below, gamma, spectral_norm_above, squared_norms_above, sum_above
from factormech.numerics.vectors import unit_rows

# Families of pairs.

_SUM_TOLERANCE = 1e-9


@dataclass(frozen=True)
class HardPairs:
    """λ and μ, (k, N), distributions as rows, weights π, (k,), and the queries of the workload that they belong to."""

    first: FloatArray
    second: FloatArray
    weights: FloatArray
    queries: IntArray

    def __post_init__(self) -> None:
        k = len(self.weights)
        if self.first.shape != self.second.shape or len(self.first) != k or len(self.queries) != k or not k:
            shapes = (self.first.shape, self.second.shape, self.weights.shape, self.queries.shape)
            raise BadValue("shapes of the family", shapes, "be (k, N), (k, N), (k,) and (k,)", "give one row per pair")
        for name, rows in (("first", self.first), ("second", self.second), ("weights", self.weights[None])):
            if not (rows.min() >= 0.0 and np.abs(rows.sum(axis=1) - 1.0).max() <= _SUM_TOLERANCE):
                raise BadValue(name, "not a distribution", "have rows ≥ 0 that sum to 1", "normalise it")

    @property
    def difference(self) -> FloatArray:
        """M, rows λ_v − μ_v."""
        return np.asarray(self.first - self.second)

    @property
    def row_mass(self) -> float:
        """The largest ‖λ_v − μ_v‖₁."""
        return float(np.abs(self.difference).sum(axis=1).max())

    @property
    def witness(self) -> FloatArray:
        """Rows π_v(λ_v − μ_v): the matrix Ũ, twice the U that the family was made from (‖U‖₁ = 1)."""
        return np.asarray(self.weights[:, None] * self.difference)

    def half_gaps(self, workload: Any) -> FloatArray:
        """a_v = W_v•(λ_v − μ_v)/2."""
        W = _matching(workload, self)
        return np.asarray(0.5 * np.einsum("vx,vx->v", W[self.queries], self.difference))


def from_witness(dual_matrix: Any, workload: Any = None) -> HardPairs:
    """The family of a matrix whose rows sum to 0; its zero rows are left out.

    With a workload, rows with W_v•U_v < 0 are negated first, so that all gaps are at least 0.
    """
    U = checked_matrix("dual_matrix", dual_matrix)
    off = np.abs(U.sum(axis=1)) > _SUM_TOLERANCE * np.abs(U).sum(axis=1)
    if off.any():
        v = int(np.argmax(off))
        raise BadValue(f"sum of dual_matrix row {v}", float(U[v].sum()), "be 0", "subtract the mean, or give a witness")
    queries = np.flatnonzero(U.any(axis=1))
    if not len(queries):
        raise BadValue("dual_matrix", "all zero", "have a row that is not 0", "give a dual matrix of a norm above 0")
    if workload is not None:
        W = checked_matrix("workload", workload)
        if W.shape != U.shape:
            raise BadValue("shape of dual_matrix", U.shape, f"be the workload's, {W.shape}", "give one row per query")
        U = U * np.where(np.einsum("vx,vx->v", W, U) < 0.0, -1.0, 1.0)[:, None]
    U = U[queries]
    parts = [np.maximum(sign * U, 0.0) for sign in (1.0, -1.0)]
    mass = np.abs(U).sum(axis=1)
    first, second = (part / part.sum(axis=1, keepdims=True) for part in parts)
    return HardPairs(first, second, mass / mass.sum(), queries)


def mix_rows(family: HardPairs, workload: Any, theta: float) -> HardPairs:
    """The rows with a_v ≥ θ, each μ_v mixed with its λ_v until the gap is 2θ."""
    a = family.half_gaps(workload)
    kept = _reaching(a, theta)
    s = np.minimum(theta / a[kept], 1.0)[:, None]
    first = family.first[kept]
    weights = family.weights[kept] * a[kept]
    second = (1.0 - s) * first + s * family.second[kept]
    return HardPairs(first, second, weights / weights.sum(), family.queries[kept])


def mix_level_set(family: HardPairs, workload: Any, theta: float) -> HardPairs:
    """The published choice: the dyadic level S of largest π(S)·min a_v, with one mixture for all; gaps ≥ 2θ."""
    a = family.half_gaps(workload)
    kept = _reaching(a, theta)
    level = np.full(len(a), -1)
    level[kept] = np.floor(np.log2(a.max() / a[kept])).astype(np.int64)
    levels = np.unique(level[kept])
    worth = [float(family.weights[level == j].sum() * a[level == j].min()) for j in levels]
    kept = level == levels[int(np.argmax(worth))]
    s = min(theta / float(a[kept].min()), 1.0)
    first, weights = family.first[kept], family.weights[kept]
    second = (1.0 - s) * first + s * family.second[kept]
    return HardPairs(first, second, weights / weights.sum(), family.queries[kept])


def around_centre(witness: Witness, workload: Any, theta: float, *, one_sided: bool = False) -> HardPairs:
    """ν ± M̃_v/2 of gaps 2θ around a centre that keeps the largest share of the column weights (``witness``).

    One-sided, the pairs are ν + M̃_v and ν: they share one distribution. The weights are those of Ũ, ∝ W_v•U_v.
    """
    W, U = checked_matrix("workload", workload), witness.matrix
    queries = np.flatnonzero(U.any(axis=1))
    gains = np.einsum("vx,vx->v", W[queries], U[queries])
    M = 2.0 * theta * U[queries] / gains[:, None]
    if one_sided and np.maximum(-M, 0.0).max(axis=0).sum() > np.maximum(M, 0.0).max(axis=0).sum():
        M = -M
    D = np.maximum(-M, 0.0).max(axis=0) if one_sided else 0.5 * np.abs(M).max(axis=0)
    share = witness.share(theta, "sequential" if one_sided else "non-interactive")
    if share == 0.0:
        raise BadValue("theta", theta, "be small enough for a centre", "give a smaller one, or use mix_rows")
    nu = np.maximum(share * witness.centre, D)
    nu += (1.0 - float(nu.sum())) * witness.centre
    first, second = (nu + M, nu + 0.0 * M) if one_sided else (nu + 0.5 * M, nu - 0.5 * M)
    # Rounding may leave −1e-17 where ν and D meet.
    first, second = np.maximum(first, 0.0), np.maximum(second, 0.0)
    if one_sided and float(np.einsum("vx,vx->v", W[queries], M)[0]) < 0.0:
        first, second = second, first
    return HardPairs(first, second, gains / gains.sum(), queries)


def weighted(family: HardPairs, *, gap: float = 1e-4) -> tuple[HardPairs, float]:
    """The family with the weights π̂ of the L₂ step (``witness``), and an upper bound on ‖M‖_{∞→L2(π̂)}: γ₂*(Ũ)/√σ."""
    U = family.witness
    found = dual_norm(U, gap=gap)
    used = found.row_scales > 0.0
    p = np.maximum(found.row_scales**2, np.finfo(float).tiny)
    squares = np.where(used, family.weights**2 / p, 0.0)
    sigma = math.fsum(squares.tolist())
    family = HardPairs(family.first[used], family.second[used], squares[used] / sigma, family.queries[used])
    return family, above(found.upper / math.sqrt(below(sigma, 8)), 16)


def symmetrised(dual_matrix: Any) -> HardPairs:
    """For the workload (W, −W) on twice the types, from any U, (k, N): the second of each pair answers 0 to all.

    λ_v puts |U_vx|/‖U_v‖₁ on x where U_vx > 0 and on −x where U_vx < 0, μ_v half of it on either; a gap is
    W_v•U_v/‖U_v‖₁.
    """
    U = checked_matrix("dual_matrix", dual_matrix)
    queries = np.flatnonzero(U.any(axis=1))
    if not len(queries):
        raise BadValue("dual_matrix", "all zero", "have a row that is not 0", "give a dual matrix of a norm above 0")
    mass = np.abs(U[queries]).sum(axis=1)
    share = U[queries] / mass[:, None]
    first = np.hstack([np.maximum(share, 0.0), np.maximum(-share, 0.0)])
    second = 0.5 * np.hstack([np.abs(share)] * 2)
    return HardPairs(first, second, mass / mass.sum(), queries)


def _reaching(a: FloatArray, theta: float) -> FloatArray:
    if not 0.0 < theta < math.inf:
        raise BadValue("theta", theta, "be a finite number above 0", "give for example 0.1")
    kept = a >= theta
    if not kept.any():
        raise BadValue("theta", theta, f"be at most the largest half-gap, {float(a.max()):.6g}", "give a smaller one")
    return np.asarray(kept)


def _matching(workload: Any, family: HardPairs) -> FloatArray:
    W = checked_matrix("workload", workload)
    if W.shape[1] != family.first.shape[1] or len(W) <= family.queries.max():
        rule = f"have {family.first.shape[1]} types and the queries of the family"
        raise BadValue("shape of workload", W.shape, rule, "give the workload that the family was made for")
    return W


# The norm ‖M‖_{∞→L2(π)}.

_CHECK_EVERY = 25
_FLOOR = 1e-12


def upper_norm(family: HardPairs, *, gap: float = 1e-4, iterations: int = 3000) -> float:
    """A certified upper bound on ‖M‖_{∞→L2(π)}, within ``gap`` of the relaxation if ``iterations`` allow."""
    C = np.sqrt(family.weights)[:, None] * family.difference  # Π^{½}M
    used = np.asarray(C.any(axis=0))
    return _ascend(C[:, used], gap, iterations) if used.any() else 0.0


def _ascend(C: FloatArray, gap: float, iterations: int) -> float:
    N = C.shape[1]
    X = unit_rows(np.random.default_rng(0).standard_normal((N, math.ceil(math.sqrt(2.0 * N)) + 1)))[0]
    before, value, momentum, best = X, -math.inf, 0, math.inf
    for iteration in range(1, iterations + 1):
        ahead = unit_rows(X + momentum / (momentum + 3.0) * (X - before))[0]
        before, (X, y) = X, unit_rows(C.T @ (C @ ahead))
        form = float(np.sum((C @ X) ** 2))
        momentum = momentum + 1 if form >= value else 0
        value = form
        if iteration % _CHECK_EVERY == 0 or iteration == iterations:
            best = min(best, _scaled_norm(C, y))
            if best**2 <= (1.0 + gap) * value:
                break
    return best


def _scaled_norm(C: FloatArray, y: FloatArray) -> float:
    """‖CD^{−1}‖·√Σd², d² = y, rounded outward; C and M have three roundings an entry."""
    d = np.sqrt(np.maximum(y, _FLOOR * float(y.mean()) + TINY))
    core = C / d
    error = above(gamma(4) * math.sqrt(sum_above(squared_norms_above(core, 0))), 4) + TINY
    return above((spectral_norm_above(core) + error) * math.sqrt(sum_above(d * d * (1.0 + 4.0 * gamma(1)))), 8)
