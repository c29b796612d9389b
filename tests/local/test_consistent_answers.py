"""Consistency from the workload's matrix: the same optimum as by pivoting and by scipy, and rotations that keep L."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.optimize

from factormech.errors import BadValue
from factormech.mechanisms.local import active_set_kernels as kernels
from factormech.mechanisms.local import consistency
from factormech.mechanisms.local.consistency import NonNegative, nearest_consistent
from factormech.workloads.registry import create

pytestmark = pytest.mark.heavy


@pytest.mark.parametrize("name", ["prefix", "all-ranges", "all-marginals", "histogram"])
@pytest.mark.parametrize("n", [1, 2, 16, 64])
def test_it_is_the_optimum_of_pivoting(name: str, n: int) -> None:
    rng = np.random.default_rng(n)
    W = create(name, n).matrix()
    estimates = 30.0 * rng.standard_normal((n, 9)) + rng.uniform(-10, 20, 9)
    found, wanted = nearest_consistent(W, estimates), NonNegative(W.T @ W)(estimates)
    np.testing.assert_allclose(found.values, wanted.values, atol=1e-9)
    assert found.violation < 1e-13
    assert (found.fallbacks, found.ridge) == (0, 0.0)
    alone = nearest_consistent(W, estimates[:, 3])
    np.testing.assert_allclose(alone.values, found.values[:, 3], atol=1e-10)
    # One system at least for each entry that is freed, and one for each that is bound again.
    assert (found.pivots >= (found.values > 0).sum(axis=0)).all()


def test_it_is_scipys_nnls_with_entries_bound_again() -> None:
    rng = np.random.default_rng(0)
    bound_again = 0
    for _ in range(20):
        W, estimate = rng.standard_normal((45, 40)), rng.standard_normal(40) + 0.3
        wanted, _ = scipy.optimize.nnls(W, W @ estimate)
        found = nearest_consistent(W, estimate)
        np.testing.assert_allclose(found.values, wanted, atol=1e-10)
        assert found.fallbacks == 0
        bound_again += int(found.pivots[0]) > np.count_nonzero(wanted)
    assert bound_again >= 5


def test_a_triangle_that_grows_and_shrinks_is_that_of_what_is_free() -> None:
    rng = np.random.default_rng(1)
    A = rng.standard_normal((12, 8))
    G, b, n = A.T @ A, rng.standard_normal(8), 8
    L, u, x, members = np.zeros((n, n)), np.zeros(n), np.arange(8.0), np.zeros(n, dtype=np.int64)
    for k, entry in enumerate([5, 0, 7, 2, 4, 1]):
        assert kernels.grown(L, u, members, k, G[entry], entry, b[entry])
    kernels.shrink(L, u, members, x, 6, 1)
    kernels.shrink(L, u, members, x, 5, 3)
    free = members[:4]
    assert free.tolist() == [5, 7, 2, 1]
    assert x[:4].tolist() == [0.0, 2.0, 3.0, 5.0]
    lower = np.tril(L[:4, :4])
    np.testing.assert_allclose(lower, np.linalg.cholesky(G[np.ix_(free, free)]), atol=1e-12)
    np.testing.assert_allclose(lower @ u[:4], b[free], atol=1e-12)
    z = np.zeros(n)
    kernels.back(L, u, 4, z)
    np.testing.assert_allclose(z[:4], np.linalg.solve(G[np.ix_(free, free)], b[free]), atol=1e-12)
    assert not kernels.grown(L, u, members, 4, G[5], 5, b[5])  # twice the same column


@pytest.mark.parametrize("name", ["2-way-marginals", "total"])
def test_with_a_singular_gram_the_answers_are_the_best(name: str) -> None:
    rng = np.random.default_rng(5)
    W, estimates = create(name, 16).matrix(), 30 * rng.standard_normal((16, 6)) + 3
    found = nearest_consistent(W, estimates)
    assert found.violation < 1e-11
    for x, estimate in zip(found.values.T, estimates.T, strict=True):
        _, least = scipy.optimize.nnls(W, W @ estimate)
        assert np.linalg.norm(W @ (x - estimate)) <= least * (1 + 1e-9) + 1e-6
    # All columns of "total" are one, so no optimum but 0 is the only one; of marginals these are.
    assert (found.fallbacks > 0) == (found.ridge > 0) == (name == "total")


def test_what_is_not_strictly_optimal_or_violates_is_pivoted(monkeypatch: pytest.MonkeyPatch) -> None:
    zeros = nearest_consistent(np.eye(3), np.array([2.0, 0.0, -1.0]))
    assert zeros.values.tolist() == [2.0, 0.0, 0.0]
    assert zeros.fallbacks == 1
    estimates = np.random.default_rng(2).standard_normal((20, 3)) + 0.5
    wanted = nearest_consistent(np.tri(20), estimates)
    monkeypatch.setattr(consistency, "WORST_VIOLATION", -1.0)
    found = nearest_consistent(np.tri(20), estimates)
    np.testing.assert_allclose(found.values, wanted.values, atol=1e-12)
    assert (wanted.fallbacks, found.fallbacks) == (0, 3)
    assert found.violation < 1e-13


@pytest.mark.parametrize(
    ("matrix", "estimates", "message"),
    [
        (np.ones(3), np.ones(3), r"\(\(3,\), \(3,\)\)"),
        (np.ones((2, 3)), np.ones(2), r"be \(m, n\) and \(n,\)"),
        (np.ones((0, 3)), np.ones(3), r"be \(m, n\) and \(n,\)"),
        (np.eye(2), np.array([1.0, np.inf]), "finite numbers"),
        (np.full((2, 2), np.nan), np.ones(2), "finite numbers"),
    ],
)
def test_bad_arguments_are_refused(matrix: np.ndarray, estimates: np.ndarray, message: str) -> None:
    with pytest.raises(BadValue, match=message):
        nearest_consistent(matrix, estimates)
