"""Local mechanisms that answer workloads: factors, errors against brute force, numbers of users, simulation."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.stats import binom

from factormech.errors import BadValue, Unavailable, UnknownName
from factormech.mechanisms.local import registry as strategies
from factormech.mechanisms.local import release_errors
from factormech.mechanisms.local.factorized import registry, releases, sources
from factormech.mechanisms.local.factorized import tails as chernoff
from factormech.mechanisms.local.factorized.factors import best_distance, compressed, factorization
from factormech.mechanisms.local.factorized.release import LocalRelease, simulate
from factormech.mechanisms.local.factorized.releases import (
    FactorizationRelease,
    OneQuery,
    StrategyRelease,
    rotation_moments,
)
from factormech.mechanisms.local.factorized.tails import expected_maximum
from factormech.mechanisms.local.randomizers import registry as randomizers
from factormech.norms.registry import compute
from factormech.norms.subsets.marginals import krawtchouk
from factormech.numerics.intervals import student_half_width
from factormech.workloads.matrix import MatrixWorkload
from factormech.workloads.registry import create

pytestmark = pytest.mark.heavy

LEVEL = 1e-6
ALPHA = 0.1
KINDS = (
    "shifted",
    "half-alpha",
    "independent",
    "one-query",
    "dyadic-tree",
    "dyadic-tree-plain",
    "hadamard",
    "matrix-l1",
    "matrix-l2",
    "matrix-l2-gaussian",
)


def built(name: str, workload: str = "prefix", size: int = 8, epsilon: float = 1.0, **options: object) -> LocalRelease:
    options.setdefault("alpha", ALPHA)
    found = registry.build(name, create(workload, size), epsilon, **options)  # type: ignore[arg-type]
    assert isinstance(found, LocalRelease), found
    return found


def data(size: int) -> np.ndarray:
    return np.random.default_rng(5).multinomial(1000, np.random.default_rng(6).dirichlet(np.ones(size)))


# Factors -----------------------------------------------------------------------------------------------------


def test_factors_that_are_not_the_workload_are_refused() -> None:
    W = create("prefix", 6).matrix()
    R = np.eye(6)
    assert factorization(W, R, W).distance < 1e-13
    wrong = W.copy()
    wrong[2, 3] += 1e-3
    with pytest.raises(BadValue, match="within 0 of the workload"):
        factorization(W, R, wrong)
    close = factorization(W, R, wrong, distance=1e-3)
    assert 1e-3 <= close.distance <= 1e-3 + 1e-12
    shifted = factorization(W, R, W + 0.5, np.full(6, 0.5))
    assert np.abs(shifted.bias).max() <= shifted.distance < 1e-13
    for left, right in ((R[:, :5], W), (R, W[:, :5])):
        with pytest.raises(BadValue, match="shapes"):
            factorization(W, left, right)
    with pytest.raises(BadValue, match="distance"):
        factorization(W, R, W, distance=-1.0)


def test_compression_keeps_the_product_in_the_rank() -> None:
    rng = np.random.default_rng(0)
    R, A = rng.standard_normal((7, 9)), rng.standard_normal((9, 3)) @ rng.standard_normal((3, 12))
    found = factorization(R @ A, R, A)
    small = compressed(found)
    assert small.left.shape[1] == np.linalg.matrix_rank(A) == 3
    assert small.row_norm <= found.row_norm * (1 + 1e-12)
    assert small.column_norm <= found.column_norm * (1 + 1e-12)
    assert small.distance < 1e-11
    flat = factorization(R @ A, rng.standard_normal((7, 2)) @ rng.standard_normal((2, 9)), A, distance=100.0)
    assert compressed(flat).left.shape[1] == 2


# Exact errors ------------------------------------------------------------------------------------------------


def brute_covariance(release: FactorizationRelease, counts: np.ndarray) -> np.ndarray:
    """Σ_u x_u s²R Cov(Y | u)Rᵀ/n², from the randomizer's own covariance of every point."""
    s = release.factors.column_norm
    each = [
        s**2 * release.factors.left @ release.randomizer.covariance(x) @ release.factors.left.T for x in release.points
    ]
    return np.einsum("u,uqr->qr", counts.astype(float), np.array(each)) / counts.sum() ** 2


