r"""The least expected largest error of a posterior with little Fisher information: the constants C_r of Theorem E.

For a density u² on ℝʳ, μ > 0 and T = ‖x‖_∞ let 4μ = 1 by a choice of units. For every continuous, piecewise smooth
field F, ∫|∇u + uF|² ≥ 0 gives ∫|∇u|² ≥ ∫u²(div F − |F|²). With F_i = (θ/T)tan(θx_i/T), θ = θ(T), and b(t) = θ tan θ/t
the right side is E G(T),

.. math:: G(t) = (r-1)\frac{\theta^2}{t^2} + b' - b^2 ,

as only the largest coordinate sees b change. So E T + ∫|∇u|² ≥ e for every e ≤ inf_t t + G(t), and with S the trace of
the information of u², E T ≥ max_μ e(4μ)^{1/3} − μS = (4/(3√3))e^{3/2}/√S = C_r√(r/S). At the best e the function b
solves b' = b² − (r−1)θ²/t² + e − t from b(0) = 0 and falls to 0 no earlier than at t = e; from there on b = 0.
C_r → π, which the densities Πcos²(πx_i/2τ) on a box attain.

The equation is solved on a grid in floating point; e is then lowered to what the piecewise linear b certifies on every
interval: b/t is monotone on each, and θ²/y, y = θ tan θ, falls in y.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from factormech.arrays import FloatArray, IntArray

# Steps up to t = e, 8 for each row where those are more; parts of each where the bound is evaluated; values of e that
# are tried at once, and how often.
_STEPS, _PARTS, _TRIED, _ROUNDS = 1200, 4, 40, 4
# The equation is solved up to this multiple of e.
_BEYOND = 3.0
# A solution of this size blows up; relative rounding of all that is evaluated.
_BLOWN, _MARGIN = 1e5, 1e-10
_ANGLES = np.concatenate([[0.0], np.geomspace(1e-6, 0.5 * math.pi * (1.0 - 1e-7), 60_000)])
_VALUES = _ANGLES * np.tan(_ANGLES)


@lru_cache(maxsize=64)
def box_constant(rows: int) -> float:
    """C_r, rounded down, for r ≥ 1."""
    best = 0.0
    low, high = 0.5, 1.1 * (27.0 * math.pi**2 / 16.0 * rows) ** (1.0 / 3.0) + 1.0
    for _ in range(_ROUNDS):
        tried = np.linspace(low, high, _TRIED)
        t, b, ends = _solutions(tried, rows)
        good = np.flatnonzero(ends)
        if not len(good):
            break
        last = int(good[-1])
        for i in good[-3:]:
            best = max(best, certified(t[: ends[i] + 1, i], b[: ends[i] + 1, i], rows))
        low, high = float(tried[last]), float(tried[min(last + 1, _TRIED - 1)])
    return 4.0 / (3.0 * math.sqrt(3.0)) * best * math.sqrt(best / rows) * (1.0 - _MARGIN)


def about(rows: IntArray) -> FloatArray:
    """C_r to some per cent, for a search."""
    root = np.asarray(rows, dtype=float) ** (-1.0 / 3.0)
    return np.asarray(math.pi * (1.0 - root * (1.0 - 0.26 * root)))


def certified(t: FloatArray, b: FloatArray, rows: int) -> float:
    """A lower bound on inf_t t + G(t) for the piecewise linear b ≥ 0 with b(0) = 0, and b = 0 after the last knot."""
    slope = np.repeat(np.diff(b) / np.diff(t), _PARTS)
    shares = np.arange(_PARTS * (len(t) - 1) + 1) / _PARTS
    t, b = np.interp(shares, np.arange(len(t)), t), np.interp(shares, np.arange(len(b)), b)
    ratio = b / np.where(t > 0.0, t, 1.0)
    ratio[0] = ratio[1]
    highest = np.maximum(b[1:], b[:-1])
    y = t[1:] * highest
    flat = _theta(y) ** 2 / np.where(y > 0.0, y, 1.0)
    flat[y <= 0.0] = 0.0
    values = t[:-1] + (rows - 1) * flat * np.minimum(ratio[1:], ratio[:-1]) + slope - highest**2
    return min(float(values.min()), float(t[-1])) * (1.0 - _MARGIN)


def _theta(y: FloatArray) -> FloatArray:
    """Lower bounds on the θ < π/2 with θ tan θ = y ≥ 0: the knot of the table before it."""
    index = np.searchsorted(_VALUES, y, side="right") - 1
    theta = _ANGLES[index]
    # Newton's step from below on the convex θ tan θ goes too far; a step with the slope of the next knot does not.
    following = np.minimum(index + 1, len(_ANGLES) - 1)
    rise = _VALUES[following] - _VALUES[index]
    width = _ANGLES[following] - theta
    chord = theta + np.where(rise > 0.0, (y - _VALUES[index]) / np.where(rise > 0.0, rise, 1.0) * width, 0.0)
    # The chord of a convex function is above it, so θ is above the chord's point.
    return np.asarray(np.minimum(chord, _ANGLES[-1]) * (1.0 - 1e-12))


def _solutions(e: FloatArray, rows: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Knots t and b of the equation for every e, (knots, tried), and the knot at which b falls to 0; 0 where none.

    Up to (r−1)/2.5 steps, where the equation is stiff, b = et/r − t²/(r+1), right to the third order in t.
    """
    steps = max(_STEPS, 8 * rows)
    count, h = int(_BEYOND * steps), e / steps
    start = 1 + math.ceil((rows - 1) / 2.5)
    t = np.arange(count + 1)[:, None] * h
    b = e / rows * t - t**2 / (rows + 1)
    for k in range(start, count):
        now, at = t[k], b[k]
        first = _rate(now, at, e, rows)
        second = _rate(now + 0.5 * h, at + 0.5 * h * first, e, rows)
        third = _rate(now + 0.5 * h, at + 0.5 * h * second, e, rows)
        step = first + 2.0 * second + 2.0 * third + _rate(now + h, at + h * third, e, rows)
        b[k + 1] = np.clip(at + h / 6.0 * step, -1.0, _BLOWN)
    over = np.logical_or.accumulate(b >= _BLOWN, axis=0)
    down = (b <= 0.0) & ~over
    down[: start + 1] = False
    ends = np.where(down.any(axis=0), down.argmax(axis=0), 0)
    b[ends[ends > 0], np.flatnonzero(ends)] = 0.0
    return t, b, ends


def _rate(t: FloatArray, b: FloatArray, e: FloatArray, rows: int) -> FloatArray:
    """b' = b² − (r−1)θ²/t² + e − t."""
    y = t * np.clip(b, 0.0, _BLOWN)
    theta = np.interp(y, _VALUES, _ANGLES)
    return np.asarray(np.minimum(b, _BLOWN) ** 2 - (rows - 1) * (theta / t) ** 2 + e - t)
