r"""The concave problem behind every exact norm: weights on rows and columns, and the nuclear norm between them.

For 2 ≤ p ≤ ∞ and s = p/(p−2), over weights w ≥ 0 (k), q ≥ 0 (N),

.. math:: k^{1/p}\gamma_{(p)}(W) = \max_{w, q} \frac{\lVert D_w^{1/2}WD_q^{1/2}\rVert_*}
          {\sqrt{\lVert w\rVert_s \lVert q\rVert_1}},

w = 1 at p = 2 (p = ∞: Haagerup's duality; p = 2: Edmonds, Nikolov & Ullman, STOC 2020, and Li, Miklau, Hay, McGregor &
Rastogi, VLDB J. 24, 2015, in their own variables; all p: Liu, Upadhyay & Zou, 2024).

*Why.* ‖M‖_* = min ½(‖R'‖_F² + ‖A'‖_F²) over R'A' = M; with R' = D_w^{½}R, A' = AD_q^{½} it is
min_{RA = W} ½(Σw_ir_i + Σq_ja_j), r_i and a_j the squared norms of the rows of R and the columns of A, so jointly
concave in (w, q). Hölder gives Σw_ir_i ≤ ‖w‖_s‖r‖_{p/2} and Σq_ja_j ≤ ‖q‖₁ max a: no weights exceed the norm; that the
best ones reach it is minimax duality.

*Both bounds from one decomposition.* M = D_w^{½}WD_q^{½} = UΣVᵀ, f = tr Σ, h = diag UΣUᵀ, g = diag VΣVᵀ (Σh = Σg = f).
The factors R = D_w^{−½}UΣ^{½}, A = Σ^{½}VᵀD_q^{−½} have r = h/w, a = g/q; so f/√(‖w‖_s‖q‖₁) is a lower bound and
√(‖r‖_{p/2} max a) an upper one, and they meet exactly where w^s ∝ h and q ∝ g (p = 2: q ∝ g).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np

from factormech.arrays import FloatArray
from factormech.errors import BadValue

Stopped = Literal["gap", "stalled", "iteration_limit"]

# The Gram matrix squares singular values: below this ratio of its eigenvalues the small ones are rounding.
_GRAM_RATIO = 1e-11


@dataclass(frozen=True)
class DualPoint:
    """Weights, and the decomposition there.

    Attributes
    ----------
    weights
        z = (w, q), or q alone at p = 2.
    powers
        The same raised to the power whose sum is one at the optimum: (w^s, q).
    masses
        (h, g), or g alone; in total f per side.
    basis
        (U; V) stacked, or V alone; one row per weight.
    values
        The singular values, all above zero.
    lower, upper
        Both bounds on γ₍ₚ₎(W), not rounded outward.
    """

    weights: FloatArray
    powers: FloatArray
    masses: FloatArray
    basis: FloatArray
    values: FloatArray
    lower: float
    upper: float

    @property
    def total(self) -> float:
        """f = ‖M‖_*."""
        return float(self.values.sum())


@dataclass(frozen=True)
class DualOutcome:
    """Where a solver stopped: the points of the best lower and the best upper bound."""

    best_lower: DualPoint
    best_upper: DualPoint
    iterations: int
    stopped: Stopped

    @property
    def gap(self) -> float:
        """upper ÷ lower − 1, not rounded outward."""
        return self.best_upper.upper / self.best_lower.lower - 1.0

    def or_better(self, point: DualPoint) -> DualOutcome:
        """With whatever the point improves."""
        lower = point if point.lower > self.best_lower.lower else self.best_lower
        upper = point if point.upper < self.best_upper.upper else self.best_upper
        return DualOutcome(lower, upper, self.iterations, self.stopped)


class DualProblem(Protocol):
    """What the solvers see of W and p."""

    @property
    def exponents(self) -> FloatArray:
        """The power of each weight whose sum per side is one at the optimum: s for w, 1 for q."""
        ...

    @property
    def rows(self) -> int:
        """How many of the weights belong to rows: k, or 0 at p = 2."""
        ...

    def at(self, weights: FloatArray) -> DualPoint:
        """Both bounds at positive weights of any scale."""
        ...

    def start(self) -> FloatArray:
        """Uniform weights."""
        ...


def checked_exponent(p: float) -> float:
    """p as a float; refused below 2."""
    good = isinstance(p, (int, float, np.integer, np.floating)) and not isinstance(p, bool)
    if not good or not p >= 2.0:
        raise BadValue("p", p, "be at least 2 (or infinite)", "give 2 for γ_F, math.inf for γ₂, or what lies between")
    return float(p)


class DenseProblem:
    """W dense, without zero rows or columns, any 2 ≤ p ≤ ∞."""

    def __init__(self, matrix: FloatArray, p: float, queries: int) -> None:
        self.matrix, self.p, self.queries = matrix, checked_exponent(p), queries
        self._gram = True
        k, N = matrix.shape
        s = 1.0 if math.isinf(p) else p / (p - 2.0) if p > 2.0 else math.inf
        self.exponents = np.concatenate([np.full(k if p > 2.0 else 0, s), np.ones(N)])

    @property
    def rows(self) -> int:
        return len(self.matrix) if self.p > 2.0 else 0

    def start(self) -> FloatArray:
        k, N = self.rows, self.matrix.shape[1]
        size = np.concatenate([np.full(k, 1.0 / max(k, 1)), np.full(N, 1.0 / N)])
        return np.asarray(size ** (1.0 / self.exponents))

    def split(self, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        """(w, q); w = 1 at p = 2."""
        return (weights[: self.rows] if self.rows else np.ones(len(self.matrix))), weights[self.rows :]

    def at(self, weights: FloatArray) -> DualPoint:
        w, q = self.split(weights)
        U, values, V = self._decomposed(np.sqrt(w)[:, None] * self.matrix * np.sqrt(q))
        h, g = np.square(U) @ values, np.square(V) @ values
        powers = weights**self.exponents
        r, a, f = h / w, float(np.max(g / q)), float(values.sum())
        scale = self.queries ** (-1.0 / self.p)
        if self.p > 2.0:
            size = float(powers[: self.rows].sum()) ** (1.0 - 2.0 / self.p)
            upper = scale * math.sqrt(_norm(r, self.p / 2.0) * a)
            lower, masses, basis = scale * f / math.sqrt(size * q.sum()), np.concatenate([h, g]), np.vstack([U, V])
        else:
            lower, upper, masses, basis = scale * f / math.sqrt(q.sum()), scale * math.sqrt(f * a), g, V
        return DualPoint(weights, powers, masses, basis, values, lower, upper)

    def _decomposed(self, M: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """(U, σ, V) of M, by the Gram matrix of the smaller side where that is accurate: three times as fast."""
        if self._gram:
            X = M if M.shape[0] >= M.shape[1] else M.T
            squares, V = np.linalg.eigh(X.T @ X)
            if squares[0] > _GRAM_RATIO * squares[-1]:
                values = np.sqrt(squares)
                U = (X @ V) / values
                return (U, values, V) if X is M else (V, values, U)
            self._gram = False
        return thin_svd(M)


class GramProblem:
    """p = 2 from G = WᵀW alone: M depends on W through D_q^{½}GD_q^{½}, and w = 1."""

    p = 2.0
    rows = 0

    def __init__(self, gram: FloatArray, queries: int) -> None:
        self.gram, self.queries = gram, queries
        self.exponents = np.ones(len(gram))

    def start(self) -> FloatArray:
        return np.full(len(self.gram), 1.0 / len(self.gram))

    def at(self, weights: FloatArray) -> DualPoint:
        root = np.sqrt(weights)
        squares, V = np.linalg.eigh(root[:, None] * self.gram * root)
        keep = squares > len(squares) * np.finfo(float).eps * squares[-1]
        values, V = np.sqrt(squares[keep]), V[:, keep]
        g, f, scale = np.square(V) @ values, float(values.sum()), self.queries**-0.5
        upper = scale * math.sqrt(f * float(np.max(g / weights)))
        return DualPoint(weights, weights, g, V, values, scale * f / math.sqrt(weights.sum()), upper)


def thin_svd(M: FloatArray, *, complete: bool = False) -> tuple[FloatArray, FloatArray, FloatArray]:
    """(U, σ, V), without the singular values that are rounding unless ``complete``.

    LAPACK's slower driver takes over where the faster one fails to converge.
    """
    import scipy.linalg

    try:
        U, values, Vt = scipy.linalg.svd(M, full_matrices=False, check_finite=False)
    except np.linalg.LinAlgError:
        U, values, Vt = scipy.linalg.svd(M, full_matrices=False, check_finite=False, lapack_driver="gesvd")
    keep = np.full(len(values), True) if complete else values > max(M.shape) * np.finfo(float).eps * values[0]
    return U[:, keep], values[keep], Vt[keep].T


def _norm(values: FloatArray, exponent: float) -> float:
    """‖v‖_e for v ≥ 0, without overflow."""
    top = float(values.max())
    return top if math.isinf(exponent) else top * float(np.sum((values / top) ** exponent)) ** (1.0 / exponent)
