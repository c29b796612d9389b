"""Check a lower-bound certificate from its JSON file alone, in exact arithmetic: ``verify_certificate.py FILE``.

It uses the standard library only and shares no code with the package. What is checked is what the file's ``claim``
says: that the Gram matrix is one (symmetric and positive semidefinite), that the ratio is at least exp(epsilon), that
the dual's rows and columns sum to zero, that the inequality holds at all 2^n vectors, and that the bounds claimed
follow. Prints one line; exit code 0 if everything holds, 1 if not.
"""

from __future__ import annotations

import json
import sys
from fractions import Fraction
from itertools import count
from typing import Any

Matrix = list[list[int]]


def at_least_exp(ratio: Fraction, x: Fraction) -> bool:
    """Whether ratio >= exp(x): the sum of the first terms of the series, and twice the next once terms halve."""
    total, term = Fraction(0), Fraction(1)
    for k in count(1):
        total, term = total + term, term * x / k
        if k + 1 >= 2 * x and term * 2**80 < total:
            return ratio >= total + 2 * term
    raise AssertionError("count() does not end")


def is_gram(G: Matrix) -> bool:
    """Whether G is symmetric and positive semidefinite, by elimination."""
    A = [[Fraction(entry) for entry in row] for row in G]
    n = len(A)
    if any(A[i][j] != A[j][i] for i in range(n) for j in range(i)):
        return False
    for k in range(n):
        if A[k][k] < 0 or (A[k][k] == 0 and any(A[k][k:])):
            return False
        for i in range(k + 1, n) if A[k][k] else ():
            factor = A[i][k] / A[k][k]
            A[i][k:] = [x - factor * y for x, y in zip(A[i][k:], A[k][k:], strict=True)]
    return True


def product(A: Matrix, B: Matrix) -> Matrix:
    """The matrix product."""
    columns = list(zip(*B, strict=True))
    return [[sum(x * y for x, y in zip(row, column, strict=True)) for column in columns] for row in A]


def never_positive(N: Matrix, low: int, high: int) -> bool:
    """Whether v'Nv <= 0 for all v in {low, high}^n, walking along a Gray code."""
    v, Nv = [low] * len(N), [low * sum(row) for row in N]
    value = low * sum(Nv)
    for step in range(1, 2 ** len(N)):
        if value > 0:
            return False
        u = (step & -step).bit_length() - 1
        change = high + low - 2 * v[u]
        value += change * (2 * Nv[u] + change * N[u][u])
        v[u] += change
        Nv = [x + change * y for x, y in zip(Nv, N[u], strict=True)]
    return value <= 0


def failure(record: dict[str, Any]) -> str:
    """What does not hold, or nothing."""
    G, T, multiplier = record["gram"], record["dual"], record["multiplier"]
    dG, dT, dl = (record[key] for key in ("gram_denominator", "dual_denominator", "multiplier_denominator"))
    ratio, n = Fraction(record["ratio"]), len(G)
    whole = [dG, dT, dl, *multiplier, *(x for row in G + T for x in row)]
    if record["kind"] != "factormech lower bound certificate" or record["version"] != 1:
        return "not a certificate of version 1"
    if not all(type(x) is int for x in whole) or min(dG, dT, dl) < 1 or sum(multiplier) <= 0:
        return "numbers are not whole, or denominators or the multiplier's sum not positive"
    if any(len(row) != n for row in G + T) or len(T) != n or len(multiplier) != n:
        return "shapes do not agree"
    if not (is_gram(G) and Fraction(record["epsilon"]) > 0 and at_least_exp(ratio, Fraction(record["epsilon"]))):
        return "gram is not positive semidefinite, or ratio is below exp(epsilon)"
    if any(map(sum, T)) or any(map(sum, zip(*T, strict=True))):
        return "rows or columns of dual do not sum to zero"
    TGT = product(product(T, G), [list(column) for column in zip(*T, strict=True)])
    left, right = 2 * dl, dT**2 * dG
    pairs = [[left * x - right * (multiplier[i] + multiplier[j]) for j, x in enumerate(r)] for i, r in enumerate(TGT)]
    if not never_positive(pairs, ratio.denominator, ratio.numerator):
        return "the inequality fails at some vector"
    objective = Fraction(sum(product(T, G)[i][i] for i in range(n)), dT * dG) ** 2 * dl / sum(multiplier)
    variance = (objective - Fraction(n * sum(G[i][i] for i in range(n)) - sum(map(sum, G)), n * dG)) / n
    if objective < Fraction(record["objective_bound"]) or variance < Fraction(record["average_variance_bound"]):
        return "the bounds claimed do not follow"
    return ""


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as file:
        found = json.load(file)
    reason = failure(found)
    print(reason or f"holds: average variance per user >= {float(Fraction(found['average_variance_bound'])):.12g}")
    sys.exit(1 if reason else 0)
