"""The one door, and how many persons an error takes: invariances, mechanisms, linear programs."""

from __future__ import annotations

import math

import numpy as np
import pytest

from factormech.bounds.packing import lower
from factormech.bounds.packing.core import LowerBound
from factormech.bounds.packing.lower import lower_bound, prepare, users_needed
from factormech.bounds.packing.marginals import full_parity, marginals
from factormech.errors import BadValue
from factormech.workloads.registry import create
from tests.bounds.packing import mechanisms

GRID = [(1, 0.5), (1, 6.0), (7, 1.0), (100, 0.1), (5000, 1.0), (10**6, 0.02)]


def random_matrices() -> list[np.ndarray]:
    """Of every shape; with equal columns, a constant query, low rank."""
    rng = np.random.default_rng(5)
    W = rng.normal(size=(6, 10))
    low = rng.normal(size=(8, 2)) @ rng.normal(size=(2, 12))
    signs = 2.0 * rng.integers(0, 2, (16, 60)) - 1
    return [W, np.repeat(W, 2, axis=1), np.vstack([W, np.ones(10)]), low, signs, rng.uniform(size=(1, 4))]


@pytest.mark.parametrize("W", random_matrices(), ids=lambda W: str(W.shape))
def test_no_mechanism_is_contradicted(W: np.ndarray) -> None:
    ready = prepare(W)
    centre = np.linalg.norm(W - 0.5 * (W.max(axis=1) + W.min(axis=1))[:, None], axis=0).max() / math.sqrt(len(W))
    for n, epsilon in GRID:
        bound = lower_bound(ready, n, epsilon)
        assert 0.0 < bound.value <= min(mechanisms.ball_noise(W, n, epsilon), centre)
        # Laplace noise: its mean norm is at most its root mean square.
        reach = np.abs(W[:, :, None] - W[:, None, :]).sum(axis=0).max()
        assert bound.value <= math.sqrt(2.0) * reach / (n * epsilon)


