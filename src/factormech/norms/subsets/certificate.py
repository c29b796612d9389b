r"""Both ends of a norm of a class on sets of attributes, valid in exact arithmetic, from floats that any solver found.

Tables have a row for each kind of row and a column for each (kind of column, intersection), as ``values`` of the class.

*Lower end.* U has the masses u. With the unit vectors φ_k of ``zonal``, a W̃ of rows R_a(S) and columns A_b(x) splits
into parts of kinds k, and ⟨U, W̃⟩ = Σ_k ⟨B_k, R_kA_kᵀ⟩ ≤ max_k‖p^{−½}B_kq^{−½}‖ · √(Σp_a‖R_a‖² Σq_b‖A_b‖²): so
γ₂*(U) ≤ max_k‖p^{−½}B_kq^{−½}‖ √(Σp Σq). An entry of B_k carries the roundings of its coefficients (at most 1 in size)
and of its sum, at most γ Σ_t|u|.

*Upper end.* R_k, A_k are any floats: they *are* vectors R_k(a) ⊗ φ_k(S), so their squared lengths Σ_k‖R_k(a)‖² and
their products P(a, b, t) = Σ_k c_k ⟨R_k(a), A_k(b)⟩ are exact but for the roundings of P, at most γ√(r_a a_b) by Cauchy
and Schwarz. What P − c1ᵀ lies outside of its boxes, entrywise at most v, is made good by [R | τI][A; E/τ], where column
norms of E count all rows of a kind.

A first residual is not small against rounding: it is factored in the blocks too (``completed``), and only what that
leaves is paid for entry by entry.
"""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np

from factormech.arrays import FloatArray
from factormech.norms import approximate, splitting
from factormech.norms.boxes import Boxes
from factormech.norms.subsets import zonal
from factormech.norms.subsets.classes import SubsetClass
from factormech.numerics.rounding import TINY, UNIT, above, gamma, spectral_norm_above, squared_norms_above, sum_above

# For each k the vectors of all kinds of row, then of all kinds of column.
Roots: TypeAlias = list[FloatArray]
# Roundings of one coefficient times one product, and of the table's own operations.
_EXTRA = zonal.ROUNDINGS + 4
_COMPLETIONS = 2


def dual_size(queries: SubsetClass, U: FloatArray, p: FloatArray, q: FloatArray) -> float:
    """A number at least γ₂*(U), for any weights p, q > 0."""
    d, worst = queries.attributes, 0.0
    u = U.reshape(len(queries.rows), len(queries.columns), d + 1)
    mass = np.abs(u).sum(axis=2)
    scales = np.multiply.outer(1.0 / np.sqrt(p), 1.0 / np.sqrt(q))
    error = above(gamma(d + 1 + _EXTRA), 4) * mass * scales
    for c in zonal.coefficients(d):
        block = np.einsum("abt,abt->ab", c[queries.rows[:, None], queries.columns[None, :]], u) * scales
        # The scales carry 4 roundings more, of a number that is at most its own bound.
        entries = error + 8.0 * UNIT * np.abs(block) + TINY
        beside = math.sqrt(sum_above(squared_norms_above(entries, 0)))
        worst = max(worst, above(spectral_norm_above(block) + beside, 4))
    return above(worst * math.sqrt(above(sum_above(p) * sum_above(q), 2)), 4)


def product(queries: SubsetClass, roots: Roots) -> FloatArray:
    """P(a, b, t), a table, as computed."""
    A, shape = len(queries.rows), (len(queries.rows), len(queries.columns), queries.attributes + 1)
    P = np.zeros(shape)
    for c, root in zip(zonal.coefficients(queries.attributes), roots, strict=True):
        P += c[queries.rows[:, None], queries.columns[None, :]] * (root[:A] @ root[A:].T)[:, :, None]
    return P.reshape(shape[0], -1)


def completed(queries: SubsetClass, boxes: Boxes, roots: Roots, shift: FloatArray) -> tuple[Roots, FloatArray]:
    """The vectors with others beside them that bring their products into the boxes, up to rounding; and the shift."""
    for _ in range(_COMPLETIONS):
        P = product(queries, roots)
        target, shift = splitting.into_boxes(P, boxes, shift)
        E = np.where(queries.exists, target - P, 0.0)
        rows, columns = (math.sqrt(float(part.max())) for part in _squares(queries, roots))
        balance = rows / columns if rows > 0.0 < columns else 1.0
        parts = zip(roots, _parts(queries, E), strict=True)
        roots = [np.hstack([root, _factored(block, balance)]) for root, block in parts]
    return roots, shift


def upper_end(queries: SubsetClass, boxes: Boxes, roots: Roots, shift: FloatArray) -> tuple[float, float]:
    """The upper end that the vectors prove, and a bound on what P − c1ᵀ lies outside of the boxes."""
    d, shape = queries.attributes, (len(queries.rows), len(queries.columns), queries.attributes + 1)
    r, a = _squares(queries, roots)
    operations = sum(root.shape[1] for root in roots) + len(roots) + _EXTRA
    error = np.broadcast_to((above(gamma(operations), 4) * np.sqrt(np.multiply.outer(r, a)))[:, :, None], shape)
    outside = approximate.outside(boxes, product(queries, roots), shift, error.reshape(len(r), -1))
    v = np.where(queries.exists, outside, 0.0).reshape(shape)
    squares = (v**2 * queries.on_columns.reshape(shape)).sum(axis=(0, 2))
    residuals = squares * (1.0 + 2.0 * gamma(len(r) * (d + 1) + 4)) + TINY
    longest, widest = float(r.max()), float(a.max())
    tau2 = math.sqrt(float(residuals.max()) * longest / widest) + TINY if widest > 0.0 else TINY
    columns = float(np.max(a + above(1.0 / tau2) * residuals)) * (1.0 + 4.0 * UNIT)
    return above(math.sqrt(above(above(longest + tau2) * columns)), 2), above(float(v.max()), 4)


def _squares(queries: SubsetClass, roots: Roots) -> tuple[FloatArray, FloatArray]:
    """Return upper bounds on the squared lengths of rows and of columns, by kind."""
    A = len(queries.rows)
    total = np.sum([squared_norms_above(root, 1) for root in roots], axis=0) * (1.0 + 2.0 * gamma(len(roots)))
    return np.asarray(total[:A]), np.asarray(total[A:])


def _parts(queries: SubsetClass, table: FloatArray) -> list[FloatArray]:
    """Y_k with Σ_k c_k Y_k the table: m_k Σ_t N_t/(C(d,i)C(d,j)) c_k × the table."""
    d = queries.attributes
    sizes = range(d + 1)
    shares = np.array([[[zonal.share(d, i, j, t) for t in sizes] for j in sizes] for i in sizes])
    weighted = table.reshape(len(queries.rows), -1, d + 1) * shares[queries.rows[:, None], queries.columns[None, :]]
    c = zonal.coefficients(d)[:, queries.rows[:, None], queries.columns[None, :]]
    return [zonal.dimension(d, k) * np.einsum("abt,abt->ab", c[k], weighted) for k in range(len(c))]


def _factored(block: FloatArray, balance: float) -> FloatArray:
    """Vectors of the rows, then of the columns, whose products are the block."""
    U, values, V = np.linalg.svd(block, full_matrices=False)
    roots = np.sqrt(values)
    return np.vstack([U * (roots * balance**0.5), V.T * (roots / balance**0.5)])
