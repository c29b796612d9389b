r"""Factorizations from the norms' solvers, with the sensitivity of the right factor proved for what is applied.

A dense right factor is a matrix of floats, whose column norms are bounded outright. The structured ones of prefix sums
and of ranges are sums of resolvents: exactly, R' = f(T)·R with |f − 1| ≤ δ on the spectrum of T, so that each column
norm is that of R times at most 1 + δ, and those of R come enclosed from the chain.
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from factormech.arrays import FloatArray
from factormech.errors import BadValue, Unavailable
from factormech.mechanisms.central.factorization import (
    RESIDUAL_LIMIT,
    Factorization,
    KnownFactor,
    RangesFactor,
    dense_sensitivity,
    of_matrices,
    root_above,
)
from factormech.norms.certified import CertifiedNorm, DenseFactor, Factor
from factormech.norms.ordered_factors import TOLERANCE, ChainFactor, prefix_factors, resolvents
from factormech.norms.registry import compute
from factormech.norms.resolvents import Chain, Diagonals, inverse_power
from factormech.norms.structured import PrefixDual, RangesDual
from factormech.numerics.rounding import above
from factormech.workloads.base import Workload
from factormech.workloads.ranges import AllRanges, Prefix

# Decompositions of larger matrices take minutes; structured workloads never come here.
LARGEST_DENSE = 1 << 21
# Queries and types together: the splitting of γ₂(W, α) has one decomposition of such a matrix a step.
LARGEST_APPROXIMATE = 400


def optimal(workload: Workload, norm: str, p: float) -> Factorization | Unavailable:
    """The factors of γ₍ₚ₎, by the name of the norm."""
    refused = refusal(workload, p)
    if refused is not None:
        return refused
    found = compute(norm, workload)
    if isinstance(workload, Prefix):
        return _prefix(workload, p, found)
    if isinstance(workload, AllRanges) and p == 2.0:
        return _ranges(workload, found)
    return _of_norm(workload, found, found.left, dense_sensitivity(found.right.dense()))


def refusal(workload: Workload, p: float) -> Unavailable | None:
    """Why γ₍ₚ₎ of a workload is not solved here, if it is not."""
    if isinstance(workload, Prefix) or (isinstance(workload, AllRanges) and p == 2.0):
        return None
    by_gram = p == 2.0 and workload.queries > workload.domain_size
    return _dense_refusal(workload.domain_size**2 if by_gram else workload.queries * workload.domain_size)


def _dense_refusal(size: int) -> Unavailable | None:
    if size <= LARGEST_DENSE:
        return None
    return Unavailable(f"its solver decomposes matrices of {size} numbers here; at most {LARGEST_DENSE}")


def approximate(workload: Workload, alpha: float) -> Factorization | Unavailable:
    """The factors of γ₂(W, α): LR = W̃ with |W̃ − W| ≤ α entrywise."""
    if not (isinstance(alpha, (int, float)) and 0.0 <= alpha < math.inf):
        raise BadValue("alpha", alpha, "be a finite number of at least 0", "give for example 0.1")
    if alpha == 0.0:
        return optimal(workload, "gamma-2", math.inf)
    size = workload.queries + workload.domain_size
    if size > LARGEST_APPROXIMATE:
        return Unavailable(f"its solver decomposes matrices of {size} rows many times; at most {LARGEST_APPROXIMATE}")
    found = compute("gamma-2-approximate", workload, alpha=float(alpha))
    sensitivity = dense_sensitivity(found.right.dense())
    return Factorization(workload, found.left, found.right, sensitivity, found.residual, float(alpha))


def _of_norm(workload: Workload, norm: CertifiedNorm, left: Factor, sensitivity: float) -> Factorization:
    """Refuses factors that miss the workload."""
    residual = norm.residual
    if isinstance(left, DenseFactor):
        return of_matrices(workload, left.matrix, norm.right.dense())
    # The residual of a Gram solver bounds ‖(W − LR)_j‖, and so every entry.
    largest = math.sqrt(float(workload.gram_diagonal().max()))
    if residual > RESIDUAL_LIMIT * largest:
        rule = f"have factors that multiply to it; they miss by {residual:.3g}"
        raise BadValue(f"workload {workload.name}", workload.domain_size, rule, "give a matrix of full rank")
    return Factorization(workload, left, norm.right, sensitivity, residual)


def _enclosed_columns(squares: FloatArray, found: Diagonals, error: float) -> float:
    """Return an upper bound on the largest column norm, from the squared norms of the exact root."""
    return above(root_above(float(squares.max()) * found.slack, 1) * (1.0 + error), 2)


def _prefix(workload: Prefix, p: float, norm: CertifiedNorm) -> Factorization:
    w, q = norm.witness["left_weights"], norm.witness["right_weights"]
    found = PrefixDual(workload.domain_size, p).diagonals(w, q, TOLERANCE)
    left, right, error = prefix_factors(w, q)
    sensitivity = _enclosed_columns(found.loops, found, error)
    return Factorization(workload, KnownFactor(left, found.nodes), right, sensitivity, norm.residual)


def _ranges(workload: AllRanges, norm: CertifiedNorm) -> Factorization:
    """L = WF, F = N Σω'L⁻¹D_q^{1/2} (:mod:`.structured.factors`), by its prefixes PF, which :class:`Ranges` needs."""
    n, q = workload.domain_size, norm.witness["right_weights"]
    found = RangesDual(n).diagonals(q, TOLERANCE)
    chain = Chain(np.full(n, n + 1.0), q, n + 1.0)
    rule = inverse_power(0.75, *chain.spectrum(), TOLERANCE)
    right_error = inverse_power(0.25, *chain.spectrum(), TOLERANCE).relative_error
    root = np.sqrt(q)[:, None]
    smooth = partial(resolvents, chain, rule)

    def forward(z: FloatArray) -> FloatArray:
        # P·N: the sum of second differences from the start is one first difference.
        y = smooth(root * z)
        return np.asarray((y[:1] + y - np.concatenate([y[1:], np.zeros_like(y[:1])])) / (n + 1.0))

    def backward(y: FloatArray) -> FloatArray:
        steps = np.diff(y, axis=0, prepend=0.0)
        steps[0] += y.sum(axis=0)
        return np.asarray(root * smooth(steps / (n + 1.0)))

    left = RangesFactor(workload, ChainFactor((n, n), forward, backward))
    sensitivity = _enclosed_columns(found.nodes, found, right_error)
    return Factorization(workload, left, norm.right, sensitivity, norm.residual)
