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

import numpy as np

from factormech.arrays import FloatArray
from factormech.norms import certify, dual
from factormech.norms.approximate.boxes import Boxes
from factormech.norms.approximate.splitting import Iterate
from factormech.norms.rounding import (
    TINY,
    UNIT,
    above,
    below,
    gamma,
    inner_product_below,
    squared_norms_above,
)

# Weights are raised to this fraction of their mean: it costs as much of either end, and divides by nothing smaller.
_WEIGHT_FLOOR = 1e-9
# Ascent steps spent on γ₂* at each look: fewer than a decomposition costs.
_ASCENT = 50


def lower_end(boxes: Boxes, iterate: Iterate, right: FloatArray, gap: float) -> tuple[float, FloatArray]:
    """The lower end, and a feasible U that attains it with γ₂*(U) ≤ 1, both to 1e-9; the ascent starts from A.

    Parameters
    ----------
    right
        A of ``factors``, (s, N): its columns are near the best vectors y_j of γ₂*.
    gap
        The relative width asked for.
    """
    U = feasible(boxes, iterate.dual)
    value = numerator(boxes, U)
    if value <= 0.0:
        return 0.0, np.zeros(boxes.shape)
    size = dual.upper_bound(U, _raised(iterate.row_weights), _raised(iterate.column_weights))
    size = min(size, dual.dual_norm(U, gap=0.01 * gap, iterations=_ASCENT, start=right.T).upper)
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


def factors(iterate: Iterate) -> tuple[FloatArray, FloatArray]:
    """R and A with RA = W̃ (to rounding) from the weights."""
    return certify.factors(iterate.matrix, _raised(iterate.row_weights), _raised(iterate.column_weights))


def upper_end(boxes: Boxes, R: FloatArray, A: FloatArray, shift: FloatArray) -> tuple[float, float]:
    """The upper end that the factors prove, and a bound on what RA − c1ᵀ lies outside the boxes."""
    r, a = squared_norms_above(R, 1), squared_norms_above(A, 0)
    entries = _outside(boxes, R @ A, shift, above(gamma(R.shape[1] + 2), 4) * np.sqrt(np.multiply.outer(r, a)))
    worst = float(entries.max())
    if worst == 0.0:
        return (above(math.sqrt(above(float(r.max() * a.max()))), 2), 0.0) if R.shape[1] else (0.0, 0.0)
    residuals = squared_norms_above(entries, 0)
    # τ² balances what it adds to both sides, relatively.
    tau2 = math.sqrt(float(residuals.max()) * float(r.max()) / float(a.max())) + TINY
    columns = float(np.max(a + above(1.0 / tau2) * residuals)) * (1.0 + 4.0 * UNIT)
    return above(math.sqrt(above(above(float(r.max()) + tau2) * columns)), 2), above(worst, 4)


def _outside(boxes: Boxes, product: FloatArray, shift: FloatArray, error: FloatArray) -> FloatArray:
    """Entrywise at least the distance of the exact product less c from the boxes that are meant."""
    x = product - shift[:, None]
    # x and the difference below carry one rounding each, and a finite bound one of its own.
    error = error + (np.abs(x) + np.abs(product)) * (4.0 * UNIT) + TINY
    outside = np.zeros(product.shape)
    for bound, sign in ((boxes.low, 1.0), (boxes.high, -1.0)):
        finite = np.where(np.isfinite(bound), bound, 0.0)
        distance = sign * (finite - x) + error + 4.0 * UNIT * np.abs(finite)
        outside = np.where(np.isfinite(bound), np.maximum(outside, distance * (1.0 + 4.0 * UNIT)), outside)
    return outside


def _raised(weights: FloatArray) -> FloatArray:
    return np.asarray(np.maximum(weights, _WEIGHT_FLOOR * float(weights.mean())))
