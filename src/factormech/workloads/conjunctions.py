r"""Monotone conjunctions of at most k attributes: for each S ⊆ [d], |S| ≤ k, how many users have all of S.

The queries of Corollary 6 of Edmonds, Nikolov & Ullman, *The Power of Factorization Mechanisms in Local and
Central Differential Privacy*, STOC 2020.
"""

from __future__ import annotations

from math import comb

import numpy as np

from factormech.arrays import FloatArray, check_dense_size
from factormech.workloads import binary
from factormech.workloads.base import Workload, padded, scatter
from factormech.workloads.binary import popcounts


class Conjunctions(Workload):
    r"""Registered as ``conjunctions-{k}``: W_Su = Π_{j∈S} u_j = [S ⊆ u], |S| ≤ k.

    Order: by size of S, then by increasing mask.

    G_uv = Σ_{j≤k} C(|u ∩ v|, j). W commutes with permutations of the attributes, and is the part |S| ≤ k of
    A⊗…⊗A, A = [[1, 1], [0, 1]]. (ℝ²)^{⊗d} splits into ⌊d/2⌋ + 1 kinds of invariant subspaces: kind i, with
    C(d, i) − C(d, i−1) copies, is i pairs e₀∧e₁ (on which A⊗A is det A = 1) and the symmetric power of degree
    m = d − 2i. In the orthonormal basis of its layers, W is there the small matrix
    B_ab = C(b, a) √(C(m, b)/C(m, a)), 0 ≤ a ≤ min(m, k − i), 0 ≤ b ≤ m: the spectrum of W is that of the B's.
    The vector 1 lies in kind 0, and is √C(d, b) on its layers, so centring touches only that B.
    """

    def __init__(self, name: str, domain_size: int, k: int) -> None:
        super().__init__(name, domain_size)
        self.d, self.k = binary.attributes(domain_size, k), k

    @property
    def queries(self) -> int:
        return binary.count(self.d, range(self.k + 1))

    def answer(self, x: FloatArray) -> FloatArray:
        """Return the answers by sums over supersets, one attribute after the other, in O(n log n)."""
        z = self._over_types(x).copy()
        for absent, present in self._pairs(z):
            absent += present
        return z[binary.sets(self.d, range(self.k + 1))]

    def adjoint(self, y: FloatArray) -> FloatArray:
        z = scatter(binary.sets(self.d, range(self.k + 1)), self._over_queries(y), self.domain_size)
        for absent, present in self._pairs(z):
            present += absent
        return z

    def _pairs(self, z: FloatArray) -> list[tuple[FloatArray, FloatArray]]:
        """For each attribute, the views of z where it is absent, and where it is present."""
        shapes = [(self.domain_size >> (j + 1), 2, (1 << j) * z[0].size) for j in range(self.d)]
        views = [z.reshape(shape) for shape in shapes]
        return [(view[:, 0], view[:, 1]) for view in views]

    def column_sums(self) -> FloatArray:
        return binary.by_size(self._table())

    def _table(self) -> list[int]:
        """Entry t: the number of sets of at most k out of t attributes."""
        return [sum(comb(t, j) for j in range(self.k + 1)) for t in range(self.d + 1)]

    def gram(self) -> FloatArray:
        n = self.domain_size
        check_dense_size("gram matrix", n, n)
        u = np.arange(n, dtype=np.int32)
        by_intersection = np.array(self._table(), dtype=np.float64)[popcounts(n)]
        return np.asarray(by_intersection[np.bitwise_and.outer(u, u)])

    def gram_times(self, x: FloatArray) -> FloatArray:
        return self.adjoint(self.answer(x))

    def gram_diagonal(self) -> FloatArray:
        return self.column_sums()

    def frobenius_squared(self) -> float:
        return float(sum(comb(self.d, j) << (self.d - j) for j in range(self.k + 1)))

    def total_squared(self) -> float:
        return float(sum(comb(self.d, j) << 2 * (self.d - j) for j in range(self.k + 1)))

    def singular_values(self) -> FloatArray:
        return self._spectrum(centred=False)

    def centred_singular_values(self) -> FloatArray:
        return self._spectrum(centred=True)

    def _spectrum(self, *, centred: bool) -> FloatArray:
        values = []
        for i in range(min(self.d // 2, self.k) + 1):
            B = _block(self.d - 2 * i, self.k - i)
            noise = max(B.shape) * np.finfo(float).eps * np.linalg.norm(B)
            if centred and i == 0:
                ones = np.sqrt([comb(self.d, b) / self.domain_size for b in range(self.d + 1)])
                B -= np.outer(B @ ones, ones)
            copies = comb(self.d, i) - (comb(self.d, i - 1) if i else 0)
            sigma = np.linalg.svd(B, compute_uv=False)
            values.append(np.repeat(np.where(sigma > noise, sigma, 0.0), copies))
        return padded(np.concatenate(values), self.domain_size)


def _block(m: int, k: int) -> FloatArray:
    """B of the symmetric power of degree m, and its layers of at most k."""
    rows = range(min(k, m) + 1)
    return np.array([[comb(b, a) * (comb(m, b) / comb(m, a)) ** 0.5 for b in range(m + 1)] for a in rows])
