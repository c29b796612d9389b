r"""Any strategy as staircase rows: level sets are peeled off each row.

A row q with levels l_0 < … < l_k, l_k ≤ a·l_0, is Σ_j θ_j v_{S_j} + c·1 with S_j = {q ≥ l_j},
θ_j = (l_j − l_{j−1})/(a−1) and c = l_0 − Σθ_j ≥ 0. Splitting rows never makes X smaller; a constant row says nothing,
and without those of all rows the others are scaled up to columns that sum to one again.
"""

from __future__ import annotations

import numpy as np

from factormech.arrays import FloatArray
from factormech.errors import BadValue
from factormech.local.optimal.frame import distinct
from factormech.local.optimal.problem import BoolArray

# Levels of a row that differ by less than this, relatively, are one but for rounding.
LEVEL_TOLERANCE = 1e-13
# A row's ratio may be above e^ε by this, relatively: rounding again.
RATIO_TOLERANCE = 1e-9


def staircase_rows(strategy: FloatArray, shift: float, most: int | None = None) -> tuple[BoolArray, FloatArray]:
    """Supports (k, n), each once, and weights θ (k,) of staircase rows that together are the strategy.

    Parameters
    ----------
    strategy
        Q, (m, n), outputs × types.
    shift
        b = e^ε − 1.
    most
        Only so many, the heaviest (where a set occurs in several rows it may be fewer); none is all of them.
    """
    Q = np.asarray(strategy, dtype=float)
    check(Q, shift)
    levels = np.sort(Q, axis=1)
    steps = np.diff(levels, axis=1)
    row, place = np.nonzero(steps > LEVEL_TOLERANCE * levels[:, -1:])
    weights = steps[row, place] / shift
    if most is not None and len(row) > most:
        heavy = np.sort(np.argsort(-weights, kind="stable")[:most])
        row, place, weights = row[heavy], place[heavy], weights[heavy]
    return _merged(Q[row] >= levels[row, place + 1][:, None], weights)


def check(strategy: FloatArray, shift: float) -> None:
    """Refuse what is no strategy at this budget."""
    Q = strategy
    if Q.ndim != 2 or 0 in Q.shape or not np.isfinite(Q).all() or Q.min() < 0.0:
        raise BadValue("start", f"array of shape {Q.shape}", "be a matrix of probabilities", "repair it")
    high, low = Q.max(axis=1), Q.min(axis=1)
    if np.any(high > (1.0 + shift) * (1.0 + RATIO_TOLERANCE) * low):
        raise BadValue("start", "a row of larger ratio", "be private at the problem's ε", "give a strategy for this ε")
    off = float(np.abs(Q.sum(axis=0) - 1.0).max())
    if off > 1e-9:
        raise BadValue("column sums of start", 1.0 + off, "be 1 to within 1e-9", "divide its columns by their sums")


def _merged(supports: BoolArray, weights: FloatArray) -> tuple[BoolArray, FloatArray]:
    """Every set once, with the sum of its weights."""
    if not len(supports):
        return supports, weights
    first = distinct(supports)
    place = {supports[i].tobytes(): k for k, i in enumerate(first)}
    owner = np.array([place[S.tobytes()] for S in supports])
    return supports[first], np.bincount(owner, weights=weights, minlength=len(first)).astype(float)
