"""The randomizers of the unit ball behind one door: laws, privacy, moments, sums and subgaussian proxies."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad
from scipy.special import ndtr

from factormech.arrays import FloatArray
from factormech.errors import BadValue, UnknownName
from factormech.mechanisms.local.randomizers import registry, subgaussian
from factormech.mechanisms.local.randomizers.base import BallRandomizer
from factormech.mechanisms.local.randomizers.cap_randomizers import CapRandomizer, PrivUnit
from factormech.mechanisms.local.randomizers.caps import (
    MASS_MARGIN,
    cap_mass,
    cap_moment,
    coordinate,
    coordinates,
    draw_cap,
    gamma_ratio,
    strips,
)
from factormech.privacy.gaussian import gaussian_delta
from tests.statistics import FALSE_ALARM, binomial_p_value, covariance_p_value, mean_p_value, table_p_value
from tests.tiers import every, every_pair

pytestmark = pytest.mark.heavy

PURE = ("half-sphere", "priv-unit")
DELTA = 1e-6


def built(name: str, dimension: int, epsilon: float) -> BallRandomizer:
    return registry.build(name, dimension, epsilon, DELTA if registry.has_delta(name) else None)


def pure(name: str, dimension: int, epsilon: float) -> CapRandomizer:
    found = registry.build(name, dimension, epsilon)
    assert isinstance(found, CapRandomizer)
    return found


def unit_vectors(rng: np.random.Generator, count: int, d: int) -> FloatArray:
    Z = rng.standard_normal((count, d))
    return np.asarray(Z / np.linalg.norm(Z, axis=1, keepdims=True))


def sphere_rule(d: int, height: float) -> tuple[FloatArray, FloatArray]:
    """Directions and weights on the circle or the sphere, exact for smooth functions on and off caps around ±e₁."""
    nodes, weights = np.polynomial.legendre.leggauss(40)
    cuts = np.array([-1.0, -height, 0.0, height, 1.0]) if height else np.array([-1.0, 0.0, 1.0])
    if d == 2:
        cuts = np.arccos(cuts[::-1])
    half, middle = 0.5 * np.diff(cuts)[:, None], 0.5 * (cuts[1:] + cuts[:-1])[:, None]
    s, w = (middle + half * nodes).ravel(), (half * weights).ravel()
    if d == 2:
        Z = np.concatenate([np.stack([np.cos(s), sign * np.sin(s)], axis=1) for sign in (1, -1)])
        return Z, np.concatenate([w, w]) / (2 * math.pi)
    around = (np.arange(8) + 0.5) * math.pi / 4
    side = np.sqrt(1 - s**2)[:, None]
    Z = np.stack([np.broadcast_to(s[:, None], (len(s), 8)), side * np.cos(around), side * np.sin(around)], axis=2)
    return Z.reshape(-1, 3), np.repeat(w, 8) / 16


# The registry ----------------------------------------------------------------------------------------------------


def test_names_build_randomizers_and_no_others_do() -> None:
    assert registry.names() == ["half-sphere", "priv-unit", "gaussian"]
    for name in registry.names():
        randomizer = built(name, 4, 1.5)
        assert isinstance(randomizer, BallRandomizer)
        assert (randomizer.name, randomizer.dimension, randomizer.epsilon) == (name, 4, 1.5)
        assert randomizer.delta == (DELTA if name == "gaussian" else 0.0)
        assert registry.module_of(name) == type(randomizer).__module__
    with pytest.raises(UnknownName, match="did you mean 'priv-unit'"):
        registry.build("privunit", 4, 1.0)


def test_a_delta_is_given_to_those_that_have_one_and_to_no_others() -> None:
    for name in PURE:
        with pytest.raises(BadValue, match=f"delta = 1e-06: must be left out for {name}"):
            registry.build(name, 4, 1.0, 1e-6)
    with pytest.raises(BadValue, match="delta = None: must be given for gaussian"):
        registry.build("gaussian", 4, 1.0)
    for delta in (0.0, 1.0, -0.1, math.nan, 2):
        with pytest.raises(BadValue, match=r"delta = .*above 0 and below 1"):
            registry.build("gaussian", 4, 1.0, delta)


@pytest.mark.parametrize("name", registry.names())
def test_bad_arguments_are_refused(name: str) -> None:
    delta = DELTA if registry.has_delta(name) else None
    for dimension in (0, -1, 2.5, True):
        with pytest.raises(BadValue, match="dimension"):
            registry.build(name, dimension, 1.0, delta)  # type: ignore[arg-type]
    for epsilon in (0.0, -1.0, math.inf, math.nan):
        with pytest.raises(BadValue, match="epsilon"):
            registry.build(name, 3, epsilon, delta)
    randomizer, rng = built(name, 2, 1.0), np.random.default_rng(0)
    for points in ([[0.8, 0.8]], [[1 + 1e-12, 0.0]], [[math.nan, 0.0]], [0.1, 0.2], np.zeros((3, 0)), np.zeros((3, 3))):
        with pytest.raises(BadValue, match="points"):
            randomizer.sample(np.asarray(points, dtype=float), rng)
    for call in (randomizer.covariance, randomizer.second_moment):
        with pytest.raises(BadValue, match="points"):
            call(np.array([0.8, 0.8]))
    for counts in ([1], [1, -1], [0.5, 1.0], [[1, 1]]):
        with pytest.raises(BadValue, match="counts"):
            randomizer.sample_sums(np.eye(2), np.array(counts), 1, rng)
    with pytest.raises(BadValue, match="trials"):
        randomizer.sample_sums(np.eye(2), np.array([1, 1]), 0, rng)


def test_a_budget_below_the_resolution_of_the_draws_is_refused() -> None:
    for name in PURE:
        with pytest.raises(BadValue, match=r"epsilon = 1e-16: must be large enough"):
            registry.build(name, 3, 1e-16)


@pytest.mark.parametrize("name", registry.names())
def test_a_vector_divided_by_its_norm_is_a_unit_vector(name: str) -> None:
    """Whatever its last bits: and then it is drawn with the probabilities of a unit vector, not with more."""
    x = unit_vectors(np.random.default_rng(2), 2000, 64)
    assert np.einsum("ui,ui->u", x, x).max() > 1.0
    randomizer = built(name, 64, 2.0)
    assert np.isfinite(randomizer.sample(x, np.random.default_rng(0))).all()
    if isinstance(randomizer, CapRandomizer):
        longer = np.eye(64)[0] * (1 + 5e-15)
        assert randomizer.density(longer, -longer[None, :])[0] == 1 - randomizer.loyalty


# Caps ------------------------------------------------------------------------------------------------------------


def exact_cap(d: int, height: float) -> tuple[Decimal, Decimal]:
    """q and A by series of positive terms in 60 digits: from the equator where γ² < ½, else from the pole."""
    pi = Decimal("3.14159265358979323846264338327950288419716939937510582097494459")
    c, k = (1 / pi, 2) if d % 2 == 0 else (Decimal("0.5"), 3)
    for j in range(k, d, 2):
        c *= Decimal(j) / Decimal(j - 1)
    g = Decimal(height)
    x, a, half = 1 - g * g, Decimal(d - 1) / 2, Decimal("0.5")
    moment = c * x**a / (d - 1)
    term = total = Decimal(1)
    near, k = g * g < half, 0
    while term > Decimal("1e-45") * total:
        term *= (a + half + k) / (Decimal("1.5") + k) * g * g if near else (a + half + k) / (a + 1 + k) * x
        total, k = total + term, k + 1
    return (half - c * g * x**a * total if near else moment * g * total), moment


@pytest.mark.parametrize("d", [2, 3, 4, 7, 64, 1000, 10_000])
def test_mass_and_moment_of_a_cap_in_every_digit(d: int) -> None:
    for scaled in (1e-11, 4e-10, 1e-7, 1e-4, 0.3, 0.999, 1.001, 2.0, 4.0, 6.0):
        height = scaled / math.sqrt(d) if d > 40 else math.tanh(scaled)
        with localcontext() as context:
            context.prec = 60
            q, A = exact_cap(d, height)
            assert abs(Decimal(cap_mass(d, height)) / q - 1) < Decimal(MASS_MARGIN) / 50
            assert abs(Decimal(cap_moment(d, height)) / A - 1) < Decimal("2e-14")


@pytest.mark.parametrize("d", [4, 5, 9, 64, 256, 4096, 10**6])
def test_strips_cover_the_density_and_have_one_area(d: int) -> None:
    """Every strip lies on the graph of (1−x²)^{(d−3)/2} with its upper corner, and the last is above it."""
    x, y = strips(d)
    areas = x[:-1] * np.diff(y)
    np.testing.assert_allclose(areas, areas[0], rtol=1e-12)
    np.testing.assert_allclose(np.exp(0.5 * (d - 3) * np.log1p(-(x[1:-1] ** 2))), y[1:-1], rtol=1e-9)
    assert x[0] == 1.0
    assert y[0] == 0.0
    assert x[-1] == 0.0
    assert 1.0 <= y[-1] <= 1.0 + 1e-9
    half = 0.5 * math.sqrt(math.pi) / gamma_ratio(d - 1)  # of the area below the graph
    assert half <= areas.sum() <= 1.05 * half


@pytest.mark.slow
def test_a_coordinate_far_out_is_as_likely_as_it_should_be() -> None:
    """The lowest strip, which covers what a ziggurat calls its tail: a chance of some 3 in 10 000."""
    d, size = 20, 2_000_000
    t = coordinate(size, d, np.random.default_rng(1))
    for height in (0.6, 0.7, 0.75):
        for found in (np.count_nonzero(t > height), np.count_nonzero(t < -height)):
            assert stats.binomtest(found, size, cap_mass(d, height)).pvalue >= FALSE_ALARM
    law = stats.beta(0.5 * (d - 1), 0.5 * (d - 1), loc=-1.0, scale=2.0)
    classes = np.histogram(law.cdf(t), bins=1000, range=(0.0, 1.0))[0]
    assert stats.chisquare(classes).pvalue >= FALSE_ALARM


@pytest.mark.parametrize("d", every(3, [1, 2, 3, 4, 9, 200]))
def test_coordinates_of_unit_vectors_follow_their_law(d: int) -> None:
    """(1 + t)/2 is Beta((d−1)/2, (d−1)/2): the distance of its distribution function is below one in a million's."""
    rng = np.random.default_rng(d)
    size = 200_000
    t, (one, others) = coordinate(size, d, rng), coordinates(size, d, rng)
    np.testing.assert_allclose(one**2 + others**2, 1.0, rtol=1e-14)
    assert (np.abs(t) <= 1.0).all()
    if d == 1:
        assert abs(t.sum()) < 5 * math.sqrt(size)
        assert set(t) == {-1.0, 1.0}
        return
    law = stats.beta(0.5 * (d - 1), 0.5 * (d - 1), loc=-1.0, scale=2.0)
    for sample in (t, one):
        assert stats.kstest(sample, law.cdf).pvalue >= FALSE_ALARM
        wider = stats.kstest(sample / 1.1, law.cdf)  # it would be seen
        assert wider.pvalue < FALSE_ALARM


