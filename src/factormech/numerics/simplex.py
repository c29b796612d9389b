r"""The nearest points of the simplex {p ≥ 0, Σp = 1}: max(v − t, 0) with the t of sum 1.

With v_1 ≥ v_2 ≥ … that is t = max over the k with v_k > t_k of t_k = (v_1 + … + v_k − 1)/k, the last of them.
"""

from __future__ import annotations

import numpy as np

from factormech.arrays import FloatArray

_SLACK = 1e-12  # far above the rounding of a sum of entries that are within 1 of the largest
_WORTH = 0.8  # a pass that leaves this share or more is the last before sorting


def level(values: FloatArray, mass: float = 1.0) -> FloatArray:
    """The t with Σ(v − t)₊ = ``mass`` > 0 for each of the lines of (…, d), (…)."""
    falling = np.sort(values, axis=-1)[..., ::-1]
    levels = (falling.cumsum(axis=-1) - mass) / np.arange(1, values.shape[-1] + 1)
    if values.ndim == 1:
        return np.asarray(levels[np.count_nonzero(falling > levels) - 1])
    last = np.count_nonzero(falling > levels, axis=-1, keepdims=True) - 1
    return np.asarray(np.take_along_axis(levels, last, axis=-1)[..., 0])


def nearest(values: FloatArray) -> FloatArray:
    """The probability vectors nearest to the lines of (…, d)."""
    return np.asarray(np.maximum(values - level(values)[..., None], 0.0))


def nearest_long(v: FloatArray) -> FloatArray:
    """The same of one line, (d,), bit for bit; most of a long one is not sorted.

    Entries at most max v − 1 end at 0; and of any set S that has all entries above t, those at most
    (Σ_S v − 1)/|S| ≤ t (Michelot, J. Optim. Theory Appl. 50, 1986).
    """
    largest = float(v.max())
    able = v[v > largest - 1.0]
    slack = _SLACK * (1.0 + abs(largest))
    while True:
        kept = able[able > (able.sum() - 1.0) / len(able) - slack]
        last, able = len(kept) >= _WORTH * len(able), kept
        if last:
            break
    return np.asarray(np.maximum(v - level(able), 0.0))
