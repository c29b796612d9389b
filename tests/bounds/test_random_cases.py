"""Ten thousand random workloads, budgets and strategies: no variance is below a bound, in extended precision.

Subset selection of any size k (randomized response is k = 1) has X_c = xP, x = σ_k/(n−1), and so the average variance

    tr C · (n−1−σ_k)/(nσ_k),  n−1−σ_k = [n²(n−1) + 2n(n−1)wk + w²kn(k−1)]/(n+wk)²,  w = e^ε − 1,

a quotient of sums of positive terms. The Gram matrices are whole, so that tr C is exact.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from factormech.arrays import FloatArray
from factormech.bounds.centred import CentredGram
from factormech.bounds.pair_search import PairWeights
from factormech.bounds.proved import proved_variance, uniform_weights
from factormech.bounds.registry import names, variance_bound
from factormech.bounds.scatter import single_variance
from factormech.mechanisms.local.strategy import StrategyMatrix
from factormech.workloads.matrix import MatrixWorkload
from tests import oracles

pytestmark = pytest.mark.heavy


def random_case(rng: np.random.Generator) -> tuple[MatrixWorkload, float]:
    """A workload of whole coefficients, of any rank, and a budget, log-uniform from .001 to 40."""
    n = int(rng.integers(2, 9))
    W = rng.integers(-3, 4, (int(rng.integers(1, n + 3)), n)) * rng.choice([1, 1, 7, 100], n)
    return MatrixWorkload("random", W.astype(float)), float(10 ** rng.uniform(-3, np.log10(40)))


def subset_selection(workload: MatrixWorkload, epsilon: float) -> np.longdouble:
    """The least average variance of subset selection over all sizes."""
    n, G = workload.domain_size, workload.gram()
    trace = Fraction(float(np.trace(G))) - Fraction(float(G.sum())) / n
    k, w = np.arange(1, n).astype(np.longdouble), np.expm1(np.longdouble(epsilon))
    sigma = w**2 * k * (n - k)
    rest = np.longdouble(n) ** 2 * (n - 1) + 2 * n * (n - 1) * w * k + w**2 * k * n * (k - 1)
    exact = np.longdouble(trace.numerator) / np.longdouble(trace.denominator)
    return np.longdouble(exact * np.min(rest / sigma) / n)


def random_weights(rng: np.random.Generator, gram: CentredGram) -> PairWeights:
    """Uniform ones, those of randomized response, or any."""
    n = len(gram.matrix)
    kind = int(rng.integers(3))
    if kind == 0:
        return uniform_weights(n)
    diagonal = np.diagonal(gram.matrix)
    d = np.maximum(diagonal[:, None] + diagonal - 2.0 * gram.matrix, 0.0)
    N = np.maximum(d / max(float(d.max()), 1e-300) - 1.0 / n, 0.0) if kind == 1 else rng.exponential(0.1, (n, n))
    N = np.triu(N, 1) / n
    p = np.full(n, 1.0 / n) if kind == 1 else rng.dirichlet(np.ones(n)) + 1e-6
    return PairWeights(p / p.sum(), N + N.T, float(10 ** rng.uniform(-4, 1)))


def strategy_of(rng: np.random.Generator, n: int, epsilon: float) -> FloatArray:
    """A random dense one up to ε = 6, and randomized response with a share of silence beyond."""
    if epsilon < 6.0:
        return oracles.random_strategy(rng, 3 * n, n, epsilon)
    low = np.exp(-epsilon) * (1.0 + 1e-13)
    single = np.where(np.eye(n, dtype=bool), 1.0, low)
    silent = float(rng.uniform(0.0, 0.5))
    return np.vstack([(1.0 - silent) * single / single.sum(axis=0), np.full((1, n), silent)])


def check(first: int, cases: int) -> None:
    for seed in range(first, first + cases):
        rng = np.random.default_rng(seed)
        workload, epsilon = random_case(rng)
        gram = CentredGram.of(workload)
        found = max(proved_variance(gram, epsilon, random_weights(rng, gram)), single_variance(gram, epsilon))
        assert 0.0 <= found < np.inf
        assert np.longdouble(found) <= subset_selection(workload, epsilon), (seed, epsilon)
        if seed % 4 == 0:
            Q = strategy_of(rng, workload.domain_size, epsilon)
            evaluation = StrategyMatrix(Q, epsilon).evaluate(workload.centred_gram())
            if evaluation.answered:
                assert found <= evaluation.average * (1.0 + 1e-9), (seed, epsilon)


def test_no_strategy_is_below_a_proof() -> None:
    check(0, 80)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(200, 10_200, 1000))
def test_no_strategy_is_below_a_proof_in_ten_thousand_cases(first: int) -> None:
    check(first, 1000)


@pytest.mark.parametrize(
    ("first", "last"),
    [(0, 3), pytest.param(3, 200, marks=pytest.mark.slow), pytest.param(200, 388, marks=pytest.mark.slow)],
)
def test_no_strategy_is_below_a_registered_bound(first: int, last: int) -> None:
    for seed in range(first, last):
        rng = np.random.default_rng(seed)
        workload, epsilon = random_case(rng)
        least = subset_selection(workload, epsilon)
        for name in names():
            assert np.longdouble(variance_bound(name, workload, epsilon)) <= least, (seed, name, epsilon)
