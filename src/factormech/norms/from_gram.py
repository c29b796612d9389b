r"""γ_F from the Gram matrix alone: for workloads with many more queries than user types.

γ_F depends on W through G = WᵀW (``weighted``, p = 2). With any N × N matrix X, B = WD_q^{½}X gives
‖WD_q^{½}‖_* ≥ tr(SX)/√‖XᵀSX‖, S = D_q^{½}GD_q^{½}; and A with an approximate inverse T, R = WT, leaves the residual
W(I − TA), whose column norms are at most √(tr G)·‖(I − TA)_j‖. So both ends need G only. R = WT is applied by the
workload's own transform and never stored.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from factormech.arrays import FloatArray, check_dense_size
from factormech.numerics.rounding import (
    TINY,
    UNIT,
    above,
    below,
    gamma,
    inner_product_below,
    spectral_norm_above,
    squared_norms_above,
    sum_above,
)
from factormech.workloads.base import Workload

# Singular values are raised to this fraction of their mean; see ``certify``.
_VALUE_FLOOR = 1e-9


@dataclass(frozen=True)
class WorkloadFactor:
    """R = WT, applied as W(Tx)."""

    workload: Workload
    inner: FloatArray

    @property
    def shape(self) -> tuple[int, int]:
        return self.workload.queries, self.inner.shape[1]

    def apply(self, vectors: FloatArray) -> FloatArray:
        return self.workload.answer(self.inner @ vectors)

    def apply_transposed(self, vectors: FloatArray) -> FloatArray:
        return np.asarray(self.inner.T @ self.workload.adjoint(vectors))

    def dense(self) -> FloatArray:
        check_dense_size(f"left factor of workload {self.workload.name}", *self.shape)
        return self.workload.answer(self.inner)


def gram_ends(G: FloatArray, q: FloatArray, queries: int) -> tuple[float, float, float, FloatArray, FloatArray]:
    """(lower, upper, residual, T, A) of γ_F from the exact Gram matrix G and weights q > 0 of any scale."""
    t = np.sqrt(np.maximum(q, 1e-13 * q.mean()))
    squares, V = np.linalg.eigh(t[:, None] * G * t)
    values = np.sqrt(np.maximum(squares, 0.0))
    values = np.maximum(values, _VALUE_FLOOR * values.mean())
    T, A = t[:, None] * V / np.sqrt(values), np.sqrt(values)[:, None] * V.T / t
    X = (V / values) @ V.T
    # Symmetric to the last bit, as the bound assumes.
    lower = _lower(G, t, 0.5 * (X + X.T), queries)
    return lower, *_upper(G, T, A, queries), T, A


def _lower(G: FloatArray, t: FloatArray, X: FloatArray, queries: int) -> float:
    N = len(G)
    # tr(SX) with S = D_tGD_t: three roundings an entry before the product.
    value = inner_product_below(G, t[:, None] * X * t, roundings=3)
    inner = t[:, None] * X
    half = G @ inner
    product = inner.T @ half
    # |error of the product| ≤ (γ_N + γ_{N+4})|inner|ᵀ|G||inner|, whose own roundings the 3 covers.
    sizes = np.abs(inner).T @ (np.abs(G) @ np.abs(inner))
    error = above(3.0 * gamma(N + 4) * math.sqrt(sum_above(squared_norms_above(sizes, 0))), 8)
    sums = sum_above(t * t * (1.0 + 4.0 * UNIT))
    norm = math.sqrt(above((spectral_norm_above(0.5 * (product + product.T)) + error) * sums * queries, 4))
    return below(value / above(norm, 2), 2)


def _upper(G: FloatArray, T: FloatArray, A: FloatArray, queries: int) -> tuple[float, float]:
    N = len(G)
    half = G @ T
    # ‖R‖_F² = Σ T∘GT, its roundings bounded through Σ |T|∘|G||T|.
    mass = above(math.fsum(np.einsum("ij,ij->i", np.abs(T), np.abs(G) @ np.abs(T)).tolist()), 3 * N)
    squares = above(math.fsum(np.einsum("ij,ij->i", T, half).tolist()) + 3.0 * gamma(2 * N + 4) * mass, 4)
    a = squared_norms_above(A, 0)
    miss = np.abs(np.eye(N) - T @ A) * (1.0 + 4.0 * UNIT)
    norms = np.sqrt(squared_norms_above(T, 1))
    miss += above(2.0 * gamma(N + 2), 4) * np.multiply.outer(norms, np.sqrt(a)) + TINY
    trace = sum_above(np.diagonal(G) * (1.0 + 4.0 * UNIT))
    # ‖(WΔ)_j‖² = Δ_jᵀGΔ_j ≤ |Δ_j|ᵀ|G||Δ_j|, and at most ‖Δ_j‖² tr G.
    products = np.einsum("ij,ij->j", miss, np.abs(G) @ miss) * (1.0 + 3.0 * gamma(2 * N + 8))
    residuals = np.minimum(products, trace * squared_norms_above(miss, 0))
    tau2 = math.sqrt(float(residuals.max()) * squares / (queries * float(a.max()))) + TINY
    columns = float(np.max(a + above(1.0 / tau2) * residuals)) * (1.0 + 4.0 * UNIT)
    rows = above(squares / queries + tau2, 4)
    return above(math.sqrt(above(rows * columns)), 2), above(math.sqrt(float(residuals.max())), 4)
