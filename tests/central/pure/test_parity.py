"""Full parity through its histogram: against the Hadamard matrix, closed forms and the general projection."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import kstest

from factormech.errors import BadValue
from factormech.mechanisms.central import moments
from factormech.mechanisms.central.projection import Hull
from factormech.mechanisms.pure import parity
from factormech.mechanisms.pure.mechanism import NoisyRelease, pure_law
from factormech.numerics import vectors
from tests import oracles
from tests.central.pure.bodies import hadamard
from tests.statistics import FALSE_ALARM, binomial_p_value, covariance_p_value, mean_p_value


def local_slopes(alphas: np.ndarray, users: np.ndarray) -> np.ndarray:
    """d log n/d log(1/α) between neighbouring points."""
    return np.asarray(-np.diff(np.log(users)) / np.diff(np.log(alphas)))


@pytest.mark.parametrize("N", [2, 4, 16])
def test_noise_law(N: int) -> None:
    u = parity.parity_noise(N, 0.5, np.random.default_rng(0), 20000)
    np.testing.assert_allclose(u.sum(axis=1), 0.0, atol=1e-10)
    assert kstest(0.5 * 0.5 * np.abs(u).sum(axis=1), "gamma", (N - 1,)).pvalue > FALSE_ALARM
    # Exchangeable, of sum 0: the covariance is a multiple of I − 11ᵀ/N.
    covariance = oracles.parity_noise_square(N, 0.5) / (N - 1) * (np.eye(N) - 1.0 / N)
    assert covariance_p_value(u.T, np.zeros(N), covariance) > FALSE_ALARM
    assert mean_p_value(u.T, np.zeros(N), covariance + 1e-20 * np.eye(N)) > FALSE_ALARM


def test_two_types_in_closed_form() -> None:
    """u = ±(r, −r), r ~ Exp(ε): E‖u‖² = 4/ε²."""
    assert oracles.parity_noise_square(2, 0.5) == pytest.approx(16.0)
    u = parity.parity_noise(2, 0.5, np.random.default_rng(0), 20000)
    assert kstest(np.abs(u[:, 0]), "expon", (0, 2.0)).pvalue > FALSE_ALARM
    assert binomial_p_value(int((u[:, 0] > 0).sum()), 20000, 0.5) > FALSE_ALARM


def test_errors_are_those_of_the_hadamard_matrix() -> None:
    """‖Hu‖/(n√N) = ‖u‖/n, and the projection on H's columns is that on the simplex."""
    N, n = 8, 20
    H = hadamard(N)
    rng = np.random.default_rng(0)
    for _ in range(5):
        u = parity.parity_noise(N, 1.0, rng, 1)[0]
        p = rng.multinomial(n, np.full(N, 1 / N)) / n
        near = Hull(H).project(H @ (p + u / n)).point
        np.testing.assert_allclose(near, H @ vectors.nearest(p + u / n), atol=1e-9)
    # The generic mechanism on H has the same law of errors.
    users, sparsities = [4, 20], [1, 2, 4, 8]
    found = parity.parity_errors(N, 1.0, users, sparsities, np.random.default_rng(1), 2000)
    drawn = NoisyRelease.of(H, pure_law("k-norm", 1.0)).draw(np.random.default_rng(2), 2000)
    for i, n in enumerate(users):
        for a, s in enumerate(sparsities):
            if s > n:
                assert np.isnan(found.projected[i, a]).all()
                continue
            counts = np.concatenate([parity.even_counts(n, s), np.zeros(N - s)])
            other = np.linalg.norm(drawn.answers(counts) - (H @ counts / n)[:, None], axis=0) / math.sqrt(N)
            # Vertices of the simplex are met with positive probability: rounding must not tell them apart.
            assert kstest(found.projected[i, a].round(9), other.round(9)).pvalue > FALSE_ALARM
    assert kstest(found.raw, np.linalg.norm(drawn.noise, axis=1) / math.sqrt(N)).pvalue > FALSE_ALARM


def test_large_sizes_and_the_worst_sparsity() -> None:
    users, sparsities = [2**e for e in range(2, 19, 4)], [4**e for e in range(9) if 4**e <= 65536]
    found = parity.parity_errors(65536, 1.0, users, sparsities, np.random.default_rng(0), 8)
    root = math.sqrt(oracles.parity_noise_square(65536, 1.0))
    assert math.sqrt((found.raw**2).mean()) == pytest.approx(root, rel=0.02)
    worst = [found.worst(i) for i in range(len(users))]
    # The worst data have more and more types, and projection helps less and less.
    assert [s for s, _ in worst] == sorted(s for s, _ in worst)
    assert worst[0][0] <= 4 < 1024 <= worst[-1][0]
    means = np.array([one.value for _, one in worst])
    assert np.all(np.diff(means) < 0)
    raw = found.raw.mean() / np.array(users)
    assert np.all(means < raw)
    assert means[-1] > 0.8 * raw[-1]
    local = local_slopes(means, np.array(users, dtype=float))
    # Between 1 (noise alone) and 2 once the error is well under 1.
    assert np.all(local[1:] > 0.99)
    assert local[1:].max() < 2.6
    np.testing.assert_allclose(local_slopes(raw, np.array(users, dtype=float)), 1.0)


def test_intervals() -> None:
    found = parity.parity_errors(16, 1.0, [10], [1, 8], np.random.default_rng(0), 50)
    s, one = found.worst(0)
    again = parity.parity_errors(16, 1.0, [10], [s], np.random.default_rng(1), 2000).projected[0, 0].mean()
    assert one.low < again < one.high
    plain = found.mean(0, [1, 8].index(s))
    assert plain.value == one.value
    assert plain.high < one.high
    assert moments.student(np.ones(1)).high == math.inf


def test_bad_input() -> None:
    for bad in (1, 12, 2**21):
        with pytest.raises(BadValue, match="size"):
            parity.parity_noise(bad, 1.0, np.random.default_rng(0), 1)
    with pytest.raises(BadValue, match="sparsity"):
        parity.even_counts(3, 4)
    with pytest.raises(BadValue, match="sparsity"):
        parity.parity_errors(4, 1.0, [9], [8], np.random.default_rng(0), 1)
    assert parity.even_counts(7, 3).tolist() == [3, 2, 2]


def test_noise_that_is_kept_gives_the_errors_of_noise_that_is_drawn() -> None:
    kept = list(parity.noise_by_draw(16, 0.5, np.random.default_rng(2), 5))
    together = parity.parity_errors(16, 0.5, [3, 40], [1, 2, 8], np.random.default_rng(2), 5)
    for i, n in enumerate([3, 40]):
        for _ in range(2):  # and none of it is used up
            alone = parity.errors_with(kept, 16, 0.5, [n], [1, 2, 8], 5)
            np.testing.assert_array_equal(alone.projected[0], together.projected[i])
            np.testing.assert_array_equal(alone.raw, together.raw)
