"""Directions of K-norm noise: exact laws against each other and against rejection, and the chain against them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import comb
from scipy.stats import kstest

from factormech.arrays import FloatArray
from factormech.errors import Unavailable
from factormech.mechanisms.pure import bouncy
from factormech.mechanisms.pure.bodies import Body, body_of
from factormech.mechanisms.pure.bouncy import (
    SMALLEST_EFFECTIVE,
    ChainDirections,
    Diagnosis,
    Gauge,
    Sample,
    effective_size,
    r_hat,
    radial_p_value,
    stein_p_value,
)
from factormech.mechanisms.pure.directions import (
    ball,
    difference_vertices,
    directions_of,
    positive_counts,
    simplex_second_moment,
    simplex_weights,
    triangulated,
)
from tests.central.pure.bodies import BODIES, corners, hadamard, signs
from tests.statistics import FALSE_ALARM, covariance_p_value, mean_p_value, table_p_value
from tests.tiers import every

pytestmark = pytest.mark.heavy

NAMES = sorted(BODIES)
EXACT = [name for name in NAMES if BODIES[name][2] != "chain"]


def draws_of(body: Body, trials: int, seed: int = 0) -> Sample:
    sample = directions_of(body).sample(np.random.default_rng(seed), trials)
    assert isinstance(sample, Sample)
    return sample


def rejected(body: Body, trials: int, seed: int = 9) -> FloatArray:
    """Uniform points of B: those of a bounding box of gauge at most 1."""
    half = body.support(np.eye(body.dimension))
    x = np.random.default_rng(seed).uniform(-half, half, (trials, body.dimension))
    return x[Gauge(body).of_coordinates(x) <= 1.0]


# Exact laws -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_each_body_gets_its_law_on_its_boundary(name: str) -> None:
    Q, _, law = BODIES[name]
    body = body_of(Q)
    assert directions_of(body).name == law
    D = draws_of(body, 60).directions[:60]
    assert Gauge(body).of_coordinates(D) == pytest.approx(np.ones(len(D)), abs=1e-9)


@pytest.mark.parametrize("name", [name for name in EXACT if BODIES[name][1] > 1])
def test_draws_have_the_stated_second_moment(name: str) -> None:
    body = body_of(BODIES[name][0])
    D = draws_of(body, 20_000).directions
    stated = directions_of(body).second_moment
    assert stated is not None
    assert mean_p_value(D.T, np.zeros(body.dimension), stated) > FALSE_ALARM
    assert covariance_p_value(D.T, np.zeros(body.dimension), stated) > FALSE_ALARM


@pytest.mark.parametrize("name", [name for name in EXACT if 1 < BODIES[name][1] <= 5])
def test_closed_forms_are_the_triangulation(name: str) -> None:
    body = body_of(BODIES[name][0])
    cut = triangulated(difference_vertices(body)).second_moment
    assert directions_of(body).second_moment == pytest.approx(cut, abs=1e-10)


@pytest.mark.parametrize("name", ["thresholds", "lattice", "dependent", "box"])
def test_second_moments_are_those_of_uniform_points(name: str) -> None:
    """E U Uᵀ = d/(d + 2)·E D Dᵀ, as ‖U‖_B ~ Beta(d, 1); the points by rejection with the gauge."""
    body = body_of(BODIES[name][0])
    d, U = body.dimension, rejected(body, 20_000)
    assert len(U) > 500
    stated = directions_of(body).second_moment
    assert stated is not None
    assert covariance_p_value(U.T, np.zeros(d), d / (d + 2) * stated) > FALSE_ALARM
    assert kstest(Gauge(body).of_coordinates(U) ** d, "uniform").pvalue > FALSE_ALARM


def test_triangulated_moment_of_a_hexagon() -> None:
    """K a triangle: K − K is a hexagon of side s, whose uniform points have E‖U‖² = 5s²/12; times 4/2 for D."""
    body = body_of(np.array([[0.0, 1.0, 0.5], [0.0, 0.0, math.sqrt(0.75)]]))
    F = body.frame
    for law in (triangulated(difference_vertices(body)), directions_of(body)):
        assert law.second_moment is not None
        assert F @ law.second_moment @ F.T == pytest.approx(5 / 12 * np.eye(2), abs=1e-12)


def test_the_law_of_positive_entries() -> None:
    N = 9
    expected = np.array([comb(N, j) * (comb(N - 2, j - 1) if j else 0) for j in range(N + 1)])
    assert positive_counts(N) == pytest.approx(expected / expected.sum())
    u = simplex_weights(np.random.default_rng(0), N, 20_000)
    assert np.abs(u.sum(axis=1)).max() < 1e-14
    assert np.abs(u).sum(axis=1) == pytest.approx(np.full(20_000, 2.0))
    counts = np.bincount((u > 0).sum(axis=1), minlength=N + 1).astype(float)
    assert table_p_value(counts, 20_000 * expected / expected.sum()) > FALSE_ALARM


@pytest.mark.parametrize("size", [2, 3, 64, 65536])
def test_full_parity_in_closed_form(size: int) -> None:
    """E‖εu‖² = N(N−1)E_j[2/(j+1) + 2/(N−j+1)]; at N = 2, u = (a, −a) with a Laplace: 4."""
    value = size * (size - 1) * simplex_second_moment(size)
    if size == 2:
        assert value == pytest.approx(4.0)
    elif size > 3:  # half of the entries of either sign, j ≈ N/2: N²·2·2/(N/2)
        assert value == pytest.approx(8 * size, rel=8 / size)
    rng = np.random.default_rng(1)
    u = simplex_weights(rng, size, 40 if size > 1000 else 20_000)
    squares = size * (size - 1) * (u**2).sum(axis=1)
    assert abs(squares.mean() - value) <= 5.0 * squares.std() / math.sqrt(len(u)) + 1e-9


def test_parity_is_the_histogram_rotated() -> None:
    """The Hadamard matrix is √N times a rotation: trace E Z Zᵀ is N times the histogram's."""
    traces = []
    for Q in (hadamard(16), np.eye(16)):
        body = body_of(Q)
        moment = directions_of(body).second_moment
        assert moment is not None
        traces.append(np.trace(body.frame @ moment @ body.frame.T))
    assert traces[0] == pytest.approx(16 * traces[1])


