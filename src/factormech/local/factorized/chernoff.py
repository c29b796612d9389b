r"""What the error of n users never exceeds on average: a bound by moment generating functions, for every n.

Let user types add ζ_u to the error of an answer, E ζ_u = 0, and K(τ) = max_u log E e^{τζ_u}. The means over n users of
any types have, for 2k one-sided errors with biases at most β_j and K_j,

.. math:: \operatorname{E}\max_j (\text{error}_j) \le
          \frac{1}{n\tau}\log\sum_j \exp\bigl(n\,[\tau\beta_j + K_j(\tau)]\bigr) \qquad\text{for every } \tau > 0

(Jensen's inequality, E max X_j ≤ (1/t) log Σ E e^{tX_j}, t = nτ). With ℓ_j = τβ_j + K_j it is (1/τ)·log ‖e^ℓ‖_n, an
ℓ_n norm, so it falls with n. For a fixed accuracy the pairs (n, t) that suffice form a convex set (the perspective of a
convex function in a sum of exponentials), and the least n as a function of τ = t/n has no local minimum but its least:
golden section on log τ finds it. A τ that is not the best gives a valid, larger n.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from factormech.arrays import FloatArray

# What a search may cost: every look at a strategy matrix is a product of its size.
_COARSE, _FINE = 17, 24
_SPAN = 4.0  # the coarse search looks from e^{−4} to e^4 times the Gaussian's best τ
_SHIFTS = 16  # times that the coarse search moves before it takes what it has
_GOLDEN = 0.5 * (math.sqrt(5.0) - 1.0)

# ℓ_j as a function of τ.
Exponents = Callable[[float], FloatArray]


def bound(exponents: FloatArray, tau: float, users: float) -> float:
    """The bound for one τ, from ℓ (2k,)."""
    return _bound_of(exponents, tau)(users)


def _bound_of(exponents: FloatArray, tau: float) -> Callable[[float], float]:
    """The bound for one τ, as a function of the users."""
    largest = float(np.max(exponents))
    if not math.isfinite(largest):
        return lambda users: math.inf
    below = exponents - largest

    def of_users(users: float) -> float:
        return (largest + math.log(float(np.add.reduce(np.exp(users * below)))) / users) / tau

    return of_users


def least_bound(exponents: Exponents, scale: float, users: int) -> float:
    """The least bound over τ for so many ``users``; ``scale`` is a first guess of τ."""
    return _least(lambda tau: bound(exponents(tau), tau, users), scale)[1]


def least_users(exponents: Exponents, scale: float, alpha: float) -> int:
    """The least n whose bound is at most ``alpha`` for some τ; ``scale`` is a first guess of τ."""
    tau, _ = _least(lambda tau: _users(exponents(tau), tau, alpha), scale)
    found = exponents(tau)
    return whole_users(_bound_of(found, tau), alpha)


def whole_users(error: Callable[[int], float], alpha: float) -> int:
    """The least n ≥ 1 with ``error(n)`` ≤ ``alpha``, for an error that falls with n to less than that."""
    high = 1
    while error(high) > alpha:
        high *= 2
    low = high // 2  # not enough, or 0
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if error(middle) <= alpha else (middle, high)
    return high


def _users(exponents: FloatArray, tau: float, alpha: float) -> float:
    """log of the real n at which the bound for this τ is ``alpha``; infinite where it never is."""
    if not float(np.max(exponents)) < alpha * tau:
        return math.inf
    error = _bound_of(exponents, tau)
    low = high = 0.0
    while error(math.exp(high)) > alpha:
        low, high = high, high + 2.0
    while error(math.exp(low)) <= alpha and low > -60.0:
        low, high = low - 2.0, low
    for _ in range(50):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if error(math.exp(middle)) <= alpha else (middle, high)
    return high


def _least(function: Callable[[float], float], scale: float) -> tuple[float, float]:
    """Where a function of τ without false minima is least, and its value: a coarse search, then golden section."""
    start = math.log(scale)
    grid = start + np.linspace(-_SPAN, _SPAN, _COARSE)
    values = [function(math.exp(x)) for x in grid]
    for _ in range(_SHIFTS):
        at = int(np.argmin(values))
        if math.isfinite(values[at]) and 0 < at < _COARSE - 1:
            break
        # What is infinite has a τ too large: small ones are finite wherever any is.
        up = math.isfinite(values[at]) and at > 0
        grid = grid + (_SPAN if up else -_SPAN)
        values = [function(math.exp(x)) for x in grid]
    at = int(np.argmin(values))
    low, high = grid[max(at - 1, 0)], grid[min(at + 1, _COARSE - 1)]
    best, least = grid[at], values[at]
    for _ in range(_FINE):
        left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
        at_left, at_right = function(math.exp(left)), function(math.exp(right))
        if at_left <= at_right:
            high, x, value = right, left, at_left
        else:
            low, x, value = left, right, at_right
        if value < least:
            best, least = x, value
    return math.exp(best), least
