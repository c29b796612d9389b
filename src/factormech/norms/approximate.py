"""Approximate and shifted factorization norms, η and margin complexity, with certified ends.

**Both ends of the interval.** They are those of a problem of ``boxes``, valid in exact arithmetic. *Lower end.* U is
made feasible exactly and its numerator is summed from L and H with all roundings counted; γ₂*(U) is bounded from
above by scaling (``dual``; Edmonds, Nikolov & Ullman, STOC 2020). Where c is free U1 = 0 must hold without any
rounding, as c is unbounded: U is rounded to whole multiples of a power of two, whose sums are exact, and what a row
still sums to is taken from its largest entry. A row that this would make infeasible is set to zero.

*Upper end.* R and A are any floats, P = RA, and E the distance of P − c1ᵀ from the boxes, entrywise at most v. Then
W̃ = P + E = [R | τI][A; E/τ] is feasible, and r_i + τ², a_j + ‖E_j‖²/τ² bound the squared norms of its factors. v counts
the rounding of the product, γ√(r_ia_j), of the subtraction, and of the bounds themselves.

**The norms.** γ₂(W, α), γ̂₂(W, α), η(C, α) and margin complexity come with factors of W̃, its shift, a dual matrix
and an interval. Of the answer (k × N as ``boxes`` lays the columns out): RA is W̃, ``residual`` bounds what W̃ − c1ᵀ
lies outside its boxes, ``witness["shift"]`` is c (0 where it is not free; θ in the thesis for η), ``witness["dual"]``
is a feasible U (U1 = 0 without rounding where c is free) with γ₂*(U) ≤ 1 whose numerator (``boxes``) is the lower
end, both to about 1e-9.

A mechanism that releases RY for a private estimate Y of A times the histogram answers W to α + its own error after
subtracting c; where c is free the histogram must sum to 1.

**Concept classes.** The entries of a workload are read as ±1 labels.
"""

from __future__ import annotations

import math
from typing import Any, TypeAlias

import numpy as np

from factormech.arrays import FloatArray, check_positive_integer
from factormech.errors import BadValue
from factormech.norms import certificates, splitting
from factormech.norms.boxes import Boxes, Reduced, around, difference_matrix, of_eta, of_margin, reduce
from factormech.norms.certified import CertifiedNorm, DenseFactor, checked_matrix
from factormech.norms.exact import checked_gap, factorization_norm
from factormech.norms.splitting import Iterate
from factormech.numerics.rounding import (
    TINY,
    UNIT,
    above,
    below,
    gamma,
    inner_product_below,
    scaled_interval,
    squared_norms_above,
)
from factormech.workloads.base import Workload

# Both ends of the interval.

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
    size = certificates.upper_bound(U, _raised(iterate.row_weights), _raised(iterate.column_weights))
    if gap < upper * size / value - 1.0 < _NEARLY * gap:
        # The columns of A are near the best vectors y_j of γ₂*.
        start = iterate.root[boxes.shape[0] :]
        size = min(size, certificates.dual_norm(U, gap=0.01 * gap, iterations=_ASCENT, start=start).upper)
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
    R, A = certificates.factors(iterate.matrix, _raised(iterate.row_weights), _raised(iterate.column_weights))
    k = boxes.shape[0]
    left, right = iterate.root[:k], iterate.root[k:].T
    product = left @ right
    target, shift = splitting.into_boxes(product, boxes, iterate.shift)
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


# The norms.

METHODS = ("splitting", "clarabel", "scs")


def approximate_norm(
    workload: Workload | Any,
    alpha: float,
    *,
    shifted: bool = False,
    method: str = "splitting",
    gap: float = 1e-3,
    iterations: int = 2000,
) -> CertifiedNorm:
    """γ₂(W, α), the least γ₂(W̃) over |W̃ − W| ≤ α entrywise; or γ̂₂(W, α), ``shifted``: |W̃ − c1ᵀ − W| ≤ α for some c.

    Parameters
    ----------
    workload
        W, (k, N): a ``Workload`` or a dense matrix.
    alpha
        α ≥ 0, entrywise (not halved). γ₂(W, 0) is the exact norm and is solved as such.
    method
        ``splitting``, or a general solver through cvxpy for small matrices: ``clarabel``, ``scs``.
    gap
        Relative width asked for.
    iterations
        Steps of the splitting at most; stopping early gives a wider interval, as valid.
    """
    boxes = around(workload, alpha, shifted=shifted)
    if alpha == 0.0 and not shifted and method == "splitting":
        norm = factorization_norm(boxes.low, math.inf, gap=gap, iterations=iterations)
        witness = {"dual": norm.witness["dual"], "shift": np.zeros(boxes.shape[0])}
        return CertifiedNorm(norm.lower, norm.upper, norm.left, norm.right, norm.residual, witness, norm.record)
    return solve(boxes, method=method, gap=gap, iterations=iterations)