def test_a_ball_is_round() -> None:
    law = ball(4, 3.0)
    D = law.sample(np.random.default_rng(0), 20_000).directions
    assert np.linalg.norm(D, axis=1) == pytest.approx(np.full(20_000, 3.0))
    assert covariance_p_value(D.T, np.zeros(4), 9 / 4 * np.eye(4)) > FALSE_ALARM


# The chain --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("radial", every(2, [True, False]))
@pytest.mark.parametrize("name", every(2, [name for name in NAMES if BODIES[name][1] > 1]))
def test_the_chain_agrees_with_the_exact_law(name: str, radial: bool) -> None:
    """Every coordinate's square and product, at the chain's own effective size; and a law that it could miss."""
    body = body_of(BODIES[name][0])
    sample = ChainDirections(body, interval=2.0, radial=radial).sample(np.random.default_rng(4), 16_000)
    assert isinstance(sample, Sample), sample
    assert sample.diagnosis is not None
    assert sample.diagnosis.law > 1e-5
    exact = directions_of(body).second_moment
    if exact is None:
        return
    for i in range(body.dimension):
        for j in range(i + 1):
            found = sample.mean(lambda D, i=i, j=j: D[..., i] * D[..., j], FALSE_ALARM / 30)
            assert found.low <= exact[i, j] <= found.high, (i, j)


def test_the_chain_of_a_long_thin_body() -> None:
    Q = corners(np.array([1.0, 1.0, 1.0, 300.0]))
    body = body_of(Q)
    sample = ChainDirections(body).sample(np.random.default_rng(0), 8000)
    assert isinstance(sample, Sample)
    exact = directions_of(body).second_moment
    assert exact is not None
    for i in range(4):
        row = body.frame[i]
        found = sample.mean(lambda D, row=row: (D @ row) ** 2)
        assert found.low <= row @ exact @ row <= found.high


def test_the_chain_of_many_columns_reports_and_mixes() -> None:
    body = body_of(signs(12, 100))
    sample = ChainDirections(body).sample(np.random.default_rng(0), 4000)
    assert isinstance(sample, Sample)
    told = sample.diagnosis
    assert told is not None
    assert told.fault is None
    assert told.effective > 400
    assert told.walls > 10_000
    D = sample.directions[::40]
    assert Gauge(body).of_coordinates(D) == pytest.approx(np.ones(len(D)), abs=1e-9)


def test_the_chain_is_the_same_for_the_same_seed() -> None:
    body = body_of(signs(8, 40))
    first, second = (ChainDirections(body).sample(np.random.default_rng(5), 2000) for _ in range(2))
    assert isinstance(first, Sample)
    assert isinstance(second, Sample)
    assert np.array_equal(first.chains, second.chains)


def test_chains_that_have_not_mixed_are_refused() -> None:
    body = body_of(signs(12, 100))
    lazy = ChainDirections(body, interval=0.01).sample(np.random.default_rng(0), 2000)
    assert isinstance(lazy, Unavailable)
    assert "have not mixed" in lazy.reason


