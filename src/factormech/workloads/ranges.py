"""Ranges of an ordered domain: prefix sums (the empirical distribution function) and all intervals."""

from __future__ import annotations

import numpy as np

from factormech.arrays import FloatArray, IntArray, check_dense_size
from factormech.workloads.base import Workload, padded, scatter


class Prefix(Workload):
    r"""Query i counts the users of types 0 … i, for i = 0 … n − 1, in this order.

    W is lower triangular with ones, so W⁻¹ is bidiagonal and (WᵀW)⁻¹ is tridiagonal, (−1, 2, −1) but for a
    1 in the first corner: the singular values of W are 1/(2 sin((2k−1)π/(4n+2))), k = 1 … n. (WP)⁺ inverts
    to the n − 1 differences of neighbours: those of WP are 1/(2 sin(kπ/2n)), k = 1 … n − 1, and 0.
    """

    @property
    def queries(self) -> int:
        return self.domain_size

    def answer(self, x: FloatArray) -> FloatArray:
        return np.cumsum(self._over_types(x), axis=0)

    def adjoint(self, y: FloatArray) -> FloatArray:
        return np.cumsum(self._over_queries(y)[::-1], axis=0)[::-1].copy()

    def column_sums(self) -> FloatArray:
        return np.arange(self.domain_size, 0, -1, dtype=np.float64)

    def gram(self) -> FloatArray:
        """G_uv = n − max(u, v): the queries from the later of both on hold them."""
        check_dense_size("gram matrix", self.domain_size, self.domain_size)
        remaining = self.column_sums()
        return np.minimum.outer(remaining, remaining)

    def gram_times(self, x: FloatArray) -> FloatArray:
        return self.adjoint(self.answer(x))

    def gram_diagonal(self) -> FloatArray:
        return self.column_sums()

    def frobenius_squared(self) -> float:
        n = self.domain_size
        return float(n * (n + 1) // 2)

    def total_squared(self) -> float:
        n = self.domain_size
        return float(n * (n + 1) * (2 * n + 1) // 6)

    def singular_values(self) -> FloatArray:
        n = self.domain_size
        return np.asarray(0.5 / np.sin(np.arange(1, 2 * n, 2) * np.pi / (4 * n + 2)))

    def centred_singular_values(self) -> FloatArray:
        n = self.domain_size
        return padded(0.5 / np.sin(np.arange(1, n) * np.pi / (2 * n)), n)


class AllRanges(Workload):
    r"""Query (l, r) counts the users of types l … r, for 0 ≤ l ≤ r < n, ordered by l, then by r.

    G_uv = (min(u, v) + 1)(n − max(u, v)) is (n + 1) times the Green's function of the path,
    K⁻¹ for K = tridiag(−1, 2, −1): its singular values are √(n+1)/(2 sin(kπ/(2(n+1)))), k = 1 … n. G commutes
    with reversing the domain. Antisymmetric vectors are orthogonal to 1 and keep their eigenvalues (even k);
    symmetric ones lose their mean, and have √(n+1)/(2 sin(jπ/n)), j = 1 … ⌈n/2⌉ − 1, instead.
    """

    @property
    def queries(self) -> int:
        return self.domain_size * (self.domain_size + 1) // 2

    def _first(self) -> IntArray:
        """The number of the query (l, l), for every l."""
        low = np.arange(self.domain_size)
        return low * self.domain_size - low * (low - 1) // 2

    def answer(self, x: FloatArray) -> FloatArray:
        x = self._over_types(x)
        check_dense_size(f"answers of workload {self.name}", self.queries, x[0].size)
        below = np.concatenate([np.zeros_like(x[:1]), np.cumsum(x, axis=0)])
        answers = np.empty((self.queries, *x.shape[1:]))
        # n contiguous differences, p numbers in all: faster than any gather, and no index arrays of size p.
        for low, first in enumerate(self._first()):
            length = self.domain_size - low
            np.subtract(below[low + 1 :], below[low], out=answers[first : first + length])
        return answers

    def adjoint(self, y: FloatArray) -> FloatArray:
        y, n = self._over_queries(y), self.domain_size
        low = np.arange(n)
        upper = np.arange(self.queries) - np.repeat(self._first() - low, n - low)
        steps = np.add.reduceat(y, self._first(), axis=0)  # the ranges that begin at u
        steps[1:] -= scatter(upper, y, n)[:-1]  # a range that ends at u − 1 no longer holds u
        return np.cumsum(steps, axis=0)

    def column_sums(self) -> FloatArray:
        u = np.arange(self.domain_size, dtype=np.float64)
        return np.asarray((u + 1.0) * (self.domain_size - u))

    def gram(self) -> FloatArray:
        check_dense_size("gram matrix", self.domain_size, self.domain_size)
        u = np.arange(1.0, self.domain_size + 1.0)
        # The smaller of (u+1)(n−v) and (v+1)(n−u) is the one with the smaller type in front.
        one_way = np.outer(u, u[::-1])
        return np.minimum(one_way, one_way.T)

    def gram_times(self, x: FloatArray) -> FloatArray:
        """Return the product by one sum from below and one from above, in O(n)."""
        x = self._over_types(x)
        u = np.arange(1.0, self.domain_size + 1.0).reshape((-1,) + (1,) * (x.ndim - 1))
        result = u[::-1] * np.cumsum(u * x, axis=0)
        above = np.cumsum((u[::-1] * x)[:0:-1], axis=0)[::-1]
        result[:-1] += u[:-1] * above
        return np.asarray(result)

    def gram_diagonal(self) -> FloatArray:
        return self.column_sums()

    def frobenius_squared(self) -> float:
        n = self.domain_size
        return float(n * (n + 1) * (n + 2) // 6)

    def total_squared(self) -> float:
        n = self.domain_size
        return float(n * (n + 1) ** 2 * (n + 2) // 12)

    def singular_values(self) -> FloatArray:
        n = self.domain_size
        return np.asarray(np.sqrt(n + 1) / (2 * np.sin(np.arange(1, n + 1) * np.pi / (2 * n + 2))))

    def centred_singular_values(self) -> FloatArray:
        n = self.domain_size
        antisymmetric = np.sin(np.arange(1, n // 2 + 1) * np.pi / (n + 1))
        symmetric = np.sin(np.arange(1, (n + 1) // 2) * np.pi / n)
        return padded(np.sqrt(n + 1) / (2 * np.concatenate([antisymmetric, symmetric])), n)
