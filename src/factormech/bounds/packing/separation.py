r"""Separation numbers of the users' answers: Lemma 2.3's bound and Theorem 1.4's two sides (Nikolov, SODA 2023).

For points q_x ∈ ℝᵏ, with distances ‖·‖₂/√k, P(t) is the largest number of points pairwise at least t apart. Δ persons
of type x and n − Δ of one fixed type, for each x of such a set, are data sets (Δ/n)t apart: by ``core``, for every
whole 1 ≤ Δ ≤ n and every t

.. math:: \mathrm{err} \ge \frac Δn\,t\;κ\bigl(1 + (P(t)-1)e^{-εΔ}\bigr) .

*P from both sides.* A farthest-point traversal takes the point farthest from those taken; let t_M be its distance to
the M − 1 before it. The first M points are t_M apart, so P(t_M) ≥ M; and all points are within t_{M+1} of them, so
P(t) ≤ M for t > 2t_{M+1}. For small universes a search over cliques gives P exactly.

*Theorem 1.4.* At α the coarse JL mechanism needs at most a constant times U = α^{−2}ln(w/α)²·sup_{t>α/4} t²ln P(t)/ε
persons, w = diam/√k, and error α/8 needs at least a constant times L = α^{−1}·sup_{t>α/4} t·ln P(t)/ε. With t ≤ w,
U/L ≤ (w/α)·ln(w/α)²: the theorem. :func:`coarse_ratio` gives U, L and their ratio without the constants.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from factormech.arrays import FloatArray, IntArray, check_epsilon, check_positive_integer
from factormech.bounds.packing.core import LowerBound, best_multiple, nothing, share
from factormech.errors import BadValue
from factormech.numerics.rounding import below

# Types up to which P is searched exactly, and the steps that a search may take before it gives an interval.
EXACT_LIMIT = 48
_STEPS = 200_000
# Relative slack of distances, which are square roots of differences of Gram entries.
_SLACK = 1e-12


@dataclass(frozen=True)
class Separation:
    """P(t) at decreasing distances t > 0: at least ``lower`` points and at most ``upper`` are t apart.

    Attributes
    ----------
    distance
        t, decreasing, from below by rounding, in units of ‖·‖₂/√k.
    lower, upper
        Whole numbers.
    """

    distance: FloatArray
    lower: IntArray
    upper: IntArray

    @property
    def diameter(self) -> float:
        """w = diam/√k; 0 if all points are equal."""
        return float(self.distance[0]) if len(self.distance) else 0.0


def distances_of(gram: FloatArray, queries: int) -> FloatArray:
    """All ‖q_x − q_y‖₂/√k from G = QᵀQ; numbers below the rounding of G are 0."""
    g = np.diagonal(gram)
    squares = g[:, None] + g[None, :] - gram - gram.T
    noise = _SLACK * float(np.max(g, initial=0.0))
    # Twice the noise taken off keeps each a lower bound.
    return np.asarray(np.sqrt(np.maximum(squares - noise, 0.0) / queries) * (1.0 - _SLACK))


def traversal(distances: FloatArray) -> tuple[IntArray, FloatArray]:
    """Farthest-point order, started at an end of the diameter, and t_M for M = 2, 3, …, while positive."""
    N = len(distances)
    first = int(np.argmax(distances.max(axis=1)))
    order, radii = [first], []
    nearest = distances[first].copy()
    for _ in range(N - 1):
        x = int(np.argmax(nearest))
        if nearest[x] <= 0.0:
            break
        order.append(x)
        radii.append(float(nearest[x]))
        np.minimum(nearest, distances[x], out=nearest)
    return np.array(order), np.array(radii)


def separation(distances: FloatArray, *, exact: bool = False) -> Separation:
    """P at the distances of the traversal, or, with ``exact``, at all distances, by a search over cliques.

    Parameters
    ----------
    distances
        N × N, symmetric, as of :func:`distances_of`.
    exact
        For at most ``EXACT_LIMIT`` types. A search that is too long leaves an interval.
    """
    if exact and len(distances) > EXACT_LIMIT:
        raise BadValue("types", len(distances), f"be at most {EXACT_LIMIT} for an exact search", "use exact=False")
    _, radii = traversal(distances)
    if not len(radii):
        return Separation(np.empty(0), np.empty(0, np.int64), np.empty(0, np.int64))
    levels = _levels(distances[distances > 0.0] if exact else radii)
    # M points from t_M on; −radii is increasing, as the traversal's distances do not grow.
    lower = np.searchsorted(-radii, -levels, side="right") + 1
    covered = np.searchsorted(-radii, -levels / 2.0 * (1.0 - 4.0 * _SLACK), side="right") + 1
    upper = np.minimum(covered, len(distances))
    if exact:
        for i, t in enumerate(levels):
            start = max(int(lower[i]), int(lower[i - 1]) if i else 1)
            lower[i], upper[i] = _largest_clique(distances >= t * (1.0 - _SLACK), start, int(upper[i]))
    return Separation(levels * (1.0 - _SLACK), lower.astype(np.int64), np.maximum(upper, lower).astype(np.int64))


def _levels(distances: FloatArray) -> FloatArray:
    """The distinct distances, decreasing; those that differ by rounding alone are one, the smaller."""
    w = float(distances.max())
    return np.asarray(np.unique(np.floor(distances / w * (1e10 * (1.0 + 1e-13))))[::-1] * (w * 1e-10 * (1.0 - _SLACK)))


def separation_bound(found: Separation, users: int, epsilon: float) -> LowerBound:
    """The best t and Δ of the module's bound."""
    epsilon, n = check_epsilon(epsilon), check_positive_integer("users", users)
    if not len(found.distance):
        return nothing(n, epsilon)
    L = np.log(found.lower.astype(float)) * (1.0 - 2.0**-50)
    gain = found.distance / n
    at, copies, value = best_multiple(L, np.ones(len(L), np.int64), gain, n, epsilon)
    witness = {
        "data": "some persons of one type, the rest of a fixed one",
        "types": int(found.lower[at]),
        "separation": float(found.distance[at]),
        "log_size": float(L[at]),
        "replacements": copies,
        "distance": below(float(copies * gain[at]), 6),
        "share": float(share(L[at], epsilon * copies)),
    }
    return LowerBound(below(value, 6), n, epsilon, "packing", witness)


