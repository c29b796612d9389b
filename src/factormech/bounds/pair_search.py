r"""The search for the weights of ``pairwise.py``.

It minimises log(B/n) − 2 log T − β·(log det K)/rank over log p, log ω and N ≥ 0, from uniform p and N = 0 or from
interpolated weights (``grouping.py``), with smaller and smaller β: the barrier keeps Y ≻ 0 on the range of C. Where C
has a small rank, Y ≻ 0 matters outside its range too, so the search adds a little of P to C (the bound does not). With
F = log B − 2 log T, G = −X̂/T, X̂ = RK^{−1/2}Rᵀ, h = −2Gg/ω (all of them without their part along 1) and the
derivatives of B,

* ∂F/∂p_u = G_uu + h_u, made orthogonal to p as Σp_u = 1,
* ∂F/∂ω = gᵀGg/ω² + B_ω/B,
* ∂F/∂N_uv (both entries) = −2G_uv − κ(h_u + h_v) + 2B_ν/B.

The barrier adds −β/rank·RK^{−1}Rᵀ to G.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TypeAlias

import numpy as np

from factormech.arrays import FloatArray, IntArray
from factormech.bounds.descent import minimise
from factormech.bounds.halves import Halves, RootTrace
from factormech.bounds.size_limit import Limit, SizeLimit

Barriers: TypeAlias = tuple[tuple[float, float], ...]

# β, and the gain in F over a few steps that is too little at each.
BARRIERS: Barriers = ((1e-2, 1e-5), (1e-4, 1e-6), (1e-6, 1e-7))
# Steps at each, and the most times as many where they are cheap (below n = 256): unlike columns need them.
STEPS_LIMIT, MORE_STEPS = 150, 4.0
# The same from interpolated weights, which are near the best.
WARM_BARRIERS: Barriers = ((1e-6, 2e-6),)
# How far above 1/c² the search starts, relatively.
OFF_EDGE = 1.03
# What of P is added to C, relative to tr C/n, in the search.
SMOOTHING = 1e-7
# A pair's weight gains something if F falls by it faster than this share of what it costs.
GAIN = 1e-6
LARGEST_LOGARITHM = 50.0
# The ω that are tried at a start, relative to 1/c² + 1/n, and the distances of columns that are rounding.
START_OMEGAS = np.geomspace(1e-3, 1e3, 13)
ROUNDING = 1e-9


@dataclass(frozen=True)
class PairWeights:
    """p, (n,); N, (n, n), symmetric, ≥ 0, zero on the diagonal; ω."""

    types: FloatArray
    pairs: FloatArray
    omega: float


@dataclass(frozen=True)
class Slopes:
    """The derivatives of F − β(log det K)/rank by p (without regard to Σp = 1), N (of each pair, (n, n)) and ω."""

    types: FloatArray
    pairs: FloatArray
    omega: float


def slopes(weights: PairWeights, found: RootTrace, B: Limit, kappa: float, barrier: float = 0.0) -> Slopes:
    """The gradient of the module's first lines."""
    p, N, omega = weights.types, weights.pairs, weights.omega
    g = p - kappa * N.sum(axis=1)
    g = g - g.mean()
    G = -found.gradient(1.0 / found.trace, barrier / found.rank)
    Gg = G @ g
    h = -2.0 / omega * Gg
    pairs = -2.0 * G
    pairs -= kappa * h[:, None]
    pairs -= kappa * h - 2.0 * B.by_nu / B.value
    return Slopes(np.diagonal(G) + h, pairs, float(g @ Gg) / omega**2 + B.by_omega / B.value)


def pairs_gain(halves: Halves, limit: SizeLimit, weights: PairWeights) -> bool:
    """Whether F falls where the weight of some pair becomes positive."""
    found = halves.root_trace(weights.types, weights.pairs, weights.types, weights.omega)
    if found is None:
        return True
    B = limit.at(0.0, weights.omega)
    by_pair = slopes(weights, found, B, limit.kappa).pairs
    np.fill_diagonal(by_pair, 0.0)
    return bool(by_pair.min() < -GAIN * 2.0 * B.by_nu / B.value)


@lru_cache(maxsize=2)
def _above_diagonal(n: int) -> IntArray:
    """The places of the pairs u < v in a flat (n, n) array."""
    first, second = np.triu_indices(n, 1)
    places = np.asarray(first * n + second, dtype=np.int64)
    places.setflags(write=False)
    return places


