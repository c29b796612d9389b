"""A compiled matrix product of which no rounding is lost: every sum is two doubles."""

from __future__ import annotations

from factormech.arrays import FloatArray
from factormech.compiled import compiled

# 2^27 + 1 splits a double into two of at most 26 bits, the products of which are exact (Dekker, Veltkamp).
_SPLIT = 134217729.0
# Rows of B that stay in the cache while all rows of A pass.
_BLOCK = 32


@compiled()
def add_product(A: FloatArray, B: FloatArray, high: FloatArray, low: FloatArray) -> None:
    """``high`` + ``low`` += AB: the rounding error of every product and every sum goes to ``low``."""
    n, inner, m = A.shape[0], A.shape[1], B.shape[1]
    for start in range(0, inner, _BLOCK):
        for i in range(n):
            for k in range(start, min(start + _BLOCK, inner)):
                a = A[i, k]
                c = _SPLIT * a
                a_high = c - (c - a)
                a_low = a - a_high
                for j in range(m):
                    b = B[k, j]
                    d = _SPLIT * b
                    b_high = d - (d - b)
                    b_low = b - b_high
                    p = a * b
                    error = a_low * b_low - (((p - a_high * b_high) - a_low * b_high) - a_high * b_low)
                    h = high[i, j]
                    s = h + p
                    z = s - h
                    high[i, j] = s
                    low[i, j] += ((h - (s - z)) + (p - z)) + error
