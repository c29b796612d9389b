r"""Noise, then the nearest answers that a histogram of so many users could have: less error for few users.

With N users, public, Wx lies in N·conv{W_1, …, W_n}. The release projects M(x) = L(Rx + z) on that body (Nikolov,
Talwar & Zhang, SIAM J. Comput. 45(2), 2016). It is post-processing, so it costs no privacy. The mean square error
cannot grow, as projections on a convex set that holds Wx do not move anything away from it, and

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

from factormech.arrays import FloatArray, check_positive_integer
from factormech.central import sequential
from factormech.central.factors import Identity
from factormech.central.mechanism import CentralMechanism, VerifiedDelta, check_users, checked_data
from factormech.central.wolfe import Hull
from factormech.errors import BadValue
from factormech.privacy import UNIT_STEP_OF_EQUAL_TOTALS, Guarantee
from factormech.workloads.base import Workload

TOTAL_PUBLIC = UNIT_STEP_OF_EQUAL_TOTALS


@dataclass(frozen=True)
class ProjectedMechanism:
    """A mechanism whose answers are projected on those of all histograms of the same, public, total."""

    name: str
    base: CentralMechanism
    relation: str = TOTAL_PUBLIC

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
        """For data of the same public total only: the projection uses it."""
        return Guarantee(self.epsilon, self.delta, relation=self.relation)

    def verify(self) -> VerifiedDelta:
        """As of the base: the projection is post-processing by a public number."""
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
        """At least (E‖M(x) − Wx‖_2²)^{1/2} for every x of this total, unnormalised, as computed.

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
        level: float = sequential.LEVEL,
        looks: int = sequential.LOOKS,
    ) -> sequential.SimulatedMean:
        """E‖M(x) − Wx‖_p and (E‖·‖_p²)^{1/2} on these data, p ≥ 1 or infinite, unnormalised (no k^{1/p})."""
        if not (isinstance(p, (int, float)) and p >= 1.0):
            raise BadValue("p", p, "be at least 1, or infinite", "give 2 or inf")
        x = checked_data(self.workload, data)
        truth = self.workload.answer(x)[:, None]

        def draw(count: int) -> FloatArray:
            errors = self.simulate_release(x, rng, count) - truth
            return np.asarray(np.linalg.norm(errors, ord=p, axis=0))

        # A projection does not enlarge distances, nor ‖·‖_p above ‖·‖_2 for p ≥ 2.
        lipschitz = self.sigma if isinstance(self.base.left, Identity) and p >= 2.0 else None
        return sequential.estimate(draw, relative_width, level=level, looks=looks, lipschitz=lipschitz)
