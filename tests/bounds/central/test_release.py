"""No mechanism beats its bound: exact errors of private mechanisms, and exact programs over all mechanisms."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from factormech.bounds.central.line import least_noise, pure_interval, pure_unit
from factormech.bounds.central.release import additive_bound, column_differences, general_bound, replacement_bound
from factormech.errors import BadValue
from factormech.privacy.gaussian import gaussian_noise_multiplier
from factormech.studies.measures.central import gaussian_moment
from tests.bounds.central.oracles import any_mechanism


def random_workload(seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.choice([-1.0, 0.0, 0.5, 1.0], size=(5, 7)) + 0.01 * rng.standard_normal((5, 7))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("p", [2.0, 3.5, 8.0])
def test_gaussian_noise_is_above(seed: int, p: float) -> None:
    W, sigma = random_workload(seed), gaussian_noise_multiplier(0.5, 1e-5)
    bound = additive_bound(W, 0.5, 1e-5, p=p, shifts="interval").total
    output = sigma * np.linalg.norm(W, axis=0).max() * len(W) ** (1 / p)
    inputs = sigma * np.sum(np.linalg.norm(W, axis=1) ** p) ** (1 / p)
    assert bound <= gaussian_moment(p, len(W)) * min(output, inputs)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("variance", "shifts"), [(pure_unit, "unit"), (pure_interval, "interval")])
def test_independent_noise_on_counts_is_above(seed: int, variance: Callable[[float], float], shifts: str) -> None:
    """Discrete Laplace noise hides shifts by 1; staircase noise of one count hides every shift."""
    W = random_workload(seed)
    error = math.sqrt(variance(0.8)) * float(np.linalg.norm(W))
    assert additive_bound(W, 0.8, 0.0, shifts=shifts).total <= error


def test_the_bound_is_attained_by_discrete_laplace_noise_on_one_count() -> None:
    for p in (2.0, math.inf):
        bound = additive_bound(np.eye(1), 0.8, 0.0, p=p)
        assert bound.total == pytest.approx(math.sqrt(pure_unit(0.8)), rel=1e-6)
        # Its mean absolute error is V₁: the bound on means is attained as well.
        mean = additive_bound(np.eye(1), 0.8, 0.0, p=p, moment=1, shifts="interval")
        assert mean.total == pytest.approx(pure_unit(0.8, 1), rel=1e-6)


@pytest.mark.parametrize(("epsilon", "delta", "largest"), [(1.0, 0.0, 10), (0.5, 0.02, 8), (2.0, 0.05, 6)])
def test_any_mechanism_on_a_box(epsilon: float, delta: float, largest: int) -> None:
    """The best mechanism of all, by linear programming, is above the bound of its box, and of its number of persons."""
    best = math.sqrt(any_mechanism(epsilon, delta, largest))
    box = general_bound(np.eye(1), epsilon, delta, counts=largest)
    assert box.delta_used == pytest.approx((1 + largest * delta) / (largest + 1), rel=1e-12)
    assert 0.5 * best < box.total <= best
    # n persons of two types: the number of the first is a count from 0 to n.
    persons = replacement_bound(np.array([[1.0, 0.0]]), epsilon, delta, largest)
    assert persons.total == pytest.approx(box.total, rel=1e-5)
    assert persons.delta_used == pytest.approx(box.delta_used, rel=1e-12)


def test_a_box_needs_its_delta() -> None:
    """On counts to 10 the best mechanism beats √V(ε, 0): without δ_T the bound would be false."""
    assert any_mechanism(1.0, 0.0, 10) < least_noise(1.0, 0.0).lower


def test_a_constant_query_costs_nothing_when_persons_are_replaced() -> None:
    W = np.ones((1, 4))
    assert additive_bound(W, 1.0, 0.0).total > 1.0
    assert replacement_bound(W, 1.0, 0.0, 1000).total == 0.0
    assert column_differences(np.array([[1.0, 4.0, 2.0]])).tolist() == [[-3.0, -1.0, 2.0]]


def test_norms_and_normalisation() -> None:
    W = np.tril(np.ones((9, 9)))
    for p in (2.0, 4.0, math.inf):
        whole, trace = additive_bound(W, 1.0, 1e-3, p=p), additive_bound(W, 1.0, 1e-3, p=p, norm="trace")
        assert trace.total < whole.total
        nuclear = float(np.linalg.svd(W, compute_uv=False).sum())
        assert trace.norm == pytest.approx(9 ** (1 / p - 0.5) * 9**-0.5 * nuclear, rel=1e-9)
        assert whole.per_query == pytest.approx(whole.total / 9 ** (1 / p), rel=1e-12)
        assert general_bound(W, 1.0, 1e-3, p=p).total == whole.total


@pytest.mark.parametrize("p", [2.0, 5.0, math.inf])
def test_mean_norms(p: float) -> None:
    """Independent discrete Laplace noise on the counts, whose mean error is simulated, is above the bound."""
    epsilon, rng = 0.7, np.random.default_rng(3)
    b = math.exp(-epsilon)
    for W in (random_workload(0), np.tril(np.ones((8, 8))), np.eye(6)):
        noise = rng.geometric(1 - b, (4000, W.shape[1])) - rng.geometric(1 - b, (4000, W.shape[1]))
        found = np.linalg.norm(noise @ W.T, ord=p, axis=1)
        bound = additive_bound(W, epsilon, 0.0, p=p, moment=1)
        assert bound.total <= found.mean() + 4 * found.std() / math.sqrt(len(found))
        assert bound.total > 0.2 * found.mean()
        assert bound.norm == additive_bound(W, epsilon, 0.0, p=p).norm


def test_the_mean_of_the_largest_grows_with_the_norm() -> None:
    """On a Hadamard matrix the bound is 16·V₁, where every entry is 1; and not 16·√V, which a mean may be below."""
    H = np.ones((1, 1))
    while len(H) < 256:
        H = np.block([[H, H], [H, -H]])
    bound = general_bound(H, 1.0, 1e-4, p=math.inf, moment=1)
    assert bound.total == pytest.approx(16 * least_noise(1.0, 1e-4, moment=1).lower, rel=1e-3)
    noise = gaussian_noise_multiplier(1.0, 1e-4) * 16 * np.random.default_rng(0).standard_normal((400, 256))
    assert bound.total <= np.abs(noise).max(axis=1).mean()
    assert bound.error == "mean norm"


def test_refusals() -> None:
    W = np.eye(2)
    for call in (
        lambda: additive_bound(W, 1.0, 0.1, p=1.0),
        lambda: additive_bound(W, 1.0, 0.1, norm="other"),
        lambda: general_bound(W, 1.0, 0.1, counts=0),
        lambda: general_bound(W, 1.0, 1.0),
        lambda: replacement_bound(W, 1.0, 0.1, 0),
        lambda: replacement_bound(np.eye(1), 1.0, 0.1, 5),
    ):
        with pytest.raises(BadValue):
            call()
    assert general_bound(W, 1.0, 0.1, shifts="interval", counts=1).total == 0.0
