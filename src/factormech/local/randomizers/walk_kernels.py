"""The compiled inner loop of walks (``cap_sums.py``).

Importing this module imports numba (half a second), so its users import it where they need it.
"""

from __future__ import annotations

import math

from factormech.arrays import FloatArray, IntArray
from factormech.compiled import compiled


@compiled()
def join_pairs(square: FloatArray, sizes: IntArray, cosines: FloatArray) -> int:
    """Every walk with its steps joined two by two, in place: ρ² + ρ'² + 2ρρ't; the last of an odd number waits.

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
