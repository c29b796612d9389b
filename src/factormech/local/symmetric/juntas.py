r"""Patterns of a few parities for spectra that depend on the size of a parity only.

After averaging over the permutations of the d attributes, only the profile of a pattern matters: w_j = Σ γ_s² over the
s with |Aᵀs| = j. The problem is min Σ_j s_j²/y_j, s_j² = C(d, j)²g_j, over mixtures y of profiles: one unknown for each
size of parity that is asked (three for 3-way marginals). It is solved by column generation: the patterns that gain
most in the direction τ_j = s_j²/y_j² are sought, and the mixture solved again.

**Search.** For a fixed A, Στ_jw_j = vᵀKv/(1ᵀv)² is a convex quadratic form of the row v over a square. With v₀ the
present row, vᵀKv ≥ 2v₀ᵀKv − v₀ᵀKv₀, and among the sets of k points the right-hand side is largest for the k largest
entries of Kv₀: taking the best of these M − 1 sets never lowers the ratio. Many starts climb at once; A is varied by
its columns, each of which says to which of the m parities an attribute belongs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from factormech.arrays import FloatArray, IntArray
from factormech.local.symmetric.mixture import best_weights
from factormech.local.symmetric.patterns import PatternFamily
from factormech.workloads import walsh

_CLIMB = 30
_KEPT = 8  # patterns that enter the pool from one climb
_EXTRA_COLUMNS = 3  # beyond the largest size asked


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
        for m in _widths(d, epsilon):
            pool.extend(_priced(tau, epsilon, m, d, pool, starts, rng))
        pool = _distinct(pool)
        columns = np.array([junta.profile for junta in pool]).T
        weights, value = best_weights(columns, s2)
        y = columns @ weights
        pool = [junta for junta, p in zip(pool, weights, strict=True) if p > 1e-9]
        weights = weights[weights > 1e-9]
        if value <= lower_bound * (1.0 + 1e-6):
            break
    weights = weights / weights.sum()
    return [junta.family(float(p)) for junta, p in zip(pool, weights, strict=True)], value, used


def _widths(d: int, epsilon: float) -> range:
    """m: as many parities as it takes to describe sets of the best density 1/(a+1), and one or two more."""
    enough = math.ceil(math.log2(math.exp(min(epsilon, 5.0)) + 1.0)) + 1
    return range(1, min(d, max(4, min(enough, 7))) + 1)


def _parity(size: int, d: int, epsilon: float) -> Junta:
    profile = np.zeros(d + 1)
    profile[size] = math.tanh(epsilon / 2.0) ** 2
    return Junta(np.array([False, True]), np.ones(size, dtype=np.int64), profile)


def _priced(
    tau: FloatArray, epsilon: float, m: int, d: int, pool: list[Junta], starts: int, rng: np.random.Generator
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
    tables, profiles = _climb(tau, epsilon, m, columns, tables)
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
    tau: FloatArray, epsilon: float, m: int, columns: IntArray, tables: npt.NDArray[np.bool_]
) -> tuple[npt.NDArray[np.bool_], FloatArray]:
    """Tables that no step improves, and their profiles."""
    M = 1 << m
    H = walsh.transform(np.eye(M))
    s = np.arange(M)
    sizes = np.zeros((len(columns), M), dtype=np.int64)
    for column in columns.T:
        sizes += np.bitwise_count(column[:, None] & s).astype(np.int64) & 1
    kernel = tau[sizes]
    kernel[:, 0] = 0.0
    inverse = _inverse_square(np.arange(1, M) / M, epsilon)
    for _ in range(_CLIMB):
        hat = (tables.astype(float) @ H) / M
        own = np.sum(kernel * hat**2, axis=1, keepdims=True)
        field = (kernel * hat) @ H
        order = np.argsort(-field, axis=1, kind="stable")
        sums = np.cumsum(np.take_along_axis(field, order, axis=1), axis=1)[:, :-1] / M
        k = np.argmax((2.0 * sums - own) * inverse, axis=1) + 1
        found = np.zeros_like(tables)
        np.put_along_axis(found, order, np.arange(M) < k[:, None], axis=1)
        if np.array_equal(found, tables):
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
