r"""Sets of few types as lists: the sums of an evaluation in |S|² operations for a set instead of n².

At large ε good sets are small. With b_S = β_S² and c_S = π_S/n, so that u_S = β_S(1_S − c_S1) (``frame.py``),

.. math:: \sum_S p_S u_Su_S^\top = \sum_S p_Sb_S 1_S1_S^\top - s\mathbf 1^\top - \mathbf 1s^\top
          + \Bigl(\sum_S p_Sb_Sc_S^2\Bigr)\mathbf{11}^\top, \qquad s = \sum_S p_Sb_Sc_S 1_S ,

and, as Y1 = 0 for Y = M⁻C_πM⁻, u_SᵀYu_S = b_S Σ_{u,v∈S} Y_uv. Both sums are over the pairs of each list, in double
precision whatever that of the features; larger sets are left to matrix products.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from factormech.arrays import FloatArray, IntArray
from factormech.local.optimal import objective
from factormech.local.optimal.frame import Blocks, Frame, Real, block_matrices
from factormech.local.optimal.problem import BoolArray

# Sets of at most n over this many types are lists,
SMALL = 10
# where at least one in so many sets is, and n is large enough for matrix products to cost something.
LEAST_PART, LEAST_SIZE = 2, 128


@dataclass(frozen=True)
class Lists:
    """Some sets, the small ones as lists.

    Attributes
    ----------
    frame
        The problem.
    small, large
        The places of the sets that are lists, and of the others.
    types, ends
        The lists, one after another; that of the i-th small set is ``types[ends[i]:ends[i + 1]]``.
    slopes, shares
        β_S and c_S of the small sets.
    features
        u_S of the others, a block each.
    """

    frame: Frame
    small: IntArray
    large: IntArray
    types: npt.NDArray[np.unsignedinteger[Any]]
    ends: IntArray
    slopes: FloatArray
    shares: FloatArray
    features: Blocks

    @classmethod
    def of(cls, frame: Frame, supports: BoolArray, features: Blocks) -> Lists | None:
        """The lists of these sets; None where too few of them are small for lists to pay."""
        n = frame.domain_size
        if not LEAST_SIZE <= n <= np.iinfo(np.uint16).max:
            return None
        sizes = np.count_nonzero(supports, axis=1)
        few = SMALL * sizes <= n
        small, large = np.flatnonzero(few), np.flatnonzero(~few)
        if LEAST_PART * len(small) < len(supports):
            return None
        types = np.nonzero(supports[small])[1].astype(np.uint16)
        ends = np.concatenate([[0], np.cumsum(sizes[small])]).astype(np.int64)
        weights = np.add.reduceat(frame.prior[types], ends[:-1])
        slopes = frame.shift * n / (n + frame.shift * weights)
        return cls(frame, small, large, types, ends, slopes, weights / n, tuple(U[large] for U in features))

    def grams(self, masses: FloatArray) -> tuple[FloatArray, ...]:
        """Σp_S u_Su_Sᵀ over all sets, a block each."""
        from factormech.local.optimal import lists_kernels

        n, ones = self.frame.domain_size, self.frame.ones
        weights = masses[self.small] * self.slopes**2
        G = np.zeros((n, n))
        lists_kernels.add_pairs(self.types, self.ends, weights, G)
        blocks = block_matrices(G, self.frame.symmetric)  # they take the symmetric part
        counts = np.diff(self.ends)
        each = np.repeat(weights * self.shares, counts)
        s = np.asarray(np.bincount(self.types, weights=each, minlength=n), dtype=float)
        # (s − ½Σpbc²·1) meets 1 twice: all three terms of the mean.
        side = self.frame.reduced(s) - (0.5 * float(weights @ self.shares**2)) * ones
        tilt = np.outer(side, ones)
        first, *_ = blocks
        first -= tilt + tilt.T
        for block, U in zip(blocks, self.features, strict=True):
            block += objective.weighted_gram(U, masses[self.large])
        return blocks

    def forms(self, halves: Blocks) -> Real:
        """u_SᵀYu_S of every set, Y = half·halfᵀ block by block, Y1 = 0."""
        from factormech.local.optimal import lists_kernels

        Y = np.ascontiguousarray(self.frame.whole(tuple(half @ half.T for half in halves)))
        gains = np.zeros(len(self.small) + len(self.large))
        gains[self.small] = self.slopes**2 * lists_kernels.forms(self.types, self.ends, Y)
        if len(self.large):
            gains[self.large] = objective.forms(self.features, halves)
        return gains
