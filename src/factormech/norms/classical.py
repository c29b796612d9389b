r"""Known factorizations of the prefix workload and their exact errors, beside the optimum; bounds in closed form.

The error of order p of W = RA is n^{−1/p} (Σ_i ‖R_i‖^p)^{1/p} max_j ‖A_j‖, at least γ₍ₚ₎(W).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from factormech.arrays import FloatArray, check_positive_integer
from factormech.errors import UnknownName
from factormech.norms.structured import check_order


@dataclass(frozen=True)
class Classical:
    """A factorization by the squared norms of its rows r and columns a."""

    rows: FloatArray
    columns: FloatArray

    def error(self, p: float = math.inf) -> float:
        """Of order p: 2 for the root of the mean square, infinite for the largest."""
        p = check_order(p)
        largest = float(self.rows.max())
        if math.isinf(p):
            spread = largest
        else:
            spread = largest * float(np.mean((self.rows / largest) ** (p / 2.0))) ** (2.0 / p)
        return math.sqrt(spread * float(self.columns.max()))


def identity(n: int) -> Classical:
    """R = W, A = I: noise on every count."""
    n = check_positive_integer("n", n)
    return Classical(np.arange(1.0, n + 1.0), np.ones(n))


def square_root(n: int) -> Classical:
    r"""R = A = W^{1/2}: Toeplitz, with the coefficients of (1 − z)^{−1/2}, c_0 = 1, c_t = c_{t−1}(2t − 1)/2t.

    Its largest error is Σ_{t<n} c_t² ≤ 1 + (0.5773 + ln n)/π, as c_t² ≤ 1/(πt) for t ≥ 1 (Fichtenberger, Henzinger &
    Upadhyay, ICML 2023; its mean square: Henzinger, Upadhyay & Upadhyay, SODA 2023).
    """
    sums = np.cumsum(square_root_coefficients(n) ** 2)
    return Classical(sums, sums[::-1].copy())


def square_root_coefficients(n: int) -> FloatArray:
    """c_0 … c_{n−1}."""
    n = check_positive_integer("n", n)
    t = np.arange(1.0, float(n))
    return np.concatenate([[1.0], np.cumprod((2.0 * t - 1.0) / (2.0 * t))])


def binary_tree(n: int) -> Classical:
    r"""A: the counts of all nodes of the binary tree over 2^h ≥ n leaves, the root included; R = W A⁺, least squares.

    W is read as the first n rows and columns of that of 2^h. For A every column has h + 1 ones. AᵀA is the sum over
    the levels ℓ of 2^ℓ times the projector on what is constant on blocks of 2^ℓ: with Haar's wavelets, its eigenvalue
    is 2^ℓ − 1 on those that split a block of 2^ℓ, and 2^{h+1} − 1 on the constant. A prefix of length i meets, at the
    level ℓ, one wavelet in part: with m = i mod 2^ℓ, its inner product squared is min(m, 2^ℓ − m)²/2^ℓ. So

    .. math:: r_i = \frac{i^2}{2^h (2^{h+1} - 1)} + \sum_{ℓ=1}^{h} \frac{\min(m, 2^ℓ - m)^2}{2^ℓ (2^ℓ - 1)} .
    """
    n = check_positive_integer("n", n)
    height = (n - 1).bit_length()
    i = np.arange(1, n + 1)
    rows = i.astype(np.float64) ** 2 / (2.0**height * (2.0 ** (height + 1) - 1.0))
    for level in range(1, height + 1):
        rest = i % 2**level
        part = np.minimum(rest, 2**level - rest).astype(np.float64)
        rows += part**2 / (2.0**level * (2.0**level - 1.0))
    return Classical(rows, np.full(n, height + 1.0))


CLASSICAL = {"square-root": square_root, "binary-tree": binary_tree, "identity": identity}


def classical(name: str, n: int) -> Classical:
    """The known factorization of this name."""
    if name not in CLASSICAL:
        raise UnknownName("factorization", name, CLASSICAL)
    return CLASSICAL[name](n)


def trace_bound(n: int) -> float:
    """‖W‖_*/n = (1/n) Σ_j 1/(2 sin((2j − 1)π/(4n + 2))): at most every γ₍ₚ₎ (equal weights in the dual)."""
    n = check_positive_integer("n", n)
    j = np.arange(1.0, n + 1.0)
    return float(np.sum(0.5 / np.sin((2.0 * j - 1.0) * np.pi / (4.0 * n + 2.0)))) / n
