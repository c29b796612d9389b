"""Mechanisms whose errors are known, and linear programs for the best mechanism of all: no bound may be above them."""

from __future__ import annotations

import itertools
import math

import numpy as np

from factormech.arrays import FloatArray


def histograms(types: int, users: int) -> list[tuple[int, ...]]:
    """All histograms of this many persons."""
    return [h for h in itertools.product(range(users + 1), repeat=types) if sum(h) == users]


def best_of_all(W: FloatArray, users: int, epsilon: float, answers: FloatArray) -> float:
    """The least worst E‖·‖₂/√k over ε-DP mechanisms that answer with one of ``answers`` (rows): a linear program."""
    from scipy.optimize import linprog
    from scipy.sparse import coo_array

    data = histograms(W.shape[1], users)
    m, D, a = len(answers), len(data), math.exp(epsilon)
    costs = np.array([[np.linalg.norm(y - W @ np.array(h) / users) for y in answers] for h in data])
    costs /= math.sqrt(len(W))
    rows: list[tuple[int, int, float]] = []
    count = 0
    for i, j in itertools.permutations(range(D), 2):
        if np.abs(np.subtract(data[i], data[j])).sum() == 2:
            for o in range(m):
                rows += [(count, i * m + o, 1.0), (count, j * m + o, -a)]
                count += 1
    for i in range(D):
        rows += [(count, i * m + o, costs[i, o]) for o in range(m)] + [(count, D * m, -1.0)]
        count += 1
    at = np.array(rows)
    A = coo_array((at[:, 2], (at[:, 0].astype(int), at[:, 1].astype(int))), shape=(count, D * m + 1)).tocsr()
    sums = np.hstack([np.kron(np.eye(D), np.ones(m)), np.zeros((D, 1))])
    cost = np.zeros(D * m + 1)
    cost[-1] = 1.0
    return float(linprog(cost, A, np.zeros(count), sums, np.ones(D)).fun)


def ball_noise(W: FloatArray, users: int, epsilon: float) -> float:
    """Nikolov's Lemma 4.2: the ε-DP noise of the Euclidean ball has error √k·diam/(nε), exactly."""
    differences = W[:, :, None] - W[:, None, :]
    diameter = float(np.sqrt((differences**2).sum(axis=0)).max())
    return math.sqrt(len(W)) * diameter / (users * epsilon)


def parity_noise(types: int, users: int, epsilon: float) -> float:
    """(E‖·‖²/k)^½ of K-norm noise for all parities, from the law of the positives of the simplex's difference body."""
    N, j = types, np.arange(1, types)
    logs = np.array(
        [math.lgamma(N + 1) - math.lgamma(i + 1) - math.lgamma(N - i + 1) for i in j]
    ) + np.array([math.lgamma(N - 1) - math.lgamma(i) - math.lgamma(N - i) for i in j])  # fmt: skip
    P = np.exp(logs - logs.max())
    P /= P.sum()
    return math.sqrt(N * (N - 1) * float(P @ (2.0 / (j + 1) + 2.0 / (N - j + 1)))) / (users * epsilon)


def randomized_response(types: int, epsilon: float) -> float:
    """n = 1, full parity: √2 times the probability of answering with another type."""
    return math.sqrt(2.0) * (types - 1) / (types - 1 + math.exp(epsilon))
