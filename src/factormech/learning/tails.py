"""Users that keep failures rare, and randomized bits that tell rare events from frequent ones.

**Numbers of users.** Agnostic and realizable learners and refuters share this part. A learner fails where some
concept beats the best one by a margin m that only noise can make up for: the probability is at most Σ_c P(e_{c*} −
e_c ≥ m), for the worst c*. A refuter compares the extreme of k estimates with a threshold between two laws' means,
which are a signal s apart: one error is a union of k tails, the other a single one.

**Randomized bits.** Exact binomial tails say how many bits tell a rare event from a frequent one; nothing is
approximated.
"""

from __future__ import annotations

import math
import operator
from bisect import bisect_left
from typing import Any

import numpy as np
from scipy.special import bdtr, bdtrc, ndtr

from factormech.arrays import FloatArray, check_epsilon
from factormech.bounds.hard.divergence import checked_error
from factormech.errors import BadValue
from factormech.mechanisms.local.factorized.releases import FactorizationRelease
from factormech.numerics.roots import bisect, least_whole

# Numbers of users.

# Numbers held at once: differences × labelled points.
_CELLS = 2**22


def difference_variances(release: FactorizationRelease) -> FloatArray:
    """(k, k): at least the variance of ê_c − ê_c′, times the number of users, whatever their law.

    Of one user: the report's own at the worst type, and the user's type about the middle of the differences' range.
    """
    V = release.workload + release.bias
    k = len(V)
    found = np.zeros((k, k))
    first, second = np.triu_indices(k, 1)
    step = max(1, _CELLS // V.shape[1])
    for start in range(0, len(first), step):
        c, other = first[start : start + step], second[start : start + step]
        rows = release.decoder[c] - release.decoder[other]
        w = V[c] - V[other]
        middle = 0.5 * (w.max(axis=1) + w.min(axis=1))
        found[c, other] = (release.variances_of(rows) + (w - middle[:, None]) ** 2).max(axis=1)
    return found + found.T


def likely_users(variances: FloatArray, margin: float, beta: float) -> int:
    """The least n at which the central limit puts a failure below β, whatever the best concept; a prediction."""
    b, s = checked_error(beta), np.sqrt(np.maximum(variances, np.finfo(float).tiny))
    np.fill_diagonal(s, np.nan)

    def failure(n: int) -> float:
        return float(np.nansum(ndtr(-margin * math.sqrt(n) / s), axis=1).max(initial=0.0))

    return least_whole(failure, b) if len(s) > 1 else 1


def difference_proxy(release: FactorizationRelease) -> float:
    """The largest subgaussian proxy of one user's ê_c − ê_c′: the report's, and Hoeffding's for the user's type."""
    R, V = release.decoder, release.workload + release.bias
    v = release.randomizer.subgaussian_proxy
    worst = 0.0
    for c in range(len(R) - 1):
        noise = v * np.einsum("cs,cs->c", R[c + 1 :] - R[c], R[c + 1 :] - R[c])
        worst = max(worst, float((noise + 0.25 * np.ptp(V[c + 1 :] - V[c], axis=1) ** 2).max()))
    return worst


def certain_users(proxy: float, concepts: int, margin: float, beta: float) -> int:
    """A number of users proved to keep failures below β: (k − 1)exp(−nm²/2V) ≤ β."""
    b = checked_error(beta)
    return 1 if concepts == 1 else max(1, math.ceil(2.0 * proxy * math.log((concepts - 1) / b) / margin**2))


def balanced(spreads: FloatArray, signal: float) -> tuple[float, float]:
    """The threshold y ∈ (0, s) where Σ_c P(e_c > y) and max_c P(e_c > s − y) are equal, and the error there."""

    def errors(y: float) -> tuple[float, float]:
        return float(ndtr(-y / spreads).sum()), float(ndtr((y - signal) / spreads).max())

    y = bisect(lambda x: operator.le(*errors(x)), 0.0, signal)[1]
    return y, min(max(errors(y)), 1.0)


def certain_refuter_users(proxy: float, concepts: int, signal: float, beta: float) -> int:
    """A number of users with which a threshold is proved to keep both errors below β.

    exp(−ny²/2V) ≤ β/k and exp(−n(s−y)²/2V) ≤ β.
    """
    b = checked_error(beta)
    roots = math.sqrt(math.log(concepts / b)) + math.sqrt(-math.log(b))
    return max(1, math.ceil(2.0 * proxy * (roots / signal) ** 2))


# Randomized bits.


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
