r"""Noise, then the nearest answers that a histogram of so many users could have: less error for few users.

With N users, public, Wx lies in N·conv{W_1, …, W_n}. The release projects M(x) = L(Rx + z) on that body (Nikolov,
Talwar & Zhang, SIAM J. Comput. 45(2), 2016). It is post-processing, so it costs no privacy. The mean square error
cannot grow, as projections on a convex set that holds Wx do not move anything away from it, and for L = I

.. math:: \lVert \hat y - Wx\rVert_2^2 \le 2\langle z, \hat y - Wx\rangle
          \le 2 N \max_{j} \langle z, W_j - Wx/N\rangle ,

of the order of N σ max‖W_j‖ √log n: it falls with N, where noise does not (Edmonds, Nikolov & Ullman, STOC 2020, the
regime of few users). The error depends on the data and is simulated on given ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from factormech.arrays import FloatArray, check_positive_integer
from factormech.central import sequential
from factormech.central.factors import Identity
from factormech.central.gaussian import RELATION
from factormech.central.mechanism import CentralMechanism, Verification, checked_data
from factormech.central.wolfe import Hull
from factormech.errors import BadValue
from factormech.workloads.base import Workload

TOTAL_PUBLIC = f"{RELATION}, of equal and public totals"


@dataclass(frozen=True)
class ProjectedMechanism:
    """A mechanism whose answers are projected on those of all histograms of the same, public, total."""

    name: str
    base: CentralMechanism
    relation: str = TOTAL_PUBLIC

    @classmethod
    def of(cls, base: CentralMechanism) -> ProjectedMechanism:
        """The mechanism that projects the answers of this one."""
        return cls("gaussian-projection", base)

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

    def verify(self) -> Verification:
        """As of the base: the projection is post-processing by a public number."""
        return self.base.verify()

    @cached_property
    def hull(self) -> Hull:
        """conv{W_1, …, W_n}."""
        return Hull(self.workload.matrix())

    def project(self, answers: FloatArray, users: float) -> FloatArray:
        """The nearest answers of a histogram of this total; columns of (k,) or (k, trials)."""
        if users == 0.0:
            return np.zeros_like(answers)
        columns = answers.reshape(len(answers), -1).T / users
        nearest = np.stack([self.hull.project(column).point for column in columns], axis=1)
        return np.asarray(users * nearest.reshape(answers.shape))

    def release(self, data: Any) -> FloatArray:
        """Private answers, (k,), with noise from the operating system; the total of ``data`` is taken to be public."""
        x = checked_data(self.workload, data)
        return self.project(self.base.release(x), float(x.sum()))

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
    ) -> sequential.Simulated:
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
