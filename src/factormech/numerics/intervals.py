"""Estimates with intervals, and the one for a mean of independent draws."""

from __future__ import annotations

import math
from dataclasses import dataclass

from factormech.arrays import FloatArray


@dataclass(frozen=True)
class Estimate:
    """A mean, or its root, with an interval."""

    value: float
    low: float
    high: float

    @property
    def relative_width(self) -> float:
        """(high − low)/value; 0 where nothing varies."""
        return (self.high - self.low) / self.value if self.value > 0.0 else 0.0


def student_half_width(values: FloatArray, level: float) -> float:
    """Half of Student's interval for the mean of the draws, which misses it with probability ``level`` if normal."""
    from scipy.special import stdtrit

    t = len(values)
    return float(stdtrit(t - 1, 1.0 - level / 2.0)) * float(values.std(ddof=1)) / math.sqrt(t)