@dataclass(frozen=True)
class Coordinates:
    """Where the search is: log p up to a constant in units of √ω_0, log ω/ω_0, and nN above the diagonal."""

    domain_size: int
    omega: float

    @property
    def size(self) -> int:
        """The number of coordinates."""
        n = self.domain_size
        return n + 1 + n * (n - 1) // 2

    @property
    def lower(self) -> FloatArray:
        """The limits of the coordinates."""
        return np.where(np.arange(self.size) <= self.domain_size, -math.inf, 0.0)

    def weights(self, point: FloatArray) -> PairWeights:
        """The weights at a point."""
        n = self.domain_size
        z = math.sqrt(self.omega) * point[:n]
        e = np.exp(np.maximum(z - z.max(), -LARGEST_LOGARITHM))
        exponent = min(max(float(point[n]), -LARGEST_LOGARITHM), LARGEST_LOGARITHM)
        N = np.zeros((n, n))
        N.reshape(-1)[_above_diagonal(n)] = point[n + 1 :] / n
        return PairWeights(e / e.sum(), N + N.T, self.omega * math.exp(exponent))

    def point(self, weights: PairWeights) -> FloatArray:
        """Where weights are, of ω = ω_0."""
        logs = np.log(weights.types * self.domain_size) / math.sqrt(self.omega)
        pairs = weights.pairs[np.triu_indices(self.domain_size, 1)]
        return np.concatenate([logs, [0.0], self.domain_size * pairs])

    def gradient(self, weights: PairWeights, by: Slopes) -> FloatArray:
        """The chain rule."""
        n, p = self.domain_size, weights.types
        by_z = p * (by.types - float(p @ by.types))
        by_pair = np.take(by.pairs, _above_diagonal(n)) / n
        return np.concatenate([math.sqrt(self.omega) * by_z, [weights.omega * by.omega], by_pair])


def negative_log(
    halves: Halves, limit: SizeLimit, coordinates: Coordinates, point: FloatArray, barrier: float
) -> tuple[float, FloatArray]:
    """F − β(log det K)/rank and its gradient; infinite unless Y ≻ 0 on the range of C."""
    weights = coordinates.weights(point)
    r = weights.pairs.sum(axis=1)
    found = halves.root_trace(weights.types, weights.pairs, weights.types - limit.kappa * r, weights.omega)
    if found is None:
        return math.inf, np.zeros_like(point)
    B = limit.at(float(r.sum()), weights.omega)
    value = math.log(B.value) - 2.0 * math.log(found.trace) - barrier * found.mean_logarithm
    return value, coordinates.gradient(weights, slopes(weights, found, B, limit.kappa, barrier))


def uniform_start(domain_size: int, limit: SizeLimit) -> PairWeights:
    """Uniform p and N = 0, where Y = P/n whatever ω is."""
    n = domain_size
    return PairWeights(np.full(n, 1.0 / n), np.zeros((n, n)), max(OFF_EDGE * limit.flatness, 1.0 / n))


def off_edge(weights: PairWeights, limit: SizeLimit) -> PairWeights:
    """The same weights with ω a little above 1/c² if it is there, where B has an edge that holds the search."""
    near = 1.0 / OFF_EDGE < weights.omega / limit.flatness < OFF_EDGE
    return PairWeights(weights.types, weights.pairs, OFF_EDGE * limit.flatness) if near else weights


def single_start(centred_gram: FloatArray, limit: SizeLimit) -> PairWeights | None:
    """The weights that randomized response attains at large ε (``pairwise.py``), for C of trace 1."""
    C, n = centred_gram, len(centred_gram)
    halves, diagonal = Halves.of(C), np.diagonal(C)
    distances = 0.5 * (diagonal[:, None] + diagonal) - C
    np.fill_diagonal(distances, 0.0)
    positive = distances[distances > ROUNDING * distances.max()]
    N = np.maximum(distances / (n * positive.min()) - 1.0 / n, 0.0)
    np.fill_diagonal(N, 0.0)
    p, r = np.full(n, 1.0 / n), N.sum(axis=1)
    best, least = None, math.inf
    for omega in (limit.flatness + 1.0 / n) * START_OMEGAS[::-1]:
        found = halves.root_trace(p, N, p - limit.kappa * r, float(omega))
        if found is None:
            break  # a smaller ω takes more from Y
        value = math.log(limit.at(float(r.sum()), float(omega)).value) - 2.0 * math.log(found.trace)
        if value >= least:
            break  # by concavity, there is one descent
        best, least = PairWeights(p, N, float(omega)), value
    return best


def best_pair_weights(
    centred_gram: FloatArray,
    limit: SizeLimit,
    start: PairWeights,
    barriers: Barriers = BARRIERS,
    steps: int | None = None,
) -> PairWeights:
    """The best weights that the search finds from ``start``, where Y ≻ 0, for C of trace 1."""
    n = len(centred_gram)
    steps = int(STEPS_LIMIT * min(max((256 / n) ** 2, 1.0), MORE_STEPS)) if steps is None else steps
    smoothed = centred_gram + SMOOTHING / n * (np.eye(n) - 1.0 / n)
    halves = Halves.of(smoothed)
    coordinates = Coordinates(n, start.omega)
    point = coordinates.point(start)
    for barrier, gain in barriers:
        function = partial(negative_log, halves, limit, coordinates, barrier=barrier)
        point, _ = minimise(function, point, gain, steps, coordinates.lower)
    return coordinates.weights(point)
