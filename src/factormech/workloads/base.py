"""What every workload offers, computed from its Gram matrix unless a family knows better."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from factormech.arrays import FloatArray, check_dense_size, check_positive_integer


class Workload(ABC):
    r"""A set of ``queries`` linear queries over ``domain_size`` user types: the rows of W.

    Nothing here needs W itself. Errors depend on it only through the Gram matrix G = WᵀW, and answers are
    computed by the family's own transform. A family overrides what it knows in closed form; the defaults
    below follow from :meth:`gram`.

    Notation: n = ``domain_size``, p = ``queries``, P = I − 11ᵀ/n.
    """

    name: str
    domain_size: int

    def __init__(self, name: str, domain_size: int) -> None:
        self.name = name
        self.domain_size = check_positive_integer("domain_size", domain_size)

    @property
    @abstractmethod
    def queries(self) -> int:
        """Number of queries p."""

    @abstractmethod
    def answer(self, x: FloatArray) -> FloatArray:
        """Wx for data x of shape (n,) or (n, c); the result has shape (p,) or (p, c)."""

    @abstractmethod
    def gram(self) -> FloatArray:
        """G = WᵀW as a new dense (n, n) array; refused where it would not fit in memory."""

    def matrix(self) -> FloatArray:
        """W as a dense (p, n) array; refused where it would not fit in memory."""
        check_dense_size(f"matrix of workload {self.name}", self.queries, self.domain_size)
        return self.answer(np.eye(self.domain_size))

    def gram_times(self, x: FloatArray) -> FloatArray:
        """WᵀWx for x of shape (n,) or (n, c)."""
        return np.asarray(self.gram() @ x)

    def gram_diagonal(self) -> FloatArray:
        """Squared column norms of W."""
        return np.diagonal(self.gram()).copy()

    def walsh_spectrum(self) -> FloatArray | None:
        """Eigenvalues of G by parity, if u ⊕ v alone decides G_uv; otherwise ``None``.

        Entry s belongs to the character u ↦ (−1)^{popcount(s & u)}: G = Σ_s g_s χ_s χ_sᵀ / n.
        """
        return None

    @abstractmethod
    def column_sums(self) -> FloatArray:
        """1ᵀW, of shape (n,)."""

    def frobenius_squared(self) -> float:
        """‖W‖_F² = tr G."""
        return float(np.sum(self.gram_diagonal()))

    def total_squared(self) -> float:
        """‖W1‖² = 1ᵀG1: the sum of squared row sums."""
        return float(np.sum(self.gram_times(np.ones(self.domain_size))))

    def centred_gram(self) -> FloatArray:
        """PGP, the only part of G that the error of a local mechanism depends on."""
        G = self.gram()
        G -= G.mean(axis=0, keepdims=True)
        G -= G.mean(axis=1, keepdims=True)
        return 0.5 * (G + G.T)

    def singular_values(self) -> FloatArray:
        """The n square roots of the eigenvalues of G, largest first (zeros included)."""
        return _roots(np.linalg.eigvalsh(self.gram()))

    def centred_singular_values(self) -> FloatArray:
        """The n square roots of the eigenvalues of PGP, largest first; the last one is 0."""
        values = _roots(np.linalg.eigvalsh(self.centred_gram()))
        values[-1] = 0.0
        return values


def _roots(eigenvalues: Any) -> FloatArray:
    """Square roots of the eigenvalues of a Gram matrix, rounding noise below zero removed, largest first."""
    largest = max(float(eigenvalues[-1]), 0.0)
    noise = len(eigenvalues) * np.finfo(float).eps * largest
    return np.sqrt(np.where(eigenvalues > noise, eigenvalues, 0.0))[::-1].copy()
