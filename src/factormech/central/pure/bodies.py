r"""The body that replaced persons move answers in: B = K − K, K the convex hull of the columns of a query matrix.

A data set of n persons has the answers Q(X) = (1/n) Σ Q_{x_i}; replacing one person moves n·Q(X) by Q_x − Q_y ∈ B.
Noise of density ∝ exp(−ε‖z‖_B), with ‖·‖_B the gauge of B, is ε-private (Hardt & Talwar, STOC 2010, Theorem 4.3;
Nikolov, *Private query release via the Johnson–Lindenstrauss transform*, SODA 2023, Lemma 4.1).

**Dimension.** Everything happens in the span of B. With c the centre of the distinct columns and the singular value
decomposition Q − c1ᵀ = UΣPᵀ, the *frame* F = UΣ/√N maps R^d onto the span, d = rank, and the columns become the lines
of √N·P: as round a cloud as a linear map can make of them. Constant queries and linear relations between queries
lower d, and d, not the number of queries k, enters every law of Gamma type.

**Gauge.** ‖Fx‖_B = min{½‖u‖₁ : Σ u_i p_i = x, Σ u_i = 0}, as u₊ and u₋ then have the same sum ½‖u‖₁. It is the gauge of
conv(±2(p_i, 1)) at (x, 0): one coordinate more, a *lifted* body. If K is symmetric about a point, B = 2(K − c) is
conv(±2p_i) over one column of each pair, without that coordinate.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from factormech.arrays import FloatArray
from factormech.errors import BadValue

_UNIT = float(np.finfo(np.float64).eps)
# Singular values between rounding and this, next to the largest, belong neither to a relation nor to a direction.
_UNCLEAR = 1e-9
_SYMMETRIC = 1e-14
_BLOCK = 2**22


@dataclass(frozen=True)
class Body:
    """B = K − K in coordinates of its own span.

    Attributes
    ----------
    columns
        The distinct columns of Q, (k, N), in lexicographic order.
    frame, inverse
        F, (k, d), from coordinates to answers, and its left inverse, (d, k).
    points
        The columns in coordinates, (N, d); only one of each pair if the body is symmetric.
    symmetric
        Whether K has a centre of symmetry, which ``points`` are taken from.
    """

    columns: FloatArray
    frame: FloatArray
    inverse: FloatArray
    points: FloatArray
    symmetric: bool

    @property
    def queries(self) -> int:
        """k, the number of queries."""
        return int(self.columns.shape[0])

    @property
    def dimension(self) -> int:
        """d = dim span B."""
        return int(self.points.shape[1])

    @cached_property
    def generators(self) -> FloatArray:
        """The a_i, (N, d + 1) or (N, d): B is conv(±a_i), for a lifted body where the last coordinate is 0."""
        if self.symmetric:
            return np.ascontiguousarray(2.0 * self.points)
        return np.ascontiguousarray(2.0 * np.column_stack([self.points, np.ones(len(self.points))]))

    def support(self, directions: FloatArray) -> FloatArray:
        """max of ⟨y, z⟩ over B for every line y of ``directions``, (t, d) in coordinates."""
        heights = directions @ self.points.T
        if self.symmetric:
            return np.asarray(2.0 * np.abs(heights).max(axis=1))
        return np.asarray(heights.max(axis=1) - heights.min(axis=1))

    def answers(self, coordinates: FloatArray) -> FloatArray:
        """Points (…, d) in coordinates as answers (…, k)."""
        return coordinates @ self.frame.T

    @cached_property
    def diameters(self) -> tuple[float, float]:
        """At least max‖Q_x − Q_y‖₁ and max‖Q_x − Q_y‖₂, but for a few roundings no more."""
        from scipy.spatial.distance import cdist

        first, second = 0.0, 0.0
        for left, right in _blocks(np.ascontiguousarray(self.columns.T)):
            first = max(first, float(cdist(left, right, "cityblock").max()))
            second = max(second, float(cdist(left, right, "euclidean").max()))
        outward = 1.0 + (self.queries + 4) * _UNIT
        return first * outward, second * outward


def body_of(queries: Any) -> Body:
    """The body of a query matrix Q, (k, N): one column of answers for each type of person."""
    Q = checked_queries(queries)
    columns = np.unique(Q, axis=1)
    # x ↦ low + high − x turns the lexicographic order round, so a symmetric set is its own mirror image in that order.
    ends = columns.min(axis=1) + columns.max(axis=1)
    # Rounding of projected columns is forgiven: it moves the body by as little as they are known to.
    near = _SYMMETRIC * np.abs(columns).max(axis=1, keepdims=True)
    symmetric = bool(np.all(np.abs(columns + columns[:, ::-1] - ends[:, None]) <= near))
    centre = 0.5 * ends if symmetric else columns.mean(axis=1)
    frame, inverse, points = _frame(columns - centre[:, None])
    if points.shape[1] == 1:
        # The ends alone make a segment, which is symmetric: about its own middle, not about the mean of the columns.
        points, symmetric = np.array([[0.5 * float(np.ptp(points))]]), True
    elif symmetric:
        # The middle column of an odd number is the centre itself, which adds nothing to the hull.
        points = points[: points.shape[0] // 2]
    return Body(columns, frame, inverse, np.ascontiguousarray(points), symmetric)


def checked_queries(queries: Any) -> FloatArray:
    """Q as a matrix of finite numbers with both axes."""
    Q = np.asarray(queries)
    if Q.dtype.kind not in "biuf" or Q.ndim != 2 or 0 in Q.shape:
        rule = "be a matrix of real numbers, queries × types"
        raise BadValue("queries", f"{Q.dtype.name} array of shape {Q.shape}", rule, "give both axes")
    Q = Q.astype(np.float64)
    bad = np.argwhere(~(np.abs(Q) <= 1e100))
    if bad.size:
        where = f"queries[{bad[0][0]}, {bad[0][1]}]"
        raise BadValue(where, float(Q[tuple(bad[0])]), "be finite, at most 1e100", "pure noise needs bounded answers")
    return Q


def _frame(centred: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """F, its left inverse and the columns in coordinates, (N, d)."""
    k, N = centred.shape
    if not centred.any():
        return np.zeros((k, 0)), np.zeros((0, k)), np.zeros((N, 0))
    U, values, P = np.linalg.svd(centred, full_matrices=False)
    relative = values / values[0]
    unclear = relative[(relative > 16 * max(k, N) * _UNIT) & (relative < _UNCLEAR)]
    if unclear.size:
        rule = f"be independent or dependent beyond doubt: a singular value is {unclear[0]:.1g} of the largest"
        raise BadValue("queries", f"array of shape {centred.shape}", rule, "scale the queries alike, or drop some")
    d = int(np.sum(relative >= _UNCLEAR))
    sizes = values[:d] / np.sqrt(N)
    return U[:, :d] * sizes, U[:, :d].T / sizes[:, None], np.ascontiguousarray(np.sqrt(N) * P[:d].T)


def _blocks(lines: FloatArray) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Every pair of lines, a block at a time."""
    step = max(1, _BLOCK // len(lines))
    for start in range(0, len(lines), step):
        yield lines[start : start + step], lines[start:]
