r"""Exact standard errors of the answers that a collection estimates, query by query.

The estimate of the centred data vector has the covariance Σ = Σ_u x_uΣ_u (``local/error_law.py``), so query q has the
variance (WΣWᵀ)_qq = ‖(WL)_q‖², LLᵀ = Σ. W is applied to a few columns of L at a time: nothing of the size of the
queries times the domain is made.
"""

from __future__ import annotations

import numpy as np

from factormech.arrays import FloatArray
from factormech.errors import BadValue
from factormech.local.error_law import centred_diagonal
from factormech.local.strategy import SimulatedStrategy, StrategyMatrix
from factormech.unavailable import Unavailable
from factormech.workloads.base import Workload

# Numbers that are held at once, and products that are taken for a list of all queries.
_CELLS, _OPERATIONS = 2**22, 2**32
# A variance is known to some units in the last place of the largest one for each user type.
_ROUNDING = 16.0 * 2.0**-52
# A standard deviation below this share of the largest entry of the reconstruction is rounding.
_NOTHING = 1e-12


def estimate_covariance(
    strategy: SimulatedStrategy, centred_gram: FloatArray, counts: FloatArray
) -> FloatArray | Unavailable:
    """Σ, (n, n), for ``counts`` users by type."""
    if isinstance(strategy, StrategyMatrix):
        B, Q = strategy.reconstruction, strategy.matrix
        return np.asarray((B * (Q @ counts)) @ B.T - centred_diagonal(counts))
    try:
        return strategy.error_law(centred_gram).covariance(counts)
    except BadValue as error:
        return Unavailable(f"no exact standard errors: {error}")


def standard_errors(workload: Workload, covariance: FloatArray) -> FloatArray:
    """The standard deviation of each estimated answer, (queries,)."""
    values, vectors = np.linalg.eigh(0.5 * (covariance + covariance.T))
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    total, step = np.zeros(workload.queries), max(1, _CELLS // workload.queries)
    for start in range(0, root.shape[1], step):
        total += np.sum(workload.answer(root[:, start : start + step]) ** 2, axis=1)
    # What every estimate knows exactly, such as the number of users, has rounding alone.
    return np.asarray(np.sqrt(np.where(total > _ROUNDING * len(root) * total.max(), total, 0.0)))


def worst_standard_errors(
    workload: Workload, strategy: StrategyMatrix, reconstruction: FloatArray, users: float
) -> FloatArray | Unavailable:
    """Return, for each query, the largest standard deviation of its estimated share over all data of so many users.

    One user of type u adds the variance Σ_o Q_ou (V_qo − W_qu)² to the answer of query q; the data that are worst for a
    query have users of one type alone. The worst data differ from query to query.
    """
    W, Q, V = workload.matrix(), strategy.matrix, reconstruction
    if V.size > _CELLS or V.size * Q.shape[1] > _OPERATIONS:
        return Unavailable(f"{len(V)} queries × {len(Q)} outputs × {Q.shape[1]} user types are too many to list")
    largest = np.zeros(len(V))
    for u in range(Q.shape[1]):
        np.maximum(largest, (V - W[:, u : u + 1]) ** 2 @ Q[:, u], out=largest)
    largest[largest <= (_NOTHING * np.abs(V).max()) ** 2] = 0.0
    return np.asarray(np.sqrt(largest / users))
