"""Simulated collections of the matrix mechanisms: exact laws, by enumeration, by quadrature and by single reports."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from scipy.stats import ks_2samp

from factormech.arrays import FloatArray
from factormech.errors import BadValue
from factormech.mechanisms.local import error_law, matrix_mechanism
from factormech.mechanisms.local.calibrated_columns import CalibratedColumns
from factormech.mechanisms.local.error_law import ErrorLaw, laplace_jump
from factormech.mechanisms.local.errors import questions_of
from factormech.mechanisms.local.noisy_columns import with_half_sphere_noise, with_laplace_noise
from factormech.mechanisms.local.randomizers import cap_randomizers, caps
from factormech.mechanisms.local.randomizers.cap_kernels import join_pairs
from factormech.mechanisms.local.randomizers.caps import coordinate
from factormech.mechanisms.local.simulate import compare, simulate, tail_probability
from factormech.mechanisms.local.strategy import SimulatedStrategy
from factormech.studies.measures.collection import CollectionGrid, agreement, collect, collection_agreement
from factormech.workloads.registry import create
from tests import solutions
from tests.oracles import centred_gram
from tests.statistics import FALSE_ALARM, covariance_p_value, mean_p_value
from tests.tiers import every

pytestmark = pytest.mark.heavy

NAMES = ["matrix-l1", "matrix-l2", "matrix-l2-gaussian"]
COUNTS = np.array([40, 0, 3, 120, 11, 26])
MECHANISMS = {
    "matrix-l1": matrix_mechanism.L1,
    "matrix-l2": matrix_mechanism.L2,
    "matrix-l2-gaussian": matrix_mechanism.L2_GAUSSIAN,
}


def given(name: str, A: FloatArray, epsilon: float = 1.0) -> CalibratedColumns:
    return CalibratedColumns(A, epsilon, MECHANISMS[name].calibrate)


def solved(name: str, workload: str, n: int, epsilon: float = 1.0) -> CalibratedColumns:
    strategy = solutions.strategy(name, workload, n, epsilon)
    assert isinstance(strategy, CalibratedColumns)
    return strategy


def columns(k: int, n: int, seed: int = 0) -> FloatArray:
    """Columns of different lengths, one of them 0."""
    A = np.random.default_rng(seed).standard_normal((k, n)) * np.linspace(0.3, 1.0, n)
    A[:, 2 % n] = 0.0
    return A


def exact_moments(strategy: CalibratedColumns, x: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Mean and covariance of the estimates, user by user, from the covariance of one report."""
    A, J = strategy.noisy.columns, strategy.inverse
    mean = J @ (A @ x - x.sum() * A.mean(axis=1))
    spread = np.zeros((len(A), len(A)))
    for u, users in enumerate(x):
        if strategy.noisy.noise == "half-sphere":
            spread += users * cap_randomizers.covariance(A[:, u], strategy.epsilon)
        else:
            spread += users * strategy.noisy.second_moment * np.eye(len(A))
    return mean, J @ spread @ J.T


# Moments of simulated collections --------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [1, 2, 3, 5, 8])
@pytest.mark.parametrize("name", NAMES)
def test_estimates_have_the_exact_mean_and_covariance(name: str, k: int) -> None:
    """And the same tests reject noise that is a tenth off, and a mean that is."""
    strategy = given(name, columns(k, 6))
    mean, covariance = exact_moments(strategy, COUNTS.astype(float))
    found = strategy.simulate_estimates(COUNTS, 20_000, np.random.default_rng(1))
    assert found.shape == (6, 20_000)
    assert mean_p_value(found, mean, covariance) >= FALSE_ALARM
    assert covariance_p_value(found, mean, covariance) >= FALSE_ALARM
    for factor in (0.9, 1.1):
        off = mean[:, None] + factor * (found - mean[:, None])
        assert covariance_p_value(off, mean, covariance) < FALSE_ALARM
    spread = np.sqrt(np.diagonal(covariance))
    assert mean_p_value(found + 0.1 * spread[:, None], mean, covariance) < FALSE_ALARM


@pytest.mark.parametrize("name", NAMES)
def test_law_has_the_covariance_of_its_definition(name: str) -> None:
    strategy, x = given(name, columns(4, 6)), COUNTS.astype(float)
    law = strategy.error_law(centred_gram(np.random.default_rng(0).standard_normal((3, 4)) @ columns(4, 6)))
    np.testing.assert_allclose(law.covariance(x), exact_moments(strategy, x)[1], rtol=1e-9, atol=1e-9 * x.sum())


