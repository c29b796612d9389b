r"""The least width of the sensitivity polytope over directions of largest entry 1, between certified ends.

.. math:: κ_\infty(W) = 2\min_{\lVert θ\rVert_\infty = 1} \lVert W^Tθ\rVert_\infty .

As ‖θ‖_∞ ≤ ‖θ‖_2, it is at least the width κ over Euclidean unit directions (``width``). Up to sign some θ_i is 1, so it
is the least of k linear programs, min ‖Wᵀθ‖_∞ over θ_i = 1, |θ_j| ≤ 1. Each θ is an upper end. For any μ with
‖μ‖₁ ≤ 1, ‖Wᵀθ‖_∞ ≥ ⟨Wμ, θ⟩ ≥ (Wμ)_i − Σ_{j≠i}|(Wμ)_j|: the program's multipliers give the lower end, recomputed here.

For prefix sums, n ≥ 2, it is 1: ‖Wᵀθ‖_∞ < ½ bounds each θ_i = (suffix sum from i) − (suffix sum from i+1) below 1, and
alternating ±1 ending in ½ attains ½. For whole rows of a Hadamard matrix it is 2, as κ is and as each query attains.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from factormech.arrays import FloatArray, check_positive_integer
from factormech.norms.matrices import checked_matrix
from factormech.numerics.rounding import above, below, gamma
from factormech.workloads.base import Workload


def maximum_width(workload: Workload | Any) -> tuple[float, float]:
    """Both ends of κ_∞(W)."""
    W = checked_matrix("workload", workload)
    ends = [_least_at(W, i) for i in range(len(W))]
    return max(2.0 * min(low for low, _ in ends), 0.0), 2.0 * min(high for _, high in ends)


def prefix_maximum_width(domain_size: int) -> float:
    """κ_∞ of prefix sums: 1, and 2 for a single type."""
    return 1.0 if check_positive_integer("domain_size", domain_size) > 1 else 2.0


def _least_at(W: FloatArray, i: int) -> tuple[float, float]:
    """Both ends of min ‖Wᵀθ‖_∞ over θ_i = 1, |θ| ≤ 1."""
    from scipy.optimize import linprog

    k, N = W.shape
    cost = np.concatenate([np.zeros(k), [1.0]])
    faces = np.block([[W.T, -np.ones((N, 1))], [-W.T, -np.ones((N, 1))]])
    bounds = [(1.0, 1.0) if j == i else (-1.0, 1.0) for j in range(k)] + [(0.0, None)]
    answer = linprog(cost, faces, np.zeros(2 * N), bounds=bounds, method="highs")
    theta = np.zeros(k) if answer.x is None else np.clip(answer.x[:k], -1.0, 1.0)
    theta[i] = 1.0
    slack = gamma(2 * k + 4)
    high = float(np.max(np.abs(W.T @ theta) + slack * (np.abs(W.T) @ np.abs(theta))))
    if answer.x is None:
        return 0.0, above(high, 2)
    multipliers = answer.ineqlin.marginals
    mu = multipliers[N:] - multipliers[:N]
    size = float(np.abs(mu).sum()) * (1.0 + gamma(N + 2))
    if size == 0.0:
        return 0.0, above(high, 2)
    y = W @ mu
    error = float((np.abs(W) @ np.abs(mu)).sum()) * gamma(2 * (N + k) + 8)
    value = float(y[i] - (np.abs(y).sum() - abs(y[i]))) - error
    return (below(value / size, 4) if value > 0.0 else 0.0), above(high, 2)
