"""Every estimator of an interval that tables use misses no more often than its level says: 2000 runs each.

The tests fail by chance once in a million. Intervals of collections and of ratios are in ``test_simulate.py`` and
``test_on_data.py``, which run them as often.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy.stats import binom

from factormech.learning.selection.protocols import planted
from factormech.learning.selection.sample_size import _mean_in, users_for_success
from factormech.mechanisms.central import moments
from factormech.mechanisms.pure.bouncy import mean_of
from factormech.numerics.intervals import clopper_pearson
from factormech.studies.measures.consistency import student
from tests.statistics import FALSE_ALARM, at_most_p_value

RUNS, LEVEL = 2000, 0.1
Interval = tuple[float, float]


def of(found: moments.Estimate) -> Interval:
    return found.low, found.high


def proportion(rng: np.random.Generator) -> tuple[Interval, float]:
    p = float(rng.choice([0.003, 0.2, 0.5, 0.97]))
    return clopper_pearson(int(rng.binomial(60, p)), 60, LEVEL), p


def stopped(rng: np.random.Generator) -> tuple[Interval, float]:
    return of(moments.estimate(rng.standard_exponential, 0.15, level=LEVEL, looks=4).mean), 1.0


def root(rng: np.random.Generator) -> tuple[Interval, float]:
    found = moments.estimate(rng.standard_exponential, 0.15, level=LEVEL, looks=4)
    return of(found.root_mean_square), math.sqrt(2.0)


def bernstein(rng: np.random.Generator) -> tuple[Interval, float]:
    found = _mean_in(rng.beta(0.2, 2.0, 400), 1.0, LEVEL)
    return (found.low, found.high), 0.2 / 2.2


ESTIMATORS: dict[str, Callable[[np.random.Generator], tuple[Interval, float]]] = {
    "Clopper & Pearson": proportion,
    "mean, stopped when narrow": stopped,
    "root mean square, stopped when narrow": root,
    "Student, pure errors": lambda rng: (of(moments.student(rng.gamma(4.0, size=200), LEVEL)), 4.0),
    "Student, consistency": lambda rng: (student(1.0 + rng.standard_normal(20), LEVEL)[2:], 1.0),
    "mean of independent draws": lambda rng: (of(mean_of(rng.gamma(4.0, size=(4, 100)), True, LEVEL)), 4.0),
    "empirical Bernstein": bernstein,
}


@pytest.mark.slow
@pytest.mark.parametrize("name", ESTIMATORS)
def test_intervals_miss_no_more_often_than_they_say(name: str) -> None:
    rng, missed = np.random.default_rng(4), 0
    for _ in range(RUNS):
        (low, high), truth = ESTIMATORS[name](rng)
        missed += not low <= truth <= high
    # Student's interval for laws that are not normal is right in the limit: a tenth of the level is left for it.
    assert at_most_p_value(missed, RUNS, LEVEL * (1.1 if "Student" in name or "mean" in name else 1.0)) > FALSE_ALARM
    assert missed < 0.5 * RUNS


@pytest.mark.slow
def test_a_chain_says_how_sure_it_is() -> None:
    """Four autoregressive chains of correlation 0.9: their interval is from their effective size."""
    rng, missed = np.random.default_rng(5), 0
    for _ in range(RUNS):
        noise, chains = rng.standard_normal((400, 4)), np.empty((400, 4))
        chains[0] = noise[0] / math.sqrt(1 - 0.81)
        for i in range(1, 400):
            chains[i] = 0.9 * chains[i - 1] + noise[i]
        found = mean_of(chains.T, False, LEVEL)
        missed += not found.low <= 0.0 <= found.high
    # The effective size is an estimate itself.
    assert at_most_p_value(missed, RUNS, 1.6 * LEVEL) > FALSE_ALARM


@pytest.mark.slow
def test_numbers_of_users_for_a_success() -> None:
    """The least n of the one-coordinate protocol, from 200 searches of 200 runs against the one of 40 000 runs."""
    rng, missed, searches = np.random.default_rng(6), 0, 200
    exact = users_for_success("one-coordinate", planted(2, 0.3, 1.0, 40_000, rng), 40.0, level=1e-6, precision=0.02)
    for _ in range(searches):
        found = users_for_success("one-coordinate", planted(2, 0.3, 1.0, 200, rng), 40.0, level=LEVEL)
        missed += found.low > exact.high or found.high < exact.low
    assert at_most_p_value(missed, searches, LEVEL) > FALSE_ALARM


@pytest.mark.parametrize("trials", [5, 60])
def test_clopper_and_pearson_exactly(trials: int) -> None:
    """P(miss) by enumeration, on a fine grid of probabilities: at most half of the level on either side."""
    ends = np.array([clopper_pearson(k, trials, LEVEL) for k in range(trials + 1)])
    for p in np.linspace(0.001, 0.999, 400):
        law = binom.pmf(np.arange(trials + 1), trials, p)
        assert law[ends[:, 0] > p].sum() <= LEVEL / 2 * (1 + 1e-9)
        assert law[ends[:, 1] < p].sum() <= LEVEL / 2 * (1 + 1e-9)
