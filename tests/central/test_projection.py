"""Wolfe's point against brute force over faces, optimality conditions and a general solver; the mechanism around it."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import cvxpy as cp
import numpy as np
import pytest

from factormech.bounds.central.release import replacement_bound
from factormech.errors import BadValue, Unavailable
from factormech.mechanisms.central.moments import gaussian_norm
from factormech.mechanisms.central.projection import TOTAL_PUBLIC, Hull, ProjectedMechanism
from factormech.mechanisms.central.registry import build
from factormech.norms.registry import compute
from factormech.studies.measures import central
from factormech.studies.measures.central import sparse_data
from factormech.workloads.registry import create


def brute_force(V: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The nearest of the nearest points of all faces' affine hulls that lie inside their face."""
    k, N = V.shape
    best, found = math.inf, V[:, 0]
    for size in range(1, min(k + 1, N) + 1):
        for chosen in itertools.combinations(range(N), size):
            P = V[:, chosen]
            D = P[:, 1:] - P[:, :1]
            beta = np.linalg.lstsq(D, y - P[:, 0], rcond=None)[0] if size > 1 else np.empty(0)
            weights = np.concatenate([[1 - beta.sum()], beta])
            if weights.min() >= -1e-12 and np.linalg.norm(P @ weights - y) < best:
                best, found = float(np.linalg.norm(P @ weights - y)), P @ weights
    return found


@pytest.mark.parametrize("seed", range(12))
def test_small_hulls_by_brute_force(seed: int) -> None:
    rng = np.random.default_rng(seed)
    k, N = int(rng.integers(1, 5)), int(rng.integers(1, 9))
    V = rng.standard_normal((k, N)) if seed % 2 else np.sign(rng.standard_normal((k, N)))  # signs: ties, repeats
    for scale in (0.0, 0.3, 3.0, 1e6):
        y = V.mean(axis=1) + scale * rng.standard_normal(k)
        found = Hull(V).project(y)
        np.testing.assert_allclose(found.point, brute_force(V, y), atol=1e-10)


@pytest.mark.parametrize(("k", "N", "noise"), [(32, 256, 0.1), (32, 256, 1.0), (64, 40, 0.5), (20, 300, 1e4)])
@pytest.mark.parametrize("offset", [0.0, 1e3])
def test_optimality_conditions(k: int, N: int, noise: float, offset: float) -> None:
    """x is the projection exactly if x is in the hull and ⟨y − x, v − x⟩ ≤ 0 for every vertex v."""
    rng = np.random.default_rng(k + N)
    V = np.sign(rng.standard_normal((k, N))) + offset
    y = V @ rng.dirichlet(np.full(N, 0.1)) + noise * rng.standard_normal(k)
    found = Hull(V).project(y)
    assert found.weights.min() >= 0
    assert found.weights.sum() == pytest.approx(1.0, rel=1e-12)
    np.testing.assert_allclose(V @ found.weights, found.point, rtol=1e-12, atol=1e-11)
    beyond = (y - found.point) @ (V - found.point[:, None])
    size = (1 + np.linalg.norm(y - found.point)) * math.sqrt(k)
    assert beyond.max() <= 1e-12 * size * (1 + offset)
    assert found.gap <= 1e-12 * size * (1 + offset)


def exact_corral(P: list[list[Fraction]], y: list[Fraction]) -> list[Fraction]:
    """The affine weights of the point of aff P nearest to y, by Gaussian elimination without any rounding."""
    s = len(P)
    gram = [[sum(a * b for a, b in zip(p, q, strict=True)) for q in P] for p in P]
    right = [sum(a * b for a, b in zip(p, y, strict=True)) for p in P]
    A = [[*gram[i], Fraction(1), right[i]] for i in range(s)] + [[Fraction(1)] * s + [Fraction(0), Fraction(1)]]
    for i in range(s + 1):
        pivot = next(r for r in range(i, s + 1) if A[r][i] != 0)
        A[i], A[pivot] = A[pivot], A[i]
        A[i] = [entry / A[i][i] for entry in A[i]]
        for r in range(s + 1):
            if r != i and A[r][i] != 0:
                A[r] = [a - A[r][i] * b for a, b in zip(A[r], A[i], strict=True)]
    return [row[-1] for row in A[:s]]


