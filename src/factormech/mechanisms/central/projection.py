r"""Noise followed by projection, and the exact projection on a convex hull.

**The projection.** Wolfe's method finds the minimum-norm point of the hull of N points, exactly. A corral S is an
affinely independent set of points whose affine hull has its point nearest to y inside conv S. From one, the method
goes to the next by the point p_j of least ⟨x − y, p_j⟩ (x the current nearest point), and drops points whose weights
would turn negative; the distance falls strictly, so it ends (Wolfe, Mathematical Programming 11, 1976).

The nearest point of an affine hull is found from a QR decomposition of the columns (c, p_i − m), i in S, with m the
mean of all points and c their mean distance from it: the minimiser of ‖Σα_i p_i − y‖ under Σα_i = 1 solves

.. math:: A^T A α = A^T (0, y - m) + ν A^T e_0, \qquad α = R^{-1} (Q^T (0, y - m) + ν Q^T e_0),

with ν making the sum 1. A does not depend on y, so that a far y costs no digits; columns come and go in O(k|S|).

**The mechanism.** After the noise it releases the nearest answers that a histogram of as many users could have: a
smaller error for few users. With N users, public, Wx lies in N·conv{W_1, …, W_n}. The release projects M(x) = L(Rx +
z) on that body (Nikolov, Talwar & Zhang, SIAM J. Comput. 45(2), 2016). It is post-processing, so it costs no privacy.
The mean square error cannot grow, as projections on a convex set that holds Wx do not move anything away from it, and

.. math:: \lVert \hat y - Wx\rVert_2^2 \le 2\langle Lz, \hat y - Wx\rangle
          \le 2 N \max_{j} \langle Lz, W_j - Wx/N\rangle .

⟨Lz, Wx/N − c⟩ has mean 0 for every c, and the largest of n Gaussians of mean 0 and deviations at most s has a mean of
at most s√(2 ln n). So, for all data,

.. math:: E\lVert \hat y - Wx\rVert_2^2 \le 2 N σ \min_c \max_j \lVert L^T(W_j - c)\rVert \sqrt{2 \ln n} ,

which falls with N, where noise does not (Edmonds, Nikolov & Ullman, STOC 2020, §1.2.3, the regime of few users). The
error itself depends on the data and is simulated on given ones.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from factormech.arrays import FloatArray, IntArray, check_positive_integer
from factormech.errors import BadValue
from factormech.mechanisms.central import moments
from factormech.mechanisms.central.factorization import IdentityFactor
from factormech.mechanisms.central.mechanism import CentralMechanism, VerifiedDelta, check_users, checked_data
from factormech.privacy.guarantee import UNIT_STEP_OF_EQUAL_TOTALS, Guarantee
from factormech.workloads.base import Workload

# The projection.


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
        from factormech.mechanisms.central import wolfe_kernels

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


# The mechanism.

TOTAL_PUBLIC = UNIT_STEP_OF_EQUAL_TOTALS


@dataclass(frozen=True)
class ProjectedMechanism:
    """A mechanism whose answers are projected on those of all histograms of the same, public, total."""

    name: str
    base: CentralMechanism
    relation: str = TOTAL_PUBLIC

    def __repr__(self) -> str:
        return repr(self.base).replace(f"CentralMechanism {self.base.name}", f"ProjectedMechanism {self.name}")

    @property
    def workload(self) -> Workload:
        return self.base.workload

    @property
    def epsilon(self) -> float:
        return self.base.epsilon

    @property
    def delta(self) -> float:
        return self.base.delta

    @property
    def sigma(self) -> float:
        return self.base.sigma

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee, which is for data of the same public total only: the projection uses the total."""
        return Guarantee(self.epsilon, self.delta, relation=self.relation)

    def verify(self) -> VerifiedDelta:
        """Verify the noise as for the mechanism without projection, which is post-processing by a public number."""
        return self.base.verify()

    @cached_property
    def hull(self) -> Hull:
        """conv{W_1, …, W_n}."""
        return Hull(self.workload.matrix())

    @cached_property
    def diameter(self) -> float:
        """The largest ‖W_i − W_j‖."""
        V = self.hull.points - self.hull.middle
        G = V @ V.T
        squares = np.diagonal(G)
        return math.sqrt(max(float(np.max(squares[:, None] + squares[None, :] - 2.0 * G)), 0.0))

    @cached_property
    def _reach(self) -> float:
        """σ times max_j ‖Lᵀ(W_j − c)‖ for the better of c = 0 and c the mean column."""
        W = self.hull.points.T
        columns = [self.base.left.apply_transposed(V) for V in (W, W - self.hull.middle[:, None])]
        return self.sigma * min(float(np.linalg.norm(V, axis=0).max()) for V in columns)

    def guaranteed_error(self, users: float) -> float:
        """Return an upper bound on (E‖M(x) − Wx‖_2²)^{1/2} for every x of this total, unnormalised, as computed.

        The least of the module's bound, the noise without the projection, and the diameter of the body.
        """
        N = check_users(users)
        by_noise = math.sqrt(2.0 * N * self._reach * math.sqrt(2.0 * math.log(self.workload.domain_size)))
        return min(by_noise, self.base.exact_error(2.0).total, N * self.diameter)

    def project(self, answers: FloatArray, users: float) -> FloatArray:
        """The nearest answers of a histogram of this total; columns of (k,) or (k, trials)."""
        if users == 0.0:
            return np.zeros_like(answers)
        columns = answers.reshape(len(answers), -1).T / users
        nearest = np.stack([self.hull.project(column).point for column in columns], axis=1)
        return np.asarray(users * nearest.reshape(answers.shape))

    def simulate(self, data: Any) -> FloatArray:
        """Answers, (k,), with noise from the operating system, as raw floats; the total of ``data`` is public."""
        x = checked_data(self.workload, data)
        return self.project(self.base.simulate(x), float(x.sum()))

    def simulate_release(self, data: Any, rng: np.random.Generator, trials: int = 1) -> FloatArray:
        """Answers of repeated releases, (k, trials), for experiments: never private."""
        x = checked_data(self.workload, data)
        trials = check_positive_integer("trials", trials)
        return self.project(self.base.simulate_release(x, rng, trials), float(x.sum()))

    def simulated_error(
        self,
        data: Any,
        rng: np.random.Generator,
        relative_width: float = 0.05,
        *,
        p: float = 2.0,
        level: float = moments.LEVEL,
        looks: int = moments.LOOKS,
    ) -> moments.SimulatedMean:
        """E‖M(x) − Wx‖_p and (E‖·‖_p²)^{1/2} on these data, p ≥ 1 or infinite, unnormalised (no k^{1/p})."""
        if not (isinstance(p, (int, float)) and p >= 1.0):
            raise BadValue("p", p, "be at least 1, or infinite", "give 2 or inf")
        x = checked_data(self.workload, data)
        truth = self.workload.answer(x)[:, None]

        def draw(count: int) -> FloatArray:
            errors = self.simulate_release(x, rng, count) - truth
            return np.asarray(np.linalg.norm(errors, ord=p, axis=0))

        # A projection does not enlarge distances, nor ‖·‖_p above ‖·‖_2 for p ≥ 2.
        lipschitz = self.sigma if isinstance(self.base.left, IdentityFactor) and p >= 2.0 else None
        return moments.estimate(draw, relative_width, level=level, looks=looks, lipschitz=lipschitz)
