"""The weighted bound: its theorem by enumeration, its optimum, and what it may never be above or below."""

from __future__ import annotations

import math

import numpy as np
import pytest

from factormech.bounds.certificates import largest_violation
from factormech.bounds.parametric import WeightSearch, best_weights, negative_log, objective_bound, parametric, solve
from factormech.bounds.spectral import centred_svd
from factormech.bounds.staircase import InformationLimit, information_of_size, largest_information, smallest_omega
from factormech.errors import BadValue
from factormech.mechanisms.local.strategy import StrategyMatrix
from factormech.workloads.base import Workload
from factormech.workloads.matrix import MatrixWorkload
from factormech.workloads.registry import create
from tests import oracles
from tests.bounds import checks, optimum
from tests.bounds.checks import EPSILONS, centred_root, centring, random_matrix
from tests.tiers import every

pytestmark = pytest.mark.heavy


def limit_of(n: int, epsilon: float) -> InformationLimit:
    limit = InformationLimit.of(n, epsilon)
    assert limit is not None
    return limit


def random_workload(rng: np.random.Generator, n: int) -> Workload:
    """Of any rank, with columns of unlike size."""
    return MatrixWorkload("random", random_matrix(rng, n))


# The theorem -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("n", [2, 3, 5, 8, 11])
def test_the_limit_holds_for_every_extreme_row(n: int, epsilon: float) -> None:
    """vᵀYv ≤ (λᵀv)(1ᵀv) for all v in {1, a}ⁿ, 1ᵀλ = B/n: no ε-LDP strategy has tr(X_cY) above B/n."""
    rng = np.random.default_rng(n)
    limit = limit_of(n, epsilon)
    for spread in (0.0, 0.3, 2.0):
        p = rng.dirichlet(np.ones(n)) if spread == 2.0 else np.exp(spread * rng.normal(size=n))
        p /= p.sum()
        for omega in (0.01 * limit.floor, limit.floor, 0.7 * limit.floor + 0.3 * limit.ceiling, limit.ceiling):
            P = centring(n)
            Y = P @ np.diag(p) @ P - np.outer(p - 1 / n, p - 1 / n) / omega
            B, w = limit.at(omega)[0], limit.share(omega)
            tau = (1 - w) * limit.ct_few + w * limit.ct_many
            multiplier = (B / n + 2 * (tau - 1) * (p - 1 / n)) / n
            # Y ⪰ 0 is not needed for this.
            assert largest_violation(Y, multiplier, epsilon) <= 1e-13 * (1 + np.abs(Y).max())


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("n", [2, 5, 30, 101])
def test_the_limit_is_the_best_distribution_of_sizes(n: int, epsilon: float) -> None:
    """B = max over laws of t of E σ + ωc² Var t = min over τ of max over sizes: both by brute force over pairs."""
    limit = limit_of(n, epsilon)
    b = math.exp(epsilon / 2)
    t = n / ((n - np.arange(n + 1)) / b + np.arange(n + 1) * b)
    sigma = np.array([information_of_size(n, epsilon, j) for j in range(n + 1)])
    c2 = math.cosh(epsilon / 2) ** 2
    assert limit.ceiling == pytest.approx(1 / c2, rel=1e-12)
    for omega in (limit.floor, 0.5 * (limit.floor + limit.ceiling), limit.ceiling):
        w = np.linspace(0.0, 1.0, 401)[:, None, None]
        pairs = (1 - w) * sigma[:, None] + w * sigma + omega * c2 * w * (1 - w) * (t[:, None] - t) ** 2
        B = limit.at(omega)[0]
        assert pairs.max() <= B * (1 + 1e-12)
        assert pairs.max() >= B * (1 - 1e-4)
    assert limit.at(limit.floor)[0] == pytest.approx(largest_information(n, epsilon), rel=1e-8)


@pytest.mark.parametrize("n", [2, 5, 20])
def test_the_smallest_omega_is_where_a_direction_is_lost(n: int) -> None:
    rng = np.random.default_rng(n)
    p = rng.dirichlet(np.ones(n))
    P = centring(n)
    omega = smallest_omega(p)
    assert omega == pytest.approx(1 - n**2 / np.sum(1 / p), rel=1e-9)
    for factor, sign in ((1.001, 1), (0.999, -1)):
        Y = P @ (np.diag(p) - np.outer(p, p) / (omega * factor)) @ P
        values = np.linalg.eigvalsh(Y + 1 / n)
        assert (values[0] > 0) == (sign > 0)
    assert smallest_omega(np.full(n, 1 / n)) == pytest.approx(0.0, abs=1e-15)


@pytest.mark.parametrize("seed", every(4, range(40)))
def test_any_weights_give_a_bound(seed: int) -> None:
    """Also weights and ω with Y ⪰ 0 violated, which are repaired or refused."""
    rng = np.random.default_rng(seed)
    n, epsilon = int(rng.integers(2, 6)), float(rng.choice([0.3, 1.0, 2.0, 4.0]))
    workload = random_workload(rng, n)
    best = optimum.solve(centred_root(workload.matrix()), epsilon).objective
    limit, C = limit_of(n, epsilon), workload.centred_gram()
    for _ in range(20):
        p = np.exp(rng.choice([0.1, 0.5, 2.0]) * rng.normal(size=n))
        assert objective_bound(C, p, rng.uniform() ** 3 * limit.ceiling, limit) <= best * (1 + 1e-5)