@pytest.mark.parametrize("noise", [0.05, 0.5, 5.0])
def test_proof_in_rational_numbers(noise: float) -> None:
    """The corral is the optimal one, exactly, and the floats are within 1e-10 of its point."""
    rng = np.random.default_rng(7)
    V = rng.choice([-1.0, 1.0], (12, 60))
    y = np.round((V @ rng.dirichlet(np.ones(60)) + noise * rng.standard_normal(12)) * 1024) / 1024
    found = Hull(V).project(y)
    chosen = np.flatnonzero(found.weights)
    columns = [[Fraction(entry) for entry in V[:, j]] for j in range(60)]
    goal = [Fraction(entry) for entry in y]
    weights = exact_corral([columns[j] for j in chosen], goal)
    assert min(weights) > 0
    x = [sum(w * columns[j][i] for w, j in zip(weights, chosen, strict=True)) for i in range(12)]
    residual = [a - b for a, b in zip(goal, x, strict=True)]
    # Optimal: no column lies beyond x as seen from y.
    assert all(sum(r * (c - b) for r, c, b in zip(residual, p, x, strict=True)) <= 0 for p in columns)
    assert max(abs(float(b) - a) for a, b in zip(found.point, x, strict=True)) < 1e-10


def test_many_points_at_once() -> None:
    rng = np.random.default_rng(3)
    V = rng.standard_normal((5, 30))
    Y = rng.standard_normal((40, 5)) * rng.choice([0.1, 1.0, 10.0], (40, 1))
    hull = Hull(V)
    found = hull.project_all(Y)
    for i, y in enumerate(Y):
        one = hull.project(y)
        np.testing.assert_array_equal(found.points[i], one.point)
        np.testing.assert_array_equal(found.weights[i], one.weights)
        assert (found.gaps[i], found.iterations[i]) == (one.gap, one.iterations)
    np.testing.assert_allclose(found.weights @ V.T, found.points, atol=1e-12)
    assert hull.project_all(np.empty((0, 5))).points.shape == (0, 5)
    with pytest.raises(BadValue, match="points"):
        hull.project_all(np.ones((2, 4)))


def test_a_general_solver_agrees() -> None:
    rng = np.random.default_rng(2)
    V = rng.standard_normal((12, 60))
    y = V @ rng.dirichlet(np.ones(60)) + 0.5 * rng.standard_normal(12)
    weights = cp.Variable(60, nonneg=True)
    problem = cp.Problem(cp.Minimize(cp.sum_squares(V @ weights - y)), [cp.sum(weights) == 1])
    problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-13, tol_gap_rel=1e-13, tol_feas=1e-13)
    np.testing.assert_allclose(Hull(V).project(y).point, V @ weights.value, atol=1e-6)


def test_points_inside_stay_and_projections_repeat() -> None:
    rng = np.random.default_rng(0)
    V = rng.standard_normal((10, 50))
    hull = Hull(np.concatenate([V, V], axis=1))  # every point twice
    inside = V @ rng.dirichlet(np.ones(50))
    np.testing.assert_allclose(hull.project(inside).point, inside, atol=1e-12)
    outside = hull.project(10 * inside + 1)
    np.testing.assert_allclose(hull.project(outside.point).point, outside.point, atol=1e-12)
    assert hull.project(inside, iterations=1).iterations == 1
    for bad in (np.ones(3), np.full(10, math.nan)):
        with pytest.raises(BadValue, match="y ="):
            hull.project(bad)
    with pytest.raises(BadValue, match="columns"):
        Hull(np.empty((3, 0)))


def projected(family: str, n: int, **options: str) -> ProjectedMechanism:
    built = build("gaussian-projection", create(family, n), 1.0, 1e-6, **options)  # type: ignore[arg-type]
    assert isinstance(built, ProjectedMechanism)
    return built


@pytest.mark.parametrize("base", ["gaussian-output", "gamma-f"])
def test_projection_brings_every_release_nearer(base: str) -> None:
    found = projected("random-signs", 32, base=base)
    x = np.zeros(32)
    x[[3, 7]] = 10.0
    truth = found.workload.answer(x)[:, None]
    raw = found.base.simulate_release(x, np.random.default_rng(1), 100)
    near = found.simulate_release(x, np.random.default_rng(1), 100)
    before, after = np.linalg.norm(raw - truth, axis=0), np.linalg.norm(near - truth, axis=0)
    assert np.all(after < before)
    # ‖ŷ − Wx‖² ≤ 2N max_j ⟨z, W_j − Wx/N⟩ on every draw.
    z = raw - truth
    bound = 2 * 20.0 * (z.T @ (found.workload.matrix() - truth / 20.0)).max(axis=1)
    assert np.all(after**2 <= bound * (1 + 1e-9))
    assert found.verify().delta_found <= 1e-6
    assert found.relation == TOTAL_PUBLIC


