"""Check a lower-bound certificate from its JSON file alone, in exact arithmetic: ``verify_certificate.py FILE``.

It uses the standard library only and shares no code with the package. What is checked is what the file's ``claim``
says, and that it says this: that the Gram matrix is one (symmetric and positive semidefinite), that the ratio is at
least exp(epsilon), that the dual's rows and columns sum to zero, that the inequality holds at all 2^n vectors, and that
the bounds claimed follow. Prints one line; exit code 0 if everything holds, 1 if not, whatever the file has in it.

Time and memory are bounded before anything is computed: by the size of the file, of its numbers, of n and of epsilon.
"""

from __future__ import annotations

import json
import os
import re
import sys
from fractions import Fraction
from itertools import count
from typing import Any

Matrix = list[list[int]]
# A certificate of the package has n <= 20 and numbers of some hundred bits.
FILE_BYTES, SIZE, BITS, LARGEST_EPSILON = 2**20, 20, 2048, 100
RATIONAL = re.compile(r"-?[0-9]{1,1200}(/[0-9]{1,1200})?")
NUMBERS = ("epsilon", "ratio", "objective_bound", "average_variance_bound")
DENOMINATORS = ("gram_denominator", "dual_denominator", "multiplier_denominator")
KIND = "factormech lower bound certificate"
CLAIM = (
    "G = gram / gram_denominator is the Gram matrix of the queries, P = I - 11'/n, C = PGP. Every epsilon-LDP strategy "
    "matrix Q, of any number of outputs, has tr(pinv(X) C) >= objective_bound, where X = P Q' Diag(Q1)^-1 Q P, and an "
    "average variance per user of at least average_variance_bound. Proof: ratio >= exp(epsilon); the rows and columns "
    "of T = dual / dual_denominator sum to 0; v'TGT'v <= (multiplier'v / multiplier_denominator)(1'v) for all v in "
    "{1, ratio}^n; then objective_bound = tr(TG)^2 / (1'multiplier / multiplier_denominator), and "
    "average_variance_bound = (objective_bound - tr C) / n."
)


class Unreadable(ValueError):
    """What is wrong with a file that is no certificate."""


def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object whose keys are each there once."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise Unreadable("a key is there twice")
    return found


def parsed(text: str) -> dict[str, Any]:
    """The record in a text of JSON."""
    if len(text) > FILE_BYTES:
        raise Unreadable(f"longer than {FILE_BYTES} characters")
    try:
        record = json.loads(text, object_pairs_hook=once)
    except Unreadable:
        raise
    except (ValueError, RecursionError):
        raise Unreadable("not JSON, or too deep or too long a number in it") from None
    if not isinstance(record, dict):
        raise Unreadable("not an object")
    return record


def is_whole(x: object) -> bool:
    """Whether x is a whole number of a bounded size."""
    return type(x) is int and x.bit_length() <= BITS


def are_whole(row: object) -> bool:
    """Whether a row is a list of whole numbers."""
    return isinstance(row, list) and len(row) <= SIZE and all(map(is_whole, row))


def malformed(record: dict[str, Any]) -> str:
    """Why a record is not of the form of a certificate, or nothing."""
    keys = {"kind", "version", "claim", *NUMBERS, *DENOMINATORS, "multiplier", "gram", "dual"}
    if record.get("kind") != KIND or type(record.get("version")) is not int or record["version"] != 1:
        return "not a certificate of version 1"
    if record.keys() != keys:
        odd = sorted(map(str, keys ^ record.keys()))
        return f"missing or unknown: {', '.join(odd)[:100]!r}"
    if record["claim"] != CLAIM:
        return "it claims something else than what is checked"
    texts = [record[key] for key in NUMBERS]
    if not all(isinstance(x, str) and RATIONAL.fullmatch(x) and not re.search(r"/0*$", x) for x in texts):
        return "a number is not a fraction in digits"
    if not all(isinstance(record[key], list) and len(record[key]) <= SIZE for key in ("gram", "dual", "multiplier")):
        return f"gram, dual and multiplier are not lists of at most {SIZE}"
    rows = [[record[key] for key in DENOMINATORS], record["multiplier"], *record["gram"], *record["dual"]]
    if not all(map(are_whole, rows)) or min(rows[0]) < 1 or sum(record["multiplier"]) <= 0:
        return "numbers are not whole, or denominators or the multiplier's sum not positive"
    n = len(record["gram"])
    if n < 1 or {len(record["dual"]), *map(len, rows[1:])} != {n}:
        return "shapes do not agree"
    if not 0 < Fraction(record["epsilon"]) <= LARGEST_EPSILON:
        return f"epsilon is not above 0 and at most {LARGEST_EPSILON}"
    return ""


def at_least_exp(ratio: Fraction, x: Fraction) -> bool:
    """Whether ratio >= exp(x), x > 0: terms of the series, each rounded up, and twice the next for the rest."""
    one = 1 << 256
    total, term = 0, one
    for k in count(1):
        total, term = total + term, -(-term * x.numerator // (x.denominator * k))
        if k + 1 >= 2 * x and term < total >> 200:
            return ratio * one >= total + 2 * term
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
    reason = malformed(record)
    if reason:
        return reason
    G, T, multiplier = record["gram"], record["dual"], record["multiplier"]
    dG, dT, dl = (record[key] for key in DENOMINATORS)
    ratio, n = Fraction(record["ratio"]), len(G)
    if not (is_gram(G) and at_least_exp(ratio, Fraction(record["epsilon"]))):
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


def read(path: str) -> dict[str, Any]:
    """The record in a file."""
    if not os.path.isfile(path):
        raise Unreadable("no such file")
    try:
        with open(path, "rb") as file:
            return parsed(file.read(FILE_BYTES + 1).decode())
    except OSError as error:
        raise Unreadable(f"cannot be read ({error.strerror})") from None
    except UnicodeDecodeError:
        raise Unreadable("not text in UTF-8") from None


def main(arguments: list[str]) -> int:
    """Check one file, and say so in one line."""
    if len(arguments) != 1:
        print("give one file: verify_certificate.py FILE")
        return 1
    try:
        record = read(arguments[0])
        reason = failure(record)
    except Unreadable as error:
        reason = str(error)
    print(reason or f"holds: average variance per user >= {rounded(record['average_variance_bound'])}")
    return 1 if reason else 0


def rounded(number: str) -> str:
    """Twelve digits of a fraction."""
    try:
        return f"{float(Fraction(number)):.12g}"
    except OverflowError:  # only below: a bound that follows from a bounded file is no larger than a float
        return "-inf"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
