r"""The concave problem behind every exact norm, and its solvers.

**The problem.** It has weights on rows and columns, and the nuclear norm between them. For 2 ≤ p ≤ ∞ and s = p/(p−2),
over weights w ≥ 0 (k), q ≥ 0 (N),

.. math:: k^{1/p}\gamma_{(p)}(W) = \max_{w, q} \frac{\lVert D_w^{1/2}WD_q^{1/2}\rVert_*}
          {\sqrt{\lVert w\rVert_s \lVert q\rVert_1}},

w = 1 at p = 2 (p = ∞: Haagerup's duality; p = 2: Edmonds, Nikolov & Ullman, STOC 2020, and Li, Miklau, Hay, McGregor &
Rastogi, VLDB J. 24, 2015, in their own variables; all p: Liu, Upadhyay & Zou, 2024).

*Why.* ‖M‖_* = min ½(‖R'‖_F² + ‖A'‖_F²) over R'A' = M; with R' = D_w^{½}R, A' = AD_q^{½} it is
min_{RA = W} ½(Σw_ir_i + Σq_ja_j), r_i and a_j the squared norms of the rows of R and the columns of A, so jointly
concave in (w, q). Hölder gives Σw_ir_i ≤ ‖w‖_s‖r‖_{p/2} and Σq_ja_j ≤ ‖q‖₁ max a: no weights exceed the norm; that the
best ones reach it is minimax duality.

*Both bounds from one decomposition.* M = D_w^{½}WD_q^{½} = UΣVᵀ, f = tr Σ, h = diag UΣUᵀ, g = diag VΣVᵀ (Σh = Σg = f).
The factors R = D_w^{−½}UΣ^{½}, A = Σ^{½}VᵀD_q^{−½} have r = h/w, a = g/q; so f/√(‖w‖_s‖q‖₁) is a lower bound and
√(‖r‖_{p/2} max a) an upper one, and they meet exactly where w^s ∝ h and q ∝ g (p = 2: q ∝ g).

**Fixed points.** The solver for w^s = h/f, q = g/f has a safeguarded Anderson acceleration. The plain step was never
seen to lower the lower bound (proved when q alone moves); an accelerated one, in the logarithms of the weights, may:
then the plain step from the last good point is taken instead, and the memory is forgotten. A weight whose limit is
zero goes there only geometrically: ``barrier`` is made for those.

**Newton's method on a barrier.** It is the solver for weights that vanish, and the fastest at moderate sizes. Over z
= (w, q) > 0 (``weighted``; e is 1 for q and s for w), the function

.. math:: \psi_\mu(z) = -\log\lVert M\rVert_* + \sum_i \frac{z_i^{e_i}}{2e_i} - \mu\sum_i\log z_i

is convex. Its stationary point has z_i^{e_i} = m_i/f + 2μ, m = (h, g). Hence each r_i = h_i/w_i ≤ f w_i^{s−1}, and
‖r‖_{p/2} ≤ f(Σw^s)^{2/p}; likewise a_j ≤ f, while Σw^s = 1 + 2kμ and Σq = 1 + 2Nμ: the two bounds of ``weighted`` are
within a factor √((1 + 2kμ)(1 + 2Nμ)) of each other, about 1 + (k + N)μ (p = 2: 1 + Nμ).

**Hessian.** With M = UΣVᵀ, in relative steps δ = Δz/z, f has the second derivative
−½Σ_ab χ_ab Z_ab², Z = U^⊤D_ξU − V^⊤D_ηV, δ = (ξ, η), χ_ab = σ_aσ_b/(σ_a + σ_b) (differentiate (MMᵀ)^{½} twice), so that

.. math:: \nabla^2\psi = \frac{K}{2f} + \nabla\nabla^\top + \operatorname{diag}\bigl(\tfrac{e-1}2 z^e + \mu\bigr),
          \qquad \delta^\top K\delta = \sum_{ab}\chi_{ab}Z_{ab}^2, \quad \nabla = \frac{m}{2f} .

With 1/x = ∫e^{−tx}dt by the trapezoidal rule in log t, K becomes a positive sum of entrywise squares of Gram matrices,
K ≈ Σ_t c_t (BS_tBᵀ)^{∘2}, S_t = Σe^{−tΣ}, B = (U; V), with a minus sign between rows and columns: positive
semidefinite whatever its step. It only steers: both bounds come from the decomposition.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np

from factormech.arrays import FloatArray, check_dense_size
from factormech.errors import BadValue
from factormech.numerics.descent import Anderson, backtracked, room

# The problem.

Stopped = Literal["gap", "stalled", "iteration_limit"]

# The Gram matrix squares singular values: below this ratio of its eigenvalues the small ones are rounding.
_GRAM_RATIO = 1e-11


@dataclass(frozen=True)
class DualPoint:
    """Weights, and the decomposition there.

    Attributes
    ----------
    weights
        z = (w, q), or q alone at p = 2.
    powers
        The same raised to the power whose sum is one at the optimum: (w^s, q).
    masses
        (h, g), or g alone; in total f per side.
    basis
        (U; V) stacked, or V alone; one row per weight.
    values
        The singular values, all above zero.
    lower, upper
        Both bounds on γ₍ₚ₎(W), not rounded outward.
    """

    weights: FloatArray
    powers: FloatArray
    masses: FloatArray
    basis: FloatArray
    values: FloatArray
    lower: float
    upper: float

    @property
    def total(self) -> float:
        """f = ‖M‖_*."""
        return float(self.values.sum())


@dataclass(frozen=True)
class DualOutcome:
    """Where a solver stopped: the points of the best lower and the best upper bound."""

    best_lower: DualPoint
    best_upper: DualPoint
    iterations: int
    stopped: Stopped

    @property
    def gap(self) -> float:
        """upper ÷ lower − 1, not rounded outward."""
        return self.best_upper.upper / self.best_lower.lower - 1.0

    def or_better(self, point: DualPoint) -> DualOutcome:
        """Return the outcome with the ends that the point improves."""
        lower = point if point.lower > self.best_lower.lower else self.best_lower
        upper = point if point.upper < self.best_upper.upper else self.best_upper
        return DualOutcome(lower, upper, self.iterations, self.stopped)


class DualProblem(Protocol):
    """A dual problem as its solvers see it: products with W, and the exponents of the order p."""

    @property
    def exponents(self) -> FloatArray:
        """The power of each weight whose sum per side is one at the optimum: s for w, 1 for q."""
        ...

    @property
    def rows(self) -> int:
        """How many of the weights belong to rows: k, or 0 at p = 2."""
        ...

    def at(self, weights: FloatArray) -> DualPoint:
        """Both bounds at positive weights of any scale."""
        ...

    def start(self) -> FloatArray:
        """Uniform weights."""
        ...


def checked_exponent(p: float) -> float:
    """p as a float; refused below 2."""
    good = isinstance(p, (int, float, np.integer, np.floating)) and not isinstance(p, bool)
    if not good or not p >= 2.0:
        raise BadValue("p", p, "be at least 2 (or infinite)", "give 2 for γ_F, math.inf for γ₂, or what lies between")
    return float(p)


class DenseProblem:
    """W dense, without zero rows or columns, any 2 ≤ p ≤ ∞."""

    def __init__(self, matrix: FloatArray, p: float, queries: int) -> None:
        self.matrix, self.p, self.queries = matrix, checked_exponent(p), queries
        self._gram = True
        k, N = matrix.shape
        s = 1.0 if math.isinf(p) else p / (p - 2.0) if p > 2.0 else math.inf
        self.exponents = np.concatenate([np.full(k if p > 2.0 else 0, s), np.ones(N)])

    @property
    def rows(self) -> int:
        return len(self.matrix) if self.p > 2.0 else 0

    def start(self) -> FloatArray:
        k, N = self.rows, self.matrix.shape[1]
        size = np.concatenate([np.full(k, 1.0 / max(k, 1)), np.full(N, 1.0 / N)])
        return np.asarray(size ** (1.0 / self.exponents))

    def split(self, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        """(w, q); w = 1 at p = 2."""
        return (weights[: self.rows] if self.rows else np.ones(len(self.matrix))), weights[self.rows :]

    def at(self, weights: FloatArray) -> DualPoint:
        w, q = self.split(weights)
        U, values, V = self._decomposed(np.sqrt(w)[:, None] * self.matrix * np.sqrt(q))
        h, g = np.square(U) @ values, np.square(V) @ values
        powers = weights**self.exponents
        r, a, f = h / w, float(np.max(g / q)), float(values.sum())
        scale = self.queries ** (-1.0 / self.p)
        if self.p > 2.0:
            size = float(powers[: self.rows].sum()) ** (1.0 - 2.0 / self.p)
            upper = scale * math.sqrt(_norm(r, self.p / 2.0) * a)
            lower, masses, basis = scale * f / math.sqrt(size * q.sum()), np.concatenate([h, g]), np.vstack([U, V])
        else:
            lower, upper, masses, basis = scale * f / math.sqrt(q.sum()), scale * math.sqrt(f * a), g, V
        return DualPoint(weights, powers, masses, basis, values, lower, upper)

    def _decomposed(self, M: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """(U, σ, V) of M, by the Gram matrix of the smaller side where that is accurate: three times as fast."""
        if self._gram:
            X = M if M.shape[0] >= M.shape[1] else M.T
            squares, V = np.linalg.eigh(X.T @ X)
            if squares[0] > _GRAM_RATIO * squares[-1]:
                values = np.sqrt(squares)
                U = (X @ V) / values
                return (U, values, V) if X is M else (V, values, U)
            self._gram = False
        return thin_svd(M)


class GramProblem:
    """p = 2 from G = WᵀW alone: M depends on W through D_q^{½}GD_q^{½}, and w = 1."""

    p = 2.0
    rows = 0

    def __init__(self, gram: FloatArray, queries: int) -> None:
        self.gram, self.queries = gram, queries
        self.exponents = np.ones(len(gram))

    def start(self) -> FloatArray:
        return np.full(len(self.gram), 1.0 / len(self.gram))

    def at(self, weights: FloatArray) -> DualPoint:
        root = np.sqrt(weights)
        squares, V = np.linalg.eigh(root[:, None] * self.gram * root)
        keep = squares > len(squares) * np.finfo(float).eps * squares[-1]
        values, V = np.sqrt(squares[keep]), V[:, keep]
        g, f, scale = np.square(V) @ values, float(values.sum()), self.queries**-0.5
        upper = scale * math.sqrt(f * float(np.max(g / weights)))
        return DualPoint(weights, weights, g, V, values, scale * f / math.sqrt(weights.sum()), upper)


def thin_svd(M: FloatArray, *, complete: bool = False) -> tuple[FloatArray, FloatArray, FloatArray]:
    """(U, σ, V), without the singular values that are rounding unless ``complete``.

    LAPACK's slower driver takes over where the faster one fails to converge.
    """
    import scipy.linalg

    try:
        U, values, Vt = scipy.linalg.svd(M, full_matrices=False, check_finite=False)
    except np.linalg.LinAlgError:
        U, values, Vt = scipy.linalg.svd(M, full_matrices=False, check_finite=False, lapack_driver="gesvd")
    keep = np.full(len(values), True) if complete else values > max(M.shape) * np.finfo(float).eps * values[0]
    return U[:, keep], values[keep], Vt[keep].T


def _norm(values: FloatArray, exponent: float) -> float:
    """‖v‖_e for v ≥ 0, without overflow."""
    top = float(values.max())
    return top if math.isinf(exponent) else top * float(np.sum((values / top) ** exponent)) ** (1.0 / exponent)


# Fixed points.

_MEMORY = 12
# An accelerated step moves no logarithm by more than this from the plain one.
_REACH = 3.0
# All weights keep this fraction of the gap, spread over them: by concavity it costs no more of the lower bound, and
# below it a singular value that matters to the upper bound cannot be told from rounding.
_FLOOR_SHARE, _FLOOR = 0.02, 1e-13
# Stop early when the gap shrinks by less than this factor over this many iterations.
_SLOW_FACTOR, _SLOW_AFTER = 3.0, 10


def solve(
    problem: DualProblem,
    gap: float,
    iterations: int,
    *,
    start: FloatArray | None = None,
    patient: bool = True,
) -> DualOutcome:
    """Both best points found; without patience it also stops, ``stalled``, once progress is slow."""
    floor = max(_FLOOR_SHARE * gap / len(problem.exponents), _FLOOR)
    point = problem.at(_floored(problem, problem.start() if start is None else start, floor))
    outcome = DualOutcome(point, point, 1, "iteration_limit")
    memory, gaps, fallback = Anderson(_MEMORY), [outcome.gap], False
    stopped: Stopped = "iteration_limit"
    for iteration in range(1, iterations + 1):
        outcome = DualOutcome(outcome.best_lower, outcome.best_upper, iteration, stopped)
        if outcome.gap <= gap:
            stopped = "gap"
            break
        gaps.append(outcome.gap)
        if not patient and iteration > _SLOW_AFTER and gaps[-1] * _SLOW_FACTOR > gaps[-1 - _SLOW_AFTER]:
            stopped = "stalled"
            break
        if iteration == iterations:
            break
        image = np.log(_plain(problem, point))
        if fallback:
            memory.forget()
        target = memory.extrapolate(image, image - np.log(point.weights), point.powers, _REACH)
        candidate = problem.at(_floored(problem, np.exp(target), floor))
        fallback = candidate.lower < point.lower * (1.0 - 1e-14)
        if fallback:
            candidate = problem.at(_floored(problem, np.exp(image), floor))
        outcome, point = outcome.or_better(candidate), candidate
    return DualOutcome(outcome.best_lower, outcome.best_upper, outcome.iterations, stopped)


def _plain(problem: DualProblem, point: DualPoint) -> FloatArray:
    """The weights whose powers are the masses over f; what vanished in rounding keeps a floor."""
    shares = np.maximum(point.masses / point.total, 1e-300)
    return np.asarray(shares ** (1.0 / problem.exponents))


def _floored(problem: DualProblem, weights: FloatArray, floor: float) -> FloatArray:
    """Return the weights, each raised to a fixed fraction of the largest weight of its side."""
    k, floored = problem.rows, weights.copy()
    for side in (floored[:k], floored[k:]):
        if side.size:
            np.maximum(side, floor * side.max(), out=side)
    return floored


# Newton's method on a barrier.

# Step in log t of the rule for 1/x, and how much of the integral is cut off at either end.
_RULE_STEP, _CUT_LOW, _CUT_HIGH = 1.4, 3e-3, 6.0
# Rows of K made at once: three such strips stay in the processor's cache.
_STRIP = 64
# μ aims at this fraction of the current gap; a step goes at most this fraction of the way to the boundary.
_AIM, _BOUNDARY = 0.15, 0.95


def solve_barrier(problem: DualProblem, gap: float, iterations: int, *, start: FloatArray | None = None) -> DualOutcome:
    """Both best points found within this many Newton steps."""
    size = len(problem.exponents)
    check_dense_size("Newton matrix of the weights (try method 'fixed-point')", 3, size, size)
    point = problem.at(problem.start() if start is None else start)
    outcome = DualOutcome(point, point, 1, "iteration_limit")
    stopped: Stopped = "iteration_limit"
    mu = 0.3 / size
    for iteration in range(1, iterations + 1):
        outcome = DualOutcome(outcome.best_lower, outcome.best_upper, iteration, stopped)
        if outcome.gap <= gap:
            stopped = "gap"
            break
        if iteration == iterations:
            break
        mu = min(mu, _AIM * math.log1p(point.upper / point.lower - 1.0) / size)
        candidate = _newton_step(problem, point, max(mu, 1e-17))
        if candidate is None:
            stopped = "stalled"
            break
        outcome, point = outcome.or_better(candidate), candidate
    return DualOutcome(outcome.best_lower, outcome.best_upper, outcome.iterations, stopped)


def _newton_step(problem: DualProblem, point: DualPoint, mu: float) -> DualPoint | None:
    """The next point, by a line search on ψ; nothing where rounding leaves no descent."""
    slope = 0.5 * point.powers - mu - point.masses / (2.0 * point.total)
    step = _direction(problem, point, mu, slope)
    if step is None:
        return None
    value, decrease = _barrier(problem, point, mu), -float(slope @ step)

    def attempt(length: float) -> tuple[float, DualPoint]:
        candidate = problem.at(point.weights * (1.0 + length * step))
        return _barrier(problem, candidate, mu), candidate

    # Where the predicted decrease drowns in the rounding of ψ, the Newton step is trusted.
    noise = 1e-13 * (1.0 + abs(value))
    found = backtracked(attempt, value, -decrease, length=room(step, _BOUNDARY), share=0.1, noise=noise)
    return found[2] if found else None


def _direction(problem: DualProblem, point: DualPoint, mu: float, slope: FloatArray) -> FloatArray | None:
    import scipy.linalg

    H = curvature(point, problem.rows)
    H /= 2.0 * point.total
    gradient = point.masses / (2.0 * point.total)
    H += np.multiply.outer(gradient, gradient)
    diagonal = np.einsum("ii->i", H)
    diagonal += 0.5 * (problem.exponents - 1.0) * point.powers + mu + 1e-15 * diagonal.max()
    try:
        factor = scipy.linalg.cho_factor(H, lower=True, overwrite_a=True, check_finite=False)
    except np.linalg.LinAlgError:
        return None
    return np.asarray(scipy.linalg.cho_solve(factor, -slope, check_finite=False))


def curvature(point: DualPoint, rows: int) -> FloatArray:
    """The lower triangle of K (some entries above it too); ``rows`` first weights belong to rows of W."""
    times, coefficients = _rule(2.0 * point.values.min(), 2.0 * point.values.max())
    B, size = point.basis, len(point.basis)
    # (c^{1/4}BS^{1/2})(c^{1/4}BS^{1/2})ᵀ, squared entrywise, has the coefficient in it.
    roots = [
        c**0.25 * np.sqrt(point.values * np.exp(-t * point.values)) for t, c in zip(times, coefficients, strict=True)
    ]
    scaled = [B * root for root in roots]
    K = np.zeros((size, size))
    for first in range(0, size, _STRIP):
        last = min(first + _STRIP, size)
        strip = np.zeros((last - first, last))
        for factor in scaled:
            product = factor[first:last] @ factor[:last].T
            strip += np.multiply(product, product, out=product)
        K[first:last, :last] = strip
    K[rows:, :rows] *= -1.0
    return K


def _rule(low: float, high: float) -> tuple[FloatArray, FloatArray]:
    """Times t and coefficients c > 0 with Σc e^{−tx} ≈ 1/x on [low, high], to a few per cent."""
    count = math.ceil((math.log(_CUT_HIGH / low) - math.log(_CUT_LOW / high)) / _RULE_STEP) + 1
    times = np.exp(math.log(_CUT_LOW / high) + _RULE_STEP * np.arange(count))
    return times, _RULE_STEP * times


def _barrier(problem: DualProblem, point: DualPoint, mu: float) -> float:
    sums = math.fsum((point.powers / (2.0 * problem.exponents)).tolist())
    return -math.log(point.total) + sums - mu * math.fsum(np.log(point.weights).tolist())