# Sums against single reports -------------------------------------------------------------------------------------


@pytest.mark.parametrize("k", every(2, [1, 4, 2]))
@pytest.mark.parametrize("name", NAMES)
def test_sums_have_the_law_of_the_sums_of_single_reports(name: str, k: int) -> None:
    """Two-sample Kolmogorov–Smirnov along random directions, and of the squared length; not of a law slightly off."""
    trials, types = 20_000, np.array([0, 0, 1, 1, 1, 2])
    noisy = given(name, columns(k, 3, 5), 1.5).noisy
    reports = noisy.report(np.tile(types, trials), np.random.default_rng(2)).reshape(trials, len(types), k)
    one_by_one = reports.sum(axis=1).T
    together = noisy.simulate_deviations(np.bincount(types), np.zeros(k), trials, np.random.default_rng(3))
    directions = np.vstack([np.random.default_rng(4).standard_normal((6, k)), noisy.columns.T[:2]])

    def p_value(one: FloatArray, other: FloatArray) -> float:
        looks = [(directions @ one, directions @ other), ((one**2).sum(axis=0)[None], (other**2).sum(axis=0)[None])]
        found = [float(ks_2samp(a, b).pvalue) for left, right in looks for a, b in zip(left, right, strict=True)]
        return min(found) * len(found)

    if name == "matrix-l2" and k == 1:  # signs: a rounding of equal values would look like different ones
        one_by_one, together = np.round(one_by_one, 9), np.round(together, 9)
    assert p_value(one_by_one, together) >= FALSE_ALARM
    assert p_value(one_by_one, 1.1 * together) < FALSE_ALARM


@pytest.mark.parametrize("d", [1, 2, 3, 7])
def test_walks_have_the_second_and_fourth_moments_of_their_steps(d: int) -> None:
    """E R² = Σρ², E R⁴ = (Σρ²)² + (2/d)·Σ_{i≠j}ρ_i²ρ_j²; sums without steps have length 0."""
    trials, rng = 30_000, np.random.default_rng(d)
    for rho in (np.array([]), np.array([2.0]), np.array([1.0, 0.4, 2.0]), np.linspace(0.2, 1.0, 8)):
        R = caps.walk_lengths(np.tile(rho, trials), np.full(trials, len(rho)), d, rng)
        total, pairs = np.sum(rho**2), np.sum(rho**2) ** 2 - np.sum(rho**4)
        if len(rho) < 2:
            np.testing.assert_allclose(R, rho.sum())
            continue
        for power, expected in ((2, total), (4, total**2 + 2 / d * pairs)):
            z = (np.mean(R**power) - expected) / np.std(R**power) * math.sqrt(trials)
            assert abs(z) < 5.3
            assert abs((1.1 * np.mean(R**power) - expected) / np.std(R**power) * math.sqrt(trials)) > 5.3


def test_walks_of_different_sizes_do_not_mix() -> None:
    """Every walk stays between what its own steps allow."""
    rng = np.random.default_rng(0)
    sizes = rng.integers(0, 9, 2000)
    scale = 10.0 ** rng.integers(-3, 4, 2000)
    R = caps.walk_lengths(np.repeat(scale, sizes), sizes, 3, rng)
    assert (sizes * scale * (1 + 1e-12) >= R).all()
    assert ((R > 0) == (sizes > 0)).all()
    np.testing.assert_allclose(R[sizes == 1], scale[sizes == 1])
    for size in (2, 5, 8):
        inside = R[sizes == size] / scale[sizes == size]
        assert abs(np.mean(inside**2) - size) < 6 * np.std(inside**2) / math.sqrt(len(inside))


