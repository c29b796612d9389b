r"""The body of second moments: K = {A ⪰ 0, tr A ≤ 1} = conv{xxᵀ : ‖x‖ ≤ 1}, symmetric d × d matrices, Frobenius norm.

**Gauge.** Z ∈ t(K − K) iff Z = A − A' with tr A, tr A' ≤ t and A, A' ⪰ 0. Z₊ and Z₋ are the least such pair, so
‖Z‖_B = max(tr Z₊, tr Z₋). Replacing xxᵀ by yyᵀ has a gauge of at most 1. If ‖x‖ = 1 for everyone, the trace is
public: K₁ = {A ⪰ 0, tr A = 1}, and on tr Z = 0 the same gauge is tr Z₊.

**Projection.** Frobenius distance is unitarily invariant, so the nearest point keeps the eigenvectors: on K the
eigenvalues are clipped at 0, and only if their sum then exceeds 1 projected on the simplex; on K₁ always.

**Width.** w(K) = E max(λ_max(S), 0), S the symmetric part of a Gaussian matrix (Nikolov, *Private query release via the
Johnson–Lindenstrauss transform*, SODA 2023, Lemma 6.1), near √(2d).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from factormech.arrays import FloatArray
from factormech.errors import BadValue
from factormech.numerics.simplex import nearest
from factormech.numerics.symmetric import unpack

# Eigenvalues and traces of data may be off by rounding.
_TOLERANCE = 1e-9


def eigenvalue_gauge(eigenvalues: FloatArray) -> FloatArray:
    """max(Σλ₊, Σλ₋) over the last axis."""
    up = np.maximum(eigenvalues, 0.0).sum(axis=-1)
    down = np.maximum(-eigenvalues, 0.0).sum(axis=-1)
    return np.asarray(np.maximum(up, down))


def gauge(matrices: FloatArray) -> FloatArray:
    """‖Z‖_B of symmetric matrices (…, d, d)."""
    return eigenvalue_gauge(np.asarray(np.linalg.eigvalsh(matrices)))


def project_eigenvalues(eigenvalues: FloatArray, *, unit: bool = False) -> FloatArray:
    """The nearest points of {λ ≥ 0, Σλ ≤ 1}, or of Σλ = 1 if ``unit``, to the lines of (…, d)."""
    clipped = np.maximum(eigenvalues, 0.0)
    over = np.ones(clipped.shape[:-1], dtype=bool) if unit else clipped.sum(axis=-1) > 1.0
    return np.where(over[..., None], nearest(eigenvalues), clipped)


def project(matrices: FloatArray, *, unit: bool = False) -> FloatArray:
    """The nearest points of K, or K₁, to symmetric matrices (…, d, d)."""
    values, vectors = np.linalg.eigh(matrices)
    near = project_eigenvalues(values, unit=unit)
    return np.asarray((vectors * near[..., None, :]) @ np.swapaxes(vectors, -1, -2))


def clipped(data: Any, *, unit: bool = False) -> FloatArray:
    """Rows (n, d) scaled down to ‖x‖ ≤ 1 where they are longer; to ‖x‖ = 1 if ``unit``, which refuses zero rows."""
    X = np.asarray(data)
    if X.dtype.kind not in "biuf" or X.ndim != 2 or 0 in X.shape or not np.isfinite(X).all():
        raise BadValue("data", f"{X.dtype.name} array of shape {X.shape}", "be finite rows (n, d)", "repair it")
    X = X.astype(np.float64)
    lengths = np.linalg.norm(X, axis=1, keepdims=True)
    if unit and not lengths.all():
        raise BadValue("data", "a row of zeros", "have a direction in every row", "use unit=False")
    # A row divided by its own length may be longer than 1 by a rounding: shrink by more than that.
    scaled = X / np.where(lengths > 0.0, lengths, 1.0) * (1.0 - 2.0**-50)
    return scaled if unit else np.where(lengths > 1.0, scaled, X)


def second_moment(rows: FloatArray) -> FloatArray:
    """(1/n) Σ xxᵀ."""
    return np.asarray(rows.T @ rows / len(rows))


def checked_moment(moment: Any, dimension: int, *, unit: bool = False) -> FloatArray:
    """A member of K (K₁), up to rounding."""
    M = np.asarray(moment, dtype=np.float64)
    if M.shape != (dimension, dimension) or not np.isfinite(M).all() or np.abs(M - M.T).max() > _TOLERANCE:
        rule = f"be a symmetric matrix of shape {(dimension, dimension)}"
        raise BadValue("moment", f"array of shape {M.shape}", rule, "give second_moment(clipped(data))")
    trace, least = float(np.trace(M)), float(np.linalg.eigvalsh(M)[0])
    if least < -_TOLERANCE or trace > 1.0 + _TOLERANCE or (unit and trace < 1.0 - _TOLERANCE):
        rule = f"be positive semidefinite with trace {'1' if unit else 'at most 1'}"
        raise BadValue("moment", f"trace {trace:.6g}, least eigenvalue {least:.3g}", rule, "clip the rows first")
    return np.asarray(0.5 * (M + M.T))


def width_draws(dimension: int, rng: np.random.Generator, count: int) -> FloatArray:
    """Draws of max(λ_max(S), 0), whose mean is w(K): S has N(0, 1) on the diagonal and N(0, ½) off it."""
    d = dimension
    values = np.linalg.eigvalsh(unpack(rng.standard_normal((count, d * (d + 1) // 2)), d))
    return np.asarray(np.maximum(values[:, -1], 0.0))
