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

**How h_s is proved.** Let y_D be the probability that u ⊕ D is in S, for random u ∈ S and a set D of types: it depends
on the kind of D ∪ {∅} alone. ``schemes.py`` has matrices in y for pairs, triples and some quadruples of types that are
positive semidefinite for every S, and sums that are s times another y. So for any factors L and numbers e and ν_j ≥ 0
all coefficients of the sum of

* the objective Σ_i C(d,i) φ(i) y_i, φ = Σ_jμ_jK_j,
* ⟨LLᵀ, block⟩ ≥ 0 for each block of the scheme,
* Σ_j ν_j Σ_i C(d,i) K_j(i) y_i ≥ 0, and e·(sum − s·y) = 0 for each sum of the scheme,

are known, and since 0 ≤ y ≤ 1 and y_0 = 1, h_s is the coefficient of y_0 plus the positive ones. L, e and ν are what
solvers find; their squares, the coefficients and all that follows are computed in whole numbers, so that a poor search
gives a poor bound, never a wrong one.

**The search.** A program for a few sizes s at a time finds the prices. At these prices every size is bounded: by pairs,
by the squares of a size nearby, or by a program of its own. Where reports name many types triples leave a gap: then
quadruples with two types at distance 1 are asked, too. At n = 512 the variances of the optimised strategies for
marginals of three attributes are 1.034 and 1.006 times what they prove at ε = 2.5 and 3, and for parities of at most
three 1.041 and 1.045 times; by triples alone these are 1.062, 1.020, 1.056 and 1.052.

**The Gram matrix.** C need only be near a matrix C̄ of this form: g_j are the eigenvalues of C̄ less what bounds
‖C − C̄‖, for tr(X_c⁺C) grows with C. At very large ε, where the variance (tr(X_c⁺C) − tr C)/n is a vanishing part of
either trace, the bounds of ``scatter.py`` keep more digits.

Where there are sets with these pairs triples gain nothing, and the bound of ``pairwise.py`` is kept.
"""

from __future__ import annotations

import math
import operator
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import comb
from typing import Any

import numpy as np

from factormech.arrays import FloatArray, check_epsilon
from factormech.bounds.centred import CentredGram
from factormech.bounds.certificates import RATIO_BITS, exponential_bound, rounded_up
from factormech.bounds.schemes import Scheme, SchemeBlock
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
ADDED, APART, ROUNDS = 3, 0.05, 3
# Sizes that exceed the others by no more than this are not added; triples that gain no more than this are not kept.
CLOSE, GAIN = 1e-4, 1e-3
# Quadruples have two types at a distance up to this, and are asked for where reports name about so many types or more:
# with fewer named, triples alone leave less than 5 % where it was tried. They begin with so many sizes.
NEAR, QUADRUPLES_FROM, QUADRUPLE_SIZES = 1, 20.0, 4
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
        A row for each program that was solved: L of each block of the scheme, one after the other.
    sizes
        A row for each size s from 1 to n − 1: the row of ``roots`` that proves it, the factor that its squares are
        multiplied with, e for each sum of the scheme, ν_1, …, ν_d.
    """

    prices: FloatArray
    roots: FloatArray
    sizes: FloatArray

    def __post_init__(self) -> None:
        d = len(self.prices) - 1
        if self.prices.ndim != 1 or not 1 <= d <= MOST:
            rule = f"have one price for each size from 0 to d, d ≤ {MOST}"
            raise BadValue("prices", self.prices.shape, rule, "solve it again")
        shapes = self.roots.shape[1:], self.sizes.shape
        if not any(shapes == _shapes(Scheme.of(d, near)) for near in (0, NEAR)):
            raise BadValue("shapes of roots and sizes", shapes, "be those of a scheme", "solve it again")
        numbers = np.concatenate([self.prices, self.roots.ravel(), self.sizes.ravel()])
        if not (np.abs(numbers) <= LARGEST).all() or not (self.prices >= 0.0).all():
            raise BadValue("prices, roots and sizes", "not so", "be finite, and prices not negative", "solve it again")
        if not set(self.sizes[:, 0].tolist()) <= set(range(len(self.roots))):
            raise BadValue("first column of sizes", "not so", "name rows of roots", "solve it again")

    @property
    def scheme(self) -> Scheme:
        """With quadruples or without."""
        d = len(self.prices) - 1
        return next(found for near in (0, NEAR) if (found := Scheme.of(d, near)).entries == self.roots.shape[1])