@pytest.mark.parametrize(("randomizer", "delta"), [("half-sphere", None), ("priv-unit", None), ("gaussian", 1e-6)])
def test_ball_covariances_are_those_of_every_user(randomizer: str, delta: float | None) -> None:
    release = built("shifted", epsilon=3.0, alpha=0.3, randomizer=randomizer, delta=delta)
    assert isinstance(release, FactorizationRelease)
    assert release.delta == (delta or 0.0)
    x = data(8)
    expected = brute_covariance(release, x)
    assert release.covariance(x) == pytest.approx(expected, rel=1e-9, abs=1e-12 * expected.max())
    assert release.variances(x) == pytest.approx(np.diag(expected), rel=1e-9)
    p = x / x.sum()
    bias = release.factors.left @ release.factors.right @ p - release.factors.shift - release.workload @ p
    assert release.l2_error(x) == pytest.approx(np.trace(expected) + bias @ bias, rel=1e-9)


@pytest.mark.parametrize("name", KINDS)
def test_worst_data_is_a_single_type_and_no_data_is_worse(name: str) -> None:
    release, n = built(name), 50
    vertices = [release.l2_error(n * row) for row in np.eye(8, dtype=int)]
    assert release.worst_l2_error(n) == pytest.approx(max(vertices), rel=1e-9)
    for seed in range(5):
        x = np.random.default_rng(seed).multinomial(n, np.ones(8) / 8)
        assert release.l2_error(x) <= release.worst_l2_error(n) * (1 + 1e-12)


