"""Slow, obvious implementations that tests compare against: straight from the papers' definitions."""

from __future__ import annotations

import numpy as np

from factormech.arrays import FloatArray
from factormech.bounds.certificates import largest_violation
from factormech.mechanisms.pure.bouncy import Gauge
from factormech.mechanisms.pure.directions import simplex_second_moment


def naive_reconstruction(W: FloatArray, Q: FloatArray) -> FloatArray:
    """Theorem 3.10 of McKenna et al. 2020, word for word: V = W(QᵀD⁻¹Q)⁺QᵀD⁻¹."""
    D_inverse = np.diag(1.0 / Q.sum(axis=1))
    return W @ np.linalg.pinv(Q.T @ D_inverse @ Q, rcond=1e-12) @ Q.T @ D_inverse


def naive_variances(W: FloatArray, Q: FloatArray) -> FloatArray:
    """Theorem 3.4, one type and one query at a time."""
    V = naive_reconstruction(W, Q)
    return np.array([sum(v @ np.diag(q) @ v - (v @ q) ** 2 for v in V) for q in Q.T])


def centred_gram(W: FloatArray) -> FloatArray:
    """PGP by its definition."""
    n = W.shape[1]
    P = np.eye(n) - np.full((n, n), 1.0 / n)
    return P @ W.T @ W @ P


def prefix(n: int) -> FloatArray:
    """Row i counts the types up to i."""
    return np.tril(np.ones((n, n)))


def all_ranges(n: int) -> FloatArray:
    """Every interval of types."""
    return np.array([[float(i <= u <= j) for u in range(n)] for i in range(n) for j in range(i, n)])


def random_strategy(rng: np.random.Generator, m: int, n: int, epsilon: float) -> FloatArray:
    """An ε-LDP matrix: random rows between z and e^ε z, with one more row to make the columns sum to one.

    Every row has ratio e^{ε/3} at most, so that the complement's ratio stays within e^ε for the few rows used here.
    """
    Q = rng.uniform(1.0, np.exp(epsilon / 3), (m, n)) * rng.uniform(0.2, 1.0, (m, 1))
    Q *= 0.9 * (1.0 - np.exp(-epsilon / 3)) / Q.sum(axis=0).max()
    return np.vstack([Q, 1.0 - Q.sum(axis=0)])


def largest_loss(gauge: Gauge, points: FloatArray, shifts: FloatArray) -> float:
    """max |‖z‖_B − ‖z + s‖_B| over the lines z of ``points`` and s of ``shifts``, both as answers.

    K-norm noise is ε-private exactly where this is at most 1 for every z and every s = Q_x − Q_y. On the rays z = −t·s,
    t ≥ 1, it is ‖s‖_B, which is 1 for the s on the boundary of B.
    """
    before = gauge.of(points)
    return max(float(np.abs(gauge.of(points + s) - before).max()) for s in np.atleast_2d(shifts))


def parity_noise_square(N: int, epsilon: float) -> float:
    """E‖u‖² of K-norm noise for all N parities: N times the second moment of the simplex, of N − 1 degrees."""
    return N * (N - 1) * simplex_second_moment(N) / epsilon**2


def certified_objective(root: FloatArray, dual: FloatArray, multiplier: FloatArray, epsilon: float) -> float:
    """A lower bound on tr(X_c⁺RRᵀ) for every ε-LDP strategy, from any dual matrix and multiplier, in floats."""
    Z = dual - dual.mean(axis=0)
    limit = float(np.sum(multiplier)) + len(Z) * largest_violation(Z @ Z.T, multiplier, epsilon)
    gain = float(np.sum(root * Z))
    return gain**2 / limit if gain > 0.0 and limit > 0.0 else 0.0
