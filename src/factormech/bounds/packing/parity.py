r"""Full parity, k = N queries, W a Hadamard matrix: packings of sparse data, and the mean over all data.

‖W(h − h')‖₂/(n√k) = ‖h − h'‖₂/n for histograms h, h': the error is that of the histogram, whatever N. The data sets
are r copies of each element of an s-set, the other n − rs persons of one fixed type. Sets with intersections of at most
t (``families``) differ in at most rs persons, and their answers by at least (r/n)√(2(s − t)): by ``core``,

.. math:: \mathrm{err} \ge \frac rn\sqrt{2(s-t)}\;κ\bigl(1 + (M-1)e^{-εrs}\bigr)
          \qquad\text{for every whole } r \ge 1,\; rs \le n .

r is whole: the bound depends on n and ε, and on nε alone only in the limit ε → 0. For s = r = n = 1 and
e^ε ≥ N − 1 it is √2(N−1)/(N−1+e^ε), which randomized response attains.

The same packings bound every workload whose columns, on some N types, satisfy ‖Wu‖ ≥ σ‖u‖ for all u with Σu = 0, with
the factor σ/√k: :func:`sparse_bound`'s ``scale``; that is what ``lower`` and ``random_queries`` use.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from factormech.arrays import check_epsilon, check_positive_integer
from factormech.bounds.packing.averaging import best_of_nested
from factormech.bounds.packing.core import LowerBound, best_multiple, nothing, share
from factormech.bounds.packing.families import KINDS, LARGEST, set_families
from factormech.errors import BadValue
from factormech.numerics.rounding import below

# Numbers of types that the mean over all data is tried with: a geometric grid.
_RATIO = 1.4


def full_parity(types: int, users: int, epsilon: float) -> LowerBound:
    """The better of :func:`sparse_bound` and :func:`averaged_bound` for all parities over N types.

    Parameters
    ----------
    types
        N, at least 2; W is any N × N matrix with WᵀW = N·I (N a power of two for parities, but nothing needs it).
    users
        n ≥ 1.
    epsilon
        The privacy budget, replace one.
    """
    found = [sparse_bound(types, users, epsilon), averaged_bound(types, users, epsilon)]
    return max(found, key=lambda bound: bound.value)


def sparse_bound(types: int, users: int, epsilon: float, *, scale: float = 1.0) -> LowerBound:
    """The best packing of r copies of s-sets with intersections ≤ t, distances times ``scale`` (σ/√k, from below)."""
    epsilon, n, N = check_epsilon(epsilon), check_positive_integer("users", users), checked_types(types)
    families = set_families(N)
    inside = np.flatnonzero(families.size <= n)
    if not inside.size or scale <= 0.0:
        return nothing(n, epsilon)
    s, t, L = families.size[inside], families.overlap[inside], families.log_count[inside]
    gain = np.sqrt(2.0 * (s - t)) / n
    at, r, value = best_multiple(L, s, gain, n, epsilon)
    witness: dict[str, Any] = {
        "data": "r copies of each element of an s-set, the rest of one type",
        "types": N,
        "set_size": int(s[at]),
        "largest_overlap": int(t[at]),
        "copies": r,
        "code": KINDS[families.kind[inside[at]]],
        "log_size": float(L[at]),
        "replacements": r * int(s[at]),
        "distance": below(float(r * gain[at] * scale), 6),
        "share": float(share(L[at], epsilon * r * int(s[at]))),
    }
    return LowerBound(below(value * scale, 6), n, epsilon, "packing", witness)


def averaged_bound(types: int, users: int, epsilon: float) -> LowerBound:
    """The mean over all data of the best number of types N' ≤ N: V₁(ε, (N'−1)/(n+N'−1))·√(2(N'−1))/n."""
    epsilon, n, N = check_epsilon(epsilon), check_positive_integer("users", users), checked_types(types)
    steps = math.ceil(math.log(N / 2.0) / math.log(_RATIO))
    sizes = np.unique(np.minimum(np.ceil(2.0 * _RATIO ** np.arange(steps + 1)), N))
    # ‖WP‖_{S₁} = (N' − 1)√N over N' types, and k = N: the two √N cancel.
    value, used = best_of_nested(sizes - 1.0, sizes, 1, n, epsilon)
    return LowerBound(value, n, epsilon, "averaging", {"data": "uniform over all histograms", "types": used})


def checked_types(types: int) -> int:
    """N from 2 to the largest for which families are tabulated."""
    N = check_positive_integer("types", types, minimum=2)
    if N > LARGEST:
        raise BadValue("types", N, f"be at most {LARGEST}", "use that many of the types: the bound holds for more")
    return N