def test_one_dimension_is_a_binomial() -> None:
    """Reports ±B: the number of positive ones, against its probabilities, and for more users than can be listed."""
    strategy = given("matrix-l2", np.array([[1.0, -0.4]]), 1.2)
    B, p = strategy.noisy.scale, cap_randomizers.facing_probability(1.2)
    a, x = strategy.noisy.columns[0], np.array([3, 2])
    Z = cap_randomizers.sample_sums(a[:, None], 1.2, x, 100_000, np.random.default_rng(0))[0]
    chance = 0.5 * (1 + a * (2 * p - 1))
    law = np.array([1.0])
    for u in (0, 0, 0, 1, 1):
        law = np.convolve(law, [1 - chance[u], chance[u]])
    found = np.bincount(((Z + 5) / 2).astype(int), minlength=6)
    assert np.abs((found - 1e5 * law) / np.sqrt(1e5 * law * (1 - law))).max() < 5.5
    assert np.abs((found - 1e5 * law[::-1]) / np.sqrt(1e5 * law * (1 - law))).max() > 5.5
    assert not strategy.simulation_refusal(2**52)
    users = np.array([2**50, 2**50])
    mean, covariance = exact_moments(strategy, users.astype(float))
    estimates = strategy.simulate_estimates(users, 2000, np.random.default_rng(1))
    assert mean_p_value(estimates, mean, covariance) >= FALSE_ALARM
    assert B * (2 * p - 1) == pytest.approx(1.0)


@pytest.mark.parametrize("name", ["matrix-l1", "matrix-l2-gaussian"])
def test_independent_noise_is_simulated_for_any_number_of_users(name: str) -> None:
    strategy, users = given(name, columns(3, 6)), COUNTS * 10**13
    assert not strategy.simulation_refusal(2**53)
    mean, covariance = exact_moments(strategy, users.astype(float))
    found = strategy.simulate_estimates(users, 20_000, np.random.default_rng(5))
    assert mean_p_value(found, mean, covariance) >= FALSE_ALARM
    assert covariance_p_value(found, mean, covariance) >= FALSE_ALARM


@pytest.mark.slow
def test_users_come_in_parts_that_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(caps, "_CELLS_LIMIT", 17)
    parts = caps._parts(COUNTS)
    np.testing.assert_array_equal(np.sum(parts, axis=0), COUNTS)
    assert all((part >= 0).all() and part.sum() <= 17 for part in parts)
    strategy = given("matrix-l2", columns(3, 6))
    mean, covariance = exact_moments(strategy, COUNTS.astype(float))
    found = strategy.simulate_estimates(COUNTS, 500, np.random.default_rng(1))
    assert mean_p_value(found, mean, covariance) >= FALSE_ALARM
    assert covariance_p_value(found, mean, covariance) >= FALSE_ALARM


# The law of the squared error ------------------------------------------------------------------------------------


def laplace_nodes(scale: float) -> tuple[FloatArray, FloatArray]:
    """Gauss–Laguerre on both sides: exact for polynomials."""
    x, w = np.polynomial.laguerre.laggauss(8)
    return scale * np.concatenate([x, -x]), np.concatenate([w, w]) / 2


def normal_nodes(scale: float) -> tuple[FloatArray, FloatArray]:
    x, w = np.polynomial.hermite_e.hermegauss(8)
    return scale * x, w / w.sum()


def report_nodes(strategy: CalibratedColumns, u: int) -> tuple[FloatArray, FloatArray]:
    """Points (2, N) and weights that integrate quartic polynomials of one report of type u exactly, in the plane."""
    a = strategy.noisy.columns[:, u]
    if strategy.noisy.noise == "half-sphere":  # Gauss–Legendre on the half circle around the axis, and on the other
        x, w = np.polynomial.legendre.leggauss(30)
        r = float(np.linalg.norm(a))
        start = math.atan2(a[1], a[0]) if r > 0 else 0.0
        angles = np.concatenate([start + x * math.pi / 2, start + math.pi + x * math.pi / 2])
        p = cap_randomizers.facing_probability(strategy.epsilon)
        facing = 0.5 * (1 + r * (2 * p - 1))
        y = strategy.noisy.scale * np.stack([np.cos(angles), np.sin(angles)])
        return y, np.concatenate([facing * w, (1 - facing) * w]) / 2
    nodes = laplace_nodes if strategy.noisy.noise == "laplace" else normal_nodes
    x, w = nodes(strategy.noisy.scale)
    return a[:, None] + np.stack([g.ravel() for g in np.meshgrid(x, x)]), np.outer(w, w).ravel()


