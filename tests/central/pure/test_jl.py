"""Projection, JL release, its coarse form: identities on every draw, laws of the noise, general solvers, bad input."""

from __future__ import annotations

import math

import cvxpy as cp
import numpy as np
import pytest

from factormech.errors import BadValue, Unavailable
from factormech.mechanisms.central.projection import Hull
from factormech.mechanisms.pure import errors as dist
from factormech.mechanisms.pure.bodies import (
    body_of,
    gaussian_width,
    jl_is_better_for,
)
from factormech.mechanisms.pure.bouncy import Gauge
from factormech.mechanisms.pure.errors import candidates, errors_on, mean_error, spread, worst_found
from factormech.mechanisms.pure.jl import (
    CENTRING,
    MATRICES,
    TIES,
    CoarseJLRelease,
    JLRelease,
    Lift,
    balanced_rows,
    chosen_release,
    greedy_net,
    jl_matrix,
    tuned_rows,
)
from factormech.mechanisms.pure.knorm import knorm_noise
from factormech.mechanisms.pure.mechanism import (
    NoisyRelease,
    ShapedNoise,
    concentrated_law,
    gaussian_law,
    pure_law,
    shaped,
)
from factormech.privacy.gaussian import gaussian_noise_multiplier
from tests.oracles import largest_loss
from tests.statistics import FALSE_ALARM, covariance_p_value, mean_p_value

pytestmark = pytest.mark.heavy


def signs(k: int, N: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).choice([-1.0, 1.0], (k, N))


def counts(N: int, n: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).multinomial(n, np.random.default_rng(seed).dirichlet(np.full(N, 0.2)))


# Projection -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("law", ["k-norm", "l2-ball", "laplace"])
def test_projection_brings_every_draw_nearer_and_keeps_the_bound(law: str) -> None:
    Q, x = signs(4, 12, 1), counts(12, 5)
    truth = (Q @ x / 5)[:, None]
    raw = NoisyRelease.of(Q, pure_law(law, 1.0), projected=False).draw(np.random.default_rng(1), 300)
    near = NoisyRelease.of(Q, pure_law(law, 1.0)).draw(np.random.default_rng(1), 300)
    before, after = raw.answers(x) - truth, near.answers(x) - truth
    np.testing.assert_array_equal(raw.noise, near.noise)
    np.testing.assert_allclose(before, raw.noise.T / 5, atol=1e-12)
    assert np.all(np.linalg.norm(after, axis=0) <= np.linalg.norm(before, axis=0) * (1 + 1e-12))
    assert np.linalg.norm(after, axis=0).mean() < 0.8 * np.linalg.norm(before, axis=0).mean()
    # ‖Ŷ − Q(X)‖² ≤ ⟨Z/n, Ŷ − Q(X)⟩ ≤ max_x ⟨Z, Q_x − Q(X)⟩/n.
    inner = (near.noise.T / 5 * after).sum(axis=0)
    assert np.all((after**2).sum(axis=0) <= inner + 1e-12)
    assert np.all(inner <= (near.noise @ (Q - truth)).max(axis=1) / 5 + 1e-12)
    # Without the projection nothing is biased.
    covariance = np.cov(before)
    assert mean_p_value(before, np.zeros(4), covariance) > FALSE_ALARM


def test_projection_is_that_of_a_general_solver() -> None:
    Q, x = signs(6, 20), counts(20, 10)
    drawn = NoisyRelease.of(Q, pure_law("l2-ball", 1.0)).draw(np.random.default_rng(0), 3)
    for Z, found in zip(drawn.noise, drawn.answers(x).T, strict=True):
        weights = cp.Variable(20, nonneg=True)
        goal = Q @ x / 10 + Z / 10
        cp.Problem(cp.Minimize(cp.sum_squares(Q @ weights - goal)), [cp.sum(weights) == 1]).solve(
            solver=cp.CLARABEL, tol_gap_abs=1e-12, tol_gap_rel=1e-12, tol_feas=1e-12
        )
        np.testing.assert_allclose(found, Q @ weights.value, atol=1e-6)


