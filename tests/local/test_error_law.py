"""The law of the squared error, against the enumeration of every outcome and against explicit matrices."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from factormech.arrays import FloatArray
from factormech.mechanisms.local import registry
from factormech.mechanisms.local.strategy import SimulatedStrategy, StrategyMatrix
from factormech.mechanisms.local.subsets import SubsetStrategy, subset_matrix
from factormech.privacy.guarantee import inner_ratio
from factormech.workloads.registry import create
from tests.oracles import centred_gram, prefix, random_strategy

FIXED = [name for name in registry.names() if not registry.is_solved(name)]


def enumerated(strategy: StrategyMatrix, C: FloatArray, types: tuple[int, ...]) -> tuple[float, float, float]:
    """Mean and variance of T over every combination of reports, and the largest zᵀCz of one user."""
    Q, B, n = strategy.matrix, strategy.reconstruction, strategy.domain_size
    x = np.bincount(types, minlength=n) - len(types) / n
    first = second = 0.0
    for outcome in itertools.product(range(len(Q)), repeat=len(types)):
        chance = math.prod(Q[o, u] for o, u in zip(outcome, types, strict=True))
        e = B[:, list(outcome)].sum(axis=1) - x
        T = float(e @ C @ e)
        first, second = first + chance * T, second + chance * T**2
    z = [B[:, o] - np.eye(n)[u] + 1.0 / n for u in set(types) for o in range(len(Q))]
    return first, second - first**2, max(float(v @ C @ v) for v in z)


@pytest.mark.parametrize("types", [(0,), (1, 1), (0, 1, 2), (2, 2, 0)])
@pytest.mark.parametrize("epsilon", [0.3, 2.0])
@pytest.mark.parametrize("name", ["randomized-response", "hadamard", "random"])
def test_mean_and_variance_are_those_of_every_outcome(name: str, epsilon: float, types: tuple[int, ...]) -> None:
    rng = np.random.default_rng(1)
    if name == "random":
        strategy = StrategyMatrix(random_strategy(rng, 4, 3, epsilon), epsilon)
    else:
        built = registry.build(name, 3, epsilon)
        assert isinstance(built, StrategyMatrix)
        strategy = built
    C = centred_gram(rng.normal(size=(5, 3)))
    mean, variance, jump = enumerated(strategy, C, types)
    law = strategy.error_law(C)
    x = np.bincount(types, minlength=3).astype(float)
    found = law.on(x)
    assert found.mean == pytest.approx(mean, rel=1e-10)
    assert found.variance == pytest.approx(variance, rel=1e-8)
    assert law.jump[list(types)].max() == pytest.approx(jump, rel=1e-10)
    np.testing.assert_allclose(law.variance, strategy.evaluate(C).variance)


@pytest.mark.parametrize("epsilon", [0.05, 1.0, 4.0])
@pytest.mark.parametrize("n", [2, 3, 4, 7])
def test_closed_form_of_subset_mechanisms_is_the_matrix(n: int, epsilon: float) -> None:
    rng = np.random.default_rng(n)
    a, s = inner_ratio(epsilon), np.arange(n + 1.0)
    for law in (*np.eye(n + 1)[1:n], rng.dirichlet(np.ones(n + 1))):
        closed = SubsetStrategy(epsilon, law, a * s / (a * s + n - s), (n - s) / (a * s + n - s))
        C = centred_gram(rng.normal(size=(3, n)))
        fast = closed.error_law(C)
        slow = StrategyMatrix(subset_matrix(law, epsilon), epsilon).error_law(C)
        x = rng.integers(0, 9, n) + 1.0
        np.testing.assert_allclose(fast.covariance(x), slow.covariance(x), rtol=1e-8, atol=1e-9 * x.sum() / epsilon**2)
        assert fast.on(x).variance == pytest.approx(slow.on(x).variance, rel=1e-8)
        scale = np.abs(slow.variance).max() ** 2
        np.testing.assert_allclose(fast.excess, slow.excess, rtol=1e-7, atol=1e-9 * scale)
        assert (fast.jump >= slow.jump * (1 - 1e-9)).all()


@pytest.mark.parametrize("name", FIXED)
def test_the_scale_is_above_the_largest_eigenvalue_and_not_far(name: str) -> None:
    n = 32
    C = centred_gram(prefix(n)) if name != "fourier-3" else create("3-way-marginals", n).centred_gram()
    strategy = registry.build(name, n, 1.0)
    assert isinstance(strategy, SimulatedStrategy)
    law = strategy.error_law(C)
    x = np.arange(n) * 1000.0
    largest = float(np.linalg.eigvals(C @ law.covariance(x)).real.max())
    found = law.on(x)
    assert largest + 0.5 * law.jump.max() <= found.scale * (1 + 1e-12)
    assert found.scale <= 1.5 * largest + 0.5 * law.jump.max()
    assert found.relative.mean == 1.0
    assert found.relative.variance == pytest.approx(found.variance / found.mean**2)


def test_nothing_asked_is_no_error() -> None:
    strategy = registry.build("hadamard", 6, 1.0)
    assert isinstance(strategy, SimulatedStrategy)
    found = strategy.error_law(create("total", 8).centred_gram()[:6, :6] * 0).on(np.ones(6))
    assert (found.mean, found.variance, found.scale) == (0.0, 0.0, 0.0)
    assert (found.relative.mean, found.relative.variance, found.relative.scale) == (0.0, 0.0, 0.0)
