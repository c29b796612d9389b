"""A mechanism that asks nobody: the answers are constants, where all types give the same ones (to the distance a)."""

from __future__ import annotations

import numpy as np

from factormech.arrays import FloatArray, IntArray, check_epsilon
from factormech.local.factorized.factors import LocalFactorization
from factormech.local.factorized.release import LocalRelease


class Constant(LocalRelease):
    """The answers −c of factors without inner dimension."""

    def __init__(self, name: str, factors: LocalFactorization, epsilon: float) -> None:
        self.name, self.factors, self.epsilon = name, factors, check_epsilon(epsilon)
        self.workload, self.bias, self.distance = factors.workload, factors.bias, factors.distance

    @property
    def query_variances(self) -> FloatArray:
        return np.zeros_like(self.workload)

    def noise_root(self, histogram: FloatArray) -> FloatArray:
        del histogram
        return np.zeros((self.queries, 1))

    def log_moments(self, tau: float) -> FloatArray:
        del tau
        return np.zeros(2 * self.queries)

    def estimates(self, counts: IntArray, trials: int, rng: np.random.Generator) -> FloatArray:
        del counts, rng
        return np.tile(-self.factors.shift, (trials, 1))

    def simulation_refusal(self, users: int) -> str:
        del users
        return ""

    def privacy_loss(self) -> float:
        """Nothing is reported."""
        return 0.0
