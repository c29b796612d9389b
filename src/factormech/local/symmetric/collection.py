r"""The reports of a whole population under a strategy of patterns, counted instead of kept.

A report is a placement ρ of a pattern (which matrix A, its attributes permuted), drawn without looking at the user, and
a word r = Au ⊕ y with the noise y of the pattern. All that an estimate needs is how often each (ρ, r) came: with a few
hundred thousand of them, and ten million users, the counts are kept in fast memory and the reports not at all.
Placements that permutations make equal are one, with the sum of their probabilities. Then

.. math:: Σ_{i} γ_s(-1)^{s·r_i} = γ_s Σ_r (-1)^{s·r}\, c_{ρr}

for each placement is one small Walsh transform of its counts, added at the character Aᵀs.

A placement is drawn by the alias method (Walker, ACM Trans. Math. Software 3(3), 1977), the side of the noise and the
word in it by one uniform number; the law that is simulated differs from the strategy's by rounding of the 53 bits of
each. A simulation, never a private release.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy.linalg

from factormech.arrays import FloatArray, IntArray
from factormech.local.symmetric.patterns import Channel, Family, characters


@dataclass(frozen=True)
class _Placed:
    """One family with its matrices listed: where its counts begin, and what its words say about which character."""

    start: int
    masks: IntArray  # (placements, m)
    family: Family
    gamma: FloatArray  # (points,)

    def totals(self, counts: IntArray, domain_size: int) -> FloatArray:
        """Σ γ_s(−1)^{s·r} over the counted reports, by character, (n,)."""
        points = self.family.points
        mine = counts[self.start : self.start + len(self.masks) * points].reshape(-1, points)
        values = (mine @ scipy.linalg.hadamard(points)) * self.gamma
        chi = characters(self.masks)
        return np.asarray(np.bincount(chi.ravel(), weights=values.ravel(), minlength=domain_size), dtype=float)


class Collection:
    """Counts reports of one strategy; built once, drawn for any population.

    Parameters
    ----------
    families, channels, gains
        Of the strategy, in one order.
    listed
        For each family its distinct matrices (placements, m) and their probabilities, which sum to its weight.
    domain_size
        n = 2^d.
    """

    def __init__(
        self,
        families: Sequence[Family],
        channels: Sequence[Channel],
        gains: Sequence[FloatArray],
        listed: Sequence[tuple[IntArray, FloatArray]],
        domain_size: int,
    ) -> None:
        self._domain_size, self._parts, start = domain_size, list[_Placed](), 0
        widest = max(masks.shape[1] for masks, _ in listed)
        self._masks = np.zeros((sum(len(masks) for masks, _ in listed), widest), dtype=np.int64)
        self._family = np.repeat(np.arange(len(listed)), [len(masks) for masks, _ in listed])
        self._starts = np.zeros(len(self._masks), dtype=np.int64)
        place = 0
        for family, gamma, (masks, _) in zip(families, gains, listed, strict=True):
            rows = slice(place, place + len(masks))
            self._masks[rows, : masks.shape[1]] = masks  # parities of no attribute add nothing to a word
            self._starts[rows] = start + family.points * np.arange(len(masks))
            self._parts.append(_Placed(start, masks, family, gamma))
            place, start = place + len(masks), start + family.points * len(masks)
        self.cells = start
        self._choice, self._alias = alias_tables(np.concatenate([weights for _, weights in listed]))
        self._inside = np.array([channel.inside for channel in channels])
        self._ones = _padded([family.ones for family in families])
        self._zeros = _padded([family.zeros for family in families])
        self._sizes = np.array([[len(family.ones), len(family.zeros)] for family in families])

    def counts(self, users: IntArray, rng: np.random.Generator) -> IntArray:
        """How often each report came, (cells,), from ``users`` by type, (n,)."""
        from factormech.local.symmetric.kernels import count_reports

        found = np.zeros(self.cells, dtype=np.int64)
        placements = (self._choice, self._alias, self._masks, self._starts, self._family)
        noise = (self._inside, self._ones, self._zeros, self._sizes)
        count_reports(users.astype(np.int64), placements, noise, rng, found)
        return found

    def totals(self, counts: IntArray) -> FloatArray:
        """Σ γ_s(−1)^{s·r} over the reports with Aᵀs = χ, (n,)."""
        return np.asarray(sum(part.totals(counts, self._domain_size) for part in self._parts))


def alias_tables(weights: FloatArray) -> tuple[FloatArray, IntArray]:
    """Walker's tables: entry i is kept with probability ``choice[i]``, else it stands for ``alias[i]``.

    The weights are taken relative to their sum. Vose's order of filling (IEEE Trans. Software Eng. 17(9), 1991).
    """
    p = np.asarray(weights, dtype=float)
    scaled = p * (len(p) / p.sum())
    choice, alias = np.ones(len(p)), np.arange(len(p))
    small, large = list(np.flatnonzero(scaled < 1.0)), list(np.flatnonzero(scaled >= 1.0))
    while small and large:
        low, high = small.pop(), large[-1]
        choice[low], alias[low] = scaled[low], high
        scaled[high] = (scaled[high] + scaled[low]) - 1.0
        if scaled[high] < 1.0:
            small.append(large.pop())
    return choice, alias


def _padded(words: Sequence[npt.NDArray[np.signedinteger]]) -> IntArray:
    """Lists of words of different lengths as rows, filled up with zeros that are never read."""
    rows = np.zeros((len(words), max(len(w) for w in words)), dtype=np.int64)
    for row, own in zip(rows, words, strict=True):
        row[: len(own)] = own
    return rows
