"""The bound on the variance itself: its theorems on explicit strategies, its optimum, and what rounding may not do."""

from __future__ import annotations

import numpy as np
import pytest

from factormech.arrays import FloatArray
from factormech.bounds import pairwise, scatter
from factormech.bounds.centred import CentredGram
from factormech.bounds.pair_search import PairWeights
from factormech.bounds.proved import proved_variance
from factormech.mechanisms.local.strategy import StrategyMatrix
from factormech.workloads.matrix import MatrixWorkload
from factormech.workloads.registry import create
from tests import oracles
from tests.bounds import checks, optimum

pytestmark = pytest.mark.heavy


def scatter_of(Q: FloatArray, z: FloatArray) -> float:
    """Σ_{u<v}X_uv‖z_u−z_v‖², X = QᵀDiag(Q1)⁻¹Q."""
    X = Q.T @ (Q / Q.sum(axis=1)[:, None])
    d = np.sum((z[:, None] - z) ** 2, axis=2)
    return float(0.5 * np.sum(X * d))


@pytest.mark.parametrize("seed", range(10))
def test_any_vectors_bound_the_variance_of_any_reconstruction(seed: int) -> None:
    """Theorem 1, also for reconstructions that are not the best."""
    rng = np.random.default_rng(seed)
    n, epsilon = int(rng.integers(2, 6)), float(rng.choice([0.5, 2.0, 6.0]))
    W, Q = rng.normal(size=(3, n)), oracles.random_strategy(rng, 9, n, epsilon)
    V = W @ np.linalg.pinv(Q)
    V = V + rng.normal(size=V.shape) @ (np.eye(len(Q)) - Q @ np.linalg.pinv(Q))
    np.testing.assert_allclose(V @ Q, W, atol=1e-9)
    variance = np.array([np.sum(Q[:, u] * np.sum((V - W[:, [u]]) ** 2, axis=0)) for u in range(n)])
    for size in (0.0, 0.1, 1.0):
        z = W.T + size * rng.normal(size=(n, 3))
        assert variance.mean() >= (scatter_of(Q, z) - np.sum((z - W.T) ** 2)) / n - 1e-12


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 3.0, 8.0, 20.0, 40.0])
@pytest.mark.parametrize("n", [2, 3, 6, 11])
def test_the_scatter_of_every_strategy_is_above_the_limit(n: int, epsilon: float) -> None:
    """Theorem 2 for any p, N, ω that satisfy its condition."""
    rng = np.random.default_rng(n)
    w = np.expm1(epsilon)
    for _ in range(20):
        z = rng.normal(size=(n, int(rng.integers(1, n + 1))))
        d = np.sum((z[:, None] - z) ** 2, axis=2)
        p, N = scatter._nearest_weights(d)
        share = rng.uniform(0.0, 1.0, (n, n))
        weights = PairWeights(p * rng.uniform(0.2, 1.0, n), N * np.triu(share, 1) + (N * np.triu(share, 1)).T, 1.0)
        weights = PairWeights(weights.types, weights.pairs, float(10 ** rng.uniform(-3, 2) * p.mean()))
        low = scatter._gain(d, weights, w)
        for kind in range(3):
            Q = strategies(rng, n, epsilon)[kind]
            assert scatter_of(Q, z) >= low * (1.0 - 1e-9)


def strategies(rng: np.random.Generator, n: int, epsilon: float) -> list[FloatArray]:
    """Randomized response, subset selection of a random size, and a mixture of both with constant rows."""
    a = np.exp(epsilon)
    single = np.where(np.eye(n, dtype=bool), a, 1.0)
    shift = int(rng.integers(1, n)) if n > 2 else 1
    sets = np.array([[(u - o) % n < shift for u in range(n)] for o in range(n)])
    other = np.where(sets, a, 1.0)
    single, other = single / single.sum(axis=0), other / other.sum(axis=0)
    mixed = np.vstack([0.3 * single, 0.5 * other, np.full((1, n), 0.2)])
    return [single, other, mixed]


@pytest.mark.parametrize("epsilon", [3.0, 5.0, 8.0])
@pytest.mark.parametrize("name", ["prefix", "all-ranges", "at-most-3-way-parities"])
def test_it_is_the_bound_by_traces_where_nothing_cancels(name: str, epsilon: float) -> None:
    workload = create(name, 16)
    C = workload.centred_gram()
    found = pairwise.solve(C, epsilon)
    by_traces = (found.objective - np.trace(C)) / 16
    omega = 1e-12 if np.ptp(found.weights) == 0.0 and not found.pairs.any() else found.omega  # then any will do
    weights = PairWeights(found.weights, found.pairs, omega)
    assert scatter.scatter_variance(CentredGram.of(workload), epsilon, weights) == pytest.approx(by_traces, rel=2e-8)


