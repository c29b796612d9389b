"""Factorizations of a workload as central mechanisms need them: proved sensitivity, norms of rows, and the residual.

**Factors as operators.** A factor offers products with vectors, the norms of its rows, and the largest entry of a
product. Row norms are errors, right to a few roundings; column norms are privacy, and come from where the factor is
made with a proof (:class:`Factorization`). Nothing here makes a queries × domain matrix.

**A factorization LR of a workload W.** The sensitivity of R and the distance of LR from W are proved. M(x) = L(Rx +
z), z ~ N(0, σ²I), is private because Rx + z is: L is post-processing, whatever it is. So the guarantee rests on the
largest column norm of R alone, of which ``sensitivity`` is an upper bound in exact arithmetic for the very numbers
that define R. The answers miss Wx by at most (``residual`` + ``tolerance``)·‖x‖₁ beside the noise.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, runtime_checkable

import numpy as np

from factormech.arrays import FloatArray, check_dense_size
from factormech.errors import BadValue
from factormech.norms.certified import DenseFactor, Factor
from factormech.numerics.rounding import TINY, above, gamma, squared_norms_above
from factormech.workloads.base import Workload
from factormech.workloads.ranges import AllRanges, Prefix

# Factors as operators.

# Numbers made at once where a factor is asked for its rows or its largest entries.
BLOCK = 1 << 22


@runtime_checkable
class RowFactor(Factor, Protocol):
    """A factor that knows its row norms."""

    def row_squares(self) -> FloatArray:
        """Squared norms of the rows."""
        ...


@runtime_checkable
class PeakFactor(Factor, Protocol):
    """A factor whose largest entry is found without all entries."""

    def peaks(self, vectors: FloatArray) -> FloatArray:
        """The largest |entry| of the factor times each column."""
        ...


@dataclass(frozen=True)
class IdentityFactor:
    """I of size n."""

    size: int

    @property
    def shape(self) -> tuple[int, int]:
        return self.size, self.size

    def apply(self, vectors: FloatArray) -> FloatArray:
        return np.array(vectors, dtype=np.float64)

    def apply_transposed(self, vectors: FloatArray) -> FloatArray:
        return self.apply(vectors)

    def dense(self) -> FloatArray:
        check_dense_size("factor", *self.shape)
        return np.eye(self.size)

    def row_squares(self) -> FloatArray:
        return np.ones(self.size)


@dataclass(frozen=True)
class Queries:
    """W itself, by the workload's own transform."""

    workload: Workload

    @property
    def shape(self) -> tuple[int, int]:
        return self.workload.queries, self.workload.domain_size

    def apply(self, vectors: FloatArray) -> FloatArray:
        return self.workload.answer(vectors)

    def apply_transposed(self, vectors: FloatArray) -> FloatArray:
        return self.workload.adjoint(vectors)

    def dense(self) -> FloatArray:
        return self.workload.matrix()

    def row_squares(self) -> FloatArray:
        if isinstance(self.workload, Prefix):
            return np.arange(1.0, self.workload.domain_size + 1.0)
        return blocked_row_squares(self)


@dataclass(frozen=True)
class KnownFactor:
    """A factor with row norms known from elsewhere."""

    factor: Factor
    squares: FloatArray

    @property
    def shape(self) -> tuple[int, int]:
        return self.factor.shape

    def apply(self, vectors: FloatArray) -> FloatArray:
        return self.factor.apply(vectors)

    def apply_transposed(self, vectors: FloatArray) -> FloatArray:
        return self.factor.apply_transposed(vectors)

    def dense(self) -> FloatArray:
        return self.factor.dense()

    def row_squares(self) -> FloatArray:
        return self.squares


@dataclass(frozen=True)
class RangesFactor:
    r"""The left factor L of all ranges whose prefixes are P: row (l, r) is P_r − P_{l−1}, P_{−1} = 0.

    With K = PPᵀ the squared row norms are K_rr + K_{l−1,l−1} − 2K_{r,l−1}, and the largest |entry| of Lz is the largest
    less the smallest entry of (0, Pz): n² and n operations for n²/2 ranges.
    """

    workload: AllRanges
    prefixes: Factor

    @property
    def shape(self) -> tuple[int, int]:
        return self.workload.queries, self.prefixes.shape[1]

    def apply(self, vectors: FloatArray) -> FloatArray:
        return self.workload.answer(np.diff(self.prefixes.apply(vectors), axis=0, prepend=0.0))

    def apply_transposed(self, vectors: FloatArray) -> FloatArray:
        steps = self.workload.adjoint(vectors)
        return self.prefixes.apply_transposed(-np.diff(steps, axis=0, append=0.0))

    def dense(self) -> FloatArray:
        check_dense_size("factor", *self.shape)
        return self.apply(np.eye(self.shape[1]))

    def row_squares(self) -> FloatArray:
        n = self.workload.domain_size
        K = np.zeros((n + 1, n + 1))
        for block in _unit_blocks(self.prefixes):
            P = self.prefixes.apply(block)
            K[1:, 1:] += P @ P.T
        ends = np.diagonal(K)
        squares = ends[:, None] + ends[None, :] - 2.0 * K
        return np.asarray(np.maximum(np.concatenate([squares[low, low + 1 :] for low in range(n)]), 0.0))

    def peaks(self, vectors: FloatArray) -> FloatArray:
        values = self.prefixes.apply(vectors)
        return np.asarray(np.maximum(values.max(axis=0), 0.0) - np.minimum(values.min(axis=0), 0.0))


def row_squares(factor: Factor) -> FloatArray:
    """Squared norms of the rows of any factor."""
    if isinstance(factor, RowFactor):
        return factor.row_squares()
    if isinstance(factor, DenseFactor):
        return np.asarray(np.einsum("ij,ij->i", factor.matrix, factor.matrix))
    return blocked_row_squares(factor)


