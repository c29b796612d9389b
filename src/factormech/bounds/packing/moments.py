r"""Lower bounds for second moments, covariances and 2-way marginals of many coordinates.

Users have rows x in the unit ball of R^d, M is the mean of xxᵀ, and errors are E‖·‖_F, worst over the data; for 2-way
marginals rows are words of {0, 1}^d and errors are E‖·‖₂/√k, k = d(d − 1)/2. Neighbours replace one user, δ = 0. The
universe has no finite matrix, or one of 2^d columns: all bounds here come from chosen rows, in closed form.

**Lines.** r users have the row x and the others the row 0: ‖xxᵀ − yyᵀ‖_F² = 2(1 − ⟨x, y⟩²). A maximal set of unit
vectors with |⟨x, y⟩| ≤ c has M ≥ 1/P(⟨x, u⟩² > c²) members, u uniform on the sphere, as their caps cover it (Gilbert);
⟨x, u⟩² is Beta(½, (d − 1)/2). Δ = r.

**Frames.** Split R^d into R^b and R^S, S ≤ d − b, with the unit vectors e_σ of the second part. r users have each of
the rows (y_σ, e_σ)/√2, σ = 1 … S, for unit vectors y_σ of R^b. The two blocks off the diagonal alone differ by

.. math:: \lVert ΔM\rVert_F^2 \ge \frac{r^2}{n^2}\cdot\frac12\sum_σ\lVert y_σ - y'_σ\rVert^2
          = \frac{r^2}{n^2}\Bigl(S - \sum_σ\langle y_σ, y'_σ\rangle\Bigr) ,\qquad Δ = rS .

A maximal set of (y_1 … y_S) with Σ⟨y_σ, y'_σ⟩ ≤ cS has M ≥ 1/P(Σ⟨y_σ, u_σ⟩ > cS) members, and by Chernoff's bound
ln M ≥ S(λc − Λ_b(λ)) for every λ > 0, with

.. math:: Λ_b(λ) = \ln E e^{λu_1} = \lnΓ(\tfrac b2) + (\tfrac b2 - 1)\ln\tfrac2λ + \ln I_{b/2-1}(λ) .

This is the packing of Theorem 7.3 of Nikolov (SODA 2023) with spheres in the place of a binary code and an orthonormal
basis in the place of a Hadamard matrix; nε·error grows like d^{3/2}.

**Means over all data** of some types (:mod:`factormech.bounds.packing.core`) need a sum of centred singular values:

* m unit vectors of a basis have m − 1 of them, all 1;
* the rows s/√a, s the words of an orthogonal array of strength 4 with a coordinates: products s_i s_j have mean 0 and
  are orthogonal, so that the a(a − 1)/2 singular values are √(2N)/a, N the number of rows;
* the same words as 2-way marginals: over an array of strength 4 two conjunctions have the covariance 3/16, 1/16 or 0 if
  they share two, one or no attributes. That is (3I + A)/16, A the adjacency matrix of the triangular graph, with
  eigenvalues 2(a − 2), a − 4 (a − 1 times) and −2: the singular values are ¼√N times √(2a − 1), √(a − 1) (a − 1 times)
  and 1 (a(a − 3)/2 times).

For a = 2^m the words x ↦ (−1)^{tr(αx + βx³) + γ}, x ∈ GF(a), are such an array of N = 2a² rows: they are the dual of
the extended BCH code of minimum distance 6 (MacWilliams & Sloane, Chapter 9; for a ≤ 4 they are all words). Rows s and
−s have one ssᵀ: N = a² are enough for second moments.

**Covariances.** The 2m users ±x_i have mean 0 and the covariance Σx_ixᵢᵀ/m, and replacing one x_i replaces two of
them. So a mechanism for covariances of n ≥ 2m users is 2ε-private for the second moments of m = ⌊n/2⌋ (with one row 0
if n is odd): its error is at least 2m/n times the bound for m users and 2ε. n times this bound does not decrease.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

from factormech.arrays import FloatArray, IntArray, check_epsilon, check_positive_integer
from factormech.bounds.packing.core import LowerBound, averaging_bound, best_multiple, nothing, share
from factormech.bounds.packing.marginals import geometric_steps, marginals
from factormech.numerics.rounding import below

_COSINES = np.array([0.02, *np.arange(0.05, 1.0, 0.05), 0.97, 0.98, 0.99])
# Relative error of the Bessel and Gamma functions, with room.
_ROUNDING = 1e-12


def second_moments(coordinates: int, users: int, epsilon: float) -> LowerBound:
    """Return the best bound here on max_X E‖M̂ − M‖_F over all ε-private mechanisms, for rows in the unit ball.

    Parameters
    ----------
    coordinates
        d ≥ 1.
    users, epsilon
        n and ε, replace one.

    Examples
    --------
    >>> second_moments(16, 64, 1.0).value > second_moments(4, 64, 1.0).value
    True
    """
    d, n = check_positive_integer("coordinates", coordinates), check_positive_integer("users", users)
    epsilon = check_epsilon(epsilon)
    arrays = [(a**2, (a - 1.0) * a / math.sqrt(2.0), "array of strength 4") for a in _powers(d)]
    bases = [(m, m - 1.0, "basis") for m in geometric_steps(2, d)]
    found = [_packed(d, n, epsilon), _averaged([*bases, *arrays], 1, n, epsilon)]
    return max(found, key=lambda bound: bound.value)


def covariances(coordinates: int, users: int, epsilon: float) -> LowerBound:
    """Return the bound that :func:`second_moments` implies for covariances M − μμᵀ; 0 for one user, who has none.

    Parameters
    ----------
    coordinates, users, epsilon
        As for second moments.
    """
    n, epsilon = check_positive_integer("users", users), check_epsilon(epsilon)
    if n == 1:
        return nothing(n, epsilon)
    found = second_moments(coordinates, n // 2, 2.0 * epsilon)
    return LowerBound(below(2 * (n // 2) / n * found.value, 4), n, epsilon, found.method, found.witness)


def two_way_marginals(attributes: int, users: int, epsilon: float) -> LowerBound:
    """Return the best bound here on max_X E‖·‖₂/√k for the k = d(d − 1)/2 conjunctions of two of d attributes.

    Parameters
    ----------
    attributes
        d ≥ 2.
    users, epsilon
        n and ε, replace one.
    """
    d, n = check_positive_integer("attributes", attributes, minimum=2), check_positive_integer("users", users)
    epsilon = check_epsilon(epsilon)
    arrays = [(2 * a**2, _conjunction_trace(a), "array of strength 4") for a in _powers(d)]
    found = [marginals(d, 2, n, epsilon), _averaged(arrays, d * (d - 1) // 2, n, epsilon)]
    return max(found, key=lambda bound: bound.value)


def _conjunction_trace(a: int) -> float:
    """The sum of the centred singular values of the 2-way marginals of an array with 2a² rows."""
    pairs = a * (a - 3) / 2.0
    several = math.sqrt(2.0 * a - 1.0) + (a - 1.0) ** 1.5 + pairs if a > 2 else math.sqrt(3.0)
    return a * math.sqrt(2.0) / 4.0 * several


def _averaged(sets: list[tuple[int, float, str]], queries: int, n: int, epsilon: float) -> LowerBound:
    """The best mean over all data of sets (types, trace norm, name)."""
    values = [averaging_bound(below(trace, 8), types, queries, n, epsilon) for types, trace, _ in sets]
    if not values:
        return nothing(n, epsilon)
    at = int(np.argmax(values))
    witness: dict[str, Any] = {"data": "uniform over histograms", "types": sets[at][0], "rows": sets[at][2]}
    return LowerBound(values[at], n, epsilon, "averaging", witness)


def _packed(d: int, n: int, epsilon: float) -> LowerBound:
    """The best packing of lines or frames."""
    L, cost, squares, words = _packings(d)
    inside = np.flatnonzero((cost <= n) & (L > 0.0))
    if not inside.size:
        return nothing(n, epsilon)
    gain = np.sqrt(squares[inside]) * (1.0 - _ROUNDING) / n
    at, r, value = best_multiple(L[inside], cost[inside], gain, n, epsilon)
    c = int(inside[at])
    witness: dict[str, Any] = {
        "data": "r copies of rows of a frame, the rest zero",
        "word": int(words[c]),
        "sequences": int(cost[c]),
        "copies": r,
        "log_size": float(L[c]),
        "replacements": r * int(cost[c]),
        "distance": below(float(r * gain[at]), 6),
        "share": float(share(L[c], epsilon * r * int(cost[c]))),
    }
    return LowerBound(below(value, 8), n, epsilon, "packing", witness)


@lru_cache(maxsize=32)
def _packings(d: int) -> tuple[FloatArray, IntArray, FloatArray, IntArray]:
    """(ln M, S, squared gain, b) of every packing of the grid; lines have S = 1 and b = d."""
    c = _COSINES
    rows = [(log_lines(d, c), np.ones(len(c)), 2.0 * (1.0 - c**2), np.full(len(c), d))] if d > 1 else []
    # A row e_1 beside rows 0: two data sets.
    rows.append((np.array([math.log(2.0) * (1.0 - _ROUNDING)]), np.ones(1), np.ones(1), np.ones(1)))
    for b in geometric_steps(1, d - 1):
        logs = log_words(b, c)
        for S in geometric_steps(1, d - b):
            rows.append((S * logs, np.full(len(c), S), S * (1.0 - c), np.full(len(c), b)))
    L, cost, squares, words = (np.concatenate(column) for column in zip(*rows, strict=True))
    return L, cost.astype(np.int64), squares, words.astype(np.int64)


def log_lines(d: int, cosines: FloatArray) -> FloatArray:
    """ln M of unit vectors of R^d, d ≥ 2, with |⟨x, y⟩| at most each cosine, from below."""
    from scipy.stats import beta

    logs = -beta.logsf(cosines**2, 0.5, 0.5 * (d - 1)) * (1.0 - _ROUNDING)
    # Where the probability underflows there is no bound.
    return np.asarray(np.where(np.isfinite(logs), logs, 0.0))


def log_words(b: int, cosines: FloatArray) -> FloatArray:
    """sup λc − Λ_b(λ) near the best λ for each cosine, from below: ln M of frames, for each of their S vectors."""
    from scipy.special import gammaln, ive

    near = np.maximum(b * cosines - cosines**3, 0.1 * cosines) / (1.0 - cosines**2)
    tried = near[:, None] * np.geomspace(0.25, 4.0, 33)
    order = 0.5 * b - 1.0
    with np.errstate(divide="ignore"):
        bessel = np.log(ive(order, tried)) + tried
    terms = [gammaln(0.5 * b), order * np.log(2.0 / tried), bessel, tried]
    # Where the scaled Bessel function underflows there is no bound.
    mgf = np.where(np.isfinite(bessel), terms[0] + terms[1] + terms[2], np.inf)
    slack = _ROUNDING * (abs(terms[0]) + np.abs(terms[1]) + np.abs(tried) + 1.0)
    return np.asarray(np.maximum((tried * cosines[:, None] - mgf - slack).max(axis=1), 0.0))


def _powers(d: int) -> list[int]:
    """2, 4, 8 … d."""
    return [2**i for i in range(1, d.bit_length()) if 2**i <= d]
