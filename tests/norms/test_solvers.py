"""What steers the solvers: the decomposition by Gram matrix, and Newton's curvature."""

from __future__ import annotations

import math

import numpy as np
import pytest

from factormech.norms import weighted
from factormech.norms.weighted import DenseProblem, GramProblem, thin_svd
from tests.norms import matrices


def problem() -> tuple[DenseProblem, np.ndarray]:
    W = np.random.default_rng(4).standard_normal((9, 6))
    return DenseProblem(W, math.inf, 9), np.random.default_rng(5).exponential(size=15) + 0.1


def test_curvature_is_that_of_the_nuclear_norm() -> None:
    """Second differences of f along δ are −δᵀKδ/2; the rule for 1/x is good to a few per cent."""
    P, z = problem()
    K = np.tril(weighted.curvature(P.at(z), P.rows))
    K = K + np.tril(K, -1).T
    rng = np.random.default_rng(6)
    for _ in range(5):
        d, h = rng.uniform(-1.0, 1.0, 15), 1e-3
        f = [P.at(z * (1.0 + t * d)).total for t in (-h, 0.0, h)]
        assert (f[0] - 2 * f[1] + f[2]) / h**2 == pytest.approx(-0.5 * float(d @ K @ d), rel=0.05)
    assert np.linalg.eigvalsh(K).min() >= -1e-12 * np.abs(K).max()


def test_gradient_is_half_the_masses() -> None:
    P, z = problem()
    point = P.at(z)
    for i in (0, 8, 9, 14):
        up, down = z.copy(), z.copy()
        up[i] *= 1 + 1e-5
        down[i] *= 1 - 1e-5
        assert (P.at(up).total - P.at(down).total) / 2e-5 == pytest.approx(0.5 * point.masses[i], rel=1e-6)


def test_gram_route_equals_svd() -> None:
    P, z = problem()
    point = P.at(z)
    values = thin_svd(np.sqrt(z[:9])[:, None] * P.matrix * np.sqrt(z[9:]))[1]
    np.testing.assert_allclose(np.sort(point.values), np.sort(values), rtol=1e-12)
    W = matrices.ranges(6)
    dense, gram = DenseProblem(W, 2.0, len(W)), GramProblem(W.T @ W, len(W))
    q = np.arange(1.0, 7.0)
    assert dense.at(q).lower == pytest.approx(gram.at(q).lower, rel=1e-12)
    assert dense.at(q).upper == pytest.approx(gram.at(q).upper, rel=1e-12)
