"""Solves at every budget end, with a verified strategy no worse than randomized response and not below the bound."""

from __future__ import annotations

import numpy as np
import pytest

from factormech.mechanisms.local import registry
from factormech.mechanisms.local.optimal.average import VARIANCE_BOUND, WORST_BOUND
from factormech.mechanisms.local.strategy import StrategyMatrix
from factormech.workloads.registry import create
from tests.tiers import every_pair


def check(name: str, n: int, epsilon: float, objective: str) -> float:
    """Solve, restore, evaluate; the error over the bound."""
    workload = create(name, n)
    spec = registry.strategy_spec("optimised", workload, epsilon, options={"objective": objective})
    solution = registry.solution_for(spec, workload)
    C = workload.centred_gram()
    found = registry.restore("optimised", solution, epsilon).evaluate(C)
    simple = registry.build("randomized-response", n, epsilon)
    assert isinstance(simple, StrategyMatrix)
    error, other = ((e.worst if objective == "worst" else e.average) for e in (found, simple.evaluate(C)))
    bound = float(solution.record[WORST_BOUND if objective == "worst" else VARIANCE_BOUND])
    assert found.privacy_loss <= epsilon
    assert 0.0 < bound <= error * (1.0 + 1e-12)
    assert error <= other * (1.0 + 1e-12)
    return error / bound


@pytest.mark.parametrize("objective", ["average", "worst"])
@pytest.mark.parametrize(
    ("name", "n", "epsilon"), every_pair(2, [("all-ranges", 16, 30.0), ("prefix", 16, 40.0), ("prefix", 8, 50.0)])
)
def test_small_domains_end(name: str, n: int, epsilon: float, objective: str) -> None:
    """Where the cone program's solver failed with a traceback."""
    ratio = check(name, n, epsilon, objective)
    assert ratio <= 1.0 + 1e-6 if objective == "average" else ratio < 2.0


@pytest.mark.parametrize("objective", ["average", "worst"])
def test_entries_are_probabilities_where_one_is_a_whole_column(objective: str) -> None:
    """An entry of a strategy on 64 types at ε = 40 was 1 + 2⁻⁵²."""
    check("prefix", 64, 40.0, objective)


@pytest.mark.parametrize("epsilon", [0.001, 4.0])
def test_the_worst_case_is_proved_under_its_prior(epsilon: float) -> None:
    assert check("prefix", 8, epsilon, "worst") <= 1.0 + 1e-3


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [0.001, 0.01, 0.1, 1.0, 6.0, 8.0, 10.0, 12.0, 16.0, 20.0, 25.0, 35.0])
@pytest.mark.parametrize("name", ["prefix", "all-ranges"])
def test_the_worst_case_ends_over_the_whole_range(name: str, epsilon: float) -> None:
    assert np.isfinite(check(name, 16, epsilon, "worst"))
