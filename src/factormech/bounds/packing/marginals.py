r"""Packings for marginals, conjunctions and full parity.

**Marginals and conjunctions.** For w out of d attributes this is the Hadamard packing of Nikolov's Theorem 7.3, as
numbers. *Data sets.* Split attributes into a word part of b, j blocks of o = 2^i or another order of a Hadamard
matrix H = (h_0 = 1, h_1, …), and a part of c attributes that every such user has. For a word y ∈ {0,1}^{S×b} and S
sequences σ ∈ {1 … o−1}^j, user σ has y_σ in the word part, g_{σ_i} = (h_0 + h_{σ_i})/2 in block i, and ones in the
last part; there are r copies of each, and the other n − rS users have no attribute at all.

*Distance.* Of the queries keep the conjunctions of one attribute of the word part, one of each block and w − 1 − j of
the last part. On them two words z = y − y' apart differ by (r/n)Σ_σ z_σ ⊗ g_{σ_1} ⊗ … ⊗ g_{σ_j} ⊗ 1. The Gram matrix of
g_1 … g_{o−1} is (o/4)(I + 11ᵀ) ⪰ (o/4)I, so with D the Hamming distance of the words and k queries in all

.. math:: \frac{\lVert ΔQ\rVert^2}{k} \ge \frac{r^2}{n^2}\,\Bigl(\frac o4\Bigr)^{j}\binom{c}{w-1-j}\frac{D}{k} ,
          \qquad Δ \le rS .

The words are a code of length Sb and distance D (``families.log_words``); one code does the work of the paper's two.
j = w − 1, c = 0 is the paper's case; j = 0, the packing of one-way marginals beside attributes that hold for all, is
better for few users. For tables, all 2^w cells of a marginal, each block's contribution doubles,
⟨g_σ, g_τ⟩ + ⟨1−g_σ, 1−g_τ⟩ = (o/2)(1 + [σ = τ]), the word's doubles too, and the last part's stays; k grows 2^w-fold:
the same bound but for the factor 2^{−(w−1−j)/2}.

**Full parity.** k = N queries, W a Hadamard matrix: packings of sparse data, and the mean over all data. ‖W(h −
h')‖₂/(n√k) = ‖h − h'‖₂/n for histograms h, h': the error is that of the histogram, whatever N. The data sets are r
copies of each element of an s-set, the other n − rs users of one fixed type. Sets with intersections of at most t
(``families``) differ in at most rs users, and their answers by at least (r/n)√(2(s − t)): by ``core``,

.. math:: \mathrm{err} \ge \frac rn\sqrt{2(s-t)}\;κ\bigl(1 + (M-1)e^{-εrs}\bigr)
          \qquad\text{for every whole } r \ge 1,\; rs \le n .

r is whole: the bound depends on n and ε, and on nε alone only in the limit ε → 0. For s = r = n = 1 and
e^ε ≥ N − 1 it is √2(N−1)/(N−1+e^ε), which randomized response attains.

The same packings bound every workload whose columns, on some N types, satisfy ‖Wu‖ ≥ σ‖u‖ for all u with Σu = 0, with
the factor σ/√k: :func:`sparse_bound`'s ``scale``; that is what ``lower`` and ``random_queries`` use.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from factormech.arrays import FloatArray, IntArray, check_epsilon, check_positive_integer
from factormech.bounds.packing.core import LowerBound, best_multiple, best_of_nested, nothing, share
from factormech.bounds.packing.families import KINDS, LARGEST, log_words, set_families
from factormech.errors import BadValue
from factormech.numerics.rounding import below

# Marginals and conjunctions.

# Steps of the search: sizes of parts, numbers of sequences, distances of codes.
_RATIO = 1.3
_DISTANCES = np.array([0.02, 0.04, 0.06, 0.08, *np.arange(0.10, 0.38, 0.02), 0.4, 0.45, 0.5])
# More attributes than this in words make a code too long for ln k! to be exact enough.
_LONGEST = 2.0**34


@dataclass(frozen=True)
class Construction:
    """A way of building data sets; see the module.

    Attributes
    ----------
    width, word, blocks, order, ones, sequences
        w, b, j, o, c and S.
    """

    width: int
    word: int
    blocks: int
    order: int
    ones: int
    sequences: int

    @property
    def attributes(self) -> int:
        """The number of attributes that the construction uses."""
        return self.word + self.blocks * self.order + self.ones

    def squared_gain(self, *, cells: bool) -> float:
        """‖ΔQ‖²n²/(r²D) from below: (o/4)^j·C(c, w−1−j), times 2^{j+1} for tables."""
        factor = (self.order / 4.0) ** self.blocks * math.comb(self.ones, self.width - 1 - self.blocks)
        return factor * 2.0 ** (self.blocks + 1) if cells else factor


def marginals(
    attributes: int, width: int, users: int, epsilon: float, *, cells: bool = False, queries: int | None = None
) -> LowerBound:
    """The best Hadamard packing for w-way conjunctions or, with ``cells``, for all cells of w-way marginals.

    Parameters
    ----------
    attributes, width
        d and w, 1 ≤ w ≤ d.
    users, epsilon
        n and ε, replace one.
    cells
        Whether the 2^w cells of each marginal are asked for, or only the conjunction.
    queries
        k, if the workload asks for more than these queries (the bound is divided by √k).
    """
    epsilon, n = check_epsilon(epsilon), check_positive_integer("users", users)
    d, w = check_positive_integer("attributes", attributes), check_positive_integer("width", width)
    if w > d:
        raise BadValue("width", w, f"be at most the number of attributes, {d}", "give a smaller width")
    asked = math.comb(d, w) << (w if cells else 0)
    k = asked if queries is None else check_positive_integer("queries", queries, minimum=asked)
    kinds, of, distances, L, cost, squares = _packings(d, w, cells)
    inside = np.flatnonzero(cost <= n)
    if not inside.size:
        return nothing(n, epsilon)
    gain = np.sqrt(squares[inside] / k) / n
    at, r, value = best_multiple(L[inside], cost[inside], gain, n, epsilon)
    c = int(inside[at])
    made = kinds[int(of[c])]
    witness = {
        "data": "r copies of a word beside columns of a Hadamard matrix, the rest without attributes",
        "construction": made,
        "copies": r,
        "code_length": made.sequences * made.word,
        "code_distance": int(distances[c]),
        "log_size": float(L[c]),
        "replacements": r * made.sequences,
        "distance": below(float(r * gain[at]), 6),
        "share": float(share(L[c], epsilon * r * made.sequences)),
    }
    return LowerBound(below(value, 8), n, epsilon, "packing", witness)


def hadamard(order: int) -> IntArray:
    """A Hadamard matrix with first row of ones: Sylvester's doubling, or Paley's of q + 1, q ≡ 3 mod 4 a prime."""
    if order == 1:
        return np.ones((1, 1), dtype=np.int64)
    if order == 2 or (order % 4 == 0 and not _paley(order) and order // 2 in hadamard_orders(order // 2)):
        half = hadamard(order // 2)
        return np.block([[half, half], [half, -half]])
    if not _paley(order):
        raise BadValue("order", order, "be 2^i·(q + 1) for a prime q ≡ 3 mod 4, or 2^i", "use hadamard_orders")
    q = order - 1
    character = -np.ones(q, dtype=np.int64)
    character[np.arange(1, q) ** 2 % q] = 1
    character[0] = 0
    Q = character[(np.arange(q)[None, :] - np.arange(q)[:, None]) % q]
    H = np.ones((order, order), dtype=np.int64)
    # [[1, 1ᵀ], [1, Q − I]] with Q skew: rows are orthogonal as QQᵀ = qI − J, Q1 = 0.
    H[1:, 1:] = Q - np.eye(q, dtype=np.int64)
    return H


@lru_cache(maxsize=64)
def hadamard_orders(largest: int) -> tuple[int, ...]:
    """The orders up to ``largest`` of :func:`hadamard`, 1 left out."""
    bases = [2, *(o for o in range(4, largest + 1, 4) if _paley(o))]
    found = {o << i for o in bases for i in range(largest.bit_length()) if o << i <= largest}
    return tuple(sorted(found))


def _paley(order: int) -> bool:
    q = order - 1
    return order % 4 == 0 and all(q % p for p in range(2, math.isqrt(q) + 1))


def _constructions(d: int, w: int) -> Iterator[Construction]:
    """The grid that is searched."""
    for j in range(w):
        for o in hadamard_orders(d // j) if j else (1,):
            left, slots = d - j * o, w - 1 - j
            parts = [0] if slots == 0 else [c for c in geometric_steps(slots, left - 1) if c >= slots]
            for c in parts:
                if left - c >= 1:
                    for S in geometric_steps(1, (o - 1) ** j):
                        yield Construction(w, left - c, j, o, c, S)


@lru_cache(maxsize=32)
def _packings(
    d: int, w: int, cells: bool
) -> tuple[tuple[Construction, ...], IntArray, IntArray, FloatArray, IntArray, FloatArray]:
    """(constructions, which one, D, ln M, S, squared gain·D) of every packing of the grid."""
    kinds = tuple(c for c in _constructions(d, w) if c.sequences * c.word <= _LONGEST)
    rows = []
    for index, c in enumerate(kinds):
        length = c.sequences * c.word
        D = np.unique(np.concatenate([np.maximum(np.ceil(_DISTANCES * length), 1.0), [1.0, 2.0, length]]))
        D = D[length >= D].astype(np.int64)
        L = log_words(length, D)
        square = c.squared_gain(cells=cells) * D
        rows.append((np.full(len(D), index), D, L, np.full(len(D), c.sequences), square))
    of, D, L, cost, squares = (np.concatenate(column) for column in zip(*rows, strict=True))
    return kinds, of, D, L, cost, squares


def geometric_steps(first: int, last: int) -> list[int]:
    """Geometric steps from ``first`` to ``last``, both of them included."""
    found, value = [], first
    while value < last:
        found.append(value)
        value = max(value + 1, int(value * _RATIO))
    return [*found, last] if last >= first else found


# Full parity.

# Numbers of types that the mean over all data is tried with: a geometric grid.
_SIZES_RATIO = 1.4


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
    """Return the best packing bound of r copies of s-sets that share at most t, distances times ``scale`` (σ/√k)."""
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
    steps = math.ceil(math.log(N / 2.0) / math.log(_SIZES_RATIO))
    sizes = np.unique(np.minimum(np.ceil(2.0 * _SIZES_RATIO ** np.arange(steps + 1)), N))
    # ‖WP‖_{S₁} = (N' − 1)√N over N' types, and k = N: the two √N cancel.
    value, used = best_of_nested(sizes - 1.0, sizes, 1, n, epsilon)
    return LowerBound(value, n, epsilon, "averaging", {"data": "uniform over all histograms", "types": used})


def checked_types(types: int) -> int:
    """N from 2 to the largest for which families are tabulated."""
    N = check_positive_integer("types", types, minimum=2)
    if N > LARGEST:
        raise BadValue("types", N, f"be at most {LARGEST}", "use that many of the types: the bound holds for more")
    return N
