r"""Rational arithmetic: floats as integers, roots, and small linear programs, solved exactly.

For min c·x, Ax ≤ b, x ≥ 0 with c ≥ 0 the slacks are a dual feasible basis, so the dual simplex method applies from the
start: while some entry of b is negative, its row leaves the basis, and the column of the least cost per unit enters.
Ties are broken by the first index (Bland), so the method ends. Numbers are ``Fraction``: nothing is rounded, and the
answer is optimal.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt

from factormech.arrays import FloatArray
from factormech.errors import BadValue

# Bits behind the point of the roots that are taken to be rational.
_BITS = 160


@dataclass(frozen=True)
class Optimum:
    """The value, the best x, and the multipliers y ≥ 0 of the rows: value = −b·y, and c + Aᵀy ≥ 0."""

    value: Fraction
    x: tuple[Fraction, ...]
    multipliers: tuple[Fraction, ...]


def least(
    cost: Sequence[Fraction | int], matrix: Sequence[Sequence[Fraction | int]], limits: Sequence[Fraction | int]
) -> Optimum:
    """Return the optimum of min c·x subject to Ax ≤ b and x ≥ 0, for c ≥ 0.

    Raises
    ------
    BadValue
        If no x satisfies the constraints.

    Examples
    --------
    >>> least([1, 3], [[-1, -1], [1, 0]], [-2, 1]).x  # x + y ≥ 2, x ≤ 1
    (Fraction(1, 1), Fraction(1, 1))
    """
    m, n = len(matrix), len(cost)
    rows = [
        [Fraction(v) for v in row] + [Fraction(int(i == j)) for j in range(m)] + [Fraction(limits[i])]
        for i, row in enumerate(matrix)
    ]
    objective = [Fraction(v) for v in cost] + [Fraction(0)] * (m + 1)
    basis = list(range(n, n + m))
    while True:
        leaving = next((i for i in sorted(range(m), key=basis.__getitem__) if rows[i][-1] < 0), None)
        if leaving is None:
            break
        row = rows[leaving]
        candidates = [j for j in range(n + m) if row[j] < 0]
        if not candidates:
            raise BadValue("limits", list(map(str, limits)), "leave some x", "allow more")
        entering = min(candidates, key=lambda j: (objective[j] / -row[j], j))
        _pivot(rows, objective, leaving, entering)
        basis[leaving] = entering
    x = [Fraction(0)] * (n + m)
    for i, j in enumerate(basis):
        x[j] = rows[i][-1]
    return Optimum(-objective[-1], tuple(x[:n]), tuple(objective[n : n + m]))


def _pivot(rows: list[list[Fraction]], objective: list[Fraction], leaving: int, entering: int) -> None:
    pivot = rows[leaving][entering]
    row = rows[leaving] = [v / pivot for v in rows[leaving]]
    used = [j for j, v in enumerate(row) if v]
    for other in (*(r for i, r in enumerate(rows) if i != leaving), objective):
        factor = other[entering]
        if factor:
            for j in used:
                other[j] -= factor * row[j]


def root_below(value: int) -> Fraction:
    """A rational at most √value for a whole number, by less than 2⁻¹⁵⁹; its successor by 2⁻¹⁶⁰ is above."""
    return Fraction(isqrt(value << 2 * _BITS), 1 << _BITS)


def root_above(value: int) -> Fraction:
    """A rational at least √value for a whole number, by less than 2⁻¹⁵⁹."""
    found = isqrt(value << 2 * _BITS)
    return Fraction(found + (found * found != value << 2 * _BITS), 1 << _BITS)


def integers(rows: FloatArray) -> tuple[list[list[int]], int]:
    """A matrix of floats as integers over the least common power of two."""
    exact = [[Fraction(float(x)) for x in row] for row in rows]
    denominator = max(x.denominator for row in exact for x in row)
    return [[int(x * denominator) for x in row] for row in exact], denominator
