r"""Factors of a workload up to a shift of every row and an approximation: |RA − c1ᵀ − W| ≤ a, checked on the floats.

The data are a normalised histogram p, so a shift c1ᵀp = c is public: the curator subtracts it. What decides the noise
is ‖R‖_{2→∞}‖A‖_{1→2}, and the dimension of A's columns a little (``compressed``).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from factormech.arrays import FloatArray
from factormech.errors import BadValue
from factormech.numerics.rounding import TINY, above, gamma

# What may be lost to rounding by factors that are called exact, relative to the largest entry of W.
EXACT = 1e-9


@dataclass(frozen=True)
class LocalFactorization:
    """R, A and c for a workload.

    Attributes
    ----------
    workload
        W, (k, N).
    left, right
        R, (k, s), and A, (s, N).
    shift
        c, (k,).
    distance
        A certified bound on the entries of |RA − c1ᵀ − W|, all roundings counted.
    """

    workload: FloatArray
    left: FloatArray
    right: FloatArray
    shift: FloatArray
    distance: float

    @cached_property
    def bias(self) -> FloatArray:
        """D = RA − c1ᵀ − W, (k, N), as computed."""
        return _difference(self.workload, self.left, self.right, self.shift)

    @property
    def row_norm(self) -> float:
        """‖R‖_{2→∞}."""
        return float(np.sqrt(np.max(np.einsum("qs,qs->q", self.left, self.left), initial=0.0)))

    @property
    def column_norm(self) -> float:
        """‖A‖_{1→2}."""
        return float(np.sqrt(np.max(np.einsum("su,su->u", self.right, self.right), initial=0.0)))


def factorization(
    workload: FloatArray, left: FloatArray, right: FloatArray, shift: FloatArray | None = None, *, distance: float = 0.0
) -> LocalFactorization:
    """The factorization with these factors; refused if RA − c1ᵀ is farther from W than ``distance`` says.

    Rounding may add ``EXACT`` times the largest entry of W to the distance, and is added to the certified one.
    """
    W = _checked("workload", workload)
    R, A = _checked("left", left), _checked("right", right)
    c = np.zeros(len(W)) if shift is None else np.asarray(shift, dtype=np.float64)
    if R.shape != (len(W), len(A)) or A.shape[1] != W.shape[1] or c.shape != (len(W),):
        found = f"left {R.shape}, right {A.shape}, shift {c.shape}"
        rule = f"have shapes ({len(W)}, s), (s, {W.shape[1]}) and ({len(W)},)"
        raise BadValue("factors", found, rule, "give R, A and c of this workload")
    if not distance >= 0.0:
        raise BadValue("distance", distance, "be a number of at least 0", "leave it out for exact factors")
    certified = _distance_above(W, R, A, c)
    if not certified <= distance + EXACT * float(np.max(np.abs(W), initial=0.0)):
        rule = f"be within {distance:g} of the workload in every entry (their product is {certified:.3g} from it)"
        raise BadValue(
            "factors", f"{R.shape} x {A.shape}", rule, "give factors of this workload, or state the distance"
        )
    return LocalFactorization(W, R, A, c, certified)


def compressed(found: LocalFactorization) -> LocalFactorization:
    """The same product in the least dimension, the rank of R or of A; no norm grows.

    The columns of A matter only within the row space of R, which projection shortens; and the rows of R only within
    the column space of A. Directions of relative size below rounding are dropped.
    """
    R, A = _onto_rows(found.left, found.right)
    At, Rt = _onto_rows(A.T, R.T)
    return factorization(found.workload, Rt.T, At.T, found.shift, distance=found.distance)


def _onto_rows(R: FloatArray, A: FloatArray) -> tuple[FloatArray, FloatArray]:
    """(RQ, QᵀA), the columns of Q an orthonormal basis of the row space of R."""
    if not min(*R.shape, A.shape[1]):
        return R[:, :0], A[:0]
    _, sizes, V = np.linalg.svd(R, full_matrices=False)
    Q = V[sizes > max(R.shape) * 2.0**-52 * sizes[0]].T
    return np.asarray(R @ Q), np.asarray(Q.T @ A)


def _difference(W: FloatArray, R: FloatArray, A: FloatArray, c: FloatArray) -> FloatArray:
    return np.asarray(R @ A - c[:, None] - W)


def _distance_above(W: FloatArray, R: FloatArray, A: FloatArray, c: FloatArray) -> float:
    """A number at least every |RA − c1ᵀ − W|: the computed entry, and γ_{s+2} times the sizes that went into it."""
    s = len(A)
    sizes = np.sqrt(np.einsum("qs,qs->q", R, R)).max(initial=0.0) * np.sqrt(np.einsum("su,su->u", A, A)).max(
        initial=0.0
    )
    sizes = above(float(sizes), s + 8) + float(np.max(np.abs(c), initial=0.0)) + float(np.max(np.abs(W), initial=0.0))
    largest = float(np.max(np.abs(_difference(W, R, A, c)), initial=0.0))
    return above(largest + above(gamma(s + 4) * sizes, 6) + TINY, 4)


def _checked(name: str, matrix: Any) -> FloatArray:
    M = np.asarray(matrix, dtype=np.float64)
    if M.ndim != 2 or not np.isfinite(M).all():
        raise BadValue(name, M.shape, "be a matrix of finite numbers", "give one row per query and one column per type")
    return M
