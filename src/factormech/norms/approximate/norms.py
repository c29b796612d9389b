r"""γ₂(W, α), γ̂₂(W, α), η(C, α) and margin complexity: factors of W̃, its shift, a dual matrix, an interval.

Of the answer (k × N as ``boxes`` lays the columns out): RA is W̃, ``residual`` bounds what W̃ − c1ᵀ lies outside its
boxes, ``witness["shift"]`` is c (0 where it is not free; θ in the thesis for η), ``witness["dual"]`` is a
feasible U (U1 = 0 without rounding where c is free) with γ₂*(U) ≤ 1 whose numerator (``boxes``) is the lower end, both
to about 1e-9.

A mechanism that releases RY for a private estimate Y of A times the histogram answers W to α + its own error after
subtracting c; where c is free the histogram must sum to 1.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from factormech.arrays import FloatArray, check_positive_integer
from factormech.errors import BadValue
from factormech.norms.approximate import certificate, splitting
from factormech.norms.approximate.boxes import Boxes, around, of_eta, of_margin
from factormech.norms.approximate.reduced import Reduced, reduce
from factormech.norms.approximate.splitting import Iterate
from factormech.norms.certified import CertifiedNorm, DenseFactor
from factormech.norms.exact import checked_gap, factorization_norm
from factormech.numerics.rounding import scaled_interval
from factormech.workloads.base import Workload

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
        from factormech.norms.approximate import semidefinite

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
        """Take what is better; whether the interval is as narrow as asked."""
        boxes = self.reduced.boxes
        for R, A, shift in certificate.factors(boxes, iterate):
            upper, _ = certificate.upper_end(boxes, R, A, shift)
            if upper < self.upper:
                self.upper, self.factors, self.shift = upper, (R, A), shift
        lower, dual = certificate.lower_end(boxes, iterate, self.upper, self.gap)
        if lower > self.lower:
            self.lower, self.dual = lower, dual
        return self.upper <= (1.0 + self.gap) * self.lower

    def answer(self, record: dict[str, object]) -> CertifiedNorm:
        """What is known of the reduced problem, said of the whole one; its upper end is proved anew there."""
        reduced, e = self.reduced, self.reduced.exponent
        R, A = reduced.rows.spread(self.factors[0]), reduced.columns.spread(self.factors[1].T).T
        shift = reduced.shift(self.shift)
        upper, residual = certificate.upper_end(reduced.whole, R, A, shift)
        lower, upper = scaled_interval(self.lower, upper, e)
        # A power of two on either side leaves the floats of R and A as they are.
        left, right = DenseFactor(np.ldexp(R, e - e // 2)), DenseFactor(np.ldexp(A, e // 2))
        witness = {"dual": reduced.dual(self.dual), "shift": np.ldexp(shift, e)}
        return CertifiedNorm(lower, upper, left, right, scaled_interval(0.0, residual, e)[1], witness, record)
