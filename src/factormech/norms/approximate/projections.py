"""The nearest points that the splitting needs: in the boxes, under a diagonal bound, in the semidefinite cone."""

from __future__ import annotations

import numpy as np

from factormech.arrays import FloatArray
from factormech.norms.approximate.boxes import Boxes
from factormech.norms.approximate.symmetry import Involution
from factormech.numerics.simplex import level as level

_NEWTON_STEPS = 100
_ROUNDING = 4e-15


def into_boxes(matrix: FloatArray, boxes: Boxes, start: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The nearest W̃ with L ≤ W̃ − c1ᵀ ≤ H, and its c (0 where it is not free); ``start`` is a guess of c."""
    if not boxes.shifted:
        return np.clip(matrix, boxes.low, boxes.high), np.zeros(len(matrix))
    c = shifts(matrix, boxes, start)
    return np.clip(matrix, boxes.low + c[:, None], boxes.high + c[:, None]), c


def shifts(matrix: FloatArray, boxes: Boxes, start: FloatArray) -> FloatArray:
    r"""The best c for each row v: the root of Σ_j (c − v_j + L_j)₊ − Σ_j (v_j − H_j − c)₊, which increases with c.

    It is half the derivative of the squared distance, piecewise linear: Newton's method ends at the root itself once it
    is on the right piece, and a bracket that halves where Newton leaves it ensures that it gets there. At least one
    bound of each kind must be finite in each row.
    """
    low, high = matrix - boxes.low, matrix - boxes.high
    ends = low.min(axis=1), high.max(axis=1)
    left, right = np.minimum(*ends), np.maximum(*ends)
    c = np.clip(start, left, right)
    rounding = _ROUNDING * (right - left + np.maximum(np.abs(left), np.abs(right)))
    rows = np.arange(len(c))
    for _ in range(_NEWTON_STEPS):
        below, above = c[rows, None] - low[rows], high[rows] - c[rows, None]
        value = np.where(below > 0.0, below, 0.0).sum(axis=1) - np.where(above > 0.0, above, 0.0).sum(axis=1)
        slope = np.count_nonzero(below > 0.0, axis=1) + np.count_nonzero(above > 0.0, axis=1)
        left[rows] = np.where(value <= 0.0, c[rows], left[rows])
        right[rows] = np.where(value >= 0.0, c[rows], right[rows])
        step = c[rows] - value / np.maximum(slope, 1)
        inside = (step >= left[rows]) & (step <= right[rows])
        step = np.where(inside, step, 0.5 * (left[rows] + right[rows]))
        moved = np.abs(step - c[rows]) > rounding[rows]
        c[rows] = step
        rows = rows[moved]
        if not len(rows):
            break
    return c


def into_cone(matrix: FloatArray, symmetry: Involution) -> FloatArray:
    """The nearest positive semidefinite matrix that has the symmetry."""
    return symmetry.whole([_positive_part(block) for block in symmetry.blocks(matrix)])


def root_in_cone(matrix: FloatArray, symmetry: Involution) -> FloatArray:
    """F with FFᵀ that same nearest matrix."""
    return symmetry.columns([_root(block) for block in symmetry.blocks(matrix)])


def _root(block: FloatArray) -> FloatArray:
    values, vectors = np.linalg.eigh(block)
    positive = values > len(values) * np.finfo(float).eps * max(abs(values[0]), values[-1])
    return np.asarray(vectors[:, positive] * np.sqrt(values[positive]))


def _positive_part(block: FloatArray) -> FloatArray:
    values, vectors = np.linalg.eigh(block)
    positive = values > 0.0
    # Whichever of the two parts has the lower rank is cheaper to multiply out.
    if 2 * np.count_nonzero(positive) <= len(values):
        factor = vectors[:, positive] * np.sqrt(values[positive])
        return np.asarray(factor @ factor.T)
    factor = vectors[:, ~positive] * np.sqrt(-values[~positive])
    return np.asarray(block + factor @ factor.T)
