r"""Compiled Metropolis moves of eigenvalues, for :mod:`factormech.mechanisms.pure.eigenvalues`.

Importing this module imports numba (half a second), so its users import it where they need it. The machine code is
cached on disk.
"""

from __future__ import annotations

import math

import numpy as np

from factormech.arrays import FloatArray
from factormech.compiled import compiled

_WANTED = 0.4  # of the proposals, accepted
_BLOCK = 8  # differences are multiplied with one another, so many at a time, and divided once
_LEAST = 1e-100  # products beyond this or its inverse become logarithms: a block more could not overflow


@compiled()
def _sums(values: FloatArray) -> tuple[float, float]:
    """Σλ₊ and Σλ₋; the larger one is the gauge."""
    up, down = 0.0, 0.0
    for x in values:
        if x > 0.0:
            up += x
        else:
            down -= x
    return up, down


@compiled()
def _times(product: float, above: float, below: float) -> tuple[float, float]:
    """The product with above/below, or 1, where it might overflow, and the logarithm that was taken out of it."""
    product *= above / below
    if _LEAST < product < 1.0 / _LEAST:
        return product, 0.0
    return 1.0, math.log(product)


@compiled()
def _log_ratio(old: FloatArray, new: FloatArray) -> float:
    """Σ log((new_i − new_j)/(old_i − old_j)), i > j; −∞ if the order is lost."""
    d = old.size
    for i in range(1, d):
        if new[i] <= new[i - 1]:
            return -math.inf
    total, product = 0.0, 1.0
    for i in range(1, d):
        for first in range(0, i, _BLOCK):
            above, below = 1.0, 1.0
            for j in range(first, min(first + _BLOCK, i)):
                above *= new[i] - new[j]
                below *= old[i] - old[j]
            product, taken = _times(product, above, below)
            total += taken
    return total + math.log(product)


@compiled()
def _single(values: FloatArray, i: int, there: float) -> float:
    """Σ log|(there − λ_j)/(λ_i − λ_j)| over j ≠ i; −∞ beyond a neighbour."""
    d, here = values.size, values[i]
    if (i > 0 and there <= values[i - 1]) or (i < d - 1 and there >= values[i + 1]):
        return -math.inf
    total, product = 0.0, 1.0
    for start, stop in ((0, i), (i + 1, d)):
        for first in range(start, stop, _BLOCK):
            above, below = 1.0, 1.0
            for j in range(first, min(first + _BLOCK, stop)):
                above *= there - values[j]
                below *= here - values[j]
            product, taken = _times(product, above, below)
            total += taken
    return total + math.log(product)


@compiled()
def _move_singles(
    values: FloatArray,
    new: FloatArray,
    unit: bool,
    steps: FloatArray,
    rng: np.random.Generator,
    learning: float,
) -> float:
    """One proposal for each eigenvalue, all others shifted against it if ``unit``; the gauge after them."""
    d = values.size
    up, down = _sums(values)
    for i in range(d):
        move = steps[i] * rng.standard_normal()
        gain = _single(values, i, values[i] + move)
        taken = False
        if gain > -math.inf:
            if unit:  # a common shift changes no difference
                new[:] = values - move / d
                new[i] += move
                more, less = _sums(new)
            else:
                old, there = values[i], values[i] + move
                more = up + (max(there, 0.0) - max(old, 0.0))
                less = down + (max(-there, 0.0) - max(-old, 0.0))
            if math.log(1.0 - rng.random()) < gain - max(more, less) + max(up, down):
                taken = True
                up, down = more, less
                if unit:
                    values[:] = new
                else:
                    values[i] += move
        if learning > 0.0:
            steps[i] *= math.exp(learning * ((1.0 if taken else 0.0) - _WANTED))
    return max(_sums(values))


@compiled()
def sweeps(
    values: FloatArray,
    modes: FloatArray,
    unit: bool,
    steps: FloatArray,
    singles: FloatArray,
    rng: np.random.Generator,
    places: FloatArray,
    interval: int,
    learning: float,
) -> None:
    """Sweeps from the ordered ``values``, one place kept every ``interval`` of them.

    A sweep proposes a centred Gaussian step along each mode, and after each of them one for every eigenvalue.
    ``learning`` > 0 moves the steps towards an acceptance of ``_WANTED``; a chain that is to be used leaves it at 0.
    """
    new = np.empty_like(values)
    here = max(_sums(values))
    for t in range(len(places) * interval):
        for m in range(len(modes)):
            new[:] = values + steps[m] * rng.standard_normal() * modes[m]
            there = max(_sums(new))
            gain = _log_ratio(values, new) - there + here
            taken = math.log(1.0 - rng.random()) < gain
            if taken:
                values[:] = new
                here = there
            if learning > 0.0:
                steps[m] *= math.exp(learning * ((1.0 if taken else 0.0) - _WANTED))
            here = _move_singles(values, new, unit, singles, rng, learning)
        if (t + 1) % interval == 0:
            places[t // interval] = values
