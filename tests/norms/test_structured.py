"""Prefix and range norms in O(n): the rules' errors, the certified ends, the optimum, and the factors."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from itertools import pairwise

import numpy as np
import pytest
from scipy.linalg import toeplitz

import factormech as fm
from factormech.errors import BadValue
from factormech.norms.by_workload import kronecker_norm
from factormech.norms.exact import factorization_norm
from factormech.norms.ordered_factors import (
    binary_tree,
    identity,
    refined,
    square_root,
    square_root_coefficients,
    trace_bound,
)
from factormech.norms.resolvents import Chain, diagonals, inverse_power, inverse_square_root, mirrored_diagonals
from factormech.norms.structured import prefix_norm, ranges_norm
from factormech.workloads.ranges import AllRanges
from tests.norms.oracle_roots import range_columns, squared_norms

# Rules -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ratio", [1.0, 17.0, 1e4, 1e13, 1e20])
@pytest.mark.parametrize("tolerance", [1e-2, 1e-5, 1e-10])
def test_the_elliptic_rule_errs_by_what_its_formula_says_and_no_less(ratio, tolerance):
    rule = inverse_square_root(0.3, 0.3 * ratio, tolerance)
    assert rule.lowest <= 0.3 <= 0.3 * ratio <= rule.highest
    t = np.geomspace(rule.lowest, rule.highest, 20001)
    errors = np.abs(rule(t) * np.sqrt(t) - 1.0)
    assert rule.relative_error <= tolerance
    # The bound is attained (at both ends of the interval), up to the rounding of the check.
    assert errors.max() == pytest.approx(rule.relative_error, rel=2e-3, abs=1e-14)


@pytest.mark.parametrize("alpha", [0.25, 0.5, 0.75, 0.9])
@pytest.mark.parametrize("ratio", [1.5, 1e6, 1e13])
@pytest.mark.parametrize("tolerance", [1e-3, 1e-8, 1e-12])
def test_powers_keep_their_bound(alpha, ratio, tolerance):
    rule = inverse_power(alpha, 2.0, 2.0 * ratio, tolerance)
    t = np.geomspace(2.0, 2.0 * ratio, 2001)
    assert np.all(rule.weights > 0)
    assert np.abs(rule(t) * t**alpha - 1.0).max() <= rule.relative_error <= tolerance + 1e-13


# Diagonals -------------------------------------------------------------------------------------------------------


def random_weights(n, seed, spread=3.0):
    rng = np.random.default_rng(seed)
    return tuple(np.exp(spread * rng.standard_normal(n)) / n for _ in range(2))


@pytest.mark.parametrize("tolerance", [1e-2, 1e-6, 1e-14])
def test_diagonals_are_within_their_slack_of_eighty_digits(tolerance):
    w, q = random_weights(7, seed=1)
    r, a = squared_norms(w, q)
    found = diagonals(Chain(q, w), tolerance)
    assert found.slack <= (1.0 + 1e-12) / (1.0 - tolerance)
    for mine, true in ((found.nodes, r), (found.loops, a)):
        ratios = [Decimal(float(v)) / t for v, t in zip(mine, true, strict=True)]
        assert max(max(ratios), 1 / min(ratios)) <= Decimal(found.slack)


def test_diagonals_against_singular_vectors():
    n = 300
    w, q = random_weights(n, seed=2, spread=0.7)
    U, S, Vt = np.linalg.svd(np.sqrt(w)[:, None] * np.tril(np.ones((n, n))) * np.sqrt(q))
    found = diagonals(Chain(q, w), 1e-14)
    np.testing.assert_allclose(found.nodes, (U**2 @ S) / w, rtol=1e-10)
    np.testing.assert_allclose(found.loops, (Vt.T**2 @ S) / q, rtol=1e-10)
    mirrored = mirrored_diagonals(q, 1e-14)
    U, S, _ = np.linalg.svd(np.sqrt(q[::-1])[:, None] * np.tril(np.ones((n, n))) * np.sqrt(q))
    np.testing.assert_allclose(mirrored.nodes, (U**2 @ S) / q[::-1], rtol=1e-10)
    np.testing.assert_array_equal(mirrored.loops, mirrored.nodes[::-1])


def test_the_spectrum_is_inside_its_bounds():
    for seed in range(5):
        w, q = random_weights(20, seed)
        S = np.linalg.svd(np.sqrt(w)[:, None] * np.tril(np.ones((20, 20))) * np.sqrt(q), compute_uv=False)
        lowest, highest = Chain(q, w).spectrum()
        assert lowest <= S[0] ** -2
        assert S[-1] ** -2 <= highest


# Norms -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("p", [2.0, 4.0, 8.0, math.inf])
def test_prefix_ends_hold_with_eighty_digits(p):
    n = 6
    found = prefix_norm(n, p, gap=1e-8)
    assert found.record["stopped"] == "gap"
    assert 0 < found.gap <= 1e-8
    w, q = found.witness["left_weights"], found.witness["right_weights"]
    r, a = squared_norms(w, q)
    with localcontext() as context:
        context.prec = 60
        w, q = [Decimal(float(v)) for v in w], [Decimal(float(v)) for v in q]
        k = Decimal(n)

        def norm(values, order):
            return (
                max(values) if math.isinf(order) else sum(v ** Decimal(order) for v in values) ** (1 / Decimal(order))
            )

        order = math.inf if p == 2 else 1.0 if math.isinf(p) else p / (p - 2)
        scale = Decimal(1) if math.isinf(p) else k ** (-1 / Decimal(p))
        dual = sum(x * y for x, y in zip(q, a, strict=True))
        # 8/6 is not a float: the oracle takes the same float as the solver (a difference of one rounding).
        lower = scale * dual / (sum(q) * norm(w, order)).sqrt()
        upper = scale * (norm(list(r), p / 2) * max(a)).sqrt()
        assert Decimal(found.lower) <= lower <= upper <= Decimal(found.upper)
        # … and give away no more than the margins: a hundredth of the gap for the rule at each end.
        assert lower - Decimal(found.lower) < Decimal("3e-10")
        assert Decimal(found.upper) - upper < Decimal("3e-10")


def test_range_ends_hold_with_eighty_digits():
    n = 6
    found = ranges_norm(n, gap=1e-8)
    q = found.witness["right_weights"]
    a = range_columns(q)
    with localcontext() as context:
        context.prec = 60
        q = [Decimal(float(v)) for v in q]
        dual, k = sum(x * y for x, y in zip(q, a, strict=True)), Decimal(n * (n + 1) // 2)
        lower, upper = dual / (k * sum(q)).sqrt(), (dual * max(a) / k).sqrt()
        assert Decimal(found.lower) <= lower <= upper <= Decimal(found.upper)
        assert lower - Decimal(found.lower) < Decimal("3e-10")
        assert Decimal(found.upper) - upper < Decimal("3e-10")


@pytest.mark.parametrize("n", [2, 5, 12])
@pytest.mark.parametrize("p", [2.0, math.inf])
def test_prefix_against_semidefinite_programming(n, p):
    cp = pytest.importorskip("cvxpy")
    X = cp.Variable((2 * n, 2 * n), PSD=True)
    r, a = cp.diag(X)[:n], cp.diag(X)[n:]
    rows = cp.sum(r) / n if p == 2 else cp.max(r)
    program = cp.Problem(cp.Minimize(0.5 * (rows + cp.max(a))), [X[:n, n:] == np.tril(np.ones((n, n)))])
    program.solve(solver="CLARABEL", tol_gap_abs=1e-9, tol_gap_rel=1e-9)
    found = prefix_norm(n, p, gap=1e-8)
    assert found.lower - 1e-6 <= program.value <= found.upper + 1e-6


def test_ranges_against_semidefinite_programming():
    cp = pytest.importorskip("cvxpy")
    n = 4
    W = AllRanges("all_ranges", n).matrix()
    k = len(W)
    X = cp.Variable((k + n, k + n), PSD=True)
    goal = 0.5 * (cp.sum(cp.diag(X)[:k]) / k + cp.max(cp.diag(X)[k:]))
    program = cp.Problem(cp.Minimize(goal), [X[:k, k:] == W])
    program.solve(solver="CLARABEL", tol_gap_abs=1e-9, tol_gap_rel=1e-9)
    found = ranges_norm(n, gap=1e-8)
    assert found.lower - 1e-6 <= program.value <= found.upper + 1e-6


def dense_fixed_point(W, p, steps):
    """Both ends of the dual by plain steps on dense singular vectors."""
    k, n = W.shape
    w, q = np.full(k, 1.0 if p == 2 else 1.0 / k), np.full(n, 1.0 / n)
    for _ in range(steps):
        U, S, Vt = np.linalg.svd(np.sqrt(w)[:, None] * W * np.sqrt(q), full_matrices=False)
        r, a = (U**2 @ S) / w, (Vt.T**2 @ S) / q
        rows = r.sum() / k if p == 2 else r.max()
        lower, upper = S.sum() / math.sqrt(k if p == 2 else 1.0), math.sqrt(rows * a.max())
        q = q * a / np.dot(q, a)
        w = w if p == 2 else w * r / np.dot(w, r)
    return lower, upper


@pytest.mark.parametrize("p", [2.0, math.inf])
def test_prefix_meets_the_dense_fixed_point(p):
    lower, upper = dense_fixed_point(np.tril(np.ones((60, 60))), p, 60)
    found = prefix_norm(60, p)
    assert lower <= found.upper
    assert found.lower <= upper
    assert upper / found.lower - 1.0 < 5e-3


@pytest.mark.slow
@pytest.mark.parametrize("p", [2.0, math.inf])
def test_prefix_meets_the_dense_fixed_point_on_a_large_domain(p):
    lower, upper = dense_fixed_point(np.tril(np.ones((512, 512))), p, 40)
    found = prefix_norm(512, p)
    assert lower <= found.upper
    assert found.lower <= upper
    assert upper / lower - 1.0 < 2e-2


def test_ranges_meet_the_dense_fixed_point():
    lower, upper = dense_fixed_point(AllRanges("all_ranges", 30).matrix(), 2.0, 80)
    found = ranges_norm(30)
    assert lower <= found.upper
    assert found.lower <= upper
    assert upper / found.lower - 1.0 < 1e-3


@pytest.mark.parametrize("n", [1, 2, 3, 65, 257, 1000])
def test_every_size_reaches_its_gap(n):
    for found in (prefix_norm(n), prefix_norm(n, 2), prefix_norm(n, 4), ranges_norm(n)):
        assert found.record["stopped"] == "gap"
        assert 0.0 <= found.gap <= 1e-6
    assert prefix_norm(1).lower <= 1.0 <= prefix_norm(1).upper


def test_orders_are_monotone_and_between_the_closed_bounds():
    n = 700
    found = [prefix_norm(n, p) for p in (2.0, 2.5, 4.0, 8.0, math.inf)]
    for low, high in pairwise(found):
        assert low.lower <= high.upper
        assert low.upper < high.lower
    g = np.mean(1.0 / np.sin(np.arange(1, 2 * n, 2) * np.pi / (2 * n)))  # Mathias, SIAM J. Matrix Anal. Appl. 14 (1993)
    assert (n + 1) * g / (2 * n) < trace_bound(n) < found[0].lower
    assert found[-1].upper < (g + 1) / 2


@pytest.mark.parametrize(("n", "value"), [(4096, 3.3942357), (65536, 4.265997)])
def test_prefix_on_large_domains(n, value):
    found = prefix_norm(n)
    assert found.gap <= 1e-6
    assert found.lower - 5e-7 <= value <= found.upper + 5e-7


@pytest.mark.slow
def test_prefix_on_a_million():
    found = prefix_norm(2**20)
    assert found.gap <= 1e-6
    assert found.lower - 5e-7 <= 5.141968 <= found.upper + 5e-7


def test_tighter_gaps_lie_inside():
    wide, narrow = prefix_norm(300, gap=1e-3), prefix_norm(300, gap=1e-8)
    assert wide.lower <= narrow.lower <= narrow.upper <= wide.upper
    assert narrow.gap <= 1e-8


def test_too_few_iterations_are_reported():
    found = prefix_norm(200, iterations=1)
    assert found.record["stopped"] == "iterations"
    assert found.lower < prefix_norm(200).lower < found.upper
    assert found.gap > 1e-6


def test_answers_are_deterministic():
    first, second = prefix_norm(333, 4), prefix_norm(333, 4)
    assert (first.lower, first.upper) == (second.lower, second.upper)


@pytest.mark.parametrize(
    "call",
    [
        lambda: prefix_norm(0),
        lambda: prefix_norm(5, 1.5),
        lambda: prefix_norm(5, math.nan),
        lambda: prefix_norm(5, gap=0.0),
        lambda: prefix_norm(5, iterations=0),
        lambda: ranges_norm(5, math.inf),
        lambda: inverse_square_root(1.0, math.inf, 1e-3),
        lambda: Chain(np.array([1.0, 0.0]), np.ones(2)),
        lambda: prefix_norm(5).left.apply(np.ones(4)),
    ],
)
def test_bad_values_are_refused(call):
    with pytest.raises(BadValue):
        call()


def test_refinement_keeps_a_flat_start():
    np.testing.assert_allclose(np.ptp(refined(np.full(64, -2.0), 250)), 0.0, atol=1e-12)


# Factors ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("solve", "n"), [(lambda n: prefix_norm(n), 80), (lambda n: prefix_norm(n, 4), 50)])
def test_prefix_factors_are_the_optimal_ones(solve, n):
    found = solve(n)
    W = np.tril(np.ones((n, n)))
    w, q = found.witness["left_weights"], found.witness["right_weights"]
    U, S, Vt = np.linalg.svd(np.sqrt(w)[:, None] * W * np.sqrt(q))
    R, A = found.left.dense(), found.right.dense()
    np.testing.assert_allclose(R, (U * np.sqrt(S)) @ U.T / np.sqrt(w)[:, None], atol=1e-10)
    np.testing.assert_allclose(A, (U * np.sqrt(S)) @ Vt / np.sqrt(q), atol=1e-10)
    np.testing.assert_allclose(found.left.apply_transposed(np.eye(n)), R.T, atol=1e-12)
    np.testing.assert_allclose(found.right.apply_transposed(np.eye(n)), A.T, atol=1e-12)
    assert np.abs(R @ A - W).max() <= found.residual + 1e-12


def test_range_factors_are_the_optimal_ones():
    n = 24
    found, W = ranges_norm(n), AllRanges("all_ranges", n).matrix()
    R, A = found.left.dense(), found.right.dense()
    assert (R.shape, A.shape) == (found.left.shape, found.right.shape)
    assert np.abs(R @ A - W).max() <= found.residual + 1e-12
    error = math.sqrt(np.mean((R**2).sum(axis=1)) * (A**2).sum(axis=0).max())
    assert found.lower <= error * (1 + 1e-11)
    assert error <= found.upper
    np.testing.assert_allclose(found.left.apply_transposed(np.eye(len(W))), R.T, atol=1e-12)
    np.testing.assert_allclose(found.right.apply_transposed(np.eye(n)), A.T, atol=1e-12)


def test_factors_multiply_to_the_workload_on_a_large_domain():
    n = 65536
    found, x = prefix_norm(n, gap=1e-3), np.random.default_rng(0).standard_normal((n, 2))
    prefix = np.cumsum(x, axis=0)
    np.testing.assert_allclose(found.left.apply(found.right.apply(x)), prefix, atol=1e-10 * np.abs(prefix).max())
    suffix = np.cumsum(x[::-1], axis=0)[::-1]
    product = found.right.apply_transposed(found.left.apply_transposed(x))
    np.testing.assert_allclose(product, suffix, atol=1e-10 * np.abs(suffix).max())
    np.testing.assert_allclose(found.right.apply(x[:, 0]), found.right.apply(x)[:, 0], rtol=1e-12)


# Known factorizations ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 2, 3, 8, 13])
def test_the_tree_against_least_squares(n):
    height = (n - 1).bit_length()
    size = 2**height
    A = np.vstack([np.kron(np.eye(size >> level), np.ones(1 << level)) for level in range(height + 1)])
    R = np.tril(np.ones((size, size))) @ np.linalg.pinv(A)
    np.testing.assert_allclose(binary_tree(n).rows, (R**2).sum(axis=1)[:n], rtol=1e-12)
    np.testing.assert_array_equal(binary_tree(n).columns, (A**2).sum(axis=0)[:n])


def test_the_square_root_squares_to_the_workload():
    n = 37
    root = toeplitz(square_root_coefficients(n), np.zeros(n))
    np.testing.assert_allclose(root @ root, np.tril(np.ones((n, n))), atol=1e-12)
    np.testing.assert_allclose(square_root(n).rows, (root**2).sum(axis=1))
    np.testing.assert_allclose(square_root(n).columns, (root**2).sum(axis=0))


@pytest.mark.parametrize("p", [2.0, 4.0, math.inf])
def test_known_factorizations_err_more_than_the_optimum(p):
    n = 128
    best = prefix_norm(n, p)
    root, tree, plain = (known(n).error(p) for known in (square_root, binary_tree, identity))
    assert best.upper < root < tree < plain
    if math.isinf(p):
        assert root / best.lower == pytest.approx(1.125, abs=2e-3)
        assert plain == pytest.approx(math.sqrt(n))


def test_trace_bound_is_the_nuclear_norm():
    S = np.linalg.svd(np.tril(np.ones((31, 31))), compute_uv=False)
    assert trace_bound(31) == pytest.approx(S.sum() / 31, rel=1e-12)


# Products --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("p", [2.0, 4.0, math.inf])
def test_norms_of_products_are_products(p):
    made = fm.product(fm.workload("prefix", 4), fm.workload("all-ranges", 3))
    found, whole = kronecker_norm(made, p), factorization_norm(made, p)
    assert found.lower <= whole.upper
    assert whole.lower <= found.upper
    assert found.gap < 2e-6
    R, A = found.left.dense(), found.right.dense()
    assert np.abs(R @ A - made.matrix()).max() <= max(found.residual, 1e-12)
    x = np.random.default_rng(0).standard_normal((made.domain_size, 2))
    assert found.right.apply(x) == pytest.approx(A @ x)
    assert found.left.apply_transposed(R[:, :2]) == pytest.approx(R.T @ R[:, :2])


def test_products_that_no_matrix_holds():
    """γ₂ of the 0/1 conjunctions of 2 attributes is 4/3: of 24 attributes (4/3)¹², over 2²⁴ types."""
    two = fm.workload("conjunctions-2", 4)
    found = fm.norm(fm.product(*[two] * 12), "gamma-2")
    assert found.lower <= (4 / 3) ** 12 * (1 + 1e-14)
    assert found.upper * (1 + 1e-14) >= (4 / 3) ** 12
    assert found.gap < 1e-5
