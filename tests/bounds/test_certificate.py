"""Any dual guess becomes a bound that no strategy beats, and the right one is the optimum."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from factormech.bounds.certificates import DOMAIN_LIMIT, largest_violation
from factormech.errors import BadValue
from tests import oracles
from tests.bounds import optimum
from tests.bounds.checks import centred_root
from tests.tiers import every


@pytest.mark.parametrize("n", [1, 2, 3, 6, 9])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
def test_the_largest_violation_is_found(n: int, epsilon: float) -> None:
    rng = np.random.default_rng(n)
    M, multiplier = rng.normal(size=(n, n)), rng.normal(size=n)
    found = -math.inf
    for row in itertools.product([1.0, math.exp(epsilon)], repeat=n):
        v = np.array(row)
        found = max(found, float(v @ M @ v - (multiplier @ v) * v.sum()) / v.sum() ** 2)
    assert largest_violation(M, multiplier, epsilon) == pytest.approx(found, rel=1e-12, abs=1e-13)


def test_a_violation_is_repaired_exactly() -> None:
    rng = np.random.default_rng(0)
    M, multiplier = rng.normal(size=(7, 7)), rng.normal(size=7)
    c = largest_violation(M, multiplier, 1.0)
    assert largest_violation(M, multiplier + c, 1.0) == pytest.approx(0.0, abs=1e-13)


def test_no_overflow_and_the_largest_domain() -> None:
    assert largest_violation(np.eye(3), np.zeros(3), 2000.0) == pytest.approx(1.0, rel=1e-12)  # v = e_u
    n, epsilon = DOMAIN_LIMIT, 1.0
    # vᵀPv/(1ᵀv)² = ‖v‖²/(1ᵀv)² − 1/n is σ/n at most.
    a = math.e
    sigma = max((a - 1) ** 2 * k * (n - k) / (n + (a - 1) * k) ** 2 for k in range(1, n))
    assert largest_violation(np.eye(n) - 1 / n, np.zeros(n), epsilon) == pytest.approx(sigma / n, rel=1e-12)


@pytest.mark.parametrize("seed", every(4, range(60)))
def test_any_guess_is_a_bound(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, epsilon = int(rng.integers(2, 8)), float(rng.choice([0.3, 1.0, 3.0]))
    R = centred_root(rng.normal(size=(int(rng.integers(1, n + 2)), n)))
    Q = oracles.random_strategy(rng, 3 * n, n, epsilon)
    X = Q.T @ (Q / Q.sum(axis=1, keepdims=True))
    objective = float(np.sum(R * np.linalg.solve(X, R)))
    guess = np.linalg.solve(X, R) + rng.normal(size=R.shape) * rng.choice([0.0, 1.0]) * np.abs(R).max()
    bound = oracles.certified_objective(R, guess, rng.uniform(size=n) * rng.choice([0.0, 1.0]), epsilon)
    assert 0.0 <= bound <= objective * (1 + 1e-9)


@pytest.mark.parametrize("n", [2, 4, 6])
@pytest.mark.parametrize("epsilon", [0.5, 1.0, 3.0])
@pytest.mark.parametrize("name", ["prefix", "all_ranges"])
def test_the_optimum_certifies_itself(name: str, n: int, epsilon: float) -> None:
    R = centred_root(getattr(oracles, name)(n))
    best = optimum.solve(R, epsilon)
    X = best.rows.T @ (best.rows / np.maximum(best.rows.sum(axis=1, keepdims=True), 1e-300))
    bound = oracles.certified_objective(R, np.linalg.solve(X, R), best.multiplier, epsilon)
    assert best.objective * (1 - 2e-3) <= bound <= best.objective * (1 + 1e-5)


def test_what_proves_nothing_is_zero() -> None:
    R = centred_root(oracles.prefix(4))
    assert oracles.certified_objective(R, -R, np.ones(4), 1.0) == 0.0
    assert oracles.certified_objective(R, np.ones((4, 4)), np.ones(4), 1.0) == 0.0


def test_errors_name_the_remedy() -> None:
    with pytest.raises(BadValue, match=r"use bounds\.parametric"):
        largest_violation(np.eye(21), np.zeros(21), 1.0)
    with pytest.raises(BadValue, match="one entry per type"):
        largest_violation(np.eye(3), np.zeros(4), 1.0)
    with pytest.raises(BadValue, match="be finite"):
        largest_violation(np.full((2, 2), np.nan), np.zeros(2), 1.0)
