"""Populations are fixed by their names, and refuse what is no population."""

from __future__ import annotations

import numpy as np
import pytest

from factormech.errors import BadValue, UnknownName
from factormech.mechanisms.local import populations
from tests.statistics import FALSE_ALARM, mean_p_value


@pytest.mark.parametrize("n", [1, 2, 7, 64])
@pytest.mark.parametrize("name", populations.names())
def test_shares_are_probabilities(name: str, n: int) -> None:
    p = populations.probabilities(name, n)
    assert p.shape == (n,)
    assert (p > 0).all()
    assert p.sum() == pytest.approx(1.0)


def test_shapes_are_what_they_say() -> None:
    assert np.ptp(populations.probabilities("uniform", 64)) == 0
    zipf = populations.probabilities("zipf", 64)
    np.testing.assert_allclose(zipf * np.arange(1, 65), zipf[0])
    spiky = np.sort(populations.probabilities("spiky", 64))[::-1]
    assert spiky[:4].sum() == pytest.approx(0.9 + 0.1 * 4 / 64)
    smooth = populations.probabilities("smooth", 64)
    assert np.abs(np.diff(smooth)).max() < smooth.max() / 5
    assert smooth.argmax() in (18, 19)


@pytest.mark.parametrize("name", populations.names())
def test_users_are_drawn_from_the_shares(name: str) -> None:
    p = populations.probabilities(name, 8)
    x = np.array([populations.population(name, 8, 500, seed) for seed in range(400)]).T
    assert (x.sum(axis=0) == 500).all()
    covariance = 500 * (np.diag(p) - np.outer(p, p))
    assert mean_p_value(x.astype(float), 500 * p, covariance) >= FALSE_ALARM
    wrong = populations.probabilities("zipf" if name != "zipf" else "uniform", 8)
    assert mean_p_value(x.astype(float), 500 * wrong, covariance) < FALSE_ALARM


def test_users_are_fixed_by_name_size_number_and_seed() -> None:
    one = populations.population("zipf", 16, 1000, 3)
    np.testing.assert_array_equal(one, populations.population("zipf", 16, 1000, 3))
    assert (one != populations.population("zipf", 16, 1000, 4)).any()
    assert one.dtype == np.int64
    assert populations.population("uniform", 4, 10**7, 0).sum() == 10**7


@pytest.mark.parametrize("users", [0, -5, 1.5, float("nan"), True])
def test_users_are_checked(users: float) -> None:
    with pytest.raises(BadValue, match=r"users = .*must be a whole number of at least 1"):
        populations.population("uniform", 4, users, 0)  # type: ignore[arg-type]


def test_unknown_populations_are_answered_with_the_known_ones() -> None:
    with pytest.raises(UnknownName, match=r"did you mean 'uniform'\? known: smooth, spiky, uniform, zipf"):
        populations.population("unifrom", 4, 10, 0)
