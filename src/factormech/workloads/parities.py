r"""Parities: for each set S of attributes, the sum over users of χ_S(u) = (−1)^{|S ∩ u|}, or in 0/1."""

from __future__ import annotations

from collections.abc import Iterable
from math import sqrt

import numpy as np

from factormech.arrays import FloatArray, IntArray, check_dense_size
from factormech.workloads import binary
from factormech.workloads.base import Workload, padded, scatter


class Parities(Workload):
    """The rows χ_S for the sets S of the given ``sizes``; by size, then by increasing mask of S.

    With ``sizes = None`` these are the sets of all sizes, by increasing mask: W is the Hadamard matrix.
    The rows are orthogonal and of squared norm n, so G has the eigenvalue n on the parities of the family.
    """

    def __init__(self, name: str, domain_size: int, sizes: Iterable[int] | None) -> None:
        super().__init__(name, domain_size)
        self.by_mask = sizes is None
        self.d = binary.attributes(domain_size)
        self.sizes = tuple(range(self.d + 1) if sizes is None else sizes)
        binary.attributes(domain_size, max(self.sizes))

    @property
    def queries(self) -> int:
        return binary.count(self.d, self.sizes)

    def _family(self) -> IntArray:
        """The masks of the sets, in the order of the queries."""
        return np.arange(self.domain_size) if self.by_mask else binary.sets(self.d, self.sizes)

    def _indicator(self) -> FloatArray:
        """f: 1 at the masks of the family, 0 elsewhere."""
        return binary.by_size(int(size in self.sizes) for size in range(self.d + 1))

    def answer(self, x: FloatArray) -> FloatArray:
        return binary.transform(self._over_types(x))[self._family()]

    def adjoint(self, y: FloatArray) -> FloatArray:
        return binary.transform(scatter(self._family(), self._over_queries(y), self.domain_size))

    def column_sums(self) -> FloatArray:
        return binary.transform(self._indicator())

    def walsh_spectrum(self) -> FloatArray | None:
        return self.domain_size * self._indicator()

    def gram_diagonal(self) -> FloatArray:
        return np.full(self.domain_size, float(self.queries))

    def frobenius_squared(self) -> float:
        return float(self.queries * self.domain_size)

    def total_squared(self) -> float:
        """Only the empty parity has a non-zero sum over all types, n."""
        return float(self.domain_size**2 if 0 in self.sizes else 0)


class BooleanParities(Parities):
    r"""The rows (1 + χ_S)/2, in the order of :class:`Parities`: how many users have an even number of S.

    In the orthonormal basis e_S = χ_S/√n, with F the family, f its indicator and 0 the empty set,
    G = (n/4)(|F| e₀e₀ᵀ + e₀fᵀ + fe₀ᵀ + diag f). On the parities of F beside the empty one (say m, their
    indicator f′) it is n/4 times the identity, but for the plane of e₀ and f′, where it is n/4 times
    [[c, √m], [√m, 1]], c = |F| + 3 if the empty parity is in F and |F| otherwise. PGP is the rest,
    (n/4) diag f′, which u ⊕ v decides; it does not decide G.
    """

    def _centred_size(self) -> int:
        """m: how many parities beside the empty one there are."""
        return self.queries - (0 in self.sizes)

    def answer(self, x: FloatArray) -> FloatArray:
        return np.asarray(0.5 * (self._over_types(x).sum(axis=0) + super().answer(x)))

    def adjoint(self, y: FloatArray) -> FloatArray:
        return np.asarray(0.5 * (self._over_queries(y).sum(axis=0) + super().adjoint(y)))

    def column_sums(self) -> FloatArray:
        """(|F| + s)/2 with s_u = Σ_{S∈F} χ_S(u): also the squared column norms, the entries being 0 or 1."""
        return np.asarray(0.5 * (self.queries + super().column_sums()))

    def walsh_spectrum(self) -> FloatArray | None:
        return None

    def centred_walsh_spectrum(self) -> FloatArray | None:
        g = 0.25 * self.domain_size * self._indicator()
        g[0] = 0.0
        return g

    def gram(self) -> FloatArray:
        """G_uv = (|F| + s_u + s_v + s_{u⊕v})/4."""
        check_dense_size("gram matrix", self.domain_size, self.domain_size)
        G = binary.group_matrix(0.25 * self.domain_size * self._indicator())
        s = 0.25 * super().column_sums()
        G += s[:, None]
        G += s + 0.25 * self.queries
        return G

    def gram_times(self, x: FloatArray) -> FloatArray:
        return self.adjoint(self.answer(x))

    def gram_diagonal(self) -> FloatArray:
        return self.column_sums()

    def frobenius_squared(self) -> float:
        """Half of the |F|n entries are ones, and those of the empty parity's row all are."""
        return float((self.queries + (0 in self.sizes)) * self.domain_size // 2)

    def total_squared(self) -> float:
        """Return ‖W1‖²: a row sums to n/2, and that of the empty parity to n."""
        return float((self.queries + 3 * (0 in self.sizes)) * self.domain_size**2) / 4

    def singular_values(self) -> FloatArray:
        m, c = self._centred_size(), self.queries + 3 * (0 in self.sizes)
        plane = np.array([c * 1.0]) if m == 0 else _plane(float(c), float(m))
        rest = np.ones(max(m - 1, 0))
        return padded(0.5 * np.sqrt(self.domain_size * np.concatenate([plane, rest])), self.domain_size)

    def centred_singular_values(self) -> FloatArray:
        return padded(np.full(self._centred_size(), 0.5 * sqrt(self.domain_size)), self.domain_size)


def _plane(c: float, m: float) -> FloatArray:
    """Eigenvalues of [[c, √m], [√m, 1]]; the smaller one from the determinant, so that nothing cancels."""
    larger = 0.5 * (c + 1 + sqrt((c - 1) ** 2 + 4 * m))
    return np.array([larger, (c - m) / larger])


def of_all_sizes(name: str, domain_size: int) -> Parities:
    """Registered as ``parities``: all 2^d, the Hadamard matrix."""
    return Parities(name, domain_size, None)


def exactly(name: str, domain_size: int, k: int) -> Parities:
    """Registered as ``{k}-way-parities``."""
    return Parities(name, domain_size, [k])


def at_most(name: str, domain_size: int, k: int) -> Parities:
    """Registered as ``at-most-{k}-way-parities``: sizes 0, 1, …, k together."""
    return Parities(name, domain_size, range(k + 1))


def of_all_sizes_01(name: str, domain_size: int) -> Parities:
    """Registered as ``parities-01``."""
    return BooleanParities(name, domain_size, None)


def exactly_01(name: str, domain_size: int, k: int) -> Parities:
    """Registered as ``{k}-way-parities-01``."""
    return BooleanParities(name, domain_size, [k])


def at_most_01(name: str, domain_size: int, k: int) -> Parities:
    """Registered as ``at-most-{k}-way-parities-01``."""
    return BooleanParities(name, domain_size, range(k + 1))