@pytest.mark.parametrize("epsilon", [0.2, 1.0, 5.0])
@pytest.mark.parametrize("name", NAMES)
def test_moments_of_the_error_are_those_of_every_pair_of_reports(name: str, epsilon: float) -> None:
    """E T and Var T of one user and of two, integrated over all their reports."""
    strategy = given(name, columns(2, 4, 1), epsilon)
    C = centred_gram(np.random.default_rng(3).standard_normal((3, 2)) @ columns(2, 4, 1))
    law = strategy.error_law(C)
    M = strategy.inverse.T @ C @ strategy.inverse
    z = []
    for u in range(4):
        y, w = report_nodes(strategy, u)
        z.append((y - strategy.noisy.columns[:, u : u + 1], w))
    for u, v in ((0, None), (2, None), (0, 1), (2, 3), (3, 3)):
        eta, w = z[u]
        x = np.bincount([u] if v is None else [u, v], minlength=4).astype(float)
        if v is not None:
            eta = (eta[:, :, None] + z[v][0][:, None, :]).reshape(2, -1)
            w = np.outer(w, z[v][1]).ravel()
        T = np.einsum("it,it->t", eta, M @ eta)
        found = law.on(x)
        assert found.mean == pytest.approx(float(w @ T), rel=1e-9)
        assert found.variance == pytest.approx(float(w @ T**2) - float(w @ T) ** 2, rel=1e-8)
        assert not np.isclose(found.variance * 1.1, float(w @ T**2) - float(w @ T) ** 2, rtol=1e-3)


@pytest.mark.parametrize("d", every(2, [1, 6, 3]))
@pytest.mark.parametrize("epsilon", [0.5, 4.0])
def test_moments_of_half_sphere_errors_in_any_dimension(d: int, epsilon: float) -> None:
    """Variance of zᵀCz over half a million single reports of each type; and no variance a tenth off."""
    strategy, draws = given("matrix-l2", columns(d, 4, 2), epsilon), 300_000
    C = centred_gram(np.random.default_rng(3).standard_normal((d, d)) @ columns(d, 4, 2))
    law = strategy.error_law(C)
    M = strategy.inverse.T @ C @ strategy.inverse
    for u in range(4):
        y = strategy.noisy.report(np.full(draws, u), np.random.default_rng([u, 7]))
        eta = (y - strategy.noisy.columns[:, u]).T
        T = np.einsum("it,it->t", eta, M @ eta)
        exact = law.on(np.eye(4)[u])
        squares = (T - exact.mean) ** 2
        if squares.std() < 1e-9 * exact.variance:  # one value only
            assert exact.variance == pytest.approx(squares.mean(), rel=1e-9)
            continue
        error = squares.std() / math.sqrt(draws)
        assert abs(squares.mean() - exact.variance) < 5.7 * error + 1e-9 * exact.mean**2
        assert abs(squares.mean() - 1.1 * exact.variance) > 5.7 * error or exact.variance < 1e-6 * exact.mean**2
        assert T.max() <= law.jump[u] * (1 + 1e-9)


