"""Projected gradient steps on ‖R‖_F² over strategies whose columns have ℓ1 norm at most 1.

Notation of :mod:`factormech.local.l1_strategies`; B is a root of C, BᵀB = C.
"""

from __future__ import annotations

import math

import numpy as np

from factormech.arrays import FloatArray


def projected_gradient(A: FloatArray, B: FloatArray, steps: int) -> tuple[FloatArray, int, str]:
    """Spectral projected gradient (Birgin, Martínez & Raydan, 2000) on ‖R‖_F² over columns with ‖a_u‖₁ ≤ 1.

    The norm of a column bounds half of Δ₁, and optimal columns fill that bound; A itself needs no
    centre, as AP is all that ‖R‖_F² sees. Returns the best point met, the number of steps, and why they
    ended.
    """
    A = project_columns(A)
    f, g = energy_and_gradient(A, B)
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
    t = 1.0
    while t > 1e-8:
        A_next = A + t * D
        f, g = energy_and_gradient(A_next, B)
        if f <= ceiling + 1e-4 * t * slope:
            return A_next, f, g
        t /= 3.0
    return None


def energy_and_gradient(A: FloatArray, B: FloatArray) -> tuple[float, FloatArray]:
    """f = ‖BX^{1/2}‖_F² and its gradient −2AP·YYᵀ, Y = XBᵀ, X = (PAᵀAP + s11ᵀ)⁻¹.

    B1 = 0 makes f independent of s > 0. Not finite (∞) where AP has rank below n − 1.
    """
    from scipy.linalg import lapack

    centred = A - A.mean(axis=1, keepdims=True)
    M = centred.T @ centred
    M += np.trace(M) / M.shape[0] ** 2
    factor, failed = lapack.dpotrf(M, lower=1, clean=0)
    if failed:
        return math.inf, centred
    half, _ = lapack.dtrtrs(factor, B.T, lower=1)
    Y, _ = lapack.dtrtrs(factor, half, lower=1, trans=1)
    return float(np.sum(half * half)), -2.0 * centred @ (Y @ Y.T)


def project_columns(A: FloatArray) -> FloatArray:
    """Nearest matrix with columns of ℓ1 norm at most 1: soft thresholds by Michelot's active sets (1986)."""
    magnitudes = np.abs(A)
    outside = np.flatnonzero(magnitudes.sum(axis=0) > 1.0)
    if not outside.size:
        return A
    # From the largest entry down: only what is less than 1 below it survives, and huge steps keep their
    # digits.
    m = magnitudes[:, outside]
    m -= m.max(axis=0)
    t = np.full(outside.size, -1.0)
    while True:
        active = m > t
        raised = np.maximum(t, (np.where(active, m, 0.0).sum(axis=0) - 1.0) / active.sum(axis=0))
        if np.array_equal(raised, t):
            break
        t = raised
    projected = A.copy()
    projected[:, outside] = np.copysign(np.maximum(m - t, 0.0), A[:, outside])
    return projected
