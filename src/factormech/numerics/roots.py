"""Where a condition turns true, and the least whole number at which an error is small enough.

These keep a bracket whose ends are on known sides, so that whoever needs a proof takes the end that has it. For a root
alone, ``scipy.optimize.brentq`` is faster.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from factormech.arrays import FloatArray, IntArray

# A search goes no further at once than to the square of this times as much.
_FURTHEST = 32.0


def bisect(holds: Callable[[float], bool], low: float, high: float, *, halvings: int = 100) -> tuple[float, float]:
    """Return the bracket after the given number of halvings, or earlier where its ends are neighbouring floats.

    ``holds`` is false below some number of [``low``, ``high``] and true above. It is asked of what lies between alone:
    it was false at the lower end returned and true at the upper one, unless they are those given.
    """
    for _ in range(halvings):
        middle = 0.5 * (low + high)
        if not low < middle < high:
            break
        low, high = (low, middle) if holds(middle) else (middle, high)
    return low, high


def bisect_each(
    holds: Callable[[FloatArray, IntArray | slice], FloatArray], low: FloatArray, high: FloatArray, width: float = 0.0
) -> tuple[FloatArray, FloatArray]:
    """Return many brackets, (k,) each, halved side by side until each is at most ``width`` wide.

    ``holds(x, which)`` says it of one number x of each of the brackets ``which``.
    """
    low, high = low.copy(), high.copy()
    while True:
        middle = 0.5 * (low + high)
        wide = (high - low > width) & (low < middle) & (middle < high)
        if not wide.any():
            return low, high
        which = slice(None) if wide.all() else np.flatnonzero(wide)
        x = middle[which]
        above = holds(x, which)
        low[which], high[which] = np.where(above, low[which], x), np.where(above, x, high[which])


def least_whole(error: Callable[[int], float], goal: float, *, smooth: bool = True) -> int:
    """The least n ≥ 1 with ``error(n)`` ≤ ``goal``, for an error that falls with n to less than that.

    Where it is ``smooth``, it is looked for where the line through the ends of the bracket, log error over log n, meets
    log goal; where that does not halve the bracket, and where the error may rise a little, in its middle.
    """
    low, at_low, high, at_high = 0, math.inf, 1, error(1)
    while at_high > goal:
        low, at_low, high = high, at_high, _further(high, at_high, goal) if smooth else 2 * high
        at_high = error(high)
    halve = not smooth
    while high - low > 1:
        width = high - low
        middle = (low + high) // 2 if halve else _between(low, at_low, high, at_high, goal)
        found = error(middle)
        if found <= goal:
            high, at_high = middle, found
        else:
            low, at_low = middle, found
        halve = not smooth or 2 * (high - low) > width
    return high


def _further(n: int, error: float, goal: float) -> int:
    """Return the next n, at least 2n: where an error that falls as 1/√n would reach the goal, but not much further."""
    ratio = min(error / goal, _FURTHEST) if goal > 0.0 else _FURTHEST
    return max(2 * n, math.ceil(n * ratio**2))


def _between(low: int, at_low: float, high: int, at_high: float, goal: float) -> int:
    """Return where power laws through both ends meet the goal, strictly between them; else the middle."""
    if low == 0 or not (math.isfinite(at_low) and at_low > at_high > 0.0 and goal > 0.0):
        return (low + high) // 2
    share = math.log(at_low / goal) / math.log(at_low / at_high)
    return min(max(int(low * math.exp(share * math.log(high / low))), low + 1), high - 1)
