"""Minimisation of a smooth function that is infinite outside an open set: L-BFGS with a bracketing line search.

Variables may have lower limits: a step is cut off at them, and a variable that rests on its limit while the function
would fall beyond it stays out of the step.

The search of a step asks for sufficient decrease and a sufficiently increased slope (the weak Wolfe conditions), and
halves or doubles its bracket: an infinite value only says that the step is too long. scipy's searches interpolate
values, and end where they meet an infinite one.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable

import numpy as np

from factormech.arrays import FloatArray

Function = Callable[[FloatArray], tuple[float, FloatArray]]

# Pairs of steps and gradient differences that are kept; steps over which a gain is judged; tries of one step.
MEMORY = 20
PATIENCE = 4
TRIES = 40


def minimise(
    function: Function, start: FloatArray, gain: float, steps: int, lower: FloatArray | float = -math.inf
) -> tuple[FloatArray, float]:
    """The best point found and its value; it ends where ``PATIENCE`` steps gain less than ``gain`` together.

    Parameters
    ----------
    function
        Value and gradient at a point; the gradient of an infinite value is not looked at.
    start
        A point of finite value.
    gain
        What is too little.
    steps
        The most steps taken.
    lower
        The limits.
    """
    x = np.maximum(start, lower)
    f, g = function(x)
    pairs: deque[tuple[FloatArray, FloatArray]] = deque(maxlen=MEMORY)
    history = deque([f], maxlen=PATIENCE + 1)
    for _ in range(steps):
        free = (x > lower) | (g < 0.0)
        direction = np.where(free, _direction(np.where(free, g, 0.0), pairs), 0.0)
        found = _step(function, x, f, g, direction, lower)
        if found is None:
            break
        new, f, slope = found
        s, y = new - x, slope - g
        if s @ y > 1e-14 * float(np.linalg.norm(s) * np.linalg.norm(y)):
            pairs.append((s, y))
        x, g = new, slope
        history.append(f)
        if len(history) > PATIENCE and history[0] - f < gain:
            break
    return x, f


def _direction(g: FloatArray, pairs: deque[tuple[FloatArray, FloatArray]]) -> FloatArray:
    """−Hg by the two loops over the kept pairs; a short step down the gradient where there are none."""
    if not pairs:
        return -g / max(float(np.linalg.norm(g)), 1e-300)
    q, shares = g.copy(), []
    for s, y in reversed(pairs):
        share = (s @ q) / (s @ y)
        q -= share * y
        shares.append(share)
    s, y = pairs[-1]
    q *= (s @ y) / (y @ y)
    for (s, y), share in zip(pairs, reversed(shares), strict=True):
        q += (share - (y @ q) / (s @ y)) * s
    return np.asarray(-q)


def _step(
    function: Function, x: FloatArray, f: float, g: FloatArray, direction: FloatArray, lower: FloatArray | float
) -> tuple[FloatArray, float, FloatArray] | None:
    """A point along the direction with its value and gradient; None where nothing lower is found."""
    slope = float(g @ direction)
    low, high, t = 0.0, math.inf, 1.0
    best = None
    if not slope < 0.0:
        return None
    for _ in range(TRIES):
        new = np.maximum(x + t * direction, lower)
        moved = new - x
        value, gradient = function(new)
        if not value <= f + 1e-4 * min(float(g @ moved), 0.0):
            high = t
        else:
            best = (new, value, gradient)
            if gradient @ moved >= 0.9 * (g @ moved):
                break
            low = t
        t = 0.5 * (low + high) if math.isfinite(high) else 2.0 * low
    return best
