"""Second moments: the trace body against semidefinite programs, its noise against importance sampling, sketches."""

from __future__ import annotations

import math

import cvxpy as cp
import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import kstest

from factormech.errors import BadValue, Unavailable
from factormech.mechanisms.pure import bodies as body
from factormech.mechanisms.pure import covariance as lifts
from factormech.mechanisms.pure.bouncy import radial_p_value
from factormech.mechanisms.pure.covariance import (
    NOISES,
    MomentRelease,
    SketchRelease,
    ball_matrices,
    ball_vectors,
    binary_rows,
    covariance,
    diameter,
    frobenius_errors,
    lift,
    marginal_errors,
    marginals,
    simulated_covariances,
)
from factormech.mechanisms.pure.eigenvalues import EigenvalueChain, TraceNoise, haar
from factormech.mechanisms.pure.jl import jl_matrix
from factormech.numerics.vectors import pack, unpack
from tests.statistics import FALSE_ALARM, binomial_p_value, mean_p_value
from tests.tiers import every_pair

pytestmark = pytest.mark.heavy

# Of the noise at ε = 1, by size and whether the trace is public.
CASES = [(1, False), (2, False), (2, True), (3, False), (3, True), (4, False), (4, True)]


def rows(n: int, d: int, seed: int = 0, *, unit: bool = False) -> np.ndarray:
    return body.clipped(np.random.default_rng(seed).standard_normal((n, d)) * 0.6, unit=unit)


def symmetric(d: int, seed: int = 0, *, trace_free: bool = False) -> np.ndarray:
    Z = np.random.default_rng(seed).standard_normal((d, d))
    Z = 0.5 * (Z + Z.T)
    return Z - np.trace(Z) / d * np.eye(d) if trace_free else Z


# The body ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("unit", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_gauge_by_its_definition(seed: int, unit: bool) -> None:
    """The least t with Z = A − A', A, A' ⪰ 0, traces at most t (equal to t if traces are public)."""
    Z = symmetric(4, seed, trace_free=unit)
    A, B, t = cp.Variable((4, 4), PSD=True), cp.Variable((4, 4), PSD=True), cp.Variable()
    traces = [cp.trace(A) == t, cp.trace(B) == t] if unit else [cp.trace(A) <= t, cp.trace(B) <= t]
    problem = cp.Problem(cp.Minimize(t), [A - B == Z, *traces])
    problem.solve(solver=cp.CLARABEL)
    assert float(body.gauge(Z)) == pytest.approx(problem.value, rel=1e-6)


@pytest.mark.parametrize("unit", [False, True])
def test_the_noise_hides_every_exchange(unit: bool) -> None:
    """max |‖Z‖ − ‖Z + xxᵀ − yyᵀ‖| is 1: never more, and attained on the ray of x ⟂ y."""
    X = np.vstack([rows(40, 5, unit=unit), np.eye(5)[:2]])
    outer = X[:, :, None] * X[:, None, :]
    shifts = (outer[:, None] - outer[None]).reshape(-1, 5, 5)
    places = TraceNoise.of(5, 1.0, unit=unit).draw(np.random.default_rng(0), 20)
    losses = np.abs(body.gauge(places[:, None] + shifts) - body.gauge(places)[:, None])
    assert losses.max() <= 1 + 1e-12
    edge = np.diag([1.0, -1.0, 0, 0, 0])
    assert float(body.gauge(-3 * edge) - body.gauge(-2 * edge)) == pytest.approx(1.0)


@pytest.mark.parametrize("unit", [False, True])
@pytest.mark.parametrize("scale", [0.1, 0.5, 3.0])
def test_projection_by_a_general_solver(scale: float, unit: bool) -> None:
    Z = scale * symmetric(5, 1)
    A = cp.Variable((5, 5), PSD=True)
    problem = cp.Problem(cp.Minimize(cp.sum_squares(A - Z)), [cp.trace(A) == 1 if unit else cp.trace(A) <= 1])
    problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-12, tol_gap_rel=1e-12, tol_feas=1e-12)
    np.testing.assert_allclose(body.project(Z, unit=unit), A.value, atol=1e-5)


