"""The centred Gram matrix of a workload, with a bound on every entry's error: what proofs start from."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from factormech.arrays import FloatArray
from factormech.workloads.base import Workload

# Entries of G this close to whole numbers, relatively to the largest, are whole.
WHOLE = 1e-12
_UNIT = 2.0**-53
# Roundings of a Gram matrix from a closed form, of its mean and of two differences.
_ROUNDINGS = 32
# Bits of a whole entry less two shifts; a double has 53.
_BITS = 50


@dataclass(frozen=True)
class CentredGram:
    """A symmetric matrix A of floats near C = PGP.

    Attributes
    ----------
    matrix
        A, (n, n). Its rows sum to nearly 0.
    entry_error
        e: some matrix A' with |A' − A| ≤ e in every entry has PA'P = PGP. e is 0 for whole G.
    """

    matrix: FloatArray
    entry_error: float

    @classmethod
    def of(cls, workload: Workload) -> CentredGram:
        """The centred Gram matrix of a workload.

        Subtracting f1ᵀ + 1fᵀ from G changes nothing of PGP. For whole G, f is rounded to so few bits that both
        differences are exact. For other coefficients e covers the roundings of the Gram matrix, of up to one for each
        query, and of the differences.
        """
        G = as_whole(workload.gram())
        largest = float(np.abs(G).max(initial=0.0))
        means = G.mean(axis=1)
        f = means - 0.5 * float(means.mean())
        whole = np.array_equal(G, np.rint(G)) and largest < 2.0**_BITS
        if whole and largest > 0.0:
            bits = _BITS - math.frexp(largest)[1]
            f = np.ldexp(np.rint(np.ldexp(f, bits)), -bits)
        A = G - f[:, None] - f
        A = A if whole else 0.5 * (A + A.T)
        error = 0.0 if whole else (_ROUNDINGS + workload.queries) * _UNIT * largest
        return cls(np.asarray(A), error)

    @property
    def trace_above(self) -> float:
        """An upper bound on tr C: PA'P has at most the trace of A'."""
        diagonal = np.diagonal(self.matrix)
        size = math.fsum(np.abs(diagonal).tolist())
        # PA'P has the trace of A' less 1ᵀA'1/n, and 1ᵀA1 is rounding; both signs are covered.
        spare = abs(math.fsum(self.matrix.ravel().tolist())) / len(diagonal)
        error = 2.0 * len(diagonal) * self.entry_error + spare * (1.0 + 4.0 * _UNIT)
        return math.nextafter(math.fsum(diagonal.tolist()) + error + 4.0 * _UNIT * size, math.inf)


def as_whole(gram: FloatArray) -> FloatArray:
    """The whole matrix that these floats stand for, or themselves, symmetric in both cases."""
    G = 0.5 * (gram + gram.T)
    whole = np.rint(G)
    near = float(np.abs(G - whole).max()) <= min(WHOLE * float(np.abs(G).max()), 0.25)
    return np.asarray(whole if near else G)