def _shapes(scheme: Scheme) -> tuple[tuple[int], tuple[int, int]]:
    """Of the roots of one program, and of the numbers of all sizes."""
    d = scheme.attributes
    return (scheme.entries,), (2**d - 1, d + 2 + len(scheme.sums))


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
    prices, squares = _whole(found.prices), [_squares(found.scheme, row) for row in found.roots]
    most = max(t**2 * s / (n + t * s) ** 2 * named_at_most(s, prices, found, squares) for s in range(1, n))
    roots = (comb(d, j) * _root_below(g[j] * Fraction(prices[j], 1 << BITS)) for j in range(1, d + 1))
    return sum(roots, Fraction(0)) ** 2 / most if most > 0 else Fraction(0)


def named_at_most(
    s: int, prices: Sequence[int], found: TripleCertificate, squares: Sequence[Sequence[int]]
) -> Fraction:
    """h_s, exactly, for prices in units of 2^−BITS and the squares of all roots, in units of 2^(−2·BITS)."""
    row, scheme, shift = found.sizes[s - 1], found.scheme, 2 * BITS
    d, last = scheme.attributes, 2 + len(scheme.sums)
    factor, *equal = _whole(row[1:last])
    positive = [0, *(max(x, 0) for x in _whole(row[last:]))]
    total = [0] * scheme.kinds
    for i, variable in enumerate(scheme.pair):
        total[variable] += comb(d, i) * sum((prices[j] + positive[j]) * krawtchouk(d, j, i) for j in range(1, d + 1))
    for e, (terms, variable) in zip(equal, scheme.sums, strict=True):
        total[variable] -= s * e
        for v, count in terms if e else ():
            total[v] += e * count
    total = [(x << shift) + max(factor, 0) * y for x, y in zip(total, squares[int(row[0])], strict=True)]
    nothing = scheme.pair[0]
    above = sum(max(x, 0) for v, x in enumerate(total) if v != nothing)
    return Fraction(total[nothing] + above, 1 << (shift + BITS))


def _squares(scheme: Scheme, roots: FloatArray) -> list[int]:
    """The coefficients of the sum of ⟨LLᵀ, block⟩ in units of 2^(−2·BITS)."""
    total, numbers, place = [0] * scheme.kinds, _whole(roots), 0
    for block in scheme.blocks:
        m = len(block.norms)
        rows = [numbers[place + m * i : place + m * (i + 1)] for i in range(m)]
        square = [[sum(map(operator.mul, x, y)) for y in rows] for x in rows]
        for i, j, variable, coefficient in block.entries:
            total[variable] += coefficient * square[i][j]
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
    enough = n * least / float(g.max()) * (1.0 + GAIN)
    sizes = sorted({min(max(round(named * unit), 1), n - 1) for unit in FIRST})
    d, g, extra = len(g) - 1, g / g.max(), math.expm1(epsilon)
    found = _proved(Program(d, g, extra), sizes, enough)
    if found is None or named < QUADRUPLES_FROM:
        return None if found is None else found.certificate
    better = _proved(Program(d, g, extra, NEAR), found.largest(QUADRUPLE_SIZES), found.objective)
    return (better or found).certificate


@dataclass(frozen=True)
class _Proved:
    """A certificate, what it proves of Σ_j C(d,j) g_j(1/x_j − 1), the sizes that were solved, and every c_sh_s."""

    certificate: TripleCertificate
    objective: float
    sizes: Sequence[int]
    weights: FloatArray

    def largest(self, count: int) -> list[int]:
        """Of the sizes that were solved those of the largest c_sh_s."""
        return sorted(sorted(self.sizes, key=lambda s: -float(self.weights[s - 1]))[:count])