def test_one_query_and_strategies_by_listing_reports() -> None:
    W, x = create("prefix", 4).matrix() * np.array([[1.0], [2.0], [0.5], [1.0]]), np.array([3, 0, 5, 2])
    release = OneQuery("one-query", W, 1.2)
    p, half, middle = release.p, release.half, release.middle
    asked = np.flatnonzero(half > 0)
    assert len(asked) == 3  # the last prefix is a constant
    total = np.zeros((4, 4))
    moments = np.full((8, 4), -np.inf)
    tau = 0.07
    for u in range(4):
        values, chances = [], []
        for q, z in itertools.product(asked, (1, -1)):
            report = np.zeros(4)
            report[q] = len(asked) * half[q] * z / (2 * p - 1)
            w = (W[q, u] - middle[q]) / half[q]
            values.append(report)
            chances.append((1 + z * (2 * p - 1) * w) / 2 / len(asked))
        Y, c = np.array(values), np.array(chances)
        mean = c @ Y
        assert mean + middle == pytest.approx(W[:, u])
        total += x[u] * (Y.T * c @ Y - np.outer(mean, mean))
        moments[:4, u] = np.log(c @ np.exp(tau * (Y - mean)))
        moments[4:, u] = np.log(c @ np.exp(-tau * (Y - mean)))
    assert release.covariance(x) == pytest.approx(total / 100, rel=1e-9, abs=1e-12)
    assert np.all(release.log_moments(tau) >= moments.max(axis=1) - 1e-12)
    assert release.log_moments(tau)[:3] == pytest.approx(moments.max(axis=1)[:3], rel=0.2)  # ω of the types, or between

    matrix = built("hadamard", size=4)
    assert isinstance(matrix, StrategyRelease)
    V, Q = matrix.decoder, matrix.strategy.matrix
    covariance = sum(x[u] * (V * Q[:, u] @ V.T - np.outer(V @ Q[:, u], V @ Q[:, u])) for u in range(4)) / 100
    assert matrix.covariance(x) == pytest.approx(covariance, rel=1e-9, abs=1e-12)
    exact = [[math.log(Q[:, u] @ np.exp(tau * (V[q] - V[q] @ Q[:, u]))) for u in range(4)] for q in range(4)]
    assert matrix.log_moments(tau)[:4] == pytest.approx(np.max(exact, axis=1), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("b", [0.1, 1.0, 4.0, 20.0])
def test_one_query_takes_the_worst_answer(b: float) -> None:
    """Of all probabilities that a sign can have, tried one by one, with 7 queries."""
    release = built("one-query", epsilon=2.0)
    K, end = 7, 2 * release.p - 1
    size = K * 0.5 / end
    omega = np.linspace(-end, end, 20001)
    logs = np.log1p((np.cosh(b) - 1 + omega * np.sinh(b)) / K) - b * omega / K
    found = release.log_moments(b / size)
    assert found[:7] == pytest.approx(logs.max(), rel=1e-6)
    assert found[[7, 15]] == pytest.approx(0.0, abs=1e-15)  # the last prefix, a constant
    assert np.all(np.isinf(release.log_moments(800.0 / size)))


def test_strategies_have_their_known_sample_complexity() -> None:
    """McKenna et al., Example 5.5: randomized response on the histogram, and the exact errors of any strategy."""
    n, epsilon = 6, 1.3
    release = built("randomized-response", "histogram", n, epsilon)
    e = math.expm1(epsilon)
    per_user = (n - 1) * (n / e**2 + 2 / e)
    assert release.worst_l2_error(1) == pytest.approx(per_user, rel=1e-8)
    W = create("prefix", 8)
    for name in ("hadamard", "matrix-l1", "matrix-l2", "matrix-l2-gaussian"):
        strategy = strategies.strategy_for(name, W, 1.0)
        assert not isinstance(strategy, Unavailable)
        found = built(name)
        assert found.total_variance == pytest.approx(strategy.evaluate(W.centred_gram()).variance, rel=1e-7)


def test_rotation_moments_are_checked() -> None:
    for name, delta in (("half-sphere", None), ("priv-unit", None), ("gaussian", 1e-6)):
        for d in (1, 2, 7):
            found = randomizers.build(name, d, 1.0, delta)
            beta, g = rotation_moments(found)
            r = 0.6
            point = np.r_[np.zeros(d - 1), r]
            axis = point / r
            expected = np.polyval(beta[::-1], r) * np.eye(d) + np.polyval(g[::-1], r) * np.outer(axis, axis)
            assert found.second_moment(point) == pytest.approx(expected, rel=1e-9, abs=1e-9)


# Numbers of users --------------------------------------------------------------------------------------------


def test_integrated_union_bound() -> None:
    assert expected_maximum(np.zeros(1), np.ones(1)) == pytest.approx(math.sqrt(2 / math.pi), rel=1e-9)
    rng = np.random.default_rng(1)
    b, s = rng.uniform(-1, 1, 40), rng.uniform(0.1, 2, 40)
    grid = np.linspace(0, 30, 300001)
    from scipy.special import ndtr

    tails = sum(ndtr((abs(m) - grid) / d) + ndtr(-(abs(m) + grid) / d) for m, d in zip(b, s, strict=True))
    integral = float(np.minimum(1.0, tails).sum() * (grid[1] - grid[0]))
    assert expected_maximum(b, s) == pytest.approx(integral, rel=1e-4)
    for k in (1, 10, 1000):  # below the bound by moment generating functions, above independent numbers
        found = expected_maximum(np.zeros(k), np.ones(k))
        assert found <= math.sqrt(2 * math.log(2 * k))
        assert found >= np.abs(rng.standard_normal((2000, k))).max(axis=1).mean() * 0.97
    assert expected_maximum(b, s * 1.01) > expected_maximum(b, s) > expected_maximum(0.9 * b, s)
    assert expected_maximum(b, np.zeros(40)) == np.abs(b).max()
    assert expected_maximum(b, 1e-9 * s) == pytest.approx(np.abs(b).max(), rel=1e-6)


def test_guaranteed_users_of_equal_gaussians_have_a_closed_form() -> None:
    k, variance, alpha = 50, 3.0, 0.2
    least = chernoff.least_users(lambda tau: np.full(2 * k, 0.5 * variance * tau**2), alpha / variance, alpha)
    assert least == math.ceil(2 * math.log(2 * k) * variance / alpha**2)
    assert chernoff.least_bound(lambda tau: np.full(2 * k, 0.5 * variance * tau**2), 100.0, 77) == pytest.approx(
        math.sqrt(2 * variance * math.log(2 * k) / 77), rel=1e-6
    )


@pytest.mark.parametrize("name", KINDS)
def test_users_are_the_least_and_predicted_is_at_most_guaranteed(name: str) -> None:
    release = built(name)
    predicted, guaranteed = release.predicted_users(ALPHA), release.guaranteed_users(ALPHA)
    assert release.predicted_error(predicted) <= ALPHA < release.predicted_error(predicted - 1)
    assert release.guaranteed_error(guaranteed) <= ALPHA * (1 + 1e-6)
    assert release.guaranteed_error(math.floor(guaranteed * 0.999)) > ALPHA
    assert predicted <= guaranteed <= (2.5 if name == "half-alpha" else 1.7) * predicted
    p = np.full(8, 1 / 8)
    assert release.predicted_users(ALPHA, p) <= predicted


@pytest.mark.parametrize("workload", ["prefix", "conjunctions-2", "2-way-marginals"])
def test_predicted_users_are_below_the_formula_of_the_papers(workload: str) -> None:
    """γ²(π/2)c²·2 ln(2k)/(α − a)², c = (e^ε + 1)/(e^ε − 1) (Edmonds, Nikolov & Ullman, STOC 2020)."""
    for name in ("optimal", "shifted", "half-alpha"):
        release = built(name, workload, 16)
        assert isinstance(release, FactorizationRelease)
        c = 1 / math.tanh(0.5)
        formula = release.norm_product**2 * math.pi / 2 * c**2 * 2 * math.log(2 * release.queries)
        assert 0.2 * formula < release.predicted_users(ALPHA) * (ALPHA - release.distance) ** 2 < formula


def test_users_grow_as_the_inverse_squares_of_epsilon_and_alpha() -> None:
    """Equation (1) of Edmonds, Nikolov & Ullman (2020), over two decades of both, predicted and proved."""
    for users in ("predicted_users", "guaranteed_users"):
        told = [
            getattr(release, users)(alpha) * (epsilon * alpha) ** 2
            for epsilon in (0.01, 0.1, 1.0)
            for release in [built("optimal", size=16, epsilon=epsilon)]
            for alpha in (0.001, 0.01, 0.1)
        ]
        assert max(told[:6]) < 1.01 * min(told[:6])
        # At ε = 1 the constant is that of (e^ε + 1)/(e^ε − 1) for 2/ε.
        assert max(told) / min(told) == pytest.approx((0.5 / math.tanh(0.5)) ** 2, rel=0.01)


def test_accuracies_that_make_no_sense_are_refused() -> None:
    release = built("half-alpha", alpha=0.2)
    for alpha in (0.0, -1.0, 0.5, 1.0, math.nan, "x"):
        with pytest.raises(BadValue, match="alpha"):
            release.predicted_users(alpha)  # type: ignore[arg-type]
    with pytest.raises(BadValue, match="distance"):
        release.guaranteed_users(0.05)
    for users in (0, -3, 1.5):
        with pytest.raises(BadValue):
            release.predicted_error(users)  # type: ignore[arg-type]
    with pytest.raises(BadValue):
        release.l2_error(np.zeros(8, dtype=int))
    with pytest.raises(BadValue):
        release.predicted_error(5, np.ones(8))
    with pytest.raises(BadValue, match="alpha"):
        registry.build("shifted", create("prefix", 8), 1.0)
    with pytest.raises(UnknownName):
        registry.build("shiftd", create("prefix", 8), 1.0)


# The distance ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("workload", "size", "alpha"), [("prefix", 16, 0.3), ("3-way-marginals", 32, 0.45)])
def test_search_for_the_distance_is_certified(workload: str, size: int, alpha: float) -> None:
    W = create(workload, size)
    search = best_distance(W, alpha)
    assert search.stopped == "gap"
    assert search.lower_bound <= search.objective <= search.lower_bound * (1 + 2e-3)
    for a in np.linspace(0, 0.9 * alpha, 5).tolist():
        assert compute("gamma-2-shifted", W, alpha=a).upper / (alpha - a) >= search.lower_bound * (1 - 1e-9)


@pytest.mark.parametrize(("workload", "alpha"), [("prefix", 0.1), ("conjunctions-3", 0.35)])
def test_best_distance_beats_half_alpha_and_none(workload: str, alpha: float) -> None:
    W = create(workload, 32)
    best = built("shifted", workload, 32, alpha=alpha).predicted_users(alpha)
    for a in (0.0, 0.5 * alpha):
        norm = compute("gamma-2-shifted", W, alpha=a)
        fixed = factorization(
            W.matrix(), norm.left.dense(), norm.right.dense(), norm.witness["shift"], distance=a + norm.residual
        )
        assert best < registry.release_of("fixed", fixed, 1.0).predicted_users(alpha)
    assert built("approximate", workload, 32, alpha=alpha).predicted_users(alpha) < built(
        "half-alpha", workload, 32, alpha=alpha
    ).predicted_users(alpha)


# Rivals ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1, 2, 5, 8, 13, 16, 128, 200])
def test_dyadic_tree_has_its_closed_forms(size: int) -> None:
    W = create("prefix", size).matrix()
    found, best = releases.plain(W), releases.least_squares(W)
    depth = (size - 1).bit_length()
    assert found.column_norm == pytest.approx(math.sqrt(depth))
    lengths = np.arange(1, size + 1)
    pieces = np.where(lengths == 1 << depth, 0, np.bitwise_count(lengths))
    assert np.sum(found.left**2, axis=1) == pytest.approx(pieces)
    assert found.distance < 1e-12
    assert best.distance < 1e-12
    assert np.all(np.sum(best.left**2, axis=1) <= np.sum(found.left**2, axis=1) + 1e-12)


def test_polynomials_are_as_far_as_they_say() -> None:
    for workload in ("3-way-marginals", "conjunctions-4", "at-most-2-way-marginals"):
        W = create(workload, 32)
        for degree in (1, 2, 3, 4):
            found = sources.by_degree(W, degree)
            error = np.abs(found.left @ found.right - found.shift[:, None] - W.matrix()).max()
            assert error == pytest.approx(found.distance, abs=1e-12)
    f, error = sources.uniform_polynomial(2, 1)  # [s = 2] on 0, 1, 2 by a line: −1/4, 1/4, 3/4
    assert error == pytest.approx(0.25)
    assert np.array(krawtchouk(2)) @ f == pytest.approx([-0.25, 0.25, 0.75])
    assert sources.uniform_polynomial(5, 5)[1] == 0.0


@pytest.mark.parametrize("alpha", [0.1, 0.42])
def test_polynomial_of_least_norm_is_the_shifted_norm(alpha: float) -> None:
    W = create("3-way-marginals", 32)
    _, a, objective = sources.least_norm_polynomial(5, 3, alpha)
    norm = compute("gamma-2-shifted", W, alpha=max(a, 0.0))
    assert norm.lower * (1 - 1e-6) <= objective * (alpha - a) <= norm.upper * (1 + 1e-6)
    found = sources.of_least_norm(W, alpha)
    assert found.row_norm * found.column_norm == pytest.approx(objective * (alpha - a), rel=1e-9)
    search = best_distance(W, alpha)
    assert search.lower_bound * (1 - 1e-6) <= objective <= search.objective * (1 + 1e-6)


def test_what_cannot_be_built_says_why() -> None:
    W = create("histogram", 8)
    for name in ("dyadic-tree", "polynomial", "symmetric-polynomial", "fourier-3"):
        found = registry.build(name, create("prefix", 16) if name != "dyadic-tree" else W, 1.0, alpha=ALPHA)
        assert isinstance(found, Unavailable)
        assert found.reason
    with pytest.raises(BadValue, match="delta"):
        registry.build("independent", W, 1.0, delta=0.1)
    with pytest.raises(BadValue, match="dimension"):
        FactorizationRelease(
            "x", factorization(np.eye(3), np.eye(3), np.eye(3)), randomizers.build("half-sphere", 2, 1.0)
        )


def test_constant_answers_ask_nobody() -> None:
    W = MatrixWorkload("constant", np.array([[2.0, 2.0], [1.0, 1.0]]))
    release = built_matrix(W)
    assert release.privacy_loss() == 0.0
    assert release.estimates(np.array([3, 4]), 2, np.random.default_rng(0)) == pytest.approx(np.array([[2.0, 1.0]] * 2))
    assert release.guaranteed_error(1) < 1e-12


def built_matrix(workload: MatrixWorkload) -> LocalRelease:
    found = registry.build("independent", workload, 1.0)
    assert isinstance(found, LocalRelease)
    return found


# Simulation --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", KINDS)
def test_simulated_errors_agree_with_exact_ones(name: str) -> None:
    """Means, covariances and ℓ₂² of 4000 collections, each at its share of one in a million."""
    release, x, trials = built(name), data(8), 4000
    errors = release.estimates(x, trials, np.random.default_rng(11)) - release.truth(x)
    p, C = x / x.sum(), release.covariance(x)
    from scipy.stats import chi2, norm

    z = norm.isf(LEVEL / len(KINDS) / 40)
    deviation = np.sqrt(np.diag(C) / trials)
    assert np.all(np.abs(errors.mean(axis=0) - release.bias @ p) <= z * deviation + 1e-12)
    # 1000 users: errors are near normal, so a variance has the χ² law but for its far tail.
    noisy = np.diag(C) > 1e-12 * np.diag(C).max()
    ratio = trials * errors.var(axis=0)[noisy] / np.diag(C)[noisy]
    assert np.all(ratio <= chi2.isf(LEVEL / 1000, trials - 1))
    assert np.all(ratio >= chi2.ppf(LEVEL / 1000, trials - 1))
    squares = np.sum(errors**2, axis=1)
    spread = math.sqrt((2 * np.sum(C**2) + 4 * (release.bias @ p) @ C @ (release.bias @ p)) / trials)
    assert abs(squares.mean() - release.l2_error(x)) <= 1.05 * z * spread


def test_simulation_stops_at_its_width_and_its_interval_holds() -> None:
    release, x = built("independent"), data(8)
    expected, error = release.gaussian_error(x, np.random.default_rng(3), draws=20000)
    found = simulate(release, x, np.random.default_rng(4), relative_width=0.02, level=LEVEL, looks=10)
    assert found.stopped == "width"
    assert found.relative_width <= 0.02
    assert found.low - 5 * error <= expected <= found.high + 5 * error
    assert found.users == 1000
    wide = simulate(release, x, np.random.default_rng(4), relative_width=1e-4, looks=2)
    assert wide.stopped == "looks"
    assert wide.trials == 64
    with pytest.raises(BadValue, match="relative_width"):
        simulate(release, x, np.random.default_rng(0), relative_width=0.0)
    with pytest.raises(BadValue, match="first"):
        simulate(release, x, np.random.default_rng(0), first=3)


def test_sequential_intervals_miss_no_more_often_than_they_say() -> None:
    """2000 runs on maxima of 16 normal numbers, with intervals at level 5 %."""
    rng = np.random.default_rng(8)
    level, looks, runs, missed = 0.05, 5, 2000, 0
    truth = np.abs(rng.standard_normal((400000, 16))).max(axis=1).mean()
    for _ in range(runs):
        values = np.abs(rng.standard_normal((512, 16))).max(axis=1)
        for look in range(looks):
            seen = values[: 32 << look]
            half = student_half_width(seen, level / looks)
            if half <= 0.04 * seen.mean():
                break
        missed += abs(seen.mean() - truth) > half
    assert missed <= binom.isf(LEVEL, runs, level)


def test_a_million_users_take_seconds() -> None:
    import time

    release = built("optimal", size=64)
    x = np.full(64, 15625)
    start = time.process_time()
    errors = release.estimates(x, 1, np.random.default_rng(0))[0] - release.truth(x)
    assert time.process_time() - start < 5.0
    assert np.abs(errors).max() < 3 * release.predicted_error(10**6)


# Rows --------------------------------------------------------------------------------------------------------


def test_rows_of_studies_have_equal_keys_and_agree() -> None:
    W = create("prefix", 8)
    rows = [release_errors.sample_complexity(W, 1.0, 0.1, name) for name in ("shifted", "one-query", "polynomial")]
    assert rows[0].keys() == rows[1].keys() == rows[2].keys()
    assert rows[2]["reason"]
    assert not rows[0]["reason"]
    assert rows[0]["predicted_users"] <= rows[0]["guaranteed_users"]
    measured = list(release_errors.errors(W, 1.0, 0.1, "dyadic-tree", [200, 3200], relative_width=0.05))
    refused = list(release_errors.errors(W, 1.0, 0.1, "polynomial", [200]))
    assert measured[0].keys() == refused[0].keys()
    for row in measured:
        assert row["measured_low"] <= row["gaussian_error"] <= row["measured_high"]
        assert row["gaussian_error"] <= row["predicted_error"] <= row["guaranteed_error"]
    assert measured[0]["measured_error"] / measured[1]["measured_error"] == pytest.approx(4, rel=0.15)
    again = list(release_errors.errors(W, 1.0, 0.1, "dyadic-tree", [200, 3200], relative_width=0.05))
    assert repr(again) == repr(measured)
