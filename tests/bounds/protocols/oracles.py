"""Slow obvious answers: channels by linear programs, Bayes risks on grids, exact errors of randomized response."""

from __future__ import annotations

import itertools
import math

import numpy as np
from scipy.optimize import linprog
from scipy.special import gammaln

from factormech.arrays import FloatArray


def corners(n: int, ratio: float) -> FloatArray:
    """The extreme rows, up to scale."""
    return np.array(list(itertools.product([1.0, ratio], repeat=n)))[1:-1]


def extreme_channel(n: int, ratio: float, rng: np.random.Generator) -> FloatArray:
    """A vertex of the ε-LDP channels on n types, (outputs, n)."""
    V = corners(n, ratio)
    found = linprog(rng.standard_normal(len(V)), A_eq=V.T, b_eq=np.ones(n), bounds=(0, None), method="highs")
    keep = found.x > 1e-12
    return V[keep] * found.x[keep, None]


def most_information(n: int, ratio: float, p: FloatArray, M: FloatArray) -> tuple[float, FloatArray]:
    """The largest tr(M·I_Q(p)) over all ε-LDP channels, and its multiplier."""
    V = corners(n, ratio)
    cost = np.einsum("vi,ij,vj->v", V, M, V) / (V @ p)
    found = linprog(-cost, A_eq=V.T, b_eq=np.ones(n), bounds=(0, None), method="highs")
    return -float(found.fun), -np.asarray(found.eqlin.marginals)


def information(Q: FloatArray, p: FloatArray) -> FloatArray:
    """I_Q(p)."""
    return np.asarray((Q.T / (Q @ p)) @ Q)


def simplex_grid(n: int, steps: int) -> FloatArray:
    """Points inside the simplex, (points, n)."""
    inner = itertools.product(range(steps), repeat=n - 1)
    points = np.array([(*t, steps - 1 - sum(t)) for t in inner if sum(t) < steps], dtype=float) + 1.0 / n
    return np.asarray(points / points.sum(axis=1, keepdims=True))


def bayes_squared(chances: FloatArray, points: FloatArray, weights: FloatArray, W: FloatArray) -> float:
    """The Bayes risk E‖ψ̂ − Wp‖², chances of every transcript at every point, (transcripts, points)."""
    joint = chances * weights
    mass, answers = joint.sum(axis=1), points @ W.T
    means = (joint @ answers)[mass > 0.0] / mass[mass > 0.0, None]
    return float(weights @ np.square(answers).sum(axis=1) - mass[mass > 0.0] @ np.square(means).sum(axis=1))


def counts_chances(Q: FloatArray, points: FloatArray, users: int) -> FloatArray:
    """Chances of every table of counts of N reports, (tables, points)."""
    outputs, logs = len(Q), np.log(points @ Q.T)
    tables = np.array([t for t in itertools.product(range(users + 1), repeat=outputs) if sum(t) == users])
    return np.asarray(np.exp(gammaln(users + 1.0) - gammaln(tables + 1.0).sum(axis=1)[:, None] + tables @ logs.T))


def randomized_response(n: int, ratio: float) -> FloatArray:
    """Its channel."""
    return np.asarray((np.ones((n, n)) + (ratio - 1.0) * np.eye(n)) / (ratio + n - 1.0))


def randomized_response_variance(W: FloatArray, epsilon: float) -> np.longdouble:
    """The largest variance per user over the types, summed over queries, in extended precision and without cancelling.

    With c = 1/(a−1) the estimate of W_vx is (n−1+a)c·W_v − … ; the variance of a report of type u, of W less its value
    there, is (n−1+a)²c²·[Σ_y q_y W_vy² − (Σ_y q_yW_vy)²], q_y = 1/(n−1+a) for y ≠ u.
    """
    long = np.longdouble
    W, n = W.astype(long), W.shape[1]
    c = long(1) / np.expm1(long(epsilon))
    chance = c / (n * c + 1)  # 1/(n − 1 + a)
    scale = (n * c + 1) ** 2
    worst = long(0)
    for u in range(n):
        less = W - W[:, [u]]
        squares, sums = np.square(less).sum(axis=1), less.sum(axis=1)
        worst = max(worst, scale * (chance * squares - chance**2 * sums**2).sum())
    return worst


def subset_selection_variance(W: FloatArray, epsilon: float, size: int) -> np.longdouble:
    """The same for subset selection with this size: a set holds the type with chance θ, and others evenly.

    With i_y whether y is in the set, Σ_yW_vyi_y is unbiased for W_vx up to a constant after division by θ − q,
    q the chance of another type.
    """
    long, n, k = np.longdouble, W.shape[1], size
    W, low = W.astype(long), np.exp(-long(epsilon))
    theta = k / (k + (n - k) * low)
    # Chances of one, and of two, of the other types, given that the type is in the set or not.
    one_in, one_out = long(k - 1) / (n - 1), long(k) / (n - 1)
    two_in = long((k - 1) * (k - 2)) / ((n - 1) * max(n - 2, 1))
    two_out = long(k * (k - 1)) / ((n - 1) * max(n - 2, 1))
    gap = theta - (theta * one_in + (1 - theta) * one_out)
    worst = long(0)
    for u in range(n):
        less = W - W[:, [u]]
        squares, sums = np.square(less).sum(axis=1), less.sum(axis=1)
        one, two = theta * one_in + (1 - theta) * one_out, theta * two_in + (1 - theta) * two_out
        second = one * squares + two * (sums**2 - squares)
        worst = max(worst, ((second - (one * sums) ** 2) / gap**2).sum())
    return worst


def gaussian_like(rng: np.random.Generator, k: int, n: int) -> FloatArray:
    """A random workload of one of several kinds."""
    kind = rng.integers(4)
    if kind == 0:
        return rng.standard_normal((k, n))
    if kind == 1:
        return np.cumsum(rng.standard_normal((k, n)), axis=1)
    if kind == 2:
        return np.sign(rng.standard_normal((k, n))) + 0.0
    return rng.standard_normal((k, n)) * 10.0 ** rng.uniform(-3, 3, size=(k, 1))


def log_uniform(rng: np.random.Generator, low: float, high: float) -> float:
    """A number whose logarithm is uniform."""
    return float(math.exp(rng.uniform(math.log(low), math.log(high))))
