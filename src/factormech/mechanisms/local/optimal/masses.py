r"""The masses of given sets: their objective, sums over sets of few types, and feasible masses.

**The objective.** This part has the objective over the masses, its derivative, and the multipliers of the column
sums. In the coordinates of ``frame.py``, f(p) = n·tr(M⁻C_π), M = Σp_S u_Su_Sᵀ; ∂f/∂p_S = −n·h_S with h_S = u_SᵀYu_S,
Y = M⁻C_πM⁻. A feasible p is the best over its sets exactly where multipliers (ν, μ) of Σp = 1 and Σpu = 0 give h_S ≤
ν + μᵀu_S for all S, with equality where p_S > 0; averaging over p, ν = Σph = f/n. If h_S − μᵀu_S ≤ ν(1+δ) for **all**
sets S, no strategy is better than f/(1+δ) (homogeneity: f is convex and f(tp) = f(p)/t).

Away from the optimum μ is taken by least squares: Σp_S (h_S − ν − μᵀu_S)² is least where Mμ = Σp_S h_S u_S.

**Sets of few types as lists.** An evaluation then takes |S|² operations for a set instead of n². At large ε good sets
are small. With b_S = β_S² and c_S = π_S/n, so that u_S = β_S(1_S − c_S1) (``frame.py``),

.. math:: \sum_S p_S u_Su_S^\top = \sum_S p_Sb_S 1_S1_S^\top - s\mathbf 1^\top - \mathbf 1s^\top
          + \Bigl(\sum_S p_Sb_Sc_S^2\Bigr)\mathbf{11}^\top, \qquad s = \sum_S p_Sb_Sc_S 1_S ,

and, as Y1 = 0 for Y = M⁻C_πM⁻, u_SᵀYu_S = b_S Σ_{u,v∈S} Y_uv. Both sums are over the pairs of each list, in double
precision whatever that of the features; larger sets are left to matrix products.

**Feasible masses.** The entropic projection makes the columns sum to one. Of all p with Σp = 1 and Σp_S u_S = 0 the
one of least relative entropy Σp log(p/q) from a given q > 0 is p_S ∝ q_S exp(μᵀu_S), with μ the minimiser of the
convex function Φ(μ) = log Σq_S exp(μᵀu_S), whose gradient is Σpu and whose second derivative, at such a p, is M = Σp
uuᵀ itself: where M + ρ11ᵀ has been factored for the objective, its inverse gives Newton's steps for nothing (those of
an older one converge linearly, with a small factor).

A solution exists exactly where 0 is a strictly positive combination of the u_S.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.linalg

from factormech.arrays import FloatArray, IntArray
from factormech.mechanisms.local.optimal.frame import Blocks, Frame, Real, block_matrices
from factormech.mechanisms.local.optimal.problem import BoolArray
from factormech.numerics.descent import backtracked

# The objective.

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


# Sets of few types as lists.

# Sets of at most n over this many types are lists,
SMALL = 10
# where at least one in so many sets is, and n is large enough for matrix products to cost something.
LEAST_PART, LEAST_SIZE = 2, 128


@dataclass(frozen=True)
class Lists:
    """Some sets, the small ones as lists.

    Attributes
    ----------
    frame
        The problem.
    small, large
        The places of the sets that are lists, and of the others.
    types, ends
        The lists, one after another; that of the i-th small set is ``types[ends[i]:ends[i + 1]]``.
    slopes, shares
        β_S and c_S of the small sets.
    features
        u_S of the others, a block each.
    """

    frame: Frame
    small: IntArray
    large: IntArray
    types: npt.NDArray[np.unsignedinteger[Any]]
    ends: IntArray
    slopes: FloatArray
    shares: FloatArray
    features: Blocks

    @classmethod
    def of(cls, frame: Frame, supports: BoolArray, features: Blocks) -> Lists | None:
        """The lists of these sets; None where too few of them are small for lists to pay."""
        n = frame.domain_size
        if not LEAST_SIZE <= n <= np.iinfo(np.uint16).max:
            return None
        sizes = np.count_nonzero(supports, axis=1)
        few = SMALL * sizes <= n
        small, large = np.flatnonzero(few), np.flatnonzero(~few)
        if LEAST_PART * len(small) < len(supports):
            return None
        types = np.nonzero(supports[small])[1].astype(np.uint16)
        ends = np.concatenate([[0], np.cumsum(sizes[small])]).astype(np.int64)
        weights = np.add.reduceat(frame.prior[types], ends[:-1])
        slopes = frame.shift * n / (n + frame.shift * weights)
        return cls(frame, small, large, types, ends, slopes, weights / n, tuple(U[large] for U in features))

    def grams(self, masses: FloatArray) -> tuple[FloatArray, ...]:
        """Σp_S u_Su_Sᵀ over all sets, a block each."""
        from factormech.mechanisms.local.optimal import kernels

        n, ones = self.frame.domain_size, self.frame.ones
        weights = masses[self.small] * self.slopes**2
        G = np.zeros((n, n))
        kernels.add_pairs(self.types, self.ends, weights, G)
        blocks = block_matrices(G, self.frame.symmetric)  # they take the symmetric part
        counts = np.diff(self.ends)
        each = np.repeat(weights * self.shares, counts)
        s = np.asarray(np.bincount(self.types, weights=each, minlength=n), dtype=float)
        # (s − ½Σpbc²·1) meets 1 twice: all three terms of the mean.
        side = self.frame.reduced(s) - (0.5 * float(weights @ self.shares**2)) * ones
        tilt = np.outer(side, ones)
        first, *_ = blocks
        first -= tilt + tilt.T
        for block, U in zip(blocks, self.features, strict=True):
            block += weighted_gram(U, masses[self.large])
        return blocks

    def forms(self, halves: Blocks) -> Real:
        """u_SᵀYu_S of every set, Y = half·halfᵀ block by block, Y1 = 0."""
        from factormech.mechanisms.local.optimal import kernels

        Y = np.ascontiguousarray(self.frame.whole(tuple(half @ half.T for half in halves)))
        gains = np.zeros(len(self.small) + len(self.large))
        gains[self.small] = self.slopes**2 * kernels.forms(self.types, self.ends, Y)
        if len(self.large):
            gains[self.large] = forms(self.features, halves)
        return gains


# Feasible masses.

# Column sums are right to this; a single-precision search keeps what its arithmetic can.
COLUMN_ERROR = 1e-13
COLUMN_ERROR_SINGLE = 1e-6
# Where arithmetic ends the iteration, this many times the error is accepted.
_ACCEPTED = 50.0
# Φ is known to this many units.
_ROUNDING = 64.0
_CHORD_STEPS = 30
_NEWTON_STEPS = 60
_HALVINGS = 30


def project(frame: Frame, U: Real, masses: FloatArray, inverse: FloatArray | None = None) -> tuple[FloatArray, bool]:
    """The feasible masses nearest to ``masses`` in relative entropy, and whether there are any.

    Parameters
    ----------
    frame
        The problem.
    U
        u_S in the first block, (m, h).
    masses
        q ≥ 0, any scale; zeros stay zero.
    inverse
        (M + ρ11ᵀ)⁻¹ at some feasible p near the result, if known.
    """
    goal = COLUMN_ERROR if U.dtype == np.float64 else COLUMN_ERROR_SINGLE
    q = masses / masses.sum()
    # The error of a column sum is relative to the size of u, b in all.
    goal = goal * float(np.sqrt(q @ np.einsum("su,su->s", U, U))) + 1e-300
    if inverse is not None:
        p, error = _chord(U, q, inverse, goal)
        if error <= goal:
            return p, True
        q = p
    return _newton(frame, U, q, goal)


def _tilted(U: Real, q: FloatArray, mu: FloatArray) -> tuple[float, FloatArray]:
    """Φ, and p ∝ q exp(μᵀu)."""
    z = (U @ mu.astype(U.dtype)).astype(float)
    top = float(z.max(initial=-np.inf, where=q > 0.0))  # a set without mass must not make all others underflow
    p = q * np.exp(np.minimum(z - top, 0.0))
    total = float(p.sum())
    return float(np.log(total) + top), p / total


def _chord(U: Real, q: FloatArray, inverse: FloatArray, goal: float) -> tuple[FloatArray, float]:
    """Newton's iteration with a fixed second derivative; it ends where the error no longer halves."""
    mu, p, last = np.zeros(U.shape[1]), q, np.inf
    best, least = q, np.inf
    for _ in range(_CHORD_STEPS):
        gradient = (p.astype(U.dtype) @ U).astype(float)
        error = float(np.linalg.norm(gradient))
        if error < least:
            best, least = p, error
        if error <= goal or error > 0.7 * last:
            break
        last = error
        mu -= inverse @ gradient
        p = _tilted(U, q, mu)[1]
    return best, least


