"""What the triples of a lower bound prove, in whole numbers, for ``verify_strategies.py``; no code is of the package.

The user types are the 2^d subsets of d attributes, and the workload has one eigenvalue g_j for the characters of each
size j. A strategy draws a set S of s types and favours it by a = e^epsilon; averaged over the symmetries, x_j is

    t^2 s/(n + ts)^2 sum_i C(d,i) y_i K_j(i)/C(d,j),  t = a - 1,  n = 2^d,

y_i the probability that a type at distance i of a type of S is in S, too. Let h_s be above the sum of
C(d,i) y_i mu_j K_j(i) over i and j, for every S of s types. Then sum_j C(d,j) g_j/x_j is at least

    (sum_j C(d,j) sqrt(g_j mu_j))^2 / max_s t^2 s h_s/(n + ts)^2.

For h_s, terms that are at least 0, or 0, for every S are added until no coefficient but that of y_0 = 1 is positive;
what is left of those is added, for probabilities are at most 1. The terms: squares of the numbers in ``roots`` over the
blocks of Schrijver's matrices (y_vw) and (y_|v+w| - y_vw); nu_j sum_i C(d,i) K_j(i) y_i; e_i (sum_w y_vw - s y_v).
"""

from __future__ import annotations

import math
from fractions import Fraction
from math import comb
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]
# Attributes: more take minutes.
MOST_ATTRIBUTES = 10
# Numbers count in units of 2^-64, and are at most this.
UNIT, LARGEST = 64, 2.0**200
Triple = tuple[int, int, int]


def triple_bound(g: list[float], epsilon: float, prices: Array, roots: Array, sizes: Array) -> Fraction:
    """What no sum_j C(d,j) g_j/x_j is below, g from 0 to d; g_0 does not matter."""
    d = len(g) - 1
    n, m, kinds = 2**d, 2 * sum((d - 2 * k + 1) ** 2 for k in range(d // 2 + 1)), all_triples(d)
    if not 1 <= d <= MOST_ATTRIBUTES or prices.shape != (d + 1,) or sizes.shape != (n - 1, 2 * d + 3):
        raise ValueError("triples of another domain")
    if roots.ndim != 2 or roots.shape[1] != m or not 1 <= len(roots) < n:
        raise ValueError("squares of another domain")
    if not all(np.isfinite(x).all() and np.abs(x).max() <= LARGEST for x in (prices, roots, sizes)):
        raise ValueError("triples that are no numbers")
    if not set(sizes[:, 0].tolist()) <= set(range(len(roots))):
        raise ValueError("squares that are not there")
    mu = [max(x, 0) for x in whole(prices)]
    squares = [coefficients(d, whole(row)) for row in roots]
    t = above_exp(epsilon) - 1
    most = Fraction(0)
    for s in range(1, n):
        which, factor, *rest = int(sizes[s - 1, 0]), *whole(sizes[s - 1, 1:])
        e, nu = rest[: d + 1], [0, *(max(x, 0) for x in rest[d + 1 :])]
        total = {kind: max(factor, 0) * value for kind, value in squares[which].items()}
        for i, j, c in kinds:
            total[kind_of(i, j, c)] = total.get(kind_of(i, j, c), 0) + (
                e[i] * comb(i, c) * comb(d - i, j - c) << 2 * UNIT
            )
        for i in range(d + 1):
            value = comb(d, i) * sum((mu[j] + nu[j]) * character_sum(d, j, i) for j in range(1, d + 1)) - s * e[i]
            total[kind_of(0, i, 0)] += value << 2 * UNIT
        h = total[0, 0, 0] + sum(max(value, 0) for kind, value in total.items() if kind != (0, 0, 0))
        most = max(most, t**2 * s / (n + t * s) ** 2 * Fraction(h, 2 ** (3 * UNIT)))
    gain = sum(
        comb(d, j) * root_below(Fraction(g[j]) * Fraction(mu[j], 2**UNIT)) for j in range(1, d + 1) if g[j] > 0.0
    )
    return Fraction(gain) ** 2 / most if most > 0 else Fraction(0)


def all_triples(d: int) -> list[Triple]:
    """The sizes i, j of two subsets of d attributes, and c of what they share."""
    return [(i, j, c) for i in range(d + 1) for j in range(d + 1) for c in range(max(0, i + j - d), min(i, j) + 1)]


def kind_of(i: int, j: int, c: int) -> Triple:
    """The three distances of the two subsets and the empty one, in order."""
    first, second, third = sorted((i, j, i + j - 2 * c))
    return first, second, third


def coefficients(d: int, numbers: list[int]) -> dict[Triple, int]:
    """Of every kind of triple, in the sum of the squares."""
    total: dict[Triple, int] = {}
    place, half = 0, len(numbers) // 2
    for k in range(d // 2 + 1):
        m = d - 2 * k + 1
        P, Q = ([[0] * m for _ in range(m)] for _ in range(2))
        for form, start in ((P, place), (Q, half + place)):
            rows = [numbers[start + m * i : start + m * (i + 1)] for i in range(m)]
            for i in range(m):
                for j in range(m):
                    form[i][j] = sum(x * y for x, y in zip(rows[i], rows[j], strict=True))
        for i, j, c in all_triples(d):
            if not (k <= i <= d - k and k <= j <= d - k):
                continue
            beta = sum(
                (-1) ** (u - c) * comb(u, c) * comb(d - 2 * k, u - k) * comb(d - k - u, i - u) * comb(d - k - u, j - u)
                for u in range(max(c, k), min(i, j) + 1)
            )
            both, pair = kind_of(i, j, c), kind_of(0, i + j - 2 * c, 0)
            total[both] = total.get(both, 0) + beta * (P[i - k][j - k] - Q[i - k][j - k])
            total[pair] = total.get(pair, 0) + beta * Q[i - k][j - k]
        place += m * m
    return total


def character_sum(d: int, j: int, i: int) -> int:
    """The sum of the characters of size j at a set of size i."""
    return sum((-1) ** h * comb(i, h) * comb(d - i, j - h) for h in range(j + 1))


def whole(values: Array) -> list[int]:
    """In units of 2^-64, to the nearest."""
    return [round(math.ldexp(x, UNIT)) for x in values.astype(float).tolist()]


def above_exp(x: float) -> Fraction:
    """A rational number just above exp(x), x > 0: the series and a geometric one for its tail, rounded up."""
    exact, total, term, k = Fraction(x), Fraction(0), Fraction(1), 0
    while k < 2 * x + 60:
        total, k = total + term, k + 1
        term = Fraction(math.ceil(term * exact / k * 2**200), 2**200)
    return total + 2 * term


def root_below(value: Fraction) -> Fraction:
    """A rational number just below the root."""
    return Fraction(math.isqrt(math.floor(value * 2**200)), 2**100)