def eta_norm(
    concepts: Workload | Any,
    alpha: float,
    *,
    method: str = "splitting",
    gap: float = 1e-3,
    iterations: int = 2000,
) -> CertifiedNorm:
    """η(C, α) of realizable refutation, over N labelled points (x, +1) and then N points (x, −1).

    For each concept, W̃ less its shift is within [−α, α] where the label is the concept's, and at least 1 where it is
    not (Edmonds, PhD thesis, 2023). ``concepts`` holds ±1 labels, (concepts, domain).
    """
    return solve(of_eta(concepts, alpha), method=method, gap=gap, iterations=iterations)


def margin_complexity(
    concepts: Workload | Any, *, method: str = "splitting", gap: float = 1e-3, iterations: int = 2000
) -> CertifiedNorm:
    """mc(C), the least γ₂(W̃) over W̃ that agree in sign with the ±1 labels and are at least 1 in size."""
    return solve(of_margin(concepts), method=method, gap=gap, iterations=iterations)


def solve(boxes: Boxes, *, method: str = "splitting", gap: float = 1e-3, iterations: int = 2000) -> CertifiedNorm:
    """The least γ₂ over any boxes."""
    if method not in METHODS:
        raise BadValue("method", method, f"be one of {', '.join(METHODS)}", "give 'splitting'")
    checked_gap(gap)
    limit = check_positive_integer("iterations", iterations)
    reduced = reduce(boxes)
    best = _BestEnds(reduced, gap)
    record: dict[str, object] = {"method": method, "rows": reduced.boxes.shape[0], "columns": reduced.boxes.shape[1]}
    if not reduced.boxes.shape[0]:
        record.update(iterations=0, stopped="gap")
    elif method == "splitting":
        steps, stopped, name = splitting.solve(reduced.boxes, limit, best.enough)
        record.update(iterations=steps, stopped=stopped, symmetry=name)
    else:
        from factormech.norms import semidefinite

        iterate, status = semidefinite.solve(reduced.boxes, method.upper())
        best.enough(iterate)
        record.update(iterations=0, stopped=status)
    return best.answer(record)


class _BestEnds:
    """The best of both ends so far, each with its proof."""

    def __init__(self, reduced: Reduced, gap: float) -> None:
        self.reduced, self.gap = reduced, gap
        k, N = reduced.boxes.shape
        self.lower, self.upper = 0.0, math.inf
        self.dual, self.shift = np.zeros((k, N)), np.zeros(k)
        self.factors: tuple[FloatArray, FloatArray] = np.zeros((k, 0)), np.zeros((0, N))

    def enough(self, iterate: Iterate) -> bool:
        """Keep the better ends; return whether the interval is as narrow as requested."""
        boxes = self.reduced.boxes
        for R, A, shift in factors(boxes, iterate):
            upper, _ = upper_end(boxes, R, A, shift)
            if upper < self.upper:
                self.upper, self.factors, self.shift = upper, (R, A), shift
        lower, dual = lower_end(boxes, iterate, self.upper, self.gap)
        if lower > self.lower:
            self.lower, self.dual = lower, dual
        return self.upper <= (1.0 + self.gap) * self.lower

    def answer(self, record: dict[str, object]) -> CertifiedNorm:
        """Return the result for the whole problem from that of the reduced one; its upper end is proved again there."""
        reduced, e = self.reduced, self.reduced.exponent
        R, A = reduced.rows.spread(self.factors[0]), reduced.columns.spread(self.factors[1].T).T
        shift = reduced.shift(self.shift)
        upper, residual = upper_end(reduced.whole, R, A, shift)
        lower, upper = scaled_interval(self.lower, upper, e)
        # A power of two on either side leaves the floats of R and A as they are.
        left, right = DenseFactor(np.ldexp(R, e - e // 2)), DenseFactor(np.ldexp(A, e // 2))
        witness = {"dual": reduced.dual(self.dual), "shift": np.ldexp(shift, e)}
        return CertifiedNorm(lower, upper, left, right, scaled_interval(0.0, residual, e)[1], witness, record)


# Concept classes.


def labels_of(workload: Workload | Any) -> FloatArray:
    """The concept matrix (concepts, domain): W itself if it holds ±1, 2W − 1 if it holds 0/1; refused otherwise.

    Statistical queries and concepts are one and the same, a query q(x) ∈ {0, 1} being the concept 2q − 1.
    """
    W = checked_matrix("workload", workload)
    if np.all(np.abs(W) == 1.0):
        return W
    if np.all((W == 0.0) | (W == 1.0)):
        return 2.0 * W - 1.0
    name = workload.name if isinstance(workload, Workload) else "matrix"
    remedy = "ask for gamma-2, which any matrix has"
    raise BadValue(f"entries of {name}", "others", "all be ±1, or all 0 or 1, to be labels", remedy)


def difference_norm(
    concepts: Workload | Any, alpha: float, *, method: str = "splitting", gap: float = 1e-3
) -> CertifiedNorm:
    """γ₂(D_C, α) of the differences ½(c − c′) of every two concepts (Edmonds, PhD thesis, Toronto, 2023).

    It is at most γ₂(W_C, α), which is at most 2γ₂(D_C, α/2) + 1 (there, the lemma on the difference matrix).
    """
    return approximate_norm(difference_matrix(concepts), alpha, method=method, gap=gap)
