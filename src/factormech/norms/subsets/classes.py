r"""Classes of queries that ask how many attributes of a set S a user x ⊆ [d] has: one row for every S (and threshold).

A class is a table of its values W(a, b, t): a stands for a *kind of row* (the sets of one size, with a threshold where
there is one), b for a *kind of column* (the users with so many attributes), t = |S ∩ x|. Its matrix, with 2^d columns,
is never written out.

=======================  =========================================================================================
``conjunctions``         +1 where S ⊆ x, else −1, for all S
``disjunctions``         +1 where S ∩ x is not empty, else −1
``majorities``           +1 where |S ∩ x| > |S|/2, else −1
``threshold-counts``     +1 where |S ∩ x| ≥ θ, else −1, for all S and 1 ≤ θ ≤ |S|; and the constants
``parities``             (−1)^{|S ∩ x|}
``conjunctions-{w}``     0/1: the registered workload, 1 where S ⊆ x, |S| ≤ w
=======================  =========================================================================================

To add a class, write a function of d and a line in ``CLASSES``.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import comb
from typing import Any

import numpy as np
import numpy.typing as npt

from factormech.arrays import FloatArray, IntArray, check_dense_size
from factormech.errors import BadValue, UnknownName

# Above this many attributes a program takes more than minutes.
MOST_ATTRIBUTES = 30
_WIDTH = re.compile(r"conjunctions-([1-9][0-9]?)")


@dataclass(frozen=True)
class SubsetClass:
    """A class that permutations of the attributes leave as it is.

    Attributes
    ----------
    name
        What it is called.
    attributes
        d.
    rows, columns
        Sizes of the sets of each kind of row, (A,), and of the users of each kind of column, (B,).
    values
        (A, B·(d + 1)): W(a, b, t) at place b·(d + 1) + t; 1 where no pair of sets has this intersection.
    complement
        (A,): the kind of column of the complements of the sets of a kind of row, where W(S, x) = W(xᶜ, Sᶜ); else
        ``None``.
    """

    name: str
    attributes: int
    rows: IntArray
    columns: IntArray
    values: FloatArray
    complement: IntArray | None = None

    @cached_property
    def exists(self) -> npt.NDArray[np.bool_]:
        """(A, B·(d + 1)): whether some pair of sets has this intersection."""
        i, j, t = self.rows[:, None, None], self.columns[None, :, None], np.arange(self.attributes + 1)
        found = (t <= np.minimum(i, j)) & (t >= i + j - self.attributes)
        return np.asarray(found.reshape(len(self.rows), -1))

    @property
    def queries(self) -> int:
        """The number of rows of the matrix."""
        return sum(comb(self.attributes, int(size)) for size in self.rows)

    @cached_property
    def on_columns(self) -> FloatArray:
        """(A, B·(d + 1)): rows of each kind that share t attributes with a user of each kind; exact to d = 30."""
        d = self.attributes
        choose = np.array([[comb(n, k) for k in range(d + 1)] for n in range(d + 1)], dtype=np.float64)
        i, j, t = self.rows[:, None, None], self.columns[None, :, None], np.arange(d + 1)
        found = choose[j, t] * choose[d - j, np.clip(i - t, 0, d)]
        return np.where(self.exists, found.reshape(len(self.rows), -1), 0.0)

    def dense(self, table: FloatArray) -> FloatArray:
        """The matrix of a table like ``values``: rows by kind, then mask; columns by kind, then mask. For small d."""
        masks = np.arange(1 << self.attributes)
        sizes = np.bitwise_count(masks)
        S, x = (np.concatenate([masks[sizes == s] for s in kinds]) for kinds in (self.rows, self.columns))
        a, b = (
            np.concatenate([np.full(comb(self.attributes, int(s)), n) for n, s in enumerate(kinds)])
            for kinds in (self.rows, self.columns)
        )
        check_dense_size("matrix of the class", len(S), len(x))
        return np.asarray(table[a[:, None], b * (self.attributes + 1) + np.bitwise_count(S[:, None] & x[None, :])])


def subset_class(name: str, attributes: int) -> SubsetClass:
    """The class of a registered name over d attributes."""
    d = checked_attributes(attributes)
    check_name(name)
    wide = _WIDTH.fullmatch(name)
    return CLASSES[name](name, d) if wide is None else _small_conjunctions(name, d, int(wide[1]))


def check_name(name: str) -> None:
    """Refuse a name that no class has."""
    if not isinstance(name, str) or (name not in CLASSES and not _WIDTH.fullmatch(name)):
        raise UnknownName("class on sets of attributes", name, names())


def names() -> list[str]:
    """Return the names of the classes; ``{w}`` stands for a whole number from 1 to d."""
    return [*CLASSES, "conjunctions-{w}"]


def checked_attributes(attributes: Any) -> int:
    """d as a whole number that the semidefinite programs can take."""
    good = isinstance(attributes, (int, np.integer)) and not isinstance(attributes, bool)
    if not good or not 1 <= attributes <= MOST_ATTRIBUTES:
        rule = (
            f"be a whole number from 1 to {MOST_ATTRIBUTES}, what the semidefinite programs of sets of attributes take"
        )
        raise BadValue("attributes", attributes, rule, "give for example 24; marginals of one width take more")
    return int(attributes)


def doubled(queries: SubsetClass) -> SubsetClass:
    """The class over labelled users: kinds of column (x, +1), then (x, −1), both with its values."""
    columns = np.concatenate([queries.columns, queries.columns])
    return SubsetClass(queries.name, queries.attributes, queries.rows, columns, np.hstack([queries.values] * 2))


def _of(
    name: str, d: int, rows: IntArray, value: Callable[..., Any], complement: IntArray | None = None
) -> SubsetClass:
    """The class of a function of (kind of row, size of the user, intersection)."""
    columns, t = np.arange(d + 1), np.arange(d + 1)
    table = np.broadcast_to(value(np.arange(len(rows))[:, None, None], columns[:, None], t), (len(rows), d + 1, d + 1))
    found = SubsetClass(name, d, rows, columns, table.reshape(len(rows), -1).astype(float), complement)
    found.values[~found.exists] = 1.0
    return found


def _signs(held: Any) -> FloatArray:
    return np.where(held, 1.0, -1.0)


def _conjunctions(name: str, d: int) -> SubsetClass:
    sizes = np.arange(d + 1)
    return _of(name, d, sizes, lambda i, j, t: _signs(t == i), d - sizes)


def _disjunctions(name: str, d: int) -> SubsetClass:
    return _of(name, d, np.arange(d + 1), lambda i, j, t: _signs(t > 0))


def _majorities(name: str, d: int) -> SubsetClass:
    return _of(name, d, np.arange(d + 1), lambda i, j, t: _signs(2 * t > i))


def _parities(name: str, d: int) -> SubsetClass:
    return _of(name, d, np.arange(d + 1), lambda i, j, t: _signs(t % 2 == 0))


def _threshold_counts(name: str, d: int) -> SubsetClass:
    sizes = np.concatenate([[0, 0], *(np.full(s, s) for s in range(1, d + 1))]).astype(np.int64)
    least = np.concatenate([[0, 1], *(np.arange(1, s + 1) for s in range(1, d + 1))]).astype(np.int64)
    return _of(name, d, sizes, lambda a, j, t: _signs(t >= least[a]))


def _small_conjunctions(name: str, d: int, width: int) -> SubsetClass:
    if width > d:
        raise BadValue("attributes", d, f"be at least {width} for {name}", f"give at least {width}")
    sizes = np.arange(width + 1)
    return _of(name, d, sizes, lambda i, j, t: t == i, d - sizes if width == d else None)


CLASSES: dict[str, Callable[[str, int], SubsetClass]] = {
    "conjunctions": _conjunctions,
    "disjunctions": _disjunctions,
    "majorities": _majorities,
    "threshold-counts": _threshold_counts,
    "parities": _parities,
}
