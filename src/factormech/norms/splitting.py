r"""Douglas–Rachford splitting of the semidefinite program of approximate norms.

**Nearest points.** The splitting needs them in the boxes, under a diagonal bound, and in the semidefinite cone.

**The splitting.** The value is the least t with

.. math:: \begin{pmatrix}X & \tilde W\\ \tilde W^\top & Y\end{pmatrix} \succeq 0, \quad
          \operatorname{diag}(X), \operatorname{diag}(Y) \le t, \quad L \le \tilde W - c\mathbf 1^\top \le H

(X = RRᵀ, Y = AᵀA). One step projects V into the boxes and lowers its diagonal (Z: entry by entry, t and each c_i by a
one-dimensional search), projects 2Z − V into the cone (S), and adds β(S − Z) to V; that is the alternating direction
method of multipliers, over-relaxed. Multipliers come with it, for any V:

- U = ρ(Z − V) off the diagonal has the signs that the boxes ask for, and U1 = 0 where c is free (c minimises the
  distance): it is feasible for the dual problem of ``boxes`` whatever the accuracy;
- D = ρ(S − 2Z + V) is positive semidefinite, and at the solution D is (D_a, −U; −Uᵀ, D_b): its diagonal holds weights
  that prove γ₂*(U) (``dual``) and from which W̃ is factored (``certify``).

ρ is adapted until the residuals of both problems, relative to their solutions, are alike; the adapting stops after a
while, as convergence is certain for a constant ρ only. The start is the
matrix of the least entries in the boxes, with γ₂'s factors and dual matrix: where that is the answer (``closed_forms``)
the first look proves it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from factormech.arrays import FloatArray, check_dense_size
from factormech.norms import involutions
from factormech.norms.boxes import Boxes
from factormech.norms.exact import factorization_norm
from factormech.norms.involutions import Involution
from factormech.numerics.descent import Anderson
from factormech.numerics.vectors import level as level

# Nearest points.

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


# The splitting.

Stopped = Literal["gap", "iteration_limit"]

_RELAXATION = 1.6
_LOOK_EVERY = 20
_MEMORY = 10
# ρ changes every so many steps, by at most this factor, in the first steps only.
_ADAPT_EVERY, _ADAPT_UNTIL, _ADAPT_MOST = 20, 200, 2.0
_START_GAP = 2e-2


@dataclass(frozen=True)
class Iterate:
    """W̃ in the boxes, its c, a dual matrix U, weights of rows and columns that prove both, and F near (R; Aᵀ)."""

    matrix: FloatArray
    shift: FloatArray
    dual: FloatArray
    row_weights: FloatArray
    column_weights: FloatArray
    root: FloatArray


def solve(boxes: Boxes, iterations: int, enough: Callable[[Iterate], bool]) -> tuple[int, Stopped, str]:
    """Iterate until ``enough`` says so; how many steps, why it stopped, and the symmetry that was used.

    The problem must be ``reduced``: no row fits 0 (or a constant).
    """
    check_dense_size("semidefinite matrices of the splitting", 2 * _MEMORY + 8, sum(boxes.shape), sum(boxes.shape))
    centred, centre = _centred(boxes)
    involution = involutions.find(centred)
    V, rho = start(np.clip(0.0, centred.low, centred.high))
    # What V has beside the symmetry would stay in U, which a cone of symmetric matrices does not see.
    V = involution.mean(V)
    k = len(centre)
    c, before, memory = np.zeros(k), V, Anderson(_MEMORY)
    for iteration in range(1, iterations + 1):
        Z, c = _bounded(V, centred, c, rho)
        reflected = 2.0 * Z - V
        S = into_cone(reflected, involution)
        if iteration == 1 or iteration % _LOOK_EVERY == 0 or iteration == iterations:
            weights = np.maximum(np.diagonal(S) - np.diagonal(reflected), 0.0)
            U = rho * (Z[:k, k:] - V[:k, k:])
            root = root_in_cone(reflected, involution)
            if enough(Iterate(Z[:k, k:], c + centre, U, weights[:k], weights[k:], root)):
                return iteration, "gap", involution.name
        step = _RELAXATION * (S - Z)
        V = memory.next(V + step, step)
        if iteration % _ADAPT_EVERY == 0 and iteration <= _ADAPT_UNTIL:
            factor = imbalance(S, Z, before, S - reflected)
            if factor != 1.0:
                V, rho = S + (V - S) / factor, rho * factor
                memory.forget()
        before = S
    return iterations, "iteration_limit", involution.name


def _centred(boxes: Boxes) -> tuple[Boxes, FloatArray]:
    """The boxes plus a number per row, which c loses, so that rows that are shifted negatives become negatives."""
    if not boxes.shifted:
        return boxes, np.zeros(boxes.shape[0])
    # The tightest bounds of a row: at least one of each kind is finite, or a constant would fit.
    centre = -0.5 * (boxes.low.max(axis=1) + boxes.high.min(axis=1))
    return Boxes(boxes.low + centre[:, None], boxes.high + centre[:, None], True), centre


def start(matrix: FloatArray) -> tuple[FloatArray, float]:
    """V and ρ from the factors and the dual matrix of a matrix inside the boxes."""
    k = len(matrix)
    norm = factorization_norm(matrix, gap=_START_GAP)
    R, A = norm.left.dense(), norm.right.dense()
    balance = np.sqrt(np.linalg.norm(R, axis=1).max() / np.linalg.norm(A, axis=0).max())
    F = np.vstack([R / balance, A.T * balance])
    S, D = F @ F.T, np.zeros((len(F), len(F)))
    w, q = norm.witness["row_weights"], norm.witness["column_weights"]
    D[:k, k:] = -norm.witness["dual"]
    D[k:, :k] = D[:k, k:].T
    D[np.diag_indices(len(D))] = np.concatenate([w / w.sum(), q / q.sum()])
    rho = 0.5 * float(np.linalg.norm(D) / np.linalg.norm(S))
    return S + 0.5 * D / rho, rho


def _bounded(V: FloatArray, boxes: Boxes, c: FloatArray, rho: float) -> tuple[FloatArray, FloatArray]:
    """Z and c: the proximal point of t/ρ over the boxes."""
    k = len(c)
    Z = V.copy()
    Z[:k, k:], c = into_boxes(V[:k, k:], boxes, c)
    Z[k:, :k] = Z[:k, k:].T
    diagonal = np.diagonal(V)
    Z[np.diag_indices(len(Z))] = np.minimum(diagonal, level(diagonal, 1.0 / rho))
    return Z, c


def imbalance(S: FloatArray, Z: FloatArray, before: FloatArray, multiplier: FloatArray) -> float:
    """The factor for ρ: above 1 where the matrices differ by more than the multipliers move."""
    primal = np.linalg.norm(S - Z) / np.linalg.norm(Z)
    dual = np.linalg.norm(S - before) / np.linalg.norm(multiplier)
    if not (primal > 0.0 and dual > 0.0):
        return 1.0
    factor = float(np.clip(np.sqrt(primal / dual), 1.0 / _ADAPT_MOST, _ADAPT_MOST))
    # A change of ρ costs the iteration some of its momentum: small ones are not worth it.
    return factor if abs(np.log(factor)) > 0.18 else 1.0
