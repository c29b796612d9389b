"""How many randomized bits tell a rare event from a frequent one: exact binomial tails, no approximation."""

from __future__ import annotations

import math
from bisect import bisect_left
from typing import Any

import numpy as np
from scipy.special import bdtr, bdtrc

from factormech.arrays import FloatArray, check_epsilon
from factormech.errors import BadValue
from factormech.numerics.roots import least_whole


def reported(shares: Any, epsilon: float) -> FloatArray:
    """Probability that a randomized bit is 1, of bits that are 1 with these ``shares``: (1−p) + (2p−1)q."""
    e = check_epsilon(epsilon)
    return np.asarray((1.0 + np.asarray(shares, dtype=float) * math.expm1(e)) / (1.0 + math.exp(e)))


def threshold(low: float, high: float, trials: int, weight: float = 1.0) -> tuple[int, float]:
    """The t at which both errors, one ``weight`` times as grave, are nearest to equal, and the graver one.

    ``weight``·P(Bin(n, ``low``) > t) and P(Bin(n, ``high``) ≤ t).
    """

    def more_misses(t: int) -> bool:
        return bool(weight * bdtrc(t, trials, low) <= bdtr(t, trials, high))

    t = bisect_left(range(trials), True, key=more_misses)
    errors = {k: max(weight * float(bdtrc(k, trials, low)), float(bdtr(k, trials, high))) for k in (t, t - 1)}
    best = min((k for k in errors if k >= 0), key=lambda k: errors[k])
    return best, errors[best]


def least_trials(low: float, high: float, error: float, weight: float = 1.0) -> tuple[int, int]:
    """A number of bits and its t with both errors at most ``error``; no more than rounding counts above the least."""
    if not 0.0 < low < high < 1.0:
        raise BadValue("shares", (low, high), "be two probabilities in order", "ask for an accuracy above 0")
    trials = least_whole(lambda n: threshold(low, high, n, weight)[1], error, smooth=False)
    return trials, threshold(low, high, trials, weight)[0]
