"""Compiled loops of the lower bounds. Importing this module imports numba, so modules import it inside functions.

**Matrix products without lost digits.** Every sum is a pair of doubles.
"""

from __future__ import annotations

from typing import TypeAlias

from factormech.arrays import FloatArray
from factormech.compiled import compiled

# Matrix products without lost digits.

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


# Searches of certificates.

# Value, gradient (2) and Hessian (3).
State: TypeAlias = tuple[float, float, float, float, float, float]

_NEWTON_STEPS = 60
_HALVINGS = 30


@compiled()
def _row_state(v: FloatArray, w: FloatArray, theta: float, c: float, s: float) -> State:
    """Half the squared distance of v from [c + sw ∓ (s−1)θ], its gradient in (c, s) and its generalised Hessian."""
    value, gc, gs, hcc, hcs, hss = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    slack = (s - 1.0) * theta
    for j in range(v.size):
        middle = c + s * w[j]
        low, high = middle - slack - v[j], middle + slack - v[j]
        if low > 0.0:
            e, d = low, w[j] - theta
        elif high < 0.0:
            e, d = high, w[j] + theta
        else:
            continue
        value += 0.5 * e * e
        gc += e
        gs += e * d
        hcc += 1.0
        hcs += d
        hss += d * d
    return value, gc, gs, hcc, hcs, hss


@compiled()
def _row_step(state: State, s: float) -> tuple[float, float]:
    """Newton's step in (c, s), along c alone where s = 1 would fall."""
    _, gc, gs, hcc, hcs, hss = state
    if s <= 1.0 and gs >= 0.0:
        return -gc / max(hcc, 1.0), 0.0
    ridge = 1e-14 * (hcc + hss)
    a, d = hcc + ridge, hss + ridge
    det = a * d - hcs * hcs
    dc, ds = -(d * gc - hcs * gs) / det, -(a * gs - hcs * gc) / det
    if s <= 1.0 and ds < 0.0:
        return -gc / max(hcc, 1.0), 0.0
    return dc, ds


@compiled()
def nearest_scales(V: FloatArray, W: FloatArray, theta: float, c: FloatArray, s: FloatArray, tolerance: float) -> None:
    """(c, s ≥ 1) of the nearest matrix with |W̃_v − c_v − s_vW_v| ≤ (s_v − 1)θ, row by row, in place.

    Newton's method on a convex piecewise quadratic function of two variables, its steps halved until it falls.
    """
    for i in range(V.shape[0]):
        v, w = V[i], W[i]
        state = _row_state(v, w, theta, c[i], s[i])
        for _ in range(_NEWTON_STEPS):
            if abs(state[1]) <= tolerance and (abs(state[2]) <= tolerance or (s[i] <= 1.0 and state[2] >= 0.0)):
                break
            dc, ds = _row_step(state, s[i])
            length = 1.0
            if ds < 0.0 and s[i] + ds < 1.0:
                length = (1.0 - s[i]) / ds
            better = False
            for _ in range(_HALVINGS):
                trial_s = max(s[i] + length * ds, 1.0)
                trial = _row_state(v, w, theta, c[i] + length * dc, trial_s)
                if trial[0] < state[0]:
                    c[i] += length * dc
                    s[i] = trial_s
                    state = trial
                    better = True
                    break
                length *= 0.5
            if not better:
                break
