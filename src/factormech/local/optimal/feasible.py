r"""Masses whose columns sum to one: the entropic projection.

Of all p with Σp = 1 and Σp_S u_S = 0 the one of least relative entropy Σp log(p/q) from a given q > 0 is
p_S ∝ q_S exp(μᵀu_S), with μ the minimiser of the convex function Φ(μ) = log Σq_S exp(μᵀu_S), whose gradient is Σpu and
whose second derivative, at such a p, is M = Σp uuᵀ itself: where M + ρ11ᵀ has been factored for the objective, its
inverse gives Newton's steps for nothing (those of an older one converge linearly, with a small factor).

A solution exists exactly where 0 is a strictly positive combination of the u_S.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg

from factormech.arrays import FloatArray
from factormech.local.optimal.frame import Frame, Real
from factormech.local.optimal.objective import weighted_gram
from factormech.numerics.descent import backtracked

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
