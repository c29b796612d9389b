"""The exact optimum: closed forms, another solver, every strategy above the bound, and the machinery by brute force."""

from __future__ import annotations

import math

import numpy as np
import pytest

from factormech.arrays import FloatArray
from factormech.bounds.certificates import largest_violation
from factormech.bounds.staircase import largest_information
from factormech.errors import BadValue
from factormech.mechanisms.local.optimal import exact
from factormech.mechanisms.local.optimal.exact import AllColumns
from factormech.mechanisms.local.optimal.problem import Optimised, Problem, Step
from factormech.mechanisms.local.optimal.rows import recombined
from factormech.numerics.vectors import packed_squares
from factormech.workloads import registry
from tests import oracles
from tests.bounds import optimum
from tests.oracles import certified_objective

RNG = np.random.default_rng(0)


def rows(found: Optimised, epsilon: float) -> FloatArray:
    """Q of the answer."""
    return np.asarray(found.weights[:, None] * np.where(found.supports, math.exp(epsilon), 1.0))


def objective(Q: FloatArray, C: FloatArray, prior: FloatArray) -> float:
    """n(variance averaged under the prior) + Σπ_u‖We_u‖², W centred under the prior, from the definitions."""
    n = len(prior)
    centre = np.eye(n) - np.outer(prior, np.ones(n))
    X = Q.T @ (Q / (n * Q @ prior)[:, None])
    return float(np.trace(np.linalg.pinv(X, rcond=1e-10, hermitian=True) @ centre.T @ C @ centre))


def check(found: Optimised, C: FloatArray, epsilon: float, gap: float, prior: FloatArray | None = None) -> None:
    n = len(C)
    x = np.full(n, 1.0 / n) if prior is None else prior
    Q = rows(found, epsilon)
    np.testing.assert_allclose(Q.sum(axis=0), 1.0, atol=1e-11)
    assert found.weights.min() > 0.0
    assert len(Q) <= n * (n + 1) // 2
    assert objective(Q, C, x) == pytest.approx(found.objective, rel=1e-8)
    assert -1e-11 <= found.gap <= gap
    T, multiplier = np.asarray(found.details["dual"]), np.asarray(found.details["multiplier"])
    np.testing.assert_allclose(T.sum(axis=0), 0.0, atol=1e-10 * np.abs(T).max())
    assert np.trace(T @ C) ** 2 / multiplier.sum() == pytest.approx(found.lower_bound, rel=1e-9)
    v = optimum.extreme_rows(n, epsilon)
    left, right = np.einsum("ki,ij,kj->k", v, T @ C @ T.T, v), (v @ multiplier) * (v @ x) * n
    assert (left - right).max() <= 1e-9 * np.abs(right).max()


@pytest.mark.parametrize("epsilon", [0.01, 0.1, 1.0, 4.0, 8.0])
@pytest.mark.parametrize("name", ["prefix", "all-ranges", "1-way-marginals", "2-way-parities", "conjunctions-2"])
def test_the_answer_is_a_strategy_and_proves_itself(name: str, epsilon: float) -> None:
    C = registry.create(name, 8).centred_gram()
    found = exact.solve(Problem(C, epsilon), RNG)
    check(found, C, epsilon, 1e-6)
    assert found.stopped == "gap"


@pytest.mark.parametrize("prior_seed", [None, 0, 1])
@pytest.mark.parametrize("epsilon", [0.5, 3.0])
def test_another_solver_agrees(epsilon: float, prior_seed: int | None) -> None:
    import cvxpy as cp

    n = 5
    W = np.random.default_rng(7).normal(size=(4, n))
    C = oracles.centred_gram(W)
    x = np.full(n, 1.0 / n) if prior_seed is None else np.random.default_rng(prior_seed).dirichlet(np.ones(n))
    v = optimum.extreme_rows(n, epsilon)[1:-1]
    y = n * v / (n * v @ x)[:, None]
    theta = cp.Variable(len(v), nonneg=True)
    root = (W - (W @ x)[:, None]).T
    X = y.T @ cp.diag(theta) @ y / n
    program = cp.Problem(cp.Minimize(cp.matrix_frac(root, X)), [y.T @ theta == 1.0])
    program.solve(solver=cp.CLARABEL)
    found = exact.solve(Problem(C, epsilon, x), RNG, gap=1e-8)
    check(found, C, epsilon, 1e-8, x)
    assert found.objective == pytest.approx(float(program.value), rel=1e-6)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0, 8.0])
