r"""Automorphisms of a class of concepts, and what is symmetric under them.

An automorphism of a ±1 matrix is a permutation g of the labelled points and one of the concepts that carry "c has label
b at a" to itself. If g leaves μ alone, then with (y, ζ) the images of both under g are as good, and as the value of
:mod:`factormech.learning.sq.dimension` is convex in y and its proof concave in ζ, so are the averages over a group G: y
may be taken constant on the orbits of pairs (concept, labelled point), and a cut may be averaged over each.

The group here is not the largest: candidates (shifts of the points, exchanged and turned bits, the flips of labels
that carry one concept to another) are verified one by one, and kept while the group that they generate has at most
``LIMIT`` elements, as the queries of ζ are multiplied by them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from factormech.arrays import FloatArray
from factormech.learning.concepts import ConceptClass

LIMIT = 64
# How far μ may be from invariant: rounding.
_SAME = 1e-14

Permutations = npt.NDArray[np.intp]


@dataclass(frozen=True)
class Group:
    """Automorphisms, the identity first.

    Attributes
    ----------
    concepts, points
        (g, k) and (g, 2T): where element g carries a concept and a labelled point.
    """

    concepts: Permutations
    points: Permutations

    def __len__(self) -> int:
        return len(self.points)

    def keeping(self, law: FloatArray) -> Group:
        """The subgroup that leaves a law of labelled points alone."""
        kept = np.abs(law[self.points] - law).max(axis=1) <= _SAME
        return Group(self.concepts[kept], self.points[kept])

    def orbits(self) -> tuple[Permutations, FloatArray]:
        """The orbit of each pair (concept, labelled point), (k, 2T), numbered from 0, and the sizes of the orbits."""
        k, N = self.concepts.shape[1], self.points.shape[1]
        images = self.concepts[:, :, None] * N + self.points[:, None, :]
        _, orbit, sizes = np.unique(images.min(axis=0), return_inverse=True, return_counts=True)
        return orbit.reshape(k, N), sizes.astype(float)

    def images(self, queries: FloatArray, signs: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Queries (J, 2T) and signs (J, k) under every element: (gJ, 2T) and (gJ, k), element by element."""
        return np.concatenate([queries[:, p] for p in self.points]), np.concatenate(
            [signs[:, c] for c in self.concepts]
        )


def automorphisms(concepts: ConceptClass) -> Group:
    """A group of automorphisms of a class, of at most ``LIMIT`` elements."""
    return _group(concepts.matrix.tobytes(), concepts.matrix.shape)


@lru_cache(maxsize=32)
def _group(content: bytes, shape: tuple[int, int]) -> Group:
    matrix = np.frombuffer(content, dtype=np.int8).reshape(shape)
    rows = {row.tobytes(): c for c, row in enumerate(matrix)}
    k, T = shape
    generators: list[tuple[Permutations, Permutations]] = []
    identity = (np.arange(k), np.arange(2 * T))
    found = [identity]
    for columns, flips in _candidates(matrix):
        image = matrix[:, columns] * flips
        moved = [rows.get(row.tobytes()) for row in image]
        if None in moved:
            continue
        # Concept c has at point a the label of moved[c] there but for the flip: (c, columns[a], b) ↦ (moved c, a, ±b).
        own = columns + np.where(flips > 0, 0, T)
        candidate = (np.array(moved, dtype=np.intp), np.concatenate([own, (own + T) % (2 * T)]))
        # As maps of places, points are carried by the inverse of what is read from them.
        candidate = (candidate[0], np.argsort(candidate[1]))
        larger = _closure(identity, [*generators, candidate])
        if larger is not None:
            generators.append(candidate)
            found = larger
    return Group(np.array([g[0] for g in found]), np.array([g[1] for g in found]))


def _candidates(matrix: npt.NDArray[np.int8]) -> Iterator[tuple[Permutations, npt.NDArray[np.int8]]]:
    """Permutations of columns with flips of their labels that may be automorphisms."""
    T = matrix.shape[1]
    places, same = np.arange(T), np.ones(T, dtype=np.int8)
    for row in matrix[1:]:
        yield places, matrix[0] * row
    for flips in (same, -same):
        yield places, flips
        yield places[::-1], flips
        yield np.roll(places, 1), flips
    if T & (T - 1) == 0:
        width = T.bit_length() - 1
        for i in range(width):
            yield places ^ (1 << i), same
            for j in range(i):
                high, low = places >> i & 1, places >> j & 1
                yield places ^ ((high ^ low) << i) ^ ((high ^ low) << j), same


def _closure(
    identity: tuple[Permutations, Permutations], generators: list[tuple[Permutations, Permutations]]
) -> list[tuple[Permutations, Permutations]] | None:
    """All products of the generators, or nothing if they are more than ``LIMIT``."""
    found = {identity[1].tobytes(): identity}
    waiting = [identity]
    while waiting:
        concepts, points = waiting.pop()
        for by_concept, by_point in generators:
            product = (by_concept[concepts], by_point[points])
            key = product[1].tobytes()
            if key not in found:
                if len(found) == LIMIT:
                    return None
                found[key] = product
                waiting.append(product)
    return list(found.values())
