"""Check a bound for every protocol from its JSON file alone, in exact arithmetic: ``verify_protocol_bound.py FILE``.

It shares no code with the package. Theorems and letters: docs/lower-bounds-every-protocol.md. Prints one line; exit
code 0 if the bound holds, 1 if not."""

from __future__ import annotations

import json
import math
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

Matrix = list[list[int]]
PI_LOW, PI_HIGH = Fraction(314159265358979323846264338327, 10**29), Fraction(314159265358979323846264338328, 10**29)
HALF = Fraction(1, 2)


def require(good: bool, rule: str) -> None:
    """Refuse what is not good."""
    if not good:
        raise ValueError(rule)


def exp_above(x: Fraction) -> Fraction:
    """A number above exp(x): terms of the series until they halve, and twice the next one."""
    last = 2 * math.ceil(x) + 60
    return sum((x**k / math.factorial(k) for k in range(last)), Fraction(0)) + 2 * x**last / math.factorial(last)


def minors(A: Matrix) -> list[int]:
    """The leading principal minors of a symmetric matrix, as long as they are positive (Bareiss)."""
    last, found = 1, []
    while A and A[0][0] > 0:
        top = A[0]
        found.append(top[0])
        A = [[(top[0] * x - row[0] * y) // last for x, y in zip(row[1:], top[1:], strict=True)] for row in A[1:]]
        last = top[0]
    return found


def gamma_ratio(x: Fraction) -> tuple[Fraction, int]:
    """r and e with (Γ(x+1/2)/Γ(x))² = r·π^e, 2x a whole number."""
    whole = x.denominator == 1
    above, below, y = (1, 4, 2) if whole else (1, 1, 1)  # y is twice the argument that is reached
    while y < 2 * x:
        above, below, y = above * (y + 1) ** 2, below * y**2, y + 2
    return Fraction(above, below), 1 if whole else -1


def product(A: Matrix, B: Matrix) -> Matrix:
    """The matrix product ABᵀ."""
    return [[sum(map(int.__mul__, x, y)) for y in B] for x in A]


def limits(a: Fraction, m: int, beta: Fraction) -> tuple[Fraction, Fraction]:
    """σ_m(1+χ), and the largest information in one direction."""
    tanh2 = ((a - 1) / (a + 1)) ** 2
    sigma = max((a - 1) ** 2 * k * (m - k) / (m + (a - 1) * k) ** 2 for k in range(1, m))
    return sigma * (1 + tanh2 * (m - 1) / (m * (beta - 1))), tanh2 * (m * beta - 1) / (m * (beta - 1))


def squared_error(r: dict[str, Any], W: Matrix, a: Fraction, beta: Fraction, N: int) -> Fraction:
    """The bound of Theorem A on the mean squared error per query, fields TW'."""
    T, d, m, b = r["dual"], r["dual_denominator"], len(W[0]), len(W[0]) * beta
    unit = (d * r["rows_denominator"]) ** 2
    require([len(row) for row in T] == [m] * m and not any(map(sum, [*T, *zip(*T, strict=True)])), "dual: sums")
    TG = product(T, product(*[[list(column) for column in zip(*W, strict=True)]] * 2))
    form = product(TG, T)  # an integer multiple of ZZ'
    below = minors([[unit * (u == v) - x for v, x in enumerate(row)] for u, row in enumerate(form)])
    require(len(below) == m, "dual: ZZ' is not below the identity")
    gain, spent = (Fraction(sum(A[u][u] for u in range(m)), unit) for A in (TG, form))
    if r["field"] == "constant" and beta > 2:
        drawn = (gain * d) ** 2 / (N * limits(a, m, beta)[0] * m + (b - 1) * (b - 2) / (beta - 2) * spent)
    else:
        require(r["field"] == "square-root" and beta > 1 and b < 20000, "field not known, or beta not allowed for it")
        (top, p), (low, q) = gamma_ratio(beta), gamma_ratio(b)
        f2 = top / low * {0: 1, 2: PI_LOW**2, -2: 1 / PI_HIGH**2}[p - q] * (b / (b + HALF)) ** 2
        j = (beta - HALF) ** 2 * (b - 1) / (beta - 1) - 2 * (beta - HALF) * (b - HALF) + (b - HALF) ** 2 / m
        j += top * (PI_HIGH if p == 1 else 1 / PI_LOW) * (1 - 1 / (4 * b))
        drawn = f2 * (gain * d) ** 2 / (N * (a - 1) ** 2 / (4 * a) + j * spent)
    c = Fraction(sum(m * sum(x * x for x in row) - sum(row) ** 2 for row in W), (m * r["rows_denominator"]) ** 2)
    given = (1 + b / N) ** 2 * drawn - b / (b + 1) * (1 + b / N) * c / N
    return (drawn if r["data"] == "drawn" else given) / len(W)


def too_few(denominator: int, alpha: Fraction, V: Matrix, a: Fraction, beta: Fraction, N: int) -> bool:
    """Whether Theorem C forbids an expected largest error of alpha."""
    m, k, b = len(V[0]), len(V), len(V[0]) * beta
    found = minors([[m * x - sum(V[i]) * sum(V[j]) for j, x in enumerate(y)] for i, y in enumerate(product(V, V))])
    require(k < m and len(found) == k and beta > 2, "the queries are dependent, or beta is not above 2")
    known = N * min(limits(a, m, beta)[0] / k, limits(a, m, beta)[1]) + (b - 1) * (b - 2) / (m * (beta - 2))
    known *= 2 * exp_above(Fraction(1)) * (m * denominator * alpha) ** 2
    return (PI_LOW * k * k) ** k * found[-1] > known**k * math.factorial(k) ** 2


def verdict(r: dict[str, Any]) -> str:
    """What holds; a ValueError says what does not."""
    W, N, squared = r["rows"], r["users"], r["theorem"] == "A"
    require((r["theorem"], r["data"]) in (("A", "given"), ("A", "drawn"), ("C", "drawn")), "theorem or data not known")
    require((r["kind"], r["version"]) == ("factormech protocol bound", 1), "not such a bound, of version 1")
    epsilon, a, beta, error = (Fraction(*map(int, r[key].split("/"))) for key in ("epsilon", "ratio", "beta", "error"))
    whole = [N, r["rows_denominator"], r.get("dual_denominator", 1), *(x for row in W + r.get("dual", []) for x in row)]
    numbers = [*whole, *(y for x in (epsilon, a, beta, error) for y in (x.numerator, x.denominator))]
    require(all(type(x) is int and x.bit_length() <= 512 for x in numbers), "numbers not whole, or too long")
    require(min(whole[:3]) > 0 and len({len(row) for row in W}) == 1 and len(W[0]) > 1, "denominators, users or shape")
    require(len(W) * len(W[0]) ** 2 <= 2**25 and len(W[0]) <= 128, "too many rows or types")
    require(0 < epsilon <= 100 and a >= exp_above(epsilon), "ratio not shown to be above exp(epsilon)")
    require(error > 0 and 2 * beta in range(2, 20000), "error not above 0, or beta not a multiple of 1/2")
    require(squared_error(r, W, a, beta, N) >= error if squared else too_few(whole[1], error, W, a, beta, N), "error")
    what = f"{'mean squared error per query' if squared else 'expected largest error'} >= {float(error):.12g}"
    return f"holds: with {N} users every epsilon-LDP protocol has {what}"


if __name__ == "__main__":
    try:
        print(verdict(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))))
    except Exception as reason:
        sys.exit(" ".join(f"refused: {type(reason).__name__}: {reason}".split())[:300])
