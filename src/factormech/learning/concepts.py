r"""Concept classes: a ±1 matrix with a row for every concept and a column for every point of the domain.

It is the concept matrix of Edmonds (PhD thesis, Toronto, 2023, Definition 28).

Built-in classes, ``size`` being the number d of bits of a point unless said otherwise (label +1 is "true"):

=====================  ==========================================================================================
``thresholds``         [x ≤ c] for c among T ordered points; ``size`` is T
``points``             [x = c] for c among T points; ``size`` is T
``parities``           χ_S(x) = (−1)^{Σ_{j∈S} x_j} for all 2^d sets S
``{w}-way-parities``   those with \|S\| = w
``conjunctions``       monotone conjunctions: all x_j with j ∈ S are 1, for all 2^d sets S
``decision-stumps``    x_j or its negation, for every bit j
``halfspaces``         sign(⟨w, x⟩ − b) on the grid {0, …, g−1}²; ``size`` is the side g
``file:PATH``          a matrix of labels in a file (CSV, NumPy, Matrix Market, HDF5); ``size`` is its number of points
=====================  ==========================================================================================

Concepts with equal labels on the whole domain are one concept: they are merged, and how many were is said.

To add a class, write a function of its size and a line in ``CONCEPTS``.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from math import gcd
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from factormech.arrays import FloatArray, check_dense_size, check_positive_integer
from factormech.errors import BadValue, UnknownName

SignArray: TypeAlias = npt.NDArray[np.int8]

# 2^d concepts of 2^d points: 64 MB at d = 13; every use of a class takes more.
_MOST_BITS = 12
_MOST_SIDE = 12
_MOST_ORDERED = 8192
_FILE = "file:"
_WAYS = re.compile(r"([1-9][0-9]?)-way-parities")


@dataclass(frozen=True)
class ConceptClass:
    """A class, its concepts distinct.

    Attributes
    ----------
    name
        What it is called.
    matrix
        (k, T) labels ±1: concepts × points.
    concepts, points
        What each row and each column is called.
    merged
        How many rows were left out because an earlier one has the same labels.
    """

    name: str
    matrix: SignArray
    concepts: tuple[str, ...]
    points: tuple[str, ...]
    merged: int = 0

    @property
    def size(self) -> int:
        """k, the number of concepts."""
        return int(self.matrix.shape[0])

    @property
    def domain_size(self) -> int:
        """T, the number of points."""
        return int(self.matrix.shape[1])

    @property
    def labels(self) -> FloatArray:
        """The matrix as doubles."""
        return self.matrix.astype(np.float64)


def from_matrix(
    matrix: Any, name: str, *, concepts: tuple[str, ...] | None = None, points: tuple[str, ...] | None = None
) -> ConceptClass:
    """Return the class of a ±1 matrix (concepts × points); of equal rows the first is kept."""
    array = np.asarray(matrix)
    if array.dtype.kind not in "iuf":
        raise BadValue(f"type of {name}", array.dtype.name, "be numbers", "give labels +1 and -1")
    if array.ndim != 2 or not array.size:
        rule = "be (concepts, points), both at least 1"
        raise BadValue(f"shape of {name}", array.shape, rule, "give a row of labels for at least one concept")
    bad = np.argwhere(np.abs(array) != 1)
    if len(bad):
        c, x = bad[0]
        rule = "be +1 or -1, as every label"
        raise BadValue(f"{name}[{c}, {x}]", array[c, x].item(), rule, "map a 0/1 matrix W to 2W - 1")
    labels = array.astype(np.int8)
    rows = ["".join(map(str, index)) for index in np.ndindex(len(labels))] if concepts is None else list(concepts)
    columns = [str(x) for x in range(labels.shape[1])] if points is None else list(points)
    if (len(rows), len(columns)) != labels.shape:
        rule = f"be {labels.shape}, one name for each row and column of {name}"
        raise BadValue("numbers of concepts and points", (len(rows), len(columns)), rule, "leave the names out")
    _, first = np.unique(np.packbits(labels > 0, axis=1), axis=0, return_index=True)
    kept = np.sort(first)
    names = tuple(rows[c] for c in kept)
    return ConceptClass(name, np.ascontiguousarray(labels[kept]), names, tuple(columns), len(labels) - len(kept))


def concept_class(name: str, size: int) -> ConceptClass:
    """The class of a registered name, or of ``file:PATH``, at this size."""
    check_name(name)
    number = check_positive_integer("size", size)
    if name.startswith(_FILE):
        return _from_file(name, number)
    ways = _WAYS.fullmatch(name)
    if ways is not None:
        return _parities_of_size(name, number, int(ways[1]))
    return CONCEPTS[name](name, number)


def difference_matrix(concepts: ConceptClass) -> FloatArray:
    """D_C: the rows (c − c′)/2 of all c before c′ in the class, entries −1, 0, 1, (k(k−1)/2, T).

    The thesis has a row for both orders (Edmonds, PhD thesis, Toronto, 2023): opposite rows change no norm of it.
    """
    k, T = concepts.matrix.shape
    if k < 2:
        raise BadValue("size of the class", k, "be at least 2 for differences", "give another concept")
    check_dense_size("difference matrix", k * (k - 1) // 2, T)
    first, second = np.triu_indices(k, 1)
    return np.asarray(0.5 * (concepts.labels[first] - concepts.labels[second]))


def names() -> list[str]:
    """Every class; ``{w}`` stands for a whole number from 1 to 99."""
    return [*CONCEPTS, "{w}-way-parities", _FILE + "PATH"]


def check_name(name: str) -> None:
    """Refuse a name that no class has."""
    known = isinstance(name, str) and (name in CONCEPTS or _WAYS.fullmatch(name) or name.startswith(_FILE))
    if not known:
        raise UnknownName("concept class", name, names())


def bits(d: int) -> npt.NDArray[np.int64]:
    """(2^d, d): the bits of the points, bit j of point x being (x >> j) & 1."""
    return (np.arange(1 << d)[:, None] >> np.arange(d)[None, :]) & 1


def _thresholds(name: str, T: int) -> ConceptClass:
    _check_most("size", T, _MOST_ORDERED, name)
    places = np.arange(T)
    labels = np.where(places[None, :] <= places[:, None], 1, -1)
    return from_matrix(labels, name, concepts=tuple(f"x <= {c}" for c in places))


def _points(name: str, T: int) -> ConceptClass:
    _check_most("size", T, _MOST_ORDERED, name)
    return from_matrix(2 * np.eye(T, dtype=np.int8) - 1, name, concepts=tuple(f"x = {c}" for c in range(T)))


def _masks_and(name: str, d: int) -> npt.NDArray[np.int64]:
    """(2^d, 2^d): S & x of all masks S and points x."""
    _check_most("size", d, _MOST_BITS, name)
    masks = np.arange(1 << d)
    return np.asarray(masks[:, None] & masks[None, :])


def _parities(name: str, d: int) -> ConceptClass:
    labels = 1 - 2 * (np.bitwise_count(_masks_and(name, d)) & 1).astype(np.int8)
    return from_matrix(labels, name, concepts=_sets(d, "+"), points=_words(d))


def _parities_of_size(name: str, d: int, w: int) -> ConceptClass:
    if w > d:
        raise BadValue("size", d, f"be at least {w} bits for {name}", f"give at least {w}")
    whole = _parities(name, d)
    kept = np.flatnonzero(np.bitwise_count(np.arange(1 << d)) == w)
    return from_matrix(whole.matrix[kept], name, concepts=tuple(whole.concepts[S] for S in kept), points=whole.points)


def _conjunctions(name: str, d: int) -> ConceptClass:
    held = _masks_and(name, d) == np.arange(1 << d)[:, None]
    return from_matrix(np.where(held, 1, -1), name, concepts=_sets(d, "&"), points=_words(d))


def _stumps(name: str, d: int) -> ConceptClass:
    _check_most("size", d, _MOST_BITS, name)
    literals = 2 * bits(d).T - 1
    rows = tuple(f"x{j}" for j in range(d)) + tuple(f"not x{j}" for j in range(d))
    return from_matrix(np.concatenate([literals, -literals]), name, concepts=rows, points=_words(d))


def _halfspaces(name: str, g: int) -> ConceptClass:
    """All of them: every separable dichotomy is a prefix of the points ordered along some direction.

    A separating line can be turned a little, so a direction that orders the points strictly is enough. The order
    changes only where the direction is normal to the difference of two points; between two neighbours of these normals
    their sum is such a direction. All of it is in whole numbers.
    """
    _check_most("size", g, _MOST_SIDE, name)
    span = range(-(g - 1), g)
    normals = [(u, v) for u in span for v in span if gcd(u, v) == 1]
    normals.sort(key=lambda n: np.arctan2(n[1], n[0]))
    x, y = np.divmod(np.arange(g * g), g)
    rows = [np.full(g * g, -1, dtype=np.int8)]
    for (u, v), (s, t) in zip(normals, normals[1:] + normals[:1], strict=True):
        order = np.argsort((u + s) * x + (v + t) * y)
        prefix = np.full((g * g, g * g), -1, dtype=np.int8)
        prefix[:, order] = np.where(np.tri(g * g, dtype=bool), 1, -1)
        rows.extend(prefix)
    labels = np.unique(np.array(rows), axis=0)
    return from_matrix(labels, name, points=tuple(f"({a},{b})" for a, b in zip(x, y, strict=True)))


def _from_file(name: str, T: int) -> ConceptClass:
    from factormech.workloads.matrix import read

    path = name.removeprefix(_FILE)
    found = from_matrix(read(path), Path(path).name)
    if found.domain_size != T:
        rule = f"be the number of points of {path}, {found.domain_size}"
        raise BadValue("size", T, rule, f"give {found.domain_size}")
    return ConceptClass(name, found.matrix, found.concepts, found.points, found.merged)


def _check_most(what: str, value: int, most: int, name: str) -> None:
    if value > most:
        raise BadValue(what, value, f"be at most {most} for {name}", "give a smaller one")


def _sets(d: int, joined: str) -> tuple[str, ...]:
    return tuple(f" {joined} ".join(f"x{j}" for j in range(d) if S >> j & 1) or "none" for S in range(1 << d))


def _words(d: int) -> tuple[str, ...]:
    """The bits of each point, bit 0 first."""
    return tuple("".join(str(x >> j & 1) for j in range(d)) for x in range(1 << d))


CONCEPTS: dict[str, Callable[[str, int], ConceptClass]] = {
    "thresholds": _thresholds,
    "points": _points,
    "parities": _parities,
    "conjunctions": _conjunctions,
    "decision-stumps": _stumps,
    "halfspaces": _halfspaces,
}
