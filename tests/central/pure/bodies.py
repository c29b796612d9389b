"""Small query matrices of every kind of body, for the tests of this room."""

from __future__ import annotations

import itertools

import numpy as np

from factormech.arrays import FloatArray


def hadamard(size: int) -> FloatArray:
    return np.array([[(-1.0) ** (i & j).bit_count() for j in range(size)] for i in range(size)])


def corners(widths: FloatArray) -> FloatArray:
    return np.array(list(itertools.product((0.0, 1.0), repeat=len(widths)))).T * np.asarray(widths)[:, None]


def signs(k: int, columns: int, seed: int = 3) -> FloatArray:
    return np.random.default_rng(seed).choice([-1.0, 1.0], (k, columns))


# name: (queries, dimension, law)
BODIES: dict[str, tuple[FloatArray, int, str]] = {
    "random signs": (signs(5, 12), 5, "triangulation"),
    "lattice": (np.random.default_rng(0).integers(0, 3, (3, 40)).astype(float), 3, "triangulation"),
    "thresholds": (np.tril(np.ones((6, 6))), 5, "simplex"),
    "parity": (hadamard(8), 7, "simplex"),
    "some parities": (hadamard(16)[:9], 8, "chain"),
    "cross-polytope": (np.hstack([np.eye(3), -np.eye(3)]) * [[1.0], [2.0], [3.0]], 3, "cross-polytope"),
    "centre included": (np.hstack([np.eye(3), np.zeros((3, 1)), -np.eye(3)]), 3, "cross-polytope"),
    "box": (corners(np.array([1.0, 2.0, 0.25])), 3, "box"),
    "short segment": (np.array([[0.0, 1.0, 2.0, 3.0]]), 1, "cross-polytope"),
    "segment": (np.outer([1.0, -2.0, 3.0], np.random.default_rng(1).random(9)), 1, "cross-polytope"),
    "dependent": (
        np.random.default_rng(2).random((3, 9))[[0, 1, 2, 1, 0]] + [[0], [0], [0], [1], [0]],
        3,
        "triangulation",
    ),
}
