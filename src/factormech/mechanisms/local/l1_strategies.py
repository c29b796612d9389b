"""Query strategies for Laplace noise: known families and projected descent.

**Projected gradient steps.** They lower ‖R‖_F² over strategies whose columns have ℓ1 norm at most 1. In the notation
of *The problem*, B is a root of C, BᵀB = C.

**Known families.** A search starts from the best of them. The identity; trees of every branching in ``BRANCHINGS``
and the Haar wavelet, with optimised level weights (negligible levels dropped); for n = 2^d the parities weighted by
the cube root of their energy and the marginals weighted by their number of attributes; the optimal ball strategy.
McKenna, Maity, Mazumdar & Miklau (PVLDB 13(11), 2020, §6.1) compare with such a matrix mechanism, Li, Miklau, Hay,
McGregor & Rastogi (VLDB Journal 24, 2015) introduced it, with trees (Hay et al., 2010) and wavelets (Xiao et al.,
2011) as fixed cases.

**The problem.** Find A with a small ‖R‖_F² × Δ₁² over RAP = WP, where Δ₁ = max_{u,v} ‖a_u − a_v‖₁. This problem is
not convex: the result is the best of several families, improved by projected gradient steps, with a lower bound that
holds for *every* A (notation of :mod:`factormech.mechanisms.local.l2_strategies`).

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
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from factormech.arrays import FloatArray
from factormech.mechanisms.local.l2_strategies import LOST_ENERGY, SolverRecord
from factormech.numerics.descent import backtracked
from factormech.numerics.vectors import root
from factormech.workloads.binary import transform

# Projected gradient steps.

_TRIES = 17  # to lengths of 2e-8


def projected_gradient(A: FloatArray, B: FloatArray, steps: int) -> tuple[FloatArray, int, str]:
    """Spectral projected gradient (Birgin, Martínez & Raydan, 2000) on ‖R‖_F² over columns with ‖a_u‖₁ ≤ 1.

    The norm of a column bounds half of Δ₁, and optimal columns fill that bound; A itself needs no
    centre, as AP is all that ‖R‖_F² sees. Returns the best point met, the number of steps, and why they
    ended.
    """
    A = project_columns(A)
    start = Energy(A, B)
    if not math.isfinite(start.value):
        return A, 0, "no finite start"
    f, g = start.value, start.gradient()
    best, best_f, recent = A, f, [f]
    length = 1.0 / max(float(np.abs(project_columns(A - g / f) - A).max()), 1e-9) / f
    for step in range(steps):
        D = project_columns(A - length * g) - A
        slope = float(np.sum(g * D))
        if -slope <= 1e-9 * f:
            return best, step, "stationary"
        moved = _line_search(A, D, slope, max(recent[-8:]), B)
        if moved is None:
            return best, step, "no descent left"
        A_next, f, g_next = moved
        S, Y = A_next - A, g_next - g
        curvature = float(np.sum(S * Y))
        length = float(np.sum(S * S)) / curvature if curvature > 0 else 4.0 * length
        A, g = A_next, g_next
        recent.append(f)
        if f < best_f:
            best, best_f = A, f
    return best, steps, "steps used up"


def _line_search(
    A: FloatArray, D: FloatArray, slope: float, ceiling: float, B: FloatArray
) -> tuple[FloatArray, float, FloatArray] | None:
    """First of A + D, A + D/3, … that is enough below the worst of the recent values; ``None`` if none is."""

    def attempt(t: float) -> tuple[float, tuple[FloatArray, Energy]]:
        A_next = A + t * D
        energy = Energy(A_next, B)
        return energy.value, (A_next, energy)

    found = backtracked(attempt, ceiling, slope, factor=1.0 / 3.0, tries=_TRIES)
    return (found[2][0], found[1], found[2][1].gradient()) if found else None


class Energy:
    """f = ‖BX^{1/2}‖_F², X = (PAᵀAP + s11ᵀ)⁻¹, and on demand its gradient, which costs more than f itself.

    B1 = 0 makes f independent of s > 0. The ``value`` is not finite (∞) where AP has rank below n − 1.
    """

    def __init__(self, A: FloatArray, B: FloatArray) -> None:
        from scipy.linalg import lapack

        self._centred = A - A.mean(axis=1, keepdims=True)
        M = self._centred.T @ self._centred
        M += np.trace(M) / M.shape[0] ** 2
        # M is its own transpose, which is in LAPACK's order; OpenBLAS is faster with upper triangles.
        self._factor, failed = lapack.dpotrf(M.T, clean=0, overwrite_a=1)
        self._half, self.value = B.T, math.inf
        if not failed:
            self._half, _ = lapack.dtrtrs(self._factor, B.T, trans=1)
            self.value = float(np.vdot(self._half.T, self._half.T))

    def gradient(self) -> FloatArray:
        """−2AP·YYᵀ, Y = XBᵀ; only where the value is finite."""
        from scipy.linalg import lapack

        Y, _ = lapack.dtrtrs(self._factor, self._half)
        gradient = self._centred @ (Y @ Y.T)
        gradient *= -2.0
        return np.asarray(gradient)


def project_columns(A: FloatArray) -> FloatArray:
    """Nearest matrix with columns of ℓ1 norm at most 1: soft thresholds by Michelot's active sets (1986)."""
    from factormech.mechanisms.local.column_kernels import thresholds

    shift, t = thresholds(np.ascontiguousarray(A))
    outside = np.flatnonzero(t > -np.inf)
    if not outside.size:
        return A
    every = outside.size == A.shape[1]
    moved = A if every else A[:, outside]
    m = np.abs(moved)
    m -= shift[outside]
    m -= t[outside]
    found = np.copysign(np.maximum(m, 0.0, out=m), moved, out=m)
    if every:
        return np.asarray(found)
    projected = A.copy()
    projected[:, outside] = found
    return projected