@pytest.mark.parametrize(("n", "epsilon"), [(1, 0.4), (2, 1.0), (3, 2.0), (4, 0.5)])
def test_the_best_mechanism_of_one_query_is_above(n: int, epsilon: float) -> None:
    """A linear program that answers on a lattice."""
    W = np.array([[0.0, 1.0]])
    best = mechanisms.best_of_all(W, n, epsilon, np.arange(4 * n + 1)[:, None] / (4 * n))
    assert 0.3 * best <= lower_bound(W, n, epsilon).value <= best * (1 + 1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_the_best_mechanism_of_random_queries_is_above(seed: int) -> None:
    rng = np.random.default_rng(seed)
    W = rng.normal(size=(2, 3))
    for n, epsilon in [(1, 1.0), (2, 0.5), (2, 3.0)]:
        weights = np.array(mechanisms.histograms(3, 5 * n)) / (5 * n)
        best = mechanisms.best_of_all(W, n, epsilon, weights @ W.T)
        assert 0.1 * best <= lower_bound(W, n, epsilon).value <= best * (1 + 1e-9)


def test_shifts_scales_orders_and_copies_of_types() -> None:
    W = random_matrices()[0]
    rng = np.random.default_rng(2)
    for n, epsilon in GRID:
        value = lower_bound(W, n, epsilon).value
        assert lower_bound(3.0 * W, n, epsilon).value == pytest.approx(3.0 * value, rel=1e-6)
        assert lower_bound(W + rng.normal(size=(6, 1)), n, epsilon).value == pytest.approx(value, rel=1e-6)
        assert lower_bound(W[:, rng.permutation(10)], n, epsilon).value == pytest.approx(value, rel=1e-6)
        Q = np.linalg.qr(rng.normal(size=(6, 6)))[0]
        assert lower_bound(Q @ W, n, epsilon).value == pytest.approx(value, rel=1e-6)
        # Equal types help nobody, and hide nothing but from the mean over all data.
        assert lower_bound(np.hstack([W, W]), n, epsilon).value == pytest.approx(value, rel=1e-6)


def test_constant_queries_cost_nothing() -> None:
    assert lower_bound(np.ones((3, 5)), 10, 1.0).value == 0.0
    assert lower_bound(np.ones((3, 5)), 10, 1.0).method == "none"
    assert lower_bound(np.ones((3, 1)), 10, 1.0).value == 0.0


def test_parities_are_known_without_their_matrix(monkeypatch: pytest.MonkeyPatch) -> None:
    for n, epsilon in GRID:
        dense = lower_bound(create("parities", 256), n, epsilon).value
        assert dense == pytest.approx(full_parity(256, n, epsilon).value, rel=0.02)
    monkeypatch.setattr(lower, "DENSE_LIMIT", 8)
    for n, epsilon in GRID:
        assert lower_bound(create("parities", 256), n, epsilon).value <= full_parity(256, n, epsilon).value * (1 + 1e-9)
    large = create("parities", 2**14)
    assert lower_bound(large, 1000, 1.0).value == pytest.approx(full_parity(2**14, 1000, 1.0).value, rel=1e-9)


def test_dense_matrices_beyond_the_limit_use_their_spectrum(monkeypatch: pytest.MonkeyPatch) -> None:
    W = np.random.default_rng(0).normal(size=(12, 10))
    dense = lower_bound(W, 1000, 1.0).value
    monkeypatch.setattr(lower, "DENSE_LIMIT", 4)
    assert 0.0 < lower_bound(W, 1000, 1.0).value <= dense * (1 + 1e-9)
    assert lower_bound(W.T, 1000, 1.0).value > 0.0


def test_marginals_and_conjunctions_use_their_packings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, w, cells in [("2-way-marginals", 2, True), ("conjunctions-2", 2, False)]:
        W = create(name, 2**12)
        found = lower_bound(W, 40, 1.0)
        assert found.value >= marginals(12, w, 40, 1.0, cells=cells, queries=W.queries).value > 0
    W = create("at-most-2-way-marginals", 2**4)
    for n, epsilon in GRID:
        assert lower_bound(W, n, epsilon).value <= mechanisms.ball_noise(W.matrix(), n, epsilon)


def test_bad_values_are_refused() -> None:
    with pytest.raises(BadValue, match="users"):
        lower_bound(np.eye(3), 0, 1.0)
    with pytest.raises(BadValue, match="epsilon"):
        lower_bound(np.eye(3), 1, math.nan)
    with pytest.raises(BadValue, match="NaN"):
        lower_bound(np.array([[math.nan, 1.0]]), 1, 1.0)


# Users -----------------------------------------------------------------------------------------------------


def made(value: float, n: int) -> LowerBound:
    return LowerBound(value, n, 1.0, "made")


def test_users_for_errors_of_known_growth() -> None:
    assert users_needed(lambda n: made(3.0 / n, n), 0.01).users == 300
    found = users_needed(lambda n: made(min(1.0, 2.0 / math.sqrt(n)), n), 0.1)
    assert 0.99 * 400 <= found.users <= 400
    assert users_needed(lambda n: made(0.0, n), 0.1).users == 1
    assert users_needed(lambda n: made(1.0, n), 0.5, most=1000).users >= 1000


def test_a_dip_ends_the_proof() -> None:
    """Only what follows from bounds at fewer persons: a bound that holds later on proves nothing before."""
    bounds = {1: 0.9, 2: 0.9}
    found = users_needed(lambda n: made(bounds.get(n, 0.0 if n < 50 else 0.9), n), 0.3)
    assert found.users <= 7


def test_fewer_users_than_noise_needs() -> None:
    for N in (16, 256):
        for alpha in (0.3, 0.1, 0.01):
            found = users_needed(lambda n, N=N: full_parity(N, n, 1.0), alpha)  # type: ignore[misc]
            enough = math.ceil(mechanisms.parity_noise(N, 1, 1.0) / alpha)
            assert found.users <= enough
            assert found.last is not None
            assert found.users > 0.1 / alpha


def test_alpha_is_checked() -> None:
    with pytest.raises(BadValue, match="alpha"):
        users_needed(lambda n: made(1.0, n), 0.0)
