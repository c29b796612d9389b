r"""The reports of a population under a strategy of patterns, and the law of their squared error.

**Reports.** Only their counts are kept. A report is a placement ρ of a pattern (which matrix A, its attributes
permuted), drawn without looking at the user, and a word r = Au ⊕ y with the noise y of the pattern. All that an
estimate needs is how often each (ρ, r) came: with a few hundred thousand of them, and ten million users, the counts
are kept in fast memory and the reports not at all. Placements that permutations make equal are one, with the sum of
their probabilities. Then

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

**The law of the squared error.** It is computed in the characters: no matrix of outputs is made. A report with the
matrix A and the word r adds b to the estimate of the centred data, and by ``strategy.py`` the coefficient of b at the
character χ = Aᵀs is γ_s(−1)^{s·r}/x_χ; at the other characters it is 0. That of p_u is χ(u). Let C have the
eigenvalues g_χ (g = 0 at the empty character). So z = b − p_u has

.. math:: z^\top C z = \frac1n\sum_\chi g_\chi\Bigl(1 + \frac{\gamma_s^2}{x_\chi^2}
          - \frac{2\gamma_s}{x_\chi}(-1)^{s\cdot r}\chi(u)\Bigr) .

Given u and A the mean of (−1)^{s·r} is γ_sχ(u), and 1 for s = 0. The covariance of a report is therefore, at the
characters χ, χ' ≠ 1,

.. math:: \Bigl(\frac{K_{\chi\chi'}}{x_\chi x_{\chi'}} - 1\Bigr)\,(\chi\chi')(u), \qquad
          K_{\chi\chi'} = \operatorname{E}_A\bigl[\gamma_s\gamma_t\bar\gamma_{s\oplus t}\bigr], \quad
          \chi = A^\top s,\; \chi' = A^\top t, \quad \bar\gamma_0 = 1,\; \bar\gamma_s = \gamma_s \;(s \ne 0),

and that of a population has the transform of its numbers by type in place of (χχ')(u). No type differs from another by
the law of zᵀCz, for the translations keep Q and C: the moments of the type u = 0, whose characters are 1, are those of
all. With the covariance above for u = 0, tr[(CΣ_u)²] = n⁻²Σ g_χg_χ'(…)².
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy.linalg

from factormech.arrays import FloatArray, IntArray
from factormech.mechanisms.local.error_law import ErrorLaw
from factormech.mechanisms.local.reports import ReportTree
from factormech.mechanisms.local.symmetric.patterns import Channel, PatternFamily, characters
from factormech.workloads import binary

# Reports.

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
        from factormech.mechanisms.local.symmetric.kernels import count_forced, count_free, count_placed, parities

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
    """Return how many of so many users come to each placement."""
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


# The law of the squared error.

_CELLS_LIMIT = 2**21  # numbers held at once


@dataclass(frozen=True)
class Placed:
    """One family with its matrices A listed, (placements, m), their probabilities, and γ_s, (2^m,)."""

    family: PatternFamily
    channel: Channel
    gamma: FloatArray
    masks: IntArray
    weights: FloatArray

    def blocks(self, width: int) -> Sequence[tuple[IntArray, FloatArray]]:
        """The characters of some placements, (placements, 2^m), and their probabilities, ``width`` numbers for each."""
        used = self.weights > 0
        masks, weights, step = self.masks[used], self.weights[used], max(1, _CELLS_LIMIT // width)
        parts = [slice(start, start + step) for start in range(0, len(masks), step)]
        return [(characters(masks[part]), weights[part]) for part in parts]


def pattern_error_law(
    centred_gram: FloatArray,
    spectrum: FloatArray,
    information: FloatArray,
    variance: FloatArray,
    placed: Sequence[Placed],
) -> ErrorLaw:
    """The law where C has the eigenvalues ``spectrum``, x_χ being ``information``; the exact variances are known."""
    n = len(spectrum)
    down = np.divide(1.0, information, out=np.zeros(n), where=information > 0)
    spread = sum((_pair_means(part, n) for part in placed), np.zeros((n, n))) * np.outer(down, down) - 1.0
    spread[0], spread[:, 0] = 0.0, 0.0  # the number of users is known
    moments = [_fourth_moment_and_jump(part, spectrum, down) for part in placed]
    pairs = float(spectrum @ spread**2 @ spectrum) / n**2
    excess = sum(fourth for fourth, _ in moments) - variance**2 - 2.0 * pairs
    u = np.arange(n)
    together = np.bitwise_xor.outer(u, u)

    def covariance(x: FloatArray) -> FloatArray:
        half = binary.transform(spread * binary.transform(x)[together])
        return np.asarray(binary.transform(half.T) / n**2)

    return ErrorLaw(centred_gram, variance, excess, np.full(n, max(jump for _, jump in moments)), covariance)


def _pair_means(part: Placed, n: int) -> FloatArray:
    """Return the term that one family adds to K, (n, n)."""
    gamma, s = part.gamma, np.arange(len(part.gamma))
    means = np.where(s > 0, gamma, 1.0)  # of (−1)^{s·r} for the type 0
    table = np.outer(gamma, gamma) * means[np.bitwise_xor.outer(s, s)]
    found = np.zeros(n * n)
    for chi, weights in part.blocks(table.size):
        cells = chi[:, :, None] * n + chi[:, None, :]
        found += np.bincount(cells.ravel(), weights=np.outer(weights, table).ravel(), minlength=n * n)
    return found.reshape(n, n)


def _fourth_moment_and_jump(part: Placed, g: FloatArray, down: FloatArray) -> tuple[float, float]:
    """E(zᵀCz)² over the reports of one family, times its probability, and the largest zᵀCz, for the type 0."""
    n, channel = len(g), part.channel
    law = np.where(part.family.table, channel.high, channel.low)
    fourth, jump = 0.0, 0.0
    for chi, weights in part.blocks(len(law)):
        ratio = part.gamma * down[chi]  # γ_s/x_χ
        asked = g[chi] * ratio
        fixed = float(g.sum()) + np.einsum("ps,ps->p", asked, ratio)
        squares = np.maximum(fixed[:, None] - 2.0 * binary.transform(asked.T).T, 0.0) / n
        fourth += float(weights @ (squares**2 @ law))
        jump = max(jump, float(squares.max()))
    return fourth, jump
