"""Intervals for the mean of independent draws."""

from __future__ import annotations

import math

from factormech.arrays import FloatArray


def student_half_width(values: FloatArray, level: float) -> float:
    """Half of Student's interval for the mean of the draws, which misses it with probability ``level`` if normal."""
    from scipy.special import stdtrit

    t = len(values)
    return float(stdtrit(t - 1, 1.0 - level / 2.0)) * float(values.std(ddof=1)) / math.sqrt(t)
