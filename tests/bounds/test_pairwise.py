"""The bound with weights of pairs: its theorem by enumeration, its optimum, and what it may never be above or below."""

from __future__ import annotations

import math

import numpy as np
import pytest

from factormech.arrays import FloatArray
from factormech.bounds import parametric
from factormech.bounds.certificates import largest_violation
from factormech.bounds.pair_search import Coordinates, Halves, PairWeights, negative_log
from factormech.bounds.pairwise import evaluate, pairwise, repaired, solve
from factormech.bounds.spectral import centred_svd
from factormech.bounds.staircase import SizeLimit, information_of_size
from factormech.mechanisms.local.strategy import StrategyMatrix
from factormech.workloads.base import Workload
from factormech.workloads.matrix import MatrixWorkload
from factormech.workloads.registry import create
from tests import oracles
from tests.bounds import checks, optimum
from tests.bounds.checks import EPSILONS, centred_root, centring, random_matrix
from tests.tiers import every

pytestmark = pytest.mark.heavy


def random_weights(rng: np.random.Generator, n: int) -> PairWeights:
    """Of any size and sparsity."""
    p = np.exp(rng.choice([0.05, 0.5, 1.5]) * rng.normal(size=n))
    N = rng.exponential(size=(n, n)) * (rng.uniform(size=(n, n)) < rng.uniform()) * rng.choice([0.01, 0.1, 1.0])
    N = np.triu(N, 1)
    return PairWeights(p / p.sum(), (N + N.T) / n, float(rng.uniform() ** 4 * rng.choice([1.0, 10.0])))


def random_workload(rng: np.random.Generator, n: int) -> Workload:
    """Of any rank, with columns of unlike size, real or 0/1."""
    W = random_matrix(rng, n)
    return MatrixWorkload("random", W if rng.uniform() < 0.6 else (W > 0) * 1.0)


# The theorem -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("n", [2, 3, 5, 8, 11])
def test_the_limit_holds_for_every_extreme_row(n: int, epsilon: float) -> None:
    """Some λ with 1ᵀλ = B/n has vᵀYv ≤ (λᵀv)(1ᵀv) for all v: no ε-LDP strategy has tr(X_cY) above B/n.

    The proof's: with m = Eτ at the best law, ψ(τ) − 2ωmτ is at most B − ωm², and 2(τ−m)gᵀy at most as it says.
    """
    rng = np.random.default_rng(n)
    limit = SizeLimit.of(n, epsilon)
    P = centring(n)
    for _ in range(12):
        weights = random_weights(rng, n)
        p, N, omega = weights.types, weights.pairs, weights.omega
        r = N.sum(axis=1)
        g = p - limit.kappa * r
        Y = P @ (np.diag(p) - N - np.outer(g, g) / omega) @ P
        B, mean = limit.at(float(r.sum()), omega).value, best_mean(limit, float(r.sum()), omega)
        # yᵀYy ≤ φ(τ) + 2τgᵀy − 2pᵀy + 2rᵀy − (gᵀy)²/ω ≤ B + (2·mean·g − 2p + 2r)ᵀy, and y = nv/(1ᵀv) − 1.
        linear = 2.0 * (mean * g - p + r)
        multiplier = (B / n + linear - linear.mean()) / n
        size = 1.0 + float(np.abs(Y).max())
        # the rows that name nobody or everybody are not needed, and Y sees nothing of them
        assert largest_violation(Y, multiplier, epsilon) <= 1e-12 * size or constant_row_is_worst(Y, multiplier)


def best_mean(limit: SizeLimit, nu: float, omega: float) -> float:
    """Eτ at the law that attains B, by brute force over pairs of values."""
    t = limit.tau
    psi = 2 * t - 1 - limit.flatness * t**2 + nu * (1 - limit.kappa * t) ** 2 + omega * t**2
    best = (-math.inf, 0.0)
    for i in range(len(t)):
        for j in range(i, len(t)):
            step = t[j] - t[i]
            q = 0.0 if i == j else min(max((psi[j] - psi[i] - 2 * omega * t[i] * step) / (2 * omega * step**2), 0), 1)
            mean = t[i] + q * step
            best = max(best, ((1 - q) * psi[i] + q * psi[j] - omega * mean**2, mean))
    return float(best[1])


