r"""The factorization mechanism: every user reports a column of A through a randomizer of the unit ball.

Edmonds, Nikolov & Ullman (STOC 2020, Theorem 10); row shifts and approximation as in Edmonds (PhD thesis, 2023,
Theorems 12 and 23).
With s = ‖A‖_{1→2}, a user of type u reports Y with E Y = a_u = A_u/s, and the curator answers

.. math:: s\,R\,\bar Y - c, \qquad S_u = s^2\,R \operatorname{Cov}(Y \mid u) R^\top .

**Second moments.** The randomizers are equivariant under rotations, so E[YYᵀ] = β(r)I + g(r)x̂x̂ᵀ, r = ‖x‖, and for all
of them β and g are quadratic in r: additive noise has g = r², reports that are free or loyal to x̂ are linear in how
often they are loyal. The coefficients are read off the randomizer at three points, and a fourth one checks them.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from factormech.arrays import FloatArray, IntArray
from factormech.errors import BadValue
from factormech.local.factorized.factors import LocalFactorization
from factormech.local.factorized.release import LocalRelease
from factormech.local.randomizers.base import BallRandomizer, units


class FactorizationRelease(LocalRelease):
    """Factors, and the randomizer of their columns."""

    def __init__(self, name: str, factors: LocalFactorization, randomizer: BallRandomizer) -> None:
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
    def _moments(self) -> tuple[FloatArray, FloatArray]:
        """β and g of every type, (N,) each."""
        r = np.linalg.norm(self.points, axis=1)
        across, along = rotation_moments(self.randomizer)
        return np.polynomial.polynomial.polyval(r, across), np.polynomial.polynomial.polyval(r, along)

    @cached_property
    def query_variances(self) -> FloatArray:
        return self.variances_of(self.decoder)

    def variances_of(self, rows: FloatArray) -> FloatArray:
        """(any, N): variance of each row times the report of one user of each type."""
        beta, g = self._moments
        x = self.points
        sizes = np.einsum("qs,qs->q", rows, rows)
        found = beta * sizes[:, None] + g * (rows @ units(x).T) ** 2 - (rows @ x.T) ** 2
        return np.asarray(np.maximum(found, 0.0))

    def noise_root(self, histogram: FloatArray) -> FloatArray:
        beta, g = self._moments
        x, axes = self.points, units(self.points)
        covariance = (axes.T * (histogram * g)) @ axes - (x.T * histogram) @ x
        covariance[np.diag_indices(self.dimension)] += beta @ histogram
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


def rotation_moments(randomizer: BallRandomizer) -> tuple[FloatArray, FloatArray]:
    """Coefficients (3,) of β(r) and g(r) in E[YYᵀ] = β(r)I + g(r)x̂x̂ᵀ, constants first; β is 0 in one dimension."""
    d, radii = randomizer.dimension, np.array([0.25, 0.5, 1.0, 0.75])
    along, across = np.empty(4), np.zeros(4)
    for i, r in enumerate(radii.tolist()):
        point = np.zeros(d)
        point[0] = r
        M = randomizer.second_moment(point)
        along[i] = M[0, 0]
        across[i] = M[1, 1] if d > 1 else 0.0
    powers = np.vander(radii, 3, increasing=True)
    values = np.stack([across, along - across], axis=1)
    coefficients = np.linalg.solve(powers[:3], values[:3])
    if float(np.max(np.abs(powers[3] @ coefficients - values[3]))) > 1e-9 * float(np.max(along + across)):
        rule = "have second moments β(r)I + g(r)x̂x̂ᵀ that are quadratic in r = ‖x‖"
        raise BadValue("randomizer", randomizer.name, rule, "use one whose reports do, or compute its covariances")
    return coefficients[:, 0], coefficients[:, 1]


def symmetric_root(covariance: FloatArray) -> FloatArray:
    """A matrix L with LLᵀ = a positive semidefinite one, eigenvalues below rounding being zero."""
    values, vectors = np.linalg.eigh(0.5 * (covariance + covariance.T))
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))
