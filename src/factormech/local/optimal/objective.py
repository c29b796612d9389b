r"""The objective over the masses of given sets, its derivative, and the multipliers of the column sums.

In the coordinates of ``frame.py``, f(p) = n·tr(M⁻C_π), M = Σp_S u_Su_Sᵀ; ∂f/∂p_S = −n·h_S with h_S = u_SᵀYu_S,
Y = M⁻C_πM⁻. A feasible p is the best over its sets exactly where multipliers (ν, μ) of Σp = 1 and Σpu = 0 give
h_S ≤ ν + μᵀu_S for all S, with equality where p_S > 0; averaging over p, ν = Σph = f/n. If h_S − μᵀu_S ≤ ν(1+δ) for
**all** sets S, no strategy is better than f/(1+δ) (homogeneity: f is convex and f(tp) = f(p)/t).

Away from the optimum μ is taken by least squares: Σp_S (h_S − ν − μᵀu_S)² is least where Mμ = Σp_S h_S u_S.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import scipy.linalg

from factormech.arrays import FloatArray
from factormech.local.optimal.frame import Blocks, Frame, Real

if TYPE_CHECKING:
    from factormech.local.optimal.lists import Lists

# Below this (reciprocal of the) condition number M is inverted through its eigenvectors.
_CONDITION = 1e-13
# What of the workload may lie outside the range of M, relatively, before the strategy cannot answer it.
ROW_SPACE_LIMIT = 1e-8
# Where a block has so many coordinates, and so many times as many sets, its forms are by a triangular root.
_TRIANGLE, _SETS = 96, 4


@dataclass(frozen=True)
class Evaluated:
    """What is known at a feasible p.

    Attributes
    ----------
    masses
        p, (m,).
    value
        tr(M⁻C_π)/scale = ν; infinite where the workload is outside the row space.
    gains
        h_S, (m,), in the same scale.
    multipliers
        μ in the coordinates of the first block, (h,).
    excess
        (h_S − ν − μᵀu_S)/ν: by how much a set deserves more mass.
    inverses
        (M + ρ11ᵀ)⁻¹, a block each.
    halves
        M⁻R, a block each: Y = (M⁻R)(M⁻R)ᵀ.
    """

    masses: FloatArray
    value: float
    gains: FloatArray
    multipliers: FloatArray
    excess: FloatArray
    inverses: Blocks
    halves: Blocks

    @property
    def column_gap(self) -> float:
        """By how much, relatively, other masses of the same sets can be better, at most: max excess."""
        return float(self.excess.max(initial=0.0))


def weighted_gram(U: Real, masses: FloatArray) -> Real:
    """UᵀDiag(p)U."""
    scaled = U * np.sqrt(masses).astype(U.dtype)[:, None]
    return np.asarray(scaled.T @ scaled)


def evaluate(frame: Frame, features: Blocks, masses: FloatArray, lists: Lists | None = None) -> Evaluated:
    """Value, derivative and multipliers at a feasible p; with the lists of the sets where many are small."""
    inverses, halves, value = [], [], 0.0
    grams = [weighted_gram(U, masses).astype(float) for U in features] if lists is None else lists.grams(masses)
    for k, (M, R) in enumerate(zip(grams, frame.roots, strict=True)):
        if k == 0:
            M += (np.trace(M) / max(len(M), 1)) * np.outer(frame.ones, frame.ones) / frame.domain_size
        inverse, covered = _inverse(M, R)
        if not covered:
            return _unanswered(frame, features, masses)
        half = inverse @ R
        value += float(np.einsum("ur,ur->", R, half))
        inverses.append(inverse)
        halves.append(half)
    U = features[0]
    gains = forms(features, tuple(halves)) if lists is None else lists.forms(tuple(halves))
    mu = inverses[0] @ ((masses * gains).astype(U.dtype) @ U)
    excess = (gains - U @ mu.astype(U.dtype)) / value - 1.0 if value > 0.0 else np.zeros(len(masses))
    return Evaluated(masses, value, gains, np.asarray(mu, dtype=float), excess, tuple(inverses), tuple(halves))


def forms(features: Blocks, halves: Blocks) -> FloatArray:
    """u_SᵀYu_S of every set, Y = half·halfᵀ block by block."""
    gains = np.zeros(len(features[0]))
    for U, half in zip(features, halves, strict=True):
        gains += _forms(U, half)
    return gains


def _forms(U: Real, half: FloatArray) -> Real:
    """uᵀYu of every row u of U, Y = half·halfᵀ, in the precision of U.

    Of many rows by TᵀT = Y, T triangular: half the operations, and no squares are lost, as T is from half (by QR).
    """
    h, r = half.shape
    if h < _TRIANGLE or 2 * r <= h or len(U) < _SETS * h:
        Z = U @ half.astype(U.dtype)
        return np.asarray(np.einsum("sr,sr->s", Z, Z))
    T = np.zeros((h, h), dtype=U.dtype, order="F")
    T[: min(h, r)] = scipy.linalg.qr(half.T.astype(U.dtype), mode="r", check_finite=False)[0][: min(h, r)]
    (trmm,) = scipy.linalg.get_blas_funcs(("trmm",), (T,))
    Z = trmm(1.0, T, U.T).T
    return np.asarray(np.einsum("sr,sr->s", Z, Z))


def _unanswered(frame: Frame, features: Blocks, masses: FloatArray) -> Evaluated:
    zero = np.zeros(len(masses))
    return Evaluated(masses, np.inf, zero, np.zeros(features[0].shape[1]), zero, (), ())


def _inverse(M: FloatArray, R: FloatArray) -> tuple[FloatArray, bool]:
    """The (pseudo-)inverse of M, and whether the columns of R lie in its range."""
    if not len(M):
        return M, True
    factor, info = scipy.linalg.lapack.dpotrf(M, lower=True)
    if info == 0:
        norm = float(np.abs(M).sum(axis=0).max())
        reciprocal, _ = scipy.linalg.lapack.dpocon(factor, norm, uplo="L")
        if reciprocal > _CONDITION:
            inverse, _ = scipy.linalg.lapack.dpotri(factor, lower=True)
            full = inverse + inverse.T  # above the diagonal are the zeros of the factor
            np.fill_diagonal(full, np.diagonal(inverse))
            return full, True
    values, vectors = np.linalg.eigh(M)
    keep = values > _CONDITION * values[-1]
    V = vectors[:, keep]
    missed = float(np.linalg.norm(R - V @ (V.T @ R)))
    return (V / values[keep]) @ V.T, missed <= ROW_SPACE_LIMIT * max(float(np.linalg.norm(R)), 1e-300)