def test_chains_worth_a_little_too_little_are_run_with_more_time_between_places() -> None:
    chain = ChainDirections(body_of(signs(8, 40)), interval=0.4)
    first = chain._tried(np.random.default_rng(0), chain._size * np.eye(8), bouncy.chain_length(2000), 1.0)
    assert isinstance(first, Sample)
    assert first.diagnosis is not None
    assert 100.0 < first.diagnosis.effective < SMALLEST_EFFECTIVE
    sample = chain.sample(np.random.default_rng(0), 2000)
    assert isinstance(sample, Sample)
    assert sample.diagnosis is not None
    assert sample.diagnosis.fault is None
    assert sample.chains.shape == first.chains.shape


@pytest.mark.parametrize(
    ("diagnoses", "times"),
    [
        ([(1000.0, 1.0)], [1.0]),
        ([(1000.0, 1.03), (1000.0, 1.0)], [1.0, 2.25]),
        ([(200.0, 1.0), (1000.0, 1.0)], [1.0, 3.0]),
        ([(200.0, 1.06), (1000.0, 1.0)], [1.0, 4.5]),
        ([(200.0, 1.0), (320.0, 1.0), (1000.0, 1.0)], [1.0, 3.0, 5.625]),
        ([(1000.0, 1.2), (1000.0, 1.0)], [1.0, 6.0]),
        ([(1000.0, 1.2), (1000.0, 1.2)], [1.0, 6.0]),
        ([(200.0, 1.0), (200.0, 1.0), (390.0, 1.0)], [1.0, 3.0, 9.0]),
    ],
)
def test_chains_are_run_again_by_what_they_lack(
    diagnoses: list[tuple[float, float]], times: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half as much again as effective size, or agreement of the chains, asks for; those that stay poor are refused."""
    taken, round_ones = list[float](), list[bool]()

    def tried(self: ChainDirections, rng: np.random.Generator, stretch: FloatArray, draws: int, time: float) -> Sample:
        effective, r_hat = diagnoses[len(taken)]
        taken.append(time)
        round_ones.append(bool(np.all(stretch == stretch[0, 0] * np.eye(8))))
        return Sample(rng.standard_normal((4, draws, 8)), Diagnosis(effective, r_hat, 0.5, 1e-12, 1, 1))

    monkeypatch.setattr(ChainDirections, "_tried", tried)
    found = ChainDirections(body_of(signs(8, 40))).sample(np.random.default_rng(0), 2000)
    assert taken == pytest.approx(times)
    assert round_ones == [True, False, False][: len(times)]
    good = diagnoses[-1][0] >= SMALLEST_EFFECTIVE and diagnoses[-1][1] < 1.02
    assert isinstance(found, Sample if good else Unavailable)


def test_chains_teach_half_of_the_shape_of_their_body() -> None:
    """From directions of known second moment M: S Sᵀ is half d²M and half the round matrix of the same trace."""
    signed = np.vstack([np.diag([3.0, 2.0, 1.0]), -np.diag([3.0, 2.0, 1.0])])
    S = bouncy.rounder(signed.reshape(2, 3, 3))
    moment = 9.0 * np.diag([9.0, 4.0, 1.0]) / 3.0
    half = 0.5 * (moment + np.trace(moment) / 3.0 * np.eye(3))
    np.testing.assert_allclose(S @ S.T, half, atol=1e-12)


def test_a_body_that_its_frame_leaves_long_is_made_round_by_its_first_chains() -> None:
    """Two columns far out, and 400 close to a subspace: the cloud of columns is round, the body is not."""
    rng = np.random.default_rng(1)
    Q = rng.standard_normal((9, 400)) * np.array([1e-3, *[1.0] * 8])[:, None]
    Q = np.column_stack([Q, 50.0 * np.eye(9)[0], -50.0 * np.eye(9)[0]])
    sample = ChainDirections(body_of(Q)).sample(np.random.default_rng(0), 2000)
    assert isinstance(sample, Sample)
    assert sample.diagnosis is not None
    assert sample.diagnosis.fault is None


def test_a_body_of_too_many_dimensions_is_refused() -> None:
    wide = ChainDirections(body_of(signs(bouncy.LARGEST_DIMENSION + 1, 200))).sample(np.random.default_rng(0), 10)
    assert isinstance(wide, Unavailable)
    assert f"at most {bouncy.LARGEST_DIMENSION} dimensions" in wide.reason


@pytest.mark.slow
@pytest.mark.heavy
def test_the_chain_has_its_law_in_the_most_dimensions() -> None:
    """A cross-polytope, whose lengths are known: E‖D‖² = 4·2d/(d(d + 1)), as B is twice the hull of ±e_i."""
    d = bouncy.LARGEST_DIMENSION
    body = body_of(np.hstack([np.eye(d), -np.eye(d)]))
    sample = ChainDirections(body).sample(np.random.default_rng(0), 400)
    assert isinstance(sample, Sample), sample
    assert sample.diagnosis is not None
    assert sample.diagnosis.law > 1e-5
    length = sample.mean(lambda D: ((D @ body.frame.T) ** 2).sum(axis=-1), FALSE_ALARM)
    assert length.low <= 8.0 / (d + 1) <= length.high
    assert length.high - length.low < 0.05 * length.value


# Diagnostics ------------------------------------------------------------------------------------------------------


def test_effective_size_of_an_autoregression() -> None:
    """x' = ρx + noise: n(1 − ρ)/(1 + ρ) independent draws."""
    rng = np.random.default_rng(0)
    for rho in (0.0, 0.5, 0.9):
        x = np.zeros((4, 20_000))
        noise = rng.standard_normal(x.shape)
        for i in range(1, x.shape[1]):
            x[:, i] = rho * x[:, i - 1] + noise[:, i]
        assert effective_size(x) == pytest.approx(80_000 * (1 - rho) / (1 + rho), rel=0.12)
        assert r_hat(x) < 1.005


def test_r_hat_sees_chains_apart_and_chains_that_drift() -> None:
    rng = np.random.default_rng(0)
    x = rng.standard_normal((4, 1000))
    assert r_hat(x + np.arange(4)[:, None]) > 1.5
    assert r_hat(x + np.linspace(0, 3, 1000)) > 1.2
    assert effective_size(x + np.arange(4)[:, None]) < 10


def test_the_radial_check_sees_a_wrong_dimension() -> None:
    rng = np.random.default_rng(0)
    assert radial_p_value(rng.standard_gamma(10.0, (4, 5000)), 10) > FALSE_ALARM
    assert radial_p_value(rng.standard_gamma(11.0, (4, 5000)), 10) < FALSE_ALARM
    assert radial_p_value(10 + math.sqrt(30) * rng.uniform(-1, 1, (4, 5000)), 10) < FALSE_ALARM


@pytest.mark.slow
def test_stein_identities_pass_exact_directions_in_many_dimensions() -> None:
    """Of cross-polytopes, whose directions have long tails: p-values are no smaller than they say."""
    rng = np.random.default_rng(0)
    found = []
    for _ in range(60):
        points = rng.laplace(size=(4, 500, 64))
        D = points / np.abs(points).sum(axis=-1, keepdims=True)
        found.append(stein_p_value(D, np.sign(D)))
    assert np.mean(np.array(found) < 0.05) < 0.2
    assert min(found) > 1e-4


def test_stein_identities_see_a_wrong_law_of_directions() -> None:
    """Of a cube: uniform points pass; directions of the sphere, whose gauge has the same law, do not."""
    rng = np.random.default_rng(0)
    for points, right in ((rng.uniform(-1, 1, (4, 4000, 5)), True), (rng.standard_normal((4, 4000, 5)), False)):
        D = points / np.abs(points).max(axis=-1, keepdims=True)
        normals = D * (np.abs(D) == 1.0)
        assert (stein_p_value(D, normals) > FALSE_ALARM) == right
    # A body whose facets are met too often in one direction fails the first identity.
    D = rng.uniform(-1, 1, (4, 4000, 5)) * np.array([1.1, 1, 1, 1, 1])
    D /= np.abs(D).max(axis=-1, keepdims=True)
    assert stein_p_value(D, D * (np.abs(D) == 1.0)) < FALSE_ALARM


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"r_hat": 1.03}, "R̂ = 1.030"),
        ({"r_hat": math.nan}, "have not mixed"),
        ({"effective": 399.0}, "399 independent draws"),
        ({"law": 1e-9}, "does not follow its law"),
        ({"residual": 1e-3}, "rounding"),
    ],
)
def test_every_fault_is_named(change: dict[str, float], message: str) -> None:
    good = {"effective": 1000.0, "r_hat": 1.0, "law": 0.5, "residual": 1e-12, "walls": 1, "bounces": 1}
    assert Diagnosis(**good).fault is None  # type: ignore[arg-type]
    assert message in str(Diagnosis(**(good | change)).fault)  # type: ignore[arg-type]


def test_a_body_that_qhull_cannot_cut_has_a_chain(monkeypatch: pytest.MonkeyPatch) -> None:
    from scipy import spatial

    from factormech.mechanisms.pure.bodies import body_of

    def fails(points: object) -> object:
        raise spatial.QhullError("a wide merge error has occurred")

    body = body_of(BODIES["random signs"][0])
    assert directions_of(body).name == "triangulation"
    monkeypatch.setattr(spatial, "ConvexHull", fails)
    assert directions_of(body).name == "chain"
