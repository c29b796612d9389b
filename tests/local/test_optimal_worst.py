"""Strategies of least worst-case variance."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from factormech.arrays import FloatArray
from factormech.mechanisms.local.optimal import search, worst
from factormech.mechanisms.local.optimal.frame import Frame
from factormech.mechanisms.local.optimal.problem import Optimised, Problem, Step
from factormech.mechanisms.local.optimal.rows import strategy_of
from factormech.mechanisms.local.strategy import StrategyMatrix
from factormech.seeds import rng_for
from factormech.workloads.registry import create


def problem(workload: str, n: int, epsilon: float) -> Problem:
    return Problem(create(workload, n).centred_gram(), epsilon)


def solved(asked: Problem, options: worst.WorstOptions = worst.STANDARD) -> tuple[Optimised, Optimised]:
    """The best on average, and the best in the worst case."""
    start = search.solve(asked, rng_for(0, "worst"))
    return start, worst.solve(asked, start, options=options)


def evaluated(asked: Problem, found: Optimised) -> FloatArray:
    """The variances, by the package's evaluation of the stored rows and prior."""
    Q = strategy_of(found.supports, found.weights, asked.epsilon).matrix
    prior = np.asarray(found.details["prior"])
    return StrategyMatrix(Q, asked.epsilon, prior).evaluate(asked.centred_gram).variance


@pytest.mark.parametrize(
    ("workload", "n", "epsilon"),
    [
        ("prefix", 5, 0.5),
        ("prefix", 12, 4.0),
        ("all-ranges", 9, 2.0),
        ("3-way-marginals", 16, 1.0),
        ("prefix", 33, 1.0),
        ("prefix", 80, 1.0),  # moves in single precision
        ("prefix", 70, 8.0),  # a small difference: in double precision, though as large
    ],
)
def test_what_is_claimed_is_what_is_evaluated_and_better_than_the_start(workload: str, n: int, epsilon: float) -> None:
    asked = problem(workload, n, epsilon)
    start, found = solved(asked)
    variance, trace = evaluated(asked, found), float(np.trace(asked.centred_gram))
    assert n * variance.max() + trace == pytest.approx(found.objective, rel=1e-9)
    before = strategy_of(start.supports, start.weights, epsilon).evaluate(asked.centred_gram)
    assert variance.max() <= before.worst * (1 + 1e-12)
    assert found.objective >= start.objective * (1 - 1e-3)  # the worst case is not below the least average


@pytest.mark.parametrize(("n", "epsilon"), [(4, 1.0), (5, 3.0)])
def test_the_best_worst_case_by_another_solver(n: int, epsilon: float) -> None:
    cp = pytest.importorskip("cvxpy")
    W, asked = create("prefix", n).matrix(), problem("prefix", n, epsilon)
    bits = (np.arange(1, 2**n - 1)[:, None] >> np.arange(n)) & 1
    V = np.where(bits == 1, np.exp(epsilon), 1.0)
    theta, U, t = cp.Variable(len(V), nonneg=True), cp.Variable((len(W), len(V))), cp.Variable()
    costs = cp.hstack([cp.quad_over_lin(U[:, s], theta[s]) for s in range(len(V))])
    rules = [V.T @ theta == 1, U @ V == W, V.T @ costs - np.sum(W**2, axis=0) <= t]
    cp.Problem(cp.Minimize(t), rules).solve(solver="CLARABEL")
    _, found = solved(asked, worst.BEST)
    assert evaluated(asked, found).max() == pytest.approx(float(t.value), rel=2e-4)
    assert evaluated(asked, found).max() >= float(t.value) * (1 - 1e-6)


def test_the_average_under_the_prior_nears_the_worst_case() -> None:
    asked = problem("prefix", 24, 3.0)
    start, found = solved(asked)
    variance = evaluated(asked, found)
    start_variance = strategy_of(start.supports, start.weights, 3.0).evaluate(asked.centred_gram)
    assert start_variance.worst / start_variance.average > 1.1
    assert variance.max() / (np.asarray(found.details["prior"]) @ variance) < 1.01


def test_nothing_is_left_to_gain_where_all_types_are_alike() -> None:
    asked = problem("all-marginals", 8, 1.0)
    start, found = solved(asked)
    assert found.objective == pytest.approx(start.objective, rel=1e-4)


def test_a_workload_that_asks_nothing() -> None:
    asked = Problem(np.zeros((4, 4)), 1.0)
    _, found = solved(asked)
    assert found.objective == 0.0
    assert np.asarray(found.details["prior"]).sum() == pytest.approx(1.0)


def test_every_turn_is_told() -> None:
    told: list[Step] = []
    asked = problem("prefix", 10, 2.0)
    start = search.solve(asked, rng_for(0, "worst"))
    worst.solve(asked, start, options=worst.WorstOptions(turns=7), report=told.append)
    assert [step.iteration for step in told] == list(range(8))
    assert all(a.objective >= b.objective for a, b in pairwise(told))


def test_a_frame_under_another_prior() -> None:
    for symmetric in (False, True):
        x = rng_for(0, "frame").uniform(0.2, 1.0, 7)
        x = x + symmetric * x[::-1]
        x = x / x.sum()
        C = create("prefix", 7).centred_gram()
        if not symmetric:
            tilt = np.arange(7.0) ** 3 - np.mean(np.arange(7.0) ** 3)
            C = C + np.outer(tilt, tilt)
        fresh = Frame.of(Problem(C, 1.0, x))
        moved = Frame.of(Problem(C, 1.0)).under(x)
        assert moved.symmetric == fresh.symmetric == symmetric
        for one, other in zip(moved.roots, fresh.roots, strict=True):
            assert np.allclose(moved.scale * one @ one.T, fresh.scale * other @ other.T, atol=1e-10)
