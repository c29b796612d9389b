r"""A lower bound from triples of types, for workloads that translations and permutations of the attributes leave alone.

Setting: McKenna, Maity, Mazumdar & Miklau (PVLDB 13(11), 2020); notation of ``parametric.py``. The n = 2^d user types
are the subsets of d attributes, and C_uv depends on |u ⊕ v| alone, as for marginals and parities: the eigenvalues of C
are g_j, each on the C(d, j) characters of size j. ``pairwise.py`` sees of a report which pairs of types it names
together. At large ε reports name few types, and there may be no set of types with the pairs that its best weights ask
for. Triples know more: at n = 512, ε = 4 they raise the bound by a sixth for the parities of at most three attributes.

**What a set of types tells.** Averages over the symmetries of C leave the objective no larger, for it is convex. So let
a strategy draw a set S of s types with some probability, move it by a random symmetry, and report with odds a = e^ε for
the types of S. With t = a − 1 each S adds to the mean eigenvalue x_j of X_c on the characters of size j, per unit of
probability,

.. math:: x_j(S) = c_s \sum_i \binom di y_i \frac{K_j(i)}{\binom dj}, \qquad c_s = \frac{t^2 s}{(n+ts)^2},

K_j the Krawtchouk polynomials and y_i the probability that a random translate of a random u ∈ S by a set of size i is
in S. For any prices μ_j ≥ 0 and numbers h_s ≥ Σ_j C(d,j) μ_j x_j(S)/c_s for every S of s types, by Cauchy–Schwarz,

.. math:: \operatorname{tr}(X_c^+C) = \sum_j \binom dj \frac{g_j}{x_j}
          \ge \frac{\bigl(\sum_j \binom dj\sqrt{g_jμ_j}\bigr)^2}{\max_s c_sh_s} .

**How h_s is proved.** Let y_ijt be the probability that u ⊕ v and u ⊕ w are in S, for random u ∈ S, |v| = i, |w| = j,
|v ∩ w| = t; it is symmetric in the three distances i, j, i + j − 2t. The matrices with entries y_ijt and
y_{i+j−2t} − y_ijt, indexed by v and w, are positive semidefinite (A. Schrijver, New code upper bounds from the
Terwilliger algebra and semidefinite programming, IEEE Trans. Inf. Theory 51(8), 2005): the means of 1_S1_Sᵀ over the
translates of S with and without ∅. That algebra splits them into blocks A_k(y), B_k(y) for k ≤ d/2, whose rows are
the sizes k … d − k. As S has s types, Σ_w y_vw = s·y_v for every v. So for any factors L_k, M_k and numbers e_i and
ν_j ≥ 0 all coefficients of the sum of

* the objective Σ_i C(d,i) φ(i) y_i, φ = Σ_jμ_jK_j,
* ⟨L_kL_kᵀ, A_k(y)⟩ + ⟨M_kM_kᵀ, B_k(y)⟩ ≥ 0,
* Σ_j ν_j Σ_i C(d,i) K_j(i) y_i ≥ 0, and e_i(Σ_jt C(i,t)C(d−i,j−t) y_ijt − s y_i) = 0,

are known, and since 0 ≤ y ≤ 1 and y_0 = 1, h_s is the coefficient of y_0 plus the positive ones. L_k, M_k, e and ν are
what solvers find; their squares, the coefficients and all that follows are computed in whole numbers, so that a poor
search gives a poor bound, never a wrong one.

**The Gram matrix.** C need only be near a matrix C̄ of this form: g_j are the eigenvalues of C̄ less what bounds
‖C − C̄‖, for tr(X_c⁺C) grows with C. At very large ε, where the variance (tr(X_c⁺C) − tr C)/n is a vanishing part of
either trace, the bounds of ``scatter.py`` keep more digits.

Where there are sets with these pairs triples gain nothing, and the bound of ``pairwise.py`` is kept.
"""

from __future__ import annotations

import math
import operator
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import comb
from typing import Any

import numpy as np

