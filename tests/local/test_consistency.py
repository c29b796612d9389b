"""Weighted non-negative least squares: optimal by brute force, by another solver, and by the conditions themselves."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import scipy.optimize

from factormech.errors import BadValue
from factormech.mechanisms.local import consistency
from factormech.mechanisms.local.consistency import NonNegative
from factormech.workloads.registry import create


def definite(n: int, rng: np.random.Generator) -> np.ndarray:
    A = rng.standard_normal((n + 2, n)) * 10.0 ** rng.uniform(-1, 1, n)
    return np.asarray(A.T @ A)


def objective(G: np.ndarray, x: np.ndarray, estimate: np.ndarray) -> float:
    return float((x - estimate) @ G @ (x - estimate))


def by_supports(G: np.ndarray, estimate: np.ndarray, total: float | None) -> np.ndarray:
    """The best of the stationary points of all supports that are feasible."""
    n, b, best = len(G), G @ estimate, None
    for size in range(0 if total is None else 1, n + 1):
        for support in map(list, itertools.combinations(range(n), size)):
            x = np.zeros(n)
            if size and total is None:
                x[support] = np.linalg.solve(G[np.ix_(support, support)], b[support])
            elif size:
                K = np.ones((size + 1, size + 1))
                K[:size, :size], K[size, size] = G[np.ix_(support, support)], 0.0
                x[support] = np.linalg.solve(K, np.append(b[support], total))[:size]
            feasible = x.min(initial=0.0) >= -1e-12
            if feasible and (best is None or objective(G, x, estimate) < objective(G, best, estimate)):
                best = x
    assert best is not None
    return best


@pytest.mark.parametrize("total", [None, 3.0])
@pytest.mark.parametrize("n", [1, 2, 5, 8])
def test_no_support_is_better(n: int, total: float | None) -> None:
    rng = np.random.default_rng(n)
    for _ in range(6):
        G, estimate = definite(n, rng), 2.0 * rng.standard_normal(n) + 0.3
        found = NonNegative(G, fixed_total=total is not None)(estimate, total)
        np.testing.assert_allclose(found.values, by_supports(G, estimate, total), atol=1e-8)
        assert found.violation < 1e-12
        assert found.ridge == 0.0


def test_it_is_scipys_nnls() -> None:
    rng = np.random.default_rng(0)
    W, estimate = rng.standard_normal((60, 40)), rng.standard_normal(40)
    wanted, _ = scipy.optimize.nnls(W, W @ estimate)
    np.testing.assert_allclose(NonNegative(W.T @ W)(estimate).values, wanted, atol=1e-10)


def test_on_histogram_it_clips_or_projects_on_the_simplex() -> None:
    estimate = np.array([3.0, -1.0, 0.5, 2.0, -4.0])
    np.testing.assert_allclose(NonNegative(np.eye(5))(estimate).values, np.maximum(estimate, 0), atol=1e-14)
    centred = NonNegative(np.eye(5) - 0.2, fixed_total=True)
    # Σ max(x̂ − λ, 0) = 2 at λ = 1.5.
    np.testing.assert_allclose(centred(estimate, 2.0).values, np.maximum(estimate - 1.5, 0), atol=1e-14)
    assert centred.ridge == 0.0


def test_with_a_fixed_total_only_the_centred_part_matters() -> None:
    rng = np.random.default_rng(1)
    workload, noise = create("prefix", 24), 10 * rng.standard_normal(24)
    estimate = noise - noise.mean() + 30.0 / 24
    one, other = (NonNegative(G, fixed_total=True)(estimate, 30.0) for G in (workload.gram(), workload.centred_gram()))
    np.testing.assert_allclose(one.values, other.values, atol=1e-9)
    assert one.values.sum() == pytest.approx(30.0, rel=1e-13)


@pytest.mark.parametrize("name", ["prefix", "all-ranges", "all-marginals", "3-way-marginals"])
@pytest.mark.parametrize("fixed", [False, True])
def test_conditions_hold_and_errors_fall(name: str, fixed: bool) -> None:
    """A projection on a convex set that holds the truth cannot move away from it."""
    rng = np.random.default_rng(2)
    workload, n, users = create(name, 128), 128, 5000
    G = workload.centred_gram() if fixed else workload.gram()
    truth = rng.multinomial(users, rng.dirichlet(np.full(n, 0.2)))
    noise = 60.0 * rng.standard_normal((n, 4))
    estimates = truth[:, None] + noise - fixed * noise.mean(axis=0)
    solver = NonNegative(G, fixed_total=fixed)
    found = solver(estimates, float(users) if fixed else None)
    assert found.violation < 1e-12
    assert found.values.min() >= 0
    for x, estimate in zip(found.values.T, estimates.T, strict=True):
        assert objective(G, x - truth, 0 * x) < objective(G, estimate - truth, 0 * x)
        # No feasible direction towards a single type lowers the objective.
        y = G @ (x - estimate)
        target = float(users) if fixed else float(np.maximum(x.sum(), 1.0))
        slopes = target * y - (x @ y)
        slack = solver.ridge * np.trace(G) / n * np.abs(x - estimate).max() * 2 * target
        assert slopes.min() >= -1e-9 * target * np.abs(G @ estimate).max() - slack


def test_columns_do_not_see_each_other_and_starts_do_not_matter() -> None:
    rng = np.random.default_rng(3)
    solver = NonNegative(create("prefix", 48).gram())
    estimates = 20 * rng.standard_normal((48, 7)) + 5
    together = solver(estimates)
    alone = np.stack([solver(column).values for column in estimates.T], axis=1)
    np.testing.assert_allclose(together.values, alone, atol=1e-10)
    warm = solver(estimates, start=together.values > 0)
    np.testing.assert_allclose(warm.values, together.values, atol=1e-10)
    assert warm.pivots.tolist() == [1] * 7
    assert together.pivots.max() > 1
    wrong = solver(estimates, start=rng.random((48, 7)) < 0.5)
    np.testing.assert_allclose(wrong.values, together.values, atol=1e-9)


@pytest.mark.parametrize("total", [None, 40.0])
@pytest.mark.parametrize("crippled", [{"PATIENCE": -1, "MOST_PIVOTS": 10**5}, {"MOST_PIVOTS": 0}])
def test_single_exchanges_and_active_sets_end_at_the_same_optimum(
    monkeypatch: pytest.MonkeyPatch, crippled: dict[str, int], total: float | None
) -> None:
    rng = np.random.default_rng(4)
    solver = NonNegative(create("all-ranges", 10).gram(), fixed_total=total is not None)
    estimates = 8 * rng.standard_normal((10, 5)) + 4
    wanted = solver(estimates, total)
    for name, value in crippled.items():
        monkeypatch.setattr(consistency, name, value)
    found = solver(estimates, total)
    np.testing.assert_allclose(found.values, wanted.values, atol=1e-9)
    assert found.violation < 1e-12
    assert wanted.fallbacks == 0
    if "PATIENCE" not in crippled:
        assert found.fallbacks == 5
    else:
        assert found.pivots.sum() > wanted.pivots.sum()


@pytest.mark.parametrize("name", ["2-way-marginals", "total"])
def test_a_singular_gram_has_a_ridge_whose_cost_is_bounded(name: str) -> None:
    rng = np.random.default_rng(5)
    workload = create(name, 16)
    G, estimate = workload.gram(), 30 * rng.standard_normal(16) + 3
    solver = NonNegative(G)
    assert solver.ridge == consistency.RIDGE
    found = solver(estimate)
    best, _ = scipy.optimize.nnls(workload.matrix(), workload.answer(estimate))
    allowed = solver.ridge * np.trace(G) / 16 * float(np.sum((best - estimate) ** 2))
    assert objective(G, found.values, estimate) <= objective(G, best, estimate) + allowed + 1e-9
    assert found.violation < 1e-12


def test_what_is_consistent_is_kept() -> None:
    x = np.array([5.0, 0.0, 2.0, 1.0])
    np.testing.assert_allclose(NonNegative(create("prefix", 4).gram())(x).values, x, atol=1e-12)
    fixed = NonNegative(create("prefix", 4).centred_gram(), fixed_total=True)
    np.testing.assert_allclose(fixed(x, 8.0).values, x, atol=1e-12)
    # Only the total is wrong: what is nearest in the workload's distance moves along 1 alone.
    np.testing.assert_allclose(fixed(x + 7.0, 8.0).values, x, atol=1e-12)


@pytest.mark.slow
def test_a_thousand_types_take_a_few_pivots() -> None:
    rng = np.random.default_rng(6)
    for name in ("prefix", "all-ranges"):
        solver = NonNegative(create(name, 1024).gram())
        for noise in (1e2, 1e4):
            found = solver(1000 * rng.random((1024, 3)) + noise * rng.standard_normal((1024, 3)))
            assert found.fallbacks == 0
            assert found.violation < 5e-11
            assert found.pivots.max() <= 80


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: NonNegative(np.ones((2, 3))), r"shape of gram = \(2, 3\)"),
        (lambda: NonNegative(np.array([[1.0, 1.0], [0.0, 1.0]])), "symmetric"),
        (lambda: NonNegative(np.full((2, 2), np.nan)), "finite"),
        (lambda: NonNegative(np.eye(2))(np.zeros(3)), r"shape of estimates = \(3,\)"),
        (lambda: NonNegative(np.eye(2))(np.array([1.0, np.inf])), "finite numbers"),
        (lambda: NonNegative(np.eye(2))(np.zeros(2), 1.0), "total = 1.0: must be left out"),
        (lambda: NonNegative(np.eye(2), fixed_total=True)(np.zeros(2)), "total = None: must be a finite number"),
        (lambda: NonNegative(np.eye(2), fixed_total=True)(np.zeros(2), 0.0), "above 0"),
    ],
)
def test_bad_arguments_are_refused(call, message: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(BadValue, match=message):
        call()
