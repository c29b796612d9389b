"""The bound under a prior: by enumeration, against strategies, and at the uniform prior."""

from __future__ import annotations

import math

import numpy as np
import pytest

from factormech.bounds.certificates import largest_violation
from factormech.bounds.pairwise import certified
from factormech.bounds.parametric import WeightSearch
from factormech.bounds.staircase import InformationLimit
from factormech.bounds.worst_case import _negative, _root, best_prior, prior_bound, worst_case
from factormech.errors import BadValue, Unavailable
from factormech.mechanisms.local import registry as mechanisms
from factormech.mechanisms.local.strategy import StrategyMatrix
from factormech.workloads.matrix import MatrixWorkload
from factormech.workloads.registry import create
from tests import oracles
from tests.bounds import checks
from tests.tiers import every

pytestmark = pytest.mark.heavy


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 3.0])
@pytest.mark.parametrize("seed", range(6))
def test_the_information_of_every_extreme_row(seed: int, epsilon: float) -> None:
    """(tv−1)ᵀM(tv−1) + linear terms ≤ sinh²(ε/2) for all v, t = 1/(xᵀv): the certificate with xᵀv for 1ᵀv."""
    rng = np.random.default_rng(seed)
    n = 8
    x, p = rng.dirichlet(np.ones(n)), rng.dirichlet(3 * np.ones(n))
    c = math.cosh(epsilon / 2)
    M = np.diag(p) - c**2 * np.outer(p, p)
    # yᵀMy − 2(cEt−1)... at Et = c: y = tv − 1, so yᵀMy − 2(c²−1)pᵀy − sinh² ≤ 0 is a quadratic form in v over (xᵀv)².
    E = np.eye(n) - np.outer(np.ones(n), x)  # tv − 1 = tEv
    quadratic = E.T @ M @ E
    linear = 2 * (c**2 - 1) * (E.T @ p)
    form = quadratic - 0.5 * (np.outer(linear, x) + np.outer(x, linear)) - math.sinh(epsilon / 2) ** 2 * np.outer(x, x)
    assert largest_violation(form, np.zeros(n), epsilon) <= 1e-12 * n


@pytest.mark.parametrize("n", [4, 9])
def test_the_uniform_prior_is_the_average(n: int) -> None:
    C, epsilon = create("prefix", n).centred_gram(), 1.3
    rng = np.random.default_rng(n)
    p = np.exp(0.1 * rng.normal(size=n))
    p /= p.sum()
    limit = InformationLimit.of(n, epsilon)
    assert limit is not None
    T, _, _ = WeightSearch.of(C, np.arange(n)).root_trace(p, limit.ceiling)
    expected = T**2 / math.sinh(epsilon / 2) ** 2 - np.trace(C) / n
    assert prior_bound(C, epsilon, np.full(n, 1 / n), p) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_the_gradient(epsilon: float) -> None:
    rng = np.random.default_rng(0)
    R = _root(create("prefix", 6).centred_gram())
    point = np.concatenate([0.5 * rng.normal(size=6), 0.2 * rng.normal(size=6)])
    value, gradient = _negative(R, epsilon, point, 0.1)
    assert math.isfinite(value)
    for i, e in enumerate(np.eye(12) * 1e-6):
        up, down = (_negative(R, epsilon, point + s * e, 0.1)[0] for s in (1, -1))
        assert gradient[i] == pytest.approx((up - down) / 2e-6, rel=1e-5, abs=1e-7)


@pytest.mark.parametrize("seed", every(8, range(60)))
def test_no_strategy_has_a_better_worst_case(seed: int) -> None:
    """For the bound, for any prior and any weights."""
    rng = np.random.default_rng(seed)
    n, epsilon = int(rng.integers(2, 9)), float(rng.choice([0.3, 1.0, 3.0]))
    workload = MatrixWorkload("w", rng.normal(size=(n, n)) * np.exp(rng.normal(size=n)))
    C, found = workload.centred_gram(), worst_case(workload, epsilon)
    assert found >= certified(workload, epsilon)
    for strategy in [
        *(mechanisms.build(name, n, epsilon) for name in ("randomized-response", "subset-selection", "hadamard")),
        StrategyMatrix(oracles.random_strategy(rng, 3 * n, n, epsilon), epsilon),
    ]:
        if isinstance(strategy, Unavailable):
            continue
        evaluation = strategy.evaluate(C)
        if evaluation.answered:
            assert evaluation.worst >= found * (1 - 1e-9)
            for _ in range(5):
                x, p = rng.dirichlet(np.full(n, 5.0)), rng.dirichlet(np.full(n, 5.0))
                # the mechanism's reconstruction is the average's: its variance under x is still above the least
                assert evaluation.on(x) >= prior_bound(C, epsilon, x, p) - 1e-9 * np.trace(C)


@pytest.mark.parametrize("epsilon", [0.5, 1.0])
@pytest.mark.parametrize("name", ["prefix", "all-ranges"])
def test_no_mechanism_beats_it(name: str, epsilon: float) -> None:
    workload = create(name, 16)
    found = worst_case(workload, epsilon)
    assert found >= certified(workload, epsilon)
    assert min(e.worst for e in checks.of_mechanisms(workload, epsilon)) >= found * (1 - 1e-9)


def test_a_prior_gains_where_types_are_unlike() -> None:
    """A little: at small ε the variance is mostly noise that is the same for all types."""
    W = np.random.default_rng(0).normal(size=(32, 32)) * np.exp(np.random.default_rng(1).normal(size=32))
    workload = MatrixWorkload("unlike", W)
    assert worst_case(workload, 0.5) > 1.003 * certified(workload, 0.5)


def test_the_search_is_better_than_any_prior_tried() -> None:
    rng, epsilon, n = np.random.default_rng(0), 1.0, 8
    C = create("prefix", n).centred_gram()
    x, p = best_prior(C, epsilon)
    found = prior_bound(C, epsilon, x, p)
    for size in (0.01, 0.1, 1.0):
        for _ in range(50):
            z = x * np.exp(size * rng.normal(size=n))
            assert prior_bound(C, epsilon, z / z.sum(), p * np.exp(0.3 * size * rng.normal(size=n))) <= found * (
                1 + 1e-4
            )


def test_what_is_no_prior_is_refused() -> None:
    with pytest.raises(BadValue, match="mix in a little"):
        prior_bound(np.eye(2) - 0.5, 1.0, np.array([1.0, 0.0]))
