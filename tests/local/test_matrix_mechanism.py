"""The local matrix mechanisms: certificates, privacy of the stored columns, exact variances, closed forms."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.stats import chi2, norm

from factormech.errors import BadValue
from factormech.mechanisms.local import l1_strategies, l2_strategies, noisy_columns
from factormech.mechanisms.local.matrix_mechanism import (
    half_sphere_mechanism,
    laplace_mechanism,
    matrix_l1,
    matrix_l2,
    matrix_l2_gaussian,
)
from factormech.mechanisms.local.noisy_columns import inverse_of
from factormech.mechanisms.local.randomizers import cap_randomizers
from factormech.numerics.vectors import root
from factormech.privacy.gaussian import gaussian_noise_multiplier
from tests.oracles import all_ranges, prefix

FALSE_ALARM = 1e-6


def all_marginals(n: int) -> np.ndarray:
    users = np.arange(n)
    rows = [users & s == cell for s in range(n) for cell in range(n) if cell & ~s == 0]
    return np.array(rows, dtype=float)


def low_rank(n: int) -> np.ndarray:
    return np.random.default_rng(3).standard_normal((3, n))


def classes(n: int) -> np.ndarray:
    return np.kron(np.eye(n // 4), np.ones((1, 4)))


def one_query(n: int) -> np.ndarray:
    return (np.arange(n) < n // 3).astype(float)[None, :]


WORKLOADS: dict[str, Callable[[int], np.ndarray]] = {
    "histogram": np.eye,
    "prefix": prefix,
    "all ranges": all_ranges,
    "all marginals": all_marginals,
    "low rank": low_rank,
    "classes": classes,
    "one query": one_query,
}
MECHANISMS = {"matrix-l1": matrix_l1, "matrix-l2": matrix_l2, "matrix-l2-gaussian": matrix_l2_gaussian}
workloads = pytest.mark.parametrize("name", WORKLOADS)
mechanisms = pytest.mark.parametrize("mechanism", MECHANISMS)


def centred_gram(W: np.ndarray) -> np.ndarray:
    WP = W - W.mean(axis=1, keepdims=True)
    return WP.T @ WP


def coth_squared(epsilon: float) -> float:
    return 1 / math.tanh(epsilon / 2) ** 2


# ----------------------------------------------------------------------------- properties of all three


@workloads
@mechanisms
def test_estimates_are_unbiased(name: str, mechanism: str) -> None:
    W = WORKLOADS[name](16)
    s = MECHANISMS[mechanism](centred_gram(W), 1.0)
    counts = np.random.default_rng(0).integers(0, 9, 16)
    found = W @ s.histogram(s.columns @ counts, int(counts.sum()))
    np.testing.assert_allclose(found, W @ counts, rtol=1e-9, atol=1e-9 * counts.sum())


@workloads
@mechanisms
def test_variance_is_the_trace_of_the_noise_seen_through_the_reconstruction(name: str, mechanism: str) -> None:
    W, epsilon = WORKLOADS[name](16), 0.7
    s = MECHANISMS[mechanism](centred_gram(W), epsilon)
    A = s.columns
    R = (W - W.mean(axis=1, keepdims=True)) @ np.linalg.pinv(A - A.mean(axis=1, keepdims=True), rcond=1e-10)
    for u in range(16):
        noise = s.second_moment * np.eye(len(A))
        if s.noise == "half-sphere":
            noise = cap_randomizers.covariance(A[:, u], epsilon)
        assert s.variance[u] == pytest.approx(np.trace(R @ noise @ R.T), rel=1e-8)
    assert s.worst_variance == s.variance.max()
    assert s.average_variance == pytest.approx(s.variance.mean())


@workloads
@mechanisms
def test_guarantee_holds_for_the_stored_columns(name: str, mechanism: str) -> None:
    s = MECHANISMS[mechanism](centred_gram(WORKLOADS[name](16)), 1.3)
    A = s.columns.T
    l1 = max(float(sum(abs(x - y))) for x in A for y in A)
    l2 = max(float(sum((x - y) ** 2)) ** 0.5 for x in A for y in A)
    if s.noise == "laplace":
        assert l1 / s.scale <= 1.3
        assert l1 / s.scale == pytest.approx(1.3, rel=1e-10)
        assert s.delta == 0.0
    elif s.noise == "gaussian":
        assert s.scale / l2 >= gaussian_noise_multiplier(1.3, s.delta)
        assert s.scale / l2 == pytest.approx(gaussian_noise_multiplier(1.3, 1e-9), rel=1e-10)
    else:
        assert 1 - 1e-10 < max(float(sum(x * x)) for x in A) <= 1.0
        # A column beyond the ball is refused by the randomizer itself.
        with pytest.raises(BadValue, match="unit ball"):
            cap_randomizers.sample(1.01 * A, 1.3, np.random.default_rng(0))


@mechanisms
@pytest.mark.parametrize("name", ["prefix", "low rank"])
def test_simulated_reports_have_the_stated_mean_and_variance(name: str, mechanism: str) -> None:
    W, users, trials, u = WORKLOADS[name](8), 40, 4000, 5
    s = MECHANISMS[mechanism](centred_gram(W), 1.0)
    rng = np.random.default_rng(11)
    reports = s.report(np.full(users * trials, u), rng).reshape(trials, users, -1)
    estimates = np.array([W @ s.histogram(y, users) for y in reports.sum(axis=1)])
    errors = estimates - users * W[:, u]
    # Sums over 40 users are close to normal; ‖error‖² over 4000 trials has the standard error that it shows.
    squares = (errors**2).sum(axis=1)

    def score(squares: np.ndarray) -> float:
        return float((squares.mean() - users * s.variance[u]) / squares.std() * math.sqrt(trials))

    threshold = norm.isf(FALSE_ALARM / 2)
    assert abs(score(squares)) < threshold
    assert score(0.81 * squares) < -threshold  # noise a tenth too small is seen
    # Far out, a mixture Σλ_iχ² with Σλ = 1 has a lighter tail than χ² itself.
    mean_square = float(np.sum(errors.mean(axis=0) ** 2)) * trials / (users * s.variance[u])
    assert mean_square < chi2.isf(FALSE_ALARM, 1)


@mechanisms
def test_variance_scales_with_the_workload_and_ignores_a_common_offset(mechanism: str) -> None:
    W = prefix(8)
    s = MECHANISMS[mechanism](centred_gram(W), 1.0)
    shifted = MECHANISMS[mechanism](centred_gram(3.0 * W + np.arange(8.0)[:, None]), 1.0)
    np.testing.assert_allclose(shifted.variance, 9.0 * s.variance, rtol=1e-6)


@mechanisms
@pytest.mark.parametrize("n", [1, 2, 5])
def test_nothing_is_asked_when_all_columns_are_equal(n: int, mechanism: str) -> None:
    s = MECHANISMS[mechanism](np.zeros((n, n)), 1.0)
    assert s.columns.shape == (0, n)
    assert np.all(s.variance == 0)
    reports = s.report(np.zeros(7, dtype=int), np.random.default_rng(0))
    np.testing.assert_array_equal(s.histogram(reports.sum(axis=0), 7), np.full(n, 7 / n))


@mechanisms
def test_two_types_are_answered_by_one_number(mechanism: str) -> None:
    s = MECHANISMS[mechanism](centred_gram(np.eye(2)), 1.0)
    # One number in {0, 1} decides; W = I asks for it twice, as itself and as its complement.
    expected = {
        "matrix-l1": 2 * 2.0,
        "matrix-l2": 2 * (coth_squared(1.0) - 1) / 4,
        "matrix-l2-gaussian": 2 * gaussian_noise_multiplier(1.0, 1e-9) ** 2,
    }[mechanism]
    assert s.columns.shape == (1, 2)
    assert s.worst_variance == pytest.approx(expected, rel=1e-4)


@mechanisms
@pytest.mark.parametrize(
    "gram",
    [
        np.eye(3),
        np.zeros((2, 3)),
        np.full((3, 3), math.nan),
        -centred_gram(np.eye(3)),
        np.array([[0.0, 1.0, -1.0], [-1.0, 0.0, 1.0], [1.0, -1.0, 0.0]]),
    ],
)
def test_what_is_no_centred_gram_matrix_is_refused(gram: np.ndarray, mechanism: str) -> None:
    with pytest.raises(BadValue, match="centred_gram"):
        MECHANISMS[mechanism](gram, 1.0)


def test_a_strategy_that_does_not_determine_the_workload_is_refused() -> None:
    record = l2_strategies.SolverRecord(1.0, 1.0, 0, "given")
    A = np.eye(6)[:3]
    with pytest.raises(BadValue, match="row space"):
        laplace_mechanism(A, centred_gram(np.eye(6)), 1.0, record)
    with pytest.raises(BadValue, match="row space"):
        half_sphere_mechanism(A, centred_gram(np.eye(6)), 1.0, record)


# -------------------------------------------------------------------------------- L2: certified optima


@pytest.mark.parametrize("name", ["prefix", "low rank", "one query"])
def test_ball_optimum_agrees_with_a_slow_maximisation_of_the_dual(name: str) -> None:
    W = WORKLOADS[name](5)

    def loss(z: np.ndarray) -> float:
        q = np.exp(z - z.max())
        q /= q.sum()
        shifted = (W - (W @ q)[:, None]) * np.sqrt(q)
        return -float(np.linalg.svd(shifted, compute_uv=False).sum())

    found = minimize(loss, np.zeros(5), method="L-BFGS-B", options={"ftol": 1e-14})
    record = matrix_l2(centred_gram(W), 1.0).solver
    assert record.objective == pytest.approx(found.fun**2, rel=1e-6)


@pytest.mark.parametrize("name", ["prefix", "low rank", "one query"])
def test_diameter_optimum_agrees_with_a_slow_maximisation_of_the_dual(name: str) -> None:
    W, pairs = WORKLOADS[name](4), np.triu_indices(4, 1)
    D = np.eye(4)[:, pairs[0]] - np.eye(4)[:, pairs[1]]

    def loss(z: np.ndarray) -> float:
        w = np.exp(z - z.max())
        w /= w.sum()
        return -float(np.linalg.svd(W @ D * np.sqrt(w), compute_uv=False).sum())

    found = minimize(loss, np.zeros(6), method="L-BFGS-B", options={"ftol": 1e-14})
    record = matrix_l2_gaussian(centred_gram(W), 1.0, tolerance=1e-7, max_iterations=3000).solver
    assert record.lower_bound * (1 + 1e-6) >= found.fun**2
    assert record.objective == pytest.approx(found.fun**2, rel=1e-3)


@workloads
def test_ball_gap_is_closed(name: str) -> None:
    s = matrix_l2(centred_gram(WORKLOADS[name](32)), 1.0)
    assert s.solver.stopped == "gap below tolerance"
    assert -1e-13 < s.solver.gap <= 1e-8


@workloads
def test_diameter_strategy_is_certified_and_no_worse_than_the_ball(name: str) -> None:
    C = centred_gram(WORKLOADS[name](32))
    s = matrix_l2_gaussian(C, 1.0)
    assert -1e-12 < s.solver.gap < 1e-3
    sigma = gaussian_noise_multiplier(1.0, 1e-9)
    assert s.worst_variance == pytest.approx(sigma**2 * s.solver.objective, rel=1e-7)
    A, _, record = l2_strategies.enclosing_ball_strategy(root(C).T)
    diameter = max(np.sum((a - b) ** 2) for a in A.T for b in A.T)
    assert s.solver.objective <= l1_strategies.reconstruction_energy(A, C) * diameter * (1 + 1e-9)
    assert s.solver.lower_bound >= record.lower_bound  # no set has a diameter below its radius


@pytest.mark.slow
@given(st.integers(0, 10**6))
@settings(max_examples=25, deadline=None)
def test_no_random_strategy_beats_the_certified_bounds(seed: int) -> None:
    rng = np.random.default_rng(seed)
    C = centred_gram(rng.standard_normal((4, 6)))
    A = rng.standard_normal((6, 6)) * rng.random((6, 1)) + rng.choice([0, 3]) * np.eye(6)
    energy = l1_strategies.reconstruction_energy(A, C)
    l2 = max(np.sum((a - b) ** 2) for a in A.T for b in A.T)
    assert energy * l2 >= matrix_l2_gaussian(C, 1.0).solver.lower_bound
    assert energy * l1_strategies.l1_diameter(A) ** 2 >= matrix_l1(C, 1.0, max_iterations=5).solver.lower_bound


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 4.0])
@pytest.mark.parametrize("n", [2, 8, 64])
def test_histogram_has_its_closed_form(n: int, epsilon: float) -> None:
    C = centred_gram(np.eye(n))
    gamma_squared = (n - 1) ** 2 / n
    s = matrix_l2(C, epsilon)
    assert s.solver.objective == pytest.approx(gamma_squared, rel=1e-9)
    np.testing.assert_allclose(
        s.variance, cap_randomizers.second_moment(n - 1, epsilon) * gamma_squared - (1 - 1 / n), rtol=1e-9
    )
    g = matrix_l2_gaussian(C, epsilon, 1e-6)
    np.testing.assert_allclose(g.variance, gaussian_noise_multiplier(epsilon, 1e-6) ** 2 * 2 * (n - 1), rtol=1e-4)
    if n > 2:
        np.testing.assert_allclose(matrix_l1(C, epsilon).variance, 8 * (n - 1) / epsilon**2, rtol=1e-9)


@pytest.mark.parametrize("seed", [1, 2])
def test_parity_invariant_workloads_have_uniform_weights(seed: int) -> None:
    n = 16
    users = np.arange(n)
    H = 1.0 - 2.0 * (np.bitwise_count(users[:, None] & users[None, :]) % 2)
    g = np.random.default_rng(seed).random(n) * (users > 0) * (users != 3)
    C = (H * g) @ H / n
    s = matrix_l2(C, 1.0)
    gamma_squared = np.sum(np.sqrt(g)) ** 2 / n
    assert s.solver.objective == pytest.approx(gamma_squared, rel=1e-9)
    np.testing.assert_allclose(
        s.variance, cap_randomizers.second_moment(14, 1.0) * gamma_squared - g.sum() / n, rtol=1e-8
    )
    np.testing.assert_allclose(l1_strategies.parity_energies(C), g, atol=1e-14)


def test_one_query_is_randomized_response() -> None:
    s = matrix_l2(centred_gram(one_query(9)), 0.8)
    np.testing.assert_allclose(s.variance, 0.25 * (coth_squared(0.8) - 1), rtol=1e-8)
    g = matrix_l2_gaussian(centred_gram(one_query(9)), 0.8)
    np.testing.assert_allclose(g.variance, gaussian_noise_multiplier(0.8, 1e-9) ** 2, rtol=1e-3)
    np.testing.assert_allclose(matrix_l1(centred_gram(one_query(9)), 0.8).variance, 2 / 0.8**2, rtol=1e-8)


def test_widely_spread_gram_matrices_are_solved_through_singular_values() -> None:
    s = matrix_l2(centred_gram(np.diag(np.arange(1.0, 129.0) ** 2)), 1.0)
    assert s.solver.gap <= 1e-8


@pytest.mark.slow
@mechanisms
def test_large_domains_are_certified(mechanism: str) -> None:
    s = MECHANISMS[mechanism](centred_gram(prefix(512)), 1.0)
    assert s.solver.gap < {"matrix-l1": 4.0, "matrix-l2": 1e-8, "matrix-l2-gaussian": 1e-4}[mechanism]


# -------------------------------------------------------------------------------- L1: search and bound


@given(st.integers(0, 10**6), st.integers(2, 7), st.integers(1, 6), st.sampled_from([0.2, 1.0, 5.0]))
@settings(max_examples=200, deadline=None)
def test_l1_diameter_is_at_least_twice_the_l2_radius(seed: int, n: int, k: int, spread: float) -> None:
    # The variance under any weights is at most the squared radius, and attains it at the ball's own weights.
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((k, n)) * rng.choice([0.0, 1.0], (k, n)) + rng.choice([-1.0, 0.0, 1.0], (k, n))
    q = rng.dirichlet(np.full(n, spread))
    variance = float(np.sum(q * np.sum((A - (A @ q)[:, None]) ** 2, axis=0)))
    # Where all columns are equal, both are 0 but for the rounding of Aq.
    assert variance <= l1_strategies.l1_diameter(A) ** 2 / 4 * (1 + 1e-12) + 1e-30 * np.sum(A**2)


@workloads
def test_search_is_never_worse_than_any_family_nor_below_the_bound(name: str) -> None:
    C = centred_gram(WORKLOADS[name](16))
    A, _, found = l2_strategies.enclosing_ball_strategy(root(C).T)
    s = matrix_l1(C, 1.0)
    for candidate in l1_strategies._candidates(C, A):
        assert s.worst_variance <= 2 * candidate.value * (1 + 1e-9), candidate.name
    assert s.solver.lower_bound == pytest.approx(4 * found.lower_bound)
    assert s.worst_variance >= 2 * s.solver.lower_bound
    assert s.worst_variance == pytest.approx(2 * s.solver.objective, rel=1e-8)


def test_search_improves_on_every_family_for_prefix_sums() -> None:
    C = centred_gram(prefix(64))
    A, _, _ = l2_strategies.enclosing_ball_strategy(root(C).T)
    best_family = min(one.value for one in l1_strategies._candidates(C, A))
    assert matrix_l1(C, 1.0).solver.objective < 0.9 * best_family


def test_families_are_what_they_say() -> None:
    C = centred_gram(all_marginals(16))
    families = dict(l1_strategies.families(C, np.eye(16)))
    assert {"identity", "tree of branching 2", "haar wavelet", "parities", "marginals"} <= set(families)
    for name, A in families.items():
        assert np.isfinite(l1_strategies.reconstruction_energy(A, C)), name
    assert set(np.unique(np.sign(families["haar wavelet"]).sum(axis=1))) <= {0.0}
    odd = dict(l1_strategies.families(centred_gram(prefix(13)), np.eye(13)))
    for name, A in odd.items():
        assert np.isfinite(l1_strategies.reconstruction_energy(A, centred_gram(prefix(13)))), name
        assert "parities" not in name


@pytest.mark.parametrize(
    ("n", "family"),
    [
        (16, "tree of branching 2"),
        (16, "tree of branching 4"),
        (9, "tree of branching 3"),
        (64, "tree of branching 8"),
        (16, "haar wavelet"),
        (8, "marginals"),
    ],
)
def test_a_family_has_the_energy_that_its_weights_are_chosen_by(
    n: int, family: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Weights minimise Σ t_j/(Ew²)_j: for any weights of sum 1 it is ‖R‖² of the columns, whose ℓ1 norms are 1."""
    rng, asked = np.random.default_rng(n), []

    def weights(E: np.ndarray, t: np.ndarray) -> np.ndarray:
        w = rng.dirichlet(np.full(E.shape[1], 5.0))
        asked.append(float(np.sum(t / (E @ w**2))))
        return w

    monkeypatch.setattr(l1_strategies, "best_level_weights", weights)
    C = centred_gram(rng.standard_normal((n + 3, n)))
    for name, A in l1_strategies.families(C, np.eye(n)):
        if name == family:
            assert l1_strategies.reconstruction_energy(A, C) == pytest.approx(asked[-1], rel=1e-9)
            np.testing.assert_allclose(np.abs(A).sum(axis=0), 1.0, rtol=1e-12)
            assert A.any(axis=1).all(), "a row of zeros asks nothing"
            return
    pytest.fail("the family is not there")


