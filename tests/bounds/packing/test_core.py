"""The packing theorem: its closed forms, against points in space, and what no mechanism may contradict."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import minimize

from factormech.bounds.packing.core import best_multiple, share, share_by_balls
from tests.tiers import every


def share_at(J: float) -> float:
    """κ(J), by M = 2^40 and the loss that gives this J."""
    M = 2.0**40
    return float(share(math.log(M), math.log((M - 1.0) / (J - 1.0))))


@pytest.mark.parametrize("J", [1.0 + 1e-9, 1.1, 1.5, 1.999, 2.0])
def test_up_to_two_the_share_is_one_less_its_inverse(J: float) -> None:
    assert share_at(J) == pytest.approx(1.0 - 1.0 / J, rel=1e-10)


@pytest.mark.parametrize(
    ("J", "value"),
    [
        (3.0, (1 + math.sqrt(1 / 3)) / 3),
        (2.5, (1 + 0.5 * math.sqrt(1 / 3)) / 2.5),
        (4.0, (1 + math.sqrt(1 / 3) + math.sqrt(3 / 8)) / 4),
        (100.0, (1 + sum(math.sqrt((m - 1) / (2 * m)) for m in range(3, 101))) / 100),
    ],
)
def test_above_two_it_is_a_mean_of_radii(J: float, value: float) -> None:
    assert share_at(J) == pytest.approx(value, rel=1e-9)
    assert share_at(J) <= value


def test_half_of_the_distance_where_the_loss_is_below_the_number_of_others() -> None:
    """Lemma 2.2 with its own constant: e^{εΔ} ≤ M − 1 gives a/2."""
    for M in (3, 10, 1000):
        assert 2.0 * float(share(math.log(M), math.log(M - 1))) == pytest.approx(1.0, rel=1e-12)


def test_it_grows_with_the_packing_and_falls_with_the_loss() -> None:
    L = np.linspace(0.0, 40.0, 400)
    by_size = share(L, 12.0)
    assert np.all(np.diff(by_size) >= 0)
    assert by_size[0] == 0.0
    assert np.all(np.diff(share(30.0, L)) <= 0)
    assert by_size[-1] < math.sqrt(0.5)
    assert np.all(share(30.0, L) >= share_by_balls(30.0, L) * (1 - 1e-12))


def test_astronomical_sizes_do_not_overflow() -> None:
    assert float(share(1e9, 0.0)) == pytest.approx(math.sqrt(0.5), rel=1e-4)
    assert float(share(1e9, 1e18)) == 0.0
    # Rounding of ln M and of the loss is taken off: the value is a bound even where they nearly cancel.
    assert float(share(1e9, 1e9)) <= 0.5


@pytest.mark.parametrize("seed", every(3, range(30)))
def test_no_answer_is_nearer_to_separated_points(seed: int) -> None:
    """For points at least 1 apart, and weights of at most 1/J, every y has Σ p‖y − v‖ ≥ κ(J)."""
    rng = np.random.default_rng(seed)
    M, dimension = int(rng.integers(2, 9)), int(rng.integers(1, 8))
    v = rng.normal(size=(M, dimension))
    gaps = np.linalg.norm(v[:, None] - v[None, :], axis=2)[np.triu_indices(M, 1)]
    v /= gaps.min()
    odds = rng.exponential(size=M) ** 2
    p = odds / odds.sum()
    J = 1.0 / p.max()

    def cost(y: np.ndarray) -> float:
        return float(p @ np.linalg.norm(y - v, axis=1))

    best = min([cost(point) for point in v] + [minimize(cost, start).fun for start in (v.mean(axis=0), p @ v)])
    assert best >= share_at(J) * (1 - 1e-12)


def test_a_simplex_attains_it_up_to_two() -> None:
    """M equidistant points, one of weight 1/J ≥ ½: the best answer is that point."""
    M, J = 5, 1.7
    p = np.array([1 / J] + [(1 - 1 / J) / (M - 1)] * (M - 1))
    v = np.eye(M) / math.sqrt(2)
    at_first = float(p @ np.linalg.norm(v[0] - v, axis=1))
    assert at_first == pytest.approx(share_at(J), rel=1e-9)


def test_the_proof_by_balls_has_the_best_beta_of_its_second_form() -> None:
    M, loss = 50.0, 2.3
    betas = np.linspace(1e-4, 0.5 - 1e-4, 100_000)
    first = math.exp(loss) <= M * (1 - 2 * betas)
    second = math.exp(loss) <= (M - 1) * (1 - 2 * betas) / (2 * betas)
    assert np.all(second[first])  # the second form is implied by the first
    assert betas[second].max() == pytest.approx(float(share_by_balls(math.log(M), loss)), abs=1e-5)


def test_the_best_multiple_is_the_best_of_all() -> None:
    rng = np.random.default_rng(1)
    for _ in range(20):
        n, epsilon = int(rng.integers(1, 200)), float(rng.choice([0.02, 0.3, 3.0]))
        L, cost = rng.uniform(0.7, 40.0, size=6), rng.integers(1, 12, size=6)
        gain = rng.uniform(size=6)
        at, r, value = best_multiple(L, cost, gain, n, epsilon)
        every = [
            (float(i * gain[c] * share(L[c], epsilon * i * cost[c])), c, i)
            for c in range(6)
            for i in range(1, n // int(cost[c]) + 1)
        ]
        if not every:
            assert value == 0.0
            continue
        assert r * cost[at] <= n
        assert value == pytest.approx(r * gain[at] * float(share(L[at], epsilon * r * cost[at])), rel=1e-12)
        assert 0.995 * max(every)[0] <= value <= max(every)[0] * (1 + 1e-12)
