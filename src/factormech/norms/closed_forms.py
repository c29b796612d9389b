r"""Norms that are known exactly, and the two-sided bounds for prefix sums.

Sources: lines of a Hadamard matrix by ‖W‖_*/√(kN) on one side and W = W·I or I·W on the other; sign thresholds and
prefix sums by Mathias (SIAM J. Matrix Anal. Appl. 14, 1993); marginals by the symmetry of the Boolean
cube: both weights may be averaged over bit flips and permutations of the attributes, so q is uniform and w depends on
the width alone; parities diagonalise WᵀD_wW, with eigenvalue 2^d Σ_{s≥t} w_s C(d−t, s−t)/2^s at size t.
"""

from __future__ import annotations

import math

import numpy as np

from factormech.arrays import FloatArray, check_positive_integer
from factormech.errors import BadValue


def hadamard_lines(rows: int, columns: int) -> float:
    """γ₂ = γ_F = √min(k, N) of k whole rows, or N whole columns, of a Hadamard matrix."""
    return math.sqrt(min(check_positive_integer("rows", rows), check_positive_integer("columns", columns)))


def sign_thresholds(size: int) -> float:
    """γ₂ of the n ± 1 thresholds sign(j ≤ i), the all-ones row included: (1/n)Σ_j csc((2j−1)π/2n)."""
    n = check_positive_integer("size", size)
    return math.fsum(1.0 / math.sin((2 * j - 1) * math.pi / (2 * n)) for j in range(1, n + 1)) / n


def prefix_trace(size: int) -> float:
    """‖W‖_*/n of the n prefix sums: (1/n)Σ_j 1/(2 sin((2j−1)π/(4n+2)))."""
    n = check_positive_integer("size", size)
    return math.fsum(0.5 / math.sin((2 * j - 1) * math.pi / (4 * n + 2)) for j in range(1, n + 1)) / n


def prefix_interval(size: int) -> tuple[float, float]:
    """An interval around γ₂ of the n prefix sums: the trace bound, and (ĝ + 1)/2 with ĝ that of the sign thresholds.

    Prefix sums are half the sign thresholds plus half the all-ones matrix. The trace bound is above Mathias's
    (n + 1)ĝ/(2n).
    """
    return prefix_trace(size), 0.5 * (sign_thresholds(size) + 1.0)


def marginals_exactly(attributes: int, width: int) -> float:
    """γ₍ₚ₎, for every p, of all marginals of one width w over d binary attributes: 2^{−w}Σ_t √(C(w,t)C(d,t)).

    Bit flips and permutations of the attributes take every query to every other, and every column to every other: both
    weights are uniform. Of the nuclear norm, parities of size t give C(d,t)√(2^{d−w}C(d−t,w−t)); divide by √(kN),
    k = 2^w C(d,w), N = 2^d, and use C(d,t)C(d−t,w−t) = C(d,w)C(w,t).
    """
    d, w = _attributes(attributes, width)
    return math.fsum(math.sqrt(math.comb(w, t) * math.comb(d, t)) for t in range(w + 1)) / 2.0**w


def marginals_up_to_f(attributes: int, width: int) -> float:
    """γ_F of all marginals of width 0 … w over d binary attributes, as 0/1 queries.

    k^{−½}Σ_t √(C(d,t)·Σ_{s≥t} C(d,s)2^{−s}C(s,t))·√C(d,t) is the nuclear norm over √(k2^d): see ``_singular_square``.
    """
    d, w = _attributes(attributes, width)
    queries = sum(math.comb(d, s) * 2**s for s in range(w + 1))
    weights = np.ones(w + 1)
    total = math.fsum(math.comb(d, t) * math.sqrt(_singular_square(d, t, weights)) for t in range(w + 1))
    return total / math.sqrt(queries)


def marginals_up_to_gamma2(attributes: int, width: int) -> float:
    r"""γ₂ of the same: max over π in the simplex of Σ_t √(C(d,t)·Σ_s π_s 4^{−s}C(s,t)).

    π_s is the weight of all queries of width s together. The map π_s ← π_s·∂/∂π_s (normalised) climbs this concave
    function of degree ½; the value is within the reported tolerance of its maximum by the ratio of its gradients.
    """
    d, w = _attributes(attributes, width)
    coefficients = np.array([[math.comb(d, t) * math.comb(s, t) / 4.0**s for s in range(w + 1)] for t in range(w + 1)])
    shares = np.full(w + 1, 1.0 / (w + 1))
    value = 0.0
    for _ in range(100_000):
        roots = np.sqrt(coefficients @ shares)
        value = float(roots.sum())
        gradient = coefficients.T @ (0.5 / roots)
        # f(π*) ≤ f(π) + ∇f·(π* − π) ≤ max ∇f + f/2, as ∇f·π = f/2.
        if float(gradient.max()) <= 0.5 * value * (1.0 + 1e-13):
            break
        shares = shares * gradient / (0.5 * value)
    return value


def _singular_square(d: int, t: int, weights: FloatArray) -> float:
    """The eigenvalue, over 2^d, of WᵀD_wW at parities of size t: Σ_s w_s C(d−t, s−t)2^{−s}."""
    return math.fsum(float(weights[s]) * math.comb(d - t, s - t) / 2.0**s for s in range(t, len(weights)))


def _attributes(attributes: int, width: int) -> tuple[int, int]:
    d, w = check_positive_integer("attributes", attributes), check_positive_integer("width", width, minimum=0)
    if w > d:
        raise BadValue("width", w, f"be at most the {d} attributes", "give a smaller width")
    return d, w