def test_parities_have_the_best_weights() -> None:
    """‖R‖² is Σ g/(nw²); with Σw = 1 it is least for w in proportion to the cube roots of g, by Lagrange."""
    C = centred_gram(np.random.default_rng(1).standard_normal((11, 8)))
    g = l1_strategies.parity_energies(C)
    signs = np.array([[(-1.0) ** (u & v).bit_count() for u in range(8)] for v in range(8)])
    np.testing.assert_allclose(g, np.einsum("vu,ut,vt->v", signs, C, signs) / 8, atol=1e-12)
    A = dict(l1_strategies.families(C, np.eye(8)))["parities"]
    w = np.abs(A[:, 0])
    np.testing.assert_allclose(A, w[:, None] * signs[1:], atol=1e-12)
    np.testing.assert_allclose(np.ptp(w**3 / g[1:]), 0.0, atol=1e-12)


def test_level_weights_beat_a_grid() -> None:
    E, t = np.array([[4.0, 2.0, 1.0], [0.0, 2.0, 1.0], [0.0, 0.0, 1.0]]), np.array([9.0, 1.0, 0.3])
    w = l1_strategies.best_level_weights(E, t)
    assert w.sum() == pytest.approx(1.0)
    ticks = np.linspace(0.01, 0.98, 60)
    grid = [(a, b, 1 - a - b) for a in ticks for b in ticks if a + b < 0.999]
    best = min(np.sum(t / (E @ np.square(v))) for v in grid)
    assert np.sum(t / (E @ w**2)) <= best * (1 + 1e-9)


