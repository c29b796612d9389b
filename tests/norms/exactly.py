"""Exact rational arithmetic on floats: what the outward-rounded ends are held against."""

from __future__ import annotations

from fractions import Fraction

from factormech.arrays import FloatArray

Exact = list[list[Fraction]]


def exact(matrix: FloatArray) -> Exact:
    """The floats as the rational numbers that they are."""
    return [[Fraction(float(x)) for x in row] for row in matrix]


def product(X: Exact, Y: Exact) -> Exact:
    return [
        [sum((a * b for a, b in zip(row, column, strict=True)), Fraction(0)) for column in zip(*Y, strict=True)]
        for row in X
    ]


def is_positive_definite(S: Exact) -> bool:
    """By symmetric elimination without rounding."""
    S = [row[:] for row in S]
    for i in range(len(S)):
        if S[i][i] <= 0:
            return False
        for j in range(i + 1, len(S)):
            ratio = S[j][i] / S[i][i]
            if ratio:
                for m in range(i + 1, len(S)):
                    S[j][m] -= ratio * S[i][m]
    return True


def bordered(a: list[Fraction], U: Exact, b: list[Fraction]) -> Exact:
    """((D_a, U), (Uᵀ, D_b))."""
    k, N = len(a), len(b)
    top = [[a[i] if i == j else Fraction(0) for j in range(k)] + U[i] for i in range(k)]
    bottom = [[U[i][j] for i in range(k)] + [b[j] if j == m else Fraction(0) for m in range(N)] for j in range(N)]
    return top + bottom