def constant_row_is_worst(Y: FloatArray, multiplier: FloatArray) -> bool:
    """Whether only v ∝ 1 violates: then λ is right for every row that a strategy needs."""
    return bool(multiplier.sum() < 0.0)


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("n", [2, 3, 6, 30])
def test_the_limit_is_the_best_law_of_sizes(n: int, epsilon: float) -> None:
    rng = np.random.default_rng(0)
    limit = SizeLimit.of(n, epsilon)
    sigma = np.array([information_of_size(n, epsilon, j) for j in range(1, n)])
    for _ in range(10):
        nu, omega = float(rng.exponential() * rng.choice([0.0, 1.0, 30.0])), float(rng.exponential() ** 3)
        phi = sigma + nu * (1 - limit.kappa * limit.tau) ** 2
        q = np.linspace(0.0, 1.0, 201)[:, None, None]
        pairs = (1 - q) * phi[:, None] + q * phi + omega * q * (1 - q) * (limit.tau[:, None] - limit.tau) ** 2
        B = limit.at(nu, omega)
        assert pairs.max() <= B.value * (1 + 1e-12) + 1e-12
        assert pairs.max() >= B.value * (1 - 1e-3)
        h = 1e-6
        assert B.by_nu == pytest.approx((limit.at(nu + h, omega).value - B.value) / h, rel=1e-3, abs=1e-5)
        up, down = limit.at(nu, omega * (1 + h)).value, limit.at(nu, omega * (1 - h)).value
        assert down * (1 - 1e-12) <= B.value <= up * (1 + 1e-12)
        assert (B.value - down) / (omega * h) - 1e-4 <= B.by_omega * (1 + 1e-3) + 1e-4
        assert B.by_omega * (1 - 1e-3) <= (up - B.value) / (omega * h) + 1e-3 * n


@pytest.mark.parametrize("seed", [*range(16), *(pytest.param(s, marks=pytest.mark.slow) for s in range(16, 40))])
def test_any_weights_give_a_bound(seed: int) -> None:
    """Also those with Y ⪰ 0 violated, which are repaired."""
    rng = np.random.default_rng(seed)
    n, epsilon = int(rng.integers(2, 6)), float(rng.choice([0.3, 1.0, 2.0, 4.0, 7.0]))
    workload = random_workload(rng, n)
    best = optimum.solve(centred_root(workload.matrix()), epsilon).objective
    C, limit = workload.centred_gram(), SizeLimit.of(n, epsilon)
    for _ in range(20):
        assert evaluate(C, random_weights(rng, n), limit).objective <= best * (1 + 1e-5) + 1e-9


@pytest.mark.parametrize("seed", range(20))
def test_the_repair_makes_y_nonnegative(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 12))
    limit = SizeLimit.of(n, 2.0)
    p, N, omega, g = repaired(random_weights(rng, n), limit)
    assert p.sum() == pytest.approx(1.0, rel=1e-12)
    np.testing.assert_allclose(g, p - limit.kappa * N.sum(axis=1))
    P = centring(n)
    Y = P @ (np.diag(p) - N) @ P - np.outer(g - g.mean(), g - g.mean()) / omega
    assert np.linalg.eigvalsh(Y)[0] >= -1e-12 * np.abs(Y).max()


# The search ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("barrier", [0.0, 0.1])
@pytest.mark.parametrize("epsilon", [0.2, 1.0, 4.0])
@pytest.mark.parametrize("name", ["prefix", "random"])
def test_the_gradient(name: str, epsilon: float, barrier: float) -> None:
    rng = np.random.default_rng(1)
    n = 7
    C = create("prefix", n).centred_gram() if name == "prefix" else random_workload(rng, n).centred_gram()
    C = C / np.trace(C)
    halves, limit, coordinates = Halves.of(C), SizeLimit.of(n, epsilon), Coordinates(n, 0.5)
    assert halves.reflected == (name == "prefix")

    def symmetric(point: FloatArray) -> FloatArray:
        """Invariant under the reflection, as all points of the search are."""
        if not halves.reflected:
            return point
        N = np.zeros((n, n))
        N[np.triu_indices(n, 1)] = point[n + 1 :]
        N = N + N.T
        N = 0.5 * (N + N[::-1, ::-1])
        z = 0.5 * (point[:n] + point[:n][::-1])
        return np.concatenate([z, point[n : n + 1], N[np.triu_indices(n, 1)]])

    x = symmetric(np.concatenate([0.2 * rng.normal(size=n), [0.4], rng.uniform(0.0, 0.03, coordinates.size - n - 1)]))
    value, gradient = negative_log(halves, limit, coordinates, x, barrier)
    assert math.isfinite(value)
    for _ in range(8):
        d = symmetric(rng.normal(size=len(x)) * (rng.uniform(size=len(x)) < 0.5))
        h = 1e-5
        up, down = (negative_log(halves, limit, coordinates, x + s * d, barrier)[0] for s in (h, -h))
        assert gradient @ d == pytest.approx((up - down) / (2 * h), rel=1e-5, abs=1e-7)