def test_gradient_agrees_with_differences() -> None:
    rng = np.random.default_rng(2)
    A, D, W = rng.standard_normal((7, 5)), rng.standard_normal((7, 5)), rng.standard_normal((6, 5))
    B = root(centred_gram(W)).T
    here = l1_strategies.Energy(A, B)
    f, g = here.value, here.gradient()
    assert f == pytest.approx(l1_strategies.reconstruction_energy(A, centred_gram(W)), rel=1e-10)
    h = 1e-6
    change = [l1_strategies.Energy(A + s * h * D, B).value for s in (1, -1)]
    assert np.sum(g * D) == pytest.approx((change[0] - change[1]) / (2 * h), rel=1e-6)


def test_a_strategy_without_the_rank_is_no_start() -> None:
    """Two equal columns tell two types apart nowhere: no descent begins there."""
    A, B = np.diag([0.5, 0.4, 0.0, 0.0]), root(centred_gram(np.eye(4))).T
    assert l1_strategies.Energy(A, B).value == math.inf
    assert l1_strategies.projected_gradient(A, B, 5)[1:] == (0, "no finite start")


@given(st.integers(0, 10**6), st.sampled_from([0.1, 1.0, 30.0, 1e12]))
@settings(max_examples=60, deadline=None)
def test_projection_is_the_nearest_point_of_the_l1_ball(seed: int, size: float) -> None:
    A = np.random.default_rng(seed).standard_normal((6, 5)) * size
    B = l1_strategies.project_columns(A)
    assert np.all(np.abs(B).sum(axis=0) <= 1 + 1e-12)
    np.testing.assert_allclose(l1_strategies.project_columns(B), B, atol=1e-15)
    # Optimality: ⟨A − B, X − B⟩ ≤ 0 for every vertex X = ±e_i of the ball.
    residual = A - B
    assert np.all(np.abs(residual).max(axis=0) <= np.sum(residual * B, axis=0) + 1e-9 * size)


