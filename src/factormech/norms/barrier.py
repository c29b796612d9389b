r"""Newton's method on a barrier: the solver for weights that vanish, and the fastest at moderate sizes.

Over z = (w, q) > 0 (``weighted``; e is 1 for q and s for w), the function

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

import numpy as np

from factormech.arrays import FloatArray, check_dense_size
from factormech.norms.weighted import DualOutcome, DualPoint, DualProblem, Stopped
from factormech.numerics.descent import backtracked, room

# Step in log t of the rule for 1/x, and how much of the integral is cut off at either end.
_RULE_STEP, _CUT_LOW, _CUT_HIGH = 1.4, 3e-3, 6.0
# Rows of K made at once: three such strips stay in the processor's cache.
_STRIP = 64
# μ aims at this fraction of the current gap; a step goes at most this fraction of the way to the boundary.
_AIM, _BOUNDARY = 0.15, 0.95


def solve(problem: DualProblem, gap: float, iterations: int, *, start: FloatArray | None = None) -> DualOutcome:
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
