r"""Sets of up to four types under translations and permutations of the attributes, and the matrices they make.

Let S be a random set of types, u ∈ S random, and y_D the probability that u ⊕ D is in S, for a set D of at most three
types beside ∅. Under the symmetries of {0,1}^d it depends on the *kind* of D ∪ {∅} alone. ``Scheme`` numbers the kinds
of pairs, of triples, and of the quadruples that contain two types at distance 1, …, ``near``; it has what must be
positive semidefinite and what must be zero, for every S, with whole coefficients.

**Triples.** The matrices A with entries y_vw and B with y_{v⊕w} − y_vw are means of 1_T1_Tᵀ over translates T of S:
those that contain ∅, and those that do not (A. Schrijver, IEEE Trans. Inf. Theory 51(8), 2005).

**Quadruples.** Fix a type v of size i. The translates that contain both ∅ and v, ∅ but not v, and neither of them have
the means of 1_T1_Tᵀ with the entries

.. math:: y_{vwx}, \qquad y_{wx} - y_{vwx}, \qquad
          y_{w \oplus x} - y_{wx} - y_{v \oplus w, v \oplus x} + y_{vwx},

so that each of these matrices, indexed by w and x, is positive semidefinite (D. Gijswijt, H. Mittelmann &
A. Schrijver, IEEE Trans. Inf. Theory 58(5), 2012, take all i). Permutations of the i attributes of v and of the d − i
others leave them alone: they are in the product of two of Schrijver's algebras, and split into blocks for k ≤ i/2 and
h ≤ (d − i)/2, whose rows are pairs of sizes.

**Sums.** As S has s types, Σ_w y_vw = s·y_v for every v, and Σ_x y_vwx = s·y_vw.

**Rows that no solver need see.** By the sums the row of ∅ is a combination of the others in A, and in B it is 0; with
quadruples the same holds of the rows of ∅ and v. With them no y would be inside of the cone, and solvers lose digits.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from math import comb

# A block's entry: row, column, variable, coefficient.
Entry = tuple[int, int, int, int]
# How many attributes each of the three types of a quadruple {∅, p, q, r} has: by 4·[in p] + 2·[in q] + [in r].
Counts = tuple[int, ...]


@dataclass(frozen=True)
class SchemeBlock:
    """A matrix that is positive semidefinite for every S.

    Attributes
    ----------
    norms
        Row i divided by the root of norms[i] has the length that the block stands for; no sign notices.
    unseen
        Rows that follow from the others.
    entries
        Its entries are the sums of coefficient · y.
    """

    norms: tuple[int, ...]
    unseen: tuple[int, ...]
    entries: tuple[Entry, ...]


@dataclass(frozen=True)
class Scheme:
    """What is known of the sets of d attributes' types.

    Attributes
    ----------
    attributes, near
        d; quadruples with two types at a distance up to ``near`` are known, none if it is 0.
    forms
        The kind of each variable y: how many attributes each of p, q and r has, for one set {∅, p, q, r} of the kind.
    pair
        The variable of two types at distance i, i from 0 to d; that of 0 is 1.
    sums
        Σ count·y over the first is s times the second.
    blocks
        What is positive semidefinite: first A_0, A_1, …, then B_0, B_1, …, then those of quadruples.
    """

    attributes: int
    near: int
    forms: tuple[Counts, ...]
    pair: tuple[int, ...]
    sums: tuple[tuple[tuple[tuple[int, int], ...], int], ...]
    blocks: tuple[SchemeBlock, ...]

    @classmethod
    @cache
    def of(cls, d: int, near: int = 0) -> Scheme:
        """The scheme of d attributes."""
        found = _Kinds(d)
        pair = tuple(found.triple(0, i, 0) for i in range(d + 1))
        sums = [(tuple((found.triple(i, j, t), ways) for j, t, ways in _others(d, i)), pair[i]) for i in range(d + 1)]
        blocks = [found.triple_block(k, inside) for inside in (True, False) for k in range(d // 2 + 1)]
        for i in range(1, near + 1):
            sums += found.quadruple_sums(i)
            for k, h in itertools.product(range(i // 2 + 1), range((d - i) // 2 + 1)):
                blocks += found.quadruple_blocks(i, k, h)
        return cls(d, near, tuple(found.numbers), pair, tuple(sums), tuple(blocks))

    @property
    def kinds(self) -> int:
        """How many variables y there are."""
        return len(self.forms)

    @cached_property
    def entries(self) -> int:
        """How many numbers the roots of all blocks have."""
        return sum(len(block.norms) ** 2 for block in self.blocks)


class _Kinds:
    """Numbers of the kinds that were met."""

    def __init__(self, d: int) -> None:
        self.d, self.numbers, self._known = d, dict[Counts, int](), dict[Counts, int]()

    def number(self, counts: Counts) -> int:
        """Of the set {∅, p, q, r}, whose types may be equal."""
        if counts not in self._known:
            self._known[counts] = self.numbers.setdefault(canonical(counts), len(self.numbers))
        return self._known[counts]

    def triple(self, i: int, j: int, t: int) -> int:
        """{∅, v, w}, |v| = i, |w| = j, |v ∩ w| = t."""
        return self.number((self.d - i - j + t, 0, j - t, 0, i - t, 0, t, 0))

    def quadruple(self, i: int, inside: Sequence[int], outside: Sequence[int]) -> int:
        """{∅, v, w, x}, |v| = i: |w|, |x| and |w ∩ x| within v, and without."""
        (a, b, t), (e, f, u), rest = inside, outside, self.d - i
        return self.number((rest - e - f + u, f - u, e - u, u, i - a - b + t, b - t, a - t, t))

    def triple_block(self, k: int, inside: bool) -> SchemeBlock:
        """A_k or B_k."""
        d, entries = self.d, list[Entry]()
        for i, j, t, beta in _algebra(d, k):
            both, place = self.triple(i, j, t), (i - k, j - k)
            if inside:
                entries.append((*place, both, beta))
            else:
                entries += [(*place, self.triple(0, i + j - 2 * t, 0), beta), (*place, both, -beta)]
        return SchemeBlock(_norms(d, k), (0,) if k == 0 else (), tuple(entries))

    def quadruple_blocks(self, i: int, k: int, h: int) -> list[SchemeBlock]:
        """Of the translates that contain ∅ and v, ∅ alone, and neither."""
        width = self.d - i - 2 * h + 1
        norms = tuple(x * y for x in _norms(i, k) for y in _norms(self.d - i, h))
        unseen = (0, i * width) if k == h == 0 else ()
        found: tuple[list[Entry], ...] = ([], [], [])
        for (a, b, t, first), (e, f, u, second) in itertools.product(_algebra(i, k), list(_algebra(self.d - i, h))):
            place, beta = ((a - k) * width + e - h, (b - k) * width + f - h), first * second
            all_four = self.quadruple(i, (a, b, t), (e, f, u))
            of_empty = self.triple(a + e, b + f, t + u)
            of_v = self.triple(i - a + e, i - b + f, i - a - b + t + u)
            pair = self.triple(0, a + b + e + f - 2 * (t + u), 0)
            found[0].append((*place, all_four, beta))
            found[1].extend([(*place, of_empty, beta), (*place, all_four, -beta)])
            found[2].extend([(*place, pair, beta), (*place, all_four, beta)])
            found[2].extend([(*place, of_empty, -beta), (*place, of_v, -beta)])
        return [SchemeBlock(norms, unseen, tuple(entries)) for entries in found]

    def quadruple_sums(self, i: int) -> Iterator[tuple[tuple[tuple[int, int], ...], int]]:
        """Σ_x y_vwx = s·y_vw, by the sizes of w within v and without."""
        for a, e in itertools.product(range(i + 1), range(self.d - i + 1)):
            terms = (
                (self.quadruple(i, (a, b, t), (e, f, u)), ways * more)
                for (b, t, ways), (f, u, more) in itertools.product(_others(i, a), list(_others(self.d - i, e)))
            )
            yield tuple(terms), self.triple(i, a + e, a)


def _others(d: int, i: int) -> Iterator[tuple[int, int, int]]:
    """The sizes j of subsets of d attributes, t of what they share with one of i, and how many these are."""
    for j in range(d + 1):
        for t in range(max(0, i + j - d), min(i, j) + 1):
            yield j, t, comb(i, t) * comb(d - i, j - t)


def _algebra(d: int, k: int) -> Iterator[tuple[int, int, int, int]]:
    """i, j, t and what the matrix of the pairs with |v| = i, |w| = j, |v ∩ w| = t has at (i − k, j − k) of block k."""
    for i in range(k, d - k + 1):
        for j, t, _ in _others(d, i):
            if k <= j <= d - k:
                beta = sum(
                    (-1) ** (u - t)
                    * comb(u, t)
                    * comb(d - 2 * k, u - k)
                    * comb(d - k - u, i - u)
                    * comb(d - k - u, j - u)
                    for u in range(max(t, k), min(i, j) + 1)
                )
                if beta:
                    yield i, j, t, beta


def _norms(d: int, k: int) -> tuple[int, ...]:
    return tuple(comb(d - 2 * k, i) for i in range(d - 2 * k + 1))


def canonical(counts: Counts) -> Counts:
    """Return one form for all orders of the four types, translations, and repetitions of equal ones."""
    types = [[0] * 8, *([c >> bit & 1 for c in range(8)] for bit in (2, 1, 0))]
    used = [c for c in range(8) if counts[c]]
    apart = sorted({tuple(type_[c] for c in used) for type_ in types})
    fours = (
        four
        for more in itertools.combinations_with_replacement(apart, 4 - len(apart))
        for four in itertools.permutations([*apart, *more])
    )
    return max(_counted(four, [counts[c] for c in used]) for four in fours)


def _counted(four: Iterable[Sequence[int]], counts: Sequence[int]) -> Counts:
    found = [0] * 8
    for bits, count in zip(zip(*four, strict=True), counts, strict=True):
        found[4 * (bits[1] ^ bits[0]) + 2 * (bits[2] ^ bits[0]) + (bits[3] ^ bits[0])] += count
    return tuple(found)
