"""What a strategy gets, exactly and simulated, and the limit."""

from __future__ import annotations

import math

import numpy as np
import pytest

from factormech.bounds.hard import divergence
from factormech.bounds.hard.advantage import simulate_advantage
from factormech.bounds.hard.pairs import HardPairs, from_witness, mix_rows, weighted
from factormech.errors import BadValue
from factormech.privacy.guarantee import inner_ratio
from tests.bounds.hard import oracles
from tests.bounds.hard.oracles import exact_advantage, exact_norm

pytestmark = pytest.mark.heavy


def response(n: int, epsilon: float) -> np.ndarray:
    a = inner_ratio(epsilon)
    return (np.ones((n, n)) + (a - 1) * np.eye(n)) / (a + n - 1)


def test_coins_are_binomial() -> None:
    family = HardPairs(np.array([[0.7, 0.3]]), np.array([[0.3, 0.7]]), np.ones(1), np.zeros(1, dtype=np.int64))
    Q, n = response(2, 1.0), 9
    p = 0.5 + 0.2 * math.tanh(0.5)
    laws = [[math.comb(n, j) * x**j * (1 - x) ** (n - j) for j in range(n + 1)] for x in (p, 1 - p)]
    truth = 0.5 * sum(abs(a - b) for a, b in zip(*laws, strict=True))
    assert exact_advantage(family, Q, n)[0] == pytest.approx(truth, rel=1e-10)


def test_simulation_agrees_and_no_one_passes_the_limit() -> None:
    W = oracles.workloads()["prefix"][:4, :5]
    U = W - W.mean(axis=1, keepdims=True)
    family = weighted(mix_rows(from_witness(U, W), W, 0.2))[0]
    norm, rng = exact_norm(family), np.random.default_rng(1)
    Q = response(5, 1.0)
    for row in simulate_advantage(family, Q, 1.0, [1, 3, 8], norm, rng):
        truth = float(family.weights @ exact_advantage(family, Q, row.users))
        assert row.low <= truth <= row.high
        assert truth <= row.limit
        assert row.high - row.low < 0.2


def test_the_limit_is_within_reach() -> None:
    """Randomized response of one bit at small ε: half of the limit would be refuted."""
    theta, epsilon = 0.1, 0.2
    first = np.array([[0.5 + theta, 0.5 - theta]])
    family = HardPairs(first, first[:, ::-1].copy(), np.ones(1), np.zeros(1, dtype=np.int64))
    norm = exact_norm(family)
    assert norm == pytest.approx(4 * theta)
    (row,) = simulate_advantage(family, response(2, epsilon), epsilon, [10_001], norm, np.random.default_rng(3))
    assert 0.6 * row.limit <= row.advantage <= row.limit


def test_the_limit_with_few_users() -> None:
    """Exactly, where the total variation is near √(2/π) of its bound."""
    first = np.array([[0.55, 0.45]])
    family = HardPairs(first, first[:, ::-1].copy(), np.ones(1), np.zeros(1, dtype=np.int64))
    truth = exact_advantage(family, response(2, 0.02), 3001)[0]
    assert 0.77 <= truth / divergence.advantage(exact_norm(family), 0.02, 3001, family.row_mass) <= 1.0


def test_bad_input() -> None:
    family = HardPairs(np.array([[0.7, 0.3]]), np.array([[0.3, 0.7]]), np.ones(1), np.zeros(1, dtype=np.int64))
    with pytest.raises(BadValue, match="strategy"):
        simulate_advantage(family, response(3, 1.0), 1.0, [2], 1.0, np.random.default_rng(0))
    with pytest.raises(BadValue, match="epsilon"):
        simulate_advantage(family, response(2, 2.0), 1.0, [5], 1.0, np.random.default_rng(0))
