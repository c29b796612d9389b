r"""The exact Euclidean projection of a point on the convex hull of N others: Wolfe's minimum-norm point.

A corral S is an affinely independent set of points whose affine hull has its point nearest to y inside conv S. From
one, the method goes to the next by the point p_j of least ⟨x − y, p_j⟩ (x the current nearest point), and drops points
whose weights would turn negative; the distance falls strictly, so it ends (Wolfe, Mathematical Programming 11, 1976).

The nearest point of an affine hull is found from a QR decomposition of the columns (c, p_i − m), i in S, with m the
mean of all points and c their mean distance from it: the minimiser of ‖Σα_i p_i − y‖ under Σα_i = 1 solves

.. math:: A^T A α = A^T (0, y - m) + ν A^T e_0, \qquad α = R^{-1} (Q^T (0, y - m) + ν Q^T e_0),

with ν making the sum 1. A does not depend on y, so that a far y costs no digits; columns come and go in O(k|S|).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from factormech.arrays import FloatArray, IntArray
from factormech.errors import BadValue


@dataclass(frozen=True)
class Projection:
    """The nearest point, the weights of the points that make it, and a proof of how near it is.

    ``gap`` is max_j ⟨y − x, p_j − x⟩ as computed: the true projection is within √gap of ``point``.
    """

    point: FloatArray
    weights: FloatArray
    gap: float
    iterations: int


@dataclass(frozen=True)
class Projections:
    """The same of t points: ``points`` (t, k), ``weights`` (t, N), ``gaps`` and ``iterations`` (t,)."""

    points: FloatArray
    weights: FloatArray
    gaps: FloatArray
    iterations: IntArray


class Hull:
    """The convex hull of N points in R^k, given as (k, N) columns, ready for projections."""

    def __init__(self, columns: Any) -> None:
        V = np.asarray(columns, dtype=np.float64)
        if V.ndim != 2 or not V.size or not np.isfinite(V).all():
            rule = "be a matrix of finite numbers, at least one column"
            raise BadValue("columns", f"array of shape {V.shape}", rule, "repair its entries")
        self.points = np.ascontiguousarray(V.T)
        self.middle = self.points.mean(axis=0)
        self._centred = self.points - self.middle
        self._squares = np.einsum("ij,ij->i", self._centred, self._centred)
        self.scale = math.sqrt(float(self._squares.mean())) or 1.0
        self.radius = math.sqrt(float(self._squares.max()))

    def project(self, y: FloatArray, *, iterations: int | None = None, start: FloatArray | None = None) -> Projection:
        """The point of the hull nearest to y, (k,).

        ``start`` has weights, (N,), to begin with, such as those of a point nearby: whatever it begins with, it ends at
        the same point.
        """
        point = np.asarray(y, dtype=np.float64)
        if point.shape != self.middle.shape or not np.isfinite(point).all():
            rule = f"be a finite point of shape {self.middle.shape}"
            raise BadValue("y", f"array of shape {point.shape}", rule, "give one number for each query")
        found = self.project_all(point[None], iterations=iterations, start=start)
        return Projection(found.points[0], found.weights[0], float(found.gaps[0]), int(found.iterations[0]))

    def project_all(
        self, points: FloatArray, *, iterations: int | None = None, start: FloatArray | None = None
    ) -> Projections:
        """The points of the hull nearest to the lines of ``points``, (t, k), from the same ``start``."""
        from factormech.central import wolfe_kernels

        Y = np.asarray(points, dtype=np.float64)
        N, k = self.points.shape
        if Y.ndim != 2 or Y.shape[1] != k or not np.isfinite(Y).all():
            rule = f"be finite points of shape (t, {k})"
            raise BadValue("points", f"array of shape {Y.shape}", rule, "give one number for each query")
        t = len(Y)
        limit = 10 * (N + k) + 100 if iterations is None else iterations
        weights, found = np.zeros((t, N)), np.empty((t, k))
        if start is not None:
            weights[:] = self._checked_start(start)
        gaps, steps = np.empty(t), np.empty(t, dtype=np.int64)
        body = (self._centred, self._squares, self.scale, self.radius)
        wolfe_kernels.project_all(*body, Y - self.middle, limit, weights, found, gaps, steps)
        return Projections(found + self.middle, weights, gaps, steps)

    def _checked_start(self, start: FloatArray) -> FloatArray:
        weights = np.asarray(start, dtype=np.float64)
        good = weights.shape == (len(self.points),) and bool(np.all(weights >= 0.0)) and 0.0 < weights.sum() < math.inf
        if not good:
            rule = f"be {len(self.points)} finite weights, none negative, some above 0"
            raise BadValue("start", f"array of shape {weights.shape}", rule, "give those of a projection, or none")
        return weights
