"""A root of a workload's centred Gram matrix, and what a reconstruction misses of the workload, seen through it."""

from __future__ import annotations

import numpy as np

from factormech.arrays import FloatArray


def gram_root(C: FloatArray) -> FloatArray:
    """B (r × n) with BᵀB = C up to rounding; eigenvalues below n·2⁻⁵² of the largest are rounding noise."""
    eigenvalues, V = np.linalg.eigh(C)
    keep = eigenvalues > len(C) * np.finfo(float).eps * max(eigenvalues[-1], 0.0)
    return np.asarray(np.sqrt(eigenvalues[keep])[:, None] * V[:, keep].T)


def relative_miss(C: FloatArray, E: FloatArray) -> float:
    """‖W E‖_F / ‖WP‖_F from C = PWᵀWP, for E whose columns sum to 0; 0 where WP = 0.

    Taken through a root of C: where E is large outside the row space of W, tr(EᵀCE) would be the rounding of C, and its
    root 10⁻⁸ rather than 10⁻¹⁶.
    """
    energy = float(np.trace(C))
    if energy <= 0:
        return 0.0
    return float(np.linalg.norm(gram_root(C) @ E) / np.sqrt(energy))
