"""Compiled inner loops of the symmetric solvers.

Importing this module imports numba (half a second), so its users import it where they need it.
"""

from __future__ import annotations

import numpy as np

from factormech.arrays import FloatArray, IntArray
from factormech.compiled import compiled

# Stages whose pairs lie closer than this are done block by block: a block of 8192 numbers stays in the fast caches.
_BLOCK = 8192


@compiled()
def _stages(x: FloatArray, start: int, stop: int, half: int, end: int) -> None:
    """Butterflies of x[start:stop] from distance ``half`` up to, not including, ``end``, two stages at a time."""
    while 2 * half < end:
        for base in range(start, stop, 4 * half):
            for i in range(base, base + half):
                a, b, c, e = x[i], x[i + half], x[i + 2 * half], x[i + 3 * half]
                p, q, r, s = a + b, a - b, c + e, c - e
                x[i], x[i + half] = p + r, q + s
                x[i + 2 * half], x[i + 3 * half] = p - r, q - s
        half *= 4
    if half < end:
        for base in range(start, stop, 2 * half):
            for i in range(base, base + half):
                a, b = x[i], x[i + half]
                x[i], x[i + half] = a + b, a - b


@compiled()
def transform_in_place(x: FloatArray) -> None:
    """Walsh–Hadamard transform of a vector whose length is a power of two, in place (see ``workloads/walsh.py``)."""
    n = x.size
    block = min(n, _BLOCK)
    for start in range(0, n, block):
        _stages(x, start, start + block, 1, block)
    _stages(x, 0, n, block, n)


@compiled()
def count_reports(
    users: IntArray,
    placements: tuple[FloatArray, IntArray, IntArray, IntArray, IntArray],
    noise: tuple[FloatArray, IntArray, IntArray, IntArray],
    rng: np.random.Generator,
    found: IntArray,
) -> None:
    """Draw a report of each user and count it (``collection.py``).

    ``placements`` are choice, alias, masks (placements, m), where the counts of each begin, and its family; ``noise``
    are π, the words inside and outside of T, and how many these are, by family.
    """
    choice, alias, masks, starts, families = placements
    inside, ones, zeros, sizes = noise
    size = len(choice)
    odd = np.zeros(len(users), dtype=np.int64)
    for u in range(1, len(users)):
        odd[u] = odd[u >> 1] ^ (u & 1)
    for u in range(len(users)):
        for _ in range(users[u]):
            place = int(rng.random() * size)
            if rng.random() >= choice[place]:
                place = alias[place]
            word = 0
            for i in range(masks.shape[1]):
                word |= odd[masks[place, i] & u] << i
            family = families[place]
            x, limit = rng.random(), inside[family]
            if x < limit:
                word ^= ones[family, min(int(x / limit * sizes[family, 0]), sizes[family, 0] - 1)]
            else:
                x = (x - limit) / (1.0 - limit)
                word ^= zeros[family, min(int(x * sizes[family, 1]), sizes[family, 1] - 1)]
            found[starts[place] + word] += 1
