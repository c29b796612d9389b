"""The rigorous layer: each of its bounds against exact fractions, little lost, and false claims refused."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from factormech.arrays import FloatArray
from factormech.bounds import parametric, rigorous
from factormech.bounds.certificates import exponential_bound, rounded_up
from factormech.bounds.staircase import largest_information
from factormech.errors import BadValue
from factormech.workloads import registry
from tests.tiers import every

pytestmark = pytest.mark.heavy

Matrix = list[list[Fraction]]


def case(name: str, n: int, epsilon: float) -> tuple[FloatArray, FloatArray, float, float]:
    """C, p, ω and the floating-point bound."""
    C = registry.create(name, n).centred_gram()
    limit = parametric.InformationLimit.of(n, epsilon)
    assert limit is not None
    p, omega = parametric.best_weights(C / np.trace(C), limit)
    return C, p, omega, np.trace(C) * parametric.objective_bound(C / np.trace(C), p, omega, limit)


def exact(A: FloatArray) -> Matrix:
    return [[Fraction(float(x)) for x in row] for row in A]


def product(A: Matrix, B: Matrix) -> Matrix:
    return [
        [sum((x * y for x, y in zip(row, column, strict=True)), Fraction(0)) for column in zip(*B, strict=True)]
        for row in A
    ]


def centred(A: Matrix) -> Matrix:
    """PAP."""
    n = len(A)
    P = [[Fraction(int(i == j)) - Fraction(1, n) for j in range(n)] for i in range(n)]
    return product(product(P, A), P)


def positive_semidefinite(A: Matrix) -> bool:
    A = [list(row) for row in A]
    for k in range(len(A)):
        if A[k][k] < 0 or (A[k][k] == 0 and any(A[k][k:])):
            return False
        for i in range(k + 1, len(A)) if A[k][k] else ():
            factor = A[i][k] / A[k][k]
            A[i] = [x - factor * y for x, y in zip(A[i], A[k], strict=True)]
    return True


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
@pytest.mark.parametrize(
    ("name", "n"), [("prefix", 5), ("prefix", 64), ("3-way-marginals", 16), ("conjunctions-2", 16)]
)
def test_next_to_nothing_is_lost(name: str, n: int, epsilon: float) -> None:
    C, p, omega, expected = case(name, n, epsilon)
    bound = rigorous.rigorous_objective(C, epsilon, p, omega)
    assert expected * (1 - 1e-8) <= bound <= expected * (1 + 1e-10)
    assert rigorous.rigorous_objective(1e9 * C, epsilon, p, omega) == pytest.approx(1e9 * bound, rel=1e-9)
    assert rigorous.rigorous_objective(C, epsilon, 7 * p, omega) == pytest.approx(bound, rel=1e-9)


@pytest.mark.parametrize("epsilon", [0.3, 2.0])
@pytest.mark.parametrize(("name", "n"), [("prefix", 5), ("2-way-marginals", 8)])
def test_every_step_in_exact_arithmetic(name: str, n: int, epsilon: float) -> None:
    """The proof again in fractions, from the same T: the inequality with the η claimed, the trace and the limit."""
    C, p, omega, _ = case(name, n, epsilon)
    p = p * 1.25  # of sum 1.25
    ratio = rounded_up(exponential_bound(Fraction(epsilon)), 40)
    mass, raised = rigorous.admissible_omega(p, omega, ratio)
    assert mass == sum(Fraction(float(x)) for x in p)
    assert rigorous.ceiling(ratio) >= raised >= 1 - Fraction(n * n) / (mass * sum(1 / Fraction(float(x)) for x in p))
    big = float(mass * raised)
    T = rigorous.dual_guess(C, p, big)
    eta = rigorous.excess_above(T, C, p, big, 0.0)
    C_exact, T_exact, weights = centred(exact(C)), exact(T), [Fraction(float(x)) for x in p]
    TCT = product(product(T_exact, C_exact), [list(column) for column in zip(*T_exact, strict=True)])
    need = [
        [
            int(i == j) * (weights[i] + Fraction(eta)) - weights[i] * weights[j] / Fraction(big) - TCT[i][j]
            for j in range(n)
        ]
        for i in range(n)
    ]
    assert positive_semidefinite(centred(need))
    assert eta < 1e-9
    trace = sum(product(T_exact, C_exact)[i][i] for i in range(n))
    assert trace * (1 - Fraction(1, 10**9)) < rigorous.trace_below(T, C, 0.0) <= trace


def test_too_small_an_eta_is_refused() -> None:
    """A T that is a little too large needs an η that shows it."""
    C, p, omega, _ = case("prefix", 6, 1.0)
    T = rigorous.dual_guess(C, p, omega)
    Y = np.diag(p) - np.outer(p, p) / omega
    Y = Y - Y.mean(axis=0)
    Y = Y - Y.mean(axis=1, keepdims=True)
    for excess in (1e-10, 1e-6, 1e-2):
        needed = np.linalg.eigvalsh((1 + excess) ** 2 * T @ C @ T.T - Y)[-1]
        eta = rigorous.excess_above((1 + excess) * T, C, p, omega, 0.0)
        assert needed * (1 - 1e-3) <= eta <= 2.1 * needed + 1e-13


def test_an_error_of_the_entries_is_paid_for() -> None:
    rng = np.random.default_rng(0)
    C, p, omega, _ = case("prefix", 7, 1.0)
    error = 1e-6
    T = rigorous.dual_guess(C, p, omega)
    Y = np.diag(p) - np.outer(p, p) / omega
    eta, trace = rigorous.excess_above(T, C, p, omega, error), rigorous.trace_below(T, C, error)
    P = np.eye(7) - 1 / 7
    for _ in range(20):
        noise = rng.choice([-error, error], size=(7, 7))
        other = C + P @ (np.triu(noise) + np.triu(noise, 1).T) @ P / 4  # entries stay within the error
        assert np.abs(other - C).max() <= error
        assert np.linalg.eigvalsh(P @ (T @ other @ T.T - Y) @ P)[-1] <= eta
        assert np.trace(T @ other) >= trace
    assert rigorous.rigorous_objective(C, 1.0, p, omega, entry_error=error) < rigorous.rigorous_objective(
        C, 1.0, p, omega
    )


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0, 8.0])
@pytest.mark.parametrize("n", [2, 3, 10, 100])
def test_the_limits_are_those_of_the_theorem(n: int, epsilon: float) -> None:
    ratio = rounded_up(exponential_bound(Fraction(epsilon)), 40)
    assert float(rigorous.largest_information(n, ratio)) == pytest.approx(largest_information(n, epsilon), rel=1e-10)
    limit = parametric.InformationLimit.of(n, epsilon)
    assert limit is not None
    assert float(rigorous.ceiling(ratio)) == pytest.approx(limit.ceiling, rel=1e-10)
    for omega in np.linspace(0.01, 1.0, 7) * limit.ceiling:
        found = rigorous.information_limit(n, ratio, Fraction(float(omega)))
        assert float(found) == pytest.approx(limit.at(omega)[0], rel=1e-9)


def test_a_shift_makes_it_semidefinite_and_is_near_the_least() -> None:
    rng = np.random.default_rng(1)
    for n in (2, 5, 8):
        A = rng.normal(size=(n, n))
        A = A + A.T
        shift = rigorous.shift_of(A)
        moved = exact(A)
        for i in range(n):
            moved[i][i] += Fraction(shift)
        assert positive_semidefinite(moved)
        assert shift <= 2.1 * max(-float(np.linalg.eigvalsh(A)[0]), 0.0) + 1e-12


def test_weights_that_prove_nothing_give_zero() -> None:
    C = registry.create("prefix", 4).centred_gram()
    assert rigorous.rigorous_objective(C, 2.0, np.array([1.0, 1e-9, 1e-9, 1e-9]), 0.5) == 0.0
    assert rigorous.rigorous_objective(0 * C, 2.0, np.ones(4), 0.1) == 0.0
    # ω outside of its limits is moved to them.
    assert rigorous.rigorous_objective(C, 2.0, np.ones(4), 5.0) > 0.0
    assert math.isfinite(rigorous.rigorous_objective(C, 2.0, np.arange(2.0, 6.0), 1e-12))


def test_errors_name_the_remedy() -> None:
    with pytest.raises(BadValue, match="one weight per type"):
        rigorous.rigorous_objective(np.eye(3), 1.0, np.ones(4), 0.1)
    with pytest.raises(BadValue, match="average it"):
        rigorous.rigorous_objective(np.triu(np.ones((3, 3))), 1.0, np.ones(3), 0.1)
    with pytest.raises(BadValue, match="normalise"):
        rigorous.rigorous_objective(np.eye(3), 1.0, np.zeros(3), 0.1)
    with pytest.raises(BadValue, match="finite ones"):
        rigorous.rigorous_objective(np.eye(3), 1.0, np.ones(3), -0.1)


@pytest.mark.parametrize("spread", every(2, [0.0, 3.0, 10.0]))
@pytest.mark.parametrize("n", [rigorous.LONG_UP_TO, rigorous.LONG_UP_TO + 1, pytest.param(200, marks=pytest.mark.slow)])
def test_the_errors_of_the_product_are_below_what_is_taken_off(n: int, spread: float) -> None:
    """Against fractions, also where terms of unlike size cancel; above the limit far below what is allowed."""
    rng = np.random.default_rng(n)
    T, C = (rng.normal(size=(n, n)) * np.exp(spread * rng.normal(size=(n, n))) for _ in range(2))
    C = C + C.T
    T[1] = -T[0] * (1.0 + 1e-9 * rng.normal(size=n))
    found = rigorous.congruence(T, C)
    size = np.abs(T) @ np.abs(C) @ np.abs(T).T
    unit = 0.5 * float(np.finfo(np.longdouble).eps)
    for i, j in ((0, 0), (0, 1), (5, n - 1)):
        left, right = ([Fraction(float(x)) for x in T[k]] for k in (i, j))
        exact = sum(
            (a * sum((Fraction(float(c)) * b for c, b in zip(row, right, strict=True)), Fraction(0)))
            for a, row in zip(left, C, strict=True)
        )
        high = float(found[i, j])
        error = abs(Fraction(high) + Fraction(float(found[i, j] - np.longdouble(high))) - exact)
        assert error <= (2 * n + 1) * unit * Fraction(float(size[i, j]))
        if n > rigorous.LONG_UP_TO and unit == 2.0**-64:
            assert error <= unit * abs(exact) * 2 + Fraction(2.0**-80) * n * Fraction(float(size[i, j]))


def test_the_product_of_large_or_undefined_numbers() -> None:
    """What two doubles cannot split is left to extended precision; what is no number stays none."""
    n = rigorous.LONG_UP_TO + 8
    T, C = np.eye(n), 1e305 * np.eye(n)
    np.testing.assert_array_equal(rigorous.congruence(T, C).astype(float), C)
    C[3, 3] = np.nan
    assert np.isnan(rigorous.congruence(T, C)[3, 3])
