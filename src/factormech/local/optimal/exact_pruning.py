"""From weights on all columns to a strategy of few outputs: prune, recombine, and make its mean exactly zero."""

from __future__ import annotations

import math

import numpy as np

from factormech.arrays import FloatArray, IntArray
from factormech.local.optimal.corners import AllColumns
from factormech.local.optimal.recombine import largest_first, recombined
from factormech.numerics.symmetric import packed_squares

# Shares of the mass that may go with the smallest weights, in units of the gap: the first that keeps the gap is taken.
SHARES = (10.0, 1.0, 0.1, 1e-2, 1e-4, 0.0)
# Eigenvalues of Ξ below this fraction of the largest are rounding.
SINGULAR = 1e-12
# How far R may be from the range of Ξ, relatively.
OUTSIDE = 1e-7
# So many columns are recombined at a time.
SLAB = 8192


def pruned(
    columns: AllColumns, root: FloatArray, weights: FloatArray, gap: float, limit: float
) -> tuple[IntArray, FloatArray, float]:
    """The sets that are kept, their weights and their objective: few sets, with an objective of at most ``limit``.

    If there are none such, those of the least objective that were found; it may be infinite.
    """
    best: tuple[IntArray, FloatArray, float] | None = None
    for share in SHARES:
        chosen = largest_first(weights, share * gap)
        chosen, p = _fewer(columns, chosen, weights[chosen])
        p, objective = balanced(columns.some(chosen), root, p)
        if best is None or objective < best[2]:
            best = chosen, p, objective
        if objective <= limit:
            break
    return best or (np.zeros(0, dtype=np.int64), np.zeros(0), math.inf)


def _fewer(columns: AllColumns, chosen: IntArray, weights: FloatArray) -> tuple[IntArray, FloatArray]:
    """As few columns as can be with the same Ξ, mean and mass."""
    while True:
        parts = np.array_split(np.arange(len(chosen)), -(-len(chosen) // SLAB))
        fewer = np.concatenate([_slab(columns.some(chosen[part]), weights[part]) for part in parts])
        chosen, weights = chosen[fewer > 0.0], fewer[fewer > 0.0]
        if len(parts) == 1:
            return chosen, weights


def _slab(columns: FloatArray, weights: FloatArray) -> FloatArray:
    size = np.maximum(np.linalg.norm(columns, axis=1), 1.0)[:, None]  # up to e^ε
    scaled = columns / size
    features = np.hstack([packed_squares(scaled), scaled / size, 1.0 / size**2])
    return np.asarray(recombined(features, weights * size[:, 0] ** 2) / size[:, 0] ** 2)


def balanced(columns: FloatArray, root: FloatArray, weights: FloatArray) -> tuple[FloatArray, float]:
    """The weights made a distribution with mean zero but for rounding, and tr(RᵀΞ⁺R), infinite outside Ξ's range."""
    p = weights / weights.sum()
    for _ in range(3):
        E, values = range_of((columns.T * p) @ columns)
        # The change of p, the least in mean square relatively to p, that takes the mean to zero.
        change = columns @ (E @ ((E.T @ (p @ columns)) / values))
        if change.max() >= 1.0:
            return p, math.inf
        p = p * (1.0 - change)
        p = p / p.sum()
    E, values = range_of((columns.T * p) @ columns)
    inside = E.T @ root
    if np.linalg.norm(root - E @ inside) > OUTSIDE * np.linalg.norm(root):
        return p, math.inf
    return p, float(np.sum(inside**2 / values[:, None]))


def range_of(X: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Orthonormal eigenvectors and eigenvalues of X ⪰ 0 without those that are zero but for rounding."""
    values, vectors = np.linalg.eigh(X)
    keep = values > SINGULAR * values[-1]
    return np.asarray(vectors[:, keep]), np.asarray(values[keep])
