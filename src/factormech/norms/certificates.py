r"""Both ends of a norm's interval, and the dual norm γ₂*, valid in exact arithmetic.

**Norms.** Both ends come from weights that floating point found. W is the core of ``matrices``: no zero rows or
columns, entries at most 1; k counts the deleted rows too.

*Lower end.* Let w, q be the exact squares of floats. For any matrix B, ‖M‖_* ≥ ⟨M, B⟩/‖B‖, so with M = D_w^{½}WD_q^{½}
γ₍ₚ₎ ≥ ⟨W, D_w^{½}BD_q^{½}⟩ / (k^{1/p}‖B‖√(‖w‖_s‖q‖₁)) (``weighted``). B = UVᵀ with all min(k, N) singular vectors.

*Upper end.* Let R, A be any float matrices and E = W − RA. Then W = [R | τI][A; E/τ] exactly, so r_i + τ² and
a_j + ‖E_j‖²/τ² bound the squared norms. |E| is at most the computed residual plus γ√(r_ia_j) for its own roundings.
For the factors one side is taken from W itself: M = UΣVᵀ gives (WD_q^{½}VΣ^{−½})(Σ^{½}VᵀD_q^{−½}) = W, so row weights
that vanished are never divided by. Singular values that are rounding are left out; the residual knows.

**The dual norm.** Each of its ends has a witness.

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
from factormech.norms.certified import checked_matrix, core_of, spread
from factormech.norms.weighted import checked_exponent, thin_svd
from factormech.numerics.rounding import (
    TINY,
    UNIT,
    above,
    below,
    gamma,
    inner_product_below,
    power_mean_above,
    scaled_interval,
    spectral_norm_above,
    squared_norms_above,
    sum_above,
)
from factormech.numerics.vectors import unit_rows
from factormech.workloads.base import Workload

# Norms.

# Column weights are raised to this fraction of their mean: it costs about as much of the upper end, and dividing by
# less would magnify rounding.
_WEIGHT_FLOOR = 1e-11


def lower_end(W: FloatArray, w: FloatArray, q: FloatArray, p: float, queries: int) -> tuple[float, FloatArray]:
    """The lower end, and the dual matrix U with ⟨U, W⟩ equal to it (to rounding)."""
    s, t = np.sqrt(w), np.sqrt(q)
    B = _polar(s[:, None] * W * t)
    D = s[:, None] * B * t
    value = inner_product_below(W, D, roundings=3)
    size = above(math.sqrt(_size_above(s, p) * sum_above(t * t * (1.0 + 4.0 * UNIT))) * spectral_norm_above(B), 8)
    size = above(size * above(queries ** (1.0 / p), 8), 2)
    return below(value / size, 2), D / size


def upper_end(W: FloatArray, R: FloatArray, A: FloatArray, p: float, queries: int) -> tuple[float, float]:
    """The upper end that the factors prove, and a bound on the largest |W − RA| entry."""
    r, a = squared_norms_above(R, 1), squared_norms_above(A, 0)
    entries = np.abs(W - R @ A) * (1.0 + 4.0 * UNIT)
    entries += above(2.0 * gamma(R.shape[1] + 2), 4) * np.multiply.outer(np.sqrt(r), np.sqrt(a)) + TINY
    residuals = squared_norms_above(entries, 0)
    # τ² balances what it adds to both sides, relatively.
    worst, typical = float(residuals.max()), power_mean_above(r, p / 2.0, len(r))
    tau2 = math.sqrt(worst * typical / float(a.max())) + TINY
    columns = float(np.max(a + above(1.0 / tau2) * residuals)) * (1.0 + 4.0 * UNIT)
    rows = power_mean_above((r + tau2) * (1.0 + 4.0 * UNIT), p / 2.0, queries)
    return above(math.sqrt(above(rows * columns)), 2), above(float(entries.max()), 4)


def factors(W: FloatArray, w: FloatArray, q: FloatArray) -> tuple[FloatArray, FloatArray]:
    """R and A of W from weights of any scale; W itself makes the larger one."""
    if len(W) < W.shape[1]:
        A, R = factors(W.T, q, w)
        return R.T, A.T
    root = np.sqrt(np.maximum(q, _WEIGHT_FLOOR * q.mean()))
    M = np.sqrt(w)[:, None] * W * root
    _, values, V = thin_svd(M)
    right = np.sqrt(values)[:, None] * V.T / root
    return W @ (root[:, None] * V / np.sqrt(values)), right


def _polar(M: FloatArray) -> FloatArray:
    """UVᵀ with all min(k, N) singular vectors, in the range of M or not."""
    U, _, V = thin_svd(M, complete=True)
    return np.asarray(U @ V.T)


def _size_above(roots: FloatArray, p: float) -> float:
    """A number at least ‖w‖_s of w = the exact squares of these floats, s = p/(p−2)."""
    w = roots * roots * (1.0 + 4.0 * UNIT)
    if p == 2.0:
        return float(w.max())
    s = 1.0 if math.isinf(p) else p / (p - 2.0)
    return above(power_mean_above(w, s, 1), 2)


def trace_bound(workload: Workload | Any, p: float = math.inf, *, normalised: bool = True) -> float:
    """The lower bound on γ₍ₚ₎ of a workload or a dense matrix by singular values alone: that of uniform weights.

    ‖W‖_*/√(kN) ≤ γ₍ₚ₎(W) for every 2 ≤ p ≤ ∞, k and N those of the matrix without its zero rows and columns at p = ∞;
    in general, with k' nonzero rows of k and N' nonzero columns, k^{−1/p}k'^{1/p − 1/2}N'^{−1/2}‖W‖_*. Not
    ``normalised`` by k^{1/p} it is k^{1/p − 1/2}N^{−1/2}‖W‖_{S₁}, the Schatten-1 bound of Liu, Upadhyay & Zou (2024);
    p = 2 is the trace bound of Li & Miklau (2013).
    """
    p = checked_exponent(p)
    matrix = checked_matrix("workload", workload)
    core = core_of(matrix)
    if not core.matrix.size:
        return 0.0
    k, N = core.matrix.shape
    bound = lower_end(core.matrix, np.ones(k), np.ones(N), p, core.queries)[0]
    if not normalised:
        bound = below(bound * below(core.queries ** (1.0 / p), 8), 2)
    return scaled_interval(bound, bound, core.exponent)[0]


# The dual norm.

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
        X, a = unit_rows(U @ unit_rows(ahead)[0])
        before, (Y, b) = Y, unit_rows(U.T @ X)
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
    return unit_rows(rng.standard_normal((N, math.ceil(math.sqrt(2.0 * (k + N))) + 1)))[0]


def _checked_start(start: FloatArray, columns: int) -> FloatArray:
    Y = np.asarray(start, dtype=float)
    if Y.ndim != 2 or len(Y) != columns or not np.isfinite(Y).all():
        raise BadValue("start", Y.shape, "hold one finite vector per column", "give right_vectors of a like matrix")
    return unit_rows(Y)[0]


def _floored(weights: FloatArray) -> FloatArray:
    return np.asarray(np.maximum(weights, _FLOOR * max(float(weights.mean()), TINY)))
