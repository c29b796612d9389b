"""No strategy is below a bound that is drawn, in extended precision, for ε from .001 to 40.

The oracle: randomized response has X_c = ((a−1)/(a+n−1))²P with a = e^ε, so that its average variance per user is

    tr C · (2a + n − 2)/(a − 1)².
"""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

from factormech.bounds.registry import names, variance_bound
from factormech.errors import Unavailable
from factormech.mechanisms.local import registry as mechanisms
from factormech.workloads.base import Workload
from factormech.workloads.registry import create
from tests.tiers import every, every_pair

pytestmark = pytest.mark.heavy

EPSILONS = [0.001, 0.01, 0.1, 0.5, 1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 10.0, 12.0, 16.0, 20.0, 25.0, 30.0, 35.0, 40.0]
WORKLOADS = ["histogram", "prefix", "all-ranges", "all-marginals", "3-way-marginals", "at-most-3-way-parities"]


def randomized_response(workload: Workload, epsilon: float) -> np.longdouble:
    """The average variance of randomized response; the Gram matrices of these workloads are whole."""
    n, G = workload.domain_size, workload.gram()
    whole = np.rint(G).astype(np.int64)
    assert np.abs(G - whole).max() <= 1e-9
    trace = Fraction(int(np.trace(whole))) - Fraction(sum(map(int, whole.ravel())), n)
    w = np.expm1(np.longdouble(epsilon))
    return np.longdouble(trace.numerator) / np.longdouble(trace.denominator) * (2 * w + n) / w**2


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "n", "epsilon"),
    [
        pytest.param("all-ranges", 512, 16.0, marks=pytest.mark.slow),
        ("all-ranges", 64, 16.0),
        ("prefix", 64, 20.0),
        ("prefix", 64, 30.0),
        ("prefix", 64, 40.0),
        ("all-ranges", 16, 40.0),
    ],
)
def test_randomized_response_is_not_below_the_bound(name: str, n: int, epsilon: float) -> None:
    """Where a difference of traces put the bound up to 1170 times too high."""
    workload = create(name, n)
    ratio = randomized_response(workload, epsilon) / np.longdouble(variance_bound("certified", workload, epsilon))
    assert 1.0 <= ratio <= 1.0 + 1e-6


@pytest.mark.parametrize(("n", "step"), every_pair(3, [(8, 3), (8, 1), (64, 1)]))
@pytest.mark.parametrize("name", every(2, WORKLOADS))
def test_no_fixed_strategy_is_below_a_bound(name: str, n: int, step: int) -> None:
    workload = create(name, n)
    C = workload.centred_gram()
    for epsilon in EPSILONS[::step]:
        bounds = {bound: variance_bound(bound, workload, epsilon) for bound in names()}
        least = min(bounds["svd"], bounds["centred-svd"])
        assert least >= 0.0
        assert randomized_response(workload, epsilon) >= np.longdouble(max(bounds.values()))
        for mechanism in mechanisms.names():
            if mechanisms.is_solved(mechanism):
                continue
            strategy = mechanisms.build(mechanism, n, epsilon)
            if isinstance(strategy, Unavailable):
                continue
            evaluation = strategy.evaluate(C)
            if evaluation.answered:
                assert evaluation.average >= max(bounds.values()) * (1.0 - 1e-12), (mechanism, epsilon, bounds)


@pytest.mark.parametrize("epsilon", every(2, [10.0, 14.0, 20.0, 30.0, 40.0]))
@pytest.mark.parametrize("name", WORKLOADS)
def test_the_bound_is_tight_at_large_epsilon(name: str, epsilon: float) -> None:
    """Randomized response is optimal there."""
    workload = create(name, 16 if name != "3-way-marginals" else 8)
    ratio = randomized_response(workload, epsilon) / np.longdouble(variance_bound("certified", workload, epsilon))
    assert 1.0 <= ratio <= 1.0 + 30.0 * workload.domain_size * np.exp(-epsilon) + 1e-9


def test_bounds_are_monotone_in_what_they_know() -> None:
    for name, n, epsilon in itertools.product(["prefix", "histogram", "all-marginals"], [8], [0.01, 1.0, 5.0, 25.0]):
        found = {bound: variance_bound(bound, create(name, n), epsilon) for bound in names()}
        assert found["svd"] <= found["centred-svd"] <= found["parametric"] <= found["pairwise"] == found["certified"]
