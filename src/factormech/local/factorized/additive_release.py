r"""Columns with Laplace or Gaussian noise in every coordinate, decoded for a workload (``local/matrix_mechanism.py``).

With R = WP(AP)⁺ the answers are W1/N + R(Ȳ − ā), ā the mean column, and every type adds the same noise:

.. math:: S_u = s^2 RR^\top, \qquad
          K_q(τ) = -\sum_i \log(1 - b^2τ^2R_{qi}^2) \;\text{(Laplace, scale } b,\; s^2 = 2b^2), \qquad
          \tfrac12 s^2τ^2\|R_q\|^2 \;\text{(Gaussian)} .
"""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np

from factormech.arrays import FloatArray, IntArray
from factormech.errors import BadValue
from factormech.local.factorized.factors import LocalFactorization
from factormech.local.factorized.release import LocalRelease
from factormech.local.noisy_columns import NoisyColumns


class AdditiveRelease(LocalRelease):
    """Factors whose right one is the columns with noise."""

    def __init__(self, name: str, factors: LocalFactorization, noisy: NoisyColumns) -> None:
        if noisy.noise not in ("laplace", "gaussian"):
            raise BadValue("noise", noisy.noise, "be laplace or gaussian", "give ball reports to FactorizationRelease")
        if not np.array_equal(factors.right, noisy.columns):
            raise BadValue("factors", factors.right.shape, "end in the columns that are reported", "give R of them")
        self.name, self.factors, self.noisy = name, factors, noisy
        self.workload, self.bias, self.distance = factors.workload, factors.bias, factors.distance
        self.epsilon, self.delta = noisy.epsilon, noisy.delta

    @cached_property
    def query_variances(self) -> FloatArray:
        rows = np.einsum("qs,qs->q", self.factors.left, self.factors.left)
        return np.asarray(np.repeat(self.noisy.second_moment * rows[:, None], self.domain_size, axis=1))

    def noise_root(self, histogram: FloatArray) -> FloatArray:
        return np.asarray(math.sqrt(self.noisy.second_moment * float(histogram.sum())) * self.factors.left)

    def log_moments(self, tau: float) -> FloatArray:
        R = self.factors.left
        if self.noisy.noise == "gaussian":
            return np.asarray(0.5 * tau**2 * np.tile(self.noisy.second_moment * np.einsum("qs,qs->q", R, R), 2))
        squares = (self.noisy.scale * tau * R) ** 2
        if float(squares.max(initial=0.0)) >= 1.0:
            return np.full(2 * len(R), math.inf)
        return np.tile(-np.log1p(-squares).sum(axis=1), 2)

    def estimates(self, counts: IntArray, trials: int, rng: np.random.Generator) -> FloatArray:
        sums = self.noisy.simulate_deviations(counts, np.zeros(len(self.noisy.columns)), trials, rng)
        return np.asarray((self.factors.left @ (sums / counts.sum())).T - self.factors.shift)

    def simulation_refusal(self, users: int) -> str:
        return self.noisy.simulation_refusal(users)

    def privacy_loss(self) -> float:
        return self.noisy.privacy_loss
