r"""Marginals: for each set S of attributes, how many users agree with each of the 2^|S| settings of S."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import comb

import numpy as np

from factormech.arrays import FloatArray, IntArray, check_dense_size
from factormech.workloads import binary
from factormech.workloads.base import Workload, scatter

# Cells of marginal tables that are computed at a time: bounds the memory of an answer beside the answer.
BLOCK = 2**20


class Marginals(Workload):
    r"""All marginal tables of the given ``widths`` over n = 2^d types.

    Order: by width, then by increasing mask of S, then by cell c = 0 … 2^|S| − 1, whose bits are the values
    of the attributes of S from the lowest on (bit 0 of c is the value of the lowest attribute of S).

    The indicator that u and v agree on S is 2^{−|S|} Σ_{T⊆S} χ_T(u)χ_T(v). Hence G has the eigenvalue
    Σ_k C(d − |T|, k − |T|) 2^{d−k} on parity T, the sum over the widths k; and a table is the inverse
    transform, over S alone, of the 2^|S| Walsh coefficients of the data at subsets of S.
    """

    def __init__(self, name: str, domain_size: int, widths: Iterable[int]) -> None:
        super().__init__(name, domain_size)
        self.widths = tuple(widths)
        self.d = binary.attributes(domain_size, max(self.widths))

    @property
    def queries(self) -> int:
        return sum(comb(self.d, k) << k for k in self.widths)

    def _blocks(self) -> Iterator[tuple[slice, int, IntArray]]:
        """Consecutive tables of one width: their queries, the width k, and the (2^k, tables) subset masks."""
        start = 0
        for k in self.widths:
            S = binary.sets(self.d, [k])
            step = max(1, BLOCK >> k)
            for first in range(0, len(S), step):
                masks = _subsets(S[first : first + step], k)
                yield slice(start, start + masks.size), k, masks
                start += masks.size

    def answer(self, x: FloatArray) -> FloatArray:
        x = self._over_types(x)
        check_dense_size(f"answers of workload {self.name}", self.queries, x[0].size)
        coefficients = binary.transform(x)
        answers = np.empty((self.queries, *x.shape[1:]))
        for rows, k, masks in self._blocks():
            tables = binary.transform(coefficients[masks]) / 2**k
            answers[rows] = np.swapaxes(tables, 0, 1).reshape(masks.size, *x.shape[1:])
        return answers

    def adjoint(self, y: FloatArray) -> FloatArray:
        y, n = self._over_queries(y), self.domain_size
        coefficients = np.zeros((n, *y.shape[1:]))
        for rows, k, masks in self._blocks():
            tables = np.swapaxes(y[rows].reshape(*masks.shape[::-1], *y.shape[1:]), 0, 1)
            values = binary.transform(tables) / 2**k
            coefficients += scatter(masks.ravel(), values.reshape(y[rows].shape), n)
        return binary.transform(coefficients)

    def column_sums(self) -> FloatArray:
        return self.gram_diagonal()

    def walsh_spectrum(self) -> FloatArray | None:
        d = self.d
        return binary.by_size(sum(comb(d - t, k - t) << (d - k) for k in self.widths if k >= t) for t in range(d + 1))

    def gram_diagonal(self) -> FloatArray:
        return np.full(self.domain_size, float(binary.count(self.d, self.widths)))

    def frobenius_squared(self) -> float:
        return float(binary.count(self.d, self.widths) * self.domain_size)

    def total_squared(self) -> float:
        return float(sum(comb(self.d, k) << (2 * self.d - k) for k in self.widths))


def _subsets(S: IntArray, k: int) -> IntArray:
    """The subsets of sets of k attributes, (2^k, sets): row c holds those picked by the bits of c."""
    masks = np.zeros((1, len(S)), dtype=np.int64)
    rest = S.copy()
    for _ in range(k):
        lowest = rest & -rest
        masks = np.concatenate([masks, masks | lowest])
        rest ^= lowest
    return masks


def exactly(name: str, domain_size: int, k: int) -> Marginals:
    """Registered as ``{k}-way-marginals``."""
    return Marginals(name, domain_size, [k])


def at_most(name: str, domain_size: int, k: int) -> Marginals:
    """Registered as ``at-most-{k}-way-marginals``: widths 0, 1, …, k together."""
    return Marginals(name, domain_size, range(k + 1))


def of_all_widths(name: str, domain_size: int) -> Marginals:
    """Registered as ``all-marginals``: p = 3^d queries, eigenvalue 3^{d−|T|} on parity T."""
    return Marginals(name, domain_size, range(binary.attributes(domain_size) + 1))
