"""The problem of ``boxes`` handed to a general solver through cvxpy: slow, and independent of the splitting.

Both ends are certified like the splitting's, from the solver's primal and dual solutions: a wrong answer of the solver
shows as a wide interval.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from factormech.arrays import FloatArray
from factormech.errors import BadValue
from factormech.norms.approximate import projections, symmetry
from factormech.norms.approximate.boxes import Boxes
from factormech.norms.approximate.splitting import Iterate

# Above this many rows and columns together the program takes hours and tens of gigabytes.
SIZE_LIMIT = 200


def solve(boxes: Boxes, solver: str, **options: Any) -> tuple[Iterate, str]:
    """The solver's solution, brought into the boxes, and its own verdict. The problem must be ``reduced``."""
    import cvxpy as cp

    k, N = boxes.shape
    if k + N > SIZE_LIMIT:
        rule = f"have at most {SIZE_LIMIT} rows and columns together for a general solver"
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
    matrix, shift = projections.into_boxes(np.asarray(gram.value)[:k, k:], boxes, start)
    weights = np.maximum(np.diagonal(cone.dual_value), 0.0)
    root = projections.root_in_cone(np.asarray(gram.value), symmetry.trivial(k + N))
    return Iterate(matrix, shift, U, weights[:k], weights[k:], root), str(problem.status)


def _side(inside: Any, bound: FloatArray, sign: float) -> tuple[Any, Any]:
    """Where a bound is finite, and the constraint there."""
    places = np.nonzero(np.isfinite(bound))
    return places, sign * inside[places] >= sign * bound[places]
