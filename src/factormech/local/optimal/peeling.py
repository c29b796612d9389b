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
# Rows are peeled in batches of about this many numbers.
_NUMBERS_AT_ONCE = 2**22


def staircase_rows(strategy: FloatArray, shift: float) -> tuple[BoolArray, FloatArray]:
    """Supports (k, n), each once, and weights θ (k,) of staircase rows that together are the strategy.

    Parameters
    ----------
    strategy
        Q, (m, n), outputs × types.
    shift
        b = e^ε − 1.
    """
    Q = np.asarray(strategy, dtype=float)
    _check(Q, shift)
    n = Q.shape[1]
    batch = max(1, _NUMBERS_AT_ONCE // (n * n))
    parts = [_peel(Q[start : start + batch], shift) for start in range(0, len(Q), batch)]
    supports = np.concatenate([S for S, _ in parts])
    weights = np.concatenate([theta for _, theta in parts])
    return _merged(supports, weights)


def _check(Q: FloatArray, shift: float) -> None:
    if Q.ndim != 2 or 0 in Q.shape or not np.isfinite(Q).all() or Q.min() < 0.0:
        raise BadValue("start", f"array of shape {Q.shape}", "be a matrix of probabilities", "repair it")
    high, low = Q.max(axis=1), Q.min(axis=1)
    if np.any(high > (1.0 + shift) * (1.0 + RATIO_TOLERANCE) * low):
        raise BadValue("start", "a row of larger ratio", "be private at the problem's ε", "give a strategy for this ε")
    off = float(np.abs(Q.sum(axis=0) - 1.0).max())
    if off > 1e-9:
        raise BadValue("column sums of start", 1.0 + off, "be 1 to within 1e-9", "divide its columns by their sums")


def _peel(Q: FloatArray, shift: float) -> tuple[BoolArray, FloatArray]:
    """The level sets of some rows."""
    order = np.argsort(Q, axis=1, kind="stable")
    levels = np.take_along_axis(Q, order, axis=1)
    steps = np.diff(levels, axis=1)
    row, place = np.nonzero(steps > LEVEL_TOLERANCE * levels[:, -1:])
    supports = Q[row] >= levels[row, place + 1][:, None]
    return supports, steps[row, place] / shift


def _merged(supports: BoolArray, weights: FloatArray) -> tuple[BoolArray, FloatArray]:
    """Every set once, with the sum of its weights."""
    if not len(supports):
        return supports, weights
    first = distinct(supports)
    place = {supports[i].tobytes(): k for k, i in enumerate(first)}
    owner = np.array([place[S.tobytes()] for S in supports])
    return supports[first], np.bincount(owner, weights=weights, minlength=len(first)).astype(float)
