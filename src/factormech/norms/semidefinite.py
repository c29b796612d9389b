r"""Norms as semidefinite programs for a general solver (cvxpy): slow, and independent of the other methods.

**Exact norms.** The norm is the value of

.. math:: \gamma_{(p)}(W) = \min \tfrac12\bigl(k^{-2/p}\lVert\operatorname{diag}X\rVert_{p/2}
          + \max\operatorname{diag}Y\bigr) \quad\text{over}\quad
          \begin{pmatrix}X & W\\W^\top & Y\end{pmatrix} \succeq 0 ,

X = RRᵀ, Y = AᵀA, the two terms equal at the optimum. The diagonal of the constraint's multiplier is (w, q) of
``weighted`` up to scale. Both ends are certified like any other method's: a wrong answer of the solver shows as a
wide interval.

**Approximate norms.** The problem is that of ``boxes``, solved here without the splitting. Both ends are certified
like the splitting's, from the solver's primal and dual solutions: a wrong answer of the solver shows as a wide
interval.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from factormech.arrays import FloatArray
from factormech.errors import BadValue, UnknownName
from factormech.norms import involutions, splitting
from factormech.norms.boxes import Boxes
from factormech.norms.certificates import factors, lower_end, upper_end
from factormech.norms.certified import CertifiedNorm, checked_matrix, core_of, spread
from factormech.norms.exact import assembled, zero_norm
from factormech.norms.splitting import Iterate
from factormech.norms.weighted import checked_exponent
from factormech.workloads.base import Workload

# Exact norms.

SOLVERS = ("CLARABEL", "SCS")
# Above this many rows and columns together the program takes hours and tens of gigabytes.
SIZE_LIMIT = 300


def semidefinite_norm(
    workload: Workload | Any, p: float = math.inf, *, solver: str = "CLARABEL", **options: Any
) -> CertifiedNorm:
    """γ₍ₚ₎(W) by a solver of ``SOLVERS``; further options go to it as they are."""
    p = checked_exponent(p)
    if solver not in SOLVERS:
        raise UnknownName("solver", solver, SOLVERS)
    matrix = checked_matrix("workload", workload)
    core = core_of(matrix)
    if not core.matrix.size:
        return zero_norm(matrix.shape, f"cvxpy {solver}")
    if sum(core.matrix.shape) > SIZE_LIMIT:
        rule = f"have at most {SIZE_LIMIT} rows and columns together for a general solver"
        raise BadValue("shape of workload", core.matrix.shape, rule, "use method 'auto'")
    gram, multiplier, status = _solved(core.matrix, p, core.queries, solver, options)
    R, A = _split(gram, len(core.matrix))
    k = len(core.matrix)
    w = np.ones(k) if p == 2.0 else _positive(np.diagonal(multiplier)[:k])
    q = _positive(np.diagonal(multiplier)[k:])
    lower = lower_end(core.matrix, w, q, p, core.queries)
    # A first-order solver's product may miss W by much: the factors of its weights may then be better.
    pairs: list[tuple[FloatArray, FloatArray]] = [(R, A), factors(core.matrix, w, q)]
    best = min(pairs, key=lambda pair: upper_end(core.matrix, pair[0], pair[1], p, core.queries)[0])
    witness = {"row_weights": spread(w, core.rows), "column_weights": spread(q, core.columns)}
    record: dict[str, object] = {"method": f"cvxpy {solver}", "iterations": 0, "stopped": status}
    return assembled(core, p, lower, best, witness, record)


def _solved(W: FloatArray, p: float, queries: int, solver: str, options: dict[str, Any]) -> tuple[Any, Any, str]:
    """The (k + N)² matrix, the multiplier of its being positive semidefinite, and the solver's own verdict."""
    import cvxpy as cp

    k, N = W.shape
    gram = cp.Variable((k + N, k + N), symmetric=True)
    diagonal = cp.diag(gram)
    rows = cp.max(diagonal[:k]) if math.isinf(p) else cp.norm(diagonal[:k], p / 2.0) * queries ** (-2.0 / p)
    constraint = gram >> 0
    problem = cp.Problem(cp.Minimize(0.5 * (rows + cp.max(diagonal[k:]))), [constraint, gram[:k, k:] == W])
    problem.solve(solver=solver, **options)
    if gram.value is None or constraint.dual_value is None:
        raise BadValue("workload", problem.status, "be solved by " + solver, "use method 'auto' or another solver")
    return np.asarray(gram.value), np.asarray(constraint.dual_value), str(problem.status)


def _split(gram: FloatArray, rows: int) -> tuple[FloatArray, FloatArray]:
    """R and A with (R; Aᵀ)(Rᵀ A) the positive part of the matrix."""
    values, vectors = np.linalg.eigh(0.5 * (gram + gram.T))
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    return root[:rows], root[rows:].T.copy()


def _positive(weights: FloatArray) -> FloatArray:
    return np.asarray(np.maximum(weights, 1e-12 * float(np.max(weights))))


# Approximate norms.

# Above this many rows and columns together the program takes hours and tens of gigabytes.
BOX_SIZE_LIMIT = 200


def solve(boxes: Boxes, solver: str, **options: Any) -> tuple[Iterate, str]:
    """The solver's solution, brought into the boxes, and its own verdict. The problem must be ``reduced``."""
    import cvxpy as cp

    k, N = boxes.shape
    if k + N > BOX_SIZE_LIMIT:
        rule = f"have at most {BOX_SIZE_LIMIT} rows and columns together for a general solver"
        raise BadValue("shape of workload", (k, N), rule, "use method 'splitting'")
    gram, bound, c = cp.Variable((k + N, k + N), symmetric=True), cp.Variable(), cp.Variable((k, 1))
    inside = gram[:k, k:] - (c @ np.ones((1, N)) if boxes.shifted else 0.0)
    sides = [_side(inside, boxes.low, 1.0), _side(inside, boxes.high, -1.0)]
    cone = gram >> 0
    problem = cp.Problem(cp.Minimize(bound), [cone, cp.diag(gram) <= bound, *(side for _, side in sides)])
    problem.solve(solver=solver, **options)
    if gram.value is None or cone.dual_value is None:
        raise BadValue("workload", problem.status, "be solved by " + solver, "use method 'splitting'")
    U = np.zeros((k, N))
    for (places, side), sign in zip(sides, (1.0, -1.0), strict=True):
        U[places] += sign * np.maximum(np.ravel(side.dual_value), 0.0)
    start = np.ravel(c.value) if boxes.shifted else np.zeros(k)
    matrix, shift = splitting.into_boxes(np.asarray(gram.value)[:k, k:], boxes, start)
    weights = np.maximum(np.diagonal(cone.dual_value), 0.0)
    root = splitting.root_in_cone(np.asarray(gram.value), involutions.trivial(k + N))
    return Iterate(matrix, shift, U, weights[:k], weights[k:], root), str(problem.status)


def _side(inside: Any, bound: FloatArray, sign: float) -> tuple[Any, Any]:
    """Return where a bound is finite, and the constraint there."""
    places = np.nonzero(np.isfinite(bound))
    return places, sign * inside[places] >= sign * bound[places]
