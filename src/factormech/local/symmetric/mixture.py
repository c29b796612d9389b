r"""Weights of a pool of patterns: minimise Σ_j s_j²/y_j, y = Σ_f p_f w_f, over distributions p.

Column f of ``profiles`` is w_f ≥ 0. A logarithmic barrier −μΣ log p_f and Newton steps in the plane Σp = 1, for pools
of a few hundred patterns; the value found is within μ·(number of patterns) of the optimum.
"""

from __future__ import annotations

import numpy as np

from factormech.arrays import FloatArray
from factormech.numerics.descent import backtracked, room

_ROUNDS = 60
_FLOOR = 1e-14  # relative: keeps y positive while some pattern of the pool has it positive


def best_weights(profiles: FloatArray, squares: FloatArray, tolerance: float = 1e-10) -> tuple[FloatArray, float]:
    """The weights (f,) and the value; ``squares`` is s², of the rows of ``profiles``, zero rows left out."""
    asked = squares > 0
    P, s2 = profiles[asked], squares[asked]
    P = np.maximum(P, _FLOOR * P.max(axis=1, keepdims=True))
    p = np.full(P.shape[1], 1.0 / P.shape[1])
    if P.shape[1] == 1:
        return p, _value(P, s2, p)
    mu = 0.1 * _value(P, s2, p) / len(p)
    for _ in range(_ROUNDS):
        for _ in range(4):
            p, decrement = _newton(P, s2, p, mu)
            if decrement <= 0.1 * mu:
                break
        if mu * len(p) <= tolerance * _value(P, s2, p):
            break
        mu *= 0.3
    p /= p.sum()
    return p, _value(P, s2, p)


def _value(P: FloatArray, s2: FloatArray, p: FloatArray) -> float:
    return float(np.sum(s2 / (P @ p)))


def _newton(P: FloatArray, s2: FloatArray, p: FloatArray, mu: float) -> tuple[FloatArray, float]:
    """One damped step, in the variables p'/p so that the system stays well scaled."""
    y = P @ p
    B = P * p
    gradient = -(B.T @ (s2 / y**2)) - mu
    H = (B.T * (2.0 * s2 / y**3)) @ B
    H[np.diag_indices_from(H)] += mu
    solved = np.linalg.solve(H, np.column_stack([gradient, p]))
    multiplier = float(p @ solved[:, 0]) / float(p @ solved[:, 1])
    step = multiplier * solved[:, 1] - solved[:, 0]
    decrement = -float(gradient @ step)
    before = _barrier(P, s2, p, mu)

    def attempt(length: float) -> tuple[float, FloatArray]:
        q = p * (1.0 + length * step)
        return _barrier(P, s2, q, mu), q

    length = room(step, 0.99)
    found = backtracked(attempt, before, 0.0, length=length, noise=1e-13 * abs(before))
    return (found[2], decrement) if found else (p, 0.0)


def _barrier(P: FloatArray, s2: FloatArray, p: FloatArray, mu: float) -> float:
    return _value(P, s2, p) - mu * float(np.log(p).sum())