@pytest.mark.parametrize("n", [2, 5, 8])
def test_the_reflection_separates_even_and_odd_vectors(n: int) -> None:
    rng = np.random.default_rng(n)
    C = create("prefix", n).centred_gram()
    p, N = rng.uniform(1.0, 1.2, n), rng.uniform(0.0, 0.05, (n, n))
    p, N = p + p[::-1], N + N.T
    N = N + N[::-1, ::-1]
    np.fill_diagonal(N, 0.0)
    g = p - 0.3 * N.sum(axis=1)
    found = Halves.of(C).root_trace(p, N, g, 3.0)
    assert found is not None
    P = centring(n)
    Y = P @ (np.diag(p) - N - np.outer(g, g) / 3.0) @ P
    values, vectors = np.linalg.eigh(C)
    R = vectors[:, 1:] * np.sqrt(values[1:])
    kappa, U = np.linalg.eigh(R.T @ Y @ R)
    assert found.trace == pytest.approx(np.sum(np.sqrt(kappa)), rel=1e-10)
    assert found.mean_logarithm == pytest.approx(np.mean(np.log(kappa)), rel=1e-9)
    np.testing.assert_allclose(
        found.gradient(2.0, 0.7),
        R @ U @ np.diag(2.0 * kappa**-0.5 + 0.7 / kappa) @ U.T @ R.T,
        atol=1e-8 * np.abs(C).max(),
    )


@pytest.mark.parametrize("seed", range(8))
def test_the_search_finds_the_best_weights(seed: int) -> None:
    """The problem is concave: nothing near the point found, or anywhere, is better."""
    rng = np.random.default_rng(seed)
    n, epsilon = int(rng.integers(3, 10)), [1.0, 2.0, 3.0, 5.0][seed % 4]
    C = random_workload(rng, n).centred_gram()
    limit, found = SizeLimit.of(n, epsilon), solve(C, epsilon)
    for size in (1e-3, 1e-2, 0.1, 1.0):
        for _ in range(20):
            N = np.triu(found.pairs * np.exp(size * rng.normal(size=(n, n))), 1)
            N += np.triu(rng.exponential(size=(n, n)) * (rng.uniform(size=(n, n)) < 0.2), 1) * size * 0.1 / n**2
            types = found.weights * np.exp(0.3 * size * rng.normal(size=n))
            other = PairWeights(types, N + N.T, found.omega * math.exp(size * rng.normal()))
            assert evaluate(C, other, limit).objective <= found.objective * (1 + 1e-3)