def blocked_row_squares(factor: Factor) -> FloatArray:
    """The same by the factor's products with unit vectors, a block at a time."""
    squares = np.zeros(factor.shape[0])
    for block in _unit_blocks(factor):
        products = factor.apply(block)
        squares += np.einsum("ij,ij->i", products, products)
    return squares


def peaks(factor: Factor, vectors: FloatArray, shift: FloatArray | None = None) -> FloatArray:
    """The largest |entry| of the factor times each column, after adding ``shift`` (rows,) if given."""
    if shift is None and isinstance(factor, PeakFactor):
        return factor.peaks(vectors)
    found = np.empty(vectors.shape[1])
    step = block_columns(factor)
    for start in range(0, vectors.shape[1], step):
        values = factor.apply(vectors[:, start : start + step])
        if shift is not None:
            values = values + shift[:, None]
        found[start : start + step] = np.abs(values).max(axis=0)
    return found


def block_columns(factor: Factor) -> int:
    """Return how many columns may go through the factor at once."""
    return max(1, BLOCK // max(*factor.shape, 1))


def _unit_blocks(factor: Factor) -> Iterator[FloatArray]:
    inner, step = factor.shape[1], block_columns(factor)
    for start in range(0, inner, step):
        block = np.zeros((inner, min(step, inner - start)))
        block[np.arange(start, start + block.shape[1]), np.arange(block.shape[1])] = 1.0
        yield block


# A factorization LR of a workload W.

# |W − LR| may be this large, relatively to the largest |W|, where the factorization claims to be exact.
RESIDUAL_LIMIT = 1e-8


@dataclass(frozen=True)
class Factorization:
    """L (k × s) and R (s × n) of a workload.

    Attributes
    ----------
    sensitivity
        At least the largest column norm of R.
    residual
        At least the largest |W̃ − LR| entry, W̃ = W but for an approximate factorization.
    tolerance
        α: |W̃ − W| ≤ α entrywise; 0 if LR is meant to be W.
    """

    workload: Workload
    left: Factor
    right: Factor
    sensitivity: float
    residual: float
    tolerance: float = 0.0

    @cached_property
    def row_norms(self) -> FloatArray:
        """‖L_i‖ for every query."""
        return np.asarray(np.sqrt(row_squares(self.left)))

    @cached_property
    def bias(self) -> FloatArray:
        """LR − W, (k, n); refused where it would not fit in memory."""
        check_dense_size("bias of the factorization", self.workload.queries, self.workload.domain_size)
        return np.asarray(self.left.apply(self.right.dense()) - self.workload.matrix())

    @property
    def approximate(self) -> bool:
        return self.tolerance > 0.0

    def error(self, p: float) -> float:
        """k^{−1/p}(Σ‖L_i‖^p)^{1/p} times the sensitivity: at least γ₍ₚ₎(W), and max‖L_i‖·‖R‖_{1→2} for p = ∞."""
        return power_mean(self.row_norms, p) * self.sensitivity


def power_mean(values: FloatArray, p: float) -> float:
    """(mean of v^p)^{1/p} of values ≥ 0, the largest for p = ∞; no power overflows."""
    top = float(values.max(initial=0.0))
    if math.isinf(p) or top == 0.0:
        return top
    return float(top * np.mean((values / top) ** p) ** (1.0 / p))


def of_matrices(workload: Workload, left: Any, right: Any) -> Factorization:
    """The factorization by two dense matrices; refused where their product is not certainly W to 1e-8 relatively."""
    L, R = _matrix("left", left), _matrix("right", right)
    W = workload.matrix()
    if L.shape[1] != R.shape[0] or (L.shape[0], R.shape[1]) != W.shape:
        rule = f"be (queries, s) and (s, domain size) for {W.shape[0]} queries over {W.shape[1]} types"
        raise BadValue("shapes of left and right", (L.shape, R.shape), rule, "check which factor is which")
    residual = product_residual(W, L, R)
    if residual > RESIDUAL_LIMIT * float(np.abs(W).max()):
        rule = f"multiply to the workload {workload.name}: |W − LR| reaches {residual:.3g}"
        raise BadValue(
            "left, right", f"{L.shape} · {R.shape}", rule, "repair the factors, or solve for an approximation"
        )
    return Factorization(workload, DenseFactor(L), DenseFactor(R), dense_sensitivity(R), residual)


def product_residual(W: FloatArray, L: FloatArray, R: FloatArray) -> float:
    """A number at least the largest |W − LR| entry in exact arithmetic (Higham's γ_s bound on the product)."""
    if not (W.any() or (L.any() and R.any())):
        return 0.0
    miss = np.abs(W - L @ R)
    sizes = np.abs(L) @ np.abs(R)
    return above(float(np.max(miss + gamma(L.shape[1] + 4) * (sizes + np.abs(W)))) + TINY, 8)


def dense_sensitivity(R: FloatArray) -> float:
    """A number at least the largest column norm of a matrix."""
    if not R.any():
        return 0.0
    return root_above(float(squared_norms_above(R, 0).max()))


def root_above(square: float, operations: int = 1) -> float:
    """A number at least the root of the exact number that ``square`` is after so many roundings."""
    return above(math.sqrt(above(square, operations)), 2) if square > 0.0 else 0.0


def _matrix(name: str, value: Any) -> FloatArray:
    array = np.array(value, dtype=np.float64)
    if array.ndim != 2 or not np.isfinite(array).all():
        raise BadValue(name, f"array of shape {array.shape}", "be a matrix of finite numbers", "repair its entries")
    return array
