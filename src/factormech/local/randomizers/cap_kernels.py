"""The compiled inner loop of draws of one coordinate of uniform unit vectors (``caps.py``).

Importing this module imports numba (half a second), so its users import it where they need it.
"""

from __future__ import annotations

import math

import numpy as np

from factormech.arrays import FloatArray
from factormech.compiled import compiled

# A uniform number is a multiple of 2⁻⁵³: so many fair bits, of which a strip and a sign take nine.
_BITS, _ALL_BITS = 53, 2.0**53
_TAKEN = 9


@compiled()
def draw_by_strips(
    edges: FloatArray, heights: FloatArray, power: float, rng: np.random.Generator, found: FloatArray
) -> None:
    """Fill ``found`` with draws from the density ∝ (1−t²)^power, by its 256 strips: edges x, heights y."""
    pool, left = 0, 0
    for i in range(found.size):
        while True:
            if left < _TAKEN:
                pool, left = int(rng.random() * _ALL_BITS), _BITS
            strip, negative = pool & 255, pool & 256
            pool, left = pool >> _TAKEN, left - _TAKEN
            x = rng.random() * edges[strip]
            if x < edges[strip + 1]:
                break
            y = heights[strip] + rng.random() * (heights[strip + 1] - heights[strip])
            if y < math.exp(power * math.log1p(-x * x)):
                break
        found[i] = -x if negative else x
