"""The exact norms γ₂, γ_F and γ₍ₚ₎ with certificates, from the matrix or its Gram matrix.

**γ_F from the Gram matrix alone.** It serves workloads with many more queries than user types. γ_F depends on W
through G = WᵀW (``weighted``, p = 2). With any N × N matrix X, B = WD_q^{½}X gives ‖WD_q^{½}‖_* ≥ tr(SX)/√‖XᵀSX‖, S =
D_q^{½}GD_q^{½}; and A with an approximate inverse T, R = WT, leaves the residual W(I − TA), whose column norms are at
most √(tr G)·‖(I − TA)_j‖. So both ends need G only. R = WT is applied by the workload's own transform and never
stored.

**All three norms.** The solvers' weights become a ``CertifiedNorm`` with its factors and witness. A method is a name
for how the weights are found. The interval is computed afterwards from W itself, so it holds whatever the method did,
and a solver that stopped early answers with a wider one.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from factormech.arrays import FloatArray, check_dense_size, check_positive_integer
from factormech.errors import BadValue
from factormech.norms import certificates, weighted
from factormech.norms.certified import CertifiedNorm, Core, DenseFactor, Factor, checked_matrix, core_of, spread
from factormech.norms.weighted import DenseProblem, DualOutcome, DualPoint, DualProblem, GramProblem, checked_exponent
from factormech.numerics.rounding import (
    TINY,
    UNIT,
    above,
    below,
    gamma,
    inner_product_below,
    scaled_exactly,
    scaled_interval,
    spectral_norm_above,
    squared_norms_above,
    sum_above,
)
from factormech.workloads.base import Workload

# γ_F from the Gram matrix alone.

# Singular values are raised to this fraction of their mean; see ``certify``.
_VALUE_FLOOR = 1e-9


@dataclass(frozen=True)
class WorkloadFactor:
    """R = WT, applied as W(Tx)."""

    workload: Workload
    inner: FloatArray

    @property
    def shape(self) -> tuple[int, int]:
        return self.workload.queries, self.inner.shape[1]

    def apply(self, vectors: FloatArray) -> FloatArray:
        return self.workload.answer(self.inner @ vectors)

    def apply_transposed(self, vectors: FloatArray) -> FloatArray:
        return np.asarray(self.inner.T @ self.workload.adjoint(vectors))

    def dense(self) -> FloatArray:
        check_dense_size(f"left factor of workload {self.workload.name}", *self.shape)
        return self.workload.answer(self.inner)


def gram_ends(G: FloatArray, q: FloatArray, queries: int) -> tuple[float, float, float, FloatArray, FloatArray]:
    """(lower, upper, residual, T, A) of γ_F from the exact Gram matrix G and weights q > 0 of any scale."""
    t = np.sqrt(np.maximum(q, 1e-13 * q.mean()))
    squares, V = np.linalg.eigh(t[:, None] * G * t)
    values = np.sqrt(np.maximum(squares, 0.0))
    values = np.maximum(values, _VALUE_FLOOR * values.mean())
    T, A = t[:, None] * V / np.sqrt(values), np.sqrt(values)[:, None] * V.T / t
    X = (V / values) @ V.T
    # Symmetric to the last bit, as the bound assumes.
    lower = _lower(G, t, 0.5 * (X + X.T), queries)
    return lower, *_upper(G, T, A, queries), T, A


def _lower(G: FloatArray, t: FloatArray, X: FloatArray, queries: int) -> float:
    N = len(G)
    # tr(SX) with S = D_tGD_t: three roundings an entry before the product.
    value = inner_product_below(G, t[:, None] * X * t, roundings=3)
    inner = t[:, None] * X
    half = G @ inner
    product = inner.T @ half
    # |error of the product| ≤ (γ_N + γ_{N+4})|inner|ᵀ|G||inner|, whose own roundings the 3 covers.
    sizes = np.abs(inner).T @ (np.abs(G) @ np.abs(inner))
    error = above(3.0 * gamma(N + 4) * math.sqrt(sum_above(squared_norms_above(sizes, 0))), 8)
    sums = sum_above(t * t * (1.0 + 4.0 * UNIT))
    norm = math.sqrt(above((spectral_norm_above(0.5 * (product + product.T)) + error) * sums * queries, 4))
    return below(value / above(norm, 2), 2)


def _upper(G: FloatArray, T: FloatArray, A: FloatArray, queries: int) -> tuple[float, float]:
    N = len(G)
    half = G @ T
    # ‖R‖_F² = Σ T∘GT, its roundings bounded through Σ |T|∘|G||T|.
    mass = above(math.fsum(np.einsum("ij,ij->i", np.abs(T), np.abs(G) @ np.abs(T)).tolist()), 3 * N)
    squares = above(math.fsum(np.einsum("ij,ij->i", T, half).tolist()) + 3.0 * gamma(2 * N + 4) * mass, 4)
    a = squared_norms_above(A, 0)
    miss = np.abs(np.eye(N) - T @ A) * (1.0 + 4.0 * UNIT)
    norms = np.sqrt(squared_norms_above(T, 1))
    miss += above(2.0 * gamma(N + 2), 4) * np.multiply.outer(norms, np.sqrt(a)) + TINY
    trace = sum_above(np.diagonal(G) * (1.0 + 4.0 * UNIT))
    # ‖(WΔ)_j‖² = Δ_jᵀGΔ_j ≤ |Δ_j|ᵀ|G||Δ_j|, and at most ‖Δ_j‖² tr G.
    products = np.einsum("ij,ij->j", miss, np.abs(G) @ miss) * (1.0 + 3.0 * gamma(2 * N + 8))
    residuals = np.minimum(products, trace * squared_norms_above(miss, 0))
    tau2 = math.sqrt(float(residuals.max()) * squares / (queries * float(a.max()))) + TINY
    columns = float(np.max(a + above(1.0 / tau2) * residuals)) * (1.0 + 4.0 * UNIT)
    rows = above(squares / queries + tau2, 4)
    return above(math.sqrt(above(rows * columns)), 2), above(math.sqrt(float(residuals.max())), 4)


# All three norms.

_ITERATIONS = {"auto": 200, "fixed-point": 2000, "barrier": 100}
# The share of the gap asked for that the search may leave: the rest is for rounding outward.
_SEARCH_SHARE = 0.9
# Above this many weights the barrier's matrix takes longer than many steps of the fixed point.
_BARRIER_WEIGHTS = 6000
# W is made for a second look below this size.
_DENSE_BYTES = 2**28


def factorization_norm(
    workload: Workload | Any,
    p: float = math.inf,
    *,
    method: str = "auto",
    gap: float = 1e-6,
    iterations: int | None = None,
) -> CertifiedNorm:
    """γ₍ₚ₎(W), p = ∞ for γ₂ and 2 for γ_F, of a workload or a dense matrix.

    Parameters
    ----------
    method
        ``fixed-point``; ``barrier``; or ``auto``: the first, and the second from where the first is slow. At p = 2 a
        ``Workload`` with more queries than user types is solved from its Gram matrix (``from_gram``).
    gap
        Relative width asked for; rounding allows about 1e-8 on regular matrices of a thousand columns.
    iterations
        Decompositions at most; by default enough for nearly every workload.
    """
    p = checked_exponent(p)
    checked_gap(gap)
    solver = _solver(method, gap * _SEARCH_SHARE, iterations)
    if isinstance(workload, Workload) and p == 2.0 and workload.queries > workload.domain_size:
        found = _from_gram(workload, solver, method)
        # A singular Gram matrix hides what W shows; where W fits, W is asked.
        if found.gap <= gap or 8 * workload.queries * workload.domain_size > _DENSE_BYTES:
            return found
    matrix = checked_matrix("workload", workload)
    core = core_of(matrix)
    if not core.matrix.size:
        return zero_norm(matrix.shape, method)
    outcome, chosen = solver(DenseProblem(core.matrix, p, core.queries))
    return certified(core, p, outcome, {"method": chosen}, gap)


def checked_gap(gap: float) -> None:
    """Refuse a gap that is no positive number."""
    if not (isinstance(gap, (int, float)) and 0.0 < gap < math.inf):
        raise BadValue("gap", gap, "be a finite number above 0", "give for example 1e-6")


def certified(core: Core, p: float, outcome: DualOutcome, record: dict[str, object], gap: float) -> CertifiedNorm:
    """The interval from the best points: the lower end of one, the factors of the other.

    Where the solver reached its gap and the interval did not, ``stopped`` says ``rounding``.
    """
    problem = DenseProblem(core.matrix, p, core.queries)
    low, high = problem.split(outcome.best_lower.weights), problem.split(outcome.best_upper.weights)
    lower, dual = certificates.lower_end(core.matrix, *low, p, core.queries)
    R, A = certificates.factors(core.matrix, *high)
    witness = {"row_weights": spread(low[0], core.rows), "column_weights": spread(low[1], core.columns)}
    norm = assembled(core, p, (lower, dual), (R, A), witness, {**record, **_stops(outcome)})
    if norm.gap > gap and outcome.stopped == "gap":
        norm.record["stopped"] = "rounding"
    return norm


def assembled(
    core: Core,
    p: float,
    below: tuple[float, FloatArray],
    factors: tuple[FloatArray, FloatArray],
    witness: dict[str, FloatArray],
    record: dict[str, object],
) -> CertifiedNorm:
    """Return the norm of W that follows from the one of its core."""
    R, A = factors
    upper, residual = certificates.upper_end(core.matrix, R, A, p, core.queries)
    dual = np.zeros((len(core.rows), len(core.columns)))
    dual[np.ix_(core.rows, core.columns)] = below[1]
    lower, upper = scaled_interval(below[0], upper, core.exponent)
    residual = scaled_interval(0.0, residual, core.exponent)[1]
    # An even power of two on both sides leaves the floats of R and A as they are.
    left = spread(np.ldexp(R, core.exponent - core.exponent // 2), core.rows)
    right = spread(np.ldexp(A, core.exponent // 2).T, core.columns).T
    return CertifiedNorm(
        lower, upper, DenseFactor(left), DenseFactor(right), residual, {"dual": dual, **witness}, record
    )


def zero_norm(shape: tuple[int, ...], method: str) -> CertifiedNorm:
    """The answer for W = 0: factors without inner dimension."""
    k, N = shape
    factors: tuple[Factor, Factor] = (DenseFactor(np.zeros((k, 0))), DenseFactor(np.zeros((0, N))))
    record: dict[str, object] = {"method": method, "iterations": 0, "stopped": "gap"}
    return CertifiedNorm(0.0, 0.0, *factors, 0.0, {"dual": np.zeros((k, N))}, record)


_Solver = Callable[[DualProblem], tuple[DualOutcome, str]]


def _solver(method: str, gap: float, iterations: int | None) -> _Solver:
    if method not in _ITERATIONS:
        raise BadValue("method", method, f"be one of {', '.join(_ITERATIONS)}", "give 'auto'")
    limit = _ITERATIONS[method] if iterations is None else check_positive_integer("iterations", iterations)
    if method == "fixed-point":
        return lambda problem: (weighted.solve(problem, gap, limit), method)
    if method == "barrier":
        return lambda problem: (weighted.solve_barrier(problem, gap, limit), method)
    return lambda problem: _automatic(problem, gap, limit)


def _automatic(problem: DualProblem, gap: float, limit: int) -> tuple[DualOutcome, str]:
    large = len(problem.exponents) > _BARRIER_WEIGHTS
    first = weighted.solve(problem, gap, limit, patient=large)
    if first.stopped != "stalled" or first.iterations >= limit:
        return first, "fixed-point"
    second = weighted.solve_barrier(problem, gap, limit - first.iterations, start=_central(problem, first))
    best = second.or_better(first.best_lower).or_better(first.best_upper)
    total = first.iterations + second.iterations
    return DualOutcome(best.best_lower, best.best_upper, total, second.stopped), "fixed-point, barrier"


def _central(problem: DualProblem, outcome: DualOutcome) -> FloatArray:
    """Weights near the barrier's path, at the μ that the gap reached belongs to."""
    point: DualPoint = outcome.best_lower
    mu = min(outcome.gap, 1.0) / len(problem.exponents)
    return np.asarray((point.masses / point.total + 2.0 * mu) ** (1.0 / problem.exponents))


