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
Where ``roots`` are longer, also squares over the blocks of (y_vwx), (y_wx - y_vwx) and
(y_|w+x| - y_wx - y_(v+w)(v+x) + y_vwx) for one v of a single attribute, and e (sum_x y_vwx - s y_vw).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from math import comb
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]
# Attributes: more take minutes.
MOST_ATTRIBUTES = 10
# Numbers count in units of 2^-64, and are at most this.
UNIT, LARGEST = 64, 2.0**200
Triple = tuple[int, int, int]
# Three distances, or how many attributes tell four types apart in each way.
Kind = tuple[int, ...]


def triple_bound(g: list[float], epsilon: float, prices: Array, roots: Array, sizes: Array) -> Fraction:
    """What no sum_j C(d,j) g_j/x_j is below, g from 0 to d; g_0 does not matter."""
    d = len(g) - 1
    n, m = 2**d, 2 * sum((d - 2 * k + 1) ** 2 for k in range(d // 2 + 1))
    if not 1 <= d <= MOST_ATTRIBUTES or prices.shape != (d + 1,) or roots.ndim != 2 or not 1 <= len(roots) < n:
        raise ValueError("triples of another domain")
    four = roots.shape[1] != m
    if roots.shape[1] != m + four * 12 * sum((d - 2 * h) ** 2 for h in range((d - 1) // 2 + 1)):
        raise ValueError("squares of another domain")
    sums = [*sums_of_pairs(d), *(sums_of_triples(d) if four else ())]
    if sizes.shape != (n - 1, d + 2 + len(sums)):
        raise ValueError("sizes of another domain")
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
        nu = [0, *(max(x, 0) for x in rest[len(sums) :])]
        total = {kind: max(factor, 0) * value for kind, value in squares[which].items()}
        for e, (terms, once) in zip(rest, sums, strict=False):
            for kind, count in [*terms, (once, -s)]:
                total[kind] = total.get(kind, 0) + (e * count << 2 * UNIT)
        for i in range(d + 1):
            value = comb(d, i) * sum((mu[j] + nu[j]) * character_sum(d, j, i) for j in range(1, d + 1))
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


def sums_of_pairs(d: int) -> Iterator[tuple[list[tuple[Kind, int]], Kind]]:
    """Of all w for one v: kinds and how often, and the kind that s times is equal to."""
    for i in range(d + 1):
        terms = [(kind_of(*of), comb(i, of[2]) * comb(d - i, of[1] - of[2])) for of in all_triples(d) if of[0] == i]
        yield [*terms], kind_of(0, i, 0)


def sums_of_triples(d: int) -> Iterator[tuple[list[tuple[Kind, int]], Kind]]:
    """The same of all x for v, which has attribute 0 alone, and one w."""
    for a, e in itertools.product((0, 1), range(d)):
        w = a + 2 * (2**e - 1)
        terms = []
        for b, f, u in itertools.product((0, 1), range(d), range(e + 1)):
            if 0 <= f - u <= d - 1 - e:
                terms.append((kind_of_types(1, w, b + another(e, f, u)), comb(e, u) * comb(d - 1 - e, f - u)))
        yield terms, kind_of_types(1, w)


def another(e: int, f: int, u: int) -> int:
    """Of the attributes from 1 on f, u of which are among the first e."""
    return 2 * ((2**u - 1) + (2 ** (f - u) - 1) * 2**e)


@cache
def kind_of_types(*masks: int) -> Kind:
    """The kind of some types and the empty one, at most four in all."""
    types = sorted({0, *masks})
    if len(types) < 4:
        p, q, r = [types[0]] * (3 - len(types)) + types
        return tuple(sorted((x ^ y).bit_count() for x, y in ((p, q), (q, r), (p, r))))
    ways = []
    for p, *others in itertools.permutations(types):
        apart = [other ^ p for other in others]
        word = [sum((x >> bit & 1) << k for k, x in enumerate(apart)) for bit in range(max(apart).bit_length())]
        ways.append(tuple(word.count(value) for value in range(1, 8)))
    return min(ways)


def coefficients(d: int, numbers: list[int]) -> dict[Kind, int]:
    """Of every kind of triple and quadruple, in the sum of the squares."""
    total: dict[Kind, int] = {}
    half = sum((d - 2 * k + 1) ** 2 for k in range(d // 2 + 1))
    place = 0
    for k in range(d // 2 + 1):
        m = d - 2 * k + 1
        P, Q = (square(numbers[start : start + m * m], m) for start in (place, half + place))
        for i, j, c in all_triples(d):
            if not (k <= i <= d - k and k <= j <= d - k):
                continue
            beta = coefficient(d, i, j, c, k)
            both, pair = kind_of(i, j, c), kind_of(0, i + j - 2 * c, 0)
            total[both] = total.get(both, 0) + beta * (P[i - k][j - k] - Q[i - k][j - k])
            total[pair] = total.get(pair, 0) + beta * Q[i - k][j - k]
        place += m * m
    if len(numbers) > 2 * half:
        add_quadruples(d, numbers[2 * half :], total)
    return total


def add_quadruples(d: int, numbers: list[int], total: dict[Kind, int]) -> None:
    """What the squares over quadruples add, for v with attribute 0 alone."""
    place = 0
    for h in range((d - 1) // 2 + 1):
        m = d - 2 * h
        forms = [square(numbers[place + q * 4 * m * m : place + (q + 1) * 4 * m * m], 2 * m) for q in range(3)]
        place += 12 * m * m
        for (e, f, u), a, b in itertools.product(all_triples(d - 1), (0, 1), (0, 1)):
            if not (h <= e < d - h and h <= f < d - h):
                continue
            w, x, beta = a + 2 * (2**e - 1), b + another(e, f, u), coefficient(d - 1, e, f, u, h)
            P, Q, R = (beta * form[a * m + e - h][b * m + f - h] for form in forms)
            kinds = (kind_of_types(1, w, x), P - Q + R), (kind_of_types(w, x), Q - R)
            for kind, value in (*kinds, (kind_of_types(1 ^ w, 1 ^ x), -R), (kind_of_types(w ^ x), R)):
                total[kind] = total.get(kind, 0) + value


def square(numbers: list[int], m: int) -> list[list[int]]:
    """L times its transpose, for the m rows of L."""
    rows = [numbers[m * i : m * (i + 1)] for i in range(m)]
    return [[sum(x * y for x, y in zip(p, q, strict=True)) for q in rows] for p in rows]


def coefficient(d: int, i: int, j: int, c: int, k: int) -> int:
    """How often a triple (i, j, c) is in row i and column j of Schrijver's block k."""
    return sum(
        (-1) ** (u - c) * comb(u, c) * comb(d - 2 * k, u - k) * comb(d - k - u, i - u) * comb(d - k - u, j - u)
        for u in range(max(c, k), min(i, j) + 1)
    )


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
