r"""Fewer rows with the same information: a weighted sum of many vectors in few dimensions needs few of them.

By Carathéodory's theorem Σ w_jf_j over K vectors of N dimensions, w > 0, is also a positive combination of N of them.
They are found in groups, in O(N³ log(K/N) + KN) operations (the idea of Litterer & Lyons, Ann. Appl. Probab. 22(4),
2012): split the vectors into 2N groups, replace each group by its sum, take the weights of N groups to zero along the
null space of the sums, and go on with the vectors of the groups that are left.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg

from factormech.arrays import FloatArray, IntArray


def recombined(features: FloatArray, weights: FloatArray) -> FloatArray:
    """Weights w' ≥ 0, at most N of them positive, with Σw'f = Σwf up to rounding.

    Parameters
    ----------
    features
        f, (K, N).
    weights
        w, (K,), non-negative.
    """
    w = np.array(weights, dtype=float)
    dimension = features.shape[1]
    while True:
        kept = np.flatnonzero(w > 0.0)
        if len(kept) <= dimension:
            return w
        groups = np.array_split(kept, min(2 * dimension, len(kept)))
        sums = np.stack([w[group] @ features[group] for group in groups])
        for group, factor in zip(groups, _sparse_factors(sums), strict=True):
            w[group] *= factor


def _sparse_factors(sums: FloatArray) -> FloatArray:
    """c ≥ 0 with Σ c_jf_j = Σ f_j, f the rows of ``sums``, and at most as many of them positive as the rank."""
    c = np.ones(len(sums))
    null = scipy.linalg.null_space(sums.T)  # (groups, groups − rank), orthonormal
    while null.shape[1]:
        direction = null[:, -1] if null[:, -1].max() > 0.0 else -null[:, -1]
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios = np.where(direction > 0.0, c / direction, np.inf)
        hit = int(np.argmin(ratios))
        c = np.maximum(c - ratios[hit] * direction, 0.0)
        c[hit] = 0.0
        # A reflection takes what the basis says of ``hit`` into its last vector, which goes: the rest leave c_hit at 0.
        row = null[hit].copy()
        row[-1] += np.copysign(np.linalg.norm(row), row[-1])
        null = (null - np.outer(null @ row, 2.0 / (row @ row) * row))[:, :-1]
        null[hit] = 0.0
    return c


def largest_first(weights: FloatArray, share: float) -> IntArray:
    """The fewest entries, largest first, that hold all of the total but ``share`` of it."""
    order = np.argsort(-weights, kind="stable")
    held = np.cumsum(weights[order])
    return np.asarray(np.sort(order[: int(np.searchsorted(held, (1.0 - share) * held[-1])) + 1]))
