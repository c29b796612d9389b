r"""The reports of a whole population under a strategy of patterns, counted instead of kept.

A report is a placement ρ of a pattern (which matrix A, its attributes permuted), drawn without looking at the user, and
a word r = Au ⊕ y with the noise y of the pattern. All that an estimate needs is how often each (ρ, r) came: with a few
hundred thousand of them, and ten million users, the counts are kept in fast memory and the reports not at all.
Placements that permutations make equal are one, with the sum of their probabilities. Then

.. math:: Σ_{i} γ_s(-1)^{s·r_i} = γ_s Σ_r (-1)^{s·r}\, c_{ρr}

for each placement is one small Walsh transform of its counts, added at the character Aᵀs.

**Mixture.** With probability φ = (πM − K)/(M − K) the noise is *forced*, uniform in T, and else the word is *free*,
uniform in {0,1}^m whatever u: a word has the probability (1 − φ)/M = (1 − π)/(M − K) = q₀ outside of Au ⊕ T, and
φ/K + q₀ = π/K = q₁ in it (``patterns.py``). How many users of a type are forced is binomial. The free reports of all
types are alike: how many come to each placement is one multinomial (``reports.py``), and their words are fair bits. So
are the forced ones of one type, whose Au is the same: where they are many to a placement, they fall on the placements
as a multinomial, too; where they are few, each draws its placement by the alias method (Walker, ACM Trans. Math.
Software 3(3), 1977). The law that is simulated differs from the strategy's by rounding of the 53 bits of each number. A
simulation, never a private release.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy.linalg

from factormech.arrays import FloatArray, IntArray
from factormech.local.reports import ReportTree
from factormech.local.symmetric.patterns import Channel, PatternFamily, characters

# Forced reports of one type to a placement from which a multinomial costs less than the reports.
_MANY = 8.0


@dataclass(frozen=True)
class _Placed:
    """One family with its matrices listed: where its counts begin, what its words say, and about which character."""

    start: int
    chi: IntArray  # (placements, points)
    gamma: FloatArray  # (points,)

    def totals(self, counts: IntArray, domain_size: int) -> FloatArray:
        """Σ γ_s(−1)^{s·r} over the counted reports, by character, (n,)."""
        mine = counts[self.start : self.start + self.chi.size].reshape(self.chi.shape).astype(float)
        values = (mine @ scipy.linalg.hadamard(len(self.gamma), dtype=float)) * self.gamma
        return np.asarray(np.bincount(self.chi.ravel(), weights=values.ravel(), minlength=domain_size), dtype=float)


class PatternCollection:
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
        families: Sequence[PatternFamily],
        channels: Sequence[Channel],
        gains: Sequence[FloatArray],
        listed: Sequence[tuple[IntArray, FloatArray]],
        domain_size: int,
    ) -> None:
        self._domain_size, self._parts, start = domain_size, list[_Placed](), 0
        # By placement: where its counts begin, its family, and its masks; parities of no attribute add nothing.
        widest, placements = max(masks.shape[1] for masks, _ in listed), sum(len(masks) for masks, _ in listed)
        self._places, place = np.zeros((placements, 2 + widest), dtype=np.int64), 0
        for index, (family, gamma, (masks, _)) in enumerate(zip(families, gains, listed, strict=True)):
            rows = self._places[place : place + len(masks)]
            rows[:, 0], rows[:, 1] = start + family.points * np.arange(len(masks)), index
            rows[:, 2 : 2 + masks.shape[1]] = masks
            self._parts.append(_Placed(start, characters(masks), gamma))
            place, start = place + len(masks), start + family.points * len(masks)
        self.cells = start
        weights, of_family = np.concatenate([weights for _, weights in listed]), self._places[:, 1]
        shares = [_forced(family, channel) for family, channel in zip(families, channels, strict=True)]
        forced = weights * np.array(shares)[of_family]
        self._forced = float(forced.sum() / weights.sum())
        self._free_tree = ReportTree((weights - forced)[:, None])
        self._forced_tree = ReportTree(forced[:, None])
        self._tables = alias_tables(forced if forced.any() else weights)
        self._points = np.array([family.points for family in families])
        self._ones, self._sizes = _padded([f.ones for f in families]), np.array([len(f.ones) for f in families])

    def counts(self, users: IntArray, rng: np.random.Generator) -> IntArray:
        """How often each report came, (cells,), from ``users`` by type, (n,)."""
        from factormech.local.symmetric.kernels import count_forced, count_free, count_placed, parities

        found, odd = np.zeros(self.cells, dtype=np.int64), parities(len(users))
        forced = rng.binomial(users, self._forced)
        count_free(_split(self._free_tree, users.sum() - forced.sum(), rng), self._places, self._points, rng, found)
        many = forced > _MANY * len(self._places)
        for u in np.flatnonzero(many).tolist():
            placed = _split(self._forced_tree, forced[u], rng)
            count_placed(u, placed, self._places, self._ones, self._sizes, odd, rng, found)
        few = np.where(many, 0, forced)
        count_forced(few, self._tables, self._places, self._ones, self._sizes, rng, found)
        return found

    def totals(self, counts: IntArray) -> FloatArray:
        """Σ γ_s(−1)^{s·r} over the reports with Aᵀs = χ, (n,)."""
        return np.asarray(sum(part.totals(counts, self._domain_size) for part in self._parts))


def _forced(family: PatternFamily, channel: Channel) -> float:
    """φ."""
    K, M = len(family.ones), family.points
    return max(channel.inside * M - K, 0.0) / (M - K)


def _split(tree: ReportTree, users: int, rng: np.random.Generator) -> IntArray:
    """How many of so many users come to each placement."""
    return tree.sample(np.array([users]), 1, rng)[:, 0].copy()


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