def test_eigenvalues_go_to_the_simplex_only_beyond_it() -> None:
    found = body.project_eigenvalues(np.array([[0.2, 0.1, -0.3], [0.9, 0.5, -0.3]]))
    np.testing.assert_allclose(found, [[0.2, 0.1, 0.0], [0.7, 0.3, 0.0]], atol=1e-15)
    found = body.project_eigenvalues(np.array([0.2, 0.1, -0.3]), unit=True)
    np.testing.assert_allclose(found, [1.6 / 3, 1.3 / 3, 0.1 / 3], atol=1e-15)


def test_width_of_one_number() -> None:
    draws = body.width_draws(1, np.random.default_rng(0), 20000)
    assert mean_p_value(draws[None], np.array([1 / math.sqrt(2 * math.pi)]), np.array([[draws.var()]])) > FALSE_ALARM
    # Of 2 × 2: the larger eigenvalue is t + r, t ~ N(0, ½) and r ~ Rayleigh(1)/√2 independent.
    rng = np.random.default_rng(1)
    other = np.maximum(rng.standard_normal(40000) * 0.5**0.5 + rng.rayleigh(0.5**0.5, 40000), 0.0)
    assert kstest(body.width_draws(2, np.random.default_rng(2), 20000), other).pvalue > FALSE_ALARM


# The noise --------------------------------------------------------------------------------------------------------


