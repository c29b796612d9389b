"""The exact variance of a strategy's noisy columns, type by type, seen through the centred Gram matrix C = PWᵀWP."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from factormech.arrays import FloatArray
from factormech.errors import BadValue
from factormech.local.kept import kept
from factormech.local.noisy_columns import NoisyColumns
from factormech.numerics.symmetric import root

_CENTRED = 1e-9  # how far C1 may be from 0, and eigenvalues below 0, relative to the largest entry


def check_centred_gram(value: FloatArray) -> FloatArray:
    """C as a symmetric float array: square, finite, C1 = 0, and positive semidefinite, all up to rounding."""
    C = np.asarray(value, dtype=np.float64)
    if C.ndim != 2 or C.shape[0] != C.shape[1] or not C.size:
        raise BadValue("centred_gram", C.shape, "be a square matrix", "give Workload.centred_gram()")
    if not np.all(np.isfinite(C)):
        raise BadValue("centred_gram", "inf or nan", "be finite", "give Workload.centred_gram()")
    largest = float(np.abs(C).max())
    off = float(np.abs(C - C.T).max())
    if off > _CENTRED * largest:
        raise BadValue("centred_gram", off, "be symmetric (the value is the largest difference)", "give PGP")
    sums = float(np.abs(C.sum(axis=0)).max())
    if sums > _CENTRED * len(C) * largest:
        raise BadValue("centred_gram", sums, "have columns that sum to 0 (the value is the largest)", "give PGP")
    C = 0.5 * (C + C.T)
    least = float(np.linalg.eigvalsh(C)[0])
    if least < -_CENTRED * len(C) * largest:
        raise BadValue("centred_gram", least, "be positive semidefinite (least eigenvalue)", "give PGP, G = WᵀW")
    return C


def relative_miss(C: FloatArray, E: FloatArray) -> float:
    """‖W E‖_F / ‖WP‖_F from C = PWᵀWP, for E whose columns sum to 0; 0 where WP = 0.

    Taken through a root of C: where E is large outside the row space of W, tr(EᵀCE) would be the rounding of C, and its
    root 10⁻⁸ rather than 10⁻¹⁶.
    """
    energy = float(np.trace(C))
    if energy <= 0:
        return 0.0
    return float(np.linalg.norm(root(C).T @ E) / np.sqrt(energy))


def singular_vectors(A: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """U, s and Vᵀ of AP, without the zeros of s: (AP)⁺ = V·Diag(1/s)·Uᵀ."""
    from scipy.linalg import qr

    if not len(A):
        return np.zeros((0, 0)), np.zeros(0), np.zeros((0, A.shape[1]))
    # The k × n matrix through its n × n triangle when it is tall; singular values keep full relative
    # accuracy.
    centred = A - A.mean(axis=1, keepdims=True)
    Q, T = qr(centred, mode="economic") if len(A) > A.shape[1] else (None, centred)
    U, s, Vt = np.linalg.svd(T, full_matrices=False)
    keep = s > max(A.shape) * np.finfo(float).eps * max(float(s[0]), np.finfo(float).tiny)
    U, s, Vt = U[:, keep], s[keep], Vt[keep]
    return (U if Q is None else Q @ U), s, Vt


@kept
def inverse_of(A: FloatArray) -> FloatArray:
    """(AP)⁺, read-only; kept unless it is large, for one strategy has the same columns at every budget."""
    U, s, Vt = singular_vectors(A)
    J = np.asarray((Vt.T / s) @ U.T)
    J.setflags(write=False)
    return J


@kept
def checked_gram(value: FloatArray) -> FloatArray:
    """The same as ``check_centred_gram``, read-only and kept."""
    C = check_centred_gram(value)
    C.setflags(write=False)
    return C


@dataclass(frozen=True)
class Seen:
    """What a workload sees of columns A through R = WP(AP)⁺, whatever the size of the noise.

    Attributes
    ----------
    residual
        ‖RAP − WP‖_F / ‖WP‖_F.
    energy
        ‖R‖_F².
    means
        ‖R·a_u‖² by type, (n,).
    """

    residual: float
    energy: float
    means: FloatArray


@kept
def seen(A: FloatArray, C: FloatArray) -> Seen:
    """What the workload with the centred Gram matrix C sees of A; kept unless they are large."""
    J, n = inverse_of(A), len(C)
    defect = J @ (A - A.mean(axis=1)[:, None]) - np.eye(n) + 1.0 / n
    z = J @ A
    means = np.einsum("vu,vu->u", z, C @ z)
    means.setflags(write=False)
    return Seen(relative_miss(C, defect), float(np.sum(J * (C @ J))), means)


def variance_of(noisy: NoisyColumns, found: Seen) -> FloatArray:
    """By type: the second moment of the noise, seen through R, and for reports on a sphere less that of their mean."""
    second_moment = np.full(len(found.means), noisy.second_moment * found.energy)
    return second_moment if noisy.noise != "half-sphere" else second_moment - found.means


def variance_by_type(noisy: NoisyColumns, J: FloatArray, C: FloatArray) -> FloatArray:
    """By type: the second moment of the noise, seen through R, and for reports on a sphere less that of their mean."""
    second_moment = np.full(len(C), noisy.second_moment * float(np.sum(J * (C @ J))))
    if noisy.noise != "half-sphere":
        return second_moment
    z = J @ noisy.columns
    return np.asarray(second_moment - np.einsum("vu,vu->u", z, C @ z))
