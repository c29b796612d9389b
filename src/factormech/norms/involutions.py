r"""Involutions that a problem has: its semidefinite matrices then split into blocks, half the size for each.

T is a signed permutation of the k + N rows and columns, T² = I. Where T maps the feasible set to itself, Z and TZT are
equally good, and by convexity so is their mean, which commutes with T: in the basis of T's eigenvectors e_i ± s e_j
(and e_i for the lines T leaves alone) it has two diagonal blocks. Another involution that commutes with T is a signed
permutation of the lines of either block, and splits it again. Looked for are: W̃ equal to its transpose along either
diagonal (k = N, c = 0); both orders reversed, with the sign of W̃ changed or not; c being free, one order reversed
with the sign changed; rows that are each other's negatives once they are centred; and columns reversed, their bits
turned or exchanged, each with the rows, up to sign, that become each other by it. Prefix sums have the first or, c
being free and without their constant row, the second; ranges are each other's when reversed; parities and marginals
have those of the bits.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from factormech.arrays import FloatArray, IntArray
from factormech.norms.boxes import Boxes

# Boxes that were centred by rounding are symmetric up to it. It steers the solver only: both ends are proved without.
_TOLERANCE = 1e-13
# Decimals in which the lines of such boxes are looked up.
_DECIMALS = 12
# Nanoseconds that decomposing a block takes, by powers of its size, and folding it into two and back: measured.
_DECOMPOSED, _FOLDED = (3e4, 0.0, 50.0, 0.035), (6e4, 0.0, 20.0)


@dataclass(frozen=True)
class Signed:
    """T with Te_a = signs_a e_{image_a}: the entry (a, b) of TZT is signs_a signs_b Z[image_a, image_b]."""

    name: str
    image: IntArray
    signs: FloatArray

    def commutes(self, other: Signed) -> bool:
        """Return whether both products are the same."""
        return np.array_equal(self.image[other.image], other.image[self.image]) and np.array_equal(
            self.signs * other.signs[self.image], other.signs * self.signs[other.image]
        )


@dataclass(frozen=True)
class Involution:
    """The lines that T leaves alone, by sign, the pairs it exchanges with their signs s, and what splits its blocks."""

    name: str
    alone: tuple[IntArray, IntArray]
    pairs: tuple[IntArray, IntArray]
    signs: FloatArray
    halves: tuple[Involution, Involution] | None = None

    @cached_property
    def trivial(self) -> bool:
        """Whether there is one block."""
        return not len(self.pairs[0]) and not (len(self.alone[0]) and len(self.alone[1]))

    @cached_property
    def size(self) -> int:
        """How many lines there are."""
        return len(self.alone[0]) + len(self.alone[1]) + 2 * len(self.pairs[0])

    @cached_property
    def count(self) -> int:
        """How many blocks there are."""
        return 1 if self.trivial else 2 if self.halves is None else self.halves[0].count + self.halves[1].count

    @cached_property
    def cost(self) -> float:
        """About how long folding and decomposing all blocks takes, in nanoseconds."""
        if self.trivial:
            return _polynomial(self.size, _DECOMPOSED)
        own = _polynomial(self.size, _FOLDED)
        if self.halves is not None:
            return own + self.halves[0].cost + self.halves[1].cost
        return own + sum(_polynomial(len(alone) + len(self.signs), _DECOMPOSED) for alone in self.alone)

    @cached_property
    def largest(self) -> int:
        """The size of the largest block."""
        if self.trivial:
            return self.size
        if self.halves is not None:
            return max(half.largest for half in self.halves)
        return max(map(len, self.alone)) + len(self.signs)

    @cached_property
    def _order(self) -> IntArray:
        return np.concatenate([*self.alone, *self.pairs])

    @cached_property
    def _turned(self) -> FloatArray | None:
        """Signs of the lines in order, of the second of each pair its s; nothing if all are +1."""
        signs = np.ones(self.size)
        signs[self.size - len(self.signs) :] = self.signs
        return None if (signs > 0.0).all() else signs

    def blocks(self, matrix: FloatArray) -> list[FloatArray]:
        """The diagonal blocks of a symmetric matrix that commutes with T."""
        if self.trivial:
            return [matrix]
        M = matrix[np.ix_(self._order, self._order)]
        if self._turned is not None:
            M *= self._turned[:, None]
            M *= self._turned
        first, second = self._sides()
        equal, crossed = M[first, first] + M[second, second], M[first, second] + M[second, first]
        found: list[FloatArray] = []
        for e, combine in enumerate((np.add, np.subtract)):
            a, own = len(self.alone[e]), self._alone(e)
            block = np.empty((a + len(self.signs),) * 2)
            block[:a, :a] = M[own, own]
            combine(M[own, first], M[own, second], out=block[:a, a:])
            block[:a, a:] *= math.sqrt(0.5)
            block[a:, :a] = block[:a, a:].T
            combine(equal, crossed, out=block[a:, a:])
            block[a:, a:] *= 0.5
            found += [block] if self.halves is None else self.halves[e].blocks(block)
        return found

    def whole(self, blocks: list[FloatArray]) -> FloatArray:
        """The matrix with these blocks."""
        if self.trivial:
            return blocks[0]
        even, odd = self._by_half(blocks)
        if self.halves is not None:
            even, odd = [self.halves[0].whole(even)], [self.halves[1].whole(odd)]
        M = np.zeros((self.size, self.size))
        first, second = self._sides()
        a, b = len(self.alone[0]), len(self.alone[1])
        M[first, first] = 0.5 * (even[0][a:, a:] + odd[0][b:, b:])
        M[second, second] = M[first, first]
        M[first, second] = 0.5 * (even[0][a:, a:] - odd[0][b:, b:])
        M[second, first] = M[first, second]
        for e, (block, n, sign) in enumerate(((even[0], a, 1.0), (odd[0], b, -1.0))):
            own = self._alone(e)
            M[own, own] = block[:n, :n]
            M[own, first] = math.sqrt(0.5) * block[:n, n:]
            M[own, second] = sign * M[own, first]
            M[first, own], M[second, own] = M[own, first].T, M[own, second].T
        if self._turned is not None:
            M *= self._turned[:, None]
            M *= self._turned
        back = np.argsort(self._order)
        return np.asarray(M[np.ix_(back, back)])

    def mean(self, matrix: FloatArray) -> FloatArray:
        """The mean of Z over the group that is generated, ½(Z + TZT) for one T, which commutes with it."""
        return self.whole(self.blocks(matrix))

    def columns(self, factors: list[FloatArray]) -> FloatArray:
        """F with FFᵀ the matrix whose blocks are F_eF_eᵀ, from the F_e."""
        if self.trivial:
            return factors[0]
        parts = self._by_half(factors)
        halves = [p[0] if self.halves is None else self.halves[e].columns(p) for e, p in enumerate(parts)]
        return np.hstack([self._unfolded(half, e) for e, half in enumerate(halves)])

    def _by_half(self, blocks: list[FloatArray]) -> tuple[list[FloatArray], list[FloatArray]]:
        split = 1 if self.halves is None else self.halves[0].count
        return blocks[:split], blocks[split:]

    def _alone(self, e: int) -> slice:
        a = len(self.alone[0])
        return slice(0, a) if e == 0 else slice(a, a + len(self.alone[1]))

    def _sides(self) -> tuple[slice, slice]:
        """The places in order of the first of each pair, and of the second."""
        start, p = self.size - 2 * len(self.signs), len(self.signs)
        return slice(start, start + p), slice(start + p, start + 2 * p)

    def _unfolded(self, half: FloatArray, e: int) -> FloatArray:
        i, j = self.pairs
        s = (self.signs if e == 0 else -self.signs)[:, None]
        lines, single = np.zeros((self.size, half.shape[1])), len(self.alone[e])
        lines[self.alone[e]] = half[:single]
        lines[i] = half[single:] * math.sqrt(0.5)
        lines[j] = lines[i] * s
        return lines


def find(boxes: Boxes) -> Involution:
    """Symmetries of the list above that the boxes have and that commute, or the trivial one."""
    found = [_chain(boxes, [T]) for T in _simple(boxes)]
    return min([*found, _chain(boxes, [])], key=lambda tree: (tree.trivial, tree.cost))


def trivial(size: int) -> Involution:
    """The identity: one block."""
    return _tree([], size)


def _chain(boxes: Boxes, taken: list[Signed]) -> Involution:
    """These symmetries and, one by one, those of the columns that commute with all before and make it cheaper."""
    size = sum(boxes.shape)
    tree = _tree(taken, size)
    n = tree.largest
    if 2.0 * _polynomial(n // 2, _DECOMPOSED) + _polynomial(n, _FOLDED) >= _polynomial(n, _DECOMPOSED):
        return tree
    for T in _of_columns(boxes):
        if all(T.commutes(other) for other in taken):
            larger = _tree([*taken, T], size)
            if larger.cost < tree.cost:
                taken, tree = [*taken, T], larger
    return tree


def _simple(boxes: Boxes) -> Iterator[Signed]:
    """The first of the symmetries that are said without looking at lines, if there is one."""
    k, N = boxes.shape
    rows, columns = np.arange(k), np.arange(N)
    if k == N and not boxes.shifted:
        for name, order in (("transpose", columns), ("transpose, reversed", columns[::-1])):
            turned = Boxes(boxes.low[:, order].T, boxes.high[:, order].T, False)
            if _same(turned, Boxes(boxes.low[:, order], boxes.high[:, order], False)):
                yield Signed(name, np.concatenate([k + order, order]), np.ones(2 * k))
                return
    both = ("reversal", rows[::-1], columns[::-1])
    if _same(_moved(boxes, both[1], both[2], 1.0), boxes):
        yield Signed(both[0], np.concatenate([both[1], k + both[2]]), np.ones(k + N))
        return
    for name, i, j in (both, ("rows reversed", rows[::-1], columns), ("columns reversed", rows, columns[::-1])):
        if _same(_moved(boxes, i, j, -1.0), boxes):
            yield Signed(f"{name}, negated", np.concatenate([i, k + j]), np.repeat([1.0, -1.0], [k, N]))
            return


def _of_columns(boxes: Boxes) -> Iterator[Signed]:
    """Reorderings of the columns for which there is one of the rows, up to their signs, that makes up for it."""
    k, N = boxes.shape
    lines = np.round(np.hstack([boxes.low, boxes.high]), _DECIMALS) + 0.0
    places = {line.tobytes(): i for i, line in enumerate(lines)}
    for name, order in _orders(N):
        same = lines[:, np.concatenate([order, N + order])]
        opposite = 0.0 - np.hstack([same[:, N:], same[:, :N]])
        # The identity is of use with negatives alone, and lines that have none stay.
        ways = ((opposite, -1.0), (same, 1.0)) if name == "opposite rows" else ((same, 1.0), (opposite, -1.0))
        image, signs = np.full(k, -1), np.ones(k)
        for moved, sign in ways:
            for i in np.flatnonzero(image < 0):
                image[i] = places.get(moved[i].tobytes(), -1)
                signs[i] = sign
        if (image < 0).any():
            continue
        turned = _moved(boxes, image, order, 1.0)
        low = np.where(signs[:, None] > 0.0, turned.low, -turned.high)
        high = np.where(signs[:, None] > 0.0, turned.high, -turned.low)
        T = Signed(name, np.concatenate([image, k + order]), np.concatenate([signs, np.ones(N)]))
        own = np.array_equal(T.image[T.image], np.arange(k + N)) and bool((signs * signs[image] > 0.0).all())
        if own and _same(Boxes(low, high, boxes.shifted), boxes):
            yield T


def _orders(N: int) -> Iterator[tuple[str, IntArray]]:
    """Involutions of N columns that workloads have: of their order, and of their bits."""
    columns = np.arange(N)
    yield "opposite rows", columns
    yield "columns reversed", columns[::-1].copy()
    for first, types_in_all in ((0, N), (1, N + 1), (0, N + 1)):
        # All types, or all but the first or the last one, whose column was dropped.
        d = types_in_all.bit_length() - 1
        if types_in_all != 1 << d:
            continue
        types = columns + first
        if types_in_all == N:
            yield from ((f"bit {i} turned", types ^ (1 << i)) for i in range(d))
        for i in range(d):
            for j in range(i):
                differ = (types >> i ^ types >> j) & 1
                yield f"bits {j} and {i} exchanged", (types ^ (differ << i) ^ (differ << j)) - first


def _moved(boxes: Boxes, i: IntArray, j: IntArray, sign: float) -> Boxes:
    """The boxes of ±W̃ with its lines in another order."""
    low, high = boxes.low[np.ix_(i, j)], boxes.high[np.ix_(i, j)]
    return Boxes(low, high, boxes.shifted) if sign > 0.0 else Boxes(-high, -low, boxes.shifted)


def _same(first: Boxes, second: Boxes) -> bool:
    return all(
        np.allclose(x, y, rtol=0.0, atol=_TOLERANCE) for x, y in ((first.low, second.low), (first.high, second.high))
    )


def _polynomial(x: int, coefficients: tuple[float, ...]) -> float:
    return float(sum(a * x**power for power, a in enumerate(coefficients)))


def _tree(symmetries: list[Signed], size: int) -> Involution:
    """Return the tree of blocks: split by the first symmetry, then by the others."""
    if not symmetries:
        lines = np.arange(size)
        return Involution("none", (lines, lines[:0]), (lines[:0], lines[:0]), np.zeros(0))
    T, others = symmetries[0], symmetries[1:]
    lines = np.arange(size)
    alone, first = T.image == lines, lines[T.image > lines]
    fixed = lines[alone & (T.signs > 0.0)], lines[alone & (T.signs < 0.0)]
    split = Involution(T.name, fixed, (first, T.image[first]), T.signs[first])
    if split.trivial:
        return _tree(others, size)
    if not others:
        return split
    halves = [_tree([_restricted(o, split, e) for o in others], len(fixed[e]) + len(first)) for e in (0, 1)]
    name = "; ".join(s.name for s in symmetries)
    return Involution(name, fixed, split.pairs, split.signs, (halves[0], halves[1]))


def _restricted(T: Signed, split: Involution, e: int) -> Signed:
    """Return the action of T on the lines of a block: T commutes with what splits the block, so pairs become pairs."""
    alone, (i, j) = split.alone[e], split.pairs
    a = len(alone)
    place, turned = np.zeros(split.size, dtype=np.int64), np.ones(split.size)
    place[alone] = np.arange(a)
    place[i] = place[j] = a + np.arange(len(i))
    # T(e_i ± s e_j) is ± a pair's vector, whose second line has the sign ±s.
    turned[j] = split.signs if e == 0 else -split.signs
    lines = np.concatenate([alone, i])
    image = T.image[lines]
    return Signed(T.name, place[image], T.signs[lines] * turned[image])
