"""Slow obvious answers: the best channel over all staircase columns, G by a general solver, small matrices."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np
from scipy.optimize import linprog
from scipy.special import gammaln, xlogy

from factormech.arrays import FloatArray, IntArray
from factormech.bounds.hard.pairs import HardPairs


def corners(n: int) -> FloatArray:
    return np.array(list(itertools.product([-1.0, 1.0], repeat=n)))


def kl(p: FloatArray, q: FloatArray) -> FloatArray:
    return p * np.log(p / q)


def chi2(p: FloatArray, q: FloatArray) -> FloatArray:
    return (p - q) ** 2 / q


def hellinger(p: FloatArray, q: FloatArray) -> FloatArray:
    return (np.sqrt(p) - np.sqrt(q)) ** 2


def variation(p: FloatArray, q: FloatArray) -> FloatArray:
    return 0.5 * np.abs(p - q)


def best_channel(family: HardPairs, epsilon: float, term: Callable[[FloatArray, FloatArray], FloatArray]) -> float:
    """The largest π-average of an f-divergence of one report over all ε-LDP channels, by linear programming.

    An f-divergence is subadditive in the rows of a channel and every row is a sum of staircases m(1 + τf), f = ±1.
    """
    f, tau = corners(family.first.shape[1]), np.tanh(0.5 * epsilon)
    p, q = 1 + tau * f @ family.first.T, 1 + tau * f @ family.second.T
    value = term(p, q) @ family.weights
    n = f.shape[1]
    found = linprog(-value, A_eq=(1 + tau * f).T, b_eq=np.ones(n), bounds=(0, None), method="highs")
    assert found.status == 0
    return float(-found.fun)


def exact_norm(family: HardPairs) -> float:
    """‖M‖_{∞→L2(π)} over all corners of the cube."""
    C = np.sqrt(family.weights)[:, None] * family.difference
    return max(float(np.linalg.norm(C @ f.T, axis=0).max()) for f in np.array_split(corners(C.shape[1]), 8) if len(f))


def all_counts(outputs: int, users: int) -> IntArray:
    """All ways to share ``users`` reports among the outputs."""
    bars = np.array(list(itertools.combinations(range(users + outputs - 1), outputs - 1)), dtype=np.int64)
    ends = np.full((len(bars), 1), -1), np.full((len(bars), 1), users + outputs - 1)
    return np.asarray(np.diff(np.hstack([ends[0], bars.reshape(len(bars), outputs - 1), ends[1]]), axis=1) - 1)


def exact_advantage(family: HardPairs, strategy: FloatArray, users: int) -> FloatArray:
    """The total variation of n reports for each pair, (k,), summed over all counts of outputs."""
    counts = all_counts(len(strategy), users)
    ways = gammaln(users + 1.0) - gammaln(counts + 1.0).sum(axis=1)
    laws = []
    for rows in (family.first, family.second):
        law = rows @ (strategy / strategy.sum(axis=0)).T
        terms = xlogy(counts[:, :, None], (law / law.sum(axis=1, keepdims=True)).T)
        laws.append(np.exp(ways[:, None] + terms.sum(axis=1)))
    return np.asarray(0.5 * np.abs(laws[0] - laws[1]).sum(axis=0))


def random_channel(epsilon: float, outputs: int, n: int, rng: np.random.Generator) -> FloatArray:
    """An ε-LDP matrix, outputs × types: positive rows within e^ε, columns summing to 1 by a last row, if it can be."""
    Q = rng.exponential(size=(outputs, 1)) * np.exp(
        0.5 * epsilon * rng.uniform(size=(outputs, n)) ** rng.uniform(0.1, 3)
    )
    Q *= rng.uniform(0.5, 1) / Q.sum(axis=0).max()
    last = 1 - Q.sum(axis=0)
    if last.max() > np.exp(epsilon) * last.min():
        return np.vstack([Q / Q.sum(axis=0)])
    return np.vstack([Q, last])


def best_gain(W: FloatArray, theta: float) -> float:
    """G(θ) by cvxpy, straight from its definition."""
    import cvxpy as cp

    k, n = W.shape
    U, V = cp.Variable((k, n), nonneg=True), cp.Variable((k, n), nonneg=True)
    a, b = cp.Variable(k), cp.Variable(n)
    D = U - V
    cone = cp.bmat([[cp.diag(a), D], [D.T, cp.diag(b)]]) >> 0
    rows = [cp.sum(D, axis=1) == 0, cp.sum(cp.multiply(W, D), axis=1) >= theta * cp.sum(U + V, axis=1)]
    # γ₂*(U) ≤ 1: a and b of sum at most 1.
    problem = cp.Problem(cp.Maximize(cp.sum(cp.multiply(W, D))), [cone, cp.sum(a) <= 1, cp.sum(b) <= 1, *rows])
    problem.solve(solver="CLARABEL")
    return float(problem.value)


def workloads() -> dict[str, FloatArray]:
    rng = np.random.default_rng(11)
    n = 5
    return {
        "thresholds": 2 * np.tril(np.ones((n, n))) - 1,
        "prefix": np.tril(np.ones((6, 6))),
        "parities": np.array([[(-1.0) ** bin(s & x).count("1") for x in range(4)] for s in range(4)]),
        "random": rng.uniform(-1, 1, size=(4, 6)),
        "0/1": (rng.uniform(size=(7, 5)) < 0.4).astype(float),
    }
