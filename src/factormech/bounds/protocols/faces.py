r"""Faces of the simplex of types, and the singular values of a workload on them, from below.

A face is a set of m types. A bound for W restricted to the face is one for W, as the users may all have these types
(``docs/lower-bounds-every-protocol.md``, §5). The exact singular values of WF_m decide the bounds, and every bound
grows with each of them: rounding is accounted for by lowering the computed ones.

**Families.** For the domain and for its initial segments of n/2, n/4, … types: evenly spaced types with both ends, and
the first types in a greedy order, in which each type raises the determinant of the restricted workload most. The sizes
are taken from one list that does not depend on n. The greedy order sees each distinct query once, and none that is
constant. So every face of the smaller domain is tried again in the larger one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg

from factormech.arrays import FloatArray, check_dense_size
from factormech.errors import BadValue
from factormech.norms.certified import checked_matrix
from factormech.workloads.base import Workload

_UNIT = 2.0**-53
# What the roundings of the error bounds themselves may amount to.
_SLACK = 1.0 + 1e-6
# Every size up to the first number, then growing by 8 % up to the second and by 19 % beyond it.
_ALL_SIZES, _MANY_SIZES = 24, 64
# The greedy order has at most so many types.
_GREEDY = 128
# Relative size of what is left of a query, or of a type, at which it depends on those before.
_DEPENDENT = 1e-9
DOMAIN_LIMIT = 1024


@dataclass(frozen=True)
class CentredAnswers:
    """A workload as the bounds see it: its answers, less a constant per query.

    Attributes
    ----------
    rows
        W less a constant of each row, (k, n), entries wrong by at most one rounding.
    gram
        WᵀW of these rows, (n, n).
    error
        A bound on the spectral norm of what is wrong with ``gram``.
    symmetric
        Whether the centred Gram matrix is known to depend on u ⊕ v alone.
    """

    rows: FloatArray
    gram: FloatArray
    error: float
    symmetric: bool

    @property
    def queries(self) -> int:
        """k, constant queries included."""
        return len(self.rows)

    @property
    def types(self) -> int:
        """n."""
        return int(self.rows.shape[1])


def problem_of(workload: Workload | Any) -> CentredAnswers:
    """Return the centred answers of a workload or a (k, n) matrix, refused where no query differs between two types."""
    symmetric = isinstance(workload, Workload) and workload.centred_walsh_spectrum() is not None
    name = workload.name if isinstance(workload, Workload) else "workload"
    if isinstance(workload, Workload):
        check_dense_size(f"matrix of {name}", 3 * workload.queries, workload.domain_size)
    W = checked_matrix("workload", workload.matrix() if isinstance(workload, Workload) else workload)
    if not 2 <= W.shape[1] <= DOMAIN_LIMIT:
        raise BadValue("domain size", W.shape[1], f"be from 2 to {DOMAIN_LIMIT} types", "ask fewer types")
    W = W - 0.5 * (W.max(axis=1, keepdims=True) + W.min(axis=1, keepdims=True))
    if not W.any():
        raise BadValue("workload", name, "ask something that differs between users", "these answers need no users")
    gram = W.T @ W
    return CentredAnswers(W, gram, (len(W) + 4) * _UNIT * float(np.trace(gram)) * _SLACK, symmetric)


def sizes(largest: int) -> list[int]:
    """The sizes of faces that are tried on a segment of ``largest`` types."""
    found, size = list(range(2, _ALL_SIZES + 1)), float(_ALL_SIZES)
    while size < largest:
        size *= 1.08 if size < _MANY_SIZES else 1.19
        found.append(round(size))
    return [*(m for m in found if m < largest), largest]


def families(problem: CentredAnswers) -> list[tuple[int, ...]]:
    """The faces that are tried, each once."""
    found: dict[tuple[int, ...], None] = {}
    n = problem.types
    while n >= 2:
        order = greedy_types(problem.rows[:, :n])
        for m in sizes(n):
            found[tuple(int(u) for u in np.unique(np.round(np.linspace(0, n - 1, m))))] = None
            if m <= len(order):
                found[tuple(sorted(order[:m]))] = None
        n //= 2
    return list(found)


def greedy_types(rows: FloatArray) -> list[int]:
    """Types in greedy order: each raises the determinant of the workload on them most.

    Where none does, what the types before it have in common with it is forgotten, and the order goes on.
    """
    distinct = distinct_queries(rows)
    if not len(distinct):
        return [0]
    shifted = distinct - distinct[:, :1]
    # Only inner products matter: a root of the Gram matrix stands for many queries.
    start = shifted if len(shifted) <= shifted.shape[1] else np.asarray(np.linalg.qr(shifted, mode="r"))
    R, order = start, [0]
    largest = float(np.square(start).sum(axis=0).max())
    while len(order) < min(start.shape[1], _GREEDY):
        left = np.square(R).sum(axis=0)
        left[order] = -1.0
        # Sums of equal terms in another order differ by roundings: ties go to the first type.
        u = int(np.argmax(left >= left.max() - 1e-9 * largest))
        if left[u] <= _DEPENDENT * largest:
            if R is start:
                break
            R = start
            continue
        order.append(u)
        unit = R[:, u] / math.sqrt(float(left[u]))
        R = R - np.outer(unit, unit @ R)
    return order


def distinct_queries(rows: FloatArray) -> FloatArray:
    """The rows less a constant, each once up to sign, without the constant ones, in the order of their first types."""
    shifted = rows - rows[:, :1]
    shifted = shifted[shifted.any(axis=1)]
    first = shifted[np.arange(len(shifted)), (shifted != 0.0).argmax(axis=1)]
    return np.asarray(np.unique(shifted * np.sign(first)[:, None] + 0.0, axis=0))


def form_on(
    problem: CentredAnswers, types: tuple[int, ...], centre: FloatArray | None = None
) -> tuple[FloatArray, float]:
    """FᵀWᵀWF on a face, FFᵀ = Diag m − mmᵀ, and a bound on the spectral norm of what is wrong with it."""
    index = np.asarray(types)
    G, size = problem.gram[np.ix_(index, index)], len(types)
    m = np.full(size, 1.0 / size) if centre is None else np.asarray(centre, dtype=float)
    means = G @ m
    K = (G - means[:, None] - means + float(m @ means)) * np.sqrt(np.outer(m, m))
    rounding = (4.0 * size + 24.0) * _UNIT * size * float(np.abs(G).max()) * float(m.max())
    return 0.5 * (K + K.T), (problem.error * float(m.max()) + rounding) * _SLACK


def singular_values_near(form: FloatArray) -> FloatArray:
    """The positive square roots of the eigenvalues, largest first, for the search."""
    values = np.linalg.eigvalsh(form)[::-1]
    return np.asarray(np.sqrt(values[values > _DEPENDENT**1.2 * max(float(values[0]), 0.0)]))


def singular_values_below(form: FloatArray, error: float) -> FloatArray:
    """Lower bounds on the singular values, largest first: the eigenvalues of every matrix within ``error`` of ``form``.

    For computed V, Λ and E = K − VΛVᵀ, λ_i(K) ≥ λ_iσ_min(V)² − ‖E‖ (Ostrowski and Weyl).
    """
    values, V = scipy.linalg.eigh(form)
    size = len(values)
    gamma = (size + 4) * _UNIT * _SLACK
    wrong = np.linalg.norm(form - (V * values) @ V.T) + 4.0 * gamma * size * float(np.abs(values).max())
    skew = float(np.linalg.norm(V.T @ V - np.eye(size))) + 4.0 * gamma * size
    low = values * (1.0 - skew) - (float(wrong) + error) * _SLACK
    return np.asarray(np.sqrt(low[low > 0.0])[::-1] * (1.0 - 4.0 * _UNIT))


def centred_trace_above(form: FloatArray, error: float) -> float:
    """An upper bound on tr(WD_mWᵀ)."""
    return (float(np.trace(form)) + len(form) * error) * _SLACK_TRACE


_SLACK_TRACE = 1.0 + 1e-12