# The search ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize("epsilon", [0.2, 1.0, 4.0])
@pytest.mark.parametrize("n", [4, 7])
def test_the_gradient(n: int, epsilon: float, symmetric: bool) -> None:
    rng = np.random.default_rng(1)
    C = create("prefix", n).centred_gram()
    problem = WeightSearch.of(C, np.arange(n)[::-1] if symmetric else np.arange(n))
    limit = limit_of(n, epsilon)
    x = np.append(0.3 * rng.normal(size=len(problem.sizes)), 0.4)
    value, gradient = negative_log(problem, limit, x, barrier=0.1)
    assert math.isfinite(value)
    h = 1e-5
    for i, e in enumerate(np.eye(len(x)) * h):
        up, down = (negative_log(problem, limit, x + sign * e, barrier=0.1)[0] for sign in (1, -1))
        assert gradient[i] == pytest.approx((up - down) / (2 * h), rel=1e-5, abs=1e-8)


@pytest.mark.parametrize("n", [2, 5, 8])
def test_the_reflection_separates_even_and_odd_vectors(n: int) -> None:
    C = create("prefix", n).centred_gram()
    half = np.random.default_rng(0).uniform(1.0, 1.5, (n + 1) // 2)
    p = np.concatenate([half, half[: n // 2][::-1]])
    p /= p.sum()
    omega = 2 * smallest_omega(p) + 0.1
    folded = WeightSearch.of(C, np.arange(n)[::-1])
    whole = WeightSearch.of(C, np.arange(n))
    trace, by_weight, by_omega = folded.root_trace(p[: len(half)], omega)
    expected, each, by_omega_expected = whole.root_trace(p, omega)
    assert trace == pytest.approx(expected, rel=1e-12)
    assert by_omega == pytest.approx(by_omega_expected, rel=1e-10)
    np.testing.assert_allclose(by_weight, each[: len(half)] * folded.sizes, rtol=1e-9)


@pytest.mark.parametrize("seed", range(12))
def test_the_search_finds_the_best_weights(seed: int) -> None:
    """The problem is concave: nothing near the point found, or anywhere, is better."""
    rng = np.random.default_rng(seed)
    n, epsilon = int(rng.integers(3, 12)), EPSILONS[seed % 6]
    C = random_workload(rng, n).centred_gram()
    C /= np.trace(C)
    limit = limit_of(n, epsilon)
    p, omega = best_weights(C, limit)
    found = objective_bound(C, p, omega, limit)
    for size in (1e-3, 1e-2, 0.1, 1.0):
        for _ in range(30):
            q = p * np.exp(size * math.sqrt(omega) * rng.normal(size=n))
            other = omega * math.exp(size * rng.normal())
            assert objective_bound(C, q, other, limit) <= found * (1 + 3e-5)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_weights_do_not_help_where_a_group_moves_every_type_to_every_other(epsilon: float) -> None:
    """Walsh: no search is made, and one would find nothing; a circulant C: the search itself finds nothing."""
    rng = np.random.default_rng(0)
    marginals = create("all-marginals", 16)
    assert parametric(marginals, epsilon) == centred_svd(marginals, epsilon)
    row = rng.normal(size=9)
    circulant = MatrixWorkload("circulant", np.array([np.roll(row, i) for i in range(9)]))
    for workload in (marginals, circulant):
        n, C, limit = workload.domain_size, workload.centred_gram(), limit_of(workload.domain_size, epsilon)
        C /= np.trace(C)
        closed = np.sum(np.sqrt(np.maximum(np.linalg.eigvalsh(C), 0.0))) ** 2 / largest_information(n, epsilon)
        for seed in range(3):
            weights = np.random.default_rng(seed).uniform(0.9, 1.1, n)
            assert objective_bound(C, weights, limit.ceiling, limit) <= closed * (1 + 1e-9)
        assert objective_bound(C, *best_weights(C, limit), limit) == pytest.approx(closed, rel=1e-5)


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 4.0, 50.0])
@pytest.mark.parametrize("name", ["prefix", "all-ranges", "all-marginals", "histogram", "random", "low-rank"])
def test_the_target_attains_the_bound(name: str, epsilon: float) -> None:
    rng = np.random.default_rng(0)
    n = 16
    drawn = {"random": rng.normal(size=(20, n)), "low-rank": rng.normal(size=(3, n))}
    workload = MatrixWorkload(name, drawn[name]) if name in drawn else create(name, n)
    C = workload.centred_gram()
    found = solve(C, epsilon)
    target = found.target(C)
    P = centring(n)
    p = found.weights
    Y = P @ (np.diag(p) - np.outer(p, p) / found.omega) @ P
    np.testing.assert_allclose(target.sum(axis=0), 0.0, atol=1e-12 * np.abs(target).max())
    assert np.sum(target * Y) == pytest.approx(found.information / n, rel=1e-6)
    assert np.sum(np.linalg.pinv(target, rcond=1e-11) * C) == pytest.approx(found.objective, rel=1e-6)
    np.testing.assert_allclose(solve(7.0 * C, epsilon).target(7.0 * C), target, atol=1e-3 * np.abs(target).max())


def test_the_target_of_histogram_is_subset_selection() -> None:
    C = create("histogram", 7).centred_gram()
    sigma = largest_information(7, 1.5)
    np.testing.assert_allclose(solve(C, 1.5).target(C), C * sigma / 6, atol=1e-6)


# The bound -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", every(2, [0.5, 1.0, 4.0, 2.0]))
@pytest.mark.parametrize("name", ["prefix", "all-ranges", "histogram"])
@pytest.mark.parametrize("n", [3, 6])
def test_never_above_the_exact_optimum(name: str, n: int, epsilon: float) -> None:
    workload = create(name, n)
    R = centred_root(workload.matrix())
    best = (optimum.solve(R, epsilon).objective - np.sum(R**2)) / n
    found = parametric(workload, epsilon)
    assert found <= best + 1e-5 * np.sum(R**2)
    if name == "histogram":
        assert found == pytest.approx(best, rel=1e-4)
    elif epsilon <= 1.0:
        assert found >= 0.9 * best  # not vacuous


@pytest.mark.parametrize("seed", every(5, range(300)))
def test_no_random_strategy_beats_it(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, epsilon = int(rng.integers(2, 9)), float(rng.choice([0.3, 1.0, 3.0, 6.0]))
    workload = random_workload(rng, n)
    Q = oracles.random_strategy(rng, 3 * n, n, epsilon)
    evaluation = StrategyMatrix(Q, epsilon).evaluate(workload.centred_gram())
    assert evaluation.answered
    found = parametric(workload, epsilon)
    assert centred_svd(workload, epsilon) <= found <= evaluation.average * (1 + 1e-9)


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 4.0])
@pytest.mark.parametrize("n", [8, 16])
@pytest.mark.parametrize("name", ["prefix", "all-ranges"])
def test_no_mechanism_beats_it(name: str, n: int, epsilon: float) -> None:
    workload = create(name, n)
    found = parametric(workload, epsilon)
    assert min(e.average for e in checks.of_mechanisms(workload, epsilon)) >= found * (1 - 1e-9)


@pytest.mark.parametrize("epsilon", [*EPSILONS, 40.0, 400.0])
@pytest.mark.parametrize("n", [1, 2, 3, 50])
def test_never_below_the_closed_form(n: int, epsilon: float) -> None:
    for name in ("prefix", "all-ranges", "histogram", "total"):
        workload = create(name, n)
        found = parametric(workload, epsilon)
        assert math.isfinite(found)
        assert found >= centred_svd(workload, epsilon)


def test_only_the_centred_gram_matters() -> None:
    W = np.random.default_rng(0).normal(size=(5, 7))
    moved = W + np.arange(5)[:, None]
    found = [parametric(MatrixWorkload("w", 3.0 * M), 1.0) for M in (W, moved)]
    assert found[0] == pytest.approx(found[1], rel=1e-8)
    assert found[0] == pytest.approx(9.0 * parametric(MatrixWorkload("w", W), 1.0), rel=1e-6)


@pytest.mark.parametrize(
    ("name", "n", "epsilon", "expected"),
    [
        ("prefix", 64, 1.0, 593.452),
        ("prefix", 64, 2.0, 107.4968),
        ("prefix", 128, 1.0, 1545.27),
        ("all-ranges", 128, 4.0, 1802.91),
    ],
)
def test_known_numbers(name: str, n: int, epsilon: float, expected: float) -> None:
    assert parametric(create(name, n), epsilon) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("seed", every(4, range(60)))
def test_hard_workloads(seed: int) -> None:
    """Few queries, 0/1 queries, repeated columns, columns of any scale, extreme ε, and reflected queries."""
    rng = np.random.default_rng(seed)
    n, epsilon = int(rng.integers(2, 30)), float(rng.choice([1e-6, 1e-3, 3.0, 6.0, 12.0, 25.0, 30.0, 100.0]))
    workload = checks.hard_workload(rng, n, seed)
    found = parametric(workload, epsilon)
    assert math.isfinite(found)
    assert found >= centred_svd(workload, epsilon)
    for evaluation in checks.of_baselines(workload, epsilon):
        scale = np.trace(workload.centred_gram()) / n
        assert found <= evaluation.average * (1 + 1e-9) + 1e-9 * scale


@pytest.mark.parametrize("n", [1, 2, 9])
def test_queries_that_do_not_tell_types_apart(n: int) -> None:
    for value in (0.0, 1.0, 0.1):
        workload = MatrixWorkload("constant", np.full((4, n), value))
        assert parametric(workload, 1.0) == centred_svd(workload, 1.0) <= 1e-12


def test_epsilon_is_checked() -> None:
    with pytest.raises(BadValue, match="epsilon"):
        parametric(create("prefix", 4), 0.0)