def test_subset_selection_is_best_on_the_histogram(epsilon: float) -> None:
    n = 9
    C = np.eye(n) - 1.0 / n
    found = exact.solve(Problem(C, epsilon), RNG, gap=1e-9)
    assert found.objective == pytest.approx((n - 1) ** 2 / largest_information(n, epsilon), rel=1e-8)
    assert found.lower_bound == pytest.approx(found.objective, rel=1e-8)


def test_randomized_response_is_best_at_large_epsilon() -> None:
    C = oracles.centred_gram(np.random.default_rng(1).normal(size=(6, 6)))
    found = exact.solve(Problem(C, 9.0), RNG, gap=1e-8)
    assert sorted(map(tuple, found.supports)) == sorted(map(tuple, np.eye(6, dtype=bool)))


def test_equal_columns_are_one_type() -> None:
    # Columns e₁, e₁, e₂, 0: randomized response on three classes, weighted.
    W = np.array([[1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]])
    found = exact.solve(Problem(oracles.centred_gram(W), 9.0), RNG, gap=1e-7)
    splitting = found.supports[:, 0] != found.supports[:, 1]
    assert found.weights[splitting].sum() <= 1e-4 * found.weights.sum()
    check(found, oracles.centred_gram(W), 9.0, 1e-7)


def test_one_boolean_query_is_randomized_response_on_its_halves() -> None:
    W, epsilon = np.array([[1.0, 1.0, 1.0, -1.0, -1.0, -1.0]]), 1.5
    found = exact.solve(Problem(oracles.centred_gram(W), epsilon), RNG)
    assert found.objective == pytest.approx(6.0 / math.tanh(epsilon / 2.0) ** 2, rel=1e-6)
    assert len(found.weights) == 2


