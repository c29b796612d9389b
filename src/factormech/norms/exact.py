"""The exact norms γ₂, γ_F and γ₍ₚ₎: the solvers' weights become a ``CertifiedNorm`` with its factors and witness.

A method is a name for how the weights are found. The interval is computed afterwards from W itself, so it holds
whatever the method did, and a solver that stopped early answers with a wider one.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from factormech.arrays import FloatArray, check_positive_integer
from factormech.errors import BadValue
from factormech.norms import barrier, certify, fixed_point, from_gram
from factormech.norms.certified import CertifiedNorm, DenseFactor, Factor
from factormech.norms.matrices import Core, checked_matrix, core_of, spread
from factormech.norms.weighted import DenseProblem, DualOutcome, DualPoint, DualProblem, GramProblem, checked_exponent
from factormech.numerics.rounding import scaled_exactly, scaled_interval
from factormech.workloads.base import Workload

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
    lower, dual = certify.lower_end(core.matrix, *low, p, core.queries)
    R, A = certify.factors(core.matrix, *high)
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
    """What is known of the core, said of W."""
    R, A = factors
    upper, residual = certify.upper_end(core.matrix, R, A, p, core.queries)
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
        return lambda problem: (fixed_point.solve(problem, gap, limit), method)
    if method == "barrier":
        return lambda problem: (barrier.solve(problem, gap, limit), method)
    return lambda problem: _automatic(problem, gap, limit)


def _automatic(problem: DualProblem, gap: float, limit: int) -> tuple[DualOutcome, str]:
    large = len(problem.exponents) > _BARRIER_WEIGHTS
    first = fixed_point.solve(problem, gap, limit, patient=large)
    if first.stopped != "stalled" or first.iterations >= limit:
        return first, "fixed-point"
    second = barrier.solve(problem, gap, limit - first.iterations, start=_central(problem, first))
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
    lower, _, _, _, _ = from_gram.gram_ends(G, outcome.best_lower.weights, queries)
    _, upper, residual, T, A = from_gram.gram_ends(G, outcome.best_upper.weights, queries)
    half = exponent // 2
    lower, upper = scaled_interval(lower, upper, half)
    # W is 2^half times the matrix of Gram matrix G: R = WT/2^half, and A takes the power of two.
    left = from_gram.WorkloadFactor(workload, spread(np.ldexp(T, -half), columns))
    right = DenseFactor(spread(np.ldexp(A, half).T, columns).T)
    witness = {"column_weights": spread(outcome.best_lower.weights, columns)}
    record = {"method": f"{chosen}, Gram matrix", **_stops(outcome)}
    return CertifiedNorm(lower, upper, left, right, scaled_interval(0.0, residual, half)[1], witness, record)
