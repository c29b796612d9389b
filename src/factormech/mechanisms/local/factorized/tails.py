r"""Upper bounds on expected largest errors: of normal numbers, and of n users for every n.

**Normal numbers.** The bound on the expected largest absolute value holds whatever their joint law. For X_q ~ N(b_q,
s_q²) and every T ≥ 0,

.. math:: \operatorname{E}\max_q |X_q| \le T + \sum_q \operatorname{E}(|X_q| - T)_+, \qquad
          \operatorname{E}(|b + sZ| - T)_+ = s\Bigl[L\bigl(\tfrac{T-b}{s}\bigr) + L\bigl(\tfrac{T+b}{s}\bigr)\Bigr],

L(z) = φ(z) − zΦ(−z). The best T is where Σ P(|X_q| > T) = 1, and then the bound is ∫ min(1, Σ P(|X_q| > t)) dt, the
integrated union bound. Some joint law of numbers with these marginals attains it (events of one uniform number laid
side by side), so no bound that knows the marginals alone is better: it is at most σ√(2 ln 2k), the bound of moment
generating functions (Edmonds, Nikolov & Ullman, STOC 2020, §4), which holds for all joint laws too.

(|b + sZ| − T)₊ is convex and even in b and in sZ, so the bound increases in every |b_q| and in every s_q: with the
deviations s_q/√n of the mean of n reports it falls with n, to max |b_q|.

**Any n.** The bound by moment generating functions holds for every number of users. Let user types add ζ_u to the
error of an answer, E ζ_u = 0, and K(τ) = max_u log E e^{τζ_u}. The means over n users of any types have, for 2k
one-sided errors with biases at most β_j and K_j,

.. math:: \operatorname{E}\max_j (\text{error}_j) \le
          \frac{1}{n\tau}\log\sum_j \exp\bigl(n\,[\tau\beta_j + K_j(\tau)]\bigr) \qquad\text{for every } \tau > 0

(Jensen's inequality, E max X_j ≤ (1/t) log Σ E e^{tX_j}, t = nτ). With ℓ_j = τβ_j + K_j it is (1/τ)·log ‖e^ℓ‖_n, an
ℓ_n norm, so it falls with n. For a fixed accuracy the pairs (n, t) that suffice form a convex set (the perspective of a
convex function in a sum of exponentials), and the least n as a function of τ = t/n has no local minimum but its least:
Brent's method on log τ finds it. A τ that is not the best gives a valid, larger n.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy.special import ndtr

from factormech.arrays import FloatArray
from factormech.numerics.roots import bisect, least_whole

# Normal numbers.

_HALVINGS = 60
# Where the threshold is found: a step of Newton's method that moves it by less, relatively.
_STILL = 1e-14


def expected_maximum(offsets: FloatArray, spreads: FloatArray) -> float:
    """The bound for means ``offsets`` b (k,) and standard deviations ``spreads`` s (k,)."""
    b, s = np.abs(offsets), spreads
    moving = s > 0
    still = float(np.max(b[~moving], initial=0.0))
    if not moving.any():
        return still
    T = _threshold(b[moving], s[moving])
    # Of numbers that never move, what is above T is their own size: any T is allowed, and so their largest is.
    T = max(T, still)
    return T + float(np.sum(_excess(b[moving], s[moving], T)))


def expected_largest(spreads: FloatArray) -> float:
    """The like bound for E max_q X_q (no absolute values) of X_q ~ N(0, s_q²): T + Σ E(X_q − T)₊ at the best T."""
    s = spreads[spreads > 0]
    if len(spreads) < 2 or not len(s):
        return 0.0
    # A number that never moves is 0: T ≥ 0 leaves nothing of it.
    low = 0.0 if len(s) < len(spreads) else -float(s.max())
    high = float(s.max()) * math.sqrt(2.0 * math.log(len(s) + 1.0))
    T = bisect(lambda x: float(np.sum(ndtr(-x / s))) <= 1.0, low, high)[1]
    return T + float(np.sum(s * _loss(T / s)))


def _threshold(b: FloatArray, s: FloatArray) -> float:
    """The T ≥ 0 with Σ P(|b_q + s_qZ| > T) = 1, to a few digits, which is enough: every T gives a bound.

    Newton's method on the logarithm of the sum, whose tail is nearly a parabola; where it leaves the bracket, halving.
    """
    low, high = 0.0, float(np.max(b) + np.max(s) * math.sqrt(2.0 * math.log(2.0 * len(b))))
    T = high
    for _ in range(_HALVINGS):
        left, right = (b - T) / s, (b + T) / s
        total = float(np.sum(ndtr(left) + ndtr(-right)))
        low, high = (T, high) if total > 1.0 else (low, T)
        density = float(np.sum((np.exp(-0.5 * left * left) + np.exp(-0.5 * right * right)) / s))
        new = -1.0
        if total > 0.0 and density > 0.0:
            new = T + math.log(total) * total * math.sqrt(2.0 * math.pi) / density
        new = new if low <= new <= high else 0.5 * (low + high)
        if abs(new - T) <= _STILL * high:
            return new
        T = new
    return high


def _excess(b: FloatArray, s: FloatArray, T: float) -> FloatArray:
    return np.asarray(s * (_loss((T - b) / s) + _loss((T + b) / s)))


def _loss(z: FloatArray) -> FloatArray:
    """L(z) = E(Z − z)₊."""
    return np.asarray(np.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi) - z * ndtr(-z))


# Any n.

# What a search may cost: every look at a strategy matrix is a product of its size.
_COARSE, _FINE = 17, 1e-5  # looks of the first search; to what log τ is found
_SPAN = 4.0  # the coarse search looks from e^{−4} to e^4 times the Gaussian's best τ
_SHIFTS = 16  # times that the coarse search moves before it takes what it has
_NEWTON, _NEWTON_STILL = 100, 1e-14  # steps of Newton's method, and a relative one that is none

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
    return least_whole(_bound_of(found, tau), alpha)


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
        if step <= _NEWTON_STILL * n:
            break
    return math.log(n) if n > 0.0 else -math.inf


def _least(function: Callable[[float], float], scale: float) -> tuple[float, float]:
    """Return the minimum of a function of τ without false minima, and its value: a coarse search, then Brent's."""
    from scipy.optimize import minimize_scalar

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
    bounds = grid[max(at - 1, 0)], grid[min(at + 1, _COARSE - 1)]
    with np.errstate(invalid="ignore"):  # parabolas through what is infinite
        found = minimize_scalar(
            lambda x: function(math.exp(x)), bounds=bounds, method="bounded", options={"xatol": _FINE}
        )
    best, least = (found.x, found.fun) if found.fun < values[at] else (grid[at], values[at])
    return math.exp(best), float(least)
