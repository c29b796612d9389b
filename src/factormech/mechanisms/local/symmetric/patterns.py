r"""Patterns, sets of user types that parities or thresholds describe, and the reports that they make.

**Patterns and their reports.** A pattern is a set T ⊂ {0,1}^m and an m × d matrix A over the field of two elements,
of rank m; its rows are bit masks. With M = 2^m, K = |T|, β = K/M, the public part of a report (which pattern, which
A) is drawn without looking at the user, and its private part is r = Au ⊕ y, where y is uniform in T with probability
π and uniform in the complement of T with probability 1 − π. So

.. math:: \Pr[r \mid u] = q_0 + (q_1 - q_0)\,[Au \oplus r \in T], \qquad q_1 = \pi/K,\; q_0 = (1-\pi)/(M-K),

which is proportional to 1 + (a−1)1_S(u), S = {u : Au ⊕ r ∈ T}, once q₁ = aq₀, a = e^ε: a staircase row, and the 2^m
rows are translates of each other. With T̂(s) = E_z[T(z)χ_s(z)], the character χ = Aᵀs has

.. math:: \sum_u \chi(u)\Pr[r\mid u] \Big/ \sum_u \Pr[r\mid u] = \gamma_s\,(-1)^{s\cdot r},
          \qquad \gamma_s = M (q_1-q_0)\,\hat T(s) .

Averaged over r, X = QᵀD⁻¹Q is therefore diagonal in the characters, with γ_s² at Aᵀs, and 1 at the empty one.

**Rounding.** π is a multiple of 2⁻⁵³, the grid of ``Generator.random``, rounded down, and 1 − π is then a float: the
probabilities are what this module says exactly, and the ratio π(M − K)/((1 − π)K) is checked against e^ε.

**Patterns of a few parities.** They serve spectra that depend on the size of a parity only. After averaging over the
permutations of the d attributes, only the profile of a pattern matters: w_j = Σ γ_s² over the s with |Aᵀs| = j. The
problem is min Σ_j s_j²/y_j, s_j² = C(d, j)²g_j, over mixtures y of profiles: one unknown for each size of parity that
is asked (three for 3-way marginals). It is solved by column generation: the patterns that gain most in the direction
τ_j = s_j²/y_j² are sought, and the mixture solved again.

**Search.** For a fixed A, Στ_jw_j = vᵀKv/(1ᵀv)² is a convex quadratic form of the row v over a square. With v₀ the
present row, vᵀKv ≥ 2v₀ᵀKv − v₀ᵀKv₀, and among the sets of k points the right-hand side is largest for the k largest
entries of Kv₀: taking the best of these M − 1 sets never lowers the ratio. Many starts climb at once; A is varied by
its columns, each of which says to which of the m parities an attribute belongs. Where half of the rounds leave a gap,
Gaussian noise is added to Kv₀ in the first steps of a climb, less in each, and wider patterns are tried.

**Patterns of all d attributes.** Sets with a prescribed power spectrum serve spectra with many parities. The bound is
attained by x_χ ∝ √g_χ, so the sets of a strategy should have, on average, |Ŝ(χ)|² in these proportions. Each set
starts as the points where a stationary Gaussian field of that spectrum is above its threshold, and is then improved
as a hologram is (Gerchberg & Saxton, Optik 35, 1972): keep the signs of Ŝ(χ), put the magnitudes that are wanted,
transform back, keep the k largest points. Two corrections make the average right rather than each set:

* a set aims at what the sets before it left open, so that the error of the mean falls like 1/R with the number R of
  sets and not like 1/√R;
* thresholds leak from the characters with much power to those with little, so the magnitudes of each class of
  characters (of one eigenvalue, or of near ones) are raised or lowered by a factor that follows the power found.

All sets have the size k that carries the most information, so the trace of X is the largest possible and only its
proportions are to be reached.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from factormech.arrays import FloatArray, IntArray, check_epsilon
from factormech.bounds.staircase import best_subset_size, largest_information
from factormech.errors import BadValue
from factormech.mechanisms.local.symmetric.mixture import best_weights
from factormech.privacy.guarantee import inner_ratio, loss_of_ratio, ratio_is_within
from factormech.workloads import binary

# Patterns and their reports.


@dataclass(frozen=True)
class PatternFamily:
    """One set T with several matrices A.

    Attributes
    ----------
    table
        T as a Boolean array over {0,1}^m, entry z for the bit mask z.
    masks
        The matrices A, (R, m): row i of a matrix is the parity that bit i of Au is.
    weights
        The probability of each A, (R,); all families of a strategy together have sum 1.
    permuted
        Whether a uniform permutation of the d attributes, public and fresh for every user, is applied to A.
    """

    table: npt.NDArray[np.bool_]
    masks: IntArray
    weights: FloatArray
    permuted: bool

    def __post_init__(self) -> None:
        T, m = self.table, self.masks.shape[-1]
        if T.dtype != np.bool_ or T.shape != (1 << m,) or T.all() or not T.any():
            raise BadValue("table", T.shape, f"be a proper subset of 2^{m} points", "give one Boolean a point")
        if self.masks.ndim != 2 or self.weights.shape != (len(self.masks),) or not (self.weights >= 0).all():
            raise BadValue("weights", self.weights.shape, "be one number ≥ 0 for each matrix", "match the masks")
        if m > 1 and any(rank(row) < m for row in self.masks):
            raise BadValue("masks", "dependent parities", "be linearly independent", "describe T by fewer parities")

    @property
    def bits(self) -> int:
        """m."""
        return int(self.masks.shape[1])

    @property
    def points(self) -> int:
        """M = 2^m."""
        return len(self.table)

    @cached_property
    def ones(self) -> IntArray:
        """The elements of T."""
        return np.flatnonzero(self.table)

    @cached_property
    def zeros(self) -> IntArray:
        """The others."""
        return np.flatnonzero(~self.table)

    @property
    def weight(self) -> float:
        """The probability of the family."""
        return float(self.weights.sum())


@dataclass(frozen=True)
class Channel:
    """How one family of patterns reports at a budget.

    ``inside`` is π; ``high`` and ``low`` are q₁ and q₀; ``loss`` bounds the privacy loss from above.
    """

    inside: float
    high: float
    low: float
    loss: float

    @classmethod
    def of(cls, family: PatternFamily, epsilon: float) -> Channel:
        """The channel with the largest ratio that certainly keeps e^ε."""
        epsilon = check_epsilon(epsilon)
        K, M = len(family.ones), family.points
        odds = inner_ratio(epsilon) * K / (M - K)
        # 1 − π is rounded up, and not π down: it may be small, and its rounding is then what the ratio feels.
        outside = math.ceil(2.0**53 / (1.0 + odds)) * 2.0**-53
        inside = 1.0 - outside  # exact: both are multiples of 2⁻⁵³
        ratio = inside * (M - K) / (outside * K)
        if not (ratio_is_within(ratio, epsilon) and ratio_is_within(1.0 / ratio, epsilon)):
            raise BadValue("epsilon", epsilon, "leave room for the grid of random numbers", "give a larger budget")
        return cls(inside, inside / K, outside / (M - K), loss_of_ratio(max(ratio, 1.0 / ratio)))


def gains(family: PatternFamily, channel: Channel) -> FloatArray:
    """Return the gain γ_s of every pattern s, (M,), with entry 0, that of the number of users, set to 0."""
    gamma = binary.transform(family.table.astype(float)) * (channel.high - channel.low)
    gamma[0] = 0.0
    return gamma


def characters(masks: IntArray) -> IntArray:
    """Return Aᵀs for all s, (…, 2^m), of matrices given by masks, (…, m)."""
    spans = np.zeros((*masks.shape[:-1], 1), dtype=np.int64)
    for i in range(masks.shape[-1]):
        spans = np.concatenate([spans, spans ^ masks[..., i : i + 1]], axis=-1)
    return spans


def rank(masks: IntArray) -> int:
    """Rank over the field of two elements, by elimination of leading bits."""
    basis: list[int] = []
    for mask in map(int, masks):
        for b in basis:
            mask = min(mask, mask ^ b)
        if mask:
            basis.append(mask)
    return len(basis)


def permute(masks: IntArray, permutations: npt.NDArray[np.signedinteger]) -> IntArray:
    """Masks with bit j moved to bit π(j): masks (…, m), permutations (…, d) with the same leading axes."""
    moved = np.zeros(np.broadcast_shapes(masks.shape, (*permutations.shape[:-1], masks.shape[-1])), dtype=np.int64)
    for j in range(permutations.shape[-1]):
        moved |= ((masks >> j) & 1) << permutations[..., j : j + 1].astype(np.int64)
    return moved


# Patterns of a few parities.

_CLIMB, _SHAKEN = 30, 20
_KEPT = 8  # patterns that enter the pool from one climb
_EXTRA_COLUMNS = 3  # beyond the largest size asked
_WORTH = 1e-7  # of the largest weight
# In the second half of the rounds climbs are shaken, and patterns may have so many parities more: for parities of at
# most three of 9 attributes at ε = 2.5 a set that six describe lowers the variance by a hundredth.
_WIDER = 2


@dataclass(frozen=True)
class Junta:
    """T and the columns of A, one attribute each (those left out are not looked at), and the profile (d + 1,)."""

    table: npt.NDArray[np.bool_]
    columns: IntArray
    profile: FloatArray

    def family(self, weight: float) -> PatternFamily:
        """The pattern on the first attributes, to be permuted."""
        m = len(self.table).bit_length() - 1
        bits = (self.columns[None, :] >> np.arange(m)[:, None]) & 1
        masks = (bits << np.arange(len(self.columns))).sum(axis=1, dtype=np.int64)
        return PatternFamily(self.table, masks[None, :], np.array([weight]), permuted=True)


def solve(
    level_spectrum: FloatArray, epsilon: float, lower_bound: float, rounds: int, starts: int, rng: np.random.Generator
) -> tuple[list[PatternFamily], float, int]:
    """Families, the value Σ s²/y that they reach, and the rounds used; stops early at a gap of 1e-6."""
    g = np.array(level_spectrum, dtype=float)
    g[0] = 0.0
    d = len(g) - 1
    s2 = np.array([math.comb(d, j) for j in range(d + 1)], dtype=float) ** 2 * g
    y = np.sqrt(s2) / np.sqrt(s2).sum()
    pool = [_parity(int(j), d, epsilon) for j in np.flatnonzero(s2 > 0)]
    value, used, weights = math.inf, 0, np.ones(len(pool))
    while used < rounds:
        used += 1
        tau = np.divide(s2, np.maximum(y, 1e-12) ** 2, out=np.zeros_like(s2), where=s2 > 0)
        shaken = used > rounds // 2
        for m in _widths(d, epsilon, _WIDER if shaken else 0):
            pool.extend(_priced(tau, epsilon, m, d, pool, starts, rng, shaken))
        pool = _distinct(pool)
        columns = np.array([junta.profile for junta in pool]).T
        weights, value = best_weights(columns, s2)
        y = columns @ weights
        pool = [junta for junta, p in zip(pool, weights, strict=True) if p > 1e-9]
        weights = weights[weights > 1e-9]
        if value <= lower_bound * (1.0 + 1e-6):
            break
    weights = weights / weights.sum()
    pool, weights, value = _without_leftovers(pool, weights, s2, value)
    return [junta.family(float(p)) for junta, p in zip(pool, weights, strict=True)], value, used


def _without_leftovers(
    pool: list[Junta], weights: FloatArray, s2: FloatArray, value: float
) -> tuple[list[Junta], FloatArray, float]:
    """Drop patterns on which the barrier left some weight, rows that a report would never name, if the value stays."""
    columns, kept = np.array([junta.profile for junta in pool]).T, weights > _WORTH * weights.max()
    if not columns[s2 > 0][:, kept].any(axis=1).all():  # on large domains a rare parity may have no other pattern
        return pool, weights, value
    fewer, reached = best_weights(columns[:, kept], s2)
    if reached > value * (1.0 + 1e-9):
        return pool, weights, value
    return [junta for junta, keep in zip(pool, kept, strict=True) if keep], fewer, reached


def _widths(d: int, epsilon: float, more: int = 0) -> range:
    """m: as many parities as it takes to describe sets of the best density 1/(a+1), one or two, and so many more."""
    enough = math.ceil(math.log2(math.exp(min(epsilon, 5.0)) + 1.0)) + 1 + more
    return range(1, min(d, max(4, min(enough, 7))) + 1)


def _parity(size: int, d: int, epsilon: float) -> Junta:
    profile = np.zeros(d + 1)
    profile[size] = math.tanh(epsilon / 2.0) ** 2
    return Junta(np.array([False, True]), np.ones(size, dtype=np.int64), profile)


def _priced(
    tau: FloatArray,
    epsilon: float,
    m: int,
    d: int,
    pool: list[Junta],
    starts: int,
    rng: np.random.Generator,
    shaken: bool,
) -> list[Junta]:
    """The best patterns of m parities that climbs find, from random starts and from neighbours of the pool's."""
    count = max(20, min(starts, 2**14 >> m))
    extra = int(np.flatnonzero(tau)[-1]) + _EXTRA_COLUMNS
    columns, tables = _random_starts(count, m, d, extra, rng)
    width = columns.shape[1]
    known = [junta for junta in pool if len(junta.table) == 1 << m and len(junta.columns) <= width]
    if known:
        near = _neighbours(known, count // 2, width, m, rng)
        columns, tables = np.concatenate([columns, near[0]]), np.concatenate([tables, near[1]])
    tables, profiles = _climb(tau, epsilon, m, columns, tables, rng if shaken else None)
    best = np.argsort(-(profiles @ tau), kind="stable")[:_KEPT]
    return [Junta(tables[i].copy(), columns[i][columns[i] > 0], profiles[i]) for i in best]


def _random_starts(
    count: int, m: int, d: int, extra: int, rng: np.random.Generator
) -> tuple[IntArray, npt.NDArray[np.bool_]]:
    """m independent columns and some more at random, most of them zero; tables of random density."""
    own = np.broadcast_to(1 << np.arange(m), (count, m))
    shape = (count, min(extra, d - m))
    more = rng.integers(0, 1 << m, shape) * (rng.random(shape) < rng.random((count, 1)))
    return np.concatenate([own, more], axis=1), rng.random((count, 1 << m)) < rng.random((count, 1))


def _neighbours(
    known: list[Junta], count: int, width: int, m: int, rng: np.random.Generator
) -> tuple[IntArray, npt.NDArray[np.bool_]]:
    """Known patterns with one column beyond the first m changed."""
    chosen = rng.integers(len(known), size=count)
    columns = np.array([np.pad(known[i].columns, (0, width - len(known[i].columns))) for i in chosen])
    if width > m:
        columns[np.arange(count), rng.integers(m, width, count)] = rng.integers(0, 1 << m, count)
    return columns, np.array([known[i].table for i in chosen])


def _climb(
    tau: FloatArray,
    epsilon: float,
    m: int,
    columns: IntArray,
    tables: npt.NDArray[np.bool_],
    rng: np.random.Generator | None = None,
) -> tuple[npt.NDArray[np.bool_], FloatArray]:
    """Tables that no step improves, and their profiles; with ``rng`` the first steps are shaken, less and less."""
    M = 1 << m
    H = binary.transform(np.eye(M))
    s = np.arange(M)
    sizes = np.zeros((len(columns), M), dtype=np.int64)
    for column in columns.T:
        sizes += np.bitwise_count(column[:, None] & s).astype(np.int64) & 1
    kernel = tau[sizes]
    kernel[:, 0] = 0.0
    inverse = _inverse_square(np.arange(1, M) / M, epsilon)
    for step in range(_CLIMB):
        hat = (tables.astype(float) @ H) / M
        own = np.sum(kernel * hat**2, axis=1, keepdims=True)
        field = (kernel * hat) @ H
        noise = 0.0 if rng is None else max(1.0 - step / _SHAKEN, 0.0)
        if rng is not None and noise > 0.0:
            field += noise * field.std(axis=1, keepdims=True) * rng.standard_normal(field.shape)
        order = np.argsort(-field, axis=1, kind="stable")
        sums = np.cumsum(np.take_along_axis(field, order, axis=1), axis=1)[:, :-1] / M
        k = np.argmax((2.0 * sums - own) * inverse, axis=1) + 1
        found = np.zeros_like(tables)
        np.put_along_axis(found, order, np.arange(M) < k[:, None], axis=1)
        if noise == 0.0 and np.array_equal(found, tables):
            break
        tables = found
    hat = (tables.astype(float) @ H) / M
    power = hat**2 * _inverse_square(tables.mean(axis=1), epsilon)[:, None]
    profiles = np.stack([np.sum(power * (sizes == j), axis=1) for j in range(len(tau))], axis=1)
    profiles[:, 0] = 0.0
    return tables, profiles


def _inverse_square(density: FloatArray, epsilon: float) -> FloatArray:
    """((a−1)/(1+(a−1)β))²."""
    c = -math.expm1(-epsilon)
    return np.asarray((c / (math.exp(-epsilon) + c * density)) ** 2)


def _distinct(pool: list[Junta]) -> list[Junta]:
    """One pattern for each profile, the first found."""
    seen: dict[bytes, Junta] = {}
    for junta in pool:
        seen.setdefault(np.round(junta.profile, 13).tobytes(), junta)
    return list(seen.values())


# Patterns of all d attributes.

_CLASSES = 32
_LEAST = 0.1  # of the mean aim: a set never gives up a character that others have served
_STEP = 0.3  # exponent of the correction of a class
_FIRST = 4  # times as many steps for the first set, which finds the corrections


def solve_thresholds(
    spectrum: FloatArray, epsilon: float, sets: int, steps: int, rng: np.random.Generator
) -> list[PatternFamily]:
    """R sets of equal weight, translated but not permuted, for the eigenvalues g_χ (entry 0 is not looked at)."""
    n = len(spectrum)
    size = best_subset_size(n, epsilon)
    roots = np.sqrt(spectrum)
    roots[0] = 0.0
    wanted = roots * (largest_information(n, epsilon) / roots.sum())
    classes = _classes(roots)
    unit = largest_information(n, epsilon) / (size / n * (1.0 - size / n))  # of x per unit of |Ŝ|²
    found, factors = np.zeros(n), np.ones(int(classes.max()) + 1)
    masks = (1 << np.arange(n.bit_length() - 1, dtype=np.int64))[None, :]
    families = []
    for i in range(sets):
        aim = np.maximum((i + 1) * wanted - found, _LEAST * wanted)
        aim *= wanted.sum() / aim.sum()
        table, power = _shape(aim, classes, factors, size, unit, steps * (_FIRST if i == 0 else 1), rng)
        found += power
        families.append(PatternFamily(table, masks, np.array([1.0 / sets]), permuted=False))
    return families


def _shape(
    aim: FloatArray,
    classes: IntArray,
    factors: FloatArray,
    size: int,
    unit: float,
    steps: int,
    rng: np.random.Generator,
) -> tuple[npt.NDArray[np.bool_], FloatArray]:
    """One set, and its x; ``factors`` is corrected in place."""
    from factormech.mechanisms.local.symmetric.kernels import transform_in_place

    n, magnitudes = len(aim), np.sqrt(aim)
    due = np.bincount(classes, weights=aim)
    asked = due > 0
    field = factors[classes] * magnitudes * rng.standard_normal(n)
    for step in range(steps + 1):
        transform_in_place(field)
        table = np.zeros(n, dtype=np.bool_)
        table[np.argpartition(field, n - size)[n - size :]] = True
        hat = table.astype(float)
        transform_in_place(hat)
        power = hat**2 * (unit / n**2)
        power[0] = 0.0
        if step < steps:
            got = np.bincount(classes, weights=power)
            factors[asked] *= np.clip(due[asked] / np.maximum(got[asked], 1e-300), 0.5, 2.0) ** _STEP
            field = np.copysign(factors[classes] * magnitudes, hat)
            field[0] = 0.0
    return table, power


def _classes(roots: FloatArray) -> IntArray:
    """Characters of one eigenvalue together; where there are too many eigenvalues, by rank."""
    values, classes = np.unique(np.round(roots / roots.max(), 12), return_inverse=True)
    if len(values) > _CLASSES:
        classes = np.argsort(np.argsort(roots, kind="stable"), kind="stable") * _CLASSES // len(roots)
    return np.asarray(classes, dtype=np.int64)
