"""Symmetric matrices as vectors: svec lists the entries i ≤ j, those off the diagonal times √2, and keeps products."""

from __future__ import annotations

import numpy as np

from factormech.arrays import FloatArray


class Pairs:
    """The pairs i ≤ j of r indices, in the order of svec."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.first, self.second = np.triu_indices(size)
        self.weight = np.where(self.first == self.second, 1.0, np.sqrt(2.0))

    def __len__(self) -> int:
        return len(self.weight)

    def vector(self, A: FloatArray) -> FloatArray:
        """svec(A)."""
        return np.asarray(A[self.first, self.second] * self.weight)

    def matrix(self, a: FloatArray) -> FloatArray:
        """The symmetric matrix with svec a."""
        A = np.empty((self.size, self.size))
        A[self.first, self.second] = A[self.second, self.first] = a / self.weight
        return A

    def squares(self, columns: FloatArray) -> FloatArray:
        """svec(ζζᵀ) for each row ζ of ``columns``."""
        return np.asarray(columns[:, self.first] * columns[:, self.second] * self.weight)

    def sandwich(self, A: FloatArray, B: FloatArray) -> FloatArray:
        """The matrix, on svec, of the map X ↦ AXB + BXA for symmetric A and B."""
        i, j = self.first, self.second
        full = A[i][:, i] * B[j][:, j] + A[i][:, j] * B[j][:, i] + B[i][:, i] * A[j][:, j] + B[i][:, j] * A[j][:, i]
        return np.asarray(0.5 * full * self.weight[:, None] * self.weight)
