"""L(Q) = tr[(QᵀD⁻¹Q)⁺G] and its gradient: definition, closed forms, finite differences, rank."""

from __future__ import annotations

import math

import numpy as np
import pytest

from factormech.arrays import FloatArray, SingleArray
from factormech.errors import BadValue
from factormech.mechanisms.local import strategy_objective
from factormech.mechanisms.local.strategy_objective import StrategyObjective


def random_stochastic(m: int, n: int, seed: int) -> FloatArray:
    Q = np.random.default_rng(seed).random((m, n)) + 0.5
    return Q / Q.sum(axis=0)


def randomized_response(n: int, epsilon: float) -> FloatArray:
    """Off-diagonal entries 1/(a + n − 1), the diagonal a times as large, without cancelling digits of ε."""
    b = math.expm1(epsilon)
    return (np.ones((n, n)) + b * np.eye(n)) / (b + n)


def definition(Q: FloatArray, G: FloatArray) -> float:
    X = Q.T @ (Q / Q.sum(axis=1, keepdims=True))
    return float(np.trace(np.linalg.solve(X, G)))


def queries(kind: str, n: int) -> FloatArray:
    rng = np.random.default_rng(7)
    return {
        "prefix": np.tril(np.ones((n, n))),
        "histogram": np.eye(n),
        "random": rng.normal(size=(2 * n, n)),
        "low rank": rng.normal(size=(3, n)),
        "one query": np.eye(n)[:1],
        "total": np.full((2, n), 3.0),
        "none": np.zeros((1, n)),
    }[kind]


KINDS = ["prefix", "histogram", "random", "low rank", "one query", "total", "none"]


@pytest.mark.parametrize("kind", KINDS)
def test_value_is_the_definition(kind: str) -> None:
    W = queries(kind, 6)
    Q = random_stochastic(11, 6, 0)
    expected = definition(Q, W.T @ W)
    assert StrategyObjective(W.T @ W).value(Q) == pytest.approx(expected, rel=1e-11, abs=1e-11)


@pytest.mark.parametrize("kind", KINDS)
def test_gradient_agrees_with_differences_in_every_entry(kind: str) -> None:
    """Also off the set of column sums 1: the gradient is that of tr[X⁻¹G] itself."""
    W = queries(kind, 5)
    G = W.T @ W
    Q = random_stochastic(9, 5, 1)
    value, gradient = StrategyObjective(G).value_and_gradient(Q)
    assert value == pytest.approx(definition(Q, G), rel=1e-11, abs=1e-11)
    h = 1e-6
    differences = np.zeros_like(Q)
    for o, u in np.ndindex(Q.shape):
        E = np.zeros_like(Q)
        E[o, u] = h
        differences[o, u] = (definition(Q + E, G) - definition(Q - E, G)) / (2 * h)
    scale = max(np.abs(differences).max(), 1e-6)
    np.testing.assert_allclose(gradient / scale, differences / scale, rtol=0, atol=1e-6)


@pytest.mark.parametrize("epsilon", [1e-8, 1e-4, 1.0, 10.0])
@pytest.mark.parametrize("n", [2, 5, 40])
def test_randomized_response_on_the_histogram(n: int, epsilon: float) -> None:
    """Example 3.7 of the paper; at small ε the uncentred formula would lose every digit."""
    b = math.expm1(epsilon)
    variance = (n - 1) * (n / b**2 + 2 / b)
    value = StrategyObjective(np.eye(n)).value(randomized_response(n, epsilon))
    digits = max(1e-12, 1e-14 / epsilon)  # what the rounding of Q itself leaves
    assert value == pytest.approx(n * variance + n, rel=digits)


def test_splitting_an_output_changes_nothing() -> None:
    W = queries("prefix", 7)
    objective = StrategyObjective(W.T @ W)
    Q = random_stochastic(12, 7, 2)
    split = np.vstack([0.3 * Q, 0.7 * Q])
    assert objective.value(split) == pytest.approx(objective.value(Q), rel=1e-12)


def test_singular_strategy_supports_exactly_the_queries_in_its_row_space() -> None:
    """Randomized response on three classes of equal columns answers queries on the classes, and no others."""
    classes = np.repeat(np.eye(3), 4, axis=1)  # 3 × 12
    Q = randomized_response(3, 1.0) @ classes
    W = np.tril(np.ones((3, 3))) @ classes
    inside = StrategyObjective(W.T @ W)
    X = Q.T @ (Q / Q.sum(axis=1, keepdims=True))
    assert inside.value(Q) == pytest.approx(np.trace(np.linalg.pinv(X) @ W.T @ W), rel=1e-10)
    value, gradient = inside.value_and_gradient(Q)
    assert math.isfinite(value)
    assert np.all(np.isfinite(gradient))
    assert StrategyObjective(np.eye(12)).value(Q) == math.inf
    # a query of a tiny weight outside the row space is still outside
    stray = np.vstack([W, 1e-3 * np.eye(12)[:1]])
    assert StrategyObjective(stray.T @ stray).value(Q) == math.inf


