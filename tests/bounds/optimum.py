"""The exact optimum over all ε-LDP strategies on a tiny domain: a convex program over every extreme row."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np

from factormech.arrays import FloatArray


@dataclass(frozen=True)
class Optimum:
    """tr(X_c⁺C) of the best strategy, the weights θ of its rows, and the multipliers of its column sums."""

    objective: float
    rows: FloatArray
    weights: FloatArray
    multiplier: FloatArray


def extreme_rows(n: int, epsilon: float) -> FloatArray:
    """All 1 + (a−1)1_S."""
    return np.array(list(itertools.product([1.0, math.exp(epsilon)], repeat=n)))


def solve(root: FloatArray, epsilon: float) -> Optimum:
    """Minimise tr(RᵀX⁻¹R), X = Σ θ v vᵀ/(1ᵀv), subject to Σ θ v = 1 and θ ≥ 0; ``root`` R is centred."""
    import cvxpy as cp

    v = extreme_rows(len(root), epsilon)
    v = v / v.sum(axis=1, keepdims=True)  # θ(1ᵀv) is the unknown: X = Σ θ' v vᵀ and Σ θ' v = 1
    theta = cp.Variable(len(v), nonneg=True)
    columns = v.T @ theta == 1.0
    problem = cp.Problem(cp.Minimize(cp.matrix_frac(root, v.T @ cp.diag(theta) @ v)), [columns])
    problem.solve(solver=cp.CLARABEL)
    assert problem.status == cp.OPTIMAL
    rows = v * theta.value[:, None]
    return Optimum(float(problem.value), rows, theta.value, np.asarray(columns.dual_value))
