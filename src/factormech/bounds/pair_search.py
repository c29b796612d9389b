"""The search for the weights of types and pairs in the bound of ``pairwise.py``.

**Domains in groups.** User types of an ordered domain that are neighbours are nearly alike, and so are their weights.
With cells [u/n, (u+1)/n] for the types and [i/m, (i+1)/m] for m groups of them, A_ui the share of cell u that lies in
group i, the groups have the centred Gram matrix AᵀCA (A1 = 1, so it is centred again). A set of a given share of the
types keeps its meaning, and weights per group become weights per type by linear interpolation between the middles of
the groups: of log p, and of the density n²N of the weights of pairs.

It is a guess about good weights, and nothing is proved from it: a bound is evaluated from its theorem, at full size,
for whatever weights it is given. Where the order of the types means nothing, the guess is bad, and the search starts
afresh.

**The objective on halves.** The search needs tr(C^{1/2}YC^{1/2})^{1/2} and its gradient, where Y = Diag p − N − ggᵀ/ω
on the complement of 1. If C, p and N do not change when the types are reversed, even and odd vectors separate, in the
orthonormal basis (e_u ± e_ū)/√2 (or e_u, where u is its own reflection): two eigenproblems of half the size.

**The search.** It minimises log(B/n) − 2 log T − β·(log det K)/rank over log p, log ω and N ≥ 0, from uniform p and N
= 0 or from weights interpolated between groups, with smaller and smaller β: the barrier keeps Y ≻ 0 on the range of
C. Where C has a small rank, Y ≻ 0 matters outside its range too, so the search adds a little of P to C (the bound
does not). With F = log B − 2 log T, G = −X̂/T, X̂ = RK^{−1/2}Rᵀ, h = −2Gg/ω (all of them without their part along 1)
and the derivatives of B,

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
from factormech.bounds.staircase import Limit, SizeLimit
from factormech.numerics.descent import minimise

# Domains in groups.

# Domains up to this are searched at once; larger ones first in half as many groups.
SMALLEST = 160


def levels(centred_gram: FloatArray) -> list[FloatArray]:
    """Centred Gram matrices of fewer and fewer groups, the smallest first and C itself last."""
    grams = [centred_gram]
    while len(grams[0]) > SMALLEST:
        grams.insert(0, grouped(grams[0], -(-len(grams[0]) // 2)))
    return grams


def grouped(centred_gram: FloatArray, groups: int) -> FloatArray:
    """Return AᵀCA, (m, m), the centred Gram matrix C summed over groups of neighbouring types."""
    half = _sums(centred_gram, groups)
    small = _sums(half.T, groups)
    return np.asarray(0.5 * (small + small.T))


def spread_types(weights: FloatArray, domain_size: int) -> FloatArray:
    """Return positive weights per type, (n,), of sum 1, from those per group."""
    first, share = _places(len(weights), domain_size)
    logs = np.log(weights)
    p = np.exp(logs[first] + share * (logs[first + 1] - logs[first]))
    p = p + p[::-1] if np.array_equal(weights, weights[::-1]) else p
    return np.asarray(p / p.sum())


def spread_pairs(pairs: FloatArray, domain_size: int) -> FloatArray:
    """Return weights per pair of types, (n, n), symmetric, ≥ 0, 0 on the diagonal, from those per pair of groups."""
    m, n = len(pairs), domain_size
    first, share = _places(m, n)
    rows = pairs[first] + share[:, None] * (pairs[first + 1] - pairs[first])
    full = rows[:, first] + share * (rows[:, first + 1] - rows[:, first])
    full *= (m / n) ** 2
    np.maximum(full, 0.0, out=full)
    np.fill_diagonal(full, 0.0)
    return np.asarray(0.5 * (full + full.T))


def _places(groups: int, domain_size: int) -> tuple[IntArray, FloatArray]:
    """Between which two groups the middle of each type lies, and how far along; at both ends the line goes on."""
    middle = (np.arange(domain_size) + 0.5) * (groups / domain_size) - 0.5
    first = np.clip(np.floor(middle), 0, groups - 2).astype(np.int64)
    return first, middle - first


def _sums(matrix: FloatArray, groups: int) -> FloatArray:
    """AᵀM."""
    n = len(matrix)
    if n == 2 * groups:
        return np.asarray(matrix[::2] + matrix[1::2])
    edges = np.linspace(0.0, n, groups + 1)
    below = np.minimum(np.floor(edges), n - 1).astype(np.intp)
    # M from edge to edge: the integral of a step function.
    integral = np.vstack([np.zeros(matrix.shape[1]), np.cumsum(matrix, axis=0)])
    at = integral[below] + (edges - below)[:, None] * matrix[below]
    return np.asarray(np.diff(at, axis=0))


# The objective on halves.

# C is reflected into itself if it is up to this, relatively.
REFLECTION_TOLERANCE = 1e-9
# An eigenvalue of K below this, relatively, is on or behind the boundary of Y ⪰ 0.
BOUNDARY = 1e-15


@dataclass(frozen=True)
class RootTrace:
    """The eigenvalues κ of K = RᵀYR and the vectors RV, V the eigenvectors, of both halves."""

    halves: Halves
    even: tuple[FloatArray, FloatArray]
    odd: tuple[FloatArray, FloatArray]

    @property
    def trace(self) -> float:
        """T = tr K^{1/2}."""
        return float(np.sum(np.sqrt(self.even[0])) + np.sum(np.sqrt(self.odd[0])))

    @property
    def mean_logarithm(self) -> float:
        """log det K divided by the rank of C."""
        return float(np.sum(np.log(self.even[0])) + np.sum(np.log(self.odd[0]))) / self.rank

    @property
    def rank(self) -> int:
        """The rank of C."""
        return len(self.even[0]) + len(self.odd[0])

    def gradient(self, root: float = 1.0, logarithm: float = 0.0) -> FloatArray:
        """``root``·RK^{−1/2}Rᵀ + ``logarithm``·RK^{−1}Rᵀ: the derivatives by Y of 2T and of log det K."""
        parts = []
        for values, vectors in (self.even, self.odd):
            scaled = vectors * np.sqrt(root * values**-0.5 + logarithm / values)
            parts.append(scaled @ scaled.T)
        return self.halves.unfold(*parts)


@dataclass(frozen=True)
class Halves:
    """A root of C, on the even and on the odd vectors.

    Attributes
    ----------
    first, second
        One type of each orbit, and its partner: itself without a reflection, (h,).
    even, odd
        R in the orthonormal basis, (h, r) and (number of orbits of two, r').
    """

    first: IntArray
    second: IntArray
    even: FloatArray
    odd: FloatArray

    @classmethod
    def of(cls, centred_gram: FloatArray) -> Halves:
        """Build the two halves for any C = PCP."""
        C, n = centred_gram, len(centred_gram)
        reflected = np.abs(C - C[::-1, ::-1]).max() <= REFLECTION_TOLERANCE * np.abs(C).max()
        partner = np.arange(n)[::-1] if reflected else np.arange(n)
        first = np.flatnonzero(np.arange(n) <= partner)
        halves = cls(first, partner[first], np.empty((0, 0)), np.empty((0, 0)))
        even, odd = halves.fold(C)
        # Rounding is judged against the whole of C: a half may be zero, and the root of noise is not small.
        ones = halves.lengths / np.sqrt(n)  # C1 = 0 but for rounding
        even = even - np.outer(ones, ones @ even)
        even = even - np.outer(even @ ones, ones)
        scale = max(n, 4) * np.finfo(float).eps * float(np.trace(C))
        return cls(first, halves.second, _root(even, scale), _root(odd, scale))

    @property
    def paired(self) -> IntArray:
        """The orbits of two types."""
        return np.flatnonzero(self.first != self.second)

    @property
    def lengths(self) -> FloatArray:
        """√(orbit size), (h,)."""
        return np.where(self.first == self.second, 1.0, np.sqrt(2.0))

    @property
    def reflected(self) -> bool:
        """Whether C is its own reflection."""
        return len(self.paired) > 0

    @property
    def _slices(self) -> tuple[slice, slice, slice]:
        """``first``, ``second`` and ``paired``: slices copy in a fraction of the time that lists of places take."""
        orbits, pairs = len(self.first), len(self.paired)
        n = orbits + pairs
        return slice(0, orbits), slice(n - 1, n - 1 - orbits, -1) if pairs else slice(0, orbits), slice(0, pairs)

    def fold(self, matrix: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The even and the odd block of a symmetric matrix that the reflection preserves."""
        scales = 0.5 * np.outer(self.lengths, self.lengths)
        first, second, paired = self._slices
        same, cross = matrix[first, first] * scales, matrix[first, second] * scales
        return same + cross, (same - cross)[paired, paired]

    def unfold(self, even: FloatArray, odd: FloatArray) -> FloatArray:
        """The matrix with these blocks, (n, n)."""
        n = len(self.first) + len(self.paired)
        first, second, paired = self._slices
        same = even / np.outer(self.lengths, self.lengths)
        cross = same.copy()
        same[paired, paired] += 0.5 * odd
        cross[paired, paired] -= 0.5 * odd
        full = np.empty((n, n))
        full[first, second] = cross
        full[second, first] = cross.T
        full[first, first] = same
        full[second, second] = same
        return full

    def root_trace(self, p: FloatArray, N: FloatArray, g: FloatArray, omega: float) -> RootTrace | None:
        """K and its eigenvectors; nothing where Y ⪰ 0 fails on the range of C."""
        even_pairs, odd_pairs = self.fold(N)
        shifted = (self.lengths * (g - g.mean())[self.first])[:, None]
        even = _eigen(self.even, p[self.first], even_pairs + shifted @ shifted.T / omega)
        odd = _eigen(self.odd, p[self.first][self.paired], odd_pairs)
        values = np.concatenate([even[0], odd[0]])
        if not len(values) or not values.min() > BOUNDARY * values.max():
            return None
        return RootTrace(self, even, odd)


def _eigen(R: FloatArray, p: FloatArray, M: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Eigenvalues of Rᵀ(Diag p − M)R and R times the eigenvectors."""
    if not R.shape[1]:
        return np.zeros(0), np.zeros_like(R)
    values, vectors = np.linalg.eigh(R.T @ (p[:, None] * R - M @ R))
    return values, np.asarray(R @ vectors)


def _root(C: FloatArray, noise: float) -> FloatArray:
    """R of full column rank with RRᵀ = C but for eigenvalues up to ``noise``."""
    values, vectors = np.linalg.eigh(C)
    keep = values > noise
    return np.asarray(vectors[:, keep] * np.sqrt(values[keep]))


# The search.

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
    """Return whether F falls where the weight of some pair becomes positive."""
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
    """The coordinates of the search: log p up to a constant over √ω_0, log ω/ω_0, and nN above the diagonal."""

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
