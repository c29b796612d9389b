"""Compiled sums over sets and the search for better ones; importing this module imports numba (half a second)."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from factormech.arrays import FloatArray, IntArray
from factormech.compiled import compiled
from factormech.mechanisms.local.optimal.problem import BoolArray

# Sums over lists of types.

Types = npt.NDArray[np.unsignedinteger[Any]]


@compiled()
def add_pairs(types: Types, ends: IntArray, weights: FloatArray, G: FloatArray) -> None:
    """Add Σw_S 1_S1_Sᵀ to the symmetric part of G: w_S to G_uu, 2w_S to G_uv for each pair u, v of S in one order."""
    for i in range(weights.size):
        w, end = weights[i], ends[i + 1]
        both = 2.0 * w
        for a in range(ends[i], end):
            row = G[types[a]]
            row[types[a]] += w
            for b in range(a + 1, end):
                row[types[b]] += both


@compiled(fastmath={"reassoc", "nsz", "contract"})
def forms(types: Types, ends: IntArray, Y: FloatArray) -> FloatArray:
    """Σ Y_uv over u, v ∈ S of each S, Y symmetric."""
    values = np.empty(ends.size - 1)
    for i in range(values.size):
        end, once, twice = ends[i + 1], 0.0, 0.0
        for a in range(ends[i], end):
            row = Y[types[a]]
            once += row[types[a]]
            for b in range(a + 1, end):
                twice += row[types[b]]
        values[i] = once + 2.0 * twice
    return values


# The search for better sets.


@compiled(fastmath={"reassoc", "nsz", "contract"})
def _best_flip(
    signs: FloatArray, g: FloatArray, diagonal: FloatArray, mu: FloatArray, prior: FloatArray, state: FloatArray
) -> tuple[int, float]:
    """The flip after which the score is highest, and that score; ``state`` is (q, μᵀ1_S, π_S, b, n)."""
    q, level, weight, b, n = state[0], state[1], state[2], state[3], state[4]
    best, score = -1, -np.inf
    for u in range(g.size):
        sign = signs[u]
        beta = b * n / (n + b * (weight + sign * prior[u]))
        value = beta * (beta * (q + 2.0 * sign * g[u] + diagonal[u]) - (level + sign * mu[u]))
        if value > score:
            best, score = u, value
    return best, score


@compiled()
def climb(
    supports: BoolArray,
    Y: FloatArray,
    mu: FloatArray,
    prior: FloatArray,
    shift: float,
    flips: int,
) -> FloatArray:
    """Flip single types of each set, in place, as long as its score rises, ``flips`` times at most; the scores."""
    n = Y.shape[0]
    scores = np.empty(supports.shape[0])
    diagonal = np.diag(Y).copy()
    state = np.empty(5)
    state[3], state[4] = shift, float(n)
    signs, g = np.empty(n), np.empty(n)
    for i in range(supports.shape[0]):
        S = supports[i]
        g[:] = 0.0
        state[0], state[1], state[2] = 0.0, 0.0, 0.0
        size = 0
        for u in range(n):
            signs[u] = 1.0
            if S[u]:
                signs[u] = -1.0
                g += Y[u]
                state[1] += mu[u]
                state[2] += prior[u]
                size += 1
        for u in range(n):
            if S[u]:
                state[0] += g[u]
        beta = shift * n / (n + shift * state[2])
        score = beta * (beta * state[0] - state[1])
        for _ in range(flips):
            u, value = _best_flip(signs, g, diagonal, mu, prior, state)
            if value <= score + 1e-12 * abs(score):
                break
            sign = signs[u]
            size += int(sign)
            if size == 0 or size == n:
                break
            state[0] += 2.0 * sign * g[u] + diagonal[u]
            state[1] += sign * mu[u]
            state[2] += sign * prior[u]
            signs[u] = -sign
            S[u] = sign > 0.0
            g += sign * Y[u]
            score = value
        scores[i] = score
    return scores
