r"""Harmonic analysis on the group of bit masks: characters χ_s(u) = (−1)^{popcount(s & u)}, n = 2^d of them.

A Gram matrix whose entry (u, v) depends on u ⊕ v only is diagonal in this basis: its n eigenvalues (its
*spectrum*, in the order of s) say all that the n × n entries do.
"""

from __future__ import annotations

import numpy as np

from factormech.arrays import FloatArray, IntArray, check_dense_size
from factormech.errors import BadValue


def is_power_of_two(n: int) -> bool:
    """Whether n = 2^d for some d ≥ 0."""
    return n > 0 and n & (n - 1) == 0


def popcounts(n: int) -> IntArray:
    """Number of one-bits of 0, 1, …, n − 1."""
    return np.bitwise_count(np.arange(n)).astype(np.int64)


def transform(x: FloatArray) -> FloatArray:
    r"""Walsh–Hadamard transform: entry s of the result is Σ_u χ_s(u) x_u; a new array, in O(n log n).

    ``x`` has shape (n,) or (n, c), each column on its own. The transform is its own inverse up to a factor n,
    and exact on whole numbers as long as Σ_u |x_u| < 2^53.
    """
    n = len(x)
    if not is_power_of_two(n):
        raise BadValue("length of the first axis", n, "be a power of two", "pad the data with zeros")
    now = np.array(x, dtype=np.float64, order="C")
    other = np.empty_like(now)
    half = 1
    while half < n:
        # One attribute: (a, b) -> (a + b, a - b) for all pairs of masks that differ in this bit alone.
        pairs = (n // (2 * half), 2, half * now[0].size)
        a, b = np.moveaxis(now.reshape(pairs), 1, 0)
        out = other.reshape(pairs)
        np.add(a, b, out=out[:, 0])
        np.subtract(a, b, out=out[:, 1])
        now, other = other, now
        half *= 2
    return now


def spectrum_of(matrix: FloatArray) -> FloatArray | None:
    """The spectrum of a :func:`group_matrix`, up to 1e-10 of its largest entry; None for any other matrix."""
    M = np.asarray(matrix, dtype=float)
    if not is_power_of_two(len(M)):
        return None
    spectrum = transform(M[0])
    most = 1e-10 * float(np.abs(M).max(initial=0.0))
    return spectrum if bool(np.all(np.abs(group_matrix(spectrum) - M) <= most)) else None


def group_matrix(spectrum: FloatArray) -> FloatArray:
    """The dense matrix Σ_s g_s χ_s χ_sᵀ / n of a spectrum g; its (u, v) entry depends on u ⊕ v only."""
    n = len(spectrum)
    check_dense_size("gram matrix", n, n)
    h = transform(spectrum) / n
    M = np.empty((n, n))
    M[0, 0] = h[0]
    half = 1
    while half < n:
        # Setting one more bit of u and of v at once changes no entry: [[A, B], [B, A]], B from the shifted h.
        M[half : 2 * half, :half] = M[:half, half : 2 * half] = _shifted(h, half)
        M[half : 2 * half, half : 2 * half] = M[:half, :half]
        half *= 2
    return M


def _shifted(h: FloatArray, half: int) -> FloatArray:
    u = np.arange(half, dtype=np.int32)
    return np.asarray(h[half:][np.bitwise_xor.outer(u, u)])


def times(spectrum: FloatArray, x: FloatArray) -> FloatArray:
    """The matrix of :func:`group_matrix` times x of shape (n,) or (n, c), by two transforms."""
    g = spectrum if x.ndim == 1 else spectrum[:, None]
    return transform(g * transform(x)) / len(spectrum)


def roots(spectrum: FloatArray) -> FloatArray:
    """Square roots of a spectrum, largest first."""
    return np.sqrt(np.sort(spectrum)[::-1])
