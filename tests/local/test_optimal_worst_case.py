"""The least worst case: another solver, symmetry, every strategy above the bound, and what the answer itself says."""

from __future__ import annotations

import math

import numpy as np
import pytest

from factormech.arrays import FloatArray
from factormech.errors import BadValue
from factormech.mechanisms.local.optimal import exact
from factormech.mechanisms.local.optimal.problem import Optimised, Problem
from factormech.mechanisms.local.optimal.worst_case import solve_worst_case
from factormech.numerics.vectors import root
from factormech.workloads import registry
from tests import oracles
from tests.bounds import optimum

RNG = np.random.default_rng(0)


def rows(found: Optimised, epsilon: float) -> FloatArray:
    return np.asarray(found.weights[:, None] * np.where(found.supports, math.exp(epsilon), 1.0))


def check(found: Optimised, C: FloatArray, epsilon: float, gap: float) -> None:
    n, Q, F = len(C), rows(found, epsilon), root(C).T
    np.testing.assert_allclose(Q.sum(axis=0), 1.0, atol=1e-11)
    B = np.asarray(found.details["reconstruction"])
    # Unbiased on the workload, and with the variances that are stated.
    np.testing.assert_allclose(F @ B @ Q, F, rtol=0.0, atol=1e-12 * np.abs(F).max() / math.tanh(epsilon / 2.0))
    variance = ((F @ B) ** 2).sum(axis=0) @ Q - np.diagonal(C)
    np.testing.assert_allclose(variance, np.asarray(found.details["variance"]), rtol=1e-7)
    assert n * variance.max() + np.trace(C) == pytest.approx(found.objective, rel=1e-8)
    assert -1e-11 <= found.gap <= gap
    # The bound is the best average under the prior.
    x = np.asarray(found.details["prior"])
    best = exact.solve(Problem(C, epsilon, x), RNG, gap=1e-8)
    own = n * (x @ np.diagonal(C) - x @ C @ x)
    assert best.lower_bound - own + np.trace(C) == pytest.approx(found.lower_bound, rel=1e-6)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
@pytest.mark.parametrize("name", ["prefix", "conjunctions-2", "1-way-marginals"])
def test_the_answer_is_what_it_says(name: str, epsilon: float) -> None:
    C = registry.create(name, 8).centred_gram()
    found = solve_worst_case(Problem(C, epsilon))
    check(found, C, epsilon, 1e-6)
    assert found.stopped == "gap"
    average = exact.solve(Problem(C, epsilon), RNG)
    assert found.objective >= average.lower_bound * (1.0 - 1e-12)
    if name == "1-way-marginals":  # all types are alike
        assert found.objective == pytest.approx(average.objective, rel=2e-6)
    elif epsilon == 4.0:
        assert found.objective > 1.01 * average.objective


@pytest.mark.parametrize("epsilon", [0.5, 3.0])
def test_another_solver_agrees(epsilon: float) -> None:
    import cvxpy as cp

    n = 4
    W = np.random.default_rng(5).normal(size=(3, n))
    C = oracles.centred_gram(W)
    v = optimum.extreme_rows(n, epsilon)
    theta, e, U = cp.Variable(len(v), nonneg=True), cp.Variable(len(v)), cp.Variable((3, len(v)))
    own, WP = np.diagonal(C), W - W.mean(axis=1, keepdims=True)
    constraints = [v.T @ theta == 1.0, U @ v == WP]
    constraints += [cp.quad_over_lin(U[:, j], theta[j]) <= e[j] for j in range(len(v))]
    program = cp.Problem(cp.Minimize(cp.max(v.T @ e - own)), constraints)
    program.solve(solver=cp.CLARABEL)
    found = solve_worst_case(Problem(C, epsilon))
    check(found, C, epsilon, 1e-6)
    assert found.objective == pytest.approx(n * float(program.value) + np.trace(C), rel=1e-6)


@pytest.mark.parametrize("seed", range(8))
def test_no_strategy_has_a_better_worst_case(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, epsilon = int(rng.integers(2, 6)), float(rng.choice([0.3, 1.0, 3.0]))
    C = oracles.centred_gram(rng.normal(size=(n, n)))
    found = solve_worst_case(Problem(C, epsilon))
    check(found, C, epsilon, 1e-6)
    mine, other = rows(found, epsilon), oracles.random_strategy(rng, 3 * n, n, epsilon)
    # The average's optimum and mixtures, each with reconstructions that are best under a few priors.
    average = rows(exact.solve(Problem(C, epsilon), rng), epsilon)
    for Q in (other, average, np.vstack([0.99 * mine, 0.01 * other])):
        for x in (np.full(n, 1.0 / n), np.asarray(found.details["prior"]), rng.dirichlet(np.ones(n))):
            centre = np.eye(n) - np.outer(x, np.ones(n))
            D = Q @ x
            V = root(C).T @ (centre @ np.linalg.pinv(Q.T @ (Q / D[:, None]), rcond=1e-11) @ Q.T / D + x[:, None])
            np.testing.assert_allclose(V @ Q, root(C).T, atol=1e-6 * np.abs(root(C).T).max())
            worst = float(((V**2).sum(axis=0) @ Q - np.diagonal(C)).max())
            assert n * worst + np.trace(C) >= found.lower_bound * (1.0 - 1e-8)


def test_nothing_asked_is_free() -> None:
    assert solve_worst_case(Problem(np.zeros((3, 3)), 1.0)).objective == 0.0


def test_errors_name_the_remedy() -> None:
    with pytest.raises(BadValue, match=r"use exact\.solve"):
        solve_worst_case(Problem(np.zeros((2, 2)), 1.0, np.array([0.5, 0.5])))
    with pytest.raises(BadValue, match="at most 20"):
        solve_worst_case(Problem(np.zeros((21, 21)), 1.0))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["prefix", "3-way-marginals", "random-signs"])
def test_sixteen_types(name: str) -> None:
    C = registry.create(name, 16).centred_gram()
    assert solve_worst_case(Problem(C, 1.0)).gap <= 1e-6
