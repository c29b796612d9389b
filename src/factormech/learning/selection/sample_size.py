r"""The number of users with which selection succeeds, and set disjointness decided by simulating selection.

**The number of users.** A search finds with how many users a protocol succeeds with a given probability, with an
interval. S(n) of T independent runs with n users succeed. All n share the runs' chance
(:mod:`factormech.learning.selection.kernels`), so S is nearly increasing, and a bisection on a logarithmic scale
finds where it crosses a number k. Three of them:

- the estimate, where S crosses sT, by interpolation in ln n;
- the upper end: a number of users that was tried and whose interval of Clopper & Pearson lies above s;
- the lower end: one that was tried and whose interval lies below s.

With at most E numbers of users tried, each interval at level/E, all of them hold with probability 1 − level; then, if
the probability of success increases with n, its crossing of s is between the ends. Where not even the least
number of users fails, the lower end is that number; ``moss-validated`` starts with its fresh reports.

**Set disjointness.** Two parties decide it, and the transcript reveals information about their sets. The reduction of
:mod:`factormech.learning.selection.lower_bounds`, run: each user goes to either party by a public coin, and has that
party's set with probability 2g and 0 otherwise; the protocol names Z; the parties say "they meet" if Z is in both
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
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from factormech.arrays import FloatArray, IntArray, check_positive_integer
from factormech.errors import BadValue
from factormech.learning.selection.protocols import (
    Reports,
    Run,
    Validation,
    checked_gap,
    least_users,
    of_means,
    report_probability,
    run,
)
from factormech.numerics.intervals import Estimate, clopper_pearson

# The number of users.

_TRIED_AT_MOST = 80


@dataclass(frozen=True)
class SampleSize:
    """Users for the wanted success, the ends of its interval, and how many numbers of users were tried."""

    users: float
    low: float
    high: float
    tried: int


def successes(name: str, reports: Reports, users: int, validation: Validation | None = None) -> int:
    """How many runs name a best coordinate."""
    return int((run(name, reports, users, validation).choice == reports.best).sum())


def users_for_success(
    name: str,
    reports: Reports,
    start: float,
    *,
    validation: Validation | None = None,
    success: float = 2.0 / 3.0,
    level: float = 1e-3,
    precision: float = 0.03,
) -> SampleSize:
    """The number of users with which a protocol names the best coordinate with probability ``success``.

    Parameters
    ----------
    reports
        The runs, planted (:func:`factormech.learning.selection.protocols.planted`).
    start
        About where to begin.
    level
        Probability that the interval misses.
    precision
        ln(b/a) of the steps [a, b] at which bisections stop.
    """
    if not 0.0 < success < 1.0:
        raise BadValue("success", success, "be above 0 and below 1", "give for example 2/3")
    trials = check_positive_integer("runs", reports.runs)
    enough, few = _decisive(trials, success, level / _TRIED_AT_MOST)
    least = least_users(validation)
    found: dict[int, int] = {}

    def count(n: int) -> int:
        if n not in found:
            if len(found) >= _TRIED_AT_MOST:
                raise BadValue("start", start, f"be near the answer ({_TRIED_AT_MOST} numbers were tried)", "move it")
            found[n] = successes(name, reports, n, validation)
        return found[n]

    a, b = _crossing(count, success * trials, start, least, precision)
    high = _crossing(count, enough, b, least, precision)[1]
    low = _crossing(count, few + 1, a, least, precision)[0]
    return SampleSize(_between(a, b, count(a), count(b), success * trials), float(low), float(high), len(found))


def _decisive(trials: int, success: float, level: float) -> tuple[int, int]:
    """The least number of successes that is surely more than the share, and the largest that is surely less."""
    counts = range(trials + 1)
    enough = next((k for k in counts if clopper_pearson(k, trials, level)[0] > success), None)
    few = next((k for k in reversed(counts) if clopper_pearson(k, trials, level)[1] < success), None)
    if enough is None or few is None:
        raise BadValue("runs", trials, "be enough to tell a success from a failure", "give for example 400")
    return enough, few


def _crossing(
    count: Callable[[int], int], threshold: float, start: float, least: int, precision: float
) -> tuple[int, int]:
    """Numbers of users a ≤ b near one another, fewer successes than the threshold at a and enough at b."""
    b = max(round(start), least)
    a = b
    while count(b) < threshold:
        a, b = b, 2 * b
    while a > least and count(a) >= threshold:
        a, b = max(a // 2, least), a
    while b - a > 1 and math.log(b / a) > precision:
        middle = min(max(round(math.sqrt(a * b)), a + 1), b - 1)
        a, b = (a, middle) if count(middle) >= threshold else (middle, b)
    return a, b


def _between(a: int, b: int, at_a: int, at_b: int, wanted: float) -> float:
    """Where the line from (ln a, at_a) to (ln b, at_b) is at the wanted number."""
    if at_b <= at_a or at_a >= wanted:
        return float(b if at_a < wanted else a)
    return float(np.exp(np.interp(wanted, [at_a, at_b], [math.log(a), math.log(b)])))


# Set disjointness.


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
