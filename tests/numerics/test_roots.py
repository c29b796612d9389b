"""Where something turns true or an error small enough: the bracket is kept, and its ends say what is known."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from factormech.arrays import FloatArray, IntArray
from factormech.numerics.roots import bisect, bisect_each, least_whole

ERRORS: dict[str, Callable[[int], float]] = {
    "root": lambda n: 2.0 / math.sqrt(n),
    "offset": lambda n: 0.0999 + 1.0 / math.sqrt(n),
    "exponential": lambda n: math.exp(-n / 300.0),
    "to nothing": lambda n: max(0.0, 1.0 - n / 777.0),
    "infinite at first": lambda n: math.inf if n < 50 else 3.0 / math.sqrt(n),
    "one step": lambda n: 1.0 if n < 913 else 0.0,
    "enough at once": lambda n: 0.01 / n,
}


@pytest.mark.parametrize("root", [1e-300, 0.1, 1.0 / 3.0, 0.9999, 1.0])
def test_the_ends_are_neighbours_and_each_on_its_side(root: float) -> None:
    """The largest float where it does not hold, and the least where it does."""
    low, high = bisect(lambda x: x >= root, 0.0, 2.0, halvings=1200)
    assert low < root <= high
    assert math.nextafter(low, math.inf) == high


@pytest.mark.parametrize("halvings", [0, 1, 7, 40])
def test_the_bracket_is_halved_as_often_as_asked(halvings: int) -> None:
    looks: list[float] = []
    low, high = bisect(lambda x: bool(looks.append(x)) or x * x >= 2.0, 1.0, 2.0, halvings=halvings)
    assert len(looks) == halvings
    assert high - low == 2.0**-halvings
    assert low <= math.sqrt(2.0) <= high


def test_ends_that_were_never_left_are_those_given() -> None:
    """Nothing is asked of the ends themselves: the caller knows them."""
    assert bisect(lambda x: False, 1.0, 2.0)[1] == 2.0
    assert bisect(lambda x: True, 1.0, 2.0)[0] == 1.0
    assert bisect(lambda x: True, 1.0, 1.0) == (1.0, 1.0)


def test_each_bracket_ends_as_alone() -> None:
    roots = np.random.default_rng(3).random(50)
    low, high = bisect_each(lambda x, which: x >= roots[which], np.full(50, -1.0), np.full(50, 3.0))
    for found, root in zip(zip(low.tolist(), high.tolist(), strict=True), roots.tolist(), strict=True):
        assert found == bisect(lambda x, r=root: x >= r, -1.0, 3.0)


def test_brackets_that_are_narrow_enough_are_left_alone() -> None:
    """Nothing is asked of them again, and the arrays given are not written to."""
    asked: list[int] = []

    def holds(x: FloatArray, which: IntArray | slice) -> FloatArray:
        asked.append(len(x))
        return np.asarray(x >= 0.3)

    start = np.zeros(2), np.array([1.0, 2.0**-12])
    low, high = bisect_each(holds, *start, width=2.0**-10)
    assert asked == [1] * 10
    np.testing.assert_array_equal(high - low, [2.0**-10, 2.0**-12])
    np.testing.assert_array_equal(start[0], [0.0, 0.0])


@pytest.mark.parametrize("smooth", [True, False])
@pytest.mark.parametrize("name", ERRORS)
def test_least_whole_number(name: str, smooth: bool) -> None:
    """The error is small enough there and not one below; looks are few."""
    looks: list[int] = []

    def error(n: int) -> float:
        looks.append(n)
        return ERRORS[name](n)

    n = least_whole(error, 0.1, smooth=smooth)
    assert ERRORS[name](n) <= 0.1
    assert n == 1 or ERRORS[name](n - 1) > 0.1
    assert len(looks) <= 2 * math.log2(max(looks)) + 8
    if smooth and name == "root":
        assert len(looks) <= 5
