r"""Factorizations of prefix sums and ranges in closed form: the Toeplitz square root and the binary tree.

P is the n × n matrix of prefix sums. Ranges are differences of prefixes, so a left factor of P gives one of all ranges
(:class:`~factormech.mechanisms.central.factorization.RangesFactor`), with the same right factor. All factors are
applied in O(n log n).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from factormech.arrays import FloatArray
from factormech.errors import Unavailable
from factormech.mechanisms.central.factorization import (
    Factorization,
    IdentityFactor,
    KnownFactor,
    Queries,
    RangesFactor,
    blocked_row_squares,
    root_above,
)
from factormech.norms.certified import Factor
from factormech.norms.ordered_factors import ChainFactor, binary_tree, square_root, square_root_coefficients
from factormech.numerics.rounding import above, gamma
from factormech.workloads.base import Workload, scatter
from factormech.workloads.ranges import AllRanges, Prefix

# Above this size the rows of the factor with normalised columns, n² numbers in all, take minutes.
_LARGEST_NORMALISED = 1 << 14


def of_prefixes(
    workload: Workload, prefix: Callable[[int], Factorization | Unavailable]
) -> Factorization | Unavailable:
    """A factorization of prefix sums said of an ordered workload."""
    if not isinstance(workload, (Prefix, AllRanges)):
        return Unavailable("it is for prefix sums and ranges only")
    found = prefix(workload.domain_size)
    if isinstance(found, Unavailable):
        return found
    left: Factor = found.left
    residual = found.residual
    if isinstance(workload, AllRanges):
        left, residual = RangesFactor(workload, left), 2.0 * residual
    return Factorization(workload, left, found.right, found.sensitivity, residual)


def output_noise(workload: Workload) -> Factorization:
    """L = I, R = W: noise on the answers, at the largest column norm of W."""
    square = float(workload.gram_diagonal().max())
    right = Queries(workload)
    return Factorization(
        workload, IdentityFactor(workload.queries), right, root_above(square, workload.queries + 64), 0.0
    )


def input_noise(workload: Workload) -> Factorization:
    """Return the factorization L = W, R = I: noise on the histogram, at sensitivity 1."""
    left: Factor = Queries(workload)
    if isinstance(workload, AllRanges):
        left = RangesFactor(workload, Queries(Prefix("prefix", workload.domain_size)))
    return Factorization(workload, left, IdentityFactor(workload.domain_size), 1.0, 0.0)


# Square roots ------------------------------------------------------------------------------------------------


def toeplitz(coefficients: FloatArray) -> ChainFactor:
    """The lower triangular Toeplitz matrix of these coefficients, by fast Fourier transforms."""
    n = coefficients.size
    size = 1 << (2 * n - 1).bit_length()
    transform = np.fft.rfft(coefficients, size)[:, None]

    def forward(x: FloatArray) -> FloatArray:
        return np.asarray(np.fft.irfft(np.fft.rfft(x, size, axis=0) * transform, size, axis=0)[:n])

    return ChainFactor((n, n), forward, lambda y: forward(y[::-1])[::-1])


def square_root_of_prefixes(n: int) -> Factorization:
    """L = R = P^{1/2}: Toeplitz, coefficients c_t of (1 − z)^{−1/2} (Fichtenberger, Henzinger & Upadhyay, ICML 2023).

    c_t is right to 4t roundings, and Σ_s c_s c_{t−s} = 1 has positive terms: the floats multiply to P within γ_{8n}.
    """
    known = square_root(n)
    factor = KnownFactor(toeplitz(square_root_coefficients(n)), known.rows)
    sensitivity = root_above(float(known.columns.max()), 6 * n)
    return Factorization(Prefix("prefix", n), factor, factor, sensitivity, above(gamma(8 * n), 4))


def normalised_square_root(n: int) -> Factorization | Unavailable:
    r"""R = P^{1/2}D⁻¹, D = diag(d) the column norms of P^{1/2}, and L = PR⁻¹ = PDP^{−1/2}: every column has norm 1.

    P^{−1/2} is Toeplitz with the coefficients h_0 = 1, h_t = −c_t/(2t − 1) of (1 − z)^{1/2}, negative but for
    h_0. The floats of h and c convolve to e_0 up to γ_{10n}(|h| * c)_t = 2γc_t, and d falls, so that
    |PD(…)D⁻¹|_ij ≤ 2γ Σ_{s ≥ j} c_{s−j} d_s/d_j ≤ 2γ Σ_t c_t.
    """
    if n > _LARGEST_NORMALISED:
        return Unavailable(f"the rows of its left factor are {n}² numbers; the domain must be at most 2^14")
    c = square_root_coefficients(n)
    h = np.concatenate([[1.0], -c[1:] / (2.0 * np.arange(1.0, n) - 1.0)])
    d = np.sqrt(square_root(n).columns)[:, None]
    root, inverse = toeplitz(c), toeplitz(h)
    left = ChainFactor(
        (n, n),
        lambda z: np.cumsum(d * inverse.forward(z), axis=0),
        lambda y: inverse.backward(d * np.cumsum(y[::-1], axis=0)[::-1]),
    )
    right = ChainFactor((n, n), lambda x: root.forward(x / d), lambda y: root.backward(y) / d)
    residual = above(2.0 * gamma(10 * n) * float(c.sum()), n + 8)
    # Column j of P^{1/2} has the norm d_j up to the roundings of c (twice 4n), of the sum and of the root.
    known = KnownFactor(left, blocked_row_squares(left))
    return Factorization(Prefix("prefix", n), known, right, root_above(1.0, 12 * n + 8), residual)


# Trees -------------------------------------------------------------------------------------------------------


def tree_counts(n: int) -> ChainFactor:
    """R: the sums over all blocks of 2^ℓ types, ℓ = 0 … h, 2^h ≥ n, root included, level after level; O(n) a column."""
    height = (n - 1).bit_length()

    def forward(x: FloatArray) -> FloatArray:
        levels = [np.zeros((1 << height, x.shape[1]))]
        levels[0][:n] = x
        for _ in range(height):
            levels.append(levels[-1][0::2] + levels[-1][1::2])
        return np.concatenate(levels)

    def backward(y: FloatArray) -> FloatArray:
        levels = _levels(y, height)
        total = levels[height]
        for level in range(height - 1, -1, -1):
            total = np.repeat(total, 2, axis=0) + levels[level]
        return np.asarray(total[:n])

    return ChainFactor(((2 << height) - 1, n), forward, backward)


def plain_tree(n: int) -> Factorization:
    """A prefix of length m is the sum of one block for each bit of m (Chan, Shi & Song; Dwork et al., 2010)."""
    right = tree_counts(n)
    height = (n - 1).bit_length()
    m = np.arange(1, n + 1)
    starts = np.cumsum([0] + [1 << (height - level) for level in range(height)])
    bits = [np.flatnonzero((m >> level) & 1) for level in range(height + 1)]
    nodes = [starts[level] + 2 * (m[at] >> (level + 1)) for level, at in enumerate(bits)]

    def forward(z: FloatArray) -> FloatArray:
        total = np.zeros((n, z.shape[1]))
        for at, node in zip(bits, nodes, strict=True):
            total[at] += z[node]
        return total

    def backward(y: FloatArray) -> FloatArray:
        values = np.concatenate([y[at] for at in bits])
        return scatter(np.concatenate(nodes), values, right.shape[0])

    squares = np.bincount(np.concatenate(bits), minlength=n).astype(np.float64)
    left = KnownFactor(ChainFactor((n, right.shape[0]), forward, backward), squares)
    return Factorization(Prefix("prefix", n), left, right, root_above(height + 1.0), 0.0)


def least_squares_tree(n: int) -> Factorization:
    """The same counts, and the prefixes of the least-squares histogram (Hay, Rastogi, Miklau & Suciu, PVLDB 2010)."""
    right = tree_counts(n)
    height = (n - 1).bit_length()
    full = tree_counts(1 << height)

    def forward(z: FloatArray) -> FloatArray:
        return np.asarray(np.cumsum(_solve_tree(full.backward(z), height)[:n], axis=0))

    def backward(y: FloatArray) -> FloatArray:
        padded = np.zeros((1 << height, y.shape[1]))
        padded[:n] = np.cumsum(y[::-1], axis=0)[::-1]
        return full.forward(_solve_tree(padded, height))

    left = KnownFactor(ChainFactor((n, right.shape[0]), forward, backward), binary_tree(n).rows)
    return Factorization(Prefix("prefix", n), left, right, root_above(height + 1.0), 0.0)


def _solve_tree(v: FloatArray, height: int) -> FloatArray:
    """(AᵀA)⁻¹v for the tree A over 2^h types, by Haar's wavelets (:func:`.classical.binary_tree`), O(n) a column."""
    means = [v]
    for _ in range(height):
        means.append(0.5 * (means[-1][0::2] + means[-1][1::2]))
    found = means[height] / (2.0 ** (height + 1) - 1.0)
    for level in range(height, 0, -1):
        detail = means[level - 1] - np.repeat(means[level], 2, axis=0)
        found = np.repeat(found, 2, axis=0) + detail / (2.0**level - 1.0)
    return found


def _levels(y: FloatArray, height: int) -> list[FloatArray]:
    ends = np.cumsum([1 << (height - level) for level in range(height)])
    return np.split(y, ends)