def _newton(frame: Frame, U: Real, q: FloatArray, goal: float) -> tuple[FloatArray, bool]:
    """Newton's iteration on Φ with step halving."""
    mu = step = np.zeros(U.shape[1])

    def attempt(t: float) -> tuple[float, FloatArray]:
        return _tilted(U, q, mu + t * step)

    slack = _ROUNDING * float(np.finfo(U.dtype).eps)
    value, p = _tilted(U, q, mu)
    for _ in range(_NEWTON_STEPS):
        gradient = (p.astype(U.dtype) @ U).astype(float)
        error = float(np.linalg.norm(gradient))
        if error <= goal:
            return p, True
        step = _newton_step(frame, U, p, gradient)
        slope = float(gradient @ step)
        if not slope < 0.0:
            break
        found = backtracked(attempt, value, slope, tries=_HALVINGS, noise=slack)
        if found is None:
            break
        t, value, p = found
        mu = mu + t * step
    return p, error <= _ACCEPTED * goal


def _newton_step(frame: Frame, U: Real, p: FloatArray, gradient: FloatArray) -> FloatArray:
    """−(M + ρ11ᵀ)⁻¹Σpu, a trifle added to the diagonal where M is singular."""
    M = weighted_gram(U, p).astype(float)
    size = float(np.trace(M)) / len(M)
    M += size * np.outer(frame.ones, frame.ones) / frame.domain_size
    for ridge in (0.0, 1e-13, 1e-10, 1e-7):
        M[np.diag_indices(len(M))] += ridge * size
        try:
            return np.asarray(-scipy.linalg.cho_solve(scipy.linalg.cho_factor(M, lower=True), gradient))
        except scipy.linalg.LinAlgError:
            continue
    return np.asarray(-gradient / max(size, 1e-300))
