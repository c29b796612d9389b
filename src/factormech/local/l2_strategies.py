r"""Query strategies A for noise measured in L2: least ‖R‖_F² × size(A)² over RAP = WP, with certificates.

Notation: n user types, P = I − 11ᵀ/n, C = PWᵀWP the centred Gram matrix, B any matrix with BᵀB = C (r ×
n, r the rank), b_u its columns. Only RAP = WP is needed, because the number of users is public and an
offset common to all columns is free; so the size of A may be measured after the best shift:

* *radius*: the minimum enclosing ball, min_c max_u ‖a_u − c‖ (a randomizer of the ball);
* *diameter*: max_{u,v} ‖a_u − a_v‖ (Gaussian noise under replacement of one user).

Both are convex in M = AᵀA, where ‖R‖_F² = tr(C M⁺), and have one dual. With Λ ⪰ 0 a matrix of weights,

    radius²   = max over q in the simplex of tr(MΛ),  Λ = diag(q) − qqᵀ      (the best centre is Aq),
    diameter² = max over weights w of pairs, Σw = 1,  Λ = Σ w_uv (e_u − e_v)(e_u − e_v)ᵀ,

and min_M tr(CM⁺)·tr(MΛ) = φ(Λ)², φ(Λ) = tr K^{1/2}, K = BΛBᵀ, by Cauchy–Schwarz, attained at M =
BᵀK^{-1/2}B. So every Λ gives a lower bound φ² and, through that M (A = K^{-1/4}B, R's norm² = φ), the
upper bound φ·size². Both come from one eigendecomposition. φ is concave in q and in w (Λ is
Loewner-concave in them), so the two meet; at the optimum every weighted column (pair) attains the size,
which is the fixed point q_u ∝ q_u·‖a_u − c‖². Without the shift this is the norm γ_F of Edmonds, Nikolov &
Ullman (STOC 2020) and its dual. All bounds hold up to rounding. Where C has symmetries, the search is made block by
block (:mod:`factormech.local.l2_symmetry`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from factormech.arrays import FloatArray, IntArray
from factormech.local.l2_symmetry import SQUARE_LIMIT, blocks_of
from factormech.numerics.acceleration import Anderson

# Weights below exp(−this) of the largest are zero to the eigendecomposition; the floor lets them come
# back.
_LOG_FLOOR = 600.0
# Largest change of a log weight in one step: acceleration learns nothing from weights racing to 0.
_LONGEST_STEP = 5.0
_MEMORY = 9
# Share of tr C that may lie outside the row space of a strategy by rounding.
LOST_ENERGY = 1e-9


@dataclass(frozen=True)
class SolverRecord:
    """The objective ‖R‖_F² × size² of a strategy, what none can beat, and why the search ended."""

    objective: float
    lower_bound: float
    iterations: int
    stopped: str

    @property
    def gap(self) -> float:
        """Relative distance of the objective from the lower bound (0 where both are 0)."""
        return self.objective / self.lower_bound - 1.0 if self.lower_bound > 0 else 0.0


@dataclass(frozen=True)
class SimplexSearch:
    """Best weights found for a dual over the simplex, with φ² of the best dual point and the best φ·size²."""

    weights: FloatArray
    record: SolverRecord


def enclosing_ball_strategy(
    B: FloatArray, *, tolerance: float = 1e-9, max_iterations: int = 500
) -> tuple[FloatArray, FloatArray, SolverRecord]:
    """A (r × n) with the best centre at 0, its dual weights q, and the record; the size is max_u ‖a_u‖².

    The relative gap is at most ``tolerance`` unless the record says that the iterations ran out.
    """
    blocks = blocks_of(B)
    n = B.shape[1]

    def oracle(q: FloatArray) -> tuple[float, FloatArray]:
        A, phi = _ball_columns(B, q)
        return phi, np.einsum("iu,iu->u", A, A)

    orbits = n if blocks is None else len(blocks.types)
    evaluate = oracle if blocks is None else blocks.ball
    found = maximise_over_simplex(evaluate, np.full(orbits, 1.0 / orbits), tolerance, max_iterations)
    q = found.weights if blocks is None else blocks.by_type(found.weights / blocks.order)
    A, _ = _ball_columns(B, q)
    return A, q, found.record


def diameter_strategy(
    B: FloatArray, q: FloatArray, *, tolerance: float = 1e-4, max_iterations: int = 200
) -> tuple[FloatArray, SolverRecord]:
    """A (r × n) of least ‖R‖_F² × diameter², and the record; started at the ball's dual weights ``q``.

    There is a weight for every pair of types, n(n−1)/2 of them, but an iteration costs no more than the
    ball's: Λ is the Laplacian of the weighted pairs, and all distances follow from one Gram matrix.
    """
    blocks, pairs = blocks_of(B), _pairs(B.shape[1])

    def oracle(w: FloatArray) -> tuple[float, FloatArray]:
        A, phi = _pair_columns(B, w, pairs)
        return phi, _squared_distances(A)[pairs]

    start = np.maximum(q, np.max(q) * 1e-8)
    if blocks is None:
        w = (start[:, None] * start[None, :])[pairs]
        found = maximise_over_simplex(oracle, w / w.sum(), tolerance, max_iterations)
        return _pair_columns(B, found.weights, pairs)[0], found.record
    w = blocks.pair_products(start)
    found = maximise_over_simplex(blocks.diameter, w / w.sum(), tolerance, max_iterations)
    return _pair_columns(B, blocks.all_pairs(found.weights)[pairs], pairs)[0], found.record


def maximise_over_simplex(
    oracle: Callable[[FloatArray], tuple[float, FloatArray]],
    start: FloatArray,
    tolerance: float,
    max_iterations: int,
) -> SimplexSearch:
    """Climb the concave φ by the fixed point w ← w·s/φ, with Anderson acceleration of log w.

    ``oracle(w)`` returns φ and the squared sizes s of the strategy at w, where Σ w·s = φ; then φ²
    bounds every strategy from below and φ·max(s) is what this one reaches. A step after which φ fell is
    replaced by the plain one.
    """
    z = np.log(start)
    history = Anderson(_MEMORY)
    lower, upper, best = 0.0, np.inf, start
    phi_before, plain, iteration = -np.inf, z, 0
    for iteration in range(1, max_iterations + 1):
        z = np.maximum(z - z.max(), -_LOG_FLOOR)
        w = np.exp(z)
        w /= w.sum()
        phi, s = oracle(w)
        lower = max(lower, phi * phi)
        if phi * s.max() < upper:
            upper, best = phi * float(s.max()), w
        if upper <= lower * (1 + tolerance):
            return SimplexSearch(best, SolverRecord(upper, lower, iteration, "gap below tolerance"))
        if phi < phi_before:
            history.forget(keep=1)
            z, phi_before = plain, -np.inf
            continue
        step = np.log(np.maximum(s, phi * np.exp(-_LONGEST_STEP)) / phi)
        plain, phi_before = z + step, phi
        z = history.extrapolate(plain, step, w, _LONGEST_STEP)
    return SimplexSearch(best, SolverRecord(upper, lower, iteration, "iterations used up"))


def _ball_columns(B: FloatArray, q: FloatArray) -> tuple[FloatArray, float]:
    """A = K^{-1/4}(B − Bq1ᵀ) for Λ = diag(q) − qqᵀ, and φ."""
    Y = B - (B @ q)[:, None]
    half = Y * np.sqrt(q)
    squares, U = np.linalg.eigh(half @ half.T)
    if squares[0] < SQUARE_LIMIT * squares[-1]:
        # The square has lost digits of the small singular values: take them from the matrix itself.
        U, sigma, _ = np.linalg.svd(half, full_matrices=False)
    else:
        sigma = np.sqrt(squares)
    return _whiten(Y, U, sigma)


def _pair_columns(B: FloatArray, w: FloatArray, pairs: tuple[IntArray, ...]) -> tuple[FloatArray, float]:
    """A = K^{-1/4}B for the Laplacian of the pair weights w, and φ."""
    n = B.shape[1]
    off = np.zeros((n, n))
    off[pairs] = w
    off += off.T
    K = B @ (off.sum(axis=0) * B - B @ off).T
    squares, U = np.linalg.eigh(0.5 * (K + K.T))
    return _whiten(B, U, np.sqrt(np.maximum(squares, 0.0)))


def _pairs(n: int) -> tuple[IntArray, IntArray]:
    """Every pair u < v of n types once."""
    u, v = np.triu_indices(n, 1)
    return u.astype(np.int64), v.astype(np.int64)


def _whiten(Y: FloatArray, U: FloatArray, sigma: FloatArray) -> tuple[FloatArray, float]:
    """K^{-1/4}Y in the eigenbasis of K = U diag(σ²) Uᵀ (any basis of the reports will do), and tr K^{1/2}.

    Directions that K has lost to rounding are kept, at a floor: their columns then show up as too large.
    """
    floored = np.maximum(sigma, sigma.max() * 1e-15)
    return (U.T @ Y) / np.sqrt(floored)[:, None], float(sigma.sum())


def _squared_distances(A: FloatArray) -> FloatArray:
    norms = np.einsum("iu,iu->u", A, A)
    return np.asarray(norms[:, None] + norms[None, :] - 2 * (A.T @ A))
