"""Lower bounds that hold against thousands of strategies, and are attained where theory says so."""

from __future__ import annotations

import math

import numpy as np
import pytest

from factormech.bounds import registry as bounds
from factormech.bounds.spectral import by_singular_values, centred_svd, svd, worst_case_interval
from factormech.bounds.staircase import best_subset_size, information_of_size, largest_information
from factormech.errors import Unavailable, UnknownName
from factormech.mechanisms.local import registry as mechanisms
from factormech.mechanisms.local.strategy import StrategyMatrix
from factormech.workloads.base import Workload
from factormech.workloads.matrix import MatrixWorkload
from factormech.workloads.registry import create
from tests import solutions
from tests.oracles import random_strategy
from tests.tiers import every

pytestmark = pytest.mark.heavy

FIXED = [name for name in mechanisms.names() if not mechanisms.is_solved(name)]
WORKLOADS = ["histogram", "prefix", "all-ranges", "all-marginals", "3-way-marginals", "at-most-3-way-parities"]


def check_bounds(workload: Workload, epsilon: float, names: list[str]) -> None:
    floor = {bound: bounds.variance_bound(bound, workload, epsilon) for bound in bounds.names()}
    assert floor["centred-svd"] >= floor["svd"] * (1 - 1e-12)
    for mechanism in names:
        strategy = solutions.strategy(mechanism, workload.name, workload.domain_size, epsilon)
        if isinstance(strategy, Unavailable):
            continue
        evaluation = strategy.evaluate(workload.centred_gram())
        if evaluation.answered:
            for value in floor.values():
                assert evaluation.average >= value * (1 - 1e-9)
        else:
            assert mechanism == "fourier-3"


@pytest.mark.parametrize("epsilon", every(2, [0.01, 0.5, 1.0, 2.0, 4.0, 8.0]))
@pytest.mark.parametrize("name", WORKLOADS)
def test_no_mechanism_beats_a_bound(name: str, epsilon: float) -> None:
    for n in (8, 16):
        check_bounds(create(name, n), epsilon, FIXED)


@pytest.mark.parametrize("epsilon", every(2, [0.5, 4.0]))
@pytest.mark.parametrize("name", WORKLOADS)
def test_no_solved_mechanism_beats_a_bound(name: str, epsilon: float) -> None:
    check_bounds(create(name, 8), epsilon, solutions.SOLVED)


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [0.01, 1.0, 2.0, 8.0])
@pytest.mark.parametrize("name", WORKLOADS)
def test_no_solved_mechanism_beats_a_bound_on_a_larger_domain(name: str, epsilon: float) -> None:
    check_bounds(create(name, 32), epsilon, solutions.SOLVED)


