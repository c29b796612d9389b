r"""Both ends of the interval of a problem of ``boxes``, valid in exact arithmetic.

*Lower end.* U is made feasible exactly and its numerator is summed from L and H with all roundings counted; γ₂*(U) is
bounded from above by scaling (``dual``; Edmonds, Nikolov & Ullman, STOC 2020). Where c is free U1 = 0 must hold without
any rounding, as c is unbounded: U is rounded to whole multiples of a power of two, whose sums are exact, and what a
row still sums to is taken from its largest entry. A row that this would make infeasible is set to zero.

*Upper end.* R and A are any floats, P = RA, and E the distance of P − c1ᵀ from the boxes, entrywise at most v. Then
W̃ = P + E = [R | τI][A; E/τ] is feasible, and r_i + τ², a_j + ‖E_j‖²/τ² bound the squared norms of its factors. v counts
the rounding of the product, γ√(r_ia_j), of the subtraction, and of the bounds themselves.
"""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np

from factormech.arrays import FloatArray
from factormech.norms import certify, dual
from factormech.norms.approximate import projections
from factormech.norms.approximate.boxes import Boxes
from factormech.norms.approximate.splitting import Iterate
from factormech.numerics.rounding import (
    TINY,
    UNIT,
    above,
    below,
    gamma,
    inner_product_below,
    squared_norms_above,
)

# R, A and the shift c of RA.
Factored: TypeAlias = tuple[FloatArray, FloatArray, FloatArray]

# Weights are raised to this fraction of their mean: it costs as much of either end, and divides by nothing smaller.
_WEIGHT_FLOOR = 1e-9
# Ascent steps spent on γ₂* at a look, which cost as much as a few decompositions, and from how many gaps away.
_ASCENT, _NEARLY = 50, 4.0


def lower_end(boxes: Boxes, iterate: Iterate, upper: float, gap: float) -> tuple[float, FloatArray]:
    """The lower end, and a feasible U that attains it with γ₂*(U) ≤ 1, both to 1e-9.

    The weights prove γ₂*(U); better ones are looked for where that could close the ``gap`` to the ``upper`` end.
    """
    U = feasible(boxes, iterate.dual)
    value = numerator(boxes, U)
    if value <= 0.0:
        return 0.0, np.zeros(boxes.shape)
    size = dual.upper_bound(U, _raised(iterate.row_weights), _raised(iterate.column_weights))
    if gap < upper * size / value - 1.0 < _NEARLY * gap:
        # The columns of A are near the best vectors y_j of γ₂*.
        start = iterate.root[boxes.shape[0] :]
        size = min(size, dual.dual_norm(U, gap=0.01 * gap, iterations=_ASCENT, start=start).upper)
    return below(value / size, 2), feasible(boxes, U / size)


def feasible(boxes: Boxes, dual_matrix: FloatArray) -> FloatArray:
    """The dual matrix with the signs that infinite bounds ask for and, where c is free, rows that sum to 0 exactly."""
    wrong = ((dual_matrix > 0.0) & np.isneginf(boxes.low)) | ((dual_matrix < 0.0) & np.isposinf(boxes.high))
    U = np.where(wrong, 0.0, dual_matrix)
    if not boxes.shifted:
        return U
    k, N = boxes.shape
    bits = 52 - math.frexp(float(N))[1]
    exponent = bits - math.frexp(float(np.max(np.abs(U), initial=0.0)))[1]
    whole = np.rint(np.ldexp(U, exponent))
    # Each |whole| ≤ 2^bits and N·2^bits ≤ 2⁵²: these sums are exact.
    largest = np.argmax(np.abs(whole), axis=1)
    whole[np.arange(k), largest] -= whole.sum(axis=1)
    wrong = ((whole > 0.0) & np.isneginf(boxes.low)) | ((whole < 0.0) & np.isposinf(boxes.high))
    whole[wrong.any(axis=1)] = 0.0
    return np.ldexp(whole, -exponent)