@pytest.mark.parametrize(("d", "height"), [(2, 0.2), (2, 0.9), (3, 0.1), (5, 0.7), (64, 0.1), (64, 0.5), (1000, 0.2)])
def test_draws_from_a_cap_have_its_law(d: int, height: float) -> None:
    """Both ways of rejection (γ√d below and above 1), by twenty classes of equal probability."""
    N = 40_000
    t, across = draw_cap(N, d, height, np.random.default_rng(3))
    assert t.min() >= height
    np.testing.assert_allclose(t**2 + across**2, 1.0, rtol=1e-13)
    above = np.array([cap_mass(d, x) for x in np.sort(t)[:: N // 200]]) / cap_mass(d, height)
    assert np.abs(above - np.linspace(1, 0, 200, endpoint=False)).max() < math.sqrt(math.log(2 / FALSE_ALARM) / 2 / N)


# Privacy ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("d", [1, 2, 3, 64, 1001, 10_000])
@pytest.mark.parametrize("epsilon", [1e-9, 0.001, 0.1, 1.0, 4.0, 12.0, 20.0])
def test_priv_unit_is_private_as_it_is_drawn(d: int, epsilon: float) -> None:
    """In 60-digit arithmetic: the very λ and γ keep e^ε, spend nearly all of it, and m is the mean that they give."""
    randomizer = PrivUnit(d, epsilon)
    with localcontext() as context:
        context.prec = 60
        q, A = exact_cap(d, randomizer.height) if d > 1 else (Decimal("0.5"), Decimal("0.5"))
        loyalty = Decimal(randomizer.loyalty)
        assert (loyalty * 2**53) % 1 == 0
        assert 0 < loyalty < 1
        odds = loyalty / (1 - loyalty)
        loss = (1 + odds / q).ln()
        assert loss <= Decimal(randomizer.privacy_loss()) <= Decimal(epsilon)
        resolution = Decimal(8) / 2**53 / (loyalty * (1 - loyalty)) + Decimal("2e-12")
        assert Decimal(epsilon) - loss < resolution * min(1, Decimal(epsilon) * 2)
        assert abs(Decimal(randomizer.mean) / (loyalty * A / q) - 1) < Decimal("1e-13")


@pytest.mark.parametrize("name", PURE)
@pytest.mark.parametrize("epsilon", [0.05, 1.0, 6.0])
@pytest.mark.parametrize("d", [1, 2, 7])
def test_density_ratio_is_at_most_e_to_the_epsilon_and_attains_it(name: str, d: int, epsilon: float) -> None:
    randomizer, rng = pure(name, d, epsilon), np.random.default_rng(1)
    directions = unit_vectors(rng, 500, d)
    axes = unit_vectors(rng, 20, d)
    points = [np.zeros(d), *(axes * rng.random((20, 1)) ** 0.2), *axes, *-axes]
    at = np.concatenate([directions, axes, -axes])
    densities = np.array([randomizer.density(x, at) for x in points])
    ratio = np.max(densities.max(axis=0) / densities.min(axis=0))
    assert math.exp(epsilon) * (1 - 1e-10) <= ratio <= math.exp(epsilon) * (1 + 1e-14)


@pytest.mark.parametrize("name", PURE)
@pytest.mark.parametrize("d", [2, 3])
@pytest.mark.parametrize("epsilon", [0.3, 3.0])
def test_density_is_one_with_the_stated_mean_and_moments(name: str, d: int, epsilon: float) -> None:
    randomizer = pure(name, d, epsilon)
    Z, weights = sphere_rule(d, randomizer.height)
    for r in (0.0, 0.4, 1.0, -0.7):
        x = np.zeros(d)
        x[0] = r
        f = weights * randomizer.density(x, Z)
        Y = randomizer.radius * Z
        assert f.sum() == pytest.approx(1.0, abs=1e-12)
        np.testing.assert_allclose(f @ Y, x, atol=1e-11 * randomizer.radius)
        second = (Y.T * f) @ Y
        np.testing.assert_allclose(second, randomizer.second_moment(x), atol=1e-12 * randomizer.squared_norm)
        np.testing.assert_allclose(
            second - np.outer(x, x), randomizer.covariance(x), atol=1e-12 * randomizer.squared_norm
        )


def test_gaussian_noise_is_the_least_for_the_diameter_of_the_ball() -> None:
    randomizer = built("gaussian", 5, 0.7)
    sigma = math.sqrt(randomizer.worst_direction)
    assert gaussian_delta(sigma / 2, 0.7) <= DELTA < gaussian_delta(sigma / 2 * (1 - 1e-9), 0.7)
    assert randomizer.privacy_loss() == 0.7
    x = np.array([0.1, 0.2, 0.0, -0.5, 0.3])
    np.testing.assert_allclose(randomizer.second_moment(x), sigma**2 * np.eye(5) + np.outer(x, x), rtol=1e-15)
    assert randomizer.subgaussian_proxy == randomizer.worst_direction
    assert randomizer.worst_second_moment == pytest.approx(sigma**2 + 1)
    assert randomizer.squared_norm == pytest.approx(5 * sigma**2 + 1)


# The best cap ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", [0.001, 0.5, 1.0, 4.0, 20.0])
def test_priv_unit_in_three_dimensions_has_closed_forms(epsilon: float) -> None:
    randomizer = PrivUnit(3, epsilon)
    assert randomizer.height == pytest.approx(math.tanh(epsilon / 4), rel=1e-13)
    assert randomizer.radius == pytest.approx(1 / math.tanh(epsilon / 4), rel=3e-12)
    Z = np.eye(3)[:1]
    f = randomizer.density(Z[0], np.concatenate([Z, -Z]))
    p = math.exp(epsilon / 2) / (1 + math.exp(epsilon / 2))  # the cap of mass 1 − p is drawn with probability p
    np.testing.assert_allclose(f, [p / (1 - p), (1 - p) / p], rtol=1e-11 + 4 * 2.0**-53 / (1 - p))  # λ is so coarse


@pytest.mark.parametrize("epsilon", [0.001, 1.0, 4.0, 20.0])
@pytest.mark.parametrize("d", [2, 5, 64, 10_000])
def test_no_cap_is_better_and_the_best_reaches_down_to_the_mean(d: int, epsilon: float) -> None:
    randomizer, kappa = PrivUnit(d, epsilon), math.expm1(epsilon)
    assert randomizer.height == pytest.approx(randomizer.mean, rel=1e-11)
    others = np.concatenate([np.linspace(0, 0.9999, 300), randomizer.height + np.array([-1e-3, 1e-3]) / math.sqrt(d)])
    means = [kappa * cap_moment(d, g) / (1 + kappa * cap_mass(d, g)) for g in others if 0 <= g < 1]
    assert max(means) <= randomizer.mean * (1 + 2e-12)
    half = registry.build("half-sphere", d, epsilon)
    assert randomizer.squared_norm <= half.squared_norm * (1 + 3e-12)


@pytest.mark.parametrize(("epsilon", "gain"), [(0.5, 1.04), (1.0, 1.16), (2.0, 1.67), (4.0, 3.81)])
def test_priv_unit_gains_on_the_half_sphere(epsilon: float, gain: float) -> None:
    half, best = (registry.build(name, 64, epsilon).squared_norm for name in PURE)
    assert half / best == pytest.approx(gain, abs=0.005)


def test_priv_unit_has_isotropic_covariance_at_unit_vectors() -> None:
    randomizer = PrivUnit(7, 1.3)
    x = unit_vectors(np.random.default_rng(0), 1, 7)[0]
    isotropic = (randomizer.squared_norm - 1) / 7 * np.eye(7)
    np.testing.assert_allclose(randomizer.covariance(x), isotropic, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("name", registry.names())
@pytest.mark.parametrize(("d", "epsilon"), [(1, 1.0), (2, 8.0), (3, 0.5), (20, 2.0)])
def test_worst_directions_are_those_of_the_worst_point(name: str, d: int, epsilon: float) -> None:
    randomizer = built(name, d, epsilon)
    points = np.linspace(0, 1, 201)[:, None] * np.eye(d)[-1]
    variances = [np.linalg.eigvalsh(randomizer.covariance(x))[-1] for x in points]
    moments = [np.linalg.eigvalsh(randomizer.second_moment(x))[-1] for x in points]
    scale = randomizer.worst_second_moment
    assert (
        randomizer.worst_direction * (1 - 1e-4) - 1e-5 <= max(variances) <= randomizer.worst_direction + 1e-12 * scale
    )
    assert max(moments) == pytest.approx(scale, rel=1e-12)
    assert max(np.trace(randomizer.second_moment(x)) for x in points) == pytest.approx(randomizer.squared_norm)


# Samples and sums ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", PURE)
def test_one_dimension_is_randomized_response(name: str) -> None:
    randomizer, c = pure(name, 1, 0.5), 1 / math.tanh(0.25)
    reports = randomizer.sample(np.ones((1000, 1)), np.random.default_rng(0))
    np.testing.assert_allclose(np.abs(reports), c, rtol=1e-11)
    assert randomizer.covariance(np.ones(1))[0, 0] == pytest.approx(c**2 - 1, rel=1e-11)
    assert (randomizer.worst_direction, randomizer.subgaussian_proxy) == pytest.approx((c**2, c**2), rel=1e-11)
    N = 10**12
    sums = randomizer.sample_sums(np.array([[1.0], [-0.4]]), np.array([N, N]), 400, np.random.default_rng(1))
    covariance = N * (randomizer.covariance(np.array([1.0])) + randomizer.covariance(np.array([-0.4])))
    assert mean_p_value(sums.T, np.array([0.6 * N]), covariance) >= FALSE_ALARM
    assert covariance_p_value(sums.T, np.array([0.6 * N]), covariance) >= FALSE_ALARM


@pytest.mark.parametrize("name", registry.names())
@pytest.mark.parametrize(
    ("x", "epsilon"), [([0.0] * 3, 1.0), ([0.6, 0.0, 0.0], 5.0), ([0.6, -0.8], 2.0), ([0.3] * 10, 3.0)]
)
def test_reports_have_the_exact_mean_and_covariance(name: str, x: list[float], epsilon: float) -> None:
    point, N = np.array(x), 100_000
    randomizer = built(name, len(x), epsilon)
    reports = randomizer.sample(np.tile(point, (N, 1)), np.random.default_rng(7)).T
    covariance = randomizer.covariance(point)
    assert mean_p_value(reports, point, covariance) >= FALSE_ALARM
    assert covariance_p_value(reports, point, covariance) >= FALSE_ALARM
    # The same tests see reports of another budget.
    other = randomizer.sample(np.tile(point, (N, 1)), np.random.default_rng(8)).T * 1.06
    assert min(mean_p_value(other, point, covariance), covariance_p_value(other, point, covariance)) < FALSE_ALARM


@pytest.mark.parametrize("name", PURE)
@pytest.mark.parametrize("r", [0.0, 0.5, 1.0])
def test_directions_have_the_stated_density(name: str, r: float) -> None:
    """The part along the axis, in classes of equal measure that respect the cap, against the density."""
    d, N = 9, 60_000
    randomizer, rng = pure(name, d, 2.5), np.random.default_rng(11)
    v = unit_vectors(rng, 1, d)[0]
    t = randomizer.sample(np.tile(r * v, (N, 1)), rng) @ v / randomizer.radius
    cuts = np.concatenate([[-1.0], np.linspace(-0.5, 0.5, 21), [randomizer.height, 1.0]])
    cuts = np.unique(cuts)
    below = np.array([cap_mass(d, -c) if c <= 0 else 1 - cap_mass(d, c) for c in cuts])
    middles = 0.5 * (cuts[1:] + cuts[:-1])
    side = unit_vectors(rng, 1, d)[0]
    side = (side - side @ v * v) / np.linalg.norm(side - side @ v * v)
    Z = middles[:, None] * v + np.sqrt(1 - middles**2)[:, None] * side
    expected = N * np.diff(below) * randomizer.density(r * v, Z)
    assert expected.sum() == pytest.approx(N, rel=1e-9)
    assert table_p_value(np.histogram(t, cuts)[0], expected) >= FALSE_ALARM


@pytest.mark.parametrize("name", registry.names())
@pytest.mark.parametrize("epsilon", [1.0, 5.0])
@pytest.mark.parametrize("d", [2, 5])
def test_sums_have_the_exact_mean_and_covariance(name: str, d: int, epsilon: float) -> None:
    randomizer, rng = built(name, d, epsilon), np.random.default_rng(4)
    types = unit_vectors(rng, 4, d) * np.array([[1.0], [0.5], [0.9], [0.0]])
    counts = np.array([3, 11, 40, 7])
    sums = randomizer.sample_sums(types, counts, 30_000, rng).T
    mean = counts @ types
    covariance = np.sum([N * randomizer.covariance(x) for N, x in zip(counts, types, strict=True)], axis=0)
    assert mean_p_value(sums, mean, covariance) >= FALSE_ALARM
    assert covariance_p_value(sums, mean, covariance) >= FALSE_ALARM
    # The same tests see reports that are a twelfth too long.
    assert covariance_p_value(13 / 12 * sums, mean, covariance) < FALSE_ALARM


@pytest.mark.parametrize("name", PURE)
@pytest.mark.parametrize("d", [2, 3])
def test_sums_are_distributed_as_sums_of_reports(name: str, d: int) -> None:
    """By the fourth moments along and across: of sums drawn at once, and of reports drawn one by one."""
    randomizer, rng, N = pure(name, d, 4.0), np.random.default_rng(6), 60_000
    x = np.eye(d)[:1]
    at_once = randomizer.sample_sums(x, np.array([4]), N, rng)
    reports = randomizer.sample(np.repeat(x, 4 * N, axis=0), rng)
    one_by_one = reports.reshape(N, 4, d).sum(axis=1)

    def score(first: FloatArray, second: FloatArray) -> float:
        gap = first.mean(axis=0) - second.mean(axis=0)
        return float(np.max(np.abs(gap) / np.sqrt((first.var(axis=0) + second.var(axis=0)) / N)))

    assert score(at_once**4, one_by_one**4) < 5.3
    assert score(at_once**3, one_by_one**3) < 5.3
    assert score((1.03 * at_once) ** 4, one_by_one**4) > 5.3


@pytest.mark.parametrize("name", PURE)
def test_the_sum_of_one_user_is_a_report(name: str) -> None:
    randomizer, x = pure(name, 6, 3.0), np.array([[0.0, 0.6, 0.0, 0.8, 0.0, 0.0]])
    sums = randomizer.sample_sums(x, np.array([1]), 50_000, np.random.default_rng(0))
    np.testing.assert_allclose(np.linalg.norm(sums, axis=1), randomizer.radius, rtol=1e-12)
    loyal = int(np.sum(sums @ x[0] >= randomizer.radius * randomizer.height))
    q = cap_mass(6, randomizer.height)
    p = randomizer.loyalty + (1 - randomizer.loyalty) * q
    assert binomial_p_value(loyal, 50_000, p) > FALSE_ALARM
    assert binomial_p_value(loyal, 50_000, p + 0.02) < FALSE_ALARM


@pytest.mark.parametrize("name", PURE)
def test_more_users_than_can_be_simulated_are_refused_with_the_reason(name: str) -> None:
    randomizer = pure(name, 64, 1.0)
    assert not randomizer.simulation_refusal(64, 10**8)
    assert "ask for fewer users" in randomizer.simulation_refusal(64, 10**9)
    with pytest.raises(BadValue, match=r"users = 1000000000: .*above the limit of 1e\+09"):
        randomizer.sample_sums(np.eye(64)[:1], np.array([10**9]), 1, np.random.default_rng(0))


def test_any_number_of_gaussian_reports_is_one_gaussian() -> None:
    randomizer = built("gaussian", 3, 1.0)
    assert not randomizer.simulation_refusal(3, 2**60)
    counts = np.array([10**15, 2 * 10**15, 0])
    sums = randomizer.sample_sums(np.eye(3), counts, 5000, np.random.default_rng(0)).T
    covariance = 3e15 * randomizer.covariance(np.zeros(3))
    assert mean_p_value(sums, counts.astype(float), covariance) >= FALSE_ALARM
    assert covariance_p_value(sums, counts.astype(float), covariance) >= FALSE_ALARM


@pytest.mark.parametrize("name", registry.names())
def test_equal_streams_give_equal_reports(name: str) -> None:
    randomizer = built(name, 5, 1.0)
    x = unit_vectors(np.random.default_rng(1), 50, 5)
    first, second = (randomizer.sample(x, np.random.default_rng(9)) for _ in range(2))
    np.testing.assert_array_equal(first, second)


# Subgaussian proxies ---------------------------------------------------------------------------------------------


def curvatures(randomizer: CapRandomizer, c: float, z: FloatArray) -> FloatArray:
    """2F(z, c, r)/z² of ``subgaussian.py`` for 101 values of r, by integration over the sphere (d = 2 or 3)."""
    Z, weights = sphere_rule(randomizer.dimension, randomizer.height)
    u = np.zeros(randomizer.dimension)
    u[0], u[1] = c, math.sqrt(1 - c * c)
    tilt = np.exp(np.outer(z, Z @ u)) * weights
    cap = Z[:, 0] >= randomizer.height
    free, loyal = tilt.sum(axis=1), tilt[:, cap].sum(axis=1) / weights[cap].sum()
    r = np.linspace(0, 1, 101)[:, None]
    F = np.log((1 - randomizer.loyalty * r) * free + randomizer.loyalty * r * loyal) - randomizer.mean * z * r * c
    return np.asarray(2 * F / z**2)


@pytest.mark.parametrize("name", PURE)
@pytest.mark.parametrize(
    ("d", "epsilon"), every_pair(2, [(2, 0.5), (2, 2.0), (2, 10.0), (3, 1.0), (3, 3.0), (3, 12.0)])
)
def test_no_point_and_no_direction_passes_the_proxy_and_the_axis_attains_it(name: str, d: int, epsilon: float) -> None:
    randomizer = pure(name, d, epsilon)
    w = randomizer.subgaussian_proxy * randomizer.mean**2
    z = np.geomspace(0.02, 8 * d, 250)
    found = [curvatures(randomizer, c, z).max() for c in np.linspace(-1, 1, 41)]
    assert max(found) <= w * (1 + 1e-9)
    assert max(found[0], found[-1]) >= w * (1 - 2e-3)


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize(("d", "height"), [(2, 0.3), (3, 0.0), (32, 0.2), (1000, 0.05)])
def test_the_series_of_small_tilts_has_the_values_of_the_integrals(d: int, height: float, sign: float) -> None:
    z = sign * np.geomspace(1e-7, 2.0, 300)
    rule = subgaussian._quadrature(2.0, d, height)
    for loyalty, mean in ((0.5, 0.2), (0.9, 0.01)):
        by_series = subgaussian._small(z, rule, loyalty, mean) / z**2
        assert by_series == pytest.approx(subgaussian._near(z, rule, loyalty, mean) / z**2, rel=1e-12)


@pytest.mark.parametrize("name", PURE)
@pytest.mark.parametrize(("d", "epsilon"), [(2, 1.0), (64, 0.001), (64, 1.8), (64, 20.0), (10_000, 2.0)])
def test_the_proxy_is_at_least_every_variance_and_no_more_than_hoeffding(name: str, d: int, epsilon: float) -> None:
    randomizer = pure(name, d, epsilon)
    assert randomizer.worst_direction < randomizer.subgaussian_proxy
    assert randomizer.subgaussian_proxy <= randomizer.squared_norm * (1 + 2e-6)


def limit_curvature(height: float, loyalty: FloatArray) -> float:
    """The proxy of √d·Z in the limit of large d: g of density φ(g)(1 − λ + λ1{g ≥ a}/q), λ from 0 to the greatest."""
    q = ndtr(-height)
    mean = math.exp(-0.5 * height**2) / math.sqrt(2 * math.pi) / q
    z = np.concatenate([-np.geomspace(0.01, 30, 4000), np.geomspace(0.01, 30, 4000)])
    L = loyalty[:, None]
    with np.errstate(divide="ignore"):
        M = np.log(1 + L * (ndtr(z - height) / q - 1)) - L * mean * z
    return 1 + float(np.max(2 * M / z**2))


@pytest.mark.parametrize("name", PURE)
@pytest.mark.parametrize("epsilon", every(3, [0.3, 1.0, 1.8, 4.0]))
def test_the_proxy_tends_to_its_gaussian_limit(name: str, epsilon: float) -> None:
    d = 10_000
    randomizer = pure(name, d, epsilon)
    found = randomizer.subgaussian_proxy * randomizer.mean**2 * d
    limit = limit_curvature(randomizer.height * math.sqrt(d), np.linspace(0, randomizer.loyalty, 400)[1:])
    assert found == pytest.approx(limit, rel=2e-3)
    if name == "half-sphere" and epsilon >= 1.8:
        assert found == pytest.approx(1.13, abs=0.003)


def test_the_proxy_against_plain_integration_in_the_middle() -> None:
    """d = 12, PrivUnit: F along the axis, both ways, by adaptive quadrature."""
    randomizer = PrivUnit(12, 3.0)
    g, lam, m = randomizer.height, randomizer.loyalty, randomizer.mean
    whole = quad(lambda t: (1 - t * t) ** 4.5, -1, 1)[0]
    cap = quad(lambda t: (1 - t * t) ** 4.5, g, 1)[0]
    worst = 0.0
    for z in np.concatenate([-np.geomspace(0.1, 60, 100), np.geomspace(0.1, 60, 100)]):
        free = quad(lambda t, z=z: math.exp(z * t) * (1 - t * t) ** 4.5, -1, 1)[0] / whole
        loyal = quad(lambda t, z=z: math.exp(z * t) * (1 - t * t) ** 4.5, g, 1)[0] / cap
        r = np.linspace(0, 1, 201)
        worst = max(worst, float(np.max(np.log((1 - lam * r) * free + lam * r * loyal) - m * z * r)) * 2 / z**2)
    w = randomizer.subgaussian_proxy * m**2
    assert w * (1 - 1e-3) <= worst <= w
