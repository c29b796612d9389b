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
_NEWTON, _STILL = 100, 1e-14  # steps of Newton's method, and a relative one that is none
_FURTHEST = 32.0  # a search goes no further at once than to the square of this times as many users
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


def whole_users(error: Callable[[int], float], alpha: float, *, smooth: bool = True) -> int:
    """The least n ≥ 1 with ``error(n)`` ≤ ``alpha``, for an error that falls with n to less than that.

    Where it is ``smooth``, it is looked for where the line through the ends of the bracket, log error over log n, meets
    log α; where that does not halve the bracket, and where the error may rise a little, in its middle.
    """
    low, at_low, high, at_high = 0, math.inf, 1, error(1)
    while at_high > alpha:
        low, at_low, high = high, at_high, _further(high, at_high, alpha) if smooth else 2 * high
        at_high = error(high)
    halve = not smooth
    while high - low > 1:
        width = high - low
        middle = (low + high) // 2 if halve else _between(low, at_low, high, at_high, alpha)
        found = error(middle)
        if found <= alpha:
            high, at_high = middle, found
        else:
            low, at_low = middle, found
        halve = not smooth or 2 * (high - low) > width
    return high


def _further(n: int, error: float, alpha: float) -> int:
    """At least 2n: where an error that falls as 1/√n would be ``alpha``, but not much further."""
    ratio = min(error / alpha, _FURTHEST) if alpha > 0.0 else _FURTHEST
    return max(2 * n, math.ceil(n * ratio**2))


def _between(low: int, at_low: float, high: int, at_high: float, alpha: float) -> int:
    """Where power laws through both ends meet α, strictly between them; their middle where there are none."""
    if low == 0 or not (math.isfinite(at_low) and at_low > at_high > 0.0 and alpha > 0.0):
        return (low + high) // 2
    share = math.log(at_low / alpha) / math.log(at_low / at_high)
    return min(max(int(low * math.exp(share * math.log(high / low))), low + 1), high - 1)


def _users(exponents: FloatArray, tau: float, alpha: float) -> float:
    """log of the real n at which the bound for this τ is ``alpha``; infinite where it never is.

    That is the root of log Σe^{nc_j}, c_j = ℓ_j − τα < 0, which is convex, falls and is not negative at n = 0: Newton's
    method comes nearer from below with every step.
    """
    c = exponents - alpha * tau
    if not float(np.max(c)) < 0.0:
        return math.inf
    n = 0.0
    for _ in range(_NEWTON):
        terms = np.exp(n * c)
        total = float(np.add.reduce(terms))
        step = -total * math.log(total) / float(terms @ c)
        n += step
        if step <= _STILL * n:
            break
    return math.log(n) if n > 0.0 else -math.inf


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
