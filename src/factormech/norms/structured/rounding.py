"""Ends that hold in exact arithmetic: what a count of roundings does to a number, and sums rounded outward."""

from __future__ import annotations

import math

import numpy as np

from factormech.arrays import FloatArray

UNIT = 2.0**-53
# A numpy power or root is taken to be within this many roundings of the true value (its documented error is below one).
POWER = 4


def growth(roundings: float) -> float:
    """An upper bound of (1 − 2⁻⁵³)^{−roundings}, the factor by which so many roundings can change a positive number.

    (1 − u)^{−k} ≤ 1/(1 − ku) ≤ 1 + 1.001 ku for ku ≤ 10⁻³; two more roundings pay for this formula's own.
    """
    return 1.0 + 1.001 * (roundings + 2.0) * UNIT


def total(values: FloatArray) -> float:
    """The sum of the floats, rounded once."""
    return math.fsum(values.tolist())


def norm(values: FloatArray, order: float) -> tuple[float, float]:
    """‖values‖ of an order ≥ 1 of positive floats, and the number of roundings within which it is right."""
    if math.isinf(order):
        return float(values.max()), 0.0
    if order == 1.0:
        return total(values), 1.0
    # Powers of values ÷ largest cannot overflow; an underflow only concerns entries that do not count.
    largest = float(values.max())
    powers = np.power(values / largest, order)
    # A rounding of the quotient counts `order` times in its power, and the root divides the whole by `order`.
    return largest * total(powers) ** (1.0 / order), 1.0 + (POWER + 1.0) / order + POWER + 2.0
