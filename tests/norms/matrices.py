"""Matrices of every kind that a solver meets, small."""

from __future__ import annotations

import itertools

import numpy as np

from factormech.arrays import FloatArray
from tests.oracles import all_ranges as ranges
from tests.oracles import prefix


def sign_thresholds(n: int) -> FloatArray:
    return np.asarray(2.0 * prefix(n) - 1.0)


def hadamard(n: int) -> FloatArray:
    """Sylvester's, n a power of two."""
    H = np.ones((1, 1))
    while len(H) < n:
        H = np.block([[H, H], [H, -H]])
    return H


def halfspaces(d: int) -> FloatArray:
    """The sign patterns on {0, 1}^d of half-spaces with coefficients −2 … 2: most of their weights vanish."""
    X = np.array(list(itertools.product([0, 1], repeat=d)))
    found = set()
    for v in (X @ np.array(c) for c in itertools.product(range(-2, 3), repeat=d)):
        for t in np.unique(v):
            found |= {tuple(np.where(v >= t, 1, -1)), tuple(np.where(v > t, 1, -1))}
    return np.array(sorted(found), dtype=float)


def cases() -> dict[str, FloatArray]:
    """By name; ranks, shapes, zeros, scales, vanishing weights."""
    rng = np.random.default_rng(7)
    return {
        "prefix": prefix(6),
        "ranges": ranges(5),
        "ranges, columns": ranges(4).T.copy(),
        "half-spaces": halfspaces(2),
        "random": rng.standard_normal((5, 7)),
        "rank 2": rng.standard_normal((6, 2)) @ rng.standard_normal((2, 5)),
        "zero lines": np.array([[0.0, 0, 0, 0], [1, 2, 0, -1], [0, 0, 0, 0], [3, 1, 0, 1]]),
        "huge": 1e200 * rng.standard_normal((3, 4)),
        "one": np.array([[-3.0]]),
        "scales": rng.standard_normal((6, 6)) * np.exp(3 * rng.standard_normal((6, 1))),
    }
