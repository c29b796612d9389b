r"""Noise, then the exact Euclidean projection on K, the hull of the columns of Q (Nikolov, Talwar & Zhang, SIAM J.
Comput. 45(2), 2016).

Ŷ = argmin_{y ∈ K} ‖Q(X) + Z/n − y‖. It is post-processing, and never moves away from Q(X) ∈ K; on every draw

.. math:: \lVert \hat Y - Q(X)\rVert^2 \le \langle Z/n, \hat Y - Q(X)\rangle
          \le \tfrac1n \max_x \langle Z, Q_x - Q(X)\rangle ,

as ⟨Q(X) + Z/n − Ŷ, Q(X) − Ŷ⟩ ≤ 0 at the projection. The release is biased: its error depends on the data.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from factormech.arrays import FloatArray
from factormech.central.pure.bodies import checked_queries
from factormech.central.pure.laws import Law
from factormech.central.pure.mechanism import checked_counts
from factormech.central.wolfe import Hull
from factormech.privacy import Guarantee
from factormech.unavailable import Unavailable


class Draws(Protocol):
    """Noise drawn once, which serves every data set and every n."""

    def answers(self, data: Any) -> FloatArray:
        """Released mean answers, (k, draws), of counts (N,)."""
        ...


class Release(Protocol):
    """A mechanism whose error depends on the data."""

    @property
    def queries(self) -> FloatArray:
        """Q, (k, N)."""
        ...

    @property
    def guarantee(self) -> Guarantee:
        """Its guarantee."""
        ...

    def draw(self, rng: np.random.Generator, draws: int) -> Draws | Unavailable:
        """All the randomness of ``draws`` releases; one random matrix, if there is any, for all of them."""
        ...


@dataclass(frozen=True)
class NoisyDraws:
    """Q(X) + Z/n, projected on ``hull`` if there is one; ``noise`` is (draws, k)."""

    queries: FloatArray
    noise: FloatArray
    hull: Hull | None

    def answers(self, data: Any) -> FloatArray:
        x = checked_counts(data, self.queries.shape[1])
        users = float(x.sum())
        Y = self.queries @ (x / users) + self.noise / users
        return (Y if self.hull is None else self.hull.project_all(Y).points).T


@dataclass(frozen=True)
class NoisyRelease:
    """Additive noise, with (``projected``) or without the projection on K."""

    queries: FloatArray
    law: Law
    projected: bool = True

    @classmethod
    def of(cls, queries: Any, law: Law, *, projected: bool = True) -> NoisyRelease:
        """For a query matrix Q, (k, N)."""
        return cls(checked_queries(queries), law, projected)

    @property
    def name(self) -> str:
        return f"{self.law.name}-projection" if self.projected else self.law.name

    @property
    def guarantee(self) -> Guarantee:
        return self.law.guarantee

    @cached_property
    def hull(self) -> Hull:
        """K."""
        return Hull(np.unique(self.queries, axis=1))

    def draw(self, rng: np.random.Generator, draws: int) -> NoisyDraws | Unavailable:
        Z = self.law.of(self.queries).draw(rng, draws)
        if isinstance(Z, Unavailable):
            return Z
        return NoisyDraws(self.queries, Z, self.hull if self.projected else None)

    def simulate_release(self, data: Any, rng: np.random.Generator, trials: int = 1) -> FloatArray | Unavailable:
        """Answers of repeated releases, (k, trials), for experiments: a seed is known, so nothing is private."""
        found = self.draw(rng, trials)
        return found if isinstance(found, Unavailable) else found.answers(data)