def test_errors_fall_with_users() -> None:
    Q = signs(8, 24)
    law = pure_law("l2-ball", 1.0)
    for release in (NoisyRelease.of(Q, law), JLRelease.of(Q, law, 6)):
        errors = errors_on(
            release, [counts(24, n) for n in (8, 80, 800)], np.random.default_rng(0), matrices=6, draws=40
        )
        means = errors.mean(axis=(1, 2))
        # Raw noise falls tenfold; the projected kind by less where it is cut off, JL down to what T loses.
        assert means[0] > 1.3 * means[1] > 1.3 * means[2]
        one = mean_error(errors[1])
        assert one.low < one.value < one.high
    assert mean_error(errors[0, :1]).high == math.inf


# The noise of a sketch --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("matrix", MATRICES)
def test_matrices_are_isotropic(matrix: str) -> None:
    rng = np.random.default_rng(0)
    drawn = np.array([jl_matrix(3, 5, matrix, rng) for _ in range(6000)])
    gram = np.einsum("til,tim->tlm", drawn, drawn).reshape(len(drawn), -1).T
    spread_ = np.maximum(gram.var(axis=1), 1e-30)
    assert mean_p_value(gram, np.eye(5).ravel(), np.diag(np.where(spread_ > 1e-20, spread_, 0.0))) > FALSE_ALARM
    if matrix == "signs":
        np.testing.assert_allclose(np.abs(drawn), 3**-0.5)


@pytest.mark.parametrize("matrix", MATRICES)
def test_the_noise_is_that_of_the_projected_body(matrix: str) -> None:
    """Given T, Z has the second moment of K-norm noise of TK − TK, which a triangulation knows exactly."""
    Q = signs(7, 12)
    release = JLRelease.of(Q, pure_law("k-norm", 0.5), 3, matrix=matrix)
    drawn = release.draw(np.random.default_rng(3), 40000)
    T = drawn.lift.matrix
    noise = knorm_noise(T @ Q, 0.5)
    d, inside = noise.dimension, noise.directions.second_moment
    covariance = d * (d + 1) / 0.25 * noise.frame @ inside @ noise.frame.T
    assert covariance_p_value(drawn.noise.T, np.zeros(3), covariance) > FALSE_ALARM
    assert mean_p_value(drawn.noise.T, np.zeros(3), covariance) > FALSE_ALARM
    # And that noise hides every exchange of one person for another: the loss is at most ε, and attained.
    shifts = (T @ (Q[:, :, None] - Q[:, None, :]).reshape(7, -1)).T
    shifts = shifts[np.linalg.norm(shifts, axis=1) > 1e-9]
    gauge = Gauge(body_of(T @ Q))
    edge = shifts[np.argmax(gauge.of(shifts))]
    places = np.vstack([drawn.noise[:200], [-s * edge for s in (1.0, 2.0, 5.0)]])
    loss = largest_loss(gauge, places, shifts[:60])
    assert loss <= 1 + 1e-9
    assert largest_loss(gauge, places[-3:], edge[None]) == pytest.approx(1.0, rel=1e-9)


def test_gaussian_laws_are_calibrated_to_the_diameter() -> None:
    Q = signs(4, 9)
    diameter = max(np.linalg.norm(a - b) for a in Q.T for b in Q.T)
    noise = gaussian_law(0.7, 1e-5).of(Q)
    assert noise.sigma == pytest.approx(diameter * gaussian_noise_multiplier(0.7, 1e-5), rel=1e-9)
    noise = concentrated_law(0.3).of(Q)
    # ρ = (Δ/σ)²/2 is what a Gaussian costs.
    assert diameter**2 / (2 * noise.sigma**2) == pytest.approx(0.3, rel=1e-9)
    assert diameter**2 / (2 * noise.sigma**2) <= 0.3
    guarantee = JLRelease.of(Q, concentrated_law(0.3), 2).guarantee
    assert (guarantee.rho, guarantee.epsilon) == (0.3, math.inf)
    guarantee = JLRelease.of(Q, gaussian_law(0.7, 1e-5), 2).guarantee
    assert (guarantee.epsilon, guarantee.delta, guarantee.rho) == (0.7, 1e-5, None)
    assert NoisyRelease.of(Q, pure_law("laplace", 0.7)).guarantee.delta == 0.0
    sample = noise.draw(np.random.default_rng(0), 20000)
    assert covariance_p_value(sample.T, np.zeros(4), noise.sigma**2 * np.eye(4)) > FALSE_ALARM