def test_constant_rows_answer_nothing_but_the_total() -> None:
    Q = np.full((8, 5), 0.125)
    assert StrategyObjective(np.eye(5)).value(Q) == math.inf
    assert StrategyObjective(np.ones((5, 5))).value(Q) == 5.0


def test_shifting_queries_by_the_total_moves_the_constant_only() -> None:
    W = queries("random", 6)
    shifted = W + np.arange(12.0)[:, None]
    Q = random_stochastic(10, 6, 3)
    first, second = StrategyObjective(W.T @ W), StrategyObjective(shifted.T @ shifted)
    difference = second.value(Q) - first.value(Q)
    assert difference == pytest.approx(second.constant - first.constant, rel=1e-9)


@pytest.mark.parametrize(
    ("gram", "rule"),
    [
        (np.ones((2, 3)), "square"),
        (np.ones(3), "square"),
        (np.zeros((0, 0)), "square"),
        (np.array([[1.0, np.nan], [np.nan, 1.0]]), "finite"),
        (np.array([[1.0, 0.5], [0.0, 1.0]]), "symmetric"),
        (np.array([[1.0, 2.0], [2.0, 1.0]]), "semidefinite"),
    ],
)
def test_what_is_no_gram_matrix_is_refused(gram: FloatArray, rule: str) -> None:
    with pytest.raises(BadValue, match=rule):
        StrategyObjective(gram)


@pytest.mark.parametrize("size", [1e-5, 1.0, 1e5])
@pytest.mark.parametrize("epsilon", [0.05, 0.1, 1.0, 8.0])
@pytest.mark.parametrize("kind", ["prefix", "histogram", "low rank", "one query", "none"])
def test_single_precision_is_the_same_to_its_digits(kind: str, epsilon: float, size: float) -> None:
    """L and the direction down, of the very strategy that the singles are, whatever the size of the workload."""
    n, m = 24, 60
    W = size * queries(kind, n)
    T, objective = singles(n, m, epsilon), StrategyObjective(W.T @ W)
    wide, double, single = T.astype(np.float64), np.empty((n, m)), np.empty_like(T)
    values = [
        objective.evaluate(wide, np.empty_like(wide), double),
        objective.evaluate(T, np.empty_like(T), single),
    ]
    assert values[1] == pytest.approx(values[0], rel=1e-5)
    assert values[1] == objective.evaluate(T, np.empty_like(T), None)
    assert np.all(np.isfinite(single))
    assert np.linalg.norm(single - double) <= 1e-4 * np.linalg.norm(double)


def singles(n: int, m: int, epsilon: float) -> SingleArray:
    """A random strategy of n types, transposed."""
    noise = np.random.default_rng(3).random((m, n))
    Q = 1.0 + math.expm1(epsilon) * (noise > 0.5) + 1e-3 * epsilon * noise
    Q /= Q.sum(axis=0)
    return np.ascontiguousarray(Q.T).astype(np.float32)


def test_where_singles_are_not_enough_doubles_are_taken() -> None:
    """Two types that a strategy hardly tells apart: so nearly singular a matrix that singles would lose every digit."""
    n, m = 24, 60
    T = singles(n, m, 1.0)
    T[1] = T[0]
    T[1, 0] *= np.float32(1.0 + 1e-3)
    objective = StrategyObjective(np.eye(n))
    wide, double, single = T.astype(np.float64), np.empty((n, m)), np.empty_like(T)
    expected = objective.evaluate(wide, np.empty_like(wide), double)
    assert objective.evaluate(T, np.empty_like(T), single) == expected
    np.testing.assert_array_equal(single, double.astype(np.float32))


@pytest.mark.parametrize("broken", [np.nan, np.inf])
def test_what_is_no_strategy_has_no_objective_in_single_precision_either(broken: float) -> None:
    T = singles(8, 20, 1.0)
    T[3, 5] = broken
    objective = StrategyObjective(np.eye(8))
    with np.errstate(invalid="ignore"):
        assert objective.evaluate(T, np.empty_like(T), np.empty_like(T)) == math.inf


def test_how_large_the_domain_is_does_not_ask_for_doubles(monkeypatch: pytest.MonkeyPatch) -> None:
    """A random strategy is about as well conditioned on every domain, and so is what the choice is made by."""
    shares, estimate = list[float](), strategy_objective.lapack.spocon

    def noted(*args: object, **settings: object) -> object:
        found = estimate(*args, **settings)
        shares.append(float(found[0]))
        return found

    monkeypatch.setattr(strategy_objective.lapack, "spocon", noted)
    for n in (64, 1024):
        T = singles(n, 4 * n, 1.0)
        StrategyObjective(np.eye(n)).evaluate(T, np.empty_like(T), None)
    assert min(shares) > 5.0 * strategy_objective.SINGLE_CONDITION
    assert max(shares) < 5.0 * min(shares)
