"""A compiled pass over a level of a tree of reports, for :mod:`factormech.local.reports`.

Importing this module imports numba (half a second), so its users import it where they need it.
"""

from __future__ import annotations

import numpy as np

from factormech.arrays import FloatArray, IntArray
from factormech.compiled import compiled
from factormech.local.binomial_kernels import binomial, prepared


@compiled()
def split(
    state: IntArray,
    left_share: FloatArray,
    left_joins: IntArray,
    right_joins: IntArray,
    rng: np.random.Generator,
    below: IntArray,
) -> None:
    """Split every count of ``state``, (classes, trials), and add its two parts to the classes of ``below`` they join.

    Of nobody's reports none go left, and no chance is needed for that.
    """
    less, logs = prepared(left_share)
    for place in range(state.shape[0]):
        for trial in range(state.shape[1]):
            number = state[place, trial]
            if number > 0:
                drawn = binomial(number, less[place], logs[place], rng)
                left = drawn if left_share[place] <= 0.5 else number - drawn
                below[left_joins[place], trial] += left
                below[right_joins[place], trial] += number - left
