r"""Compiled loop of Wolfe's method, for :mod:`factormech.mechanisms.central.projection`.

Importing this module imports numba (half a second), so its users import it where they need it. The machine code is
cached on disk. A corral of s points is kept as the decomposition A = QR of its columns (c, p_i), Q transposed: one
contiguous line for each orthonormal vector.
"""

from __future__ import annotations

import math

import numpy as np

from factormech.arrays import FloatArray, IntArray
from factormech.compiled import compiled

_EPSILON = float(np.finfo(np.float64).eps)
# A new column this close to the span of the others says that rounding, not geometry, asked for it.
_DEPENDENT = 1e-13


@compiled()
def _append(Q: FloatArray, R: FloatArray, s: int, column: FloatArray) -> bool:
    """Take a column into the decomposition; false where it depends on the others."""
    size = column.size
    if s == size or s == len(R):
        return False
    before = math.sqrt(np.dot(column, column))
    R[:s, s] = 0.0
    if s > 0:
        for _ in range(2):  # twice: orthogonal to the last bits
            parts = np.dot(Q[:s], column)
            R[:s, s] += parts
            column -= np.dot(parts, Q[:s])
    length = math.sqrt(np.dot(column, column))
    if length <= _DEPENDENT * before:
        return False
    R[s, :s] = 0.0
    R[s, s] = length
    Q[s] = column / length
    return True


@compiled()
def _drop(Q: FloatArray, R: FloatArray, s: int, i: int) -> None:
    """Take column i of s out again, by rotations of neighbouring lines."""
    for c in range(i, s - 1):
        R[: c + 2, c] = R[: c + 2, c + 1]
    for r in range(i, s - 1):
        length = math.hypot(R[r, r], R[r + 1, r])
        cosine, sine = R[r, r] / length, R[r + 1, r] / length
        R[r, r], R[r + 1, r] = length, 0.0
        for c in range(r + 1, s - 1):
            up, down = R[r, c], R[r + 1, c]
            R[r, c], R[r + 1, c] = cosine * up + sine * down, cosine * down - sine * up
        for c in range(Q.shape[1]):
            up, down = Q[r, c], Q[r + 1, c]
            Q[r, c], Q[r + 1, c] = cosine * up + sine * down, cosine * down - sine * up


@compiled()
def _nearest(Q: FloatArray, R: FloatArray, s: int, right: FloatArray, alpha: FloatArray, other: FloatArray) -> None:
    """Into ``alpha``: the affine weights of the point of aff S nearest to the target; ``right`` is (0, target)."""
    total, slope = 0.0, 0.0
    for r in range(s - 1, -1, -1):
        value, unit = np.dot(Q[r], right), Q[r, 0]
        for c in range(r + 1, s):
            value -= R[r, c] * alpha[c]
            unit -= R[r, c] * other[c]
        alpha[r], other[r] = value / R[r, r], unit / R[r, r]
        total += alpha[r]
        slope += other[r]
    nu = (1.0 - total) / slope
    for r in range(s):
        alpha[r] += nu * other[r]


@compiled()
def _settle(
    Q: FloatArray,
    R: FloatArray,
    s: int,
    right: FloatArray,
    chosen: IntArray,
    lam: FloatArray,
    alpha: FloatArray,
    other: FloatArray,
) -> int:
    """Move to the nearest point of the corral's affine hull, dropping the points whose weights reach 0 on the way."""
    while True:
        _nearest(Q, R, s, right, alpha, other)
        at, smallest = -1, math.inf
        for i in range(s):
            if alpha[i] <= 0.0:
                fall = lam[i] - alpha[i]
                ratio = lam[i] / fall if fall > 0.0 else 0.0
                if ratio < smallest:
                    at, smallest = i, ratio
        if at < 0 or s == 1:
            lam[:s] = alpha[:s]
            return s
        total = 0.0
        for i in range(s):
            lam[i] = max(lam[i] + smallest * (alpha[i] - lam[i]), 0.0)
        _drop(Q, R, s, at)
        for i in range(at, s - 1):
            lam[i], chosen[i] = lam[i + 1], chosen[i + 1]
        s -= 1
        for i in range(s):
            total += lam[i]
        lam[:s] /= total


@compiled()
def _corral(
    points: FloatArray,
    scale: float,
    weights: FloatArray,
    Q: FloatArray,
    R: FloatArray,
    chosen: IntArray,
    lam: FloatArray,
) -> int:
    """Take the points that have weights into the decomposition; how many are independent, and are taken."""
    s, total = 0, 0.0
    column = np.empty(Q.shape[1])
    for i in range(len(points)):
        if weights[i] > 0.0:
            column[0] = scale
            column[1:] = points[i]
            if _append(Q, R, s, column):
                chosen[s], lam[s] = i, weights[i]
                total += weights[i]
                s += 1
    lam[:s] /= total
    return s


@compiled()
def project(
    points: FloatArray,
    squares: FloatArray,
    scale: float,
    radius: float,
    target: FloatArray,
    limit: int,
    weights: FloatArray,
    x: FloatArray,
) -> tuple[float, int]:
    """The nearest point ``x`` of conv(``points``), (N, k), and its ``weights``, (N,); the gap and the steps taken.

    It begins with the corral of the points that have ``weights``, or, where none has, with the nearest point.
    """
    N, k = points.shape
    m = min(N, k + 1)
    Q, R = np.empty((m, k + 1)), np.empty((m, m))
    chosen, lam = np.empty(m, dtype=np.int64), np.empty(m)
    alpha, other = np.empty(m), np.empty(m)
    right, column = np.zeros(k + 1), np.empty(k + 1)
    right[1:] = target
    s = _corral(points, scale, weights, Q, R, chosen, lam)
    j, step, gap = -1, 0, 0.0
    while True:
        if s == 0:
            j = int(np.argmin(squares - 2.0 * np.dot(points, target)))
        if j >= 0:
            repeated = False
            for i in range(s):
                repeated = repeated or chosen[i] == j
            column[0] = scale
            column[1:] = points[j]
            if repeated or not _append(Q, R, s, column):
                break
            chosen[s], lam[s] = j, 1.0 if s == 0 else 0.0
            s += 1
        s = _settle(Q, R, s, right, chosen, lam, alpha, other)
        x[:] = 0.0
        for i in range(s):
            x += lam[i] * points[chosen[i]]
        residual = x - target
        scores = np.dot(points, residual)
        j = int(np.argmin(scores))
        gap = np.dot(residual, x) - scores[j]
        step += 1
        # What rounding makes of a gap of zero.
        noise = 4.0 * _EPSILON * (radius + math.sqrt(np.dot(x, x))) * math.sqrt(np.dot(residual, residual))
        if gap <= noise or step >= limit:
            break
    weights[:] = 0.0
    for i in range(s):
        weights[chosen[i]] = lam[i]
    return max(gap, 0.0), step


@compiled()
def project_all(
    points: FloatArray,
    squares: FloatArray,
    scale: float,
    radius: float,
    targets: FloatArray,
    limit: int,
    weights: FloatArray,
    found: FloatArray,
    gaps: FloatArray,
    steps: IntArray,
) -> None:
    """The same of every line of ``targets``, (t, k), with its own ``weights``."""
    for t in range(len(targets)):
        gaps[t], steps[t] = project(points, squares, scale, radius, targets[t], limit, weights[t], found[t])
