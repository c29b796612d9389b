r"""How many persons a given error takes, at least: certified sample complexities.

Let err*_n be the least worst error at n persons. **n·err*_n does not decrease in n**: a mechanism for n + 1 persons
serves n, with one more person of a fixed type x₀: ((n+1)M(X, x₀) − q_{x₀})/n has error (n+1)/n times M's.
So a bound b at m persons gives err*_{m'} ≥ (m/m')·b for all m' ≥ m, hence err*_{m'} > α for all m ≤ m' < mb/α.
Started at m = 1 and continued from the end of each such stretch, this covers all n up to a last one: the sample
complexity, in the paper's sense of the least n of all with error at most α, is above it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from factormech.arrays import check_positive_integer
from factormech.bounds.packing.core import LowerBound
from factormech.errors import BadValue

# The search ends when a stretch grows by less than this share.
_PROGRESS = 1e-3
_STRETCHES = 500


@dataclass(frozen=True)
class UsersNeeded:
    """No ε-DP mechanism has error ≤ α on fewer than ``users`` persons.

    Attributes
    ----------
    users
        1 where nothing is proved.
    last
        The bound that proves the last stretch, or ``None``.
    stretches
        How many bounds the proof is made of.
    """

    users: int
    last: LowerBound | None
    stretches: int


def users_needed(bound: Callable[[int], LowerBound], alpha: float, *, most: int = 10**12) -> UsersNeeded:
    """A lower bound on the sample complexity at error α.

    Parameters
    ----------
    bound
        n ↦ a lower bound on the error at n persons, ε fixed.
    alpha
        The error, above 0.
    most
        Where the search ends.
    """
    if not (math.isfinite(alpha) and alpha > 0.0):
        raise BadValue("alpha", alpha, "be a finite number above 0", "give for example 0.1")
    check_positive_integer("most", most)
    m, last, count = 1, None, 0
    while m < most and count < _STRETCHES:
        found = bound(m)
        # The largest m' with m'·α < m·b: errors at m … m' are above α.
        end = math.ceil(m * found.value / alpha * (1.0 - 1e-12)) - 1
        if end < m:
            break
        grown, last, count = min(end, most) + 1, found, count + 1
        small, m = grown - m <= _PROGRESS * m and grown - m > 1, grown
        if small:
            break
    return UsersNeeded(m, last, count)
