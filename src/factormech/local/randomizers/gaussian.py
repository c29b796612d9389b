r"""Gaussian noise on a point of the unit ball: (ε, δ), unbiased, in any direction alike.

Y = x + σG, G standard normal. Two points of the ball are at most 2 apart, so σ is twice the least noise multiplier of
the analytic Gaussian mechanism (Balle & Wang, ICML 2018; :mod:`factormech.gaussian`), which is exact for the worst pair
±v: no smaller σ is (ε, δ)-private. A relative margin of 1e-12 covers the rounding of σ and of points that exceed the
ball by the rounding of their normalisation.

*In floating point* normal numbers have finitely many values; the guarantee is that of the real law.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from factormech.arrays import FloatArray, IntArray, check_epsilon, check_positive_integer
from factormech.errors import BadValue
from factormech.gaussian import check_delta, gaussian_delta, gaussian_noise_multiplier
from factormech.local.randomizers.base import check_batch, check_point, check_sums
from factormech.privacy import Guarantee

_DIAMETER = 2.0


@dataclass(frozen=True)
class GaussianNoise:
    """The randomizer of the unit ball of ℝ^dimension by Gaussian noise."""

    name: ClassVar[str] = "gaussian"

    dimension: int
    epsilon: float
    delta: float

    def __post_init__(self) -> None:
        check_positive_integer("dimension", self.dimension)
        check_epsilon(self.epsilon)
        check_delta(self.delta)

    @property
    def sigma(self) -> float:
        """Standard deviation of the noise in every direction."""
        return _DIAMETER * gaussian_noise_multiplier(self.epsilon, self.delta)

    @property
    def squared_norm(self) -> float:
        return self.dimension * self.sigma**2 + 1.0

    @property
    def worst_direction(self) -> float:
        return self.sigma**2

    @property
    def worst_second_moment(self) -> float:
        return self.sigma**2 + 1.0

    @property
    def subgaussian_proxy(self) -> float:
        return self.sigma**2

    @property
    def guarantee(self) -> Guarantee:
        return Guarantee(self.epsilon, self.delta)

    def privacy_loss(self) -> float:
        """ε, checked: the exact δ of this σ at ε is at most the promised one."""
        found = gaussian_delta(self.sigma / _DIAMETER, self.epsilon)
        if not found <= self.delta:
            raise BadValue("delta", self.delta, f"be at least the noise's, {found!r}", "give a larger delta")
        return self.epsilon

    def covariance(self, point: FloatArray) -> FloatArray:
        check_point(point, self.dimension)
        return np.asarray(self.sigma**2 * np.eye(self.dimension))

    def second_moment(self, point: FloatArray) -> FloatArray:
        x = check_point(point, self.dimension)
        return np.asarray(self.covariance(x) + np.outer(x, x))

    def sample(self, points: FloatArray, rng: np.random.Generator) -> FloatArray:
        x = check_batch(points, self.dimension)
        reports = rng.standard_normal(x.shape)
        reports *= self.sigma
        reports += x
        return np.asarray(reports)

    def sample_sums(self, points: FloatArray, counts: IntArray, trials: int, rng: np.random.Generator) -> FloatArray:
        x, counts, trials = check_sums(points, counts, trials, self.dimension)
        spread = self.sigma * np.sqrt(float(counts.sum()))
        return np.asarray(counts @ x + spread * rng.standard_normal((trials, self.dimension)))

    def simulation_refusal(self, types: int, users: int) -> str:
        """Nothing: the noise of a sum is one Gaussian."""
        del types, users
        return ""