# JL release -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize("rows", [3, 9])
def test_the_lift_minimises_and_the_projection_lemma_holds(ties: str, rows: int) -> None:
    Q, x = signs(12, 40, 1), counts(40, 20)
    drawn = JLRelease.of(Q, pure_law("l2-ball", 1.0), rows, ties=ties).draw(np.random.default_rng(2), 50)
    T, Y = drawn.lift.matrix, drawn.sketches(x)
    np.testing.assert_allclose(Y, T @ Q @ x / 20 + drawn.noise / 20, atol=1e-12)
    answers = drawn.answers(x)
    exact = Hull(T @ Q).project_all(Y).points
    radius = np.linalg.norm(Q - np.unique(Q, axis=1).mean(axis=1, keepdims=True), axis=0).max()
    allowed = 1e-9 if ties == "corral" else CENTRING * radius
    assert np.linalg.norm(T @ answers - exact.T, axis=0).max() <= allowed
    moved = np.linalg.norm(T @ answers - (T @ Q @ x / 20)[:, None], axis=0)
    assert np.all(moved <= np.linalg.norm(drawn.noise, axis=1) / 20 + allowed)
    weights = cp.Variable(40, nonneg=True)
    problem = cp.Problem(cp.Minimize(cp.norm(T @ Q @ weights - Y[0])), [cp.sum(weights) == 1])
    problem.solve(solver=cp.CLARABEL)
    assert np.linalg.norm(T @ answers[:, 0] - Y[0]) <= problem.value + allowed + 1e-6


def test_ties_near_the_centre() -> None:
    """Inside TK every y with Ty = Ỹ is a minimiser: ``centre`` finds the one nearest to c, ``corral`` a far one."""
    Q = signs(12, 40, 1)
    c = np.unique(Q, axis=1).mean(axis=1)
    T = jl_matrix(2, 12, "gaussian", np.random.default_rng(0))
    Y = (T @ Q).mean(axis=1)[None] * 1.1 + 0.02
    near, far = (Lift(np.unique(Q, axis=1), T, ties).of(Y)[0] for ties in ("centre", "corral"))
    y = cp.Variable(40, nonneg=True)
    problem = cp.Problem(cp.Minimize(cp.sum_squares(Q @ y - c)), [cp.sum(y) == 1, T @ Q @ y == Y[0]])
    problem.solve(solver=cp.CLARABEL)
    assert np.linalg.norm(near - c) == pytest.approx(math.sqrt(problem.value), rel=1e-3)
    assert np.linalg.norm(far - c) > 2 * np.linalg.norm(near - c)


def test_the_identity_for_a_matrix_is_projection() -> None:
    Q = np.unique(signs(6, 20), axis=1)
    Y = 2 * np.random.default_rng(0).standard_normal((5, 6))
    np.testing.assert_allclose(Lift(Q, np.eye(6)).of(Y), Hull(Q).project_all(Y).points, atol=1e-10)


def test_every_release_has_its_own_matrix() -> None:
    Q, x = signs(10, 30), counts(30, 10**9)
    release = JLRelease.of(Q, pure_law("l2-ball", 1.0), 2)
    found = release.simulate_release(x, np.random.default_rng(0), 6)
    # With so many users there is no noise to speak of, yet the answers differ, as T does.
    assert found.shape == (10, 6)
    assert np.ptp(found, axis=1).max() > 0.05
    same = release.draw(np.random.default_rng(0), 6).answers(x)
    assert np.ptp(same, axis=1).max() < 1e-5
    full = JLRelease.of(Q, pure_law("l2-ball", 1.0), 10).simulate_release(x, np.random.default_rng(0), 2)
    np.testing.assert_allclose(full, np.tile((Q @ x / x.sum())[:, None], 2), atol=1e-6)


