r"""Compiled Metropolis moves of eigenvalues, for :mod:`factormech.central.pure.eigenvalues`.

Importing this module imports numba (half a second), so its users import it where they need it. The machine code is
cached on disk.
"""

from __future__ import annotations

import math

import numpy as np

from factormech.arrays import FloatArray
from factormech.local.column_kernels import compiled

_WANTED = 0.4  # of the proposals, accepted


@compiled()
def _gauge(values: FloatArray) -> float:
    up, down = 0.0, 0.0
    for x in values:
        if x > 0.0:
            up += x
        else:
            down -= x
    return max(up, down)


@compiled()
def _log_ratio(old: FloatArray, new: FloatArray) -> float:
    """Σ log((new_i − new_j)/(old_i − old_j)), i > j; −∞ if the order is lost."""
    d = old.size
    for i in range(1, d):
        if new[i] <= new[i - 1]:
            return -math.inf
    total = 0.0
    for i in range(1, d):
        product = 1.0
        for j in range(i):
            product *= (new[i] - new[j]) / (old[i] - old[j])
            if (j & 7) == 7:  # a few ratios cannot overflow; all of a line might
                total += math.log(product)
                product = 1.0
        total += math.log(product)
    return total


@compiled()
def _single(values: FloatArray, i: int, there: float) -> float:
    """Σ log|(there − λ_j)/(λ_i − λ_j)| over j ≠ i; −∞ beyond a neighbour."""
    d, here = values.size, values[i]
    if (i > 0 and there <= values[i - 1]) or (i < d - 1 and there >= values[i + 1]):
        return -math.inf
    total, product = 0.0, 1.0
    for j in range(d):
        if j != i:
            product *= (there - values[j]) / (here - values[j])
        if (j & 7) == 7:
            total += math.log(product)
            product = 1.0
    return total + math.log(product)


@compiled()
def _move_singles(
    values: FloatArray,
    new: FloatArray,
    here: float,
    unit: bool,
    steps: FloatArray,
    rng: np.random.Generator,
    learning: float,
) -> float:
    """One proposal for each eigenvalue, all others shifted against it if ``unit``; the gauge after them."""
    d = values.size
    for i in range(d):
        move = steps[i] * rng.standard_normal()
        gain = _single(values, i, values[i] + move)
        taken = False
        if gain > -math.inf:
            # A common shift changes no difference.
            new[:] = values - (move / d if unit else 0.0)
            new[i] += move
            there = _gauge(new)
            if math.log(1.0 - rng.random()) < gain - there + here:
                taken = True
                values[:] = new
                here = there
        if learning > 0.0:
            steps[i] *= math.exp(learning * ((1.0 if taken else 0.0) - _WANTED))
    return here


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
    here = _gauge(values)
    for t in range(len(places) * interval):
        for m in range(len(modes)):
            new[:] = values + steps[m] * rng.standard_normal() * modes[m]
            there = _gauge(new)
            gain = _log_ratio(values, new) - there + here
            taken = math.log(1.0 - rng.random()) < gain
            if taken:
                values[:] = new
                here = there
            if learning > 0.0:
                steps[m] *= math.exp(learning * ((1.0 if taken else 0.0) - _WANTED))
            here = _move_singles(values, new, here, unit, singles, rng, learning)
        if (t + 1) % interval == 0:
            places[t // interval] = values
