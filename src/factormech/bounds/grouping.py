r"""From a large domain to a small one and back: where the search for weights of a bound begins.

User types of an ordered domain that are neighbours are nearly alike, and so are their weights. With cells
[u/n, (u+1)/n] for the types and [i/m, (i+1)/m] for m groups of them, A_ui the share of cell u that lies in group i, the
groups have the centred Gram matrix AᵀCA (A1 = 1, so it is centred again). A set of a given share of the types keeps its
meaning, and weights per group become weights per type by linear interpolation between the middles of the groups: of
log p, and of the density n²N of the weights of pairs.

It is a guess about good weights, and nothing is proved from it: a bound is evaluated from its theorem, at full size,
for whatever weights it is given. Where the order of the types means nothing, the guess is bad, and the search starts
afresh.
"""

from __future__ import annotations

import numpy as np

from factormech.arrays import FloatArray, IntArray

# Domains up to this are searched at once; larger ones first in half as many groups.
SMALLEST = 160


def levels(centred_gram: FloatArray) -> list[FloatArray]:
    """Centred Gram matrices of fewer and fewer groups, the smallest first and C itself last."""
    grams = [centred_gram]
    while len(grams[0]) > SMALLEST:
        grams.insert(0, grouped(grams[0], -(-len(grams[0]) // 2)))
    return grams


def grouped(centred_gram: FloatArray, groups: int) -> FloatArray:
    """AᵀCA, (m, m)."""
    half = _sums(centred_gram, groups)
    small = _sums(half.T, groups)
    return np.asarray(0.5 * (small + small.T))


def spread_types(weights: FloatArray, domain_size: int) -> FloatArray:
    """Positive weights per type, (n,), of sum 1, from those per group."""
    first, share = _places(len(weights), domain_size)
    logs = np.log(weights)
    p = np.exp(logs[first] + share * (logs[first + 1] - logs[first]))
    p = p + p[::-1] if np.array_equal(weights, weights[::-1]) else p
    return np.asarray(p / p.sum())


def spread_pairs(pairs: FloatArray, domain_size: int) -> FloatArray:
    """Weights per pair of types, (n, n), symmetric, ≥ 0 and zero on the diagonal, from those per pair of groups."""
    m, n = len(pairs), domain_size
    first, share = _places(m, n)
    rows = pairs[first] + share[:, None] * (pairs[first + 1] - pairs[first])
    full = rows[:, first] + share * (rows[:, first + 1] - rows[:, first])
    full *= (m / n) ** 2
    np.maximum(full, 0.0, out=full)
    np.fill_diagonal(full, 0.0)
    return np.asarray(0.5 * (full + full.T))


def _places(groups: int, domain_size: int) -> tuple[IntArray, FloatArray]:
    """Between which two groups the middle of each type lies, and how far along; at both ends the line goes on."""
    middle = (np.arange(domain_size) + 0.5) * (groups / domain_size) - 0.5
    first = np.clip(np.floor(middle), 0, groups - 2).astype(np.int64)
    return first, middle - first


def _sums(matrix: FloatArray, groups: int) -> FloatArray:
    """AᵀM."""
    n = len(matrix)
    if n == 2 * groups:
        return np.asarray(matrix[::2] + matrix[1::2])
    edges = np.linspace(0.0, n, groups + 1)
    below = np.minimum(np.floor(edges), n - 1).astype(np.intp)
    # M from edge to edge: the integral of a step function.
    integral = np.vstack([np.zeros(matrix.shape[1]), np.cumsum(matrix, axis=0)])
    at = integral[below] + (edges - below)[:, None] * matrix[below]
    return np.asarray(np.diff(at, axis=0))
