"""Domains of binary attributes, and harmonic analysis on them.

**Harmonic analysis on bit masks.** The n = 2^d characters are χ_s(u) = (−1)^{popcount(s & u)}. A Gram matrix whose
entry (u, v) depends on u ⊕ v only is diagonal in this basis: its n eigenvalues (its *spectrum*, in the order of s)
say all that the n × n entries do.

**Types as rows of d attributes.** Type u is the bit mask of the attributes that hold. Attribute j is bit 2^j.
Families over this domain differ in the sets S ⊆ [d] of attributes that they ask about, chosen by their size; a set is
a bit mask too.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import comb

import numpy as np

from factormech.arrays import FloatArray, IntArray, check_dense_size, check_positive_integer
from factormech.errors import BadValue

# Harmonic analysis on bit masks.


def is_power_of_two(n: int) -> bool:
    """Return whether n = 2^d for some d ≥ 0."""
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


# Types as rows of d attributes.


def reason_against(domain_size: int, k: int = 0) -> str | None:
    """Why no d ≥ k has 2^d = ``domain_size``, or ``None`` where one has."""
    if not is_power_of_two(domain_size):
        below = 1 << (domain_size.bit_length() - 1)
        return (
            f"a domain of binary attributes has a power of two of types, and {domain_size} is none; "
            f"the nearest are {below} and {2 * below}"
        )
    if k >= domain_size.bit_length():
        d = domain_size.bit_length() - 1
        return f"{domain_size} types have {d} binary attributes, fewer than {k}; give at least 2^{k} types"
    return None


def attributes(domain_size: int, k: int = 0) -> int:
    """The number d of attributes of a domain of 2^d types, where d ≥ ``k``."""
    n = check_positive_integer("domain_size", domain_size)
    reason = reason_against(n, check_positive_integer("k", k, minimum=0))
    if reason is not None:
        raise BadValue("domain_size", n, f"be 2^d for some d of at least {k}", reason)
    return n.bit_length() - 1


def sets(d: int, sizes: Iterable[int]) -> IntArray:
    """Masks of the sets of these sizes: size after size, and by increasing mask within one."""
    weight = popcounts(1 << d)
    return np.concatenate([np.flatnonzero(weight == k) for k in sizes])


def count(d: int, sizes: Iterable[int]) -> int:
    """Return the number of sets of these sizes."""
    return sum(comb(d, k) for k in sizes)


def by_size(table: Iterable[int]) -> FloatArray:
    """The vector over masks whose entry at u is ``table[popcount(u)]``, for a table of d + 1 numbers."""
    values = np.array([float(value) for value in table])
    return np.asarray(values[popcounts(1 << (len(values) - 1))])