@pytest.mark.parametrize("k", [1, 2, 30])
def test_laplace_jumps_are_exceeded_as_rarely_as_they_say(k: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """At a chance that can be seen, for quadratic forms of one direction, of many, and of unequal ones."""
    rng, draws = np.random.default_rng(k), 200_000
    for M in (np.eye(k), np.ones((k, k)), np.diag(np.arange(1.0, k + 1) ** 3)):
        eta = rng.laplace(scale=0.7, size=(k, draws))
        T = np.einsum("it,it->t", eta, M @ eta)
        for chance in (1e-1, 1e-2, 1e-4):
            monkeypatch.setattr(error_law, "JUMP_CHANCE", chance)
            jump = laplace_jump(M, 0.7)
            seen = float(np.mean(jump < T))
            assert seen <= chance + 6 * math.sqrt(chance / draws)
            if k == 1:
                assert seen > 0.5 * chance - 6 * math.sqrt(chance / draws)
            assert jump < 40 * np.quantile(T, 1 - chance)


@pytest.mark.parametrize("name", NAMES)
def test_nothing_asked_is_no_error(name: str) -> None:
    silent = solved(name, "total", 4)
    assert silent.columns.shape[0] == 0
    for strategy in (silent, given(name, columns(3, 4))):
        law = strategy.error_law(np.zeros((4, 4)))
        found = law.on(np.ones(4))
        assert (found.mean, found.variance, found.scale) == (0.0, 0.0, 0.0)
        assert strategy.evaluate(np.zeros((4, 4))).worst == 0.0
        np.testing.assert_array_equal(law.covariance(np.ones(4)), np.zeros((4, 4)))
    result = simulate(silent, create("total", 4), np.arange(4), 5, np.random.default_rng(0))
    assert (result.mean, result.p_value, result.interval) == (0.0, 1.0, (0.0, 0.0))
    assert silent.evaluate(np.zeros((4, 4))).privacy_loss == 0.0


# Privacy ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", [1e-3, 0.7, 3.0, 30.0])
def test_laplace_loss_is_a_bound_on_the_columns_in_use(epsilon: float) -> None:
    for k, size in ((1, 1e-200), (5, 1.0), (3000, 1e9)):
        noisy = with_laplace_noise(columns(k, 5) * size, epsilon)
        A = noisy.columns
        sums = [math.fsum(np.abs(A[:, u] - A[:, v])) for u in range(5) for v in range(u)]
        assert max(sums) / noisy.scale * (1 + 1e-15) <= noisy.privacy_loss <= epsilon
        assert noisy.privacy_loss == pytest.approx(epsilon, rel=4e-12)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("epsilon", [1e-3, 1.0, 5.0, 40.0])
def test_evaluations_state_the_loss_of_the_noise_in_use(name: str, epsilon: float) -> None:
    strategy = given(name, columns(3, 5), epsilon)
    loss = strategy.evaluate(centred_gram(columns(3, 5))).privacy_loss
    assert loss == strategy.noisy.privacy_loss <= epsilon
    if name == "matrix-l2":
        p = cap_randomizers.facing_probability(epsilon)
        assert math.log(p / (1 - p)) == pytest.approx(loss, rel=1e-12)
        assert (strategy.noisy.delta, with_half_sphere_noise(columns(3, 5), epsilon).scale) == (0, strategy.noisy.scale)
    assert (strategy.noisy.delta > 0) == (name == "matrix-l2-gaussian")


# Through the door ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_collections_agree_over_a_grid_and_would_not_if_a_tenth_off(name: str) -> None:
    grid = CollectionGrid(users=[1000, 5000], populations=["uniform", "spiky", "zipf", "smooth"], trials=200)
    questions = [questions_of([(create(w, 8), 0)])[0] for w in ("histogram", "prefix")]
    rows = list(collect(name, partial(solutions.asked, name), questions, [0.5, 4.0], grid))
    assert len(rows) == 2 * 2 * 8
    assert {row.status for row in rows} == {"ok"}
    found = collection_agreement(rows)
    assert found.passed, found
    assert all(row.interval_low <= row.exact_error <= row.interval_high for row in rows)
    for factor in (0.9, 1.1):
        off = [replace(row, ratio=row.ratio * factor, measured_error=row.measured_error * factor) for row in rows]
        assert not collection_agreement(off).passed


@pytest.mark.parametrize("name", NAMES)
def test_collections_are_reproducible_and_centred(name: str) -> None:
    strategy = solved(name, "prefix", 8)
    assert isinstance(strategy, SimulatedStrategy)
    x = np.arange(8) + 1
    first = strategy.simulate_estimates(x, 3, np.random.default_rng(12))
    np.testing.assert_allclose(first.sum(axis=0), 0.0, atol=1e-9 * np.abs(first).max())
    np.testing.assert_array_equal(first, strategy.simulate_estimates(x, 3, np.random.default_rng(12)))
    with pytest.raises(BadValue, match=r"shape of counts = \(3,\): must have shape \(8,\)"):
        strategy.simulate_estimates(np.ones(3), 3, np.random.default_rng(0))
    with pytest.raises(BadValue, match="domain_size = 4: must be the strategy's domain size, 8"):
        strategy.error_law(centred_gram(np.eye(4)))


def test_a_workload_outside_the_row_space_is_refused() -> None:
    strategy = given("matrix-l1", np.eye(6)[:3])
    evaluation = strategy.evaluate(centred_gram(np.eye(6)))
    assert not evaluation.answered
    assert np.isnan(evaluation.variance).all()
    with pytest.raises(BadValue, match="outside the strategy's row space"):
        simulate(strategy, create("histogram", 6), np.ones(6), 3, np.random.default_rng(0))


def test_too_many_half_sphere_reports_are_refused_with_the_reason() -> None:
    strategy = given("matrix-l2", columns(3, 6))
    most = int(caps.WORK_LIMIT / caps._WALK) - 6
    assert not strategy.simulation_refusal(most)
    assert "ask for fewer users" in strategy.simulation_refusal(most + 7)
    with pytest.raises(BadValue, match="users = 100000000: must be few enough to simulate; simulating"):
        strategy.simulate_estimates(np.array([10**8, 0, 0, 0, 0, 0]), 1, np.random.default_rng(0))
    grid = CollectionGrid(users=[10**8], populations=["uniform"], trials=2)
    [row] = collect("matrix-l2", lambda ask, eps: strategy, questions_of([(create("total", 6), 0)]), [1.0], grid)
    assert row.status == "unavailable" or row.exact_error == 0.0
    C = centred_gram(columns(3, 6))
    [ask] = questions_of([(create("prefix", 6), 0)])
    [row] = collect("matrix-l2", lambda a, eps: strategy, [replace(ask, centred_gram=C)], [1.0], grid)
    assert (row.status, row.reason) == ("unavailable", strategy.simulation_refusal(10**8))
    assert row.exact_error > 0


def tail_excess(law: ErrorLaw, x: FloatArray, errors: FloatArray) -> float:
    """How far observed frequencies of tails are above their bounds, in units of what chance allows."""
    found = [0.0]
    ordered = np.sort(errors)
    for q in (1e-1, 1e-2, 1e-3, 3e-4):
        k = max(int(q * len(ordered)), 5)
        for at, frequency in ((ordered[-k], k / len(ordered)), (ordered[k - 1], k / len(ordered))):
            bound = tail_probability(float(at), law.on(x), 1)
            if bound <= 0.3:
                found.append((frequency - bound) / (6 * math.sqrt(bound / len(errors)) + 3 / len(errors)))
    return max(found)


@pytest.mark.parametrize("users", [10, 1000])
@pytest.mark.parametrize("name", NAMES)
def test_tails_of_collections_are_bounded(name: str, users: int) -> None:
    """Frequencies of single errors; Laplace noise has the heaviest tails and few users show them."""
    for k in (1, 5):
        strategy = given(name, columns(k, 6), 1.0)
        x = np.random.default_rng(0).multinomial(users, np.full(6, 1 / 6))
        C = centred_gram(columns(k, 6))
        law = strategy.error_law(C)
        errors = compare(law, x, strategy.simulate_estimates(x, 30_000, np.random.default_rng([users, k]))).errors
        assert tail_excess(law, x.astype(float), errors) <= 1.0


def test_a_sampler_of_another_epsilon_is_rejected() -> None:
    """Half-sphere reports at ε = 1.05 of the norm of ε = 1 are biased, and seen."""
    strategy = given("matrix-l2", columns(5, 6))
    x, C, noisy = COUNTS * 50, centred_gram(columns(5, 6)), strategy.noisy
    law, N = strategy.error_law(C), int(COUNTS.sum()) * 50

    def p_value(epsilon: float) -> float:
        Z = cap_randomizers.sample_sums(noisy.columns.T, epsilon, x, 200, np.random.default_rng(0))
        estimates = strategy.inverse @ (noisy.scale * Z - N * strategy.centre[:, None])
        return agreement([compare(law, x, estimates)]).p_value

    assert p_value(1.0) >= FALSE_ALARM
    assert p_value(1.05) < FALSE_ALARM


@pytest.mark.parametrize("d", [4, 5, 64])
def test_walks_that_draw_their_cosines_are_those_of_drawn_cosines(d: int) -> None:
    """The same numbers in the same order: bit for bit, for walks of no step, of one, and of odd numbers."""
    sizes = np.array([0, 1, 2, 7, 0, 1000, 33])
    steps = np.random.default_rng(d).random(int(sizes.sum()))
    found = caps.walk_lengths(steps, sizes, d, np.random.default_rng(3))
    rng, square, left = np.random.default_rng(3), steps**2, sizes.copy()
    while left.max() > 1:
        square = square[: join_pairs(square, left, coordinate(int((left // 2).sum()), d, rng))]
    assert np.array_equal(found[sizes > 0], np.sqrt(square))
    assert not found[sizes == 0].any()
