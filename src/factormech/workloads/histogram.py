"""The two smallest workloads: how many users have each type, and how many users there are."""

from __future__ import annotations

import numpy as np

from factormech.arrays import FloatArray, check_dense_size
from factormech.workloads.base import Workload, padded
from factormech.workloads.binary import is_power_of_two


class Histogram(Workload):
    """W = I: query u counts the users of type u."""

    @property
    def queries(self) -> int:
        return self.domain_size

    def answer(self, x: FloatArray) -> FloatArray:
        return self._over_types(x).copy()

    def adjoint(self, y: FloatArray) -> FloatArray:
        return self._over_queries(y).copy()

    def column_sums(self) -> FloatArray:
        return np.ones(self.domain_size)

    def walsh_spectrum(self) -> FloatArray | None:
        return np.ones(self.domain_size) if is_power_of_two(self.domain_size) else None

    def gram(self) -> FloatArray:
        check_dense_size("gram matrix", self.domain_size, self.domain_size)
        return np.eye(self.domain_size)

    def gram_times(self, x: FloatArray) -> FloatArray:
        return self._over_types(x).copy()

    def gram_diagonal(self) -> FloatArray:
        return np.ones(self.domain_size)

    def total_squared(self) -> float:
        return float(self.domain_size)

    def singular_values(self) -> FloatArray:
        return np.ones(self.domain_size)

    def centred_singular_values(self) -> FloatArray:
        return padded(np.ones(self.domain_size - 1), self.domain_size)


class Total(Workload):
    """W = 1ᵀ: the one query counts all users, which is public where their number is."""

    @property
    def queries(self) -> int:
        return 1

    def answer(self, x: FloatArray) -> FloatArray:
        return np.asarray(self._over_types(x).sum(axis=0, keepdims=True))

    def adjoint(self, y: FloatArray) -> FloatArray:
        return np.repeat(self._over_queries(y), self.domain_size, axis=0)

    def column_sums(self) -> FloatArray:
        return np.ones(self.domain_size)

    def walsh_spectrum(self) -> FloatArray | None:
        if not is_power_of_two(self.domain_size):
            return None
        return padded(np.array([float(self.domain_size)]), self.domain_size)

    def gram(self) -> FloatArray:
        check_dense_size("gram matrix", self.domain_size, self.domain_size)
        return np.ones((self.domain_size, self.domain_size))

    def gram_times(self, x: FloatArray) -> FloatArray:
        return self.adjoint(self.answer(x))

    def gram_diagonal(self) -> FloatArray:
        return np.ones(self.domain_size)

    def total_squared(self) -> float:
        return float(self.domain_size**2)

    def singular_values(self) -> FloatArray:
        return padded(np.sqrt([float(self.domain_size)]), self.domain_size)

    def centred_singular_values(self) -> FloatArray:
        return np.zeros(self.domain_size)
