r"""Bounds that hold in exact arithmetic, computed with floating-point numbers.

A float on a given side of an exact number; intervals of what a count of roundings leaves of sums, norms and powers.

All numbers are doubles, u = 2⁻⁵³. A sum or an inner product of n terms, added in whatever order, has an absolute error
of at most γ_n = nu/(1 − nu) times the sum of the terms' absolute values (Higham, Accuracy and Stability of Numerical
Algorithms, 2002, §3.1); this covers every blocked product of LAPACK. Square roots are correctly rounded; powers of
the mathematical library are taken to be within 4 units in the last place. Matrices are scaled by their callers so
that underflow does not matter: what it loses is below ``TINY`` per operation, and ``TINY`` is added where a sum could
consist of such losses.
"""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np

from factormech.arrays import FloatArray
from factormech.errors import BadValue

UNIT = 2.0**-53
TINY = 2.0**-900
# ‖BᵀB − I‖_F below this is as good as the largest eigenvalue.
_NEAR_ISOMETRY = 1e-10
# Per column, how far above the largest computed eigenvalue the first Cholesky factorization is tried.
_FIRST_SLACK = 2.0**-52
# A numpy power or root is taken to be within this many roundings of the true value (its documented error is below one).
POWER = 4


def rounded_up(value: Fraction | Decimal) -> float:
    """A float at least an exact number: the nearest one, or the next."""
    near = float(value)
    return near if type(value)(near) >= value else math.nextafter(near, math.inf)


def rounded_down(value: Fraction | Decimal) -> float:
    """A float at most an exact number: the nearest one, or the one before."""
    near = float(value)
    return near if type(value)(near) <= value else math.nextafter(near, -math.inf)


def gamma(terms: int) -> float:
    """γ_n for n = ``terms``, rounded up."""
    return terms * UNIT / (1.0 - (terms + 2) * UNIT) * (1.0 + 8 * UNIT)


def above(value: float, operations: int = 1) -> float:
    """A number at least the exact value that ``value`` (≥ 0) is after this many roundings, in any direction."""
    return math.nextafter(value * (1.0 + 2.0 * gamma(operations + 1)), math.inf)


def below(value: float, operations: int = 1) -> float:
    """A number at most the exact value that ``value`` is after this many roundings, and at least 0."""
    return max(math.nextafter(value * (1.0 - 2.0 * gamma(operations + 1)), -math.inf), 0.0)


def growth(roundings: float) -> float:
    """An upper bound of (1 − 2⁻⁵³)^{−roundings}, the factor by which so many roundings can change a positive number.

    (1 − u)^{−k} ≤ 1/(1 − ku) ≤ 1 + 1.001 ku for ku ≤ 10⁻³; two more roundings pay for this formula's own.
    """
    return 1.0 + 1.001 * (roundings + 2.0) * UNIT


def total(values: FloatArray) -> float:
    """The sum of the floats, rounded once."""
    return math.fsum(values.tolist())


def norm(values: FloatArray, order: float) -> tuple[float, float]:
    """‖values‖ of an order ≥ 1 of positive floats, and the number of roundings within which it is right."""
    if math.isinf(order):
        return float(values.max()), 0.0
    if order == 1.0:
        return total(values), 1.0
    # Powers of values ÷ largest cannot overflow; an underflow only concerns entries that do not count.
    largest = float(values.max())
    powers = np.power(values / largest, order)
    # A rounding of the quotient counts `order` times in its power, and the root divides the whole by `order`.
    return largest * total(powers) ** (1.0 / order), 1.0 + (POWER + 1.0) / order + POWER + 2.0


def squared_norms_above(matrix: FloatArray, axis: int) -> FloatArray:
    """For each line along ``axis`` a number at least its squared Euclidean norm."""
    sums = np.einsum("ij,ij->j" if axis == 0 else "ij,ij->i", matrix, matrix)
    return np.asarray(sums * (1.0 + 2.0 * gamma(matrix.shape[axis] + 1)) + TINY)


def sum_above(values: FloatArray) -> float:
    """A number at least the sum of these numbers, all ≥ 0."""
    return above(total(values))


