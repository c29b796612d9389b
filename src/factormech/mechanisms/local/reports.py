r"""Simulate the sum of the reports of a whole population, exactly and without a loop over users.

The reports of x_u users of type u fall on the outputs as a multinomial of x_u trials and probabilities Q_·u, and what
an estimate needs is the sum y of these over the types. A multinomial splits along any tree of sets of outputs: how many
reports of a node go to its left half is binomial. Down such a tree two types whose columns of Q agree on the outputs of
a node are split by the same law there, and only the sum of their reports matters: they are merged. On structured
strategies nearly everything merges: outputs × types binomials (a multinomial for each type) become about 2m log₂ m
for Hadamard response, and m log₂ m for randomized response; without any structure it is as many as there were. The
cost does not depend on the number of users.

The binomials use Q_·u divided by its own sums in floating point, so the law that is simulated differs from the stored
one by a few units in the last place, relative to each probability. That is far below what any simulation can see, but
it is why this is a simulation and no private release: the privacy of a release is verified on its own sampler.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from factormech.arrays import FloatArray, IntArray, check_positive_integer
from factormech.errors import BadValue

# Counts held at once: trials are drawn in blocks that keep below it.
CELLS_LIMIT = 2**22


@dataclass(frozen=True)
class _Level:
    """How the classes of the nodes of one height fall apart into those of the height below."""

    left_share: FloatArray  # (classes,)
    left: IntArray  # the class below that each class's left part joins
    right: IntArray  # the same of its right part
    below: int  # how many classes there are below


class ReportTree:
    """The tree of halvings of one strategy matrix (outputs × user types); built once, sampled for any population."""

    def __init__(self, matrix: FloatArray) -> None:
        Q = matrix
        m, n = Q.shape
        rows = 1 << (m - 1).bit_length()
        values, rank = np.unique(Q, return_inverse=True)
        ids = np.zeros((rows, n), dtype=np.int64)  # rows added to fill the tree are never reported
        ids[:m] = np.arange(m)[:, None] * len(values) + rank.reshape(m, n)
        ids[m:] = m * len(values) + np.arange(rows - m)[:, None]
        keys, ids = _renumber(ids)
        inside = keys < m * len(values)
        mass = np.where(inside, values[keys % len(values)], 0.0)
        leaf_row = np.where(inside, keys // len(values), m + keys - m * len(values))
        self._row_starts = np.searchsorted(leaf_row, np.arange(rows))
        self._outputs, self._levels = m, list[_Level]()
        while len(ids) > 1:
            below = len(mass)
            pairs, ids = _renumber(ids[0::2] * below + ids[1::2])
            left, right = pairs // below, pairs % below
            total = mass[left] + mass[right]
            share = np.divide(mass[left], total, out=np.zeros_like(total), where=total > 0)
            self._levels.append(_Level(share, left, right, below))
            mass = total
        self._levels.reverse()
        self._root: IntArray = ids[0]
        self._classes = len(mass)
        self._widest = max([self._classes, *(2 * len(level.left_share) for level in self._levels)])

    def sample(self, counts: IntArray, trials: int, rng: np.random.Generator) -> IntArray:
        """Sums of the reports of ``counts`` users by type, (outputs, trials)."""
        block = max(1, CELLS_LIMIT // self._widest)
        sizes = [min(block, trials - start) for start in range(0, trials, block)]
        return np.concatenate([self._sample(counts, size, rng) for size in sizes], axis=1)

    def _sample(self, counts: IntArray, trials: int, rng: np.random.Generator) -> IntArray:
        from factormech.mechanisms.local.binomial_kernels import split

        top = np.zeros(self._classes, dtype=np.int64)
        np.add.at(top, self._root, counts)
        state = np.repeat(top[:, None], trials, axis=1)
        for level in self._levels:
            below = np.zeros((level.below, trials), dtype=np.int64)
            split(state, level.left_share, level.left, level.right, rng, below)
            state = below
        return np.asarray(np.add.reduceat(state, self._row_starts, axis=0)[: self._outputs])


def _renumber(keys: IntArray) -> tuple[IntArray, IntArray]:
    """The different keys, sorted, and for each entry its number among them."""
    unique, inverse = np.unique(keys, return_inverse=True)
    return unique, inverse.reshape(keys.shape)


def check_counts(counts: npt.ArrayLike, domain_size: int | None = None) -> IntArray:
    """Return the users of each type, checked: whole numbers of at least 0, one for each type, not all 0."""
    found = np.asarray(counts)
    remedy = "give the number of users of each type"
    if found.ndim != 1 or found.size == 0 or (domain_size is not None and len(found) != domain_size):
        rule = f"have shape ({'types' if domain_size is None else domain_size},)"
        raise BadValue("shape of counts", found.shape, rule, remedy)
    if found.dtype == bool or not np.issubdtype(found.dtype, np.number) or np.issubdtype(found.dtype, complex):
        raise BadValue("type of counts", str(found.dtype), "be a type of numbers", remedy)
    bad = np.flatnonzero(~(np.isfinite(found) & (found >= 0) & (found == np.floor(found)) & (found < 2**53)))
    if bad.size:
        u = int(bad[0])
        rule = "be a whole number from 0 to 2**53"
        raise BadValue(f"counts[{u}]", found[u].item(), rule, f"{remedy} ({bad.size} such entries)")
    if not 1 <= float(found.sum(dtype=float)) < 2**53:
        raise BadValue("users", float(found.sum(dtype=float)), "be from 1 to 2**53", remedy)
    return found.astype(np.int64)


def check_simulation(counts: npt.ArrayLike, domain_size: int, trials: int) -> tuple[IntArray, int]:
    """The checked arguments of a simulation."""
    return check_counts(counts, domain_size), check_positive_integer("trials", trials)
