"""Projected gradient steps on ‖R‖_F² over strategies whose columns have ℓ1 norm at most 1.

Notation of :mod:`factormech.local.l1_strategies`; B is a root of C, BᵀB = C.
"""

from __future__ import annotations

import math

import numpy as np

from factormech.arrays import FloatArray
from factormech.numerics.descent import backtracked

_TRIES = 17  # to lengths of 2e-8


def projected_gradient(A: FloatArray, B: FloatArray, steps: int) -> tuple[FloatArray, int, str]:
    """Spectral projected gradient (Birgin, Martínez & Raydan, 2000) on ‖R‖_F² over columns with ‖a_u‖₁ ≤ 1.

    The norm of a column bounds half of Δ₁, and optimal columns fill that bound; A itself needs no
    centre, as AP is all that ‖R‖_F² sees. Returns the best point met, the number of steps, and why they
    ended.
    """
    A = project_columns(A)
    start = Energy(A, B)
    if not math.isfinite(start.value):
        return A, 0, "no finite start"
    f, g = start.value, start.gradient()
    best, best_f, recent = A, f, [f]
    length = 1.0 / max(float(np.abs(project_columns(A - g / f) - A).max()), 1e-9) / f
    for step in range(steps):
        D = project_columns(A - length * g) - A
        slope = float(np.sum(g * D))
        if -slope <= 1e-9 * f:
            return best, step, "stationary"
        moved = _line_search(A, D, slope, max(recent[-8:]), B)
        if moved is None:
            return best, step, "no descent left"
        A_next, f, g_next = moved
        S, Y = A_next - A, g_next - g
        curvature = float(np.sum(S * Y))
        length = float(np.sum(S * S)) / curvature if curvature > 0 else 4.0 * length
        A, g = A_next, g_next
        recent.append(f)
        if f < best_f:
            best, best_f = A, f
    return best, steps, "steps used up"


def _line_search(
    A: FloatArray, D: FloatArray, slope: float, ceiling: float, B: FloatArray
) -> tuple[FloatArray, float, FloatArray] | None:
    """First of A + D, A + D/3, … that is enough below the worst of the recent values; ``None`` if none is."""

    def attempt(t: float) -> tuple[float, tuple[FloatArray, Energy]]:
        A_next = A + t * D
        energy = Energy(A_next, B)
        return energy.value, (A_next, energy)

    found = backtracked(attempt, ceiling, slope, factor=1.0 / 3.0, tries=_TRIES)
    return (found[2][0], found[1], found[2][1].gradient()) if found else None


class Energy:
    """f = ‖BX^{1/2}‖_F², X = (PAᵀAP + s11ᵀ)⁻¹, and on demand its gradient, which costs more than f itself.

    B1 = 0 makes f independent of s > 0. The ``value`` is not finite (∞) where AP has rank below n − 1.
    """

    def __init__(self, A: FloatArray, B: FloatArray) -> None:
        from scipy.linalg import lapack

        self._centred = A - A.mean(axis=1, keepdims=True)
        M = self._centred.T @ self._centred
        M += np.trace(M) / M.shape[0] ** 2
        # M is its own transpose, which is in LAPACK's order; OpenBLAS is faster with upper triangles.
        self._factor, failed = lapack.dpotrf(M.T, clean=0, overwrite_a=1)
        self._half, self.value = B.T, math.inf
        if not failed:
            self._half, _ = lapack.dtrtrs(self._factor, B.T, trans=1)
            self.value = float(np.vdot(self._half.T, self._half.T))

    def gradient(self) -> FloatArray:
        """−2AP·YYᵀ, Y = XBᵀ; only where the value is finite."""
        from scipy.linalg import lapack

        Y, _ = lapack.dtrtrs(self._factor, self._half)
        gradient = self._centred @ (Y @ Y.T)
        gradient *= -2.0
        return np.asarray(gradient)


def project_columns(A: FloatArray) -> FloatArray:
    """Nearest matrix with columns of ℓ1 norm at most 1: soft thresholds by Michelot's active sets (1986)."""
    from factormech.local.threshold_kernels import thresholds

    shift, t = thresholds(np.ascontiguousarray(A))
    outside = np.flatnonzero(t > -np.inf)
    if not outside.size:
        return A
    every = outside.size == A.shape[1]
    moved = A if every else A[:, outside]
    m = np.abs(moved)
    m -= shift[outside]
    m -= t[outside]
    found = np.copysign(np.maximum(m, 0.0, out=m), moved, out=m)
    if every:
        return np.asarray(found)
    projected = A.copy()
    projected[:, outside] = found
    return projected
