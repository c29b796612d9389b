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
    """Walsh–Hadamard transform of a vector whose length is a power of two, in place (see ``workloads/binary.py``)."""
    n = x.size
    block = min(n, _BLOCK)
    for start in range(0, n, block):
        _stages(x, start, start + block, 1, block)
    _stages(x, 0, n, block, n)


# A uniform number is a multiple of 2⁻⁵³: so many fair bits.
_BITS, _ALL_BITS = 53, 2.0**53


@compiled()
def count_free(users: IntArray, places: IntArray, points: IntArray, rng: np.random.Generator, found: IntArray) -> None:
    """Count a uniform word for each of ``users`` by placement; ``points`` has the number of words by family."""
    for place in range(len(users)):
        start, size = places[place, 0], points[places[place, 1]]
        bits = 0
        while 1 << bits < size:
            bits += 1
        pool, left = 0, 0
        for _ in range(users[place]):
            if left < bits:
                pool, left = int(rng.random() * _ALL_BITS), _BITS
            found[start + (pool & (size - 1))] += 1
            pool, left = pool >> bits, left - bits


@compiled()
def _own_word(places: IntArray, place: int, odd: IntArray, u: int) -> int:
    """Au."""
    word = 0
    for i in range(places.shape[1] - 2):
        word |= odd[places[place, i + 2] & u] << i
    return word


@compiled()
def parities(n: int) -> IntArray:
    """Return whether the numbers below n have an odd number of bits."""
    odd = np.zeros(n, dtype=np.int64)
    for u in range(1, n):
        odd[u] = odd[u >> 1] ^ (u & 1)
    return odd


@compiled()
def count_forced(
    users: IntArray,
    tables: tuple[FloatArray, IntArray],
    places: IntArray,
    ones: IntArray,
    sizes: IntArray,
    rng: np.random.Generator,
    found: IntArray,
) -> None:
    """Draw a placement, by alias ``tables``, and a word of Au ⊕ T for each of ``users`` by type, and count it."""
    choice, alias = tables
    size, odd = len(choice), parities(len(users))
    for u in range(len(users)):
        for _ in range(users[u]):
            place = int(rng.random() * size)
            if rng.random() >= choice[place]:
                place = alias[place]
            start, family = places[place, 0], places[place, 1]
            which = int(rng.random() * sizes[family]) if sizes[family] > 1 else 0
            found[start + (_own_word(places, place, odd, u) ^ ones[family, which])] += 1


@compiled()
def count_placed(
    u: int,
    users: IntArray,
    places: IntArray,
    ones: IntArray,
    sizes: IntArray,
    odd: IntArray,
    rng: np.random.Generator,
    found: IntArray,
) -> None:
    """Count a word of Au ⊕ T for each of ``users`` of the type u by placement."""
    for place in range(len(users)):
        start, family = places[place, 0], places[place, 1]
        word = _own_word(places, place, odd, u)
        if sizes[family] == 1:
            found[start + (word ^ ones[family, 0])] += users[place]
        else:
            for _ in range(users[place]):
                found[start + (word ^ ones[family, int(rng.random() * sizes[family])])] += 1