@dataclass(frozen=True)
class CoarseRatio:
    """The two sides of Theorem 1.4 at one α, in units of persons·ε and without its constants.

    Attributes
    ----------
    upper, lower
        U with the upper ends of P, L with the lower ends.
    ratio
        U/L: at most ``allowed`` where P is exact.
    allowed
        (w/α)·ln(w/α)².
    """

    upper: float
    lower: float
    ratio: float
    allowed: float


def coarse_ratio(found: Separation, alpha: float) -> CoarseRatio:
    """U, L and U/L of the module for 0 < α < w."""
    w = found.diameter
    if not 0.0 < alpha < w:
        raise BadValue("alpha", alpha, f"be above 0 and below the diameter of the answers, {w:.6g}", "give a smaller α")
    far = found.distance > alpha / 4.0
    t = found.distance[far]
    # P is constant between its levels: the supremum over t is a maximum over them.
    first = float(np.max(t * np.log(found.lower[far]), initial=0.0)) / alpha
    second = float(np.max(t**2 * np.log(found.upper[far]), initial=0.0)) * math.log(w / alpha) ** 2 / alpha**2
    return CoarseRatio(second, first, second / first, w / alpha * math.log(w / alpha) ** 2)


def _largest_clique(graph: FloatArray, start: int, most: int) -> tuple[int, int]:
    """(lower, upper) size of the largest clique, given that one of ``start`` exists and none above ``most``."""
    N = len(graph)
    if start >= most:
        return start, start
    neighbours = [sum(1 << int(j) for j in np.flatnonzero(graph[i]) if j != i) for i in range(N)]
    best, steps = start, 0
    stack = [((1 << N) - 1, 0)]
    while stack:
        candidates, size = stack.pop()
        steps += 1
        if steps > _STEPS:
            return best, most
        if size > best:
            best = size
        if size + _colours(candidates, neighbours) <= best:
            continue
        v = candidates.bit_length() - 1
        # Without v, and then (first) with it.
        stack.append((candidates & ~(1 << v), size))
        stack.append((candidates & neighbours[v], size + 1))
    return best, best


def _colours(candidates: int, neighbours: list[int]) -> int:
    """A greedy colouring's number of colours: no clique among the candidates is larger."""
    count = 0
    while candidates:
        count += 1
        free = candidates
        while free:
            v = free.bit_length() - 1
            candidates &= ~(1 << v)
            free &= ~(1 << v) & ~neighbours[v]
    return count
