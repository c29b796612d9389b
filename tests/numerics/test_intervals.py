"""Intervals against closed forms; Student's misses as often as it says."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binom

from factormech.errors import BadValue
from factormech.numerics.intervals import Estimate, clopper_pearson, mean_of_levels, student_half_width


def test_a_known_interval() -> None:
    """Of 1, 2, 3 at 5 %: t of two degrees of freedom, 4.3027, over √3."""
    assert student_half_width(np.array([1.0, 2.0, 3.0]), 0.05) == pytest.approx(4.302652729911275 / np.sqrt(3.0))


@pytest.mark.parametrize("draws", [2, 5, 40])
def test_it_misses_as_often_as_it_says(draws: int) -> None:
    """4000 samples at 10 %: within five standard deviations."""
    samples = np.random.default_rng(draws).standard_normal((4000, draws))
    missed = sum(abs(one.mean()) > student_half_width(one, 0.1) for one in samples)
    assert abs(missed - 400) < 5 * np.sqrt(4000 * 0.1 * 0.9)


# Means of known values ------------------------------------------------------------------------------------------------


def test_a_mean_of_two_levels_is_a_probability() -> None:
    """Draws of a or b have the mean a + (b − a)·P(b), with the interval of that probability."""
    values = np.array(7 * [2.5] + 13 * [-0.5])
    low, high = clopper_pearson(7, 20, 0.03)
    assert mean_of_levels(values, np.array([-0.5, 2.5]), 0.03) == pytest.approx((-0.5 + 3 * low, -0.5 + 3 * high))


def test_levels_share_the_probability_of_a_miss() -> None:
    """Three levels: two probabilities, each missed half of the time that one would be."""
    values = np.array([0.0, 0.0, 0.25, 1.0, 1.0, 1.0])
    first, second = clopper_pearson(4, 6, 0.05), clopper_pearson(3, 6, 0.05)
    expected = [0.25 * one + 0.75 * other for one, other in zip(first, second, strict=True)]
    assert mean_of_levels(values, np.array([1.0, 0.0, 0.25, 0.0]), 0.1) == pytest.approx(expected)


@pytest.mark.parametrize(("off", "counted"), [(0.9e-9, 3), (1.1e-9, 2)])
@pytest.mark.parametrize("size", [1.0, 1e-3, 1e4])
def test_sums_in_another_order_count_as_their_level(off: float, counted: int, size: float) -> None:
    """A billionth of the largest value, whichever sign that has."""
    values = size * np.array([-2.0, 1.0, 1.0 - 2.0 * off, 1.0])
    low, high = clopper_pearson(counted, 4, 0.2)
    expected = (size * (-2.0 + 3.0 * low), size * (-2.0 + 3.0 * high))
    assert mean_of_levels(values, size * np.array([-2.0, 1.0]), 0.2) == pytest.approx(expected, rel=1e-12)


def test_a_draw_just_within_the_slack_counts() -> None:
    values = np.array([1.0 - 2e-9])
    assert mean_of_levels(values, np.array([-2.0, 1.0]), 0.2) == mean_of_levels(np.ones(1), np.array([-2.0, 1.0]), 0.2)


def test_one_level_needs_no_draws() -> None:
    assert mean_of_levels(np.array([0.3, 0.3]), np.array([0.3]), 0.1) == (0.3, 0.3)


@pytest.mark.parametrize("trials", [1, 2, 17])
@pytest.mark.parametrize("level", [0.01, 0.5])
def test_ends_without_failures_or_successes_are_powers(trials: int, level: float) -> None:
    assert clopper_pearson(0, trials, level) == pytest.approx((0.0, 1.0 - (level / 2) ** (1 / trials)), rel=1e-12)
    assert clopper_pearson(trials, trials, level) == pytest.approx(((level / 2) ** (1 / trials), 1.0), rel=1e-12)


def test_both_ends_are_quantiles_of_binomial_tails() -> None:
    """P(≥ 5 of 12) is level/2 at the lower end, P(≤ 5 of 12) at the upper one."""
    low, high = clopper_pearson(5, 12, 0.08)
    assert binom.sf(4, 12, low) == pytest.approx(0.04, rel=1e-9)
    assert binom.cdf(5, 12, high) == pytest.approx(0.04, rel=1e-9)


@pytest.mark.parametrize(
    "arguments", [(3, 2, 0.1), (-1, 2, 0.1), (1, 0, 0.1), (1, 2, 0.0), (1, 2, 1.0), (1, 2, math.nan)]
)
def test_what_is_no_count_or_level_is_refused(arguments: tuple[int, int, float]) -> None:
    with pytest.raises(BadValue):
        clopper_pearson(*arguments)


def test_widths_are_shares_of_the_value() -> None:
    assert Estimate(2.0, 1.5, 2.25).relative_width == 0.375
    assert Estimate(0.0, 0.0, 0.0).relative_width == 0.0
    assert Estimate(1e-9, 0.0, 1e-9).relative_width == 1.0
