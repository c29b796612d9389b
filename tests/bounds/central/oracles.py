"""Slow and obvious linear programs."""

from __future__ import annotations

import math

import numpy as np
from scipy.optimize import linprog


def lattice_noise(epsilon: float, delta: float, per_unit: int, reach: int, shifts: list[int]) -> float:
    """The least E Z² of noise on {−reach … reach}/per_unit that hides these shifts (in lattice steps), both ways."""
    z = np.arange(-reach * per_unit, reach * per_unit + 1)
    size, a = len(z), math.exp(epsilon)
    rows, limits, blocks = [], [], [(s * sign) for s in shifts for sign in (1, -1)]
    extra = size + reach * per_unit
    columns = size + len(blocks) * 2 * extra
    for i, s in enumerate(blocks):
        first, total = size + i * 2 * extra, np.zeros(columns)
        for j, target in enumerate(range(min(0, s), size + max(0, s))):
            row = np.zeros(columns)
            if 0 <= target - s < size:
                row[target - s] += 1.0
            if 0 <= target < size:
                row[target] -= a
            row[first + j] = -1.0
            total[first + j] = 1.0
            rows.append(row)
            limits.append(0.0)
        rows.append(total)
        limits.append(delta)
    cost = np.zeros(columns)
    cost[:size] = np.square(z / per_unit)
    one = np.zeros((1, columns))
    one[0, :size] = 1.0
    return float(linprog(cost, np.array(rows), limits, one, [1.0]).fun)


def any_mechanism(epsilon: float, delta: float, largest: int, per_unit: int = 2) -> float:
    """The least worst mean square error of releasing a count from 0 to ``largest``, outputs on a lattice."""
    y, u = np.arange(largest * per_unit + 1) / per_unit, np.arange(largest + 1)
    m, a = len(y), math.exp(epsilon)
    pairs = [(i, i + 1) for i in range(largest)] + [(i + 1, i) for i in range(largest)]
    inside = len(u) * m
    columns = inside + len(pairs) * m + 1
    rows, limits = [], []
    for c, (i, j) in enumerate(pairs):
        total = np.zeros(columns)
        for o in range(m):
            row = np.zeros(columns)
            row[i * m + o], row[j * m + o], row[inside + c * m + o] = 1.0, -a, -1.0
            total[inside + c * m + o] = 1.0
            rows.append(row)
            limits.append(0.0)
        rows.append(total)
        limits.append(delta)
    sums = np.zeros((len(u), columns))
    for i in range(len(u)):
        error = np.zeros(columns)
        error[i * m : (i + 1) * m], error[-1] = np.square(y - u[i]), -1.0
        rows.append(error)
        limits.append(0.0)
        sums[i, i * m : (i + 1) * m] = 1.0
    cost = np.zeros(columns)
    cost[-1] = 1.0
    return float(linprog(cost, np.array(rows), limits, sums, np.ones(len(u))).fun)