def test_rows_are_public() -> None:
    assert [balanced_rows(n, 0.5, 20) for n in (1, 9, 40, 1e9)] == [1, 5, 20, 20]
    Q, law = signs(12, 24), pure_law("l2-ball", 1.0)
    assert isinstance(chosen_release(Q, law, 12), JLRelease)
    assert isinstance(chosen_release(Q, law, 13), NoisyRelease)
    # Almost no noise: all the rows there are; a few users of many queries: fewer.
    assert tuned_rows(Q, pure_law("l2-ball", 1e6), 50, [1, 12], np.random.default_rng(0)) == 12
    assert tuned_rows(signs(64, 256), law, 32, [1, 16, 64], np.random.default_rng(0)) == 16
    with pytest.raises(BadValue, match="users, epsilon, constant"):
        balanced_rows(0, 1.0, 5)


# Coarse -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("alpha", [0.01, 0.8, 1.2, 2.5, 10.0])
def test_nets_separate_and_cover(alpha: float) -> None:
    Q = np.hstack([signs(9, 60), signs(9, 60)[:, ::-1] + 0.001])
    net = greedy_net(Q, alpha)
    separation = alpha * math.sqrt(9) / 2
    kept: list[int] = []
    for i in range(120):  # word for word
        if all(np.linalg.norm(Q[:, i] - Q[:, j]) > separation for j in kept):
            kept.append(i)
    assert net.kept.tolist() == kept
    far = np.linalg.norm(Q[:, :, None] - Q[:, None, net.kept], axis=0)
    np.testing.assert_allclose(far[np.arange(120), net.nearest], far.min(axis=1), rtol=1e-14)
    assert net.rounding == pytest.approx(far.min(axis=1).max() / 3)
    assert net.rounding <= alpha / 2
    x = counts(120, 77)
    moved = np.linalg.norm(Q[:, net.kept] @ net.counts(x) - Q @ x) / 77 / 3
    assert moved <= alpha / 2
    assert net.counts(x).sum() == 77


def test_coarse_release() -> None:
    Q = np.repeat(signs(16, 3), 20, axis=1) + 0.01 * np.random.default_rng(0).standard_normal((16, 60))
    law = pure_law("k-norm", 1.0)
    coarse = CoarseJLRelease.of(Q, law, 0.5, 8)
    assert coarse.inner.columns.shape == (16, 3)
    assert coarse.guarantee == law.guarantee
    x = counts(60, 200)
    errors = errors_on(coarse, [x], np.random.default_rng(0), matrices=4, draws=50)
    plain = errors_on(JLRelease.of(Q, pure_law("l2-ball", 1.0), 8), [x], np.random.default_rng(0), matrices=4, draws=50)
    assert errors.mean() < 0.5 * plain.mean()
    # Without noise and with all rows only the rounding is left.
    quiet = CoarseJLRelease.of(Q, pure_law("l2-ball", 1e9), 0.5, 16).draw(np.random.default_rng(0), 1)
    assert np.linalg.norm(quiet.answers(x)[:, 0] - Q @ x / 200) / 4 <= 0.25
    # Every type kept: JL release itself.
    fine = CoarseJLRelease.of(Q, law, 1e-9, 4)
    np.testing.assert_array_equal(fine.inner.queries, Q)


