"""One line and no number where a bound cannot be had."""

from __future__ import annotations

import doctest
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from factormech.bounds.protocols import largest, mean_squared
from factormech.bounds.protocols.largest import largest_error, users_for_largest_error
from factormech.bounds.protocols.mean_squared import mean_squared_error, users_for_mean_squared_error
from factormech.errors import BadValue
from factormech.workloads.registry import create

pytestmark = pytest.mark.heavy

BOUNDS = (mean_squared_error, users_for_mean_squared_error, largest_error, users_for_largest_error)


def _refused(bound: Callable[..., Any], *args: Any, **more: Any) -> str:
    with pytest.raises(BadValue) as caught:
        bound(*args, **more)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("bound", BOUNDS)
def test_bad_arguments_are_refused(bound: Callable[..., Any]) -> None:
    W, size = create("prefix", 8), 1000 if bound in (mean_squared_error, largest_error) else 0.01
    for epsilon in (0.0, -1.0, math.inf, math.nan, "1"):
        assert "epsilon" in _refused(bound, W, epsilon, size)
    for bad in (0, -3, math.nan, math.inf, "many", True):
        _refused(bound, W, 1.0, bad)
    for types in ([3], [3, 3], [], [0, 8], [-1, 2]):
        assert "types" in _refused(bound, W, 1.0, size, types=types)
    assert "data" in _refused(bound, W, 1.0, size, data="sold")
    for weights in (math.nan, math.inf):
        _refused(bound, np.array([[0.0, weights]]), 1.0, size)


@pytest.mark.parametrize("bound", BOUNDS)
def test_workloads_that_ask_nothing_are_refused(bound: Callable[..., Any]) -> None:
    size = 1000 if bound in (mean_squared_error, largest_error) else 0.01
    assert "differs between users" in _refused(bound, np.ones((3, 4)), 1.0, size)
    assert "domain size" in _refused(bound, np.ones((3, 1)), 1.0, size)


def test_vacuous_bounds_say_so() -> None:
    # At ε = 12 one user's data are given away almost surely; the bound for drawn data says something.
    assert "vacuous" in _refused(mean_squared_error, create("histogram", 8), 12.0, 3)
    assert mean_squared_error(create("histogram", 8), 12.0, 3, data="drawn").error > 0.0
    assert "vacuous" in _refused(largest_error, create("prefix", 8), 12.0, 3, data="given")
    assert "vacuous" in _refused(users_for_mean_squared_error, create("histogram", 8), 12.0, 1e-2)


def test_errors_of_constant_answers_need_no_users() -> None:
    assert "needs no users" in _refused(users_for_mean_squared_error, create("prefix", 8), 1.0, 0.25)
    assert "needs no users" in _refused(users_for_largest_error, create("prefix", 8), 1.0, 0.5)


def test_a_face_on_which_nothing_varies_is_refused() -> None:
    W = np.array([[0.0, 0.0, 1.0]])
    _refused(mean_squared_error, W, 1.0, 100, types=[0, 1])
    _refused(largest_error, W, 1.0, 100, types=[0, 1])


@pytest.mark.slow
def test_nothing_overflows_from_the_smallest_epsilon_to_the_largest() -> None:
    W = create("prefix", 4)
    for epsilon in (1e-3, 40.0):
        for users in (1, 10**15):
            assert 0.0 < mean_squared_error(W, epsilon, users, data="drawn").error < 1.0
            assert 0.0 < largest_error(W, epsilon, users).error < 1.0


@pytest.mark.slow
@pytest.mark.parametrize("module", [mean_squared, largest])
def test_the_examples_run(module: Any) -> None:
    found = doctest.testmod(module)
    assert found.attempted >= 4
    assert found.failed == 0