@pytest.mark.parametrize("seed", every(5, range(300)))
def test_no_random_strategy_beats_a_bound(seed: int) -> None:
    """Random workloads, some of low rank, random dense strategies and random mixtures of staircase rows."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 9))
    epsilon = float(rng.choice([0.3, 1.0, 3.0]))
    W = rng.normal(size=(int(rng.integers(1, n + 3)), n))
    workload = MatrixWorkload("random", W)
    Q = random_strategy(rng, 3 * n, n, epsilon) if seed % 2 else staircase_strategy(rng, n, epsilon)
    evaluation = StrategyMatrix(Q, epsilon).evaluate(workload.centred_gram())
    assert evaluation.answered
    assert evaluation.average >= centred_svd(workload, epsilon) * (1 - 1e-9)
    assert evaluation.average >= svd(workload, epsilon) * (1 - 1e-9)


def staircase_strategy(rng: np.random.Generator, n: int, epsilon: float) -> np.ndarray:
    """Random subsets, their complements and singletons: each group balanced so that columns sum to one."""
    a = math.exp(epsilon) * (1 - 1e-12)
    rows = []
    for weight in rng.dirichlet(np.ones(4)):
        mask = rng.permutation(n) < rng.integers(1, n)
        pair = np.where([mask, ~mask], a, 1.0) / (a + 1)
        rows.append(0.8 * weight * pair)
    singles = np.where(np.eye(n, dtype=bool), a, 1.0) / (a + n - 1)
    return np.vstack([*rows, 0.2 * singles])


@pytest.mark.parametrize("n", [2, 3, 8, 50, 512])
@pytest.mark.parametrize("epsilon", [0.05, 1.0, 3.0, 7.0])
def test_subset_selection_attains_the_bound_on_histogram(n: int, epsilon: float) -> None:
    workload = create("histogram", n)
    strategy = mechanisms.build("subset-selection", n, epsilon)
    assert not isinstance(strategy, Unavailable)
    evaluation = strategy.evaluate(workload.centred_gram())
    assert evaluation.worst == pytest.approx(centred_svd(workload, epsilon), rel=1e-9)
    assert evaluation.average == pytest.approx(evaluation.worst, rel=1e-9)


@pytest.mark.parametrize("epsilon", [0.001, 0.3, 1.0, 4.0, 12.0])
@pytest.mark.parametrize("name", ["prefix", "all-ranges", "2-way-marginals", "histogram"])
def test_the_bound_is_the_same_without_its_proof(name: str, epsilon: float) -> None:
    """To the share that checks of variances allow; the proof may lose more where the bound itself is tiny."""
    workload = create(name, 64)
    proved, size = centred_svd(workload, epsilon), workload.frobenius_squared()
    assert by_singular_values(workload, epsilon) == pytest.approx(proved, rel=1e-6, abs=1e-12 * size)


def test_svd_bound_is_the_papers_on_histogram() -> None:
    """Example 5.8: (1/e^ε − 1/n)/α users, that is a variance of n(1/e^ε − 1/n) over n queries."""
    for n in (8, 100):
        assert svd(create("histogram", n), 1.0) == pytest.approx(n * (math.exp(-1) - 1 / n), rel=1e-12)


def test_vacuous_bounds_are_zero() -> None:
    assert svd(create("histogram", 8), 4.0) == 0.0
    assert centred_svd(create("total", 8), 1.0) == 0.0
    assert centred_svd(create("histogram", 1), 1.0) == 0.0


@pytest.mark.parametrize("epsilon", [1e-3, 0.3, 1.0, 2.5, 6.0, 30.0])
@pytest.mark.parametrize("n", [2, 3, 4, 10, 77])
def test_the_best_subset_size_is_found_without_a_search(n: int, epsilon: float) -> None:
    a = math.exp(epsilon)
    values = [(a - 1) ** 2 * k * (n - k) / (n + (a - 1) * k) ** 2 for k in range(1, n)]
    assert largest_information(n, epsilon) == pytest.approx(max(values), rel=1e-9)
    assert information_of_size(n, epsilon, best_subset_size(n, epsilon)) == pytest.approx(max(values), rel=1e-9)
    assert largest_information(n, epsilon) <= math.sinh(epsilon / 2) ** 2 * (1 + 1e-9)


@pytest.mark.parametrize("mechanism", mechanisms.names())
@pytest.mark.parametrize("epsilon", [0.5, 1.0, 4.0])
def test_theorem_5_1(mechanism: str, epsilon: float) -> None:
    n = 8 if mechanism in solutions.SOLVED else 32
    workload = create("prefix", n)
    strategy = solutions.strategy(mechanism, "prefix", n, epsilon)
    assert not isinstance(strategy, Unavailable)
    C = workload.centred_gram()
    evaluation = strategy.evaluate(C)
    if evaluation.answered:
        low, high = worst_case_interval(evaluation.average, np.trace(C), n, epsilon)
        assert low <= evaluation.worst <= high
        assert high <= math.exp(epsilon) * (evaluation.average + workload.frobenius_squared() / n)


def test_unknown_bounds_are_answered_with_the_known_ones() -> None:
    with pytest.raises(UnknownName, match="known: centred-svd, certified, pairwise, parametric, svd"):
        bounds.variance_bound("trace", create("prefix", 4), 1.0)
