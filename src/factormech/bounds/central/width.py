r"""The least width of the sensitivity polytope K = conv(±W_j), between certified ends, and pictures of K.

**Euclidean directions.** The least width over unit directions of the Euclidean norm is

.. math:: κ(W) = 2\min_{\lVert θ\rVert_2 = 1} \lVert W^Tθ\rVert_\infty
          = 2 / \max\{\lVert θ\rVert_2 : \lVert W^Tθ\rVert_\infty \le 1\} .

It is 0 exactly if the rows of W are linearly dependent (Liu, Upadhyay & Zou, ICLR 2025, Lemma 11); it limits the δ of
their Theorem 7; no bound of ``release`` needs it. The second form is a convex maximum, attained at a vertex of the
polar body: at a facet of K, or, for an invertible W, at θ = W^{−T}s, s ∈ {±1}^N.

* Prefix sums of n: θ_i = s_i − s_{i+1}, so κ = 2/√(4n − 3), attained by alternating signs. (Their Lemma 20 says that it
  is constant: so it is for directions of ‖θ‖_∞ = 1, where it is 1 for n ≥ 2, and not for Euclidean ones.)
* k rows of a Hadamard matrix: ‖Wᵀθ‖²_2 = N‖θ‖², so ‖Wᵀθ‖_∞ ≥ ‖θ‖: κ = 2, attained by each query.
* In general, for q in the simplex, ‖Wᵀθ‖²_∞ ≥ θᵀWD_qWᵀθ, so κ ≥ 2√λ_min(WD_qWᵀ): the best q is a semidefinite program.
  Each unit θ gives an upper end; it is improved by linear programs that maximise ⟨θ, ·⟩ over the polar body.

**Directions of largest entry 1.** The least width over directions of largest entry 1 is

.. math:: κ_\infty(W) = 2\min_{\lVert θ\rVert_\infty = 1} \lVert W^Tθ\rVert_\infty .

As ‖θ‖_∞ ≤ ‖θ‖_2, it is at least the width κ over Euclidean unit directions (``width``). Up to sign some θ_i is 1, so it
is the least of k linear programs, min ‖Wᵀθ‖_∞ over θ_i = 1, |θ_j| ≤ 1. Each θ is an upper end. For any μ with
‖μ‖₁ ≤ 1, ‖Wᵀθ‖_∞ ≥ ⟨Wμ, θ⟩ ≥ (Wμ)_i − Σ_{j≠i}|(Wμ)_j|: the program's multipliers give the lower end, recomputed here.

For prefix sums, n ≥ 2, it is 1: ‖Wᵀθ‖_∞ < ½ bounds each θ_i = (suffix sum from i) − (suffix sum from i+1) below 1, and
alternating ±1 ending in ½ attains ½. For whole rows of a Hadamard matrix it is 2, as κ is and as each query attains.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from factormech.arrays import FloatArray, IntArray, check_positive_integer
from factormech.errors import BadValue
from factormech.norms.certified import checked_matrix
from factormech.numerics.rounding import above, below, gamma
from factormech.workloads.base import Workload

# Euclidean directions.

# Invertible matrices up to this size are solved over all 2^{N−1} signs.
SIGNS_LIMIT = 18
# Above this many entries the semidefinite program is not tried.
_PROGRAM_LIMIT = 40_000
_STARTS, _STEPS = 12, 40


@dataclass(frozen=True)
class Width:
    """κ between two ends; ``direction`` is the unit θ of the upper one.

    ``method`` is ``signs`` (both ends equal to rounding, if W is well conditioned) or ``programs``.
    """

    lower: float
    upper: float
    direction: FloatArray
    method: str


def prefix_width(domain_size: int) -> float:
    """κ of n prefix sums: 2/√(4n − 3)."""
    return 2.0 / math.sqrt(4 * check_positive_integer("domain_size", domain_size) - 3)


def hadamard_width() -> float:
    """κ of any whole rows of a Hadamard matrix, parities for one: 2."""
    return 2.0


def minimum_width(workload: Workload | Any) -> Width:
    """κ(W), by the signs of a small invertible W, else between programs."""
    W = checked_matrix("workload", workload)
    k, N = W.shape
    if k == N <= SIGNS_LIMIT:
        found = _by_signs(W)
        if found is not None:
            return found
    if W.size > _PROGRAM_LIMIT:
        raise BadValue("entries of workload", W.size, f"be at most {_PROGRAM_LIMIT}", "use a closed form")
    direction = _descended(W)
    return Width(_program_below(W), _upper(W, direction), direction, "programs")


def _upper(W: FloatArray, direction: FloatArray) -> float:
    size = float(np.linalg.norm(direction))
    return above(2.0 * float(np.max(np.abs(W.T @ direction))) / size, 4 * len(W) + 8)


def _by_signs(W: FloatArray) -> Width | None:
    """Both ends from an approximate inverse B of Wᵀ; the error of B is accounted for, and must be small.

    With E = I − BWᵀ (‖E‖ < 1 proves W invertible), a θ of ‖Wᵀθ‖_∞ ≤ 1 has (I − E)θ = BWᵀθ: ‖θ‖ ≤ max_s ‖Bs‖/(1 − ‖E‖).
    """
    N = len(W)
    try:
        B = np.linalg.inv(W.T)
    except np.linalg.LinAlgError:
        return None
    rounding = gamma(N + 2) * float(np.linalg.norm(np.abs(B) @ np.abs(W.T)))
    error = float(np.linalg.norm(np.eye(N) - B @ W.T)) * (1.0 + gamma(N * N + 8)) + rounding + gamma(4) * N
    if not error < 1e-6:
        return None
    best, signs = 0.0, np.ones(N)
    size = min(2**12, 2 ** (N - 1))
    for start in range(0, 2 ** (N - 1), size):
        bits = np.arange(start, start + size)[:, None] >> np.arange(N)
        s = 1.0 - 2.0 * (bits & 1)
        squares = np.einsum("ij,ij->i", s @ B.T, s @ B.T)
        i = int(np.argmax(squares))
        if squares[i] > best:
            best, signs = float(squares[i]), s[i]
    # Each entry of Bs is off by γ_N·Σ|B|, so its norm by √N·γ_N·‖B‖_{∞→∞} at most.
    longest = above(math.sqrt(best), N + 8) + gamma(2 * N) * math.sqrt(N) * float(np.abs(B).sum(axis=1).max())
    theta = B @ signs
    theta = theta / np.linalg.norm(theta)
    return Width(below(2.0 * (1.0 - error) / longest, 8), _upper(W, theta), theta, "signs")


def _program_below(W: FloatArray) -> float:
    """2√λ_min(WD_qWᵀ) at the solver's q, every rounding accounted for; 0 where that proves nothing."""
    import cvxpy as cp

    k, N = W.shape
    scale = float(np.max(np.abs(W)))
    if scale == 0.0:
        return 0.0
    q, least = cp.Variable(N, nonneg=True), cp.Variable()
    inner = (W / scale) @ cp.diag(q) @ (W / scale).T
    problem = cp.Problem(cp.Maximize(least), [inner >> least * np.eye(k), cp.sum(q) == 1.0])
    problem.solve(solver=cp.CLARABEL)
    weights = np.maximum(np.full(N, 1.0 / N) if q.value is None else np.asarray(q.value), 0.0)
    M = (W * weights) @ W.T
    size = float(np.abs(W).max()) ** 2 * k * weights.sum()
    value = float(np.linalg.eigvalsh(0.5 * (M + M.T))[0]) - gamma(8 * (N + k) * k) * size
    return below(2.0 * math.sqrt(max(value, 0.0) / above(float(weights.sum()), N + 2)), 8)


