"""The worst case of shrunk estimates: by brute force over data, by simulation, and in closed form."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from factormech.errors import BadValue
from factormech.mechanisms.local import registry
from factormech.mechanisms.local.shrinkage import best_constant, shrunk_users
from factormech.mechanisms.local.strategy import StrategyMatrix
from factormech.workloads.registry import create
from tests import oracles


def worst_error(variance: np.ndarray, distances: np.ndarray, users: float, factor: float) -> float:
    """The theorem's maximum over the user types: the squared error of the shrunk estimate, summed over the queries."""
    return float(np.max(factor**2 * variance / users + (1.0 - factor) ** 2 * distances))


def data_of(users: int, n: int) -> np.ndarray:
    """All data vectors of so many users."""
    every = itertools.product(range(users + 1), repeat=n)
    return np.array([x for x in every if sum(x) == users])


@pytest.mark.parametrize("seed", range(10))
def test_the_worst_data_are_of_one_type(seed: int) -> None:
    """Against the mean squared error of every data vector, from the law of the reports themselves."""
    rng = np.random.default_rng(seed)
    n, users, epsilon, c = 3, 5, 1.0, float(rng.uniform())
    W = rng.normal(size=(4, n))
    Q = oracles.random_strategy(rng, 7, n, epsilon)
    strategy = StrategyMatrix(Q, epsilon)
    C = oracles.centred_gram(W)
    constant = best_constant(W.T @ W)
    D = [np.sum((W @ (np.eye(n)[u] - constant.prior)) ** 2) for u in range(n)]
    np.testing.assert_allclose(constant.distances, D, atol=1e-9)
    V = W @ (strategy.reconstruction + 1.0 / n)  # VQ = W
    np.testing.assert_allclose(V @ strategy.matrix, W, atol=1e-9)
    errors = []
    for x in data_of(users, n):
        mean = c * V @ strategy.matrix @ x / users + (1 - c) * W @ constant.prior
        squares, means = np.sum(V**2, axis=0) @ strategy.matrix, np.sum((V @ strategy.matrix) ** 2, axis=0)
        variance = x @ (squares - means)
        errors.append(np.sum((mean - W @ x / users) ** 2) + c**2 * variance / users**2)
    found = worst_error(strategy.evaluate(C).variance, constant.distances, users, c)
    assert found == pytest.approx(max(errors), rel=1e-9)


def test_it_is_what_simulated_collections_have() -> None:
    n, users, c, epsilon = 4, 40, 0.7, 1.0
    workload = create("prefix", n)
    strategy = registry.build("randomized-response", n, epsilon)
    constant = best_constant(workload.gram())
    W, rng = workload.matrix(), np.random.default_rng(3)
    worst = []
    for u in range(n):
        counts = users * np.eye(n, dtype=np.int64)[u]
        estimates = W @ (strategy.simulate_estimates(counts, 40_000, rng) / users + 1.0 / n)
        off = c * estimates + (1 - c) * (W @ constant.prior)[:, None] - W[:, [u]]
        squares = np.sum(off**2, axis=0)
        worst.append((squares.mean(), squares.std() / np.sqrt(len(squares))))
    mean, error = max(worst)
    exact = worst_error(strategy.evaluate(workload.centred_gram()).variance, constant.distances, users, c)
    assert abs(mean - exact) <= 5 * error


def test_the_histogram_in_closed_form() -> None:
    """D = 1 − 1/n and one variance for all types: N = (σ²/τ)(1 − τ/D)."""
    n, alpha = 16, 0.01
    workload = create("histogram", n)
    variance = registry.build("subset-selection", n, 1.0).evaluate(workload.centred_gram()).variance
    constant = best_constant(workload.gram())
    D, tau = 1.0 - 1.0 / n, n * alpha
    assert constant.error == pytest.approx(D, rel=1e-12)
    found = shrunk_users(variance, constant.distances, tau)
    assert found.users == pytest.approx(variance[0] / tau * (1.0 - tau / D), rel=1e-9)
    assert int(np.ceil(variance[0] / tau)) == 319
    assert int(np.ceil(found.users)) == 265
    assert found.factor == pytest.approx(1.0 - tau / D, rel=1e-5)


def test_constants_that_are_good_enough_need_no_users() -> None:
    """1/n for each of 512 shares has the mean squared error (1 − 1/n)/n = .00195 at most, below α = .01."""
    n = 512
    constant = best_constant(create("histogram", n).gram())
    assert constant.error / n == pytest.approx(0.00195, rel=2e-3)
    assert shrunk_users(np.ones(n), constant.distances, n * 0.01).users == 0.0


@pytest.mark.parametrize("seed", range(12))
def test_no_factor_needs_fewer_users_and_the_error_is_met(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 9))
    variance, distances = rng.exponential(size=n) + 0.01, rng.exponential(size=n) * rng.choice([0.0, 1.0], n) + 1e-3
    total = float(rng.uniform(0.01, 0.9)) * float(distances.max())
    found = shrunk_users(variance, distances, total)
    assert worst_error(variance, distances, found.users, found.factor) == pytest.approx(total, rel=1e-9)
    assert found.users <= float(variance.max()) / total
    least = min(
        float(np.max(c**2 * variance / left))
        for c in np.linspace(0.0, 1.0, 2001)
        if (left := total - (1 - c) ** 2 * distances).min() > 0
    )
    assert found.users <= least * (1 + 1e-9)


@pytest.mark.parametrize("seed", range(8))
def test_the_constant_is_the_centre_of_the_least_ball(seed: int) -> None:
    """Its weights are on the types farthest from it alone, which is what makes the centre of a least ball."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 30))
    W = rng.normal(size=(int(rng.integers(1, 20)), n))
    found = best_constant(W.T @ W)
    assert found.prior.min() >= 0.0
    assert found.prior.sum() == pytest.approx(1.0)
    # Duality: the weighted mean of the distances is at most the squared radius of any ball around all w_u.
    assert found.error - float(found.prior @ found.distances) <= 1e-6 * max(found.error, 1e-12)


def test_values_without_sense_are_refused() -> None:
    with pytest.raises(BadValue, match="total"):
        shrunk_users(np.ones(2), np.ones(2), 0.0)
