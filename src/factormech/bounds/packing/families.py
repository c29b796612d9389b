r"""Large families whose members are far from one another, and separation numbers of users' answers.

**Sets and words.** ln M is bounded from below by explicit theorems. *Sets.* The largest family of s-subsets of N
elements with pairwise intersections of at most t < s has at least

* Gilbert: C(N, s)/Σ_{i>t} C(s, i)C(N−s, s−i), by picking greedily;
* Graham & Sloane (IEEE Trans. Inf. Theory 26, 1980): C(N, s)/q^{s−t−1}, q ≥ N a power of a prime. Map elements to
  different members of 𝔽_q and S to the first s−t−1 coefficients of Π_{x∈S}(1 + xz) beyond the constant: some value is
  taken by that many sets, and if two such sets differed in j ≤ s−t−1 elements each, dividing by the common factor
  would leave two polynomials of degree ≤ j that agree in all their coefficients;
* polynomials (Reed & Solomon): q^{t+1} if s ≤ q, sq ≤ N: the graphs of all polynomials of degree ≤ t on s points of
  𝔽_q;
* disjoint sets, t = 0: ⌊N/s⌋.

*Words.* Binary words of length L, pairwise at Hamming distance ≥ D: Gilbert's 2^L/Σ_{i<D} C(L, i), the sum for
D − 1 ≤ L/2 being at most C(L, D−1)(L−D+2)/(L−2D+3); first-order Reed–Muller codes (2ℓ words, ℓ = 2^m ≤ L, distance
ℓ/2); a word and its complement.

**Separation numbers.** They give the bound of Lemma 2.3 and the two sides of Theorem 1.4 of Nikolov (SODA 2023). For
points q_x ∈ ℝᵏ, with distances ‖·‖₂/√k, P(t) is the largest number of points pairwise at least t apart. Δ users of
type x and n − Δ of one fixed type, for each x of such a set, are data sets (Δ/n)t apart: by ``core``, for every whole
1 ≤ Δ ≤ n and every t

.. math:: \mathrm{err} \ge \frac Δn\,t\;κ\bigl(1 + (P(t)-1)e^{-εΔ}\bigr) .

*P from both sides.* A farthest-point traversal takes the point farthest from those taken; let t_M be its distance to
the M − 1 before it. The first M points are t_M apart, so P(t_M) ≥ M; and all points are within t_{M+1} of them, so
P(t) ≤ M for t > 2t_{M+1}. For small universes a search over cliques gives P exactly.

*Theorem 1.4.* At α the coarse JL mechanism needs at most a constant times U = α^{−2}ln(w/α)²·sup_{t>α/4} t²ln P(t)/ε
users, w = diam/√k, and error α/8 needs at least a constant times L = α^{−1}·sup_{t>α/4} t·ln P(t)/ε. With t ≤ w,
U/L ≤ (w/α)·ln(w/α)²: the theorem. :func:`coarse_ratio` gives U, L and their ratio without the constants.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from factormech.arrays import FloatArray, IntArray, check_epsilon, check_positive_integer
from factormech.bounds.packing.core import LowerBound, best_multiple, nothing, share
from factormech.errors import BadValue
from factormech.numerics.rounding import below

# Sets and words.

# Relative error of lgamma and of the few sums of it: 64 units in the last place.
_ROUNDING = 2.0**-47
# Domains beyond this are refused: tables of ln k! are kept.
LARGEST = 2**22
_SET_RATIO, _OVERLAP_RATIO = 1.06, 1.08
KINDS = ("gilbert", "graham-sloane", "polynomials", "disjoint")


@dataclass(frozen=True)
class SetFamilies:
    """Many families of s-sets with intersections ≤ t: entry c is one of them.

    Attributes
    ----------
    size, overlap
        s and t.
    log_count
        ln M, from below.
    kind
        Index into ``KINDS``: the theorem that proves it.
    """

    size: IntArray
    overlap: IntArray
    log_count: FloatArray
    kind: IntArray


@lru_cache(maxsize=16)
def set_families(elements: int) -> SetFamilies:
    """Families over a grid of all s ≤ N/2 and t: every small s and s − t, then geometric steps."""
    N = check_positive_integer("elements", elements, minimum=2)
    log_factorial = log_factorials(N)
    parts = []
    for s in _steps(max(N // 2, 1), _SET_RATIO).tolist():
        t = s - _steps(s, _OVERLAP_RATIO)
        kinds = np.stack(
            [_gilbert(N, s, t, log_factorial), _graham_sloane(N, s, t, log_factorial), _polynomials(N, s, t),
             np.where(t == 0, _log_below(N // s), 0.0)]
        )  # fmt: skip
        best = np.argmax(kinds, axis=0)
        parts.append((np.full(len(t), s), t, kinds[best, np.arange(len(t))], best))
    s, t, L, kind = (np.concatenate(column) for column in zip(*parts, strict=True))
    useful = math.log(2.0) * (1.0 - 2 * _ROUNDING) <= L
    return SetFamilies(s[useful], t[useful], L[useful], kind[useful])


def log_words(length: int, distance: IntArray) -> FloatArray:
    """ln of a number of binary words of this length with pairwise distances ≥ D, from below, for each D ≥ 1."""
    L, D = check_positive_integer("length", length), np.asarray(distance, dtype=np.int64)
    out = np.where(L >= D, math.log(2.0) * (1.0 - _ROUNDING), 0.0)
    ell = 1 << (L.bit_length() - 1)
    out = np.where(ell >= 2 * D, np.maximum(out, _log_below(2 * ell)), out)
    inner = (2 * (D - 1) <= L) & (D <= L)
    i = np.where(inner, D - 1, 0).astype(float)
    sizes = _log_factorial_of(L) + np.zeros_like(i)
    ball = sizes - _log_factorial_of(i) - _log_factorial_of(L - i) + np.log((L - i + 1.0) / (L - 2.0 * i + 1.0))
    gilbert = L * math.log(2.0) - ball - _ROUNDING * (L + 2.0 * sizes + 1.0)
    return np.asarray(np.where(inner, np.maximum(out, gilbert), out))


def log_factorials(N: int) -> FloatArray:
    """ln k! for k = 0 … N."""
    return _log_factorial_of(np.arange(N + 1.0))


def _log_factorial_of(k: FloatArray | float) -> FloatArray:
    from scipy.special import gammaln

    return np.asarray(gammaln(np.asarray(k, dtype=float) + 1.0))


def _gilbert(N: int, s: int, t: IntArray, log_factorial: FloatArray) -> FloatArray:
    i = np.arange(max(0, 2 * s - N), s + 1)
    f = log_factorial
    terms = (f[s] - f[i] - f[s - i]) + (f[N - s] - f[s - i] - f[N - 2 * s + i])
    # ln Σ_{i' ≥ i}: cumulative from the top.
    tails = np.logaddexp.accumulate(terms[::-1])[::-1]
    first = np.maximum(t + 1, i[0]) - i[0]
    total = f[N] - f[s] - f[N - s]
    return np.asarray(np.maximum(total - tails[first] - _ROUNDING * (4.0 * f[N] + len(i) * total), 0.0))


def _graham_sloane(N: int, s: int, t: IntArray, log_factorial: FloatArray) -> FloatArray:
    # A prime power ≥ N: the least power of two, or the least prime, whichever is smaller.
    q = min(1 << (N - 1).bit_length(), _prime_from(N))
    f = log_factorial
    found = f[N] - f[s] - f[N - s] - (s - t - 1) * math.log(q)
    return np.asarray(np.maximum(found - _ROUNDING * (4.0 * f[N] + s * math.log(q)), 0.0))


def _polynomials(N: int, s: int, t: IntArray) -> FloatArray:
    room = N // s
    q = max(1 << (room.bit_length() - 1), _prime_to(room))
    if q < max(s, 2):
        return np.zeros(len(t))
    return np.asarray((t + 1) * math.log(q) * (1.0 - _ROUNDING))


def _log_below(count: int) -> float:
    return math.log(count) * (1.0 - _ROUNDING) if count > 1 else 0.0


def _steps(largest: int, ratio: float) -> IntArray:
    """1, 2, 3 … while the ratio says less than one, then geometric, up to ``largest``."""
    found, value = [1], 1
    while value < largest:
        value = min(max(value + 1, int(value * ratio)), largest)
        found.append(value)
    return np.array(found)


def _is_prime(q: int) -> bool:
    return q >= 2 and all(q % d for d in range(2, math.isqrt(q) + 1))


def _prime_from(least: int) -> int:
    q = max(least, 2)
    while not _is_prime(q):
        q += 1
    return q


def _prime_to(most: int) -> int:
    q = most
    while q >= 2 and not _is_prime(q):
        q -= 1
    return max(q, 1)


# Separation numbers.

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
    """Return all ‖q_x − q_y‖₂/√k from G = QᵀQ; numbers below the rounding of G are 0."""
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
        "data": "some users of one type, the rest of a fixed one",
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
    """The two sides of Theorem 1.4 at one α, in units of users·ε and without its constants.

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
