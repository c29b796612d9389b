"""The universal bound on the variance: below the best strategy under the prior, and near it from the solver's dual."""

from __future__ import annotations

import numpy as np
import pytest

from factormech.bounds.centred import CentredGram
from factormech.bounds.worst_case import universal_variance
from factormech.errors import BadValue
from factormech.mechanisms.local.optimal import exact, worst_case
from factormech.mechanisms.local.optimal.problem import Problem
from factormech.mechanisms.local.strategy import StrategyMatrix
from factormech.workloads.matrix import MatrixWorkload
from factormech.workloads.registry import create
from tests import oracles


@pytest.mark.parametrize("seed", range(20))
def test_any_guess_is_below_every_strategy(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, epsilon = int(rng.integers(2, 6)), float(rng.choice([0.5, 2.0, 6.0]))
    W, x = rng.normal(size=(3, n)), rng.dirichlet(np.full(n, 2.0)) + 0.01
    workload = MatrixWorkload("w", W)
    Q = oracles.random_strategy(rng, 3 * n, n, epsilon)
    variance = StrategyMatrix(Q, epsilon, x / x.sum()).evaluate(workload.centred_gram()).variance
    T = rng.normal(size=(n, n)) + 3.0 * np.eye(n)
    found = universal_variance(CentredGram.of(workload), epsilon, x, T - T.mean(axis=0), rng.exponential(size=n))
    assert 0.0 <= found <= float(variance @ x / x.sum())


@pytest.mark.parametrize("epsilon", [0.5, 2.0, 5.0, 8.0])
@pytest.mark.parametrize("name", ["prefix", "all-ranges", "at-most-2-way-parities"])
def test_it_is_as_good_as_the_exact_solver(name: str, epsilon: float) -> None:
    workload = create(name, 8)
    C, gram, n = workload.centred_gram(), CentredGram.of(workload), 8
    found = exact.solve(Problem(C, epsilon), np.random.default_rng(0))
    dual, multiplier = (np.asarray(found.details[key]) for key in ("dual", "multiplier"))
    proved = universal_variance(gram, epsilon, np.full(n, 1 / n), dual, multiplier)
    trace = float(np.trace(C))
    assert proved <= (found.objective - trace) / n
    assert proved == pytest.approx((found.lower_bound - trace) / n, rel=1e-6)


@pytest.mark.parametrize("epsilon", [1.0, 4.0])
def test_a_prior_proves_more_of_the_worst_case(epsilon: float) -> None:
    workload = create("prefix", 8)
    gram = CentredGram.of(workload)
    found = worst_case.solve_worst_case(Problem(workload.centred_gram(), epsilon))
    prior, dual, multiplier = (np.asarray(found.details[key]) for key in ("prior", "dual", "multiplier"))
    proved = universal_variance(gram, epsilon, prior, dual, multiplier)
    worst = float(np.asarray(found.details["variance"]).max())
    assert worst * (1 - 1e-4) <= proved <= worst


def test_values_without_sense_are_refused() -> None:
    gram = CentredGram.of(create("prefix", 3))
    with pytest.raises(BadValue, match="prior"):
        universal_variance(gram, 1.0, np.array([1.0, 0.0, 1.0]), np.eye(3), np.ones(3))
    with pytest.raises(BadValue, match="prior"):
        universal_variance(gram, 1.0, np.ones(2), np.eye(3), np.ones(3))
