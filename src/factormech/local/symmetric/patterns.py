r"""Patterns: sets of user types that a few parities describe, and the reports that they make.

A pattern is a set T ⊂ {0,1}^m and an m × d matrix A over the field of two elements, of rank m; its rows are bit masks.
With M = 2^m, K = |T|, β = K/M, the public part of a report (which pattern, which A) is drawn without looking at the
user, and its private part is r = Au ⊕ y, where y is uniform in T with probability π and uniform in the complement of T
with probability 1 − π. So

.. math:: \Pr[r \mid u] = q_0 + (q_1 - q_0)\,[Au \oplus r \in T], \qquad q_1 = \pi/K,\; q_0 = (1-\pi)/(M-K),

which is proportional to 1 + (a−1)1_S(u), S = {u : Au ⊕ r ∈ T}, once q₁ = aq₀, a = e^ε: a staircase row, and the 2^m
rows are translates of each other. With T̂(s) = E_z[T(z)χ_s(z)], the character χ = Aᵀs has

.. math:: \sum_u \chi(u)\Pr[r\mid u] \Big/ \sum_u \Pr[r\mid u] = \gamma_s\,(-1)^{s\cdot r},
          \qquad \gamma_s = M (q_1-q_0)\,\hat T(s) .

Averaged over r, X = QᵀD⁻¹Q is therefore diagonal in the characters, with γ_s² at Aᵀs, and 1 at the empty one.

**Rounding.** π is a multiple of 2⁻⁵³, the grid of ``Generator.random``, rounded down, and 1 − π is then a float: the
probabilities are what this module says exactly, and the ratio π(M − K)/((1 − π)K) is checked against e^ε.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from factormech.arrays import FloatArray, IntArray, check_epsilon
from factormech.errors import BadValue
from factormech.privacy import inner_ratio, loss_of_ratio, ratio_is_within
from factormech.workloads import walsh


@dataclass(frozen=True)
class PatternFamily:
    """One set T with several matrices A.

    Attributes
    ----------
    table
        T as a Boolean array over {0,1}^m, entry z for the bit mask z.
    masks
        The matrices A, (R, m): row i of a matrix is the parity that bit i of Au is.
    weights
        The probability of each A, (R,); all families of a strategy together have sum 1.
    permuted
        Whether a uniform permutation of the d attributes, public and fresh for every user, is applied to A.
    """

    table: npt.NDArray[np.bool_]
    masks: IntArray
    weights: FloatArray
    permuted: bool

    def __post_init__(self) -> None:
        T, m = self.table, self.masks.shape[-1]
        if T.dtype != np.bool_ or T.shape != (1 << m,) or T.all() or not T.any():
            raise BadValue("table", T.shape, f"be a proper subset of 2^{m} points", "give one Boolean a point")
        if self.masks.ndim != 2 or self.weights.shape != (len(self.masks),) or not (self.weights >= 0).all():
            raise BadValue("weights", self.weights.shape, "be one number ≥ 0 for each matrix", "match the masks")
        if m > 1 and any(rank(row) < m for row in self.masks):
            raise BadValue("masks", "dependent parities", "be linearly independent", "describe T by fewer parities")

    @property
    def bits(self) -> int:
        """m."""
        return int(self.masks.shape[1])

    @property
    def points(self) -> int:
        """M = 2^m."""
        return len(self.table)

    @cached_property
    def ones(self) -> IntArray:
        """The elements of T."""
        return np.flatnonzero(self.table)

    @cached_property
    def zeros(self) -> IntArray:
        """The others."""
        return np.flatnonzero(~self.table)

    @property
    def weight(self) -> float:
        """The probability of the family."""
        return float(self.weights.sum())


@dataclass(frozen=True)
class Channel:
    """How one family reports at a budget.

    ``inside`` is π; ``high`` and ``low`` are q₁ and q₀; ``loss`` bounds the privacy loss from above.
    """

    inside: float
    high: float
    low: float
    loss: float

    @classmethod
    def of(cls, family: PatternFamily, epsilon: float) -> Channel:
        """The channel with the largest ratio that certainly keeps e^ε."""
        epsilon = check_epsilon(epsilon)
        K, M = len(family.ones), family.points
        odds = inner_ratio(epsilon) * K / (M - K)
        # 1 − π is rounded up, and not π down: it may be small, and its rounding is then what the ratio feels.
        outside = math.ceil(2.0**53 / (1.0 + odds)) * 2.0**-53
        inside = 1.0 - outside  # exact: both are multiples of 2⁻⁵³
        ratio = inside * (M - K) / (outside * K)
        if not (ratio_is_within(ratio, epsilon) and ratio_is_within(1.0 / ratio, epsilon)):
            raise BadValue("epsilon", epsilon, "leave room for the grid of random numbers", "give a larger budget")
        return cls(inside, inside / K, outside / (M - K), loss_of_ratio(max(ratio, 1.0 / ratio)))


def gains(family: PatternFamily, channel: Channel) -> FloatArray:
    """γ_s, (M,); entry 0, which belongs to the number of users, is set to 0."""
    gamma = walsh.transform(family.table.astype(float)) * (channel.high - channel.low)
    gamma[0] = 0.0
    return gamma


def characters(masks: IntArray) -> IntArray:
    """Aᵀs for all s, (…, 2^m), of matrices (…, m)."""
    spans = np.zeros((*masks.shape[:-1], 1), dtype=np.int64)
    for i in range(masks.shape[-1]):
        spans = np.concatenate([spans, spans ^ masks[..., i : i + 1]], axis=-1)
    return spans


def rank(masks: IntArray) -> int:
    """Rank over the field of two elements, by elimination of leading bits."""
    basis: list[int] = []
    for mask in map(int, masks):
        for b in basis:
            mask = min(mask, mask ^ b)
        if mask:
            basis.append(mask)
    return len(basis)


def permute(masks: IntArray, permutations: npt.NDArray[np.signedinteger]) -> IntArray:
    """Masks with bit j moved to bit π(j): masks (…, m), permutations (…, d) with the same leading axes."""
    moved = np.zeros(np.broadcast_shapes(masks.shape, (*permutations.shape[:-1], masks.shape[-1])), dtype=np.int64)
    for j in range(permutations.shape[-1]):
        moved |= ((masks >> j) & 1) << permutations[..., j : j + 1].astype(np.int64)
    return moved
