"""The worst case begun with the solution of least average: the same solution, sooner, and nothing that is not asked."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from factormech.errors import BadValue
from factormech.mechanisms.local import registry
from factormech.mechanisms.local.optimal import search
from factormech.mechanisms.local.optimal.mechanism import COMPETITORS, EXACT_UP_TO, MECHANISM
from factormech.mechanisms.local.optimal.problem import Problem
from factormech.mechanisms.local.optimal.proof import to_datasets
from factormech.mechanisms.local.solved import Solution
from factormech.workloads.registry import create

pytestmark = pytest.mark.heavy

WORST = {"objective": "worst"}


def solved(name: str, n: int, epsilon: float, options: dict[str, str], start: Solution | None = None) -> Solution:
    workload = create(name, n)
    spec = registry.strategy_spec("optimised", workload, epsilon, options=options)
    return registry.solution_for(spec, workload, start=start)


def assert_same(one: Solution, other: Solution) -> None:
    assert one.record == other.record
    assert one.datasets.keys() == other.datasets.keys()
    for name, values in one.datasets.items():
        np.testing.assert_array_equal(values, other.datasets[name], err_msg=name)


# Symmetric, general with a game, general on a workload that translations leave alone, and a fixed strategy.
@pytest.mark.parametrize(
    ("name", "n", "epsilon", "chosen"),
    [
        ("prefix", 24, 1.0, "game"),
        pytest.param("all-ranges", 32, 4.0, "game", marks=pytest.mark.slow),
        ("3-way-marginals", 32, 1.0, "symmetric"),
        pytest.param("at-most-3-way-parities", 64, 3.5, None, marks=pytest.mark.slow),
        pytest.param("histogram", 24, 1.0, None, marks=pytest.mark.slow),
    ],
)
def test_the_worst_case_begun_with_the_average_is_the_same(
    name: str, n: int, epsilon: float, chosen: str | None
) -> None:
    whole = solved(name, n, epsilon, WORST)
    begun = solved(name, n, epsilon, WORST, solved(name, n, epsilon, {}))
    assert_same(whole, begun)
    assert chosen in (None, whole.record["chosen"])


def test_a_general_solution_of_a_symmetric_workload_is_weighed_against_the_symmetric_one() -> None:
    """Where the general strategy has the least average and not the least worst case, the symmetric one is found."""
    average = solved("3-way-marginals", 32, 1.0, {})
    workload = create("3-way-marginals", 32)
    staircase = search.solve(Problem(workload.centred_gram(), 1.0), np.random.default_rng(0))
    kept = {**to_datasets(staircase), "bound_weights": average.datasets["bound_weights"]}
    pretended = Solution(kept, {**average.record, "chosen": "general"})
    begun = solved("3-way-marginals", 32, 1.0, WORST, pretended)
    assert begun.record["chosen"] == "symmetric"
    assert begun.record["worst_variance"] == average.record["worst_variance"]


def test_a_solution_begun_searches_nothing_that_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    average = solved("prefix", 24, 1.0, {})

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("searched again")

    monkeypatch.setattr("factormech.mechanisms.local.optimal.search.solve", refuse)
    monkeypatch.setattr("factormech.bounds.pairwise.solve", refuse)
    for name in COMPETITORS:
        monkeypatch.setitem(COMPETITORS, name, refuse)
    assert solved("prefix", 24, 1.0, WORST, average).record["chosen"] == "game"


@pytest.mark.slow
def test_a_fixed_strategy_that_won_wins_without_a_search(monkeypatch: pytest.MonkeyPatch) -> None:
    average = solved("histogram", 64, 1.0, {})
    assert average.record["chosen"] == average.record["fixed"] == "subset-selection"
    assert average.record["fixed_worst_variance"] < average.record["symmetric_variance"]
    whole = solved("histogram", 64, 1.0, WORST)

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("searched again")

    monkeypatch.setattr("factormech.mechanisms.local.symmetric.solver.solve", refuse)
    monkeypatch.setattr("factormech.mechanisms.local.optimal.search.solve", refuse)
    for name in COMPETITORS.keys() - {"subset-selection"}:
        monkeypatch.setitem(COMPETITORS, name, refuse)
    assert_same(whole, solved("histogram", 64, 1.0, WORST, average))


def test_a_fixed_strategy_of_less_worst_case_is_weighed() -> None:
    """What has not the least average may have the least worst case."""
    average = solved("prefix", 24, 1.0, {})
    pretended = Solution(average.datasets, {**average.record, "fixed_worst_variance": 0.0})
    found = solved("prefix", 24, 1.0, WORST, pretended)
    assert found.record["chosen"] == "game"  # its own evaluation decides
    assert found.record["fixed"] == average.record["fixed"]


@pytest.mark.parametrize(
    ("options", "n", "rest"),
    [
        (WORST, 17, {}),
        ({"objective": "worst", "rows": 99}, 64, {"rows": 99}),
        (WORST, 16, None),
        ({"objective": "average"}, 64, None),
        ({}, 64, None),
    ],
)
def test_what_a_solve_begins_with(options: dict[str, str | int], n: int, rest: dict[str, int] | None) -> None:
    assert registry.begins_with("optimised", options, n) == rest
    assert registry.begins_with("adaptive-pgd", {}, n) is None


def test_the_registry_knows_up_to_where_the_exact_solver_is_asked() -> None:
    begins = registry.solver_of("optimised").begins
    assert begins is not None
    assert begins.up_to == EXACT_UP_TO["standard"] == min(EXACT_UP_TO.values())


@pytest.mark.slow
def test_a_solution_begun_where_the_exact_solver_is_asked_does_not_look_at_it() -> None:
    exact = replace(MECHANISM, objective="worst", effort="best")
    workload = create("prefix", 17)
    start = replace(MECHANISM, effort="best").solve(workload, 1.0, np.random.default_rng(0))
    found = exact.solve(workload, 1.0, np.random.default_rng(0), start=start)
    assert_same(found, exact.solve(workload, 1.0, np.random.default_rng(0)))


def test_starts_that_are_none_are_refused() -> None:
    average = solved("prefix", 24, 1.0, {})
    with pytest.raises(BadValue, match="be of 32 types"):
        solved("prefix", 32, 1.0, WORST, average)
    with pytest.raises(BadValue, match="leave it out"):
        solved("prefix", 24, 1.0, {}, average)
    record = {key: value for key, value in average.record.items() if key != "certified_bound"}
    with pytest.raises(BadValue, match="certified_bound"):
        solved("prefix", 24, 1.0, WORST, Solution(average.datasets, record))