def test_the_net_knows_its_worst_type_and_noise_alone_may_serve_it() -> None:
    """All users of the type that is farthest from its kept one: with hardly any noise the error is the rounding."""
    Q = np.repeat(signs(16, 3), 20, axis=1) + 0.1 * np.random.default_rng(0).standard_normal((16, 60))
    coarse = CoarseJLRelease.of(Q, pure_law("l2-ball", 1e9), 0.8, None)
    assert isinstance(coarse.inner, NoisyRelease)
    net = coarse.net
    far = np.linalg.norm(Q - Q[:, net.kept[net.nearest]], axis=0)
    assert far[net.farthest(Q)] / 4 == pytest.approx(net.rounding)
    x = counts(60, 1) * 0
    x[net.farthest(Q)] = 50
    drawn = coarse.draw(np.random.default_rng(0), 1)
    assert not isinstance(drawn, Unavailable)
    error = np.linalg.norm(drawn.answers(x)[:, 0] - Q @ x / 50) / 4
    assert error == pytest.approx(net.rounding, rel=1e-6)
    # It is noise of the net and its projection, which uses the budget of its law.
    assert coarse.guarantee == NoisyRelease.of(Q[:, net.kept], coarse.inner.law).guarantee


# Widths and distortion --------------------------------------------------------------------------------------------


def test_widths_with_a_closed_form() -> None:
    """Of a cube (Σ|G_i|), which a translation does not change, and of one point."""
    corners = np.array(np.meshgrid(*[[-1.0, 1.0]] * 4)).reshape(4, -1) + 7.0
    found = gaussian_width(corners, np.random.default_rng(0), 0.05)
    exact = 4 * math.sqrt(2 / math.pi)
    assert found.mean.low < exact < found.mean.high
    assert found.certain.low < exact < found.certain.high
    assert found.mean.relative_width < 0.05
    assert gaussian_width(np.ones((3, 2)), np.random.default_rng(0)).mean.value == 0.0


def test_choices() -> None:
    assert jl_is_better_for(10, 0.5, 5)
    assert not jl_is_better_for(11, 0.5, 5)


def test_gaussian_matrices_shrink_the_width_by_a_known_factor() -> None:
    Q = signs(30, 50)
    w = gaussian_width(Q, np.random.default_rng(1), 0.02).mean.value
    for rows in (1, 4, 16):
        found = dist.distortion(Q, rows, "gaussian", w, np.random.default_rng(rows), matrices=200, gaussians=50)
        slack = 0.02
        assert found.width_ratio.low - slack < dist.width_factor(rows) < found.width_ratio.high + slack
        assert found.rate.value == pytest.approx(found.distance.value * math.sqrt(rows) / w)
    assert dist.width_factor(1) == pytest.approx(math.sqrt(2 / math.pi))
    assert 0.99 < dist.width_factor(100) < 1.0


@pytest.mark.parametrize("matrix", MATRICES)
def test_distortion_by_its_definition(matrix: str) -> None:
    Q = np.unique(signs(20, 30), axis=1)
    N = Q.shape[1]
    found = dist.distortion(Q, 5, matrix, 1.0, np.random.default_rng(4), matrices=2, gaussians=10)
    rng, worst = np.random.default_rng(4), []
    for _ in range(2):
        T = jl_matrix(5, 20, matrix, rng)
        rng.standard_normal((10, 5))
        pairs = [Q[:, i] - Q[:, j] for i in range(N) for j in range(N)]
        worst.append(max(abs(np.linalg.norm(T @ p) - np.linalg.norm(p)) for p in pairs))
    assert found.distance.value == pytest.approx(np.mean(worst))
    many = [dist.distortion(Q, rows, matrix, 1.0, np.random.default_rng(4), matrices=10) for rows in (4, 64)]
    assert 2 < many[0].distance.value / many[1].distance.value < 8  # √16 = 4


# Worst data -------------------------------------------------------------------------------------------------------


def test_candidates_are_data_of_whole_persons() -> None:
    Q = signs(5, 20)
    for n in (1, 7, 20, 1000):
        made = candidates(Q, n, np.random.default_rng(0))
        for family, x in made:
            assert x.sum() == n
            assert np.all(x == np.floor(x))
            assert np.ptp(x[x > 0]) <= 1
            assert (family == "vertex") == (np.count_nonzero(x) == 1) or n == 1
        assert ("uniform" in [family for family, _ in made]) == (n >= 20)
    assert spread(7, [2, 4], 6).tolist() == [0, 0, 4, 0, 3, 0]


