"""The compiled inner loops of draws of one coordinate of uniform unit vectors (``caps.py``), and of walks by them.

Importing this module imports numba (half a second), so its users import it where they need it.
"""

from __future__ import annotations

import math

import numpy as np

from factormech.arrays import FloatArray, IntArray
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
        found[i], pool, left = _draw(edges, heights, power, rng, pool, left)


@compiled()
def join_by_strips(
    square: FloatArray, sizes: IntArray, edges: FloatArray, heights: FloatArray, power: float, rng: np.random.Generator
) -> int:
    """``join_pairs`` with the cosines of ``draw_by_strips``, the same bit for bit, each drawn where it is used."""
    pool, left, at, kept = 0, 0, 0, 0
    for g in range(sizes.size):
        pairs = sizes[g] // 2
        for _ in range(pairs):
            cosine, pool, left = _draw(edges, heights, power, rng, pool, left)
            one, other = square[at], square[at + 1]
            square[kept] = max(one + other + 2.0 * math.sqrt(one * other) * cosine, 0.0)
            at, kept = at + 2, kept + 1
        if sizes[g] % 2 == 1:
            square[kept] = square[at]
            at, kept = at + 1, kept + 1
        sizes[g] -= pairs
    return kept


@compiled()
def _draw(
    edges: FloatArray, heights: FloatArray, power: float, rng: np.random.Generator, pool: int, left: int
) -> tuple[float, int, int]:
    """One draw, and the fair bits that are left: a number with them, and how many."""
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
    return -x if negative else x, pool, left


@compiled()
def join_pairs(square: FloatArray, sizes: IntArray, cosines: FloatArray) -> int:
    """Return every walk with its steps joined two by two, in place: ρ² + ρ'² + 2ρρ't; the last of an odd number waits.

    ``square`` has the squared lengths of all steps, walk by walk, ``sizes`` how many each walk has, which are halved;
    ``cosines`` has a t for each pair. Returns how many steps there are now, at the front of ``square``.
    """
    at, kept, used = 0, 0, 0
    for g in range(sizes.size):
        pairs = sizes[g] // 2
        for _ in range(pairs):
            one, other = square[at], square[at + 1]
            square[kept] = max(one + other + 2.0 * math.sqrt(one * other) * cosines[used], 0.0)
            at, kept, used = at + 2, kept + 1, used + 1
        if sizes[g] % 2 == 1:
            square[kept] = square[at]
            at, kept = at + 1, kept + 1
        sizes[g] -= pairs
    return kept