def _descended(W: FloatArray) -> FloatArray:
    """A unit θ of small ‖Wᵀθ‖_∞: from the last singular vectors and the queries, to vertices of the polar body."""
    from scipy.optimize import linprog

    U, values, _ = np.linalg.svd(W, full_matrices=True)
    if len(values) < len(W) or values[-1] <= 1e-12 * values[0]:
        return np.asarray(U[:, -1])
    starts = np.concatenate([U.T[::-1][: _STARTS // 2], np.eye(len(W))[: _STARTS // 2]])
    faces, ones = np.concatenate([W.T, -W.T]), np.ones(2 * W.shape[1])
    best = min(starts, key=lambda theta: _upper(W, theta))
    for start in starts:
        theta = start
        for _ in range(_STEPS):
            answer = linprog(-theta, faces, ones, bounds=(None, None), method="highs-ds")
            if answer.x is None or np.linalg.norm(answer.x) <= np.linalg.norm(theta) * (1.0 + 1e-9):
                break
            theta = np.asarray(answer.x)
        best = min(best, theta, key=lambda t: _upper(W, t))
    return np.asarray(best / np.linalg.norm(best))


@dataclass(frozen=True)
class Picture:
    """K in 2 or 3 dimensions, the ellipsoid of a factorization around it, and its narrowest slab.

    Attributes
    ----------
    points
        ±W_j (2N, k).
    facets
        Corners of the facets of K as rows of ``points`` (segments or triangles).
    ellipsoid
        B with K ⊆ {By: ‖y‖ ≤ 1}: R times the largest column norm of A in a factorization W = RA that attains γ₂.
    width
        κ and its direction.
    """

    points: FloatArray
    facets: IntArray
    ellipsoid: FloatArray
    width: Width


def polytope_picture(workload: Workload | Any) -> Picture:
    """The picture of a workload of two or three queries, its rows independent."""
    from scipy.spatial import ConvexHull

    from factormech.norms import registry

    W = checked_matrix("workload", workload)
    if len(W) not in (2, 3) or np.linalg.matrix_rank(W) < len(W):
        raise BadValue("queries", len(W), "be 2 or 3, linearly independent", "choose rows of the workload")
    points = np.concatenate([W.T, -W.T])
    found = registry.solve("gamma-2", W, method="dense")
    R, A = found.left.dense(), found.right.dense()
    longest = float(np.max(np.linalg.norm(A, axis=0)))
    hull = ConvexHull(points)
    return Picture(points, hull.simplices.astype(np.int64), R * longest, minimum_width(W))


# Directions of largest entry 1.


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
