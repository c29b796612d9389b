r"""Coarse JL: the JL release of a net of the columns, chosen from Q alone (Nikolov, SODA 2023, Algorithm 2).

One greedy pass over the columns keeps each that is more than α√k/2 away from all that are kept; every other one lies
within α√k/2 of a kept one, and answers as its nearest. So answers move by at most α/2 (a mean of columns moves at most
as far as the farthest column), and the release of the kept columns has α/2 left. The net is narrower than K, sometimes
by much: with few kept columns the noise is small too.

Replacing one person replaces one column of the net by another, so the guarantee is that of JL release on the net. k
counts the queries, repeated and constant ones included, as the error does.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from factormech.arrays import FloatArray, IntArray
from factormech.central.pure.bodies import checked_queries
from factormech.central.pure.jl import JLDraws, JLRelease
from factormech.central.pure.laws import Law
from factormech.central.pure.mechanism import checked_counts
from factormech.errors import BadValue
from factormech.privacy import Guarantee
from factormech.unavailable import Unavailable
from factormech.workloads.base import scatter


@dataclass(frozen=True)
class Net:
    """Kept columns (their indices in Q, in its order), and for every column of Q the position of its nearest one.

    ``rounding`` is the largest distance to it over √k, at most α/2.
    """

    kept: IntArray
    nearest: IntArray
    rounding: float

    def counts(self, data: FloatArray) -> FloatArray:
        """Counts of the kept columns."""
        return scatter(self.nearest, data, len(self.kept))


def greedy_net(queries: Any, alpha: float) -> Net:
    """One pass over the columns of Q in their order; a distance of exactly α√k/2 is not kept."""
    Q = checked_queries(queries)
    if isinstance(alpha, bool) or not isinstance(alpha, (int, float)) or not 0.0 < alpha < math.inf:
        raise BadValue("alpha", alpha, "be a finite number above 0", "give for example 0.1")
    V = np.ascontiguousarray(Q.T)
    N, separation = len(V), 0.5 * alpha * math.sqrt(len(Q))
    closest, nearest = np.full(N, np.inf), np.zeros(N, dtype=np.int64)
    kept: list[int] = []
    for i in range(N):
        if closest[i] > separation:
            # Distances to all columns, also the earlier ones: their nearest kept column may come after them.
            distances = np.linalg.norm(V - V[i], axis=1)
            nearer = distances < closest
            closest[nearer], nearest[nearer] = distances[nearer], len(kept)
            kept.append(i)
    return Net(np.array(kept, dtype=np.int64), nearest, float(closest.max()) / math.sqrt(len(Q)))


@dataclass(frozen=True)
class CoarseDraws:
    """Draws of the JL release of a net."""

    net: Net
    inner: JLDraws

    def answers(self, data: Any) -> FloatArray:
        return self.inner.answers(self.net.counts(checked_counts(data, len(self.net.nearest))))


@dataclass(frozen=True)
class CoarseJLRelease:
    """Algorithm 2 for an error α: the error measured against Q(X) includes the net's rounding."""

    queries: FloatArray
    net: Net
    inner: JLRelease

    @classmethod
    def of(
        cls,
        queries: Any,
        law: Law,
        alpha: float,
        rows: int,
        *,
        matrix: str = "gaussian",
        ties: str = "corral",
    ) -> CoarseJLRelease:
        """For a query matrix Q, (k, N), and the error α that the net is made for."""
        Q = checked_queries(queries)
        net = greedy_net(Q, alpha)
        return cls(Q, net, JLRelease.of(Q[:, net.kept], law, rows, matrix=matrix, ties=ties))

    @property
    def name(self) -> str:
        return "coarse-jl"

    @property
    def guarantee(self) -> Guarantee:
        return self.inner.guarantee

    def draw(self, rng: np.random.Generator, draws: int) -> CoarseDraws | Unavailable:
        inner = self.inner.draw(rng, draws)
        return inner if isinstance(inner, Unavailable) else CoarseDraws(self.net, inner)