def _proved(program: Program, sizes: list[int], enough: float) -> _Proved | None:
    """The best certificate of a few rounds that add sizes; None where the solver fails, or finds not ``enough``.

    ``enough`` is of Σ_j C(d,j) g_j(1/x_j − 1).
    """
    best: _Proved | None = None
    for _ in range(ROUNDS):
        solved = program.solve(sizes)
        if solved is None or solved[0] < enough:
            break
        _, prices, roots = solved
        found, weights = program.certificate(prices, sizes, roots)
        value = program.excess(prices, float(weights.max()))
        if value > (best.objective if best else 0.0):
            best = _Proved(found, value, sizes, weights)
        more = _farthest(weights, sizes)
        if not more:
            break
        sizes = sorted({*sizes, *more})
    return best if best and best.objective > enough else None


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

    def __init__(self, attributes: int, spectrum: FloatArray, extra: float, near: int = 0) -> None:
        d = attributes
        self.d, self.g, self.extra, self.scheme = d, spectrum, extra, Scheme.of(d, near)
        self.some = np.flatnonzero(spectrum > 0.0)
        self.counts = np.array([float(comb(d, i)) for i in range(d + 1)])
        self.characters = np.array([[float(krawtchouk(d, j, i)) for i in range(d + 1)] for j in range(d + 1)])
        self.pair = np.array(self.scheme.pair)
        self.sums, self.sum_of = (np.zeros((len(self.scheme.sums), self.scheme.kinds)) for _ in range(2))
        for i, (terms, variable) in enumerate(self.scheme.sums):
            self.sum_of[i, variable] = 1.0
            for v, count in terms:
                self.sums[i, v] += count
        self.blocks = [self._block(block) for block in self.scheme.blocks]
        self.seen = [np.setdiff1d(np.arange(len(block.norms)), block.unseen) for block in self.scheme.blocks]

    def _block(self, block: SchemeBlock) -> tuple[FloatArray, FloatArray]:
        """Return what normalises the rows, and the block, normalised, as a map of y."""
        scale, m = np.array(block.norms, dtype=float) ** -0.5, len(block.norms)
        found = np.zeros((m, m, self.scheme.kinds))
        for i, j, variable, coefficient in block.entries:
            found[i, j, variable] += coefficient * scale[i] * scale[j]
        return scale, found

    def weight(self, s: int) -> float:
        """c_s."""
        return float(self.extra**2 * s / (2.0**self.d + self.extra * s) ** 2)

    def excess(self, prices: FloatArray, most: float) -> float:
        """(Σ_j C(d,j)√(g_jμ_j))²/max_s c_sh_s − Σ_j C(d,j) g_j."""
        return float(np.sum(self.counts * np.sqrt(self.g * prices))) ** 2 / most - float(self.counts @ self.g)

    def solve(self, sizes: Sequence[int]) -> tuple[float, FloatArray, FloatArray] | None:
        """The least Σ_j C(d,j) g_j(1/x_j − 1), the prices g_j/x_j², and the multipliers of the blocks as ``roots``.

        None where the solver finds no solution. It sees x_j in units of the largest c_s, and no row that follows from
        others.
        """
        import cvxpy as cp

        law = cp.Variable(len(sizes), nonneg=True)
        means: Any = 0
        unit = max(map(self.weight, sizes))
        rules, multipliers = [cp.sum(law) == 1.0], []
        for s, share in zip(sizes, law, strict=True):
            y, equal, forms = self._known(s, share)
            rules += [*equal, *forms]
            multipliers.append(forms)
            means = means + self.weight(s) / unit * (self.characters[self.some] * self.counts @ y[self.pair])
        x = cp.multiply(1.0 / self.counts[self.some], means)
        costs = (self.counts * self.g)[self.some]
        problem = cp.Problem(cp.Minimize(cp.sum(cp.multiply(costs, cp.inv_pos(x)))), rules)
        if not _is_solved(problem) or not np.asarray(x.value).min() > 0.0:
            return None
        prices = np.zeros(self.d + 1)
        prices[self.some] = self.g[self.some] / np.asarray(x.value) ** 2
        top = float(prices.max())
        roots = [self._roots(forms, unit / (top * self.weight(s))) for s, forms in zip(sizes, multipliers, strict=True)]
        return float(problem.value) / unit - float(costs.sum()), prices / top, np.array(roots)

    def root(self, prices: FloatArray, s: int) -> FloatArray | None:
        """The multipliers of the blocks that prove the least h_s at these prices; None where the solver finds none."""
        import cvxpy as cp

        y, equal, forms = self._known(s, 1.0)
        named = (prices @ self.characters * self.counts) @ y[self.pair]
        problem = cp.Problem(cp.Maximize(named), [*equal, *forms])
        return self._roots(forms, 1.0) if _is_solved(problem) else None

    def _known(self, s: int, share: Any) -> tuple[Any, list[Any], list[Any]]:
        """Of y times the share of the sets of s types: the variable, its equations, and what is semidefinite."""
        import cvxpy as cp

        y = cp.Variable(self.scheme.kinds, nonneg=True)
        ways = self.sums.sum(axis=1, keepdims=True)
        equal = [y[self.pair[0]] == share, ((self.sums - s * self.sum_of) / ways) @ y == 0.0]
        forms = []
        for rows, (_, block) in zip(self.seen, self.blocks, strict=True):
            m = len(rows)
            form = cp.reshape(block[np.ix_(rows, rows)].reshape(m * m, -1) @ y, (m, m), order="C") if m else None
            forms += [] if form is None else [0.5 * (form + form.T) >> 0]
        return y, equal, forms

    def _roots(self, forms: list[Any], scale: float) -> FloatArray:
        """L of each block, zero in the rows that are not seen."""
        found, rules = [], iter(forms)
        for rows, (norms, _) in zip(self.seen, self.blocks, strict=True):
            L = np.zeros((len(norms), len(norms)))
            if len(rows):
                L[np.ix_(rows, rows)] = norms[rows, None] * symmetric_root(next(rules).dual_value * scale)
            found.append(L.ravel())
        return np.concatenate(found)

    def certificate(
        self, prices: FloatArray, sizes: Sequence[int], roots: FloatArray
    ) -> tuple[TripleCertificate, FloatArray]:
        """The best numbers for every size, and c_sh_s: triples are asked where pairs say too little.

        The squares of the nearest size are tried first, and where they prove too little those of the size itself.
        """
        every, at, kept = range(1, 2**self.d), list(sizes), list(roots)
        squares = [self._floats(root) for root in kept]
        rows, values = map(list, zip(*(self._numbers(prices, s, 0, None) for s in every), strict=True))
        solved = {s: self._numbers(prices, s, q, squares[q]) for q, s in enumerate(sizes)}

        def improved(s: int, row: FloatArray, value: float) -> tuple[FloatArray, float]:
            root = self.root(prices, s)
            if root is None:
                return row, value
            at.append(s)
            kept.append(root)
            squares.append(self._floats(root))
            return min((row, value), self._numbers(prices, s, len(at) - 1, squares[-1]), key=lambda found: found[1])

        top = max(solved, key=lambda s: self.weight(s) * solved[s][1])
        solved[top] = improved(top, *solved[top])
        least = max(self.weight(s) * value for s, (_, value) in solved.items())
        for s in sorted(every, key=lambda s: -self.weight(s) * values[s - 1]):
            if self.weight(s) * values[s - 1] <= least:
                break
            q = min(range(len(at)), key=lambda near: abs(at[near] - s))
            row, value = solved.get(s) or self._numbers(prices, s, q, squares[q])
            if s not in solved and self.weight(s) * value > (1.0 + CLOSE) * least:
                row, value = improved(s, row, value)
            if value < values[s - 1]:
                rows[s - 1], values[s - 1] = row, value
        weights = np.array([self.weight(s) * value for s, value in zip(every, values, strict=True)])
        return TripleCertificate(prices, np.array(kept), np.array(rows)), weights

    def _floats(self, root: FloatArray) -> FloatArray:
        """``_squares``, in units of 1."""
        return np.array([x / (1 << 2 * BITS) for x in _squares(self.scheme, root)])

    def _numbers(self, prices: FloatArray, s: int, which: int, squares: FloatArray | None) -> tuple[FloatArray, float]:
        """The row of ``sizes`` with the least h_s, and h_s, by a linear program; without squares in pairs alone.

        Where the solver fails the row is zero, and h_s is taken to be infinite.
        """
        from scipy.optimize import linprog

        d, none = self.d, np.zeros(self.scheme.kinds)
        lines = self.sums - s * self.sum_of
        pairs = np.zeros((d + 1, self.scheme.kinds))
        pairs[:, self.pair] = self.characters * self.counts
        base = prices @ pairs
        columns = np.vstack([none if squares is None else squares, lines, pairs[1:]])
        used = np.ones(len(columns), dtype=bool)
        if squares is None:  # of the sums that of all pairs
            used[[0, *range(2, len(lines) + 1)]] = False
        kept = np.arange(self.scheme.kinds) if squares is not None else self.pair
        kept = kept[kept != self.pair[0]]
        M = columns[used]
        lower = np.r_[0.0, np.full(len(lines), -np.inf), np.zeros(d)][used]
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


def _is_solved(problem: Any) -> bool:
    """Whether the solver ends with numbers: those that it calls inaccurate prove a little less, not a falsehood."""
    import cvxpy as cp

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Solution may be inaccurate")
        try:
            problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10)
        except cp.SolverError:
            return False
    return problem.status in (cp.OPTIMAL, cp.OPTIMAL_INACCURATE)
