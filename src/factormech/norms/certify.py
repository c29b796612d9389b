r"""Both ends of a norm's interval, valid in exact arithmetic, from weights that floating point found.

W is the core of ``matrices``: no zero rows or columns, entries at most 1; k counts the deleted rows too.

*Lower end.* Let w, q be the exact squares of floats. For any matrix B, ‖M‖_* ≥ ⟨M, B⟩/‖B‖, so with M = D_w^{½}WD_q^{½}
γ₍ₚ₎ ≥ ⟨W, D_w^{½}BD_q^{½}⟩ / (k^{1/p}‖B‖√(‖w‖_s‖q‖₁)) (``weighted``). B = UVᵀ with all min(k, N) singular vectors.

*Upper end.* Let R, A be any float matrices and E = W − RA. Then W = [R | τI][A; E/τ] exactly, so r_i + τ² and
a_j + ‖E_j‖²/τ² bound the squared norms. |E| is at most the computed residual plus γ√(r_ia_j) for its own roundings.
For the factors one side is taken from W itself: M = UΣVᵀ gives (WD_q^{½}VΣ^{−½})(Σ^{½}VᵀD_q^{−½}) = W, so row weights
that vanished are never divided by. Singular values that are rounding are left out; the residual knows.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from factormech.arrays import FloatArray
from factormech.norms.matrices import checked_matrix, core_of
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
from factormech.workloads.base import Workload

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
