r"""tr(C^{1/2}YC^{1/2})^{1/2} and its gradient, on halves where C is its own reflection.

Y = Diag p − N − ggᵀ/ω on the complement of 1. If C, p and N do not change when the types are reversed, even and odd
vectors separate, in the orthonormal basis (e_u ± e_ū)/√2 (or e_u, where u is its own reflection): two eigenproblems of
half the size.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from factormech.arrays import FloatArray, IntArray

# C is reflected into itself if it is up to this, relatively.
REFLECTION_TOLERANCE = 1e-9
# An eigenvalue of K below this, relatively, is on or behind the boundary of Y ⪰ 0.
BOUNDARY = 1e-15


@dataclass(frozen=True)
class RootTrace:
    """The eigenvalues κ of K = RᵀYR and the vectors RV, V the eigenvectors, of both halves."""

    halves: Halves
    even: tuple[FloatArray, FloatArray]
    odd: tuple[FloatArray, FloatArray]

    @property
    def trace(self) -> float:
        """T = tr K^{1/2}."""
        return float(np.sum(np.sqrt(self.even[0])) + np.sum(np.sqrt(self.odd[0])))

    @property
    def mean_logarithm(self) -> float:
        """log det K divided by the rank of C."""
        return float(np.sum(np.log(self.even[0])) + np.sum(np.log(self.odd[0]))) / self.rank

    @property
    def rank(self) -> int:
        """The rank of C."""
        return len(self.even[0]) + len(self.odd[0])

    def gradient(self, root: float = 1.0, logarithm: float = 0.0) -> FloatArray:
        """``root``·RK^{−1/2}Rᵀ + ``logarithm``·RK^{−1}Rᵀ: the derivatives by Y of 2T and of log det K."""
        parts = []
        for values, vectors in (self.even, self.odd):
            scaled = vectors * np.sqrt(root * values**-0.5 + logarithm / values)
            parts.append(scaled @ scaled.T)
        return self.halves.unfold(*parts)


@dataclass(frozen=True)
class Halves:
    """A root of C, on the even and on the odd vectors.

    Attributes
    ----------
    first, second
        One type of each orbit, and its partner: itself without a reflection, (h,).
    even, odd
        R in the orthonormal basis, (h, r) and (number of orbits of two, r').
    """

    first: IntArray
    second: IntArray
    even: FloatArray
    odd: FloatArray

    @classmethod
    def of(cls, centred_gram: FloatArray) -> Halves:
        """For any C = PCP."""
        C, n = centred_gram, len(centred_gram)
        reflected = np.abs(C - C[::-1, ::-1]).max() <= REFLECTION_TOLERANCE * np.abs(C).max()
        partner = np.arange(n)[::-1] if reflected else np.arange(n)
        first = np.flatnonzero(np.arange(n) <= partner)
        halves = cls(first, partner[first], np.empty((0, 0)), np.empty((0, 0)))
        even, odd = halves.fold(C)
        # Rounding is judged against the whole of C: a half may be zero, and the root of noise is not small.
        ones = halves.lengths / np.sqrt(n)  # C1 = 0 but for rounding
        even = even - np.outer(ones, ones @ even)
        even = even - np.outer(even @ ones, ones)
        scale = max(n, 4) * np.finfo(float).eps * float(np.trace(C))
        return cls(first, halves.second, _root(even, scale), _root(odd, scale))

    @property
    def paired(self) -> IntArray:
        """The orbits of two types."""
        return np.flatnonzero(self.first != self.second)

    @property
    def lengths(self) -> FloatArray:
        """√(orbit size), (h,)."""
        return np.where(self.first == self.second, 1.0, np.sqrt(2.0))

    @property
    def reflected(self) -> bool:
        """Whether C is its own reflection."""
        return len(self.paired) > 0

    @property
    def _slices(self) -> tuple[slice, slice, slice]:
        """``first``, ``second`` and ``paired``: slices copy in a fraction of the time that lists of places take."""
        orbits, pairs = len(self.first), len(self.paired)
        n = orbits + pairs
        return slice(0, orbits), slice(n - 1, n - 1 - orbits, -1) if pairs else slice(0, orbits), slice(0, pairs)

    def fold(self, matrix: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The even and the odd block of a symmetric matrix that the reflection preserves."""
        scales = 0.5 * np.outer(self.lengths, self.lengths)
        first, second, paired = self._slices
        same, cross = matrix[first, first] * scales, matrix[first, second] * scales
        return same + cross, (same - cross)[paired, paired]

    def unfold(self, even: FloatArray, odd: FloatArray) -> FloatArray:
        """The matrix with these blocks, (n, n)."""
        n = len(self.first) + len(self.paired)
        first, second, paired = self._slices
        same = even / np.outer(self.lengths, self.lengths)
        cross = same.copy()
        same[paired, paired] += 0.5 * odd
        cross[paired, paired] -= 0.5 * odd
        full = np.empty((n, n))
        full[first, second] = cross
        full[second, first] = cross.T
        full[first, first] = same
        full[second, second] = same
        return full

    def root_trace(self, p: FloatArray, N: FloatArray, g: FloatArray, omega: float) -> RootTrace | None:
        """K and its eigenvectors; nothing where Y ⪰ 0 fails on the range of C."""
        even_pairs, odd_pairs = self.fold(N)
        shifted = (self.lengths * (g - g.mean())[self.first])[:, None]
        even = _eigen(self.even, p[self.first], even_pairs + shifted @ shifted.T / omega)
        odd = _eigen(self.odd, p[self.first][self.paired], odd_pairs)
        values = np.concatenate([even[0], odd[0]])
        if not len(values) or not values.min() > BOUNDARY * values.max():
            return None
        return RootTrace(self, even, odd)


def _eigen(R: FloatArray, p: FloatArray, M: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Eigenvalues of Rᵀ(Diag p − M)R and R times the eigenvectors."""
    if not R.shape[1]:
        return np.zeros(0), np.zeros_like(R)
    values, vectors = np.linalg.eigh(R.T @ (p[:, None] * R - M @ R))
    return values, np.asarray(R @ vectors)


def _root(C: FloatArray, noise: float) -> FloatArray:
    """R of full column rank with RRᵀ = C but for eigenvalues up to ``noise``."""
    values, vectors = np.linalg.eigh(C)
    keep = values > noise
    return np.asarray(vectors[:, keep] * np.sqrt(values[keep]))