def test_worst_found_is_measured_again() -> None:
    Q = signs(6, 16)
    release = NoisyRelease.of(Q, pure_law("l2-ball", 1.0))
    found = worst_found(release, 40, np.random.default_rng(0), matrices=4, draws=100)
    assert found.tried == len(candidates(Q, 40, np.random.default_rng(0)))
    again = errors_on(release, [found.data], np.random.default_rng(9), matrices=4, draws=400)
    assert found.error.low < again.mean() < found.error.high
    others = [x for _, x in candidates(Q, 40, np.random.default_rng(5))]
    means = errors_on(release, others, np.random.default_rng(9), matrices=4, draws=100).mean(axis=(1, 2))
    assert found.error.value > 0.9 * means.max()
    assert found.error.value > 1.05 * means.min()


def test_bad_input() -> None:
    Q, law = signs(4, 6), pure_law("l2-ball", 1.0)
    with pytest.raises(BadValue, match="noise"):
        pure_law("uniform", 1.0)
    with pytest.raises(BadValue, match="rho"):
        concentrated_law(0.0)
    with pytest.raises(BadValue, match="JL matrix"):
        JLRelease.of(Q, law, 2, matrix="sparse")
    with pytest.raises(BadValue, match="JL matrix"):
        jl_matrix(2, 3, "sparse", np.random.default_rng(0))
    with pytest.raises(BadValue, match="ties"):
        JLRelease.of(Q, law, 2, ties="first")
    with pytest.raises(BadValue, match="rows"):
        JLRelease.of(Q, law, 0)
    with pytest.raises(BadValue, match="alpha"):
        greedy_net(Q, -1.0)
    with pytest.raises(BadValue, match="queries"):
        JLRelease.of(np.full((2, 2), np.inf), law, 1)
    with pytest.raises(BadValue, match="data"):
        JLRelease.of(Q, law, 2).simulate_release(np.ones(5), np.random.default_rng(0))


def shaped_noise(law: object, V: np.ndarray) -> ShapedNoise:
    found = shaped(law).of(V)  # type: ignore[arg-type]
    assert isinstance(found, ShapedNoise)
    return found


def test_gaussian_noise_shaped_by_a_box_has_the_trace_of_its_ellipsoid() -> None:
    """Corners of ±a: min Σs_i over Σa_i²/s_i ≤ 1 is (Σa_i)², at s_i = a_i Σa; differences are twice as long."""
    a = np.array([1.0, 3.0, 0.5])
    V = a[:, None] * np.array([[(-1.0) ** (i >> j & 1) for i in range(8)] for j in range(3)])
    noise = shaped_noise(concentrated_law(0.5), V + 7.0)
    assert noise.mean_square == pytest.approx(4 * a.sum() ** 2, rel=1e-5)
    approximate = shaped_noise(gaussian_law(1.0, 1e-6), V).mean_square
    assert approximate == pytest.approx((2 * a.sum() * gaussian_noise_multiplier(1.0, 1e-6)) ** 2, rel=1e-5)
    Z = noise.draw(np.random.default_rng(0), 20_000)
    expected = np.diag(4 * a * a.sum())
    assert covariance_p_value(Z.T, np.zeros(3), expected) > FALSE_ALARM
    assert noise.mean_square < shaped_noise(concentrated_law(0.5), V * 1.1).mean_square


def test_shaped_noise_is_refused_for_pure_laws_and_is_none_for_constant_queries() -> None:
    with pytest.raises(BadValue, match="use gaussian_law"):
        shaped(pure_law("laplace", 1.0)).of(signs(3, 6))
    flat = shaped(concentrated_law(0.5)).of(np.ones((2, 3)))
    assert not flat.draw(np.random.default_rng(0), 2).any()
