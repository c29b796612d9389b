"""The best packing bound of a workload, as an error at n users and as a number of users for an error.

**The error.** A workload, the number of users and ε give the best bound of this package, with its witness. For the
columns q_x of any W, k × N, and any types C ⊆ {1 … N}, with P_C the projection on Σu = 0 and n users of those types
(data of fewer types are data):

* ``separation``: a few users of one of many types (Lemma 2.3);
* sparse packings: ‖Wu‖ ≥ σ‖u‖ for Σu = 0, u on C, σ² the least eigenvalue of P_C W_CᵀW_C P_C beside that of 1_C; the
  packings of ``parity`` with |C| types, distances times σ/√k;
* ``averaging``: the mean over all data of the types C, with ‖W_C P_C‖_{S₁};
* ``marginals``: Hadamard packings, for the families of marginals and conjunctions.

C is everything and, for N ≤ ``DENSE_LIMIT``, prefixes of a pivoted Cholesky order of the differences q_x − q_0, which
keeps σ large. All of it but the last step is done once per workload: :func:`prepare`, then :func:`lower_bound` for
many n and ε.

Eigenvalues are computed in doubles and lowered by N·2⁻⁵⁰ of the largest.

**The number of users.** It is the minimum that a given error takes, by these bounds. Let err*_n be the least worst
error at n users. **n·err*_n does not decrease in n**: a mechanism for n + 1 users serves n, with one more user
of a fixed type x₀: ((n+1)M(X, x₀) − q_{x₀})/n has error (n+1)/n times M's. So a bound b at m users gives err*_{m'}
≥ (m/m')·b for all m' ≥ m, hence err*_{m'} > α for all m ≤ m' < mb/α. Started at m = 1 and continued from the end of
each such stretch, this covers all n up to a last one: the sample complexity, in the paper's sense of the least n of
all with error at most α, is above it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from factormech.arrays import FloatArray, IntArray, check_epsilon, check_positive_integer
from factormech.bounds.packing.core import LowerBound, best_of_nested, nothing
from factormech.bounds.packing.families import (
    LARGEST,
    Separation,
    distances_of,
    separation,
    separation_bound,
    traversal,
)
from factormech.bounds.packing.marginals import marginals, sparse_bound
from factormech.errors import BadValue
from factormech.norms.certified import checked_matrix
from factormech.workloads.base import Workload
from factormech.workloads.conjunctions import Conjunctions
from factormech.workloads.marginals import Marginals

# The error.

# Domains up to this size are looked at through their Gram matrix.
DENSE_LIMIT = 2048
# Numbers of types that are tried.
_PREFIXES = (2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512)
_SLACK = 2.0**-50


@dataclass(frozen=True)
class Prepared:
    """The numbers of a workload that the bounds are made of.

    Attributes
    ----------
    name, types, queries
        What it is, N and k.
    apart
        P(t), or ``None`` above ``DENSE_LIMIT``.
    sizes, scales, traces
        For nested sets of types: |C|, σ/√k from below, and ‖W_C P_C‖_{S₁} from below.
    attributes, widths, cells
        d, the widths of marginals or conjunctions, and which of the two; no widths for other workloads.
    """

    name: str
    types: int
    queries: int
    apart: Separation | None
    sizes: IntArray
    scales: FloatArray
    traces: FloatArray
    attributes: int = 0
    widths: tuple[int, ...] = ()
    cells: bool = False


def prepare(workload: Workload | Any, *, name: str = "matrix") -> Prepared:
    """Return all that does not depend on n and ε, for a ``Workload`` or a dense k × N matrix."""
    if isinstance(workload, Workload):
        N, k, name = workload.domain_size, workload.queries, workload.name
        gram = workload.gram() if N <= DENSE_LIMIT else None
        values = workload.centred_singular_values() if gram is None else None
    else:
        W = checked_matrix(name, workload)
        k, N = W.shape
        gram, values = (W.T @ W, None) if N <= DENSE_LIMIT else (None, _centred_values(W))
    whole = _of_whole(values, N, k) if gram is None and values is not None else None
    parts = _of_parts(gram, k) if gram is not None else []
    parts += [whole] if whole else []
    sizes, scales, traces = (np.array(column) for column in zip(*parts, strict=True)) if parts else [np.empty(0)] * 3
    apart = separation(distances_of(gram, k)) if gram is not None else None
    return Prepared(name, N, k, apart, sizes.astype(np.int64), scales, traces, *_family(workload))


def lower_bound(workload: Prepared | Workload | Any, users: int, epsilon: float) -> LowerBound:
    """The best bound of this package on max_X E‖M(X) − Q(X)‖₂/√k, over all ε-DP mechanisms M on n users.

    Parameters
    ----------
    workload
        A ``Workload``, a dense k × N matrix, or either after :func:`prepare`.
    users
        n ≥ 1; Q(X) is the **mean** of n columns, neighbours replace one user.
    epsilon
        The privacy budget, δ = 0.
    """
    n, epsilon = check_positive_integer("users", users), check_epsilon(epsilon)
    p = workload if isinstance(workload, Prepared) else prepare(workload)
    found = [nothing(n, epsilon)]
    if p.apart is not None:
        found.append(separation_bound(p.apart, n, epsilon))
    for size, scale in zip(p.sizes.tolist(), p.scales.tolist(), strict=True):
        if scale > 0.0 and size <= LARGEST:
            found.append(sparse_bound(size, n, epsilon, scale=scale))
    if len(p.sizes):
        value, used = best_of_nested(p.traces, p.sizes.astype(float), p.queries, n, epsilon)
        found.append(LowerBound(value, n, epsilon, "averaging", {"data": "uniform over histograms", "types": used}))
    for width in p.widths:
        found.append(marginals(p.attributes, width, n, epsilon, cells=p.cells, queries=p.queries))
    return max(found, key=lambda bound: bound.value)


def _family(workload: Workload | Any) -> tuple[int, tuple[int, ...], bool]:
    """(d, widths, cells) of a workload that the Hadamard packing knows."""
    if isinstance(workload, Marginals):
        return workload.d, tuple(w for w in workload.widths if w), True
    if isinstance(workload, Conjunctions):
        return workload.d, tuple(range(1, workload.k + 1)), False
    return 0, (), False


def _of_whole(values: FloatArray, N: int, k: int) -> tuple[int, float, float] | None:
    """(N, σ/√k, trace) from the centred singular values, largest first, the last of them that of 1."""
    if N < 2:
        return None
    squares = np.maximum(values[:-1] ** 2 - N * _SLACK * values[0] ** 2, 0.0)
    return N, math.sqrt(squares[-1] / k) * (1.0 - _SLACK), float(np.sqrt(squares).sum()) * (1.0 - N * _SLACK)


def _of_parts(gram: FloatArray, k: int) -> list[tuple[int, float, float]]:
    """The same for prefixes of the pivoted order, and for everything."""
    N = len(gram)
    order = _pivoted_order(gram, max(_PREFIXES))
    rows = []
    for C in [order[:size] for size in _PREFIXES if size <= len(order) and size < N] + [np.arange(N)]:
        if len(C) >= 2:
            rows.append(_of_gram(gram[np.ix_(C, C)], k))
    return rows


def _of_gram(G: FloatArray, k: int) -> tuple[int, float, float]:
    G = G - G.mean(axis=0)[None, :]
    G = G - G.mean(axis=1)[:, None]
    values = np.linalg.eigvalsh(0.5 * (G + G.T))
    N = len(G)
    # Without that of 1, which is 0: the others are not below it.
    squares = np.maximum(values[1:] - N * _SLACK * max(float(values[-1]), 0.0), 0.0)
    return N, math.sqrt(squares[0] / k) * (1.0 - _SLACK), float(np.sqrt(squares).sum()) * (1.0 - N * _SLACK)


def _pivoted_order(gram: FloatArray, most: int) -> IntArray:
    """Types in the order of a pivoted Cholesky factorization of the differences from an end of the diameter."""
    distances = distances_of(gram, 1)
    first = int(traversal(distances)[0][0])
    g = gram - gram[first][None, :]
    g = g - g[:, first][:, None]
    residual, top = np.diagonal(g).copy(), float(np.max(np.diagonal(g)))
    factors = np.empty((min(most, len(gram)), len(gram)))
    order = [first]
    while len(order) < min(most, len(gram)):
        x = int(np.argmax(residual))
        if residual[x] <= 1e-9 * top:
            break
        done = len(order) - 1
        column = (g[x] - factors[:done, x] @ factors[:done]) / math.sqrt(residual[x])
        factors[done] = column
        residual = residual - column**2
        residual[x] = 0.0
        order.append(x)
    return np.array(order)


def _centred_values(W: FloatArray) -> FloatArray:
    """The N centred singular values of a dense matrix, largest first."""
    from factormech.workloads.base import padded

    return padded(np.linalg.svd(W - W.mean(axis=1, keepdims=True), compute_uv=False)[: W.shape[1]], W.shape[1])


# The number of users.

# The search ends when a stretch grows by less than this share.
_PROGRESS = 1e-3
_STRETCHES = 500


@dataclass(frozen=True)
class UsersNeeded:
    """The minimum number of ``users`` with which an ε-DP mechanism may have error ≤ α.

    Attributes
    ----------
    users
        1 where nothing is proved.
    last
        The bound that proves the last stretch, or ``None``.
    stretches
        How many bounds the proof is made of.
    """

    users: int
    last: LowerBound | None
    stretches: int


def users_needed(
    bound: Callable[[int], LowerBound], alpha: float, *, most: int = 10**12, first: int = 1
) -> UsersNeeded:
    """A lower bound on the sample complexity at error α.

    Parameters
    ----------
    bound
        n ↦ a lower bound on the error at n users, ε fixed.
    alpha
        The error, above 0.
    most
        Where the search ends.
    first
        Where it begins: nothing is said of fewer users.
    """
    if not (math.isfinite(alpha) and alpha > 0.0):
        raise BadValue("alpha", alpha, "be a finite number above 0", "give for example 0.1")
    check_positive_integer("most", most)
    m, last, count = check_positive_integer("first", first), None, 0
    while m < most and count < _STRETCHES:
        found = bound(m)
        # The largest m' with m'·α < m·b: errors at m … m' are above α.
        end = math.ceil(m * found.value / alpha * (1.0 - 1e-12)) - 1
        if end < m:
            break
        grown, last, count = min(end, most) + 1, found, count + 1
        small, m = grown - m <= _PROGRESS * m and grown - m > 1, grown
        if small:
            break
    return UsersNeeded(m, last, count)
