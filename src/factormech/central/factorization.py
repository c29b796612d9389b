r"""A factorization LR of a workload W as a mechanism needs it: with the sensitivity of R and the miss of LR proved.

M(x) = L(Rx + z), z ~ N(0, σ²I), is private because Rx + z is: L is post-processing, whatever it is. So the guarantee
rests on the largest column norm of R alone, of which ``sensitivity`` is an upper bound in exact arithmetic for the very
numbers that define R. The answers miss Wx by at most (``residual`` + ``tolerance``)·‖x‖₁ beside the noise.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from factormech.arrays import FloatArray, check_dense_size
from factormech.central.factors import row_squares
from factormech.errors import BadValue
from factormech.norms.certified import DenseFactor, Factor
from factormech.numerics.rounding import TINY, above, gamma, squared_norms_above
from factormech.workloads.base import Workload

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
