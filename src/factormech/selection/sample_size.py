r"""The number of users with which a protocol succeeds with a given probability, by search, with an interval.

S(n) of T independent runs with n users succeed. All n share the runs' chance (:mod:`factormech.selection.kernels`), so
S is nearly increasing, and a bisection on a logarithmic scale finds where it crosses a number k. Three of them:

- the estimate, where S crosses sT, by interpolation in ln n;
- the upper end: a number of users that was tried and whose interval of Clopper & Pearson lies above s;
- the lower end: one that was tried and whose interval lies below s.

With at most E numbers of users tried, each interval at level/E, all of them hold with probability 1 − level; then, if
the probability of success increases with n, its crossing of s is between the ends. Where not even the least
number of users fails, the lower end is that number; ``moss-validated`` starts with its fresh reports.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from factormech.arrays import check_positive_integer
from factormech.errors import BadValue
from factormech.proportion import clopper_pearson
from factormech.selection.protocols import Validation, least_users, run
from factormech.selection.reports import Reports

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
        The runs, planted (:func:`factormech.selection.reports.planted`).
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