def test_releases_of_projections() -> None:
    found = projected("prefix", 6)
    x = np.array([5.0, 0, 0, 1, 0, 0])
    answers = found.simulate(x)
    # Prefix answers of a histogram of 6 users: they rise from 0 or more to 6.
    assert np.all(np.diff(answers, prepend=0.0) >= -1e-9)
    assert answers[-1] == pytest.approx(6.0)
    assert found.simulate(np.zeros(6)).tolist() == [0.0] * 6
    with pytest.raises(BadValue, match="data"):
        found.simulate(-x)
    run = found.simulated_error(x, np.random.default_rng(0), 0.2)
    assert run.reached
    assert run.certain is not None
    assert run.certain.low <= run.mean.value
    with pytest.raises(BadValue, match="p ="):
        found.simulated_error(x, np.random.default_rng(0), p=0.5)
    with pytest.raises(BadValue, match="base"):
        build("gaussian-projection", create("prefix", 4), 1.0, 1e-6, base="approximate", alpha=0.1)


def few(workload: str, n: int, users: list[int], mechanisms: list[str]) -> list[dict[str, Any]]:
    return central.few_users_rows(create(workload, n), users, mechanisms, 1.0, 1e-6, alpha=0.25, relative_width=0.3)


def test_rows_of_few_users_cross() -> None:
    rows = few("random-signs", 16, [2, 2000], ["gaussian-projection", "gamma-f"])
    two, many, flat, _ = rows
    assert two["high"] < flat["rms_error"] < many["low"]
    assert two["relation"] == TOTAL_PUBLIC != flat["relation"]
    at = central.crossover(rows, "gaussian-projection", "gamma-f")
    assert at is not None
    assert 2 < at < 2000
    assert central.crossover(rows, "gamma-f", "gaussian-projection") is None
    with pytest.raises(BadValue, match="rows"):
        central.crossover(rows[:3], "gaussian-projection", "gamma-f")


@pytest.mark.parametrize("name", ["gaussian-projection", "gamma-f-projection"])
@pytest.mark.parametrize("workload", ["prefix", "2-way-marginals"])
def test_a_projection_is_within_its_guarantee_and_never_worse_than_its_base(workload: str, name: str) -> None:
    found = build(name, create(workload, 16), 1.0, 1e-6)
    assert isinstance(found, ProjectedMechanism)
    W = create(workload, 16).matrix()
    pairs = max(float(np.linalg.norm(a - b)) for a in W.T for b in W.T)
    assert found.diameter == pytest.approx(pairs)
    for users in (1, 40, 10**6):
        worst = found.guaranteed_error(users)
        assert worst <= found.base.exact_error(2.0).total * (1 + 1e-12)
        assert worst <= users * pairs * (1 + 1e-9)
        for i, (_, x) in enumerate(sparse_data(16, users, np.random.default_rng(0))[::3]):
            assert found.simulated_error(x, np.random.default_rng(i), 0.4).root_mean_square.low <= worst


def test_the_guarantee_is_that_of_the_largest_of_the_vertices() -> None:
    """‖ŷ − Wx‖² ≤ 2N max_j⟨Lz, W_j − Wx/N⟩, draw by draw, on its way to the bound."""
    found = build("gaussian-projection", create("prefix", 64), 1.0, 1e-6)
    assert isinstance(found, ProjectedMechanism)
    rng, W, N = np.random.default_rng(3), create("prefix", 64).matrix(), 40.0
    x = np.full(64, N / 64)
    z = found.sigma * rng.standard_normal((64, 200))
    misses = found.project(W @ x[:, None] + z, N) - (W @ x)[:, None]
    largest = np.max((W - (W @ x / N)[:, None]).T @ z, axis=0)
    assert np.all(np.sum(misses**2, axis=0) <= 2.0 * N * largest * (1 + 1e-9))
    assert found.guaranteed_error(N) < 0.99 * min(N * found.diameter, found.base.exact_error(2.0).total)
    assert largest.mean() <= found.guaranteed_error(N) ** 2 / (2.0 * N)


