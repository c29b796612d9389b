r"""How many sets, or words, can be far from one another: ln M from below, from explicit theorems.

*Sets.* The largest family of s-subsets of N elements with pairwise intersections of at most t < s has at least

* Gilbert: C(N, s)/Σ_{i>t} C(s, i)C(N−s, s−i), by picking greedily;
* Graham & Sloane (IEEE Trans. Inf. Theory 26, 1980): C(N, s)/q^{s−t−1}, q ≥ N a power of a prime. Map elements to
  different members of 𝔽_q and S to the first s−t−1 coefficients of Π_{x∈S}(1 + xz) beyond the constant: some value is
  taken by that many sets, and if two such sets differed in j ≤ s−t−1 elements each, dividing by the common factor
  would leave two polynomials of degree ≤ j that agree in all their coefficients;
* polynomials (Reed & Solomon): q^{t+1} if s ≤ q, sq ≤ N: the graphs of all polynomials of degree ≤ t on s points of
  𝔽_q;
* disjoint sets, t = 0: ⌊N/s⌋.

*Words.* Binary words of length L, pairwise at Hamming distance ≥ D: Gilbert's 2^L/Σ_{i<D} C(L, i), the sum for
D − 1 ≤ L/2 being at most C(L, D−1)(L−D+2)/(L−2D+3); first-order Reed–Muller codes (2ℓ words, ℓ = 2^m ≤ L, distance
ℓ/2); a word and its complement.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from factormech.arrays import FloatArray, IntArray, check_positive_integer

# Relative error of lgamma and of the few sums of it: 64 units in the last place.
_ROUNDING = 2.0**-47
# Domains beyond this are refused: tables of ln k! are kept.
LARGEST = 2**22
_SET_RATIO, _OVERLAP_RATIO = 1.06, 1.08
KINDS = ("gilbert", "graham-sloane", "polynomials", "disjoint")


@dataclass(frozen=True)
class SetFamilies:
    """Many families of s-sets with intersections ≤ t: entry c is one of them.

    Attributes
    ----------
    size, overlap
        s and t.
    log_count
        ln M, from below.
    kind
        Index into ``KINDS``: the theorem that proves it.
    """

    size: IntArray
    overlap: IntArray
    log_count: FloatArray
    kind: IntArray


@lru_cache(maxsize=16)
def set_families(elements: int) -> SetFamilies:
    """Families over a grid of all s ≤ N/2 and t: every small s and s − t, then geometric steps."""
    N = check_positive_integer("elements", elements, minimum=2)
    log_factorial = log_factorials(N)
    parts = []
    for s in _steps(max(N // 2, 1), _SET_RATIO).tolist():
        t = s - _steps(s, _OVERLAP_RATIO)
        kinds = np.stack(
            [_gilbert(N, s, t, log_factorial), _graham_sloane(N, s, t, log_factorial), _polynomials(N, s, t),
             np.where(t == 0, _log_below(N // s), 0.0)]
        )  # fmt: skip
        best = np.argmax(kinds, axis=0)
        parts.append((np.full(len(t), s), t, kinds[best, np.arange(len(t))], best))
    s, t, L, kind = (np.concatenate(column) for column in zip(*parts, strict=True))
    useful = math.log(2.0) * (1.0 - 2 * _ROUNDING) <= L
    return SetFamilies(s[useful], t[useful], L[useful], kind[useful])


def log_words(length: int, distance: IntArray) -> FloatArray:
    """ln of a number of binary words of this length with pairwise distances ≥ D, from below, for each D ≥ 1."""
    L, D = check_positive_integer("length", length), np.asarray(distance, dtype=np.int64)
    out = np.where(L >= D, math.log(2.0) * (1.0 - _ROUNDING), 0.0)
    ell = 1 << (L.bit_length() - 1)
    out = np.where(ell >= 2 * D, np.maximum(out, _log_below(2 * ell)), out)
    inner = (2 * (D - 1) <= L) & (D <= L)
    i = np.where(inner, D - 1, 0).astype(float)
    sizes = _log_factorial_of(L) + np.zeros_like(i)
    ball = sizes - _log_factorial_of(i) - _log_factorial_of(L - i) + np.log((L - i + 1.0) / (L - 2.0 * i + 1.0))
    gilbert = L * math.log(2.0) - ball - _ROUNDING * (L + 2.0 * sizes + 1.0)
    return np.asarray(np.where(inner, np.maximum(out, gilbert), out))


def log_factorials(N: int) -> FloatArray:
    """ln k! for k = 0 … N."""
    return _log_factorial_of(np.arange(N + 1.0))


def _log_factorial_of(k: FloatArray | float) -> FloatArray:
    from scipy.special import gammaln

    return np.asarray(gammaln(np.asarray(k, dtype=float) + 1.0))


def _gilbert(N: int, s: int, t: IntArray, log_factorial: FloatArray) -> FloatArray:
    i = np.arange(max(0, 2 * s - N), s + 1)
    f = log_factorial
    terms = (f[s] - f[i] - f[s - i]) + (f[N - s] - f[s - i] - f[N - 2 * s + i])
    # ln Σ_{i' ≥ i}: cumulative from the top.
    tails = np.logaddexp.accumulate(terms[::-1])[::-1]
    first = np.maximum(t + 1, i[0]) - i[0]
    total = f[N] - f[s] - f[N - s]
    return np.asarray(np.maximum(total - tails[first] - _ROUNDING * (4.0 * f[N] + len(i) * total), 0.0))


def _graham_sloane(N: int, s: int, t: IntArray, log_factorial: FloatArray) -> FloatArray:
    # A prime power ≥ N: the least power of two, or the least prime, whichever is smaller.
    q = min(1 << (N - 1).bit_length(), _prime_from(N))
    f = log_factorial
    found = f[N] - f[s] - f[N - s] - (s - t - 1) * math.log(q)
    return np.asarray(np.maximum(found - _ROUNDING * (4.0 * f[N] + s * math.log(q)), 0.0))


def _polynomials(N: int, s: int, t: IntArray) -> FloatArray:
    room = N // s
    q = max(1 << (room.bit_length() - 1), _prime_to(room))
    if q < max(s, 2):
        return np.zeros(len(t))
    return np.asarray((t + 1) * math.log(q) * (1.0 - _ROUNDING))


def _log_below(count: int) -> float:
    return math.log(count) * (1.0 - _ROUNDING) if count > 1 else 0.0


def _steps(largest: int, ratio: float) -> IntArray:
    """1, 2, 3 … while the ratio says less than one, then geometric, up to ``largest``."""
    found, value = [1], 1
    while value < largest:
        value = min(max(value + 1, int(value * ratio)), largest)
        found.append(value)
    return np.array(found)


def _is_prime(q: int) -> bool:
    return q >= 2 and all(q % d for d in range(2, math.isqrt(q) + 1))


def _prime_from(least: int) -> int:
    q = max(least, 2)
    while not _is_prime(q):
        q += 1
    return q


def _prime_to(most: int) -> int:
    q = most
    while q >= 2 and not _is_prime(q):
        q -= 1
    return max(q, 1)
