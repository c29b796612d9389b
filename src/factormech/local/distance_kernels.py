"""A compiled loop over all pairs of columns, for the sensitivity of matrix mechanisms.

Importing this module imports numba (half a second), so its users import it where they need it.
"""

from __future__ import annotations

from factormech.arrays import FloatArray
from factormech.compiled import compiled

# Lines of a block, and numbers of each that are looked at together: two blocks stay in the cache.
_BLOCK, _CHUNK = 16, 512


@compiled(fastmath={"reassoc", "nsz", "contract"})
def distance(one: FloatArray, other: FloatArray) -> float:
    """‖one − other‖₁; in an order of its own, so that it runs on vectors."""
    total = 0.0
    for i in range(one.size):
        total += abs(one[i] - other[i])
    return total


@compiled()
def largest_l1_distance(lines: FloatArray) -> float:
    """max ‖a_u − a_v‖₁ over the pairs of lines, (n, m) in C order; a sum of absolute differences each."""
    n, m = lines.shape
    largest = 0.0
    for first in range(0, n, _BLOCK):
        for second in range(first, n, _BLOCK):
            u_end, v_end = min(first + _BLOCK, n), min(second + _BLOCK, n)
            for u in range(first, u_end):
                for v in range(max(second, u + 1), v_end):
                    total = 0.0
                    for start in range(0, m, _CHUNK):
                        total += distance(lines[u, start : start + _CHUNK], lines[v, start : start + _CHUNK])
                    largest = max(largest, total)
    return largest