# Known families.

BRANCHINGS = (2, 3, 4, 8, 16, 32)
# Candidates with more rows than this multiple of n are not built: every step works on k × n numbers.
_MAX_ROWS = 4
_NEGLIGIBLE_WEIGHT = 1e-3  # a level below this fraction of the largest weight is dropped


def families(C: FloatArray, ball: FloatArray) -> Iterator[tuple[str, FloatArray]]:
    """Yield every family's name and strategy, (k, n), for this C; ``ball`` is the optimal ball strategy."""
    n = len(C)
    yield "identity", np.eye(n)
    yield "ball", ball
    for b in BRANCHINGS:
        if b < n:
            yield f"tree of branching {b}", _tree(C, b)
    yield "haar wavelet", _haar(C)
    d = n.bit_length() - 1
    if n == 2**d and d > 0:
        g = parity_energies(C)
        yield "parities", _parities(g)
        marginals = _marginals(g, d)
        if len(marginals) <= _MAX_ROWS * n:
            yield "marginals", marginals


def _tree(C: FloatArray, b: int) -> FloatArray:
    """Indicators of the nodes of a b-ary tree over the domain (the root is public), levels weighted.

    Level l has nodes of s_l = b^l values. On the details between levels j and j + 1, AᵀA is Σ_{l≤j}
    w_l² s_l.
    """
    sizes = _level_sizes(len(C), b)
    E = np.tril(np.ones((len(sizes), 1)) * sizes)
    w = best_level_weights(E, _detail_energies(C, [*sizes, sizes[-1] * b]))
    return np.vstack([x * _indicators(len(C), int(s)) for x, s in zip(w, sizes, strict=True) if x > 0])


def _haar(C: FloatArray) -> FloatArray:
    """Left half minus right half of every node of the binary tree; AᵀA is w_l²·2s_l on level l."""
    sizes = _level_sizes(len(C), 2)
    w = best_level_weights(np.diag(2.0 * sizes), _detail_energies(C, [*sizes, sizes[-1] * 2]))
    blocks = []
    for x, s in zip(w, sizes, strict=True):
        halves = _indicators(len(C), int(s))
        if len(halves) % 2:
            halves = np.vstack([halves, np.zeros(len(C))])
        blocks.append(x * (halves[0::2] - halves[1::2]))
    return np.vstack([block for block, x in zip(blocks, w, strict=True) if x > 0])


def _parities(g: FloatArray) -> FloatArray:
    """Characters weighted by g_χ^{1/3}: the best weights for a bound on Σw_χ, ‖R‖² being Σ g_χ/(n w_χ²)."""
    n = len(g)
    w = np.cbrt(np.where(g > n * np.finfo(float).eps * g.max(), g, 0.0))
    used = np.flatnonzero(w)
    signs = 1.0 - 2.0 * (np.bitwise_count(used[:, None] & np.arange(n)[None, :]) % 2)
    return np.asarray(w[used, None] * signs)


