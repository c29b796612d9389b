r"""Synthetic stand-ins: data vectors with the users, the non-empty bins and the rough shape of a public data set.

No chance is in them. Bin b of 4096 has a weight w_b = (envelope of the data set)·(roughness), the roughness being
−log of the fractional part of (b + 1)·(√5 − 1)/2, which is spread like an exponential variable. The non-empty bins are
those of the largest weights; each has one user, and the others are shared out in proportion to the weights by largest
remainders.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from factormech.arrays import FloatArray, IntArray
from factormech.data.registry import BINS, STANDIN, check_name, public
from factormech.errors import BadValue


def _rising(b: FloatArray) -> FloatArray:
    """HEPTH: rising nearly to the end, then nothing."""
    t = b / (0.9 * BINS)
    return np.asarray(np.where(t < 1, t**1.7, 0.0) * _roughness(b))


def _long_tail(b: FloatArray) -> FloatArray:
    """MEDCOST: most at the beginning, a long sparse tail."""
    return np.asarray((b + 1) ** -1.35 * np.where(b == 0, 1.0, _roughness(b)))


def _few(b: FloatArray) -> FloatArray:
    """NETTRACE: bins in order of size, all of them at the beginning."""
    return np.asarray((b + 1) ** -1.3)


def _roughness(b: FloatArray) -> FloatArray:
    return np.asarray(-np.log((b + 1) * (np.sqrt(5.0) - 1) / 2 % 1.0))


_ENVELOPES: dict[str, Callable[[FloatArray], FloatArray]] = {
    "hepth": _rising,
    "medcost": _long_tail,
    "nettrace": _few,
}


def standin(name: str) -> IntArray:
    """The counts of a stand-in, (4096,), by its own name (``hepth-standin``)."""
    if not check_name(name).endswith(STANDIN):
        raise BadValue("data set", name, "be a stand-in here", f"ask for {name + STANDIN}, or read the file")
    like = public(name)
    weights = _ENVELOPES[name.removesuffix(STANDIN)](np.arange(BINS, dtype=float))
    occupied = np.sort(np.argsort(-weights, kind="stable")[: like.occupied])
    counts = np.zeros(BINS, dtype=np.int64)
    counts[occupied] = 1 + _apportioned(weights[occupied], like.users - like.occupied)
    return counts


def _apportioned(weights: FloatArray, total: int) -> IntArray:
    """Whole numbers of this sum in proportion to the weights, by largest remainders."""
    exact = weights / weights.sum() * total
    whole: IntArray = np.floor(exact).astype(np.int64)
    first = np.argsort(-(exact - whole), kind="stable")[: total - int(whole.sum())]
    whole[first] += 1
    return whole
