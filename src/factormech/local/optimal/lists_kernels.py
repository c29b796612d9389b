"""Compiled sums over lists of types; importing this module imports numba, so it is imported where it is needed."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from factormech.arrays import FloatArray, IntArray
from factormech.compiled import compiled

Types = npt.NDArray[np.unsignedinteger[Any]]


@compiled()
def add_pairs(types: Types, ends: IntArray, weights: FloatArray, G: FloatArray) -> None:
    """Add Σw_S 1_S1_Sᵀ to the symmetric part of G: w_S to G_uu, 2w_S to G_uv for each pair u, v of S in one order."""
    for i in range(weights.size):
        w, end = weights[i], ends[i + 1]
        both = 2.0 * w
        for a in range(ends[i], end):
            row = G[types[a]]
            row[types[a]] += w
            for b in range(a + 1, end):
                row[types[b]] += both


@compiled(fastmath={"reassoc", "nsz", "contract"})
def forms(types: Types, ends: IntArray, Y: FloatArray) -> FloatArray:
    """Σ Y_uv over u, v ∈ S of each S, Y symmetric."""
    values = np.empty(ends.size - 1)
    for i in range(values.size):
        end, once, twice = ends[i + 1], 0.0, 0.0
        for a in range(ends[i], end):
            row = Y[types[a]]
            once += row[types[a]]
            for b in range(a + 1, end):
                twice += row[types[b]]
        values[i] = once + 2.0 * twice
    return values
