"""Projections on the simplex, unit vectors, roots, and symmetric matrices as vectors.

**The nearest points of the simplex {p ≥ 0, Σp = 1}.** They are max(v − t, 0), with the t for which the sum is 1. With
v_1 ≥ v_2 ≥ … that is t = max over the k with v_k > t_k of t_k = (v_1 + … + v_k − 1)/k, the last of them.

**Symmetric matrices as vectors.** They have the entries i ≤ j, those off the diagonal times √2, which keeps inner
products.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from factormech.arrays import FloatArray, IntArray

# The nearest points of the simplex {p ≥ 0, Σp = 1}.

_SLACK = 1e-12  # far above the rounding of a sum of entries that are within 1 of the largest
_WORTH = 0.8  # a pass that leaves this share or more is the last before sorting


def level(values: FloatArray, mass: float = 1.0) -> FloatArray:
    """The t with Σ(v − t)₊ = ``mass`` > 0 for each of the lines of (…, d), (…)."""
    falling = np.sort(values, axis=-1)[..., ::-1]
    levels = (falling.cumsum(axis=-1) - mass) / np.arange(1, values.shape[-1] + 1)
    if values.ndim == 1:
        return np.asarray(levels[np.count_nonzero(falling > levels) - 1])
    last = np.count_nonzero(falling > levels, axis=-1, keepdims=True) - 1
    return np.asarray(np.take_along_axis(levels, last, axis=-1)[..., 0])


def nearest(values: FloatArray) -> FloatArray:
    """The probability vectors nearest to the lines of (…, d)."""
    return np.asarray(np.maximum(values - level(values)[..., None], 0.0))


def nearest_long(v: FloatArray) -> FloatArray:
    """Return the nearest point for one line, (d,), bit for bit the same; most of a long line is not sorted.

    Entries at most max v − 1 end at 0; and of any set S that has all entries above t, those at most
    (Σ_S v − 1)/|S| ≤ t (Michelot, J. Optim. Theory Appl. 50, 1986).
    """
    largest = float(v.max())
    able = v[v > largest - 1.0]
    slack = _SLACK * (1.0 + abs(largest))
    while True:
        kept = able[able > (able.sum() - 1.0) / len(able) - slack]
        last, able = len(kept) >= _WORTH * len(able), kept
        if last:
            break
    return np.asarray(np.maximum(v - level(able), 0.0))


# Symmetric matrices as vectors.


@cache
def places(dimension: int) -> tuple[IntArray, IntArray, FloatArray]:
    """Lines and columns of the coordinates of :func:`pack`, and what entries are multiplied by; never written to."""
    rows, columns = np.triu_indices(dimension)
    found = rows, columns, np.where(rows == columns, 1.0, np.sqrt(2.0))
    for array in found:
        array.setflags(write=False)
    return found


def pack(matrices: FloatArray) -> FloatArray:
    """Symmetric matrices (…, d, d) as vectors (…, d(d+1)/2) of the same inner products."""
    rows, columns, scale = places(matrices.shape[-1])
    return np.asarray(matrices[..., rows, columns] * scale)


def unpack(vectors: FloatArray, dimension: int) -> FloatArray:
    """The inverse of :func:`pack`."""
    rows, columns, scale = places(dimension)
    found = np.zeros((*vectors.shape[:-1], dimension, dimension))
    entries = vectors / scale
    found[..., rows, columns] = entries
    found[..., columns, rows] = entries
    return found


def packed_squares(vectors: FloatArray) -> FloatArray:
    """xxᵀ as a vector for each line x of (k, d), (k, d(d+1)/2)."""
    rows, columns, scale = places(vectors.shape[1])
    return np.asarray(vectors[:, rows] * vectors[:, columns] * scale)


def product(first: FloatArray, second: FloatArray) -> FloatArray:
    """Matrix of the map E → ½(FES + SEF) in the coordinates of :func:`pack`, F and S symmetric."""
    i, j, scale = places(len(first))
    Fi, Fj, Si, Sj = first[i], first[j], second[i], second[j]
    full = Fi[:, i] * Sj[:, j] + Fi[:, j] * Sj[:, i] + Si[:, i] * Fj[:, j] + Si[:, j] * Fj[:, i]
    return np.asarray(0.25 * full * scale[:, None] * scale)


def root(matrix: FloatArray, noise: float = 0.0) -> FloatArray:
    """R (d, r) of full column rank with RRᵀ = C ⪰ 0, but for eigenvalues up to ``noise`` or d·2⁻⁵² of the largest."""
    values, vectors = np.linalg.eigh(matrix)
    keep = values > max(len(matrix) * np.finfo(float).eps * max(float(values[-1]), 0.0), noise)
    return np.asarray(vectors[:, keep] * np.sqrt(values[keep]))


def symmetric_root(matrix: FloatArray) -> FloatArray:
    """Square L with LLᵀ = a positive semidefinite matrix, eigenvalues below rounding being zero."""
    values, vectors = np.linalg.eigh(0.5 * (matrix + matrix.T))
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))


def unit_rows(vectors: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The rows divided by their norms (zero rows stay), and the norms."""
    norms = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
    return vectors / np.where(norms > 0.0, norms, 1.0)[:, None], norms
