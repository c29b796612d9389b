"""Exact variances keep their digits from ε = .001 to 40: against rational arithmetic on the very matrix."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from factormech.arrays import FloatArray
from factormech.errors import Unavailable
from factormech.mechanisms.local import registry
from factormech.mechanisms.local.strategy import StrategyMatrix
from factormech.workloads.base import Workload
from factormech.workloads.registry import create

Matrix = list[list[Fraction]]
FIXED = [name for name in registry.names() if not registry.is_solved(name)]


def solved(A: Matrix, B: Matrix) -> Matrix:
    """A⁻¹B by elimination."""
    rows = [list(a) + list(b) for a, b in zip(A, B, strict=True)]
    n = len(rows)
    for k in range(n):
        pivot = next(i for i in range(k, n) if rows[i][k] != 0)
        rows[k], rows[pivot] = rows[pivot], rows[k]
        rows[k] = [x / rows[k][k] for x in rows[k]]
        for i in range(n):
            if i != k and rows[i][k]:
                rows[i] = [x - rows[i][k] * y for x, y in zip(rows[i], rows[k], strict=True)]
    return [row[n:] for row in rows]


def exact_variance(matrix: FloatArray, workload: Workload) -> list[float]:
    """Σ_oQ_ou‖v_o − w_u‖², V = WX⁻¹QᵀD⁻¹, the columns of Q made to sum to one."""
    n = workload.domain_size
    Q = [[Fraction(x) for x in row] for row in matrix.tolist()]
    sums = [sum(row[u] for row in Q) for u in range(n)]
    Q = [[row[u] / sums[u] for u in range(n)] for row in Q]
    d = [sum(row) for row in Q]
    X = [[sum(row[u] * row[v] / s for row, s in zip(Q, d, strict=True)) for v in range(n)] for u in range(n)]
    B = solved(X, [[row[u] / s for row, s in zip(Q, d, strict=True)] for u in range(n)])
    G = [[Fraction(x) for x in row] for row in np.rint(workload.gram()).tolist()]
    found = []
    for u in range(n):
        total = Fraction(0)
        for o, row in enumerate(Q):
            off = [B[v][o] - (v == u) for v in range(n)]
            total += row[u] * sum(off[v] * G[v][w] * off[w] for v in range(n) for w in range(n))
        found.append(float(total))
    return found


@pytest.mark.parametrize("epsilon", [0.001, 0.1, 1.0, 4.0, 12.0, 20.0, 30.0, 40.0])
@pytest.mark.parametrize("mechanism", FIXED)
def test_no_digits_are_lost(mechanism: str, epsilon: float) -> None:
    strategy = registry.build(mechanism, 4, epsilon)
    if isinstance(strategy, Unavailable):
        pytest.skip(strategy.reason)
    assert isinstance(strategy, StrategyMatrix)
    for name in ("prefix", "histogram"):
        workload = create(name, 4)
        evaluation = strategy.evaluate(workload.centred_gram())
        if evaluation.answered:
            exact = exact_variance(strategy.matrix, workload)
            np.testing.assert_allclose(evaluation.variance, exact, rtol=1e-9)
