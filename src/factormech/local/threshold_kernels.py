"""Compiled passes for the ℓ1 balls of :mod:`factormech.local.l1_descent`, over all columns of a matrix side by side.

Importing this module imports numba (half a second), so its users import it where they need it. Sums run down the
columns, row by row: one vector operation serves many columns, and no sum is reordered.
"""

from __future__ import annotations

import numpy as np

from factormech.arrays import FloatArray
from factormech.compiled import compiled


@compiled()
def raise_thresholds(A: FloatArray, largest: FloatArray, t: FloatArray, total: FloatArray, count: FloatArray) -> bool:
    """One step of Michelot's method, t ← max(t, (Σ_active m − 1)/#active), m = |a| − max|a|; whether any t moved."""
    total[:] = 0.0
    count[:] = 0.0
    for i in range(A.shape[0]):
        for u in range(A.shape[1]):
            m = abs(A[i, u]) - largest[u]
            active = m > t[u]
            total[u] += m if active else 0.0
            count[u] += 1.0 if active else 0.0
    moved = False
    for u in range(A.shape[1]):
        if t[u] > -np.inf:
            raised = (total[u] - 1.0) / count[u]
            if raised > t[u]:
                t[u] = raised
                moved = True
    return moved


@compiled()
def thresholds(A: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The largest |a| of each column, and the t by which |a| less that is lowered; −∞ for columns within the ball.

    From the largest entry down: only what is less than 1 below it survives, and huge steps keep their digits.
    """
    n = A.shape[1]
    largest, norms = np.zeros(n), np.zeros(n)
    for i in range(A.shape[0]):
        for u in range(n):
            size = abs(A[i, u])
            norms[u] += size
            largest[u] = size if size > largest[u] else largest[u]
    t = np.where(norms > 1.0, -1.0, -np.inf)
    total, count = np.empty(n), np.empty(n)
    while raise_thresholds(A, largest, t, total, count):
        pass
    return largest, t
