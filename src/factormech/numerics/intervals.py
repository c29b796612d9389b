"""Estimates with intervals: means of independent draws, and probabilities."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from factormech.arrays import FloatArray, check_positive_integer
from factormech.errors import BadValue

# Means.


@dataclass(frozen=True)
class Estimate:
    """A mean, or its root, with an interval."""

    value: float
    low: float
    high: float

    @property
    def relative_width(self) -> float:
        """(high − low)/value; 0 where nothing varies."""
        return (self.high - self.low) / self.value if self.value > 0.0 else 0.0


def student_half_width(values: FloatArray, level: float) -> float:
    """Half of Student's interval for the mean of the draws, which misses it with probability ``level`` if normal."""
    from scipy.special import stdtrit

    t = len(values)
    return float(stdtrit(t - 1, 1.0 - level / 2.0)) * float(values.std(ddof=1)) / math.sqrt(t)


# Probabilities.


def clopper_pearson(successes: int, trials: int, level: float) -> tuple[float, float]:
    """The interval of Clopper & Pearson (Biometrika 26(4), 1934): misses the probability at most ``level`` of the time.

    Each end is missed at most level/2 of the time, whatever the probability and the number of trials.

    Parameters
    ----------
    successes, trials
        How many of how many independent trials succeeded.
    level
        Probability of a miss, both ends together.
    """
    from scipy.special import betaincinv

    n = check_positive_integer("trials", trials)
    k = check_positive_integer("successes", successes, minimum=0)
    if k > n:
        raise BadValue("successes", k, f"be at most the number of trials, {n}", "count again")
    if not 0.0 < level < 1.0:
        raise BadValue("level", level, "be a probability above 0 and below 1", "give for example 0.01")
    low = float(betaincinv(k, n - k + 1, 0.5 * level)) if k > 0 else 0.0
    high = float(betaincinv(k + 1, n - k, 1.0 - 0.5 * level)) if k < n else 1.0
    return low, high


def mean_of_levels(values: FloatArray, possible: FloatArray, level: float) -> tuple[float, float]:
    """Return an interval for the mean of draws that can only have known values, such as losses of concepts.

    The mean is v₁ + Σ (vᵢ − vᵢ₋₁)·P(draw ≥ vᵢ), over the possible values v₁ < v₂ < …; each probability has its
    interval of Clopper & Pearson, and all of them miss at most ``level`` of the time together. Rare large values, whose
    variance a sample hardly shows, make it narrower than intervals from variances.

    Parameters
    ----------
    values
        Independent draws.
    possible
        The values that a draw can have, known beforehand.
    level
        Probability of a miss, both ends together.

    Examples
    --------
    >>> low, high = mean_of_levels(np.array([0.5] + 99 * [0.0]), np.array([0.0, 0.5]), 0.01)
    >>> f"{low:.5f} {high:.5f}"
    '0.00003 0.03641'
    """
    v = np.unique(np.asarray(possible, dtype=np.float64))
    slack = 1e-9 * float(np.abs(v).max())  # sums of the same numbers in another order
    low = high = float(v[0])
    for i, step in enumerate(np.diff(v)):
        reached = int((values >= v[i + 1] - slack).sum())
        least, most = clopper_pearson(reached, len(values), level / (len(v) - 1))
        low, high = low + float(step) * least, high + float(step) * most
    return low, high