from factormech.arrays import FloatArray, check_epsilon
from factormech.bounds.centred import CentredGram
from factormech.bounds.certificates import RATIO_BITS, exponential_bound, rounded_up
from factormech.errors import BadValue
from factormech.numerics.rational import root_below
from factormech.numerics.rounding import rounded_down
from factormech.numerics.vectors import symmetric_root
from factormech.workloads.base import Workload

# Attributes for which they are asked: with fewer they gained nothing where it was tried; with more C has to be stored.
FEWEST, MOST = 6, 10
# Reports of the best strategies name about n/(a+1) types: where these are more, there are too many sizes to try.
LEAST_NAMED, MOST_NAMED = 0.5, 48.0
# Below this budget triples gained nothing where it was tried, and sets of nearly all types would be.
FROM_EPSILON = 1.0
# The sizes of the first program, in units of n/(a+1); those that are added at a time; how often.
FIRST = (0.7, 1.0, 1.3, 1.6, 1.9, 2.3)
ADDED, APART, ROUNDS = 3, 0.05, 6
# Sizes that exceed the others by no more than this are not added; triples that gain no more than this are not kept.
CLOSE, GAIN = 1e-4, 1e-3
# Eigenvalues are one if the least is more than this share of the largest.
ONE = 1.0 - 1e-9
# C is of the form if its entries at one distance differ by no more than this, relatively to the largest.
ALIKE = 1e-9
# Numbers of a certificate are whole multiples of 2 to minus this.
BITS, LARGEST = 64, 2.0**200


@dataclass(frozen=True)
class TripleCertificate:
    """The numbers that prove a bound by triples.

    Attributes
    ----------
    prices
        μ_j for the sizes j from 0 to d, (d + 1,).
    roots
        A row for each program that was solved: L_0, …, M_0, …, each (m, m) with m = d − 2k + 1, one after the other.
    sizes
        A row for each size s from 1 to n − 1: the row of ``roots`` that proves it, the factor that its squares are
        multiplied with, e_0, …, e_d, ν_1, …, ν_d.
    """

    prices: FloatArray
    roots: FloatArray
    sizes: FloatArray

    def __post_init__(self) -> None:
        d = len(self.prices) - 1
        if self.prices.ndim != 1 or not 1 <= d <= MOST:
            rule = f"have one price for each size from 0 to d, d ≤ {MOST}"
            raise BadValue("prices", self.prices.shape, rule, "solve it again")
        shapes = {"roots": (len(self.roots), Scheme.of(d).entries), "sizes": (2**d - 1, 2 * d + 3)}
        for name, shape in shapes.items():
            if getattr(self, name).shape != shape:
                raise BadValue(name, getattr(self, name).shape, f"be of shape {shape}", "solve it again")
        numbers = np.concatenate([self.prices, self.roots.ravel(), self.sizes.ravel()])
        if not (np.abs(numbers) <= LARGEST).all() or not (self.prices >= 0.0).all():
            raise BadValue("prices, roots and sizes", "not so", "be finite, and prices not negative", "solve it again")
        if not set(self.sizes[:, 0].tolist()) <= set(range(len(self.roots))):
            raise BadValue("first column of sizes", "not so", "name rows of roots", "solve it again")


