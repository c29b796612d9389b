r"""Symmetric matrices as vectors: the entries i ≤ j, those off the diagonal times √2, which keeps inner products."""

from __future__ import annotations

from functools import cache

import numpy as np

from factormech.arrays import FloatArray, IntArray


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