def spectral_norm_above(matrix: FloatArray) -> float:
    r"""A number at least ‖B‖, about (k + N)·γ above it.

    With C the computed t²I − BᵀB (on the smaller side, N): a Cholesky factorization of C that runs to completion proves
    λ_min(C) ≥ −γ_{N+1}/(1 − γ_{N+1})·tr C (Demmel 1989; Higham, Theorem 10.5; Rump, BIT 46, 2006), and C is within
    γ_{k+2}(‖B‖_F² + t²) of t²I − BᵀB. So ‖B‖² ≤ t² plus these two terms. The first t comes from the largest computed
    eigenvalue, and grows until the factorization succeeds.
    """
    import scipy.linalg

    B = matrix if matrix.shape[0] >= matrix.shape[1] else matrix.T
    k, N = B.shape
    G = np.asarray(B.T @ B)
    frobenius = sum_above(squared_norms_above(B, 0))
    if not math.isfinite(frobenius):
        raise BadValue("matrix", frobenius, "have a finite norm", "repair or scale its entries")
    # All eigenvalues: LAPACK's driver for some of them fails on clusters, as matrices near the identity have.
    away = float(np.linalg.norm(G - np.eye(N)))
    top = 1.0 + away if away < _NEAR_ISOMETRY else float(np.linalg.eigvalsh(G)[-1])
    square, slack = max(top, frobenius / (N * 2.0**40), TINY), _FIRST_SLACK * N
    while True:
        t2 = square * (1.0 + slack)
        C = -G
        C[np.diag_indices(N)] += t2
        _, fault = scipy.linalg.lapack.dpotrf(C, lower=True, overwrite_a=False)
        if fault == 0:
            break
        slack *= 4.0
    completion = gamma(N + 1) / (1.0 - gamma(N + 1)) * (N * t2 + frobenius)
    return above(math.sqrt(above(t2 + completion + gamma(k + 2) * (frobenius + t2), 8)), 2)


def inner_product_below(left: FloatArray, right: FloatArray, *, roundings: int) -> float:
    """A number at most Σ_ij X_ij Y_ij, where each computed product may carry this many roundings besides its own.

    That is |error of X_ij Y_ij| ≤ γ_{roundings}|X_ij Y_ij|.
    """
    rows = np.einsum("ij,ij->i", left, right)
    sizes = np.einsum("ij,ij->i", np.abs(left), np.abs(right))
    N = left.shape[1]
    error = gamma(N + roundings + 2) * above(math.fsum(sizes.tolist()), N + roundings + 2) + TINY
    return below(math.fsum(rows.tolist()) - error, 2)


def power_above(value: float, exponent: float) -> float:
    """A number at least value^exponent, for a value ≥ 0."""
    return above(value**exponent, 8)


def power_mean_above(values: FloatArray, exponent: float, count: int) -> float:
    r"""A number at least (Σ_i v_i^e / ``count``)^{1/e} for v ≥ 0 and e ≥ 1, possibly infinite."""
    top = float(np.max(values))
    if math.isinf(exponent) or top == 0.0:
        return top
    # The largest term is 1, so what underflows in the others is less than the roundings that are allowed for.
    ratios = np.power(values / top * (1.0 + 4.0 * UNIT), exponent) * (1.0 + 2.0 * gamma(8))
    return above(top * power_above(above(sum_above(ratios) / count), 1.0 / exponent), 4)


def binary_scale(matrix: FloatArray) -> int:
    """Return the e at which 2^{−e}·matrix has its largest entry in [½, 1); 0 for the zero matrix."""
    return math.frexp(float(np.max(np.abs(matrix), initial=0.0)))[1]


def scaled_exactly(matrix: FloatArray) -> tuple[FloatArray, int]:
    """(2^{−e}·matrix, e), without any rounding; refused where the entries span too many orders of magnitude."""
    e = binary_scale(matrix)
    scaled = np.ldexp(matrix, -e)
    if not np.array_equal(np.ldexp(scaled, e), matrix):
        rule = "have nonzero entries within 300 orders of magnitude of each other"
        raise BadValue("matrix", "too wide a range", rule, "set what is negligible to zero")
    return np.asarray(scaled), e


def scaled_interval(lower: float, upper: float, exponent: int) -> tuple[float, float]:
    """(2^e·lower, 2^e·upper), outward where that overflows or underflows."""
    with np.errstate(over="ignore", under="ignore"):
        ends = np.ldexp(np.array([lower, upper]), exponent)
    if 0.0 < abs(ends[0]) < 2.0**-1000 or 0.0 < abs(ends[1]) < 2.0**-1000 or ends[1] == 0.0 < upper:
        ends = np.nextafter(ends, [-math.inf, math.inf])
    return max(float(min(ends[0], np.finfo(float).max)), 0.0), float(ends[1])
