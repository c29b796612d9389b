r"""Consistent data vectors from a workload's own matrix: for few free entries, and without the Gram matrix.

The optimum is that of :mod:`factormech.local.consistency`, whose :class:`NonNegative` needs G = WᵀW (m·n²
products for a query matrix W of m rows) and its factors before it begins. Where few entries of the optimum are positive
the active-set method (:mod:`factormech.local.active_set_kernels`) needs of G only their columns, made as they are
freed, and one triangle of their size that is kept up to date.

It is believed where the optimum is strict: yᵢ > 0 for all that is bound, and G_FF definite. Then no other x is optimal,
be G singular or not: all optima have one Wx, so one y, and with xᵢyᵢ = 0 they are zero outside F, where Wx determines
them. Any other estimate, and one that misses the optimality conditions, which are computed anew from x, W and b alone,
is solved by :class:`NonNegative`, with its ridge where G is singular.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from factormech.errors import BadValue
from factormech.local.consistency import TOLERANCE, Consistent, NonNegative

# Violations of the optimality conditions above this are not rounding.
WORST_VIOLATION = 1e-10


def nearest_consistent(matrix: Any, estimates: Any) -> Consistent:
    r"""The x ≥ 0 of least ‖Wx − Wx̂‖ for each estimate.

    Parameters
    ----------
    matrix
        W, (m, n).
    estimates
        x̂, (n,) or (n, count).
    """
    from factormech.local.active_set_kernels import nearest_of_each

    W, found = np.ascontiguousarray(matrix, dtype=float), np.asarray(estimates, dtype=float)
    if W.ndim != 2 or found.ndim not in (1, 2) or found.shape[0] != W.shape[1] or not W.size:
        rule = "be (m, n) and (n,), or (m, n) and (n, count)"
        raise BadValue("shapes of matrix and estimates", (W.shape, found.shape), rule, "give both of one workload")
    estimated = found.reshape(W.shape[1], -1)
    rows = np.zeros((estimated.shape[1], estimated.shape[0]))
    missed, pivots = nearest_of_each(W, np.ascontiguousarray(estimated.T), TOLERANCE, rows)
    X, done = rows.T, missed <= WORST_VIOLATION
    ridge = 0.0
    if not done.all():
        if not (np.isfinite(W).all() and np.isfinite(estimated).all()):
            remedy = "estimate them from reports first"
            raise BadValue("matrix or estimates", "not finite", "be finite numbers", remedy)
        rest = NonNegative(W.T @ W)(estimated[:, ~done])
        X[:, ~done], missed[~done], ridge = rest.values, rest.violation, rest.ridge
        pivots[~done] += rest.pivots
    worst = float(missed.max(initial=0.0))
    return Consistent(np.ascontiguousarray(X).reshape(found.shape), pivots, int((~done).sum()), worst, ridge)
