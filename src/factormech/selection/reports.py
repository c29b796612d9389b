r"""Users of selection and their reports: randomized response on one coordinate.

A user has x ∈ {0, 1}^d. Asked for coordinate j they report x_j with probability e^ε/(1+e^ε) and its opposite otherwise,
so a report on a coordinate of mean m_j is 1 with probability ½ + (m_j − ½)/c, c = (e^ε+1)/(e^ε−1). Users are drawn
independently and asked once, so nothing else about their law matters.

**The planted law** of gap g ≤ ½: fair coins, but one coordinate of mean ½ + g. Success is to name it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from factormech.arrays import FloatArray, IntArray, check_epsilon, check_positive_integer
from factormech.errors import BadValue

KeyArray = npt.NDArray[np.uint64]


@dataclass(frozen=True)
class Reports:
    """Runs of a protocol before anybody is asked.

    Attributes
    ----------
    probability
        Of reporting 1, (runs, d, 2): by coordinate and by party, each user being of either party with probability ½.
    keys
        What all chance of a run is a function of, (runs,).
    best
        The coordinates of largest mean, (runs,); −1 where there is none to find.
    """

    probability: FloatArray
    keys: KeyArray
    best: IntArray

    @property
    def runs(self) -> int:
        """How many there are."""
        return len(self.keys)

    @property
    def dimension(self) -> int:
        """d."""
        return int(self.probability.shape[1])


def checked_gap(gap: float) -> float:
    """g as a float, above 0 and at most ½."""
    if not (isinstance(gap, (int, float)) and not isinstance(gap, bool) and 0.0 < gap <= 0.5):
        raise BadValue("gap", gap, "be above 0 and at most 1/2", "give for example 0.1")
    return float(gap)


def loss_factor(epsilon: float) -> float:
    """c = (e^ε + 1)/(e^ε − 1)."""
    return 1.0 / math.tanh(0.5 * check_epsilon(epsilon))


def report_probability(means: FloatArray, epsilon: float) -> FloatArray:
    """½ + (m − ½)/c."""
    m = np.asarray(means, dtype=float)
    if not ((m >= 0.0) & (m <= 1.0)).all():
        raise BadValue("means", float(m.max(initial=-1.0)), "be between 0 and 1", "give means of 0/1 coordinates")
    return np.asarray(0.5 + (m - 0.5) / loss_factor(epsilon))


def planted(dimension: int, gap: float, epsilon: float, runs: int, rng: np.random.Generator) -> Reports:
    """Independent runs with the planted law, its coordinate uniform in each."""
    d = check_positive_integer("dimension", dimension, minimum=2)
    runs = check_positive_integer("runs", runs)
    best = rng.integers(d, size=runs)
    means = np.full((runs, d), 0.5)
    means[np.arange(runs), best] += checked_gap(gap)
    return of_means(means, epsilon, best, rng)


def of_means(means: FloatArray, epsilon: float, best: IntArray, rng: np.random.Generator) -> Reports:
    """Independent runs with these means, (runs, d), or (runs, d, 2) where the parties differ."""
    p = report_probability(means, epsilon)
    if p.ndim == 2:
        p = np.repeat(p[:, :, None], 2, axis=2)
    keys = rng.integers(2**64, size=len(p), dtype=np.uint64)
    return Reports(np.ascontiguousarray(p), keys, np.asarray(best, dtype=np.int64))