def test_rows_of_few_users_stay_above_what_no_mechanism_passes() -> None:
    rows = few("prefix", 8, [1, 100, 10**6], ["gamma-f", "gaussian-output", "approximate"])
    assert all(0.0 <= row["lower_bound"] <= row["rms_error"] for row in rows)
    last = [row for row in rows if row["users"] == 10**6]
    # With many users the bound is that of the columns' half differences, with nearly δ itself.
    half = replacement_bound(0.5 * create("prefix", 8).matrix(), 1.0, 1e-6, 2 * 10**6)
    assert last[0]["lower_bound"] == half.per_query > 0.2
    bias = [row["rms_error"] for row in rows if row["mechanism"] == "approximate"]
    assert bias[0] < bias[1] < bias[2]
    assert bias[2] == pytest.approx(0.25e6, rel=0.2)


def orders(workload: str, n: int, mechanisms: list[str], p: tuple[float, ...]) -> list[dict[str, Any]]:
    W = create(workload, n)
    return list(central.error_rows(W, mechanisms, p, 0.5, 1e-6, relative_width=0.2))


def test_rows_by_order_stay_above_the_bound() -> None:
    rows = orders("prefix", 32, ["optimal", "square-root", "gaussian-input"], (2.0, 8.0, math.inf))
    assert len(rows) == 9
    for row in rows:
        assert row["order_p_error"] > row["lower_bound"] > 0.0
        if row["mechanism"] == "optimal":
            norm = compute(central.norm_name(row["p"]), create("prefix", 32))
            assert norm.lower <= row["factor_error"] <= norm.lower * (1 + 2e-6)
        if row["p"] < math.inf:
            assert row["total_error"] == pytest.approx(row["order_p_error"] * row["queries"] ** (1 / row["p"]))
            noise = row["sigma"] / row["sensitivity"] * gaussian_norm(row["p"])
            assert row["order_p_error"] == pytest.approx(row["factor_error"] * noise)
        else:
            assert row["low"] < row["order_p_error"] < row["high"]
            assert row["root_mean_square"] > row["root_lower_bound"] > row["lower_bound"]


def test_where_a_norm_is_too_large_to_solve_another_bounds_it() -> None:
    rows = orders("all-ranges", 256, ["optimal"], (2.0, 4.0, math.inf))
    square, fourth, largest = rows
    assert "reason" not in square
    assert "at most" in fourth["reason"]
    assert square["lower_bound"] == fourth["lower_bound"]
    assert largest["root_lower_bound"] == square["lower_bound"]
    assert isinstance(build("approximate", create("all-ranges", 64), 1.0, 1e-6, alpha=0.1), Unavailable)


def test_rows_by_order_repeat_reasons_and_refuse_what_depends_on_data() -> None:
    rows = orders("histogram", 4, ["binary-tree", "gamma-f"], (2.0, math.inf))
    assert [row["mechanism"] for row in rows if "reason" in row] == ["binary-tree"] * 2
    for name in ("gaussian-projection", "approximate"):
        with pytest.raises(BadValue, match="few_users_rows"):
            orders("histogram", 4, [name], (2.0,))


@pytest.mark.parametrize("scale", [0.3, 1.0, 3.0, 30.0])
@pytest.mark.parametrize(("k", "N"), [(3, 8), (10, 40), (24, 12)])
def test_a_projection_ends_at_the_same_point_wherever_it_begins(k: int, N: int, scale: float) -> None:
    """From the weights of another point, of all points (of which some depend on the others), of one that is far."""
    rng = np.random.default_rng(0)
    hull = Hull(rng.standard_normal((k, N)))
    for y in scale * rng.standard_normal((5, k)):
        expected = hull.project(y)
        near = hull.project(y + 0.1 * rng.standard_normal(k)).weights
        for start in (near, np.ones(N), 1.0 * (np.arange(N) == np.argmin(expected.weights)), expected.weights):
            found = hull.project(y, start=start)
            np.testing.assert_allclose(found.point, expected.point, atol=1e-10)
            np.testing.assert_allclose(hull.points.T @ found.weights, found.point, atol=1e-10)
            assert found.weights.min() >= 0.0
            assert found.weights.sum() == pytest.approx(1.0, rel=1e-12)
        assert hull.project(y, start=expected.weights).iterations <= min(2, expected.iterations)


@pytest.mark.parametrize("start", [np.zeros(4), -np.eye(4)[0], np.ones(3), np.array([1.0, np.nan, 0.0, 0.0])])
def test_what_are_no_weights_is_no_beginning(start: np.ndarray[Any, Any]) -> None:
    with pytest.raises(BadValue, match="start"):
        Hull(np.eye(4)).project(np.ones(4), start=start)