# The bound -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", every(2, [0.5, 1.5, 2.0, 3.0, 6.0]))
@pytest.mark.parametrize("name", ["prefix", "all-ranges", "histogram", "random"])
def test_near_the_exact_optimum(name: str, epsilon: float) -> None:
    n = 7
    workload = random_workload(np.random.default_rng(4), n) if name == "random" else create(name, n)
    best = optimum.solve(centred_root(workload.matrix()), epsilon).objective
    found = solve(workload.centred_gram(), epsilon).objective
    assert found <= best * (1 + 1e-5)
    assert found >= best * (0.97 if name == "random" else 0.99 if epsilon < 2.0 else 0.999)
    if name == "histogram":
        assert found == pytest.approx(best, rel=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("n", [2, 8, pytest.param(3, marks=pytest.mark.slow), pytest.param(40, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", ["prefix", "all-ranges"])
def test_randomized_response_is_optimal_at_large_budgets(name: str, n: int) -> None:
    """Reports name one type each, and X_c = σ_1/(n−1)·P."""
    C, epsilon = create(name, n).centred_gram(), 12.0
    objective = np.trace(C) * (n - 1) / information_of_size(n, epsilon, 1)
    assert solve(C, epsilon).objective == pytest.approx(objective, rel=1e-4)
    assert solve(C, epsilon).objective <= objective * (1 + 1e-9)
    assert solve(C, 200.0).objective == pytest.approx(np.trace(C), rel=1e-3)


@pytest.mark.parametrize(
    "seed", [*range(8), 35, 42, *(pytest.param(s, marks=pytest.mark.slow) for s in range(8, 50) if s not in (35, 42))]
)
def test_no_random_strategy_beats_it(seed: int) -> None:
    """Mixtures of rows between the bounds, and adversarial ones: few staircase rows of the sizes that matter."""
    rng = np.random.default_rng(seed)
    n, epsilon = int(rng.integers(2, 9)), float(rng.choice([0.3, 1.0, 2.0, 3.0, 6.0]))
    workload = random_workload(rng, n)
    found = pairwise(workload, epsilon)
    assert found >= centred_svd(workload, epsilon)
    for _ in range(5):
        Q = oracles.random_strategy(rng, 3 * n, n, epsilon)
        evaluation = StrategyMatrix(Q, epsilon).evaluate(workload.centred_gram())
        assert not evaluation.answered or evaluation.average >= found * (1 - 1e-9)
        X = staircase_matrix(rng, n, epsilon)
        C = workload.centred_gram()
        objective = float(np.sum(np.linalg.pinv(X, rcond=1e-12) * C))
        assert (objective - np.trace(C)) / n >= found * (1 - 1e-8) or np.linalg.matrix_rank(X, 1e-10) < n - 1


def staircase_matrix(rng: np.random.Generator, n: int, epsilon: float) -> FloatArray:
    """X_c of the cyclic shifts of a few random sets: their columns sum to one by symmetry."""
    X = np.zeros((n, n))
    shares = rng.dirichlet(np.ones(3))
    for share in shares:
        size = min(max(int(n / (math.exp(epsilon) + 1) + rng.integers(0, 3)), 1), n - 1)
        v = np.ones(n)
        v[rng.choice(n, size=size, replace=False)] = math.exp(epsilon)
        x = n * v / v.sum() - 1.0
        for shift in range(n):
            X += share / n**2 * np.outer(np.roll(x, shift), np.roll(x, shift))
    return X


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 4.0])
@pytest.mark.parametrize("n", [8, pytest.param(16, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", ["prefix", "all-ranges", "all-marginals", "histogram"])
def test_no_mechanism_beats_it(name: str, n: int, epsilon: float) -> None:
    workload = create(name, n)
    found = pairwise(workload, epsilon)
    assert min(e.average for e in checks.of_mechanisms(workload, epsilon)) >= found * (1 - 1e-9)


@pytest.mark.parametrize("epsilon", every(3, [*EPSILONS, 40.0, 400.0]))
@pytest.mark.parametrize("n", [1, 3, 12, pytest.param(30, marks=pytest.mark.slow)])
def test_never_below_the_weighted_bound(n: int, epsilon: float) -> None:
    for name in ("prefix", "all-ranges", "histogram", "total"):
        workload = create(name, n)
        found = pairwise(workload, epsilon)
        assert math.isfinite(found)
        assert found >= parametric.parametric(workload, epsilon)


@pytest.mark.parametrize("seed", [*range(5), *(pytest.param(s, marks=pytest.mark.slow) for s in range(5, 30))])
def test_hard_workloads(seed: int) -> None:
    """Few queries, 0/1 queries, repeated columns, columns of any scale, extreme ε, and reflected queries."""
    rng = np.random.default_rng(seed)
    n, epsilon = int(rng.integers(2, 24)), float(rng.choice([1e-6, 1e-3, 2.0, 3.0, 6.0, 12.0, 30.0, 100.0]))
    workload = checks.hard_workload(rng, n, seed)
    found = pairwise(workload, epsilon)
    assert math.isfinite(found)
    assert found >= parametric.parametric(workload, epsilon)
    for evaluation in checks.of_baselines(workload, epsilon):
        scale = np.trace(workload.centred_gram()) / n
        assert found <= evaluation.average * (1 + 1e-9) + 1e-9 * scale


@pytest.mark.parametrize("epsilon", every(3, [1.0, 2.0, 4.0, 9.0]))
@pytest.mark.parametrize("name", ["prefix", "all-ranges", "all-marginals", "low-rank"])
def test_the_target_attains_the_bound(name: str, epsilon: float) -> None:
    n = 16
    W = np.random.default_rng(0).normal(size=(3, n))
    C = (MatrixWorkload("w", W) if name == "low-rank" else create(name, n)).centred_gram()
    found = solve(C, epsilon)
    X = found.target(C)
    P = centring(n)
    Y = P @ (np.diag(found.weights) - found.pairs - np.outer(found.gap_vector, found.gap_vector) / found.omega) @ P
    np.testing.assert_allclose(X.sum(axis=0), 0.0, atol=1e-12 * np.abs(X).max())
    assert np.sum(X * Y) == pytest.approx(found.information / n, rel=1e-7)
    assert np.sum(np.linalg.pinv(X, rcond=1e-11) * C) == pytest.approx(found.objective, rel=1e-7)


def test_falls_with_the_budget_and_scales_with_the_workload() -> None:
    C = create("prefix", 12).centred_gram()
    found = [solve(C, epsilon).objective for epsilon in (0.5, 1.0, 2.0, 3.0, 5.0, 8.0)]
    assert np.all(np.diff(found) < 1e-4 * np.array(found[1:]))
    assert solve(7.0 * C, 2.0).objective == pytest.approx(7.0 * found[2], rel=1e-4)
