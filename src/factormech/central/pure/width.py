r"""The Gaussian width of K and what it decides: whether projecting to few dimensions can pay (Theorem 1.2).

w(K) = E max_{y ∈ K} ⟨G, y⟩, G ~ N(0, I_k). As −G has the law of G, w(K) = E M with M = ½(max⟨G, Q_x⟩ − min⟨G, Q_x⟩) ≥
0, a Lipschitz function of G with the constant ½ diam K: so the mean of draws has an interval by Gaussian concentration,
without any limit theorem. Widths do not see translations.

**Choice.** Up to constants the K-norm mechanism errs by w/(nε) and JL release by w/√(k nε) (Nikolov, SODA 2023, Lemma
4.3 and Theorem 5.1): the width cancels and JL is the better one iff nε ≲ k. For a given error α the sample sizes w/(εα)
and w²/(kεα²) say: iff α ≳ w/k. The theorem is about 0 < α < diam K/√k; at more, one fixed answer will do.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from factormech.arrays import FloatArray, check_epsilon, check_positive_integer
from factormech.central import sequential
from factormech.central.pure.bodies import body_of, checked_queries
from factormech.errors import BadValue

_BLOCK = 2**22


def gaussian_width(
    queries: Any, rng: np.random.Generator, relative_width: float = 0.02, *, level: float = sequential.LEVEL
) -> sequential.SimulatedMean:
    """w(K), K = conv of the columns of Q, (k, N): ``mean``, and ``certain`` by concentration."""
    Q = checked_queries(queries)
    body = body_of(Q)
    V = np.ascontiguousarray((body.columns - body.columns.mean(axis=1, keepdims=True)).T)

    def draw(count: int) -> FloatArray:
        return half_spreads(V, rng, count)

    return sequential.estimate(draw, relative_width, level=level, lipschitz=0.5 * body.diameters[1])


def half_spreads(points: FloatArray, rng: np.random.Generator, count: int) -> FloatArray:
    """Draws of M, (count,), for the lines of ``points``, (N, k)."""
    step = max(1, _BLOCK // max(points.shape))
    found = []
    for start in range(0, count, step):
        G = rng.standard_normal((min(step, count - start), points.shape[1]))
        heights = G @ points.T
        found.append(0.5 * (heights.max(axis=1) - heights.min(axis=1)))
    return np.concatenate(found)


def jl_is_better_for(users: float, epsilon: float, queries: int, constant: float = 1.0) -> bool:
    """nε ≤ constant·k."""
    epsilon, k = check_epsilon(epsilon), check_positive_integer("queries", queries)
    if not 0.0 < users < math.inf:
        raise BadValue("users", users, "be a finite number above 0", "give for example 1000")
    return users * epsilon <= constant * k


def jl_is_better_at(alpha: float, width: float, diameter: float, queries: int, constant: float = 1.0) -> bool:
    """α ≥ constant·w/k, for α within the theorem's range."""
    k = check_positive_integer("queries", queries)
    limit = diameter / math.sqrt(k)
    if not 0.0 < alpha < limit:
        rule = f"be above 0 and below diam K/√k = {limit:.6g}"
        raise BadValue("alpha", alpha, rule, "any fixed answer of K is as good as more than that")
    return alpha >= constant * width / k


def sample_complexity_order(alpha: float, epsilon: float, width: float, queries: int) -> tuple[float, float]:
    """(w/(εα), w²/(kεα²)): the orders of Theorem 1.2 without their constants, of K-norm noise and of JL release."""
    return width / (epsilon * alpha), width**2 / (queries * epsilon * alpha**2)
