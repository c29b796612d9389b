r"""Inner products of unit vectors that permutations of d attributes carry into each other.

The functions on subsets of [d] split into irreducible spaces of permutations, of kinds k = 0, …, ⌊d/2⌋; kind k has the
dimension m_k = C(d, k) − C(d, k−1), and occurs once among the functions on the sets of one size s if k ≤ s ≤ d − k. So
there are unit vectors φ_k(S) ∈ ℝ^{m_k}, one for each set of such a size, with

.. math:: ⟨φ_k(S), φ_k(x)⟩ = c_k(|S|, |x|, |S ∩ x|),

and c_k is determined up to a sign for each size (A. Schrijver, New code upper bounds from the Terwilliger algebra and
semidefinite programming, IEEE Trans. Inf. Theory 51, 2005). With N_t = C(d; t, i−t, j−t) pairs of sizes i, j and
intersection t, and

.. math:: β = Σ_u (−1)^{u−t} \tbinom ut \tbinom{d−2k}{u−k} \tbinom{d−k−u}{i−u} \tbinom{d−k−u}{j−u}, \qquad
          c_k = \frac{β}{N_t} \sqrt{\tbinom di \tbinom dj \Big/ \tbinom{d−2k}{i−k} \tbinom{d−2k}{j−k}} ,

they are orthogonal: Σ_t N_t/(C(d,i)C(d,j)) c_k c_l = [k = l]/m_k. The numbers below are within 4 roundings of the exact
ones: β and N_t are whole numbers, one quotient and one root are rounded.
"""

from __future__ import annotations

import math
from functools import lru_cache
from math import comb

import numpy as np

from factormech.arrays import FloatArray

# Roundings of a coefficient.
ROUNDINGS = 4


@lru_cache(maxsize=4)
def coefficients(d: int) -> FloatArray:
    """c, (⌊d/2⌋ + 1, d + 1, d + 1, d + 1): entry [k, i, j, t], and 0 where there is none."""
    c = np.zeros((d // 2 + 1, d + 1, d + 1, d + 1))
    for k in range(d // 2 + 1):
        for i in range(k, d - k + 1):
            for j in range(i, d - k + 1):
                root = math.sqrt(comb(d, i) * comb(d, j) / (comb(d - 2 * k, i - k) * comb(d - 2 * k, j - k)))
                for t, value in _quotients(d, i, j, k):
                    c[k, i, j, t] = c[k, j, i, t] = value * root
    c.flags.writeable = False
    return c


def _quotients(d: int, i: int, j: int, k: int) -> list[tuple[int, float]]:
    """β/N_t of all t, each rounded once."""
    least = max(0, i + j - d)
    terms = [
        (u, comb(d - 2 * k, u - k) * comb(d - k - u, i - u) * comb(d - k - u, j - u))
        for u in range(max(k, least), min(i, j, d - k) + 1)
    ]
    found = []
    for t in range(least, min(i, j) + 1):
        beta = sum((-1) ** (u - t) * comb(u, t) * value for u, value in terms if u >= t)
        found.append((t, beta / pairs(d, i, j, t)))
    return found


def pairs(d: int, i: int, j: int, t: int) -> int:
    """N_t: pairs of sets of sizes i and j that have t attributes in common."""
    return comb(d, t) * comb(d - t, i - t) * comb(d - i, j - t)


def share(d: int, i: int, j: int, t: int) -> float:
    """N_t/(C(d, i)C(d, j)), the share of the pairs of sizes i and j that have t attributes in common."""
    return pairs(d, i, j, t) / (comb(d, i) * comb(d, j)) if max(0, i + j - d) <= t <= min(i, j) else 0.0


def dimension(d: int, k: int) -> int:
    """m_k."""
    return comb(d, k) - (comb(d, k - 1) if k else 0)


def vectors(d: int, k: int) -> FloatArray:
    """φ_k of all sets by their masks, (2^d, m_k); zero where there is none. For small d: the tests and dense factors.

    Those of size k come from their Gram matrix; that of a larger set is in the direction of the sum over its subsets of
    size k.
    """
    masks = np.arange(1 << d)
    sizes = np.bitwise_count(masks)
    base = masks[sizes == k]
    gram = coefficients(d)[k, k, k][np.bitwise_count(base[:, None] & base[None, :])]
    values, basis = np.linalg.eigh(gram)
    m = dimension(d, k)
    root = basis[:, -m:] * np.sqrt(values[-m:])
    inside = (masks[:, None] & base[None, :]) == base[None, :]
    summed = np.where(((sizes >= k) & (sizes <= d - k))[:, None], inside @ root, 0.0)
    lengths = np.linalg.norm(summed, axis=1, keepdims=True)
    return np.asarray(np.divide(summed, lengths, out=np.zeros_like(summed), where=lengths > 0.0))
