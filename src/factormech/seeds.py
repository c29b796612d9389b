"""Every random stream of the project: fixed by a root seed and by the names of what it is for."""

from __future__ import annotations

import hashlib

import numpy as np

from factormech.arrays import check_positive_integer


def rng_for(root: int, *axes: str) -> np.random.Generator:
    """Return the generator fixed by ``root`` and the named ``axes``, in that order.

    Streams of different roots or axes are independent for all practical purposes: the axes are hashed with
    SHA-256, each preceded by its length, so ``("ab", "c")`` and ``("a", "bc")`` differ. Leave the mechanism
    out of the axes of data, and every mechanism sees the same users.
    """
    check_positive_integer("seed", root, minimum=0)
    digest = hashlib.sha256()
    for axis in axes:
        text = axis.encode()
        digest.update(len(text).to_bytes(8, "big") + text)
    return np.random.default_rng([int(root), int.from_bytes(digest.digest(), "big")])
