"""The half-sphere randomizer: constants, privacy, moments, sampler."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import norm

from factormech.errors import BadValue
from factormech.mechanisms.local.randomizers import cap_randomizers
from tests.statistics import FALSE_ALARM, binomial_p_value


def unit_vectors(rng: np.random.Generator, count: int, d: int) -> np.ndarray:
    Z = rng.standard_normal((count, d))
    return Z / np.linalg.norm(Z, axis=1, keepdims=True)


@pytest.mark.parametrize(("d", "multiple"), [(1, 1.0), (2, math.pi / 2), (3, 2.0), (4, 0.75 * math.pi), (5, 8 / 3)])
def test_radius_has_its_closed_form(d: int, multiple: float) -> None:
    for epsilon in (0.1, 1.0, 5.0):
        c = (math.exp(epsilon) + 1) / (math.exp(epsilon) - 1)
        # p is a few units of 2⁻⁵³ low, which 2p − 1 = 1/c feels c times.
        assert cap_randomizers.half_sphere_radius(d, epsilon) == pytest.approx(
            multiple * c, rel=3e-15 + 8 * c * 2.0**-53
        )


def test_radius_satisfies_the_gamma_recurrence_in_every_dimension() -> None:
    # f(d) f(d+1) = d/2 for f(d) = Γ((d+1)/2)/Γ(d/2): ties the direct values to the series beyond them.
    c = 1 / (2 * cap_randomizers.facing_probability(1.0) - 1)
    f = np.array([cap_randomizers.half_sphere_radius(d, 1.0) for d in range(1, 3000)]) / c / math.sqrt(math.pi)
    np.testing.assert_allclose(f[:-1] * f[1:], np.arange(1, 2999) / 2, rtol=2e-15)


def test_second_moment_grows_to_its_limit() -> None:
    moments = np.array([cap_randomizers.second_moment(d, 1.0) for d in range(1, 500)])
    limit = math.pi / 2 / math.tanh(0.5) ** 2
    assert np.all(np.diff(moments) > 0)
    assert moments[-1] < limit < moments[-1] * 1.002


@pytest.mark.parametrize("epsilon", [0.05, 1.0, 6.0])
@pytest.mark.parametrize("d", [1, 2, 7])
def test_density_ratio_is_at_most_e_to_the_epsilon(d: int, epsilon: float) -> None:
    rng = np.random.default_rng(1)
    Z = unit_vectors(rng, 500, d)
    points = [np.zeros(d), *(unit_vectors(rng, 20, d) * rng.random((20, 1)) ** 0.2)]
    densities = np.array([cap_randomizers.density(x, Z, epsilon) for x in points])
    assert np.max(densities.max(axis=0) / densities.min(axis=0)) <= math.exp(epsilon) * (1 + 1e-14)
    x = unit_vectors(rng, 1, d)[0] * (1 - 1e-15)
    ratio = cap_randomizers.density(x, Z, epsilon) / cap_randomizers.density(-x, Z, epsilon)
    assert ratio.max() == pytest.approx(math.exp(epsilon), rel=1e-12)


def test_density_is_a_density_with_the_right_mean() -> None:
    angles = (np.arange(400_000) + 0.5) * 2 * math.pi / 400_000
    Z = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    x = np.array([0.3, -0.5])
    f = cap_randomizers.density(x, Z, 1.3)
    assert f.mean() == pytest.approx(1.0, abs=1e-5)
    np.testing.assert_allclose(cap_randomizers.half_sphere_radius(2, 1.3) * (f @ Z) / len(Z), x, atol=3e-5)
    second = cap_randomizers.half_sphere_radius(2, 1.3) ** 2 * (Z.T * f) @ Z / len(Z)
    np.testing.assert_allclose(second - np.outer(x, x), cap_randomizers.covariance(x, 1.3), atol=1e-4)


def largest_score(reports: np.ndarray, x: np.ndarray, epsilon: float) -> float:
    """Largest standardised deviation of the means and of the second moments from theory."""
    N, d = reports.shape
    sd = np.sqrt(np.diagonal(cap_randomizers.covariance(x, epsilon)))
    mean_scores = (reports.mean(axis=0) - x) / sd * math.sqrt(N)
    squares = reports**2
    moment_scores = (
        (squares.mean(axis=0) - cap_randomizers.second_moment(d, epsilon)) / squares.std(axis=0) * math.sqrt(N)
    )
    return float(np.abs(np.concatenate([mean_scores, moment_scores])).max())


@pytest.mark.parametrize("x", [[0.0, 0.0, 0.0], [0.6, 0.0, 0.0], [0.0, -0.6, 0.8 - 1e-15], [0.1] * 10])
def test_sampler_has_the_exact_mean_and_second_moments(x: list[float]) -> None:
    point, N = np.array(x), 200_000
    reports = cap_randomizers.sample(np.tile(point, (N, 1)), 1.0, np.random.default_rng(7))
    threshold = norm.isf(FALSE_ALARM / (4 * len(x)))
    assert largest_score(reports, point, 1.0) < threshold
    np.testing.assert_allclose(
        np.linalg.norm(reports, axis=1), cap_randomizers.half_sphere_radius(len(x), 1.0), rtol=1e-14
    )
    # The same test sees noise that is a tenth too small, and reports that are a tenth too large.
    assert largest_score(point + 0.9 * (reports - point), point, 1.0) > threshold
    assert largest_score(1.1 * reports, point, 1.0) > threshold


def test_sampler_faces_the_point_as_often_as_privacy_allows() -> None:
    N, epsilon = 400_000, 1.7
    x = np.zeros((N, 4))
    x[:, 2] = 1.0
    facing = np.sum(cap_randomizers.sample(x, epsilon, np.random.default_rng(5))[:, 2] > 0)
    p = math.exp(epsilon) / (1 + math.exp(epsilon))
    assert binomial_p_value(int(facing), N, p) > FALSE_ALARM
    assert binomial_p_value(int(facing), N, 0.99 * p) < FALSE_ALARM


@pytest.mark.parametrize("epsilon", [1e-14, 1e-9, 0.001, 0.3, 1.0, 2.0, 5.0, 12.0, 30.0, 36.0, 37.0, 50.0, 800.0])
def test_the_probability_that_is_drawn_with_is_private_as_it_is(epsilon: float) -> None:
    """In 60-digit arithmetic: p/(1 − p) ≤ e^ε, p is a multiple of 2⁻⁵³ at most four of them low, and so is the loss."""
    p = Fraction(cap_randomizers.facing_probability(epsilon))
    with localcontext() as context:
        context.prec = 400 if epsilon > 100 else 60
        e = Decimal(epsilon).exp()
        exact = e / (1 + e)
        assert p.denominator <= 2**53
        below = (exact - Decimal(p.numerator) / Decimal(p.denominator)) * 2**53
        assert 0 < below <= 4
        ratio = Decimal(p.numerator) / Decimal(p.denominator - p.numerator)
        assert ratio < e
        assert ratio.ln() <= Decimal(cap_randomizers.privacy_loss(epsilon)) <= Decimal(epsilon)


def test_a_budget_below_the_resolution_of_the_draws_is_refused() -> None:
    with pytest.raises(BadValue, match=r"epsilon = 1e-16: must be large enough for a probability above one half"):
        cap_randomizers.half_sphere_radius(3, 1e-16)


def test_one_dimension_is_randomized_response() -> None:
    reports = cap_randomizers.sample(np.ones((1000, 1)), 0.5, np.random.default_rng(0))
    c = 1 / math.tanh(0.25)
    np.testing.assert_allclose(np.abs(reports), c, rtol=1e-14)
    assert cap_randomizers.covariance(np.ones(1), 0.5)[0, 0] == pytest.approx(c**2 - 1, rel=1e-13)


@pytest.mark.parametrize("points", [[[0.8, 0.8]], [[math.nan, 0.0]], [0.1, 0.2], np.zeros((3, 0))])
def test_points_outside_the_ball_are_refused_not_clipped(points: object) -> None:
    with pytest.raises(BadValue, match="points"):
        cap_randomizers.sample(np.asarray(points, dtype=float), 1.0, np.random.default_rng(0))
