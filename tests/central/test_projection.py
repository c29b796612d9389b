"""Wolfe's point against brute force over faces, optimality conditions and a general solver; the mechanism around it."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import cvxpy as cp
import numpy as np
import pytest

from factormech.central.projection import TOTAL_PUBLIC, ProjectedMechanism
from factormech.central.registry import build
from factormech.central.wolfe import Hull
from factormech.errors import BadValue
from factormech.measure import central_errors
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
    answers = found.release(x)
    # Prefix answers of a histogram of 6 users: they rise from 0 or more to 6.
    assert np.all(np.diff(answers, prepend=0.0) >= -1e-9)
    assert answers[-1] == pytest.approx(6.0)
    assert found.release(np.zeros(6)).tolist() == [0.0] * 6
    with pytest.raises(BadValue, match="data"):
        found.release(-x)
    run = found.simulated_error(x, np.random.default_rng(0), 0.2)
    assert run.reached
    assert run.certain is not None
    assert run.certain.low <= run.mean.value
    with pytest.raises(BadValue, match="p ="):
        found.simulated_error(x, np.random.default_rng(0), p=0.5)
    with pytest.raises(BadValue, match="base"):
        build("gaussian-projection", create("prefix", 4), 1.0, 1e-6, base="approximate", alpha=0.1)


def test_rows_of_few_users_cross() -> None:
    rows = list(
        central_errors.few_users_rows(
            "random-signs", 16, [2, 2000], ["gaussian-projection", "gamma-f"], 1.0, 1e-6, relative_width=0.3
        )
    )
    few, many, flat, _ = rows
    assert few["high"] < flat["error"] < many["low"]
    assert few["high"] <= few["diameter"] * (1 + 1e-9) or few["error"] <= few["diameter"]
    assert few["relation"] == TOTAL_PUBLIC != flat["relation"]
    at = central_errors.crossover(rows, "gaussian-projection", "gamma-f")
    assert at is not None
    assert 2 < at < 2000
    assert central_errors.crossover(rows, "gamma-f", "gaussian-projection") is None
    with pytest.raises(BadValue, match="rows"):
        central_errors.crossover(rows[:3], "gaussian-projection", "gamma-f")


def test_rows_of_prefix_errors_stay_above_the_bound() -> None:
    rows = list(
        central_errors.prefix_rows(
            [16, 64],
            ["optimal", "square-root", "gaussian-input"],
            0.5,
            1e-6,
            orders=(2.0, 8.0, math.inf),
            relative_width=0.2,
        )
    )
    assert len(rows) == 18
    assert all(row["factor_error"] >= row["lower"] * (1 - 1e-12) for row in rows)
    for row in rows:
        if row["mechanism"] == "optimal":
            assert row["factor_error"] <= row["lower"] * (1 + 2e-6)
        if row["order"] < math.inf:
            assert row["total"] == pytest.approx(row["error"] * row["queries"] ** (1 / row["order"]))
        else:
            assert row["low"] < row["error"] < row["high"]


def test_rows_against_domain_size_repeat_reasons() -> None:
    asked = {"approximate": {"alpha": 0.25}}
    rows = list(
        central_errors.error_rows(
            "histogram",
            [4, 8],
            ["binary-tree", "approximate", "gamma-f"],
            1.0,
            1e-6,
            settings=asked,
            users=5.0,
            relative_width=0.3,
        )
    )
    assert [row["mechanism"] for row in rows if "reason" in row] == ["binary-tree"] * 2
    assert sum("error" in row for row in rows) == 12
    with pytest.raises(BadValue, match="few_users_rows"):
        list(central_errors.error_rows("histogram", [4], ["gaussian-projection"], 1.0, 1e-6))
    with pytest.raises(BadValue, match="users"):
        list(central_errors.error_rows("histogram", [4], ["approximate"], 1.0, 1e-6, settings=asked))
