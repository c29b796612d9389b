r"""Two parties decide set disjointness by simulating selection, and what its transcript says of their sets.

The reduction of :mod:`factormech.selection.lower_bounds`, run: each user goes to either party by a public coin, and has
that party's set with probability 2g and 0 otherwise; the protocol names Z; the parties say "they meet" if Z is in both
sets, and never err where the sets are disjoint.

**Information.** Under the hard law given D (one party's bit j is a fair coin v_j, the other's 0) the coordinates are
independent, and the reports on coordinate j of users of the party that has the coin, k ones of N, are all that depends
on v_j, whatever coordinates the protocol asked for and why: the likelihood ratio of v_j is
(p₁/p₀)^k((1−p₁)/(1−p₀))^{N−k}, p_v being the probability of reporting 1. So the posterior of (A, B) is known in closed
form, and

.. math:: I(A,B;T\mid D,\text{coins}) = E\Bigl[\sum_j \ln 2 - H(v_j\mid T)\Bigr],

an expectation of a number in [0, d ln 2]: its mean over independent runs has the interval of Maurer & Pontil (COLT
2009), valid at any number of runs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from factormech.arrays import FloatArray, IntArray, check_positive_integer
from factormech.errors import BadValue
from factormech.numerics.intervals import Estimate
from factormech.proportion import clopper_pearson
from factormech.selection.protocols import Run, Validation, run
from factormech.selection.reports import Reports, checked_gap, of_means, report_probability


@dataclass(frozen=True)
class HardSets:
    """Pairs of sets: indicator vectors, (runs, d, 2), and D, the party whose bits are fair coins, (runs, d)."""

    members: IntArray
    holder: IntArray

    @property
    def common(self) -> IntArray:
        """Indicator vectors of the intersections, (runs, d)."""
        return np.asarray(self.members.prod(axis=2))


def hard_sets(dimension: int, runs: int, rng: np.random.Generator, *, meeting: bool) -> HardSets:
    """Sets of the hard law, disjoint; or with one common element put in at a uniform coordinate."""
    d = check_positive_integer("dimension", dimension, minimum=2)
    runs = check_positive_integer("runs", runs)
    holder = rng.integers(2, size=(runs, d))
    members = np.zeros((runs, d, 2), dtype=np.int64)
    np.put_along_axis(members, holder[:, :, None], rng.integers(2, size=(runs, d, 1)), axis=2)
    if meeting:
        members[np.arange(runs), rng.integers(d, size=runs)] = 1
    return HardSets(members, holder)


def reports_of(sets: HardSets, gap: float, epsilon: float, rng: np.random.Generator) -> Reports:
    """The users whom the parties simulate."""
    means = np.asarray(sets.members * (2.0 * checked_gap(gap)), dtype=np.float64)
    common = sets.common
    best = np.where(common.any(axis=1), common.argmax(axis=1), -1)
    return of_means(means, epsilon, best, rng)


def decisions(sets: HardSets, done: Run) -> IntArray:
    """1 where the parties say that their sets meet: the named element is in both."""
    return np.asarray(sets.common[np.arange(len(done.choice)), done.choice])


def missed(
    name: str, sets: HardSets, reports: Reports, users: int, level: float, validation: Validation | None = None
) -> Estimate:
    """The probability of a wrong decision, with its interval of Clopper & Pearson."""
    right = decisions(sets, run(name, reports, users, validation)) == sets.common.any(axis=1)
    wrong = int((~right).sum())
    low, high = clopper_pearson(wrong, reports.runs, level)
    return Estimate(wrong / reports.runs, low, high)


def information(
    name: str,
    sets: HardSets,
    reports: Reports,
    users: int,
    gap: float,
    epsilon: float,
    level: float,
    validation: Validation | None = None,
) -> Estimate:
    """I(A, B; T | D, coins) in nats, for sets of the hard law."""
    if sets.common.any():
        raise BadValue("sets", "they meet", "be of the hard law, disjoint", "call hard_sets with meeting=False")
    done = run(name, reports, users, validation)
    each = told(sets, done, gap, epsilon).sum(axis=1)
    return _mean_in(each, sets.holder.shape[1] * math.log(2.0), level)


def told(sets: HardSets, done: Run, gap: float, epsilon: float) -> FloatArray:
    """ln 2 − H(v_j | T) of every run and coordinate, (runs, d), nats."""
    p0, p1 = report_probability(np.array([0.0, 2.0 * checked_gap(gap)]), epsilon)
    where = sets.holder[:, :, None]
    N = np.take_along_axis(done.plays, where, axis=2)[:, :, 0]
    k = np.take_along_axis(done.ones, where, axis=2)[:, :, 0]
    odds = np.abs(k * math.log(p1 / p0) + (N - k) * math.log((1.0 - p1) / (1.0 - p0)))
    # With odds e^x the entropy is ln(1 + e^{−x}) + x/(1 + e^x).
    small = np.exp(-odds)
    return np.asarray(math.log(2.0) - np.log1p(small) - odds * small / (1.0 + small))


def _mean_in(values: FloatArray, largest: float, level: float) -> Estimate:
    """Mean of independent numbers in [0, largest], with the empirical Bernstein interval."""
    n = len(values)
    if n < 2:
        raise BadValue("runs", n, "be at least 2", "give for example 1000")
    log = math.log(4.0 / level)
    mean, variance = float(values.mean()), float(values.var(ddof=1))
    width = math.sqrt(2.0 * variance * log / n) + 7.0 * largest * log / (3.0 * (n - 1))
    return Estimate(mean, max(mean - width, 0.0), min(mean + width, largest))
