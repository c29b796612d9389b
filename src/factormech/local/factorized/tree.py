r"""The dyadic tree for thresholds: the O(log³ T) rival (Edmonds, PhD thesis, 2023, §1.2.2).

Over T = 2^h types a user of type u reports all nodes above it in a binary tree but the root, which is public: A has a
row for every node, h ones in each column, and ‖A‖_{1→2} = √h. The prefix of length t is the sum of popcount(t) nodes,
for t < T; for t = T it is the root, which a row shift answers. So ‖R‖_{2→∞} = √h and n grows like h·h·log T. Other T
are the first types of a larger tree.

``plain`` adds those nodes up. Least squares uses all reports: R = WP(AP)⁺ has the shortest rows of all R with
RAP = WP, P = I − 11ᵀ/T, and the shift is what RA − W says in every column alike.
"""

from __future__ import annotations

import numpy as np

from factormech.arrays import FloatArray
from factormech.local.factorized.factors import LocalFactorization, factorization

# AP has one zero singular value; the others are between 1, as the leaves alone are P, and ‖A‖_F = √(hT).
_SINGULAR = 1e-9


def nodes(domain_size: int) -> FloatArray:
    """A, (nodes, T): for each node below the root that holds a type, where its types are."""
    T, u = domain_size, np.arange(domain_size)
    levels = [u >> bit for bit in range((T - 1).bit_length())][::-1]
    rows = [(np.arange(int(level[-1]) + 1)[:, None] == level).astype(np.float64) for level in levels]
    return np.vstack([np.zeros((0, T)), *rows])


def plain(workload: FloatArray) -> LocalFactorization:
    """Every prefix from the fewest nodes."""
    T = workload.shape[1]
    depth = (T - 1).bit_length()
    sizes = [((T - 1) >> bit) + 1 for bit in range(depth)][::-1]
    starts = np.cumsum([0, *sizes])
    R = np.zeros((T, int(starts[-1])))
    for level in range(depth):
        bit = depth - 1 - level
        t = np.flatnonzero((np.arange(1, T + 1) >> bit) & 1)  # the length is t + 1; its node ends where bit is dropped
        node = ((t + 1) >> bit) - 1
        R[t, starts[level] + node] = 1.0
    shift = np.zeros(T)
    if 1 << depth == T:
        shift[-1] = -1.0  # the root, the number of users being public
    return factorization(workload, R, nodes(T), shift)


def least_squares(workload: FloatArray) -> LocalFactorization:
    """Every prefix from all nodes, with the shortest rows."""
    A = nodes(workload.shape[1])
    centred = A - A.mean(axis=1, keepdims=True)
    R = (workload - workload.mean(axis=1, keepdims=True)) @ np.linalg.pinv(centred, rcond=_SINGULAR)
    return factorization(workload, R, A, (R @ A - workload).mean(axis=1))