@dataclass(frozen=True)
class Scheme:
    """The triples of subsets of d attributes, one for each three distances, and the blocks of their algebra.

    Attributes
    ----------
    attributes, kinds
        d, and how many variables y there are.
    pair
        The variable y_i of two sets at distance i, i from 0 to d.
    sums
        For each size i of v the variables y_vw and how many sets w have them.
    blocks
        For each k the number m of rows, and of every entry the row, the column, the variable of y_ijt, that of
        y_{i+j−2t}, and β^t_ijk: A_k has β·y_ijt in sum there. Rows are not normalised, which no sign notices.
    """

    attributes: int
    kinds: int
    pair: tuple[int, ...]
    sums: tuple[tuple[tuple[int, int], ...], ...]
    blocks: tuple[tuple[int, tuple[tuple[int, int, int, int, int], ...]], ...]

    @classmethod
    @cache
    def of(cls, d: int) -> Scheme:
        """The scheme of d attributes."""
        triples = [
            (i, j, t) for i in range(d + 1) for j in range(d + 1) for t in range(max(0, i + j - d), min(i, j) + 1)
        ]
        numbers: dict[tuple[int, ...], int] = {}
        kind = {
            (i, j, t): numbers.setdefault(tuple(sorted((i, j, i + j - 2 * t))), len(numbers)) for i, j, t in triples
        }
        sums = tuple(
            tuple((v, comb(i, t) * comb(d - i, j - t)) for (row, j, t), v in kind.items() if row == i)
            for i in range(d + 1)
        )
        blocks = []
        for k in range(d // 2 + 1):
            inside = [(i, j, t) for i, j, t in triples if k <= min(i, j) and max(i, j) <= d - k]
            entries = [
                (i - k, j - k, kind[i, j, t], kind[0, i + j - 2 * t, 0], _beta(d, i, j, k, t)) for i, j, t in inside
            ]
            blocks.append((d - 2 * k + 1, tuple(entry for entry in entries if entry[-1])))
        return cls(d, len(numbers), tuple(kind[0, i, 0] for i in range(d + 1)), sums, tuple(blocks))

    @property
    def entries(self) -> int:
        """The length of a row of ``TripleCertificate.roots``."""
        return 2 * sum(m * m for m, _ in self.blocks)


def _beta(d: int, i: int, j: int, k: int, t: int) -> int:
    return sum(
        (-1) ** (u - t) * comb(u, t) * comb(d - 2 * k, u - k) * comb(d - k - u, i - u) * comb(d - k - u, j - u)
        for u in range(max(t, k), min(i, j) + 1)
    )


def krawtchouk(d: int, j: int, i: int) -> int:
    """K_j(i): the sum over the characters of size j at a set of size i."""
    return sum((-1) ** h * comb(i, h) * comb(d - i, j - h) for h in range(j + 1))


# The bound of a certificate ----------------------------------------------------------------------------------


def average_variance(gram: CentredGram, epsilon: float, found: TripleCertificate) -> float:
    """The bound on the average variance per user of unbiased linear strategies, rounded down; 0 where it is vacuous."""
    excess = objective(gram, epsilon, found) - Fraction(gram.trace_above)
    return max(rounded_down(excess / len(gram.matrix)), 0.0)


def objective(gram: CentredGram, epsilon: float, found: TripleCertificate) -> Fraction:
    """The bound on tr(X_c⁺C) that a certificate proves, exactly; 0 where it proves nothing."""
    d = len(found.prices) - 1
    g, n = spectrum_below(gram), 2**d
    if g is None or len(gram.matrix) != n:
        return Fraction(0)
    t = rounded_up(exponential_bound(Fraction(check_epsilon(epsilon))), RATIO_BITS) - 1
    prices, squares = _whole(found.prices), [_squares(Scheme.of(d), row) for row in found.roots]
    most = max(t**2 * s / (n + t * s) ** 2 * named_at_most(d, s, prices, found, squares) for s in range(1, n))
    roots = (comb(d, j) * _root_below(g[j] * Fraction(prices[j], 1 << BITS)) for j in range(1, d + 1))
    return sum(roots, Fraction(0)) ** 2 / most if most > 0 else Fraction(0)


def named_at_most(
    d: int, s: int, prices: Sequence[int], found: TripleCertificate, squares: Sequence[Sequence[int]]
) -> Fraction:
    """h_s, exactly, for prices in units of 2^−BITS and the squares of all roots, in units of 2^(−2·BITS)."""
    row, scheme, shift = found.sizes[s - 1], Scheme.of(d), 2 * BITS
    factor, *equal = _whole(row[1 : d + 3])
    positive = [0, *(max(x, 0) for x in _whole(row[d + 3 :]))]
    total = [max(factor, 0) * x for x in squares[int(row[0])]]
    for i in range(d + 1):
        phi = sum((prices[j] + positive[j]) * krawtchouk(d, j, i) for j in range(1, d + 1))
        total[scheme.pair[i]] += (comb(d, i) * phi - s * equal[i]) << shift
        for v, count in scheme.sums[i]:
            total[v] += (equal[i] * count) << shift
    nothing = scheme.pair[0]
    above = sum(max(x, 0) for v, x in enumerate(total) if v != nothing)
    return Fraction(total[nothing] + above, 1 << (shift + BITS))


def _squares(scheme: Scheme, roots: FloatArray) -> list[int]:
    """The coefficients of Σ_k ⟨L_kL_kᵀ, A_k(y)⟩ + ⟨M_kM_kᵀ, B_k(y)⟩ in units of 2^(−2·BITS)."""
    total, numbers, half = [0] * scheme.kinds, _whole(roots), len(roots) // 2
    place = 0
    for m, entries in scheme.blocks:
        L, M = ([numbers[at + m * i : at + m * (i + 1)] for i in range(m)] for at in (place, half + place))
        P, Q = ([[sum(map(operator.mul, x, y)) for y in rows] for x in rows] for rows in (L, M))
        for i, j, triple, pair, beta in entries:
            total[triple] += beta * (P[i][j] - Q[i][j])
            total[pair] += beta * Q[i][j]
        place += m * m
    return total


def spectrum_below(gram: CentredGram) -> list[Fraction] | None:
    """g_j from below, j from 0 to d; None for a C of another form."""
    C = gram.matrix
    n = len(C)
    d = n.bit_length() - 1
    if n < 2 or n != 2**d or d > MOST or not C.any():
        return None
    types = np.arange(n)
    at = C[0, [2**i - 1 for i in range(d + 1)]]
    apart = float(np.abs(C - at[np.bitwise_count(types[:, None] ^ types)]).max())
    if apart > ALIKE * float(np.abs(C).max()):
        return None
    # ‖C − C̄‖ is at most the largest row sum of |C − C̄|, whose entries are differences with one rounding.
    error = n * (Fraction(apart) * (1 + Fraction(1, 2**50)) + Fraction(gram.entry_error))
    exact = [sum(krawtchouk(d, i, j) * Fraction(x) for i, x in enumerate(at.tolist())) for j in range(d + 1)]
    return [max(value - error, Fraction(0)) for value in exact]


def _whole(values: FloatArray) -> list[int]:
    """Floats in units of 2^−BITS, rounded to the nearest."""
    return [round(math.ldexp(x, BITS)) for x in np.asarray(values, dtype=float).tolist()]


def _root_below(value: Fraction) -> Fraction:
    """A rational at most √value."""
    return root_below(value.numerator * value.denominator) / value.denominator


# The search for one ------------------------------------------------------------------------------------------


def proved(workload: Workload, epsilon: float, least: float) -> tuple[float, TripleCertificate | None]:
    """The bound on the average variance per user, and what proves it; 0 and None where it is at most ``least``."""
    n = workload.domain_size
    if epsilon < FROM_EPSILON or not 2**FEWEST <= n <= 2**MOST:
        return 0.0, None
    if not LEAST_NAMED <= n / (math.exp(epsilon) + 1.0) <= MOST_NAMED:
        return 0.0, None
    gram = CentredGram.of(workload)
    found = search(gram, epsilon, least)
    value = 0.0 if found is None else average_variance(gram, epsilon, found)
    return (value, found) if value > least else (0.0, None)


def search(gram: CentredGram, epsilon: float, least: float) -> TripleCertificate | None:
    """The certificate that solvers find; None where C is not of the form, or triples gain next to nothing.

    Parameters
    ----------
    gram
        The centred Gram matrix.
    epsilon
        The budget.
    least
        The bound on the average variance per user that is known already.
    """
    spectrum, n = spectrum_below(gram), len(gram.matrix)
    named = n / (math.exp(epsilon) + 1.0)
    # Where all eigenvalues are one, as for single types, the bound by the trace is attained.
    if spectrum is None or min(spectrum[1:]) > ONE * max(spectrum[1:]):
        return None
    g = np.array([0.0, *map(float, spectrum[1:])])
    program = Program(len(g) - 1, g / g.max(), math.expm1(epsilon))
    enough = n * least / float(g.max()) * (1.0 + GAIN)
    sizes = sorted({min(max(round(named * unit), 1), n - 1) for unit in FIRST})
    for _ in range(ROUNDS):
        solved = program.solve(sizes)
        if solved is None or solved[0] < enough:
            return None
        _, prices, roots = solved
        found, weights = program.certificate(prices, sizes, roots)
        more = _farthest(weights, sizes)
        if not more:
            break
        sizes = sorted({*sizes, *more})
    return found


def _farthest(weights: FloatArray, sizes: Sequence[int]) -> list[int]:
    """A few sizes, not too near each other, whose c_sh_s is clearly above those of the sizes that were solved."""
    most = (1.0 + CLOSE) * float(weights[np.array(sizes) - 1].max())
    found: list[int] = []
    for s in (np.argsort(-weights) + 1).tolist():
        if weights[s - 1] <= most or len(found) == ADDED:
            break
        if all(abs(s - other) >= APART * s for other in found):
            found.append(s)
    return found


class Program:
    """The least objective over laws of S, as far as pairs and triples know, for some sizes of S at a time."""

    def __init__(self, attributes: int, spectrum: FloatArray, extra: float) -> None:
        d = attributes
        self.d, self.g, self.extra, self.scheme = d, spectrum, extra, Scheme.of(d)
        self.some = np.flatnonzero(spectrum > 0.0)
        self.counts = np.array([float(comb(d, i)) for i in range(d + 1)])
        self.characters = np.array([[float(krawtchouk(d, j, i)) for i in range(d + 1)] for j in range(d + 1)])
        self.pair = np.array(self.scheme.pair)
        self.sums = np.zeros((d + 1, self.scheme.kinds))
        for i, row in enumerate(self.scheme.sums):
            for v, count in row:
                self.sums[i, v] += count
        self.blocks = [self._block(k, m, entries) for k, (m, entries) in enumerate(self.scheme.blocks)]

    def _block(self, k: int, m: int, entries: Iterable[tuple[int, ...]]) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the factors that normalise the rows, and A_k and B_k, normalised, as maps of y."""
        scale = np.array([comb(self.d - 2 * k, i) ** -0.5 for i in range(m)])
        A, B = (np.zeros((m, m, self.scheme.kinds)) for _ in range(2))
        for i, j, triple, pair, beta in entries:
            value = beta * scale[i] * scale[j]
            A[i, j, triple] += value
            B[i, j, pair] += value
            B[i, j, triple] -= value
        return scale, A.reshape(m * m, -1), B.reshape(m * m, -1)

    def weight(self, s: int) -> float:
        """c_s."""
        return float(self.extra**2 * s / (2.0**self.d + self.extra * s) ** 2)

    def solve(self, sizes: Sequence[int]) -> tuple[float, FloatArray, FloatArray] | None:
        """The least Σ_j C(d,j) g_j(1/x_j − 1), the prices g_j/x_j², and the multipliers of the blocks as ``roots``.

        None where the solver finds no solution that it calls accurate. It sees x_j in units of the largest c_s.
        """
        import cvxpy as cp

        law = cp.Variable(len(sizes), nonneg=True)
        scales, maps = zip(*((z, [A, B]) for z, A, B in self.blocks), strict=True)
        means: Any = 0
        unit = max(map(self.weight, sizes))
        rules, multipliers = [cp.sum(law) == 1.0], []
        for s, share in zip(sizes, law, strict=True):
            y = cp.Variable(self.scheme.kinds, nonneg=True)
            rules += [y[self.pair[0]] == share, (self.sums - s * np.eye(self.scheme.kinds)[self.pair]) @ y == 0.0]
            forms = [
                cp.reshape(both[which] @ y, (len(z), len(z)), order="C")
                for which in (0, 1)
                for z, both in zip(scales, maps, strict=True)
            ]
            multipliers.append([0.5 * (form + form.T) >> 0 for form in forms])
            rules += multipliers[-1]
            means = means + self.weight(s) / unit * (self.characters[self.some] * self.counts @ y[self.pair])
        x = cp.multiply(1.0 / self.counts[self.some], means)
        costs = (self.counts * self.g)[self.some]
        problem = cp.Problem(cp.Minimize(cp.sum(cp.multiply(costs, cp.inv_pos(x)))), rules)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Solution may be inaccurate")  # it is not taken
            try:
                problem.solve(solver=cp.CLARABEL)
            except cp.SolverError:
                return None
        if problem.status != cp.OPTIMAL:
            return None
        prices = np.zeros(self.d + 1)
        prices[self.some] = self.g[self.some] / np.asarray(x.value) ** 2
        top = float(prices.max())
        roots = [
            np.concatenate(
                [
                    (z[:, None] * symmetric_root(rule.dual_value * (unit / (top * self.weight(s))))).ravel()
                    for z, rule in zip(2 * list(scales), each, strict=True)
                ]
            )
            for s, each in zip(sizes, multipliers, strict=True)
        ]
        return float(problem.value) / unit - float(costs.sum()), prices / top, np.array(roots)

    def certificate(
        self, prices: FloatArray, sizes: Sequence[int], roots: FloatArray
    ) -> tuple[TripleCertificate, FloatArray]:
        """Return the best numbers for every size, and c_sh_s; triples are solved where pairs prove too little."""
        squares = [np.array([x / (1 << 2 * BITS) for x in _squares(self.scheme, row)]) for row in roots]
        every = range(1, 2**self.d)
        rows, values = map(list, zip(*(self._numbers(prices, s, 0, None) for s in every), strict=True))
        solved = {s: self._numbers(prices, s, q, squares[q]) for q, s in enumerate(sizes)}
        least = max(self.weight(s) * value for s, (_, value) in solved.items())
        for s in every:
            if self.weight(s) * values[s - 1] > least:
                q = min(range(len(sizes)), key=lambda at: abs(sizes[at] - s))
                row, value = solved.get(s) or self._numbers(prices, s, q, squares[q])
                if value < values[s - 1]:
                    rows[s - 1], values[s - 1] = row, value
        weights = np.array([self.weight(s) * value for s, value in zip(every, values, strict=True)])
        return TripleCertificate(prices, roots, np.array(rows)), weights

    def _numbers(self, prices: FloatArray, s: int, which: int, squares: FloatArray | None) -> tuple[FloatArray, float]:
        """The row of ``sizes`` with the least h_s, and h_s, by a linear program; without squares in pairs alone.

        Where the solver fails the row is zero, and h_s is taken to be infinite.
        """
        from scipy.optimize import linprog

        d, none = self.d, np.zeros(self.scheme.kinds)
        lines = self.sums - s * np.eye(self.scheme.kinds)[self.pair]
        pairs = np.zeros((d + 1, self.scheme.kinds))
        pairs[:, self.pair] = self.characters * self.counts
        base = prices @ pairs
        columns = np.vstack([none if squares is None else squares, lines, pairs[1:]])
        used = np.ones(len(columns), dtype=bool) if squares is not None else np.r_[False, True, [False] * d, [True] * d]
        kept = np.arange(self.scheme.kinds) if squares is not None else self.pair
        kept = kept[kept != self.pair[0]]
        M = columns[used]
        lower = np.r_[0.0, [-np.inf] * (d + 1), np.zeros(d)][used]
        found = linprog(
            np.r_[M[:, self.pair[0]], np.ones(len(kept))],
            A_ub=np.hstack([M[:, kept].T, -np.eye(len(kept))]),
            b_ub=-base[kept],
            bounds=[*((low, None) for low in lower), *[(0.0, None)] * len(kept)],
            method="highs",
        )
        row = np.zeros(len(columns) + 1)
        row[0] = which
        if found.status != 0:
            return row, math.inf
        row[1:][used] = found.x[: len(M)]
        return row, float(found.fun + base[self.pair[0]])
