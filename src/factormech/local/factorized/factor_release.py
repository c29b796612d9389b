r"""The factorization mechanism: every user reports a column of A through a randomizer of the unit ball.

Edmonds, Nikolov & Ullman (STOC 2020, §4); row shifts and approximation as in Edmonds (PhD thesis, 2023, chapter 5).
With s = ‖A‖_{1→2}, a user of type u reports Y with E Y = a_u = A_u/s, and the curator answers

.. math:: s\,R\,\bar Y - c, \qquad S_u = s^2\,R \operatorname{Cov}(Y \mid u) R^\top .

**Second moments.** The randomizers are equivariant under rotations, so E[YYᵀ] = βI + g(‖x‖)·x̂x̂ᵀ, and for all of them
g(r) = g₀ + g₁r²: reports that are first rounded to ±x̂ have a g that does not depend on r, and additive noise has
g = r². β, g₀ and g₁ are read off the randomizer at three points, one of which checks them.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from factormech.arrays import FloatArray, IntArray
from factormech.errors import BadValue
from factormech.local.factorized.factors import Factorization
from factormech.local.factorized.release import LocalRelease
from factormech.local.randomizers.base import BallRandomizer, units


class FactorizationRelease(LocalRelease):
    """Factors, and the randomizer of their columns."""

    def __init__(self, name: str, factors: Factorization, randomizer: BallRandomizer) -> None:
        R, A = factors.left, factors.right
        if randomizer.dimension != len(A):
            rule = f"be a randomizer of dimension {len(A)}, the number of rows of A"
            raise BadValue("randomizer", randomizer.dimension, rule, "build it for the factors")
        self.name, self.factors, self.randomizer = name, factors, randomizer
        self.workload, self.bias, self.distance = factors.workload, factors.bias, factors.distance
        self.epsilon, self.delta = randomizer.epsilon, randomizer.delta
        # Divided by the largest norm, columns are in the unit ball but for the rounding that randomizers allow for.
        self.points = np.ascontiguousarray(A.T / factors.column_norm)
        self.decoder = np.asarray(factors.column_norm * R)

    @property
    def dimension(self) -> int:
        """Of a report."""
        return int(self.points.shape[1])

    @property
    def norm_product(self) -> float:
        """‖R‖_{2→∞}‖A‖_{1→2}."""
        return self.factors.row_norm * self.factors.column_norm

    @cached_property
    def _moments(self) -> tuple[float, FloatArray]:
        """β, and g(‖a_u‖) by type (N,)."""
        across, fixed, growing = rotation_moments(self.randomizer)
        return across, fixed + growing * np.einsum("us,us->u", self.points, self.points)

    @cached_property
    def query_variances(self) -> FloatArray:
        beta, g = self._moments
        R, x = self.decoder, self.points
        rows = np.einsum("qs,qs->q", R, R)
        found = beta * rows[:, None] + g * (R @ units(x).T) ** 2 - (R @ x.T) ** 2
        return np.asarray(np.maximum(found, 0.0))

    def noise_root(self, histogram: FloatArray) -> FloatArray:
        beta, g = self._moments
        x, axes = self.points, units(self.points)
        covariance = (axes.T * (histogram * g)) @ axes - (x.T * histogram) @ x
        covariance[np.diag_indices(self.dimension)] += beta * histogram.sum()
        return np.asarray(self.decoder @ symmetric_root(covariance))

    def log_moments(self, tau: float) -> FloatArray:
        """v‖s·R_q‖²τ²/2, v the randomizer's subgaussian proxy."""
        rows = np.einsum("qs,qs->q", self.decoder, self.decoder)
        return np.asarray(np.tile(0.5 * self.randomizer.subgaussian_proxy * tau**2 * rows, 2))

    def estimates(self, counts: IntArray, trials: int, rng: np.random.Generator) -> FloatArray:
        sums = self.randomizer.sample_sums(self.points, counts, trials, rng)
        return np.asarray(sums / counts.sum() @ self.decoder.T - self.factors.shift)

    def simulation_refusal(self, users: int) -> str:
        return self.randomizer.simulation_refusal(self.domain_size, users)

    def privacy_loss(self) -> float:
        return self.randomizer.privacy_loss()


def rotation_moments(randomizer: BallRandomizer) -> tuple[float, float, float]:
    """(β, g₀, g₁) with E[YYᵀ] = βI + (g₀ + g₁‖x‖²)x̂x̂ᵀ; in one dimension β is 0."""
    d = randomizer.dimension
    along, across = np.empty(3), np.zeros(3)
    for i, r in enumerate((1.0, 0.5, 0.25)):
        point = np.zeros(d)
        point[0] = r
        M = randomizer.second_moment(point)
        along[i] = M[0, 0]
        across[i] = M[1, 1] if d > 1 else 0.0
    g = along - across
    growing = float(g[0] - g[1]) / 0.75
    fixed = float(g[0]) - growing
    rounding = 1e-9 * float(along[0] + across[0])
    if np.ptp(across) > rounding or abs(fixed + growing / 16.0 - float(g[2])) > rounding:
        rule = "have second moments βI + (g₀ + g₁‖x‖²)x̂x̂ᵀ"
        raise BadValue("randomizer", randomizer.name, rule, "use one whose reports do, or compute its covariances")
    return float(across[0]), fixed, growing


def symmetric_root(covariance: FloatArray) -> FloatArray:
    """A matrix L with LLᵀ = a positive semidefinite one, eigenvalues below rounding being zero."""
    values, vectors = np.linalg.eigh(0.5 * (covariance + covariance.T))
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))