def by_importance(d: int, unit: bool, draws: int = 200000) -> tuple[float, float]:
    """E‖Z‖² and P(λ_2 > 0) at ε = 1 from the sphere: the direction has the density ‖θ‖_B^{−D} there."""
    rng = np.random.default_rng(5)
    S = unpack(rng.standard_normal((draws, d * (d + 1) // 2)), d)
    D = d * (d + 1) // 2
    if unit:
        S -= np.trace(S, axis1=1, axis2=2)[:, None, None] / d * np.eye(d)
        D -= 1
    S /= np.linalg.norm(S, axis=(1, 2))[:, None, None]
    values = np.linalg.eigvalsh(S)
    gauges = body.eigenvalue_gauge(values)
    weights = gauges**-D / (gauges**-D).sum()
    second = values[:, -2] > 0 if d > 1 else values[:, 0] > 0
    return D * (D + 1) * float(weights @ gauges**-2.0), float(weights @ second)


@pytest.mark.parametrize(("d", "unit"), every_pair(2, CASES))
def test_noise_against_importance_sampling(d: int, unit: bool) -> None:
    noise = TraceNoise.of(d, 0.5, unit=unit)
    values = noise.eigenvalues(np.random.default_rng(1), 16000)
    mean_square, second = by_importance(d, unit)
    # The chain's draws are worth about half their number.
    assert 0.25 * (values**2).sum(axis=1).mean() == pytest.approx(mean_square, rel=0.05)
    at = (values[:, -2] > 0) if d > 1 else (values[:, 0] > 0)
    assert at.mean() == pytest.approx(second, abs=0.025)
    D = d * (d + 1) // 2 - int(unit)
    assert kstest(0.5 * body.eigenvalue_gauge(values), "gamma", (D,)).pvalue > FALSE_ALARM
    if unit:
        np.testing.assert_allclose(values.sum(axis=1), 0.0, atol=1e-9 * np.abs(values).max())


def test_noise_of_size_two_in_closed_form() -> None:
    """Integrating |λ − μ|e^{−max} over the quadrants: one eigenvalue of each sign with 6/7, E‖Z‖² = 109/7."""
    mean_square, _ = by_importance(2, False)
    assert mean_square == pytest.approx(109 / 7, rel=0.01)
    values = TraceNoise.of(2, 1.0).eigenvalues(np.random.default_rng(0), 30000)
    assert (values**2).sum(axis=1).mean() == pytest.approx(109 / 7, rel=0.04)
    assert (values.prod(axis=1) < 0).mean() == pytest.approx(6 / 7, abs=0.012)
    np.testing.assert_allclose(np.abs(TraceNoise.of(1, 1.0).eigenvalues(np.random.default_rng(0), 9)).shape, (9, 1))


@pytest.mark.parametrize(("d", "unit"), [(8, False), (12, True), (16, False)])
def test_chains_mix_and_know_their_radius(d: int, unit: bool) -> None:
    chain = EigenvalueChain(d, unit)
    sample = chain.sample(np.random.default_rng(2), 4000)
    assert not isinstance(sample, Unavailable)
    assert sample.diagnosis.effective > 400
    # The same run is refused under the law of any other dimension: the check can fail.
    runs = np.array([chain._run(one, 800) for one in np.random.default_rng(3).spawn(4)])
    gauges = body.eigenvalue_gauge(runs)
    assert radial_p_value(gauges, chain.dimension) > FALSE_ALARM
    assert radial_p_value(gauges, chain.dimension + d) < FALSE_ALARM
    # The body is symmetric about 0.
    assert np.allclose(sample.directions.mean(axis=0) + sample.directions.mean(axis=0)[::-1], 0.0, atol=0.02)


def test_a_chain_that_has_not_mixed_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    still = np.tile(np.linspace(-1, 1, 6), (4, 500, 1)) * np.array([1, 2, 3, 4])[:, None, None]
    still += 0.01 * np.random.default_rng(0).standard_normal(still.shape)
    monkeypatch.setattr(EigenvalueChain, "_run", lambda self, rng, places: still[int(rng.integers(4))])
    assert isinstance(EigenvalueChain(6).sample(np.random.default_rng(0), 2000), Unavailable)
    drawn = MomentRelease.of(6, 1.0).draw(np.random.default_rng(0), 10)
    assert isinstance(drawn, Unavailable)
    assert "chain" in drawn.reason


def test_haar_matrices() -> None:
    H = haar(3, np.random.default_rng(0), 20000)
    np.testing.assert_allclose(H @ H.transpose(0, 2, 1), np.tile(np.eye(3), (20000, 1, 1)), atol=1e-12)
    # A coordinate of a uniform point of the sphere in R³ is uniform.
    for entry in (H[:, 0, 0], H[:, 2, 1]):
        assert kstest(entry, "uniform", (-1, 2)).pvalue > FALSE_ALARM
    assert binomial_p_value(int((np.linalg.det(H) > 0).sum()), 20000, 0.5) > FALSE_ALARM


@pytest.mark.parametrize("unit", [False, True])
def test_ball_noise_has_its_radius(unit: bool) -> None:
    Z = ball_matrices(3, 0.5, np.random.default_rng(0), 20000, unit=unit)
    D = 6 - int(unit)
    norms = np.linalg.norm(Z, axis=(1, 2)) * 0.5 / math.sqrt(2)
    assert kstest(norms, "gamma", (D,)).pvalue > FALSE_ALARM
    packed = pack(Z)
    assert mean_p_value(packed.T, np.zeros(6), np.cov(packed.T)) > FALSE_ALARM
    if unit:
        np.testing.assert_allclose(np.trace(Z, axis1=1, axis2=2), 0.0, atol=1e-10)
    # √2 is the diameter: no two rows of the unit ball are farther apart, and e_1, e_2 are as far.
    assert np.linalg.norm(np.diag([1.0, -1.0])) == pytest.approx(math.sqrt(2))


# Releases ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("unit", [False, True])
def test_second_moments(noise: str, unit: bool) -> None:
    X = rows(200, 6, unit=unit)
    M = body.second_moment(X)
    raw = MomentRelease.of(6, 1.0, noise=noise, projected=False, unit=unit).draw(np.random.default_rng(0), 2000)
    near = MomentRelease.of(6, 1.0, noise=noise, unit=unit).draw(np.random.default_rng(0), 2000)
    before, after = raw.moments(M, 200), near.moments(M, 200)
    np.testing.assert_allclose(before - M, raw.noise / 200, atol=1e-12)
    assert np.all(frobenius_errors(after, M) <= frobenius_errors(before, M) * (1 + 1e-9))
    assert np.linalg.eigvalsh(after).min() >= -1e-12
    traces = np.trace(after, axis1=1, axis2=2)
    assert traces.max() <= 1 + 1e-12
    if unit:
        np.testing.assert_allclose(traces, 1.0, atol=1e-9)
    later = near.moments(M, 20000)
    assert frobenius_errors(later, M).mean() < 0.2 * frobenius_errors(after, M).mean()
    packed = pack(before - M)
    assert mean_p_value(packed.T, np.zeros(21), 2 * np.cov(packed.T) + 1e-30 * np.eye(21)) > FALSE_ALARM


@pytest.mark.parametrize("unit", [False, True])
def test_the_mean_norm_of_ball_noise_is_exact(unit: bool) -> None:
    found = MomentRelease.of(5, 0.5, noise="l2-ball", unit=unit).noise_norm(np.random.default_rng(0), 1)
    assert found.low == found.value == found.high == pytest.approx((15 - unit) * math.sqrt(2) / 0.5, rel=1e-14)
    drawn = np.linalg.norm(ball_matrices(5, 0.5, np.random.default_rng(0), 4000, unit=unit), axis=(1, 2))
    assert abs(drawn.mean() - found.value) < 5 * drawn.std() / math.sqrt(4000)


def test_the_mean_norm_of_trace_noise_by_integrals() -> None:
    """On the faces of the body at d = 2: both eigenvalues of one sign, (t, 1 − t), or one of each, (−s, 1)."""
    same = quad(lambda t: (1 - 2 * t) * math.hypot(t, 1 - t), 0, 0.5)[0]
    mixed = quad(lambda s: (1 + s) * math.hypot(s, 1), 0, 1)[0]
    exact = 3 * (2 * same + 2 * mixed) / (2 * 0.25 + 2 * 1.5)
    found = MomentRelease.of(2, 1.0).noise_norm(np.random.default_rng(0), 40000)
    assert found.low < exact < found.high
    assert found.relative_width < 0.02
    alone = MomentRelease.of(1, 0.5).noise_norm(np.random.default_rng(0), 500)  # Laplace noise: E|Z| = 1/ε
    assert alone.value == pytest.approx(2.0, rel=1e-12)


def test_trace_noise_beats_the_ball() -> None:
    """At d = 16: about d^{3/2} against √2·D."""
    trace, ball = (MomentRelease.of(16, 1.0, noise=name).draw(np.random.default_rng(0), 500).noise for name in NOISES)
    sizes = [np.linalg.norm(Z, axis=(1, 2)).mean() for Z in (trace, ball)]
    assert sizes[1] == pytest.approx(math.sqrt(2) * 136, rel=0.03)
    assert sizes[0] < 0.5 * sizes[1]
    assert sizes[0] == pytest.approx(1.35 * 64, rel=0.1)


def test_covariances_and_their_bound() -> None:
    X = rows(3000, 5) + 0.0
    X[:, 0] = 0.5
    X = body.clipped(X)
    truth = covariance(X)
    np.testing.assert_allclose(truth, np.cov(X.T, bias=True), atol=1e-12)
    found = simulated_covariances(X, 1.0, np.random.default_rng(0), 400)
    errors = frobenius_errors(found, truth)
    half = MomentRelease.of(5, 0.5).draw(np.random.default_rng(1), 400)
    second = frobenius_errors(half.moments(body.second_moment(X), 3000), body.second_moment(X)).mean()
    # E‖μ̂ − μ‖ ≤ d·2/(n·ε/2), Lemma 4.2.
    assert 0.5 * second < errors.mean() <= 1.1 * (second + 2 * 5 * 4 / 3000)
    few = simulated_covariances(X[:300], 1.0, np.random.default_rng(0), 400)
    assert errors.mean() < 0.5 * frobenius_errors(few, covariance(X[:300])).mean()
    exact = simulated_covariances(X, 1e9, np.random.default_rng(0))
    np.testing.assert_allclose(exact[0], truth, atol=1e-6)
    vectors = ball_vectors(4, 2.0, 0.5, np.random.default_rng(0), 20000)
    assert kstest(np.linalg.norm(vectors, axis=1) / 4, "gamma", (4,)).pvalue > FALSE_ALARM


def test_marginals_of_pairs() -> None:
    X = np.random.default_rng(0).integers(0, 2, (50, 6))
    M = body.second_moment(binary_rows(X))
    expected = [(X[:, i] * X[:, j]).mean() for i in range(6) for j in range(i + 1, 6)]
    np.testing.assert_allclose(marginals(M), expected, atol=1e-12)
    drawn = MomentRelease.of(6, 1.0).draw(np.random.default_rng(0), 50)
    found = drawn.moments(M, 50)
    off = np.array([marginals(one) - expected for one in found])
    np.testing.assert_allclose(marginal_errors(found, M), np.sqrt((off**2).mean(axis=1)))
    # The paper's ‖M̂ − M‖_F·d/√(2·C(d, 2)) is an upper bound: it counts the diagonal too.
    assert np.all(marginal_errors(found, M) <= 6 * frobenius_errors(found, M) / math.sqrt(30) + 1e-12)


# Sketches ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("unit", [False, True])
def test_diameters_are_certified(unit: bool) -> None:
    assert diameter(np.eye(10), 4, unit=unit) == pytest.approx(math.sqrt(2))
    T = jl_matrix(6, 10, "gaussian", np.random.default_rng(0))
    X = rows(400, 4, unit=True)
    packed = pack(X[:, :, None] * X[:, None, :]) @ T.T
    sampled = max(np.linalg.norm(packed - one, axis=1).max() for one in packed)
    assert sampled <= diameter(T, 4, unit=unit) < 2 * sampled
    assert diameter(T, 4, unit=True) <= diameter(T, 4)
    # A direction of the trace alone is not seen by data of public trace.
    only_trace = pack(np.eye(4))[None]
    assert diameter(only_trace, 4, unit=True) == pytest.approx(0.0, abs=1e-12)
    assert diameter(only_trace, 4) == pytest.approx(math.sqrt(2) * 2)


@pytest.mark.parametrize("unit", [False, True])
@pytest.mark.parametrize("scale", [0.05, 1.0])
def test_lifts_by_a_general_solver(scale: float, unit: bool) -> None:
    T = jl_matrix(6, 10, "signs", np.random.default_rng(1))
    Y = T @ pack(body.second_moment(rows(30, 4, unit=True))) + scale * np.random.default_rng(2).standard_normal(6)
    found = lift(Y, T, 4, unit=unit, tolerance=1e-5)
    assert found.gap <= 1e-10
    A = cp.Variable((4, 4), PSD=True)
    i, j = np.triu_indices(4)
    packed = cp.multiply(cp.hstack([A[a, b] for a, b in zip(i, j, strict=True)]), np.where(i == j, 1.0, math.sqrt(2)))
    problem = cp.Problem(cp.Minimize(cp.sum_squares(T @ packed - Y)), [cp.trace(A) == 1 if unit else cp.trace(A) <= 1])
    problem.solve(solver=cp.CLARABEL)
    np.testing.assert_allclose(T @ pack(found.matrix), T @ packed.value, atol=1e-4)
    assert np.linalg.eigvalsh(found.matrix)[0] >= -1e-12
    assert np.trace(found.matrix) <= 1 + 1e-9


def test_the_identity_for_a_sketch_is_the_projection() -> None:
    for seed, scale in ((0, 0.2), (1, 3.0), (2, -5.0)):
        Z = scale * symmetric(4, seed) if scale > 0 else -np.eye(4)
        found = lift(pack(Z), np.eye(10), 4, tolerance=1e-6)
        np.testing.assert_allclose(found.matrix, body.project(Z), atol=2e-6)


@pytest.mark.parametrize(("rows", "unit"), [(1, False), (40, False), (40, True), (231, False)])
def test_projected_gradients_are_the_other_methods(rows: int, unit: bool) -> None:
    """At d = 21, above which they come first: the same measurements, and the same A where it is unique."""
    d, rng = 21, np.random.default_rng(rows)
    T = jl_matrix(rows, d * (d + 1) // 2, "gaussian", rng)
    Y = T @ pack(body.second_moment(clipped_rows(d))) + 0.1 * rng.standard_normal(rows)
    found = lifts._accelerated(Y, T, d, unit, 1e-3, 2000)
    assert found.gap <= 1e-6
    assert np.linalg.eigvalsh(found.matrix)[0] >= -1e-12
    assert np.trace(found.matrix) == pytest.approx(1.0) if unit else np.trace(found.matrix) <= 1 + 1e-9
    if rows >= 231:
        other = lifts._interior(Y, T, d, 1e-3, 60)
        np.testing.assert_allclose(found.matrix, other.matrix, atol=1e-5)
    else:
        other = lifts._corrected(Y, T, d, unit, 1e-3, 2000)
    np.testing.assert_allclose(T @ pack(found.matrix), T @ pack(other.matrix), atol=2.1e-3)
    assert np.array_equal(lift(Y, T, d, unit=unit).matrix, found.matrix)


def clipped_rows(d: int) -> np.ndarray:
    return body.clipped(np.random.default_rng(3).standard_normal((40, d)))


def test_sketch_releases() -> None:
    M = body.second_moment(rows(500, 6, unit=True))
    release = SketchRelease.of(6, 1.0, 12)
    drawn = release.draw(np.random.default_rng(0), 40)
    T = drawn.matrix
    errors = frobenius_errors(drawn.moments(M, 500), M)
    # TÂ is no farther from TM than the noise, but for the tolerance.
    moved = np.linalg.norm((pack(drawn.moments(M, 500)) - pack(M)) @ T.T, axis=1)
    assert np.all(moved <= np.linalg.norm(drawn.noise, axis=1) / 500 + release.tolerance)
    assert errors.mean() < frobenius_errors(drawn.moments(M, 20), M).mean()
    wide = diameter(T, 6)
    many = SketchRelease.of(6, 1.0, 12).draw(np.random.default_rng(0), 20000)
    np.testing.assert_array_equal(many.matrix, T)
    assert kstest(np.linalg.norm(many.noise, axis=1) / wide, "gamma", (12,)).pvalue > FALSE_ALARM
    assert release.guarantee.delta == 0.0


def test_bad_input() -> None:
    with pytest.raises(BadValue, match="data"):
        body.clipped(np.full((2, 2), np.nan))
    with pytest.raises(BadValue, match="zeros"):
        body.clipped(np.zeros((2, 2)), unit=True)
    drawn = MomentRelease.of(3, 1.0, noise="l2-ball").draw(np.random.default_rng(0), 1)
    for bad in (np.eye(3), -0.1 * np.eye(3), np.eye(2) / 2, np.triu(np.ones((3, 3))) / 9):
        with pytest.raises(BadValue, match="moment"):
            drawn.moments(bad, 5)
    with pytest.raises(BadValue, match="moment"):
        body.checked_moment(np.eye(3) / 6, 3, unit=True)
    with pytest.raises(BadValue, match="noise"):
        MomentRelease.of(3, 1.0, noise="k-norm")
    with pytest.raises(BadValue, match="size"):
        MomentRelease.of(200, 1.0)
    with pytest.raises(BadValue, match="size"):
        TraceNoise.of(1, 1.0, unit=True)
    with pytest.raises(BadValue, match="zeros and ones"):
        binary_rows(np.full((2, 2), 0.5))
    with pytest.raises(BadValue, match="JL matrix"):
        SketchRelease.of(3, 1.0, 2, matrix="sparse")
    with pytest.raises(BadValue, match="tolerance"):
        SketchRelease.of(3, 1.0, 2, tolerance=0.0)
    assert lift(np.full(3, 9.0), np.eye(3), 2, tolerance=1e-9, iterations=1).iterations == 1


@pytest.mark.parametrize("scale", [1e-13, 1.0, 1e12])
@pytest.mark.parametrize("d", [2, 9, 64])
def test_ratios_of_densities_are_sums_of_logarithms(d: int, scale: float) -> None:
    from factormech.mechanisms.pure import eigenvalue_kernels as kernels

    rng = np.random.default_rng(d)
    old, new = (scale * np.sort(rng.standard_normal(d)) for _ in range(2))
    i, j = np.tril_indices(d, -1)
    expected = np.log((new[i] - new[j]) / (old[i] - old[j])).sum()
    assert kernels._log_ratio(old, new) == pytest.approx(expected, rel=1e-10, abs=1e-9)
    assert kernels._log_ratio(old, new[::-1].copy()) == -math.inf
    assert sum(kernels._sums(old)) == pytest.approx(np.abs(old).sum())
    for k in {0, d // 2, d - 1}:
        there = old[k] + (0.4 * (old[k + 1] - old[k]) if k + 1 < d else 3.0 * scale)
        others = np.delete(old, k)
        alone = np.log(np.abs((there - others) / (old[k] - others))).sum()
        assert kernels._single(old, k, there) == pytest.approx(alone, rel=1e-10, abs=1e-9)
        assert k + 1 == d or kernels._single(old, k, old[k] + 100.0 * scale) == -math.inf