@pytest.mark.parametrize("seed", range(30))
def test_any_weights_prove_what_the_best_strategy_keeps(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, epsilon = int(rng.integers(2, 6)), float(rng.choice([0.5, 2.0, 4.0]))
    W = checks.random_matrix(rng, n)
    root = checks.centred_root(W)
    best = (optimum.solve(root, epsilon).objective - np.sum(root**2)) / n
    N = np.triu(rng.exponential(0.2, (n, n)), 1) / n
    weights = PairWeights(rng.dirichlet(np.ones(n)), N + N.T, float(10 ** rng.uniform(-3, 1)))
    gram = CentredGram.of(MatrixWorkload("w", W))
    assert 0.0 <= scatter.single_variance(gram, epsilon) <= best + 1e-6 * np.sum(root**2)
    assert 0.0 <= proved_variance(gram, epsilon, weights) <= best + 1e-6 * np.sum(root**2)
    assert 0.0 <= scatter.scatter_variance(gram, epsilon, weights) <= best + 1e-6 * np.sum(root**2)


def test_rows_of_any_reconstruction_and_equal_columns_are_vacuous_not_wrong() -> None:
    W = np.array([[1.0, 1.0, 0.0], [2.0, 2.0, 1.0]])
    gram = CentredGram.of(MatrixWorkload("twins", W))
    Q = oracles.random_strategy(np.random.default_rng(0), 8, 3, 3.0)
    value = StrategyMatrix(Q, 3.0).evaluate(MatrixWorkload("twins", W).centred_gram()).average
    assert 0.0 <= scatter.single_variance(gram, 3.0) <= value
    constant = CentredGram.of(MatrixWorkload("constant", np.ones((2, 3))))
    assert proved_variance(constant, 3.0, PairWeights(np.full(3, 1 / 3), np.zeros((3, 3)), 1.0)) == 0.0


@pytest.mark.parametrize("seed", range(20))
def test_the_least_of_all_laws_is_not_missed(seed: int) -> None:
    """β against brute force over pairs of sizes and their shares."""
    rng = np.random.default_rng(seed)
    n, epsilon = int(rng.integers(2, 12)), float(rng.uniform(0.01, 12.0))
    mass, pairs, omega = (float(10 ** rng.uniform(-2, 2)) for _ in range(3))
    w, j = np.expm1(epsilon), np.arange(1, n)
    low = n / (n + j * w)
    tau = 0.5 * (2 + w) * low
    f = mass * (n - 2 * tau + (1 + w) * low**2) + pairs * low * (2 - low)
    q = np.linspace(0.0, 1.0, 401)[:, None, None]
    laws = (1 - q) * f[:, None] + q * f - omega * q * (1 - q) * (tau[:, None] - tau) ** 2
    found = scatter._scatter_below(n, w, mass, pairs, omega, 0.0) * n
    least = max(float(laws.min()), 0.0)
    assert found <= least * (1 + 1e-9) + 1e-12
    assert found >= least - 2e-3 * (abs(least) + omega * np.ptp(tau) ** 2)


def test_gram_matrices_are_centred_without_rounding() -> None:
    """PAP = PGP exactly: for whole G the entries of A − G are f_u + f_v in floats."""
    from fractions import Fraction

    workload = create("prefix", 24)
    gram, G = CentredGram.of(workload), workload.gram()
    assert gram.entry_error == 0.0
    A, B = ([[Fraction(x) for x in row] for row in M.tolist()] for M in (gram.matrix, G))
    off = [[A[u][v] - B[u][v] for v in range(24)] for u in range(24)]
    f = [off[u][u] / 2 for u in range(24)]
    assert all(off[u][v] == f[u] + f[v] for u in range(24) for v in range(24))
    exact = sum(Fraction(float(G[u, u])) for u in range(24)) - sum(Fraction(float(g)) for g in G.ravel()) / 24
    assert 0 <= Fraction(gram.trace_above) - exact <= exact / 10**12
    assert CentredGram.of(MatrixWorkload("real", np.random.default_rng(0).normal(size=(4, 3)))).entry_error > 0.0