def test_the_projection_is_that_of_sorted_columns() -> None:
    """Columns in the ball stay as they are; the threshold of the others is (Σ of the k largest − 1)/k, k the most."""
    rng = np.random.default_rng(3)
    A = rng.standard_normal((40, 30)) * np.logspace(-3, 3, 30)
    expected = A.copy()
    for u in np.flatnonzero(np.abs(A).sum(axis=0) > 1.0):
        down = np.sort(np.abs(A[:, u]))[::-1]
        thresholds = (np.cumsum(down) - 1.0) / np.arange(1, len(down) + 1)
        t = thresholds[np.flatnonzero(down > thresholds)[-1]]
        expected[:, u] = np.sign(A[:, u]) * np.maximum(np.abs(A[:, u]) - t, 0.0)
    found = l1_strategies.project_columns(A)
    np.testing.assert_allclose(found, expected, atol=1e-12)
    inside = np.abs(A).sum(axis=0) <= 1.0
    assert inside.any()
    assert not inside.all()
    np.testing.assert_array_equal(found[:, inside], A[:, inside])
    outside = np.ascontiguousarray(A[:, ~inside])
    np.testing.assert_array_equal(l1_strategies.project_columns(outside), found[:, ~inside])


@pytest.mark.parametrize(("m", "n"), [(1, 1), (3, 2), (511, 15), (513, 17), (1030, 33)])
def test_the_l1_diameter_is_that_of_all_pairs_and_of_numbers_alone(m: int, n: int) -> None:
    """Of sizes beside those of its blocks; the farthest pair is put everywhere, and what is no number is not passed."""
    A = np.random.default_rng(m).standard_normal((m, n))
    expected = max(float(np.abs(A[:, u] - A[:, v]).sum()) for u in range(n) for v in range(n))
    assert l1_strategies.l1_diameter(A) == pytest.approx(expected, rel=1e-13)
    for u in range(n):
        far = A.copy()
        far[:, u] += 10.0
        others = [float(np.abs(far[:, u] - far[:, v]).sum()) for v in range(n)]
        assert l1_strategies.l1_diameter(far) == pytest.approx(max(others), rel=1e-13)
        far[m // 2, u] = np.nan
        assert math.isnan(l1_strategies.l1_diameter(far))


def test_an_inverse_is_kept_by_what_is_in_the_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same numbers, not the same array; others, or the same in another shape, are other columns."""
    asked: list[tuple[int, ...]] = []
    solve = noisy_columns.singular_vectors
    monkeypatch.setattr(noisy_columns, "singular_vectors", lambda A: [asked.append(A.shape), solve(A)][1])
    A = np.random.default_rng(0).standard_normal((6, 4))
    first, again = inverse_of(A), inverse_of(np.asfortranarray(A))
    assert first is again
    assert asked == [(6, 4)]
    assert not first.flags.writeable
    A[2, 3] += 1e-12
    for other in (A, A.reshape(4, 6)):
        np.testing.assert_allclose(
            inverse_of(other), np.linalg.pinv(other - other.mean(axis=1, keepdims=True)), atol=1e-12
        )
    assert asked == [(6, 4), (6, 4), (4, 6)]
    monkeypatch.setattr(noisy_columns, "KEPT_SIZE", 0)
    assert inverse_of(A) is not inverse_of(A)


def test_energy_is_the_same_by_cholesky_and_by_eigenvectors(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the strategy is far from singular; where it is near, only eigenvectors are asked."""
    rng, C = np.random.default_rng(8), centred_gram(prefix(13))
    A = rng.standard_normal((17, 13))
    found = l1_strategies.reconstruction_energy(A, C)
    assert l1_strategies._factor(A - A.mean(axis=1, keepdims=True)) is not None
    for singular in (np.zeros((3, 13)), A[:5], np.hstack([A[:, :12], A[:, 11:12] + 1e-5 * A[:, 12:]])):
        assert l1_strategies._factor(singular - singular.mean(axis=1, keepdims=True)) is None
    monkeypatch.setattr(l1_strategies, "_FAR_FROM_SINGULAR", math.inf)
    assert found == pytest.approx(l1_strategies.reconstruction_energy(A, C), rel=1e-12)