def _marginals(g: FloatArray, d: int) -> FloatArray:
    """Tables of all sets of s attributes, weighted by s = 1 … d (the empty set is public).

    On a parity of t attributes the tables of size s, scaled to unit columns, give C(d−t,
    s−t)·2^{d−s}/C(d, s)².
    """
    order = np.bitwise_count(np.arange(2**d))
    t = np.array([g[order == size].sum() for size in range(1, d + 1)])
    E = np.array(
        [
            [
                math.comb(d - i, s - i) * 2.0 ** (d - s) / math.comb(d, s) ** 2 if s >= i else 0.0
                for s in range(1, d + 1)
            ]
            for i in range(1, d + 1)
        ]
    )
    w = best_level_weights(E, t)
    used = [s for s in range(1, d + 1) if w[s - 1] > 0]
    if sum(math.comb(d, s) * 2**s for s in used) > _MAX_ROWS * 2**d:
        used = used[:0]
    blocks = [w[s - 1] / math.comb(d, s) * _tables(d, s, order) for s in used]
    return np.vstack(blocks) if blocks else np.zeros((_MAX_ROWS * 2**d + 1, 0))


def _tables(d: int, size: int, order: FloatArray) -> FloatArray:
    """Indicator rows of all marginal tables of ``size`` of the d binary attributes."""
    users = np.arange(2**d)
    rows = []
    for attributes in np.flatnonzero(order == size):
        cells = users & attributes
        rows.append((np.unique(cells)[:, None] == cells[None, :]).astype(float))
    return np.vstack(rows)


def parity_energies(C: FloatArray) -> FloatArray:
    """χᵀCχ/n for every parity χ of n = 2^d values, by two fast Walsh–Hadamard transforms."""
    H = transform(transform(C).T)
    return np.maximum(np.diagonal(H) / len(C), 0.0)


def _level_sizes(n: int, b: int) -> FloatArray:
    """1, b, b², … below n."""
    return np.array([float(b) ** level for level in range(math.ceil(math.log(n) / math.log(b) - 1e-12))])


def _indicators(n: int, size: int) -> FloatArray:
    """Rows: the blocks of ``size`` consecutive values (the last one may be shorter)."""
    blocks = np.arange(n) // size
    return np.asarray(np.arange(blocks[-1] + 1)[:, None] == blocks[None, :], dtype=np.float64)


def _detail_energies(C: FloatArray, sizes: list[float]) -> FloatArray:
    """tr C(Π_j − Π_{j+1}), Π_j averaging over blocks of ``sizes``[j], the domain padded to whole blocks."""
    energies = []
    for size in sizes:
        starts = np.arange(0, len(C), int(size))
        within = np.add.reduceat(np.add.reduceat(C, starts, axis=0), starts, axis=1)
        energies.append(float(np.trace(within)) / size)
    return np.maximum(-np.diff(energies), 0.0)


def best_level_weights(E: FloatArray, t: FloatArray) -> FloatArray:
    """Weights w in the simplex for a small Σ_j t_j/(Ew²)_j: the best of several descents.

    Levels of negligible weight are set to 0 unless that loses a direction with t_j > 0.
    """
    from scipy.optimize import minimize

    needed = t > len(t) * 1e-13 * t.sum()
    E, t, levels = E[needed], t[needed], E.shape[1]

    def loss(z: FloatArray) -> tuple[float, FloatArray]:
        w = np.exp(z - z.max())
        w /= w.sum()
        m = E @ w**2
        value = float(np.sum(t / m))
        slope = -2.0 * w * ((t / m**2) @ E) / value
        return math.log(value), w * (slope - slope @ w)

    starts = [np.zeros(levels), *(3.0 * np.eye(levels))]
    found = [minimize(loss, z, jac=True, method="L-BFGS-B") for z in starts]
    z = min(found, key=lambda one: one.fun).x
    w = np.exp(z - z.max())
    kept = np.where(w > _NEGLIGIBLE_WEIGHT, w, 0.0)
    if np.all(E @ kept**2 > 0):
        w = kept
    return np.asarray(w / w.sum())


# The problem.

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
    from factormech.mechanisms.local.column_kernels import largest_l1_distance

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