def numerator(boxes: Boxes, U: FloatArray) -> float:
    """A number at most ⟨L, U₊⟩ − ⟨H, U₋⟩ for a feasible U; 0 where that is negative."""
    bounds = np.where(U > 0.0, boxes.low, np.where(U < 0.0, boxes.high, 0.0))
    # A bound may be one rounding away from the one that is meant.
    return inner_product_below(bounds, U, roundings=2)


def factors(boxes: Boxes, iterate: Iterate) -> list[Factored]:
    """Factors of matrices in the boxes, to rounding: of W̃ by the weights, and of what F makes, completed.

    The first are better where every weight matters, the others where rows or columns are shorter than t: their
    weights vanish, and what W̃ has outside the span of the rest would be magnified.
    """
    R, A = certify.factors(iterate.matrix, _raised(iterate.row_weights), _raised(iterate.column_weights))
    k = boxes.shape[0]
    left, right = iterate.root[:k], iterate.root[k:].T
    product = left @ right
    target, shift = projections.into_boxes(product, boxes, iterate.shift)
    by_columns = completed(right.T, left.T, (target - product).T)
    return [
        (R, A, iterate.shift),
        (*completed(left, right, target - product), shift),
        (by_columns[1].T, by_columns[0].T, shift),
    ]


def completed(R: FloatArray, A: FloatArray, E: FloatArray) -> tuple[FloatArray, FloatArray]:
    """(R | D), (A; D⁻¹E), of product RA + E: D_ii² is what row i is short of the longest, and a little more for all."""
    rows = np.flatnonzero(E.any(axis=1))
    if not len(rows):
        return R, A
    r, a = np.einsum("ij,ij->i", R, R), np.einsum("ij,ij->j", A, A)
    size = float(np.einsum("ij,ij->j", E, E).max())
    tau = np.sqrt(r.max() - r[rows] + math.sqrt(size * float(r.max()) / float(a.max())))
    D = np.zeros((len(R), len(rows)))
    D[rows, np.arange(len(rows))] = tau
    return np.hstack([R, D]), np.vstack([A, E[rows] / tau[:, None]])


def upper_end(boxes: Boxes, R: FloatArray, A: FloatArray, shift: FloatArray) -> tuple[float, float]:
    """The upper end that the factors prove, and a bound on what RA − c1ᵀ lies outside the boxes."""
    r, a = squared_norms_above(R, 1), squared_norms_above(A, 0)
    entries = outside(boxes, R @ A, shift, above(gamma(R.shape[1] + 2), 4) * np.sqrt(np.multiply.outer(r, a)))
    worst = float(entries.max())
    if worst == 0.0:
        return (above(math.sqrt(above(float(r.max() * a.max()))), 2), 0.0) if R.shape[1] else (0.0, 0.0)
    residuals = squared_norms_above(entries, 0)
    # τ² balances what it adds to both sides, relatively.
    tau2 = math.sqrt(float(residuals.max()) * float(r.max()) / float(a.max())) + TINY
    columns = float(np.max(a + above(1.0 / tau2) * residuals)) * (1.0 + 4.0 * UNIT)
    return above(math.sqrt(above(above(float(r.max()) + tau2) * columns)), 2), above(worst, 4)


def outside(boxes: Boxes, product: FloatArray, shift: FloatArray, error: FloatArray) -> FloatArray:
    """Entrywise at least the distance of the exact product less c from the boxes that are meant."""
    x = product - shift[:, None]
    # x and its distance carry a rounding each, and the bound b one of its own: u|b| ≤ u|x| + u|b − x|.
    error = error + (np.abs(x) + np.abs(product)) * (4.0 * UNIT) + TINY
    outside = np.zeros(product.shape)
    for bound, sign in ((boxes.low, 1.0), (boxes.high, -1.0)):
        finite = np.where(np.isfinite(bound), bound, 0.0)
        distance = sign * (finite - x) + error
        outside = np.where(np.isfinite(bound), np.maximum(outside, distance * (1.0 + 4.0 * UNIT)), outside)
    return outside


def _raised(weights: FloatArray) -> FloatArray:
    return np.asarray(np.maximum(weights, _WEIGHT_FLOOR * float(weights.mean())))
