r"""The expected largest of several absolute values of normal numbers, whatever their joint law.

For X_q ~ N(b_q, s_q²) and every T ≥ 0,

.. math:: \operatorname{E}\max_q |X_q| \le T + \sum_q \operatorname{E}(|X_q| - T)_+, \qquad
          \operatorname{E}(|b + sZ| - T)_+ = s\Bigl[L\bigl(\tfrac{T-b}{s}\bigr) + L\bigl(\tfrac{T+b}{s}\bigr)\Bigr],

L(z) = φ(z) − zΦ(−z). The best T is where Σ P(|X_q| > T) = 1, and then the bound is ∫ min(1, Σ P(|X_q| > t)) dt, the
integrated union bound. Some joint law of numbers with these marginals attains it (events of one uniform number laid
side by side), so no bound that knows the marginals alone is better: it is at most σ√(2 ln 2k), the bound of moment
generating functions (Edmonds, Nikolov & Ullman, STOC 2020, §4), which holds for all joint laws too.

(|b + sZ| − T)₊ is convex and even in b and in sZ, so the bound increases in every |b_q| and in every s_q: with the
deviations s_q/√n of the mean of n reports it falls with n, to max |b_q|.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import ndtr

from factormech.arrays import FloatArray
from factormech.numerics.roots import bisect

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
