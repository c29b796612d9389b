"""User types that are rows of d binary attributes: type u is the bit mask of the attributes that hold.

Attribute j is bit 2^j. Families over this domain differ in the sets S ⊆ [d] of attributes that they ask about,
chosen by their size; a set is a bit mask too.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import comb

import numpy as np

from factormech.arrays import FloatArray, IntArray, check_positive_integer
from factormech.errors import BadValue
from factormech.workloads.walsh import is_power_of_two, popcounts


def reason_against(domain_size: int, k: int = 0) -> str | None:
    """Why no d ≥ k has 2^d = ``domain_size``, or ``None`` where one has."""
    if not is_power_of_two(domain_size):
        below = 1 << (domain_size.bit_length() - 1)
        return (
            f"a domain of binary attributes has a power of two of types, and {domain_size} is none; "
            f"the nearest are {below} and {2 * below}"
        )
    if k >= domain_size.bit_length():
        d = domain_size.bit_length() - 1
        return f"{domain_size} types have {d} binary attributes, fewer than {k}; give at least 2^{k} types"
    return None


def attributes(domain_size: int, k: int = 0) -> int:
    """The number d of attributes of a domain of 2^d types, where d ≥ ``k``."""
    n = check_positive_integer("domain_size", domain_size)
    reason = reason_against(n, check_positive_integer("k", k, minimum=0))
    if reason is not None:
        raise BadValue("domain_size", n, f"be 2^d for some d of at least {k}", reason)
    return n.bit_length() - 1


def sets(d: int, sizes: Iterable[int]) -> IntArray:
    """Masks of the sets of these sizes: size after size, and by increasing mask within one."""
    weight = popcounts(1 << d)
    return np.concatenate([np.flatnonzero(weight == k) for k in sizes])


def count(d: int, sizes: Iterable[int]) -> int:
    """How many sets of these sizes there are."""
    return sum(comb(d, k) for k in sizes)


def by_size(table: Iterable[int]) -> FloatArray:
    """The vector over masks whose entry at u is ``table[popcount(u)]``, for a table of d + 1 numbers."""
    values = np.array([float(value) for value in table])
    return np.asarray(values[popcounts(1 << (len(values) - 1))])