def _stops(outcome: DualOutcome) -> dict[str, object]:
    return {"iterations": outcome.iterations, "stopped": outcome.stopped}


def _from_gram(workload: Workload, solver: _Solver, method: str) -> CertifiedNorm:
    gram, queries = workload.gram(), workload.queries
    columns = np.diagonal(gram) > 0.0
    if not columns.any():
        return zero_norm((queries, len(gram)), method)
    G, exponent = scaled_exactly(gram[np.ix_(columns, columns)])
    if exponent % 2:
        G, exponent = G * 0.5, exponent + 1
    outcome, chosen = solver(GramProblem(G, queries))
    lower, _, _, _, _ = gram_ends(G, outcome.best_lower.weights, queries)
    _, upper, residual, T, A = gram_ends(G, outcome.best_upper.weights, queries)
    half = exponent // 2
    lower, upper = scaled_interval(lower, upper, half)
    # W is 2^half times the matrix of Gram matrix G: R = WT/2^half, and A takes the power of two.
    left = WorkloadFactor(workload, spread(np.ldexp(T, -half), columns))
    right = DenseFactor(spread(np.ldexp(A, half).T, columns).T)
    witness = {"column_weights": spread(outcome.best_lower.weights, columns)}
    record = {"method": f"{chosen}, Gram matrix", **_stops(outcome)}
    return CertifiedNorm(lower, upper, left, right, scaled_interval(0.0, residual, half)[1], witness, record)
