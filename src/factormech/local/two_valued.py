"""Strategies whose columns each hold one high and one low probability."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from factormech.arrays import FloatArray
from factormech.privacy import inner_ratio


def two_valued(high: npt.NDArray[np.bool_], epsilon: float) -> FloatArray:
    """Probabilities in the ratio e^ε : 1 where ``high`` (outputs × types) is true and false, columns summing to 1.

    The ratio within a row is e^ε only if all columns have as many true entries, which is the caller's to ensure and
    ``StrategyMatrix`` to verify.
    """
    a = inner_ratio(epsilon)
    m = high.shape[0]
    count = high.sum(axis=0)
    low = 1.0 / (count * a + (m - count))
    return np.asarray(np.where(high, low * a, low))
