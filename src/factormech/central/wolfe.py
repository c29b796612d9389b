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

import itertools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg

from factormech.arrays import FloatArray
from factormech.errors import BadValue

_EPSILON = float(np.finfo(np.float64).eps)
# A new column this close to the span of the others says that rounding, not geometry, asked for it.
_DEPENDENT = 1e-13


@dataclass(frozen=True)
class Projection:
    """The nearest point, the weights of the points that make it, and a proof of how near it is.

    ``gap`` is max_j ⟨y − x, p_j − x⟩ as computed: the true projection is within √gap of ``point``.
    """

    point: FloatArray
    weights: FloatArray
    gap: float
    iterations: int


class Hull:
    """The convex hull of N points in R^k, given as (k, N) columns, ready for projections."""

    def __init__(self, columns: Any) -> None:
        V = np.asarray(columns, dtype=np.float64)
        if V.ndim != 2 or not V.size or not np.isfinite(V).all():
            rule = "be a matrix of finite numbers, at least one column"
            raise BadValue("columns", f"array of shape {V.shape}", rule, "repair its entries")
        self.points = np.ascontiguousarray(V.T)
        self.middle = self.points.mean(axis=0)
        centred = self.points - self.middle
        squares = np.einsum("ij,ij->i", centred, centred)
        self.scale = math.sqrt(float(squares.mean())) or 1.0
        self.radius = math.sqrt(float(squares.max()))
        self._centred, self._squares = centred, squares

    def project(self, y: FloatArray, *, iterations: int | None = None) -> Projection:
        """The point of the hull nearest to y, (k,)."""
        target = self._checked(y) - self.middle
        limit = 10 * sum(self.points.shape) + 100 if iterations is None else iterations
        corral = _Corral(self._centred, self.scale, target)
        corral.add(int(np.argmin(self._squares - 2.0 * (self._centred @ target))))
        for step in itertools.count(1):
            x = corral.point()
            residual = x - target
            scores = self._centred @ residual
            j = int(np.argmin(scores))
            gap = float(residual @ x - scores[j])
            # What rounding makes of a gap of zero.
            noise = 4.0 * _EPSILON * (self.radius + float(np.linalg.norm(x))) * float(np.linalg.norm(residual))
            if gap <= noise or step >= limit or j in corral.chosen or not corral.add(j):
                break
        return Projection(x + self.middle, corral.weights(len(self.points)), max(gap, 0.0), step)

    def _checked(self, y: FloatArray) -> FloatArray:
        point = np.asarray(y, dtype=np.float64)
        if point.shape != self.middle.shape or not np.isfinite(point).all():
            rule = f"be a finite point of shape {self.middle.shape}"
            raise BadValue("y", f"array of shape {point.shape}", rule, "give one number for each query")
        return point


class _Corral:
    """S with its weights, and the QR decomposition of its columns."""

    def __init__(self, centred: FloatArray, scale: float, target: FloatArray) -> None:
        self.centred, self.scale = centred, scale
        self.right = np.concatenate([[0.0], target])
        self.chosen: list[int] = []
        self.lam = np.empty(0)
        self.Q, self.R = np.empty((centred.shape[1] + 1, 0)), np.empty((0, 0))

    def point(self) -> FloatArray:
        """Σ λ_i p_i − m."""
        return np.asarray(self.lam @ self.centred[self.chosen])

    def weights(self, size: int) -> FloatArray:
        """λ over all points."""
        found = np.zeros(size)
        found[self.chosen] = self.lam
        return found

    def add(self, j: int) -> bool:
        """Take a point in and move to the next corral; false where the point is not affinely independent."""
        if not self._append(j):
            return False
        self.chosen.append(j)
        self.lam = np.append(self.lam, 0.0 if self.lam.size else 1.0)
        while True:
            alpha = self._nearest()
            if np.all(alpha > 0.0) or len(self.chosen) == 1:
                self.lam = alpha
                return True
            falling = np.flatnonzero(alpha <= 0.0)
            with np.errstate(divide="ignore", invalid="ignore"):
                ratios = self.lam[falling] / (self.lam[falling] - alpha[falling])
            ratios = np.where(np.isfinite(ratios), ratios, 0.0)
            at = int(np.argmin(ratios))
            self.lam += float(ratios[at]) * (alpha - self.lam)
            self._drop(int(falling[at]))

    def _append(self, j: int) -> bool:
        column = np.concatenate([[self.scale], self.centred[j]])
        first = self.Q.T @ column
        rest = column - self.Q @ first
        second = self.Q.T @ rest  # once more: orthogonal to the last bits
        rest -= self.Q @ second
        length = float(np.linalg.norm(rest))
        if length <= _DEPENDENT * float(np.linalg.norm(column)) or len(self.chosen) == len(column):
            return False
        s = len(self.chosen)
        R = np.zeros((s + 1, s + 1))
        R[:s, :s], R[:s, s], R[s, s] = self.R, first + second, length
        self.Q, self.R = np.column_stack([self.Q, rest / length]), R
        return True

    def _drop(self, i: int) -> None:
        Q, R = scipy.linalg.qr_delete(self.Q, self.R, i, 1, "col", check_finite=False)
        del self.chosen[i]
        # A square Q is taken for a full one and comes back square, with a row of zeros under R.
        s = len(self.chosen)
        self.Q, self.R = np.ascontiguousarray(Q[:, :s]), R[:s]
        self.lam = np.maximum(np.delete(self.lam, i), 0.0)
        self.lam /= self.lam.sum()

    def _nearest(self) -> FloatArray:
        """The affine weights of the point of aff S nearest to the target."""
        sides = np.column_stack([self.Q.T @ self.right, self.Q[0]])
        solved, _ = scipy.linalg.lapack.dtrtrs(self.R, sides)
        nu = (1.0 - solved[:, 0].sum()) / solved[:, 1].sum()
        return np.asarray(solved[:, 0] + nu * solved[:, 1])
