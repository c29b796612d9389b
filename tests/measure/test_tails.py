"""Tail bounds are above the exact tails, not far above, and intervals are their inverse."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import chi2, poisson

from factormech.errors import BadValue
from factormech.mechanisms.local.error_law import SquaredError
from factormech.mechanisms.local.simulate import interval, tail_probability, two_sided
from tests.tiers import every


def gaussian(weights: list[float]) -> SquaredError:
    """The law of Σ λ_iχ²_i."""
    w = np.array(weights)
    return SquaredError(float(w.sum()), float(2 * np.sum(w**2)), float(w.max()))


@pytest.mark.parametrize("trials", [1, 20])
@pytest.mark.parametrize("freedom", [1, 10, 255])
def test_tails_of_chi_square_are_bounded_closely(freedom: int, trials: int) -> None:
    """T̄·t/μ·ν is χ² with tν degrees of freedom: the exact tail is below the bound, and not by orders of magnitude."""
    law = gaussian([3.0] * freedom)
    exact = chi2(trials * freedom)
    for probability in (0.2, 1e-2, 1e-6, 1e-12):
        above, below = exact.isf(probability) / trials * 3.0, exact.ppf(probability) / trials * 3.0
        assert probability <= tail_probability(above, law, trials) <= 40 * probability * math.log(2 / probability)
        assert probability <= tail_probability(below, law, trials)
        if trials * freedom > 200 and probability < 1e-3:
            assert tail_probability(below, law, trials) <= probability**0.7


@pytest.mark.slow
@pytest.mark.parametrize("weights", every(2, [[1.0, 0.01], [5.0, 1.0, 1.0, 0.2], [2.0] * 5 + [1.0] * 50]))
def test_tails_of_weighted_sums_are_bounded(weights: list[float]) -> None:
    """Against half a million draws: no observed frequency is above its bound by more than its error."""
    rng = np.random.default_rng(0)
    law, draws = gaussian(weights), 500_000
    T = sum((weight * rng.chisquare(1, draws) for weight in weights), np.zeros(draws))
    for q in (0.3, 0.05, 1e-3, 1e-4):
        for at, frequency in ((np.quantile(T, 1 - q), q), (np.quantile(T, q), q)):
            if (at > law.mean) == (at == np.quantile(T, 1 - q)):
                assert frequency <= tail_probability(float(at), law, 1) + 6 * math.sqrt(q / draws)


@pytest.mark.parametrize("events", [0.3, 2.0, 30.0])
def test_tails_of_rare_events_are_bounded(events: float) -> None:
    """A Poisson number of jumps of size M = 1 has mean and variance ``events``, and scale M/4."""
    law = SquaredError(events, events, 0.25)
    for k in range(60):
        if k <= events:
            assert poisson.cdf(k, events) <= tail_probability(float(k), law, 1) * (1 + 1e-12)
        else:
            assert poisson.sf(k - 1, events) <= tail_probability(float(k), law, 1)


@pytest.mark.parametrize("level", [0.05, 1e-6, 1e-12])
@pytest.mark.parametrize("trials", [5, 100])
def test_the_interval_holds_what_is_not_rejected(level: float, trials: int) -> None:
    law = SquaredError(7.0, 3.0, 0.9)
    low, high = interval(7.0, law, trials, level)
    assert 0 < low < 7.0 < high
    for end in (low, high):
        if math.isfinite(end):
            factor = end / law.mean  # the same shape, at the size of the interval's end
            scaled = SquaredError(end, law.variance * factor**2, law.scale * factor)
            assert two_sided(7.0, scaled, trials) == pytest.approx(level, rel=1e-8)
    wider = interval(7.0, law, trials, level / 10)
    assert wider[0] < low
    assert wider[1] >= high
    assert interval(14.0, law, trials, level) == pytest.approx((2 * low, 2 * high))


def test_too_little_data_leaves_the_interval_open() -> None:
    low, high = interval(1.0, gaussian([1.0]), 1, 1e-6)
    assert 0 < low < 0.1
    assert high == math.inf


def test_what_is_certain_has_no_tail() -> None:
    nothing = SquaredError(0.0, 0.0, 0.0)
    assert two_sided(0.0, nothing, 10) == 1.0
    assert interval(0.0, nothing, 10, 1e-6) == (0.0, 0.0)


@pytest.mark.parametrize("level", [0.0, 1.0, -1.0, float("nan")])
def test_levels_are_checked(level: float) -> None:
    with pytest.raises(BadValue, match="level = "):
        interval(1.0, gaussian([1.0]), 1, level)
