r"""An involution that a problem has: its semidefinite matrices then split into two blocks of half the size.

T is a signed permutation of the k + N rows and columns, T² = I. Where T maps the feasible set to itself, Z and TZT are
equally good, and by convexity so is their mean, which commutes with T: in the basis of T's eigenvectors e_i ± s e_j
(and e_i for the lines T leaves alone) it has two diagonal blocks. Looked for are: W̃ equal to its transpose along either
diagonal (k = N, c = 0); both orders reversed, with the sign of W̃ changed or not; and, c being free, one order reversed
with the sign changed (the other one-sided symmetries make lines equal, and ``reduced`` has merged those). Prefix sums
have the first or, c being free and without their constant row, the second.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from factormech.arrays import FloatArray, IntArray
from factormech.norms.approximate.boxes import Boxes

# Boxes that were centred by rounding are symmetric up to it. It steers the solver only: both ends are proved without.
_TOLERANCE = 1e-13


@dataclass(frozen=True)
class Involution:
    """The lines that T leaves alone, by sign, and the pairs it exchanges with their signs s."""

    name: str
    alone: tuple[IntArray, IntArray]
    pairs: tuple[IntArray, IntArray]
    signs: FloatArray

    def blocks(self, matrix: FloatArray) -> list[FloatArray]:
        """The diagonal blocks of a symmetric matrix that commutes with T."""
        if not len(self.pairs[0]):
            return [matrix]
        return [self._folded(self._folded(matrix, e).T, e) for e in (0, 1)]

    def whole(self, blocks: list[FloatArray]) -> FloatArray:
        """The matrix with these blocks."""
        if not len(self.pairs[0]):
            return blocks[0]
        size = sum(map(len, blocks))
        parts = [self._unfolded(self._unfolded(block, e, size).T, e, size) for e, block in enumerate(blocks)]
        return np.asarray(sum(parts))

    def mean(self, matrix: FloatArray) -> FloatArray:
        """½(Z + TZT), which commutes with T."""
        return self.whole(self.blocks(matrix))

    def columns(self, factors: list[FloatArray]) -> FloatArray:
        """F with FFᵀ the matrix whose blocks are F_eF_eᵀ, from the F_e."""
        if not len(self.pairs[0]):
            return factors[0]
        size = sum(map(len, factors))
        return np.hstack([self._unfolded(factor, e, size) for e, factor in enumerate(factors)])

    def _folded(self, matrix: FloatArray, e: int) -> FloatArray:
        i, j = self.pairs
        s = (self.signs if e == 0 else -self.signs)[:, None]
        return np.vstack([matrix[self.alone[e]], (matrix[i] + s * matrix[j]) * math.sqrt(0.5)])

    def _unfolded(self, half: FloatArray, e: int, size: int) -> FloatArray:
        i, j = self.pairs
        s = (self.signs if e == 0 else -self.signs)[:, None]
        lines, single = np.zeros((size, half.shape[1])), len(self.alone[e])
        lines[self.alone[e]] = half[:single]
        lines[i] = half[single:] * math.sqrt(0.5)
        lines[j] = lines[i] * s
        return lines


def find(boxes: Boxes) -> Involution:
    """The first symmetry of the list above that the boxes have, or the trivial one."""
    k, N = boxes.shape
    rows, columns = np.arange(k), np.arange(N)
    if k == N and not boxes.shifted:
        for name, order in (("transpose", columns), ("transpose, reversed", columns[::-1])):
            turned = Boxes(boxes.low[:, order].T, boxes.high[:, order].T, False)
            if _same(turned, Boxes(boxes.low[:, order], boxes.high[:, order], False)):
                return _involution(name, np.concatenate([k + order, order]), np.ones(2 * k))
    both = ("reversal", rows[::-1], columns[::-1])
    if _same(_moved(boxes, both[1], both[2], 1.0), boxes):
        return _involution(both[0], np.concatenate([both[1], k + both[2]]), np.ones(k + N))
    for name, i, j in (both, ("rows reversed", rows[::-1], columns), ("columns reversed", rows, columns[::-1])):
        if _same(_moved(boxes, i, j, -1.0), boxes):
            return _involution(f"{name}, negated", np.concatenate([i, k + j]), np.repeat([1.0, -1.0], [k, N]))
    return trivial(k + N)


def trivial(size: int) -> Involution:
    """The identity: one block."""
    return _involution("none", np.arange(size), np.ones(size))


def _moved(boxes: Boxes, i: IntArray, j: IntArray, sign: float) -> Boxes:
    """The boxes of ±W̃ with its lines in another order."""
    low, high = boxes.low[np.ix_(i, j)], boxes.high[np.ix_(i, j)]
    return Boxes(low, high, boxes.shifted) if sign > 0.0 else Boxes(-high, -low, boxes.shifted)


def _same(first: Boxes, second: Boxes) -> bool:
    return all(
        np.allclose(x, y, rtol=0.0, atol=_TOLERANCE) for x, y in ((first.low, second.low), (first.high, second.high))
    )


def _involution(name: str, image: IntArray, signs: FloatArray) -> Involution:
    lines = np.arange(len(image))
    alone = image == lines
    first = lines[image > lines]
    fixed = lines[alone & (signs > 0.0)], lines[alone & (signs < 0.0)]
    return Involution(name, fixed, (first, image[first]), signs[first])
