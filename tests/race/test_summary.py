"""Ratios, intervals and exponents of the race on numbers that are known."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from benchmarks.race import summary
from benchmarks.race.contest import Contest, Contestant, Work, relative_distance
from benchmarks.race.runner import FEWER, LONG, Refused, complete_rounds, judge, rounds_due
from benchmarks.race.summary import growth, median_interval, ratios


def covered(n: int, low: int, high: int) -> Fraction:
    """The chance that the low-th to high-th of n fair draws hold the median, by all outcomes: (low, high] counts."""
    below = [sum(signs) for signs in itertools.product((0, 1), repeat=n)]
    return Fraction(sum(low < count <= high for count in below), 2**n)


@pytest.mark.parametrize("n", [2, 3, 5, 6, 9, 12, 15])
def test_the_level_is_the_exact_one_and_the_interval_the_narrowest(n: int) -> None:
    values = [float(2**i) for i in range(n)]
    found = median_interval(list(reversed(values)))
    low, high = values.index(found.low), values.index(found.high)
    # The median is in [x_low, x_high] if more than low values and at most high are below it.
    assert found.level == pytest.approx(float(covered(n, low, high)), abs=1e-12)
    assert low + high == n - 1
    if low:
        assert found.level >= summary.LEVEL
    if low + 1 < high - 1:
        assert covered(n, low + 1, high - 1) < summary.LEVEL


def test_levels_that_few_rounds_allow() -> None:
    assert median_interval([3.0, 1.0, 2.0]).level == 0.75
    five = median_interval([5.0, 1.0, 4.0, 2.0, 3.0])
    assert (five.median, five.low, five.high, five.level) == (3.0, 1.0, 5.0, 0.9375)
    assert median_interval([1.0]).level == 0.0
    assert median_interval([2.0]).verdict == "open"


@pytest.mark.parametrize(
    ("values", "verdict"), [((2, 3, 1.1), "wins"), ((0.5, 0.9, 0.2), "loses"), ((0.9, 2, 3), "open")]
)
def test_a_verdict_needs_the_whole_interval(values: tuple[float, ...], verdict: str) -> None:
    assert median_interval(list(values)).verdict == verdict


def nothing(size: int, lent: float | None) -> Work:
    raise AssertionError


CONTEST = Contest(
    "c",
    "C",
    "n",
    (
        Contestant("factormech", "factormech", nothing, (10, 100)),
        Contestant("peer", "peer", nothing, (10, 100)),
        Contestant("lent", "peer", nothing, (10,), lender="peer"),
    ),
    1e-3,
    "to 1e-3",
    1,
    "it",
)


def row(name: str, size: int, number: int, seconds: float, mebibytes: float = 0.0) -> dict[str, str]:
    found = {"contest": "c", "size": str(size), "round": str(number), "contestant": name}
    found |= {"cpu_seconds": str(seconds), "wall_seconds": str(2 * seconds)}
    return found | {"base_mebibytes": "50", "peak_mebibytes": str(50 + mebibytes)}


def test_ratios_are_paired_by_round() -> None:
    # A machine that is ten times slower in round 1 changes no ratio.
    rows = [row("factormech", 10, i, s, 0.1) for i, s in enumerate((1.0, 10.0, 1.0))]
    rows += [row("peer", 10, i, s, 8.0) for i, s in enumerate((3.0, 20.0, 4.0))] + [row("peer", 10, 9, 99.0)]
    [found] = ratios(rows, CONTEST)
    assert (found.peer, found.ours, found.size) == ("peer", "factormech", 10)
    assert (found.cpu.median, found.cpu.low, found.cpu.high, found.cpu.rounds) == (3.0, 2.0, 4.0, 3)
    assert found.memory.median == 8.0  # ours counts as 1 MiB
    assert summary.ratio_table([found])[0]["verdict"] == "wins"


def test_exponents_are_slopes_within_rounds() -> None:
    rows = [
        row("peer", size, i, c * size**p) for size in (10, 100) for i, (c, p) in enumerate([(1, 2), (5, 3), (2, 1)])
    ]
    [found] = growth(rows, CONTEST)
    assert found.contestant == "peer"
    assert (found.exponent.median, found.exponent.low, found.exponent.high) == pytest.approx((2.0, 1.0, 3.0))
    assert summary.slope((1, 2, 4, 8), [3.0, 6.0, 12.0, 24.0]) == pytest.approx(1.0)


def test_other_work_or_other_answers_are_refused() -> None:
    rows = {name: row(name, 10, 0, 1.0) for name in ("factormech", "peer")}
    names = list(rows)
    same = {"work": "a", "answer": [1.0, 2.0]}
    judge(CONTEST, 10, names, {"factormech": same, "peer": same | {"answer": [1.0, 2.001]}}, rows)
    assert rows["peer"]["disagreement"] == "0.0005"
    with pytest.raises(Refused, match="answers of peer and factormech differ"):
        judge(CONTEST, 10, names, {"factormech": same, "peer": same | {"answer": [1.0, 2.003]}}, rows)
    with pytest.raises(Refused, match="answers"):
        judge(CONTEST, 10, names, {"factormech": same, "peer": same | {"answer": [math.nan, 2.0]}}, rows)
    with pytest.raises(Refused, match="did other work"):
        judge(CONTEST, 10, names, {"factormech": same, "peer": same | {"work": "b"}}, rows)
    assert relative_distance([1.0], [1.0, 2.0]) == math.inf


def test_the_digest_is_of_values_and_shape() -> None:
    def digest(*arrays: np.ndarray) -> str:
        return Work(arrays, lambda: None, list).digest

    assert digest(np.array([1, 0])) == digest(np.array([1.0, -0.0]))
    assert len({digest(np.zeros(4)), digest(np.zeros((2, 2))), digest(np.array([0.0, 0, 0, 1e-300]))}) == 3


def test_fewer_rounds_where_somebody_takes_long_and_none_that_is_not_whole() -> None:
    short, long = row("peer", 10, 0, 0.4 * LONG), row("peer", 10, 0, 0.5 * LONG)  # wall is twice the CPU
    assert rounds_due([short], 5) == 5
    assert rounds_due([short, long], 5) == FEWER
    assert rounds_due([], 2) == 2
    rows = [row("factormech", 10, 0, 1.0), row("factormech", 10, 1, 1.0), row("peer", 10, 1, 1.0)]
    assert list(complete_rounds(rows, "c", 10, {"factormech", "peer"})) == [1]
    assert [who.name for who in CONTEST.at(10)] == ["factormech", "peer", "lent"]
