r"""The A in K = {A ⪰ 0, tr A ≤ 1} whose measurements are nearest, by a primal-dual interior point method.

For T of independent columns the minimiser of ½‖y − T·pack(A)‖² over K is unique. With H = TᵀT, s = 1 − tr A and
multipliers S ⪰ 0 of A ⪰ 0 and λ ≥ 0 of s ≥ 0 it is where

.. math:: S = H A - T^T y + λ I, \qquad A S = 0, \qquad s λ = 0 .

Every iterate has A, S ≻ 0 and s, λ > 0 and fulfils the first equation, so that

.. math:: \tfrac12 ‖y - TA‖^2 - \min_K ≤ ⟨A, S⟩ + s λ .

**Step** (Helmberg, Rendl, Vanderbei & Wolkowicz, SIAM J. Optim. 6, 1996, for a quadratic objective): Newton's method
for S = μA⁻¹, sλ = μ, in which dS = H dA + dλ I and, the products linearised as S + dS + sym(A⁻¹ dA S) = μA⁻¹,

.. math:: \bigl(H + A^{-1} ⊗_s S + \tfrac{λ}{s} I I^T\bigr) dA = μA^{-1} - S - \bigl(\tfrac{μ}{s} - λ\bigr) I ,

first with μ = 0, which says how much of the present μ = (⟨A, S⟩ + sλ)/(d + 1) is to be kept (the cube of the share that
the step leaves), then with that and with the products of changes A⁻¹ dA dS and ds dλ of the first step on the left
(Mehrotra). One length for all, as the objective couples them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import scipy.linalg

from factormech.arrays import FloatArray
from factormech.numerics.vectors import pack, product, unpack

STEPS = 60
_SHORT = 0.98  # of the way to the boundary
_STUCK = 1e-8  # length of a step that rounding has stopped


@dataclass(frozen=True)
class Nearest:
    """A ∈ K of trace below 1, positive definite, and what it cost."""

    matrix: FloatArray
    iterations: int


def _room(matrix: FloatArray, change: FloatArray) -> float:
    """The largest t with ``matrix`` + t·``change`` ⪰ 0, ∞ where all are."""
    L = np.linalg.cholesky(matrix)
    half = scipy.linalg.solve_triangular(L, change, lower=True, check_finite=False)
    both = scipy.linalg.solve_triangular(L, half.T, lower=True, check_finite=False)
    least = float(np.linalg.eigvalsh(both)[0])
    return -1.0 / least if least < 0.0 else math.inf


@dataclass
class _Iterate:
    """A, S, λ and s = 1 − tr A, which would lose its digits if it were computed anew."""

    A: FloatArray
    S: FloatArray
    multiplier: float
    slack: float

    @property
    def mu(self) -> float:
        return (float((self.A * self.S).sum()) + self.slack * self.multiplier) / (len(self.A) + 1)

    def room(self, move: _Move) -> float:
        """How far a step may go, at most 1."""
        t = min(_room(self.A, move.A), _room(self.S, move.S))
        if move.trace > 0.0:
            t = min(t, self.slack / move.trace)
        if move.multiplier < 0.0:
            t = min(t, -self.multiplier / move.multiplier)
        return min(1.0, _SHORT * t)


@dataclass(frozen=True)
class _Move:
    """dA, dS, dλ and tr dA = −ds."""

    A: FloatArray
    S: FloatArray
    multiplier: float
    trace: float


def _step(here: _Iterate, hessian: FloatArray) -> float:
    """Move by a predictor that says μ and the corrector towards it; the length of the step."""
    d, s, multiplier = len(here.A), here.slack, here.multiplier
    inverse = np.linalg.inv(here.A)
    inverse = 0.5 * (inverse + inverse.T)
    factor = scipy.linalg.cho_factor(hessian + product(inverse, here.S), overwrite_a=True, check_finite=False)
    # λ/s may be huge: its product II^T is left to the formula of Sherman & Morrison.
    identity = pack(np.eye(d))
    of_identity = scipy.linalg.cho_solve(factor, identity, check_finite=False)
    share = multiplier / (s + multiplier * float(identity @ of_identity))

    def move(mu: float, second: FloatArray, both: float) -> _Move:
        right = mu * inverse - here.S - second - ((mu - both) / s - multiplier) * np.eye(d)
        a = scipy.linalg.cho_solve(factor, pack(right), check_finite=False)
        trace = float(identity @ a)
        a -= share * trace * of_identity
        trace *= share * s / multiplier
        change = (mu - both - s * multiplier + multiplier * trace) / s
        return _Move(unpack(a, d), unpack(hessian @ a, d) + change * np.eye(d), change, trace)

    first = move(0.0, np.zeros((d, d)), 0.0)
    kept = max(1.0 - here.room(first), 1e-3)
    second = inverse @ first.A @ first.S
    then = move(here.mu * kept**3, 0.5 * (second + second.T), -first.trace * first.multiplier)
    t = here.room(then)
    here.A, here.S = here.A + t * then.A, here.S + t * then.S
    here.multiplier, here.slack = multiplier + t * then.multiplier, s - t * then.trace
    return t


def nearest(answers: FloatArray, matrix: FloatArray, size: int, gap: float, steps: int = STEPS) -> Nearest:
    """Steps until ⟨A, S⟩ + sλ ≤ ``gap``, or until they lead no further: what is proved is for the caller to compute."""
    d = size
    hessian, linear = matrix.T @ matrix, matrix.T @ answers
    A = np.eye(d) / (d + 1.0)
    slope = unpack(hessian @ pack(A) - linear, d)
    values = np.linalg.eigvalsh(slope)
    least = max(-float(values[0]), 0.0) + max(float(values[-1] - values[0]), abs(float(values[0])), gap)
    here = _Iterate(A, slope + least * np.eye(d), least, 1.0 / (d + 1.0))
    taken = 0
    while taken < min(steps, STEPS) and here.mu * (d + 1) > gap:
        try:
            length = _step(here, hessian)
        except np.linalg.LinAlgError:  # not definite by rounding: nothing has moved
            break
        taken += 1
        if length < _STUCK:
            break
    return Nearest(here.A, taken)
