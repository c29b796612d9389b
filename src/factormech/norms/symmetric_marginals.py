r"""γ₂(W, α) of all marginals of one width, for any number of attributes, by a linear program of w + 1 numbers.

The workload has a query for every set S of w of the d attributes and every y ∈ {0,1}^S: does a user agree with y on S?
Permutations of the attributes and flips of bits carry queries to queries and types to types, and averaging over them
neither leaves the constraint |W − W̃| ≤ α nor raises γ₂. So some best W̃ depends on the number s of agreements alone,

    W̃(S, y; x) = Σ_t f_t K_t(s),     K_t(s) = Σ_i (−1)^i C(w−s, i) C(s, t−i),

where f_t multiplies the characters of the t-sets inside S. Every query is equivalent to every other, and every type, so
that γ₂(W̃) = ‖W̃‖_*/√(kN). The characters are the singular vectors, and

    γ₂(W̃) = Σ_t |f_t| √(C(d, t) C(w, t)).

That is linear in |f|, and the constraint is |Σ_t f_t K_t(s) − [s = w]| ≤ α for s = 0 … w.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb

import numpy as np
from scipy.optimize import linprog

from factormech.arrays import FloatArray
from factormech.errors import BadValue

# Beyond this width the numbers C(d, t) C(w, t) of one program span more than doubles tell apart.
LARGEST_WIDTH = 16


@dataclass(frozen=True)
class MarginalNorm:
    """γ₂(W, α) between two ends: ``upper`` is attained by the coefficients, ``lower`` by a dual solution."""

    lower: float
    upper: float
    coefficients: FloatArray
    dual: FloatArray


def characters(width: int) -> FloatArray:
    """Return K_t(s), a row for each number s of agreements and a column for each size t of a character."""
    rows = range(width + 1)
    return np.array(
        [[sum((-1) ** i * comb(width - s, i) * comb(s, t - i) for i in range(t + 1)) for t in rows] for s in rows],
        dtype=np.float64,
    )


def approximate_norm(attributes: int, width: int, alpha: float) -> MarginalNorm:
    """Return γ₂(W, α) of the marginals of ``width`` of ``attributes`` binary attributes.

    Parameters
    ----------
    attributes : int
        d, the number of binary attributes.
    width : int
        w, how many attributes a query reads, at most 16.
    alpha : float
        How far entries may be from those of the workload, at least 0 and below ½.

    Returns
    -------
    MarginalNorm
        Both ends, with what proves them.

    Raises
    ------
    BadValue
        If an argument is out of its range.

    Examples
    --------
    >>> norm = approximate_norm(1000, 4, 1 / 6)
    >>> bool(norm.upper <= 1.0001 * norm.lower)
    True
    """
    if not 1 <= width <= LARGEST_WIDTH:
        raise BadValue("width", width, f"be from 1 to {LARGEST_WIDTH}", "try 4")
    if attributes < width:
        raise BadValue("attributes", attributes, f"be at least the width, {width}", f"try {width}")
    if not 0 <= alpha < 0.5:
        raise BadValue("alpha", alpha, "be at least 0 and below 0.5, the error of a constant", "try 0.1")
    K, wanted = characters(width), (np.arange(width + 1) == width).astype(float)
    cost = np.sqrt([float(comb(attributes, t)) * comb(width, t) for t in range(width + 1)])
    exact = np.full(width + 1, 2.0**-width)
    if alpha == 0:
        norm = float(cost @ exact)
        return MarginalNorm(norm, norm, exact, np.asarray(np.linalg.solve(K.T, cost), dtype=np.float64))
    scaled = K / cost  # unknowns are the costs, so that they are of one size
    found = linprog(
        np.ones(2 * width + 2),
        A_ub=np.block([[scaled, -scaled], [-scaled, scaled]]),
        b_ub=np.concatenate([wanted + alpha, alpha - wanted]),
        bounds=(0, None),
        method="highs-ds",
    )
    half = width + 1
    coefficients = (found.x[:half] - found.x[half:]) / cost
    dual = found.ineqlin.marginals[:half] - found.ineqlin.marginals[half:]
    return MarginalNorm(*_ends(K, wanted, cost, alpha, coefficients, dual), coefficients, dual)


def _ends(
    K: FloatArray, wanted: FloatArray, cost: FloatArray, alpha: float, coefficients: FloatArray, dual: FloatArray
) -> tuple[float, float]:
    """Both ends, after what the solver's tolerance left is repaired: by scaling the dual, by mixing with W itself."""
    room = float(np.max(np.abs(dual @ K) / cost))
    scaled = dual / max(room, 1e-300)
    value = max(float(sign * scaled @ wanted) - alpha * float(np.abs(scaled).sum()) for sign in (1.0, -1.0))
    miss = float(np.max(np.abs(K @ coefficients - wanted)))
    share = max(0.0, 1 - alpha / miss) if miss > 0 else 0.0
    repaired = (1 - share) * coefficients + share * np.full(len(cost), 2.0 ** -(len(cost) - 1))
    return max(0.0, value), float(cost @ np.abs(repaired))


def approximate_degree(width: int, alpha: float) -> int:
    """Return the least degree of a polynomial in the number of agreements that is within α of "all agree"."""
    s, wanted = np.arange(width + 1), (np.arange(width + 1) == width).astype(float)
    for degree in range(width + 1):
        basis = np.polynomial.chebyshev.chebvander(2 * s / width - 1, degree)
        fit = np.block([[basis, -np.ones((width + 1, 1))], [-basis, -np.ones((width + 1, 1))]])
        cost = np.r_[np.zeros(degree + 1), 1.0]
        bounds = [(None, None)] * (degree + 1) + [(0, None)]
        if linprog(cost, A_ub=fit, b_ub=np.r_[wanted, -wanted], bounds=bounds, method="highs").fun <= alpha + 1e-9:
            return degree
    return width