@pytest.mark.parametrize("seed", range(20))
def test_no_strategy_is_below_the_bound(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, epsilon = int(rng.integers(2, 7)), float(rng.choice([0.3, 1.0, 3.0]))
    C = oracles.centred_gram(rng.normal(size=(n, n)))
    x = rng.dirichlet(np.ones(n))
    found = exact.solve(Problem(C, epsilon, x), rng)
    Q = oracles.random_strategy(rng, 3 * n, n, epsilon)
    # Adversarial: mix the optimum with a random strategy a little.
    near = np.vstack([0.99 * rows(found, epsilon), 0.01 * Q])
    for strategy in (Q, near):
        assert objective(strategy, C, x) >= found.lower_bound * (1.0 - 1e-10)


def test_a_wrong_objective_would_be_noticed() -> None:
    """The certificate is tight: a multiplier a millionth smaller is refuted by enumeration."""
    C = registry.create("prefix", 7).centred_gram()
    found = exact.solve(Problem(C, 1.0), RNG, gap=1e-9)
    T, multiplier = np.asarray(found.details["dual"]), np.asarray(found.details["multiplier"])
    form = T @ C @ T.T
    assert largest_violation(form, multiplier, 1.0) <= 1e-12 * multiplier.max()
    assert largest_violation(form, multiplier * (1 - 1e-6), 1.0) > 1e-8 * multiplier.max()
    R = np.linalg.cholesky(C + np.full((7, 7), 1.0 / 7.0))  # a root of C but for the direction of 1, which T ignores
    assert certified_objective(R, T @ R, multiplier, 1.0) == pytest.approx(found.lower_bound, rel=1e-9)


def test_nothing_asked_is_free() -> None:
    found = exact.solve(Problem(np.zeros((3, 3)), 1.0), RNG)
    assert found.objective == found.lower_bound == found.gap == 0.0
    np.testing.assert_allclose(rows(found, 1.0).sum(axis=0), 1.0)


def test_the_iterations_are_limited_and_bounds_stay_valid() -> None:
    C = registry.create("prefix", 8).centred_gram()
    best = exact.solve(Problem(C, 1.0), RNG)
    early = exact.solve(Problem(C, 1.0), RNG, iteration_limit=4)
    assert early.stopped == "iteration_limit"
    assert early.iterations == 4
    assert early.lower_bound <= best.objective <= early.objective
    assert early.gap > 1e-3


def test_errors_name_the_remedy() -> None:
    with pytest.raises(BadValue, match="at most 20"):
        exact.solve(Problem(np.zeros((21, 21)), 1.0), RNG)
    with pytest.raises(BadValue, match="gap"):
        exact.solve(Problem(np.zeros((3, 3)), 1.0), RNG, gap=0.0)


def test_moments_of_all_columns_by_brute_force() -> None:
    rng, n, epsilon = np.random.default_rng(3), 6, 1.3
    x = rng.dirichlet(np.ones(n))
    columns, every = AllColumns(n * x, epsilon), np.arange(2**n)
    v = np.where(columns.supports(every), math.exp(epsilon), 1.0)
    zeta = (v / (v @ x)[:, None]) @ columns.basis / math.tanh(epsilon / 2.0)
    np.testing.assert_allclose(columns.some(every), zeta, atol=1e-12)
    w, mu, A = rng.normal(size=2**n), rng.normal(size=n - 1), rng.normal(size=(n - 1, n - 1))
    M, squares = A + A.T, packed_squares(zeta)
    np.testing.assert_allclose(columns.forms(M, mu), np.einsum("ki,ij,kj->k", zeta, M, zeta) + zeta @ mu, atol=1e-11)
    for found, features in zip(columns.moments(w), (None, np.ones((2**n, 1))), strict=True):
        expected = (zeta.T * w) @ (zeta if features is None else features)
        np.testing.assert_allclose(found, expected.reshape(found.shape), atol=1e-11)
    for found, (f, g) in zip(
        columns.squared_moments(w), ((squares, squares), (squares, zeta), (zeta, zeta)), strict=True
    ):
        np.testing.assert_allclose(found, (f.T * w) @ g, atol=1e-10)
    assert columns.start().min() > 0.0
    np.testing.assert_allclose(columns.moments(columns.start())[1], 0.0, atol=1e-14)


def test_recombination_keeps_the_sums_on_few_vectors() -> None:
    rng = np.random.default_rng(5)
    features, weights = rng.normal(size=(700, 12)), rng.uniform(size=700)
    fewer = recombined(features, weights)
    assert fewer.min() >= 0.0
    assert np.count_nonzero(fewer) <= 12
    np.testing.assert_allclose(fewer @ features, weights @ features, atol=1e-11)


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 8.0])
@pytest.mark.parametrize("name", ["prefix", "3-way-marginals", "random-signs"])
def test_sixteen_types(name: str, epsilon: float) -> None:
    C = registry.create(name, 16).centred_gram()
    assert exact.solve(Problem(C, epsilon), RNG).gap <= 1e-6


@pytest.mark.slow
def test_twenty_types() -> None:
    C = registry.create("prefix", 20).centred_gram()
    assert exact.solve(Problem(C, 1.0), RNG).gap <= 1e-6


def test_news_are_in_the_terms_of_the_answer() -> None:
    told: list[Step] = []
    asked = Problem(registry.create("prefix", 6).centred_gram(), 1.0)
    found = exact.solve(asked, np.random.default_rng(0), report=told.append)
    assert told[-1].objective == pytest.approx(found.objective, rel=1e-5)
    assert told[-1].lower_bound == pytest.approx(found.lower_bound, rel=1e-5)
