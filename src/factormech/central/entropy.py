"""Gaussian noise from the operating system's entropy, for releases of real data: no seed, nothing to repeat."""

from __future__ import annotations

import secrets

import numpy as np
from scipy.special import ndtri

from factormech.arrays import FloatArray

_CHUNK = 1 << 16


def system_gaussians(count: int) -> FloatArray:
    """``count`` standard Gaussians, each from 64 bits of the operating system.

    One bit is the sign; the others, u, give the lower tail (u + ½)2⁻⁶⁴, which the quantile function maps to |z|. The
    law is N(0, 1) but for a grid of 2⁶⁴ quantiles, so nothing beyond 9.1 deviations occurs, and for the rounding of
    the result.
    """
    found = np.empty(count)
    for start in range(0, count, _CHUNK):
        size = min(_CHUNK, count - start)
        bits = np.frombuffer(secrets.token_bytes(8 * size), dtype=np.uint64)
        tail = ((bits >> np.uint64(1)).astype(np.float64) + 0.5) * 2.0**-64
        sign = np.where(bits & np.uint64(1), 1.0, -1.0)
        found[start : start + size] = sign * -ndtri(np.minimum(tail, 0.5))
    return found
