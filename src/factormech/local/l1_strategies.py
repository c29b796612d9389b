r"""Query strategies A for Laplace noise: small ‖R‖_F² × Δ₁² over RAP = WP, Δ₁ = max_{u,v} ‖a_u − a_v‖₁.

This problem is not convex: the result is the best of several families, improved by projected gradient
steps, with a lower bound that holds for *every* A (notation of :mod:`factormech.local.l2_strategies`).

**Lower bound.** *The ℓ1 diameter of a finite set is at least twice the radius ρ of its ℓ2 minimum
enclosing ball.*

Proof. Put the centre at 0. There are weights q on points at distance ρ with Σq_u a_u = 0. As |⟨a_u, a_v⟩|
≤ ρ², α_uv = q_u q_v(1 − ⟨a_u, a_v⟩/ρ²) is a probability on pairs, so for x, y drawn independently from q

    Δ₁ ≥ Σ α_uv‖a_u − a_v‖₁ = Σ_i { E|x_i − y_i| − ρ⁻² Σ_j E[x_j y_j·|x_i − y_i|] }.

|s − t| is conditionally negative definite and E x_j = 0, so every −E[x_j y_j·|x_i − y_i|] is ≥ 0; keep
j = i. For s, t in [−ρ, ρ], 1 − st/ρ² ≥ |s − t|/ρ, because (ρ − s)(ρ + t) ≥ 0 and (ρ + s)(ρ − t) ≥ 0.
Hence Δ₁ ≥ Σ_i E(x_i − y_i)²/ρ = 2ρ²/ρ = 2ρ. ∎

So Δ₁²‖R‖_F² ≥ 4·radius²·‖R‖_F² ≥ 4γ², γ² the certified optimum of the ball. For W = I the bound is
4(n−1)²/n, against 4(n−1) for the identity strategy.

The families are those of :mod:`factormech.local.l1_families`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from factormech.arrays import FloatArray
from factormech.local.l1_descent import projected_gradient
from factormech.local.l1_families import families
from factormech.local.l2_strategies import LOST_ENERGY, SolverRecord
from factormech.numerics.symmetric import root

_SCOUTS = 4  # candidates that are given a short refinement before one is chosen for the long one
_SCOUT_STEPS = 10
_FAR_FROM_SINGULAR = 1e-6  # reciprocal condition from which Cholesky is right to nine digits and more


@dataclass(frozen=True)
class _Columns:
    name: str
    columns: FloatArray
    value: float


def laplace_strategy(
    C: FloatArray, ball: FloatArray, ball_bound: float, *, max_iterations: int = 60
) -> tuple[FloatArray, SolverRecord]:
    """A (k × n) with Δ₁ ≤ 1 up to rounding, and the record: objective, and the lower bound 4·``ball_bound``.

    ``ball`` is the optimal ball strategy of the same C ≠ 0, ``ball_bound`` its certified lower bound.
    Never worse than the best family.
    """
    B = root(C).T
    candidates = _distinct(sorted(_candidates(C, ball), key=lambda one: one.value))
    scouts = [_refined(one, C, B, _SCOUT_STEPS)[0] for one in candidates[:_SCOUTS]]
    best = min(scouts, key=lambda one: one.value)
    best, steps, stopped = _refined(best, C, B, max_iterations)
    record = SolverRecord(best.value, 4.0 * ball_bound, steps, f"{stopped}; from {best.name}")
    return best.columns / l1_diameter(best.columns), record


def _distinct(candidates: list[_Columns]) -> list[_Columns]:
    """The sorted candidates without repeated values: a tree that keeps only its leaves is the identity."""
    values = np.array([one.value for one in candidates])
    new = np.concatenate([[True], values[1:] > values[:-1] * (1 + 1e-6)])
    return [one for one, keep in zip(candidates, new, strict=True) if keep]


def l1_diameter(A: FloatArray) -> float:
    """max_{u,v} ‖a_u − a_v‖₁ from all pairs of columns, a sum of absolute differences each; NaN unless A is finite."""
    from factormech.local.column_kernels import largest_l1_distance

    # A maximum of compiled code passes over what is no number: no sensitivity may.
    finite = bool(np.isfinite(A).all())
    return float(largest_l1_distance(np.ascontiguousarray(A.T, dtype=np.float64))) if finite else math.nan


def reconstruction_energy(A: FloatArray, C: FloatArray) -> float:
    """Least ‖R‖_F² with RAP = WP, tr(C(PAᵀAP)⁺); ∞ if the rows of WP do not lie in the row space of AP."""
    from scipy.linalg import lapack

    centred = A - A.mean(axis=1, keepdims=True)
    factor = _factor(centred)
    if factor is not None:
        inverse, _ = lapack.dpotri(factor)
        return float(2.0 * np.vdot(np.triu(inverse, 1), C) + np.diagonal(inverse) @ np.diagonal(C))
    eigenvalues, V = np.linalg.eigh(centred.T @ centred)
    keep = eigenvalues > len(C) * np.finfo(float).eps * eigenvalues[-1]
    energies = np.einsum("us,us->s", V, C @ V)
    if energies[~keep].sum() > LOST_ENERGY * energies.sum():
        return math.inf
    return float(np.sum(energies[keep] / eigenvalues[keep]))


def _factor(centred: FloatArray) -> FloatArray | None:
    """U with UᵀU = PAᵀAP + s11ᵀ, s1ᵀ1 their mean eigenvalue; none if AP has rank below n − 1 or is near to it.

    C1 = 0: tr(C(PAᵀAP)⁺) = tr(C(UᵀU)⁻¹), in a tenth of the time of eigenvectors.
    """
    from scipy.linalg import lapack

    M = centred.T @ centred
    M += np.trace(M) / M.shape[0] ** 2
    size = float(np.abs(M).sum(axis=0).max())
    U, failed = lapack.dpotrf(M.T, overwrite_a=1)
    far = not failed and size > 0 and lapack.dpocon(U, size, uplo="U")[0] >= _FAR_FROM_SINGULAR
    return np.asarray(U) if far else None


def _candidates(C: FloatArray, ball: FloatArray) -> Iterator[_Columns]:
    for name, A in families(C, ball):
        diameter = l1_diameter(A)
        yield _Columns(name, A, reconstruction_energy(A, C) * diameter**2 if diameter > 0 else math.inf)


def _refined(candidate: _Columns, C: FloatArray, B: FloatArray, steps: int) -> tuple[_Columns, int, str]:
    """The candidate after projected gradient steps, if they improved it; their number, and why they ended."""
    if not math.isfinite(candidate.value):
        return candidate, 0, "no finite start"
    A = _of_full_rank(candidate.columns)
    A, taken, stopped = projected_gradient(A / np.abs(A).sum(axis=0).max(), B, steps)
    A = A[np.any(A != 0, axis=1)]
    value = reconstruction_energy(A, C) * l1_diameter(A) ** 2
    if value < candidate.value:
        candidate = _Columns(candidate.name, A, value)
    return candidate, taken, stopped


def _of_full_rank(A: FloatArray) -> FloatArray:
    """A, with a small identity below it if AP has rank below n − 1: descent needs a finite inverse."""
    n = A.shape[1]
    if _factor(A - A.mean(axis=1, keepdims=True)) is not None:
        return A
    singular_values = np.linalg.svd(A - A.mean(axis=1, keepdims=True), compute_uv=False)
    if len(singular_values) >= n - 1 and (n < 3 or singular_values[n - 2] > 1e-6 * singular_values[0]):
        return A
    return np.vstack([A, 1e-3 * np.abs(A).sum(axis=0).max() * np.eye(n)])
