"""Users draw for themselves: no two of them share a decision of their noise, whoever and how many they are.

Privacy of one report says nothing of two: a sampler in which users share a coin has the law of every single report
right, and the wrong joint law. Two views of it: reports of one batch are uncorrelated at every lag that a loop may
have, and the sum over N users has the law of N sums over one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from scipy.stats import ks_2samp, norm

from factormech.arrays import FloatArray
from factormech.mechanisms.local import registry as strategies
from factormech.mechanisms.local.memberships import SubsetLaw
from factormech.mechanisms.local.randomizers import registry as randomizers
from factormech.workloads.registry import create
from tests.privacy.subjects import DELTA, subjects
from tests.statistics import FALSE_ALARM

Batch = Callable[[int, np.random.Generator], FloatArray]
USERS = 20_000
LAGS = (1, 2, 3, 4, 7, 8, 64, 1024, USERS // 2)


def batches() -> Iterator[tuple[str, Batch]]:
    """Samplers of one report for each of many users of one type, (N, d)."""
    for name in randomizers.names():
        yield f"randomizer:{name}", lambda users, rng, name=name: _of_ball(name, users, rng)
    for name in ("matrix-l1", "matrix-l2", "matrix-l2-gaussian"):
        yield f"columns:{name}", lambda users, rng, name=name: _of_columns(name, users, rng)


def _of_ball(name: str, users: int, rng: np.random.Generator) -> FloatArray:
    randomizer = randomizers.build(name, 3, 1.0, DELTA if randomizers.has_delta(name) else None)
    return np.asarray(randomizer.sample(np.repeat([[0.6, 0.0, 0.8]], users, axis=0), rng))


def _of_columns(name: str, users: int, rng: np.random.Generator) -> FloatArray:
    strategy: Any = strategies.strategy_for(name, create("prefix", 4), 1.0)
    return np.asarray(strategy.noisy.report(np.full(users, 1), rng))


def correlated(reports: FloatArray) -> float:
    """The p-value that no report, in a few directions and in length, goes with the one a lag later."""
    R = reports if len(reports) == USERS else reports.T
    views = np.column_stack([R, R @ np.arange(1.0, R.shape[1] + 1), np.linalg.norm(R, axis=1), np.abs(R)])
    Z = views - views.mean(axis=0)
    Z = Z[:, Z.std(axis=0) > 1e-9 * (1 + np.abs(views).max())]
    Z = np.clip(Z / Z.std(axis=0), -5.0, 5.0)
    scores = [np.abs((Z[:-lag] * Z[lag:]).mean(axis=0)) * np.sqrt(USERS - lag) for lag in LAGS]
    count = len(LAGS) * Z.shape[1]
    return min(1.0, 2 * count * float(norm.sf(np.max(scores))))


def check_batch(name: str) -> None:
    draw = dict(batches())[name]
    assert correlated(draw(USERS, np.random.default_rng(7))) > FALSE_ALARM


@pytest.mark.parametrize("name", [name for name, _ in batches()])
def test_reports_of_a_batch_are_independent(name: str) -> None:
    check_batch(name)


def check_law_of_sums(draw: Callable[[int, int, np.random.Generator], FloatArray], users: int, trials: int) -> None:
    """``draw``: sums over so many users, (d, trials)."""
    one = draw(users, trials, np.random.default_rng(1))
    many = draw(1, users * trials, np.random.default_rng(2))
    direction = np.random.default_rng(3).uniform(0.5, 1.0, len(one))
    sums = direction @ one, (direction @ many).reshape(trials, users).sum(axis=1)
    fine = 1e-9 * np.abs(sums[1]).max()
    assert ks_2samp(*(np.round(values / fine) for values in sums)).pvalue > FALSE_ALARM


def check_sums(name: str, users: int = 2, trials: int = 2000) -> None:
    strategy = next(subject for subject in subjects() if str(subject) == name).make()
    counts = np.zeros(strategy.domain_size, dtype=np.int64)
    counts[0] = 1
    check_law_of_sums(lambda n, trials, rng: strategy.simulate_estimates(n * counts, trials, rng), users, trials)


LOCAL = [str(subject) for subject in subjects() if subject.family == "strategy"]


@pytest.mark.parametrize("users", [2, 9])
@pytest.mark.parametrize("name", LOCAL)
def test_sums_of_users_are_sums_of_independent_reports(name: str, users: int) -> None:
    check_sums(name, users)


@pytest.mark.parametrize("way", ["sample_by_users", "sample_by_types"])
@pytest.mark.parametrize("users", [2, 9])
def test_sums_of_sets_are_sums_of_independent_sets_in_either_way(way: str, users: int) -> None:
    law = SubsetLaw(5, np.array([1, 2]), np.array([0.1, 0.3]), np.array([0.2, 0.3]), 0.1, np.array([1.0, 0.7]))
    counts = np.array([0, 1, 0, 0, 0])
    check_law_of_sums(lambda n, trials, rng: getattr(law, way)(n * counts, trials, rng), users, 2000)
