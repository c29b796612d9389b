r"""The dual norm γ₂* of a matrix, between two ends that hold in exact arithmetic, each with its witness.

.. math::

    \gamma_2^*(U) = \max_{\gamma_2(W)\le1}\langle U, W\rangle
                  = \max_{\lVert x_i\rVert, \lVert y_j\rVert \le 1} \sum_{ij} U_{ij}\langle x_i, y_j\rangle
                  = \min\bigl\{\lVert\tilde U\rVert :
                    U = P\tilde UQ,\ \operatorname{tr}P^2=\operatorname{tr}Q^2=1\bigr\},

P and Q diagonal and positive (semidefinite duality; Edmonds, Nikolov & Ullman, STOC 2020, Lemma 13; Edmonds, PhD
thesis, Toronto, 2023, Lemma 14).
Any unit vectors bound γ₂* from below and any P, Q from above, for by Cauchy–Schwarz
Σ U_ij⟨x_i, y_j⟩ = tr(XᵀPŨQY) ≤ ‖PX‖_F‖Ũ‖‖QY‖_F ≤ ‖Ũ‖.

**Solver.** Alternating ascent: for fixed y the best x_i is (UY)_i over its norm, and vice versa. With r(r+1)/2 > k + N
columns there are generically no spurious maxima (Boumal, Voroninski & Bandeira, NeurIPS 2016). At a maximum
D_a X = UY and D_b Y = UᵀX with a, b the norms before division, and P² ∝ a, Q² ∝ b is optimal: one pair of products
yields both ends. Momentum, restarted whenever the value falls, speeds it up by an order of magnitude.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from factormech.arrays import FloatArray
from factormech.errors import BadValue
from factormech.norms.matrices import checked_matrix, core_of, spread
from factormech.numerics.rounding import (
    TINY,
    above,
    below,
    gamma,
    inner_product_below,
    scaled_interval,
    spectral_norm_above,
    squared_norms_above,
    sum_above,
)

# Iterations between two looks at the upper end, which costs as much as a few of them.
_CHECK_EVERY = 25
# A row that hardly matters still gets this fraction of the mean weight: dividing by less would magnify rounding.
_FLOOR = 1e-13


@dataclass(frozen=True)
class CertifiedDual:
    """γ₂*(U) between two ends that hold in exact arithmetic.

    Attributes
    ----------
    lower, upper
        The interval.
    row_scales, column_scales
        The diagonals of P (k) and Q (N), zero on zero rows and columns; squares sum to 1, to rounding.
    left_vectors, right_vectors
        The unit vectors x_i and y_j as rows (k × r and N × r), zero on zero rows and columns.
    record
        ``method``, ``iterations``, ``stopped``.
    """

    lower: float
    upper: float
    row_scales: FloatArray
    column_scales: FloatArray
    left_vectors: FloatArray
    right_vectors: FloatArray
    record: dict[str, object] = field(default_factory=dict)

    @property
    def gap(self) -> float:
        """upper ÷ lower − 1; 0 where the norm is zero, infinite where the lower end proves nothing."""
        if self.lower <= 0.0:
            return 0.0 if self.upper == 0.0 else math.inf
        return self.upper / self.lower - 1.0

    def core(self, matrix: FloatArray) -> FloatArray:
        """Ũ = P⁻¹UQ⁻¹ of the matrix U that this answers for (zero rows and columns stay zero)."""
        p, q = self.row_scales, self.column_scales
        inverse = [np.divide(1.0, d, out=np.zeros_like(d), where=d > 0) for d in (p, q)]
        return np.asarray(matrix * inverse[0][:, None] * inverse[1])


def dual_norm(
    matrix: Any,
    *,
    gap: float = 1e-6,
    iterations: int = 5000,
    start: FloatArray | None = None,
    rng: np.random.Generator | None = None,
) -> CertifiedDual:
    """γ₂*(U) to the relative gap asked for, or as near as ``iterations`` pairs of products come.

    Parameters
    ----------
    matrix
        U, (k, N), finite.
    start
        Vectors y_j to start from, (N, r), such as ``right_vectors`` of a matrix nearby; random ones by default.
    rng
        Draws the start, seeded with 0 by default: the answer is a function of the arguments.
    """
    U = checked_matrix("matrix", matrix)
    if not (gap > 0.0 and iterations >= 1):
        raise BadValue("gap and iterations", (gap, iterations), "be above 0", "give for example 1e-6 and 5000")
    core = core_of(U)
    if not core.matrix.size:
        k, N = U.shape
        record: dict[str, object] = {"method": "ascent", "iterations": 0, "stopped": "gap"}
        return CertifiedDual(0.0, 0.0, np.zeros(k), np.zeros(N), np.zeros((k, 1)), np.zeros((N, 1)), record)
    given = None if start is None else _checked_start(start, U.shape[1])[core.columns]
    Y = given if given is not None else _random_start(core.matrix, rng or np.random.default_rng(0))
    found = _ascend(core.matrix, Y, gap, iterations)
    scales = [np.sqrt(weights / weights.sum()) for weights in found.weights]
    return CertifiedDual(
        *scaled_interval(found.lower, found.upper, core.exponent),
        spread(scales[0], core.rows),
        spread(scales[1], core.columns),
        spread(found.vectors[0], core.rows),
        spread(found.vectors[1], core.columns),
        {"method": "ascent", "iterations": found.iterations, "stopped": found.stopped},
    )


def upper_bound(matrix: FloatArray, row_weights: FloatArray, column_weights: FloatArray) -> float:
    """An upper bound on γ₂*(U), from weights a, b > 0 of any scale: ‖D_a^{−½}UD_b^{−½}‖·√(Σa Σb), rounded outward."""
    p, q = np.sqrt(row_weights), np.sqrt(column_weights)
    if not (p.min(initial=math.inf) > 0.0 and q.min(initial=math.inf) > 0.0):
        raise BadValue("weights", "not positive", "be above 0", "leave zero rows and columns of the matrix out")
    # P and Q are the floats above, exactly; an entry of the core has two roundings, ‖error‖_F ≤ γ₂‖core‖_F.
    core = matrix / p[:, None] / q
    error = above(gamma(2) * math.sqrt(sum_above(squared_norms_above(core, 0))), 4) + TINY
    sums = (sum_above(p * p * (1.0 + 4 * gamma(1))), sum_above(q * q * (1.0 + 4 * gamma(1))))
    return above((spectral_norm_above(core) + error) * math.sqrt(sums[0]) * math.sqrt(sums[1]), 8)


def lower_bound(matrix: FloatArray, left: FloatArray, right: FloatArray) -> float:
    """A lower bound on γ₂*(U), from any vectors x_i, y_j (rows): Σ U_ij⟨x_i, y_j⟩ over the largest norms."""
    sizes = [math.sqrt(above(float(squared_norms_above(vectors, 1).max()))) for vectors in (left, right)]
    if min(sizes) == 0.0:
        return 0.0
    r = left.shape[1]
    # |fl(XYᵀ)_ij − (XYᵀ)_ij| ≤ γ_r‖x_i‖‖y_j‖ ≤ γ_r·sizes, whatever cancels in it.
    value = inner_product_below(matrix, left @ right.T, roundings=0)
    mass = above(math.fsum(np.abs(matrix).sum(axis=1).tolist()), matrix.shape[1] + 1)
    error = above(gamma(r + 1) * mass * sizes[0] * sizes[1], 8)
    return below((value - error) / above(sizes[0] * sizes[1], 4), 4) if value > error else 0.0


@dataclass
class _Found:
    lower: float
    upper: float
    weights: tuple[FloatArray, FloatArray]
    vectors: tuple[FloatArray, FloatArray]
    iterations: int
    stopped: str

    def improve(
        self, U: FloatArray, vectors: tuple[FloatArray, FloatArray], weights: tuple[FloatArray, FloatArray]
    ) -> None:
        """Keep the better of each end."""
        lower, upper = lower_bound(U, *vectors), upper_bound(U, *weights)
        if lower > self.lower:
            self.lower, self.vectors = lower, vectors
        if upper < self.upper:
            self.upper, self.weights = upper, weights


def _ascend(U: FloatArray, Y: FloatArray, gap: float, iterations: int) -> _Found:
    before, value, momentum = Y, -math.inf, 0
    best = _Found(
        0.0, math.inf, (np.ones(U.shape[0]), np.ones(U.shape[1])), (np.zeros((len(U), 1)), Y), 0, "iteration_limit"
    )
    for iteration in range(1, iterations + 1):
        ahead = Y + momentum / (momentum + 3.0) * (Y - before)
        X, a = _unit(U @ _unit(ahead)[0])
        before, (Y, b) = Y, _unit(U.T @ X)
        # Σb = ⟨U, XYᵀ⟩: a fall means that the momentum points the wrong way.
        momentum = momentum + 1 if b.sum() >= value else 0
        value = float(b.sum())
        if iteration % _CHECK_EVERY == 0 or iteration == iterations:
            best.iterations = iteration
            best.improve(U, (X, Y), (_floored(a), _floored(b)))
            if best.upper <= (1.0 + gap) * best.lower:
                best.stopped = "gap"
                break
    return best


def _random_start(U: FloatArray, rng: np.random.Generator) -> FloatArray:
    k, N = U.shape
    return _unit(rng.standard_normal((N, math.ceil(math.sqrt(2.0 * (k + N))) + 1)))[0]


def _checked_start(start: FloatArray, columns: int) -> FloatArray:
    Y = np.asarray(start, dtype=float)
    if Y.ndim != 2 or len(Y) != columns or not np.isfinite(Y).all():
        raise BadValue("start", Y.shape, "hold one finite vector per column", "give right_vectors of a like matrix")
    return _unit(Y)[0]


def _unit(vectors: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The rows divided by their norms (zero rows stay), and the norms."""
    norms = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
    return vectors / np.where(norms > 0.0, norms, 1.0)[:, None], norms


def _floored(weights: FloatArray) -> FloatArray:
    return np.asarray(np.maximum(weights, _FLOOR * max(float(weights.mean()), TINY)))
