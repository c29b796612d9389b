"""The rigorous bound with weights of pairs: just below that of floats, below every strategy, its parts exact."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from factormech.arrays import FloatArray
from factormech.bounds import pairwise, rigorous
from factormech.bounds.certificates import RATIO_BITS, exponential_bound, rounded_up
from factormech.bounds.staircase import SizeLimit
from factormech.errors import BadValue
from factormech.mechanisms.local.strategy import StrategyMatrix
from factormech.workloads.registry import create
from tests import oracles
from tests.tiers import every

pytestmark = pytest.mark.heavy


def centred(W: FloatArray) -> FloatArray:
    """C, symmetric to the last bit."""
    C = oracles.centred_gram(W)
    return np.asarray(0.5 * (C + C.T))


def from_weights(C: FloatArray, epsilon: float, found: pairwise.PairwiseBound, **named: float) -> float:
    return rigorous.rigorous_pair_objective(C, epsilon, found.weights, found.pairs, found.omega, **named)


@pytest.mark.parametrize("epsilon", every(3, [0.5, 2.0, 4.0, 9.0]))
@pytest.mark.parametrize("name", ["prefix", "all_ranges"])
@pytest.mark.parametrize("n", [2, 3, 17, pytest.param(40, marks=pytest.mark.slow)])
def test_it_is_just_below_the_bound_of_floats(name: str, epsilon: float, n: int) -> None:
    C = centred(getattr(oracles, name)(n))
    found = pairwise.solve(C, epsilon)
    proved = from_weights(C, epsilon, found)
    assert found.objective * (1 - 1e-8) < proved <= found.objective * (1 + 1e-13)
    doubtful = from_weights(C, epsilon, found, entry_error=1e-9)
    assert 0.0 < doubtful < proved


@pytest.mark.parametrize("seed", range(12))
def test_any_weights_give_a_bound_that_strategies_keep(seed: int) -> None:
    """Also weights for which Y has negative eigenvalues."""
    rng = np.random.default_rng(seed)
    n, epsilon = int(rng.integers(2, 6)), float(rng.choice([0.5, 2.0, 5.0]))
    W = rng.normal(size=(n, n))
    C = centred(W)
    p, N = rng.dirichlet(np.ones(n)), np.triu(rng.exponential(0.3, (n, n)), 1) / n**2
    proved = rigorous.rigorous_pair_objective(C, epsilon, p, N + N.T, float(rng.uniform(0.01, 1.0)))
    Q = oracles.random_strategy(rng, 3 * n, n, epsilon)
    value = StrategyMatrix(Q, epsilon).objective(C, 0.0)
    best = pairwise.solve(C, epsilon).objective
    assert 0.0 <= proved <= value
    assert proved <= 2.0 * best  # what pairs can prove at all is near the best that is found


@pytest.mark.parametrize(("n", "epsilon"), [(2, 1.0), (3, 4.0), (9, 0.3), (30, 6.0)])
def test_the_information_is_that_of_floats(n: int, epsilon: float) -> None:
    ratio, limit = rounded_up(exponential_bound(Fraction(epsilon)), RATIO_BITS), SizeLimit.of(n, epsilon)
    for omega, nu in ((1e-3, 0.0), (0.5, 0.3), (2.0, 5.0), (0.05, 40.0)):
        exact = rigorous.pair_information_limit(n, ratio, Fraction(omega), Fraction(nu))
        assert float(exact) == pytest.approx(limit.at(nu, omega).value, rel=1e-9)


def test_the_excess_is_what_the_cholesky_factorization_says() -> None:
    """A T that is too large is paid for: the bound is no larger than with the right one."""
    C = centred(oracles.prefix(6))
    found = pairwise.solve(C, 3.0)
    p, N, g, omega = found.weights, found.pairs, found.gap_vector, found.omega
    T = rigorous.pair_dual_guess(C, np.diag(p) - N - np.outer(g, g) / omega)
    etas = []
    for factor in (1.0, 1.1):
        F, terms, wrong = rigorous.difference(factor * T, C, p, N, g, omega)
        etas.append(rigorous.excess_of(F, factor * T, C, terms, 0.0) + wrong)
        values = np.linalg.eigvalsh((np.eye(6) - 1 / 6) @ F.astype(float) @ (np.eye(6) - 1 / 6))
        assert etas[-1] >= -values[0] - 1e-15
    assert etas[0] < 1e-10 < 1e-3 < etas[1]


@pytest.mark.parametrize(
    ("name", "n", "epsilon"),
    [("3-way-marginals", 32, 4.0), ("at-most-3-way-parities", 32, 4.0), ("all-marginals", 64, 8.0)],
)
def test_little_is_lost_where_omega_is_tiny(name: str, n: int, epsilon: float) -> None:
    """Where all g_u are equal P sees nothing of g, nor of what its rounding is divided by."""
    C = create(name, n).centred_gram()
    found = pairwise.solve(C, epsilon)
    assert found.pairs.any()
    assert found.omega < 1e-8
    proved = rigorous.rigorous_pair_objective(C, epsilon, found.weights, found.pairs, found.omega)
    assert found.objective * (1.0 - 1e-10) <= proved <= found.objective * (1.0 + 1e-13)


def test_what_is_no_weights_is_refused() -> None:
    C, p, N = centred(oracles.prefix(3)), np.full(3, 1 / 3), np.zeros((3, 3))
    for pairs in (N + np.eye(3), N - 1.0, np.triu(N + 1.0, 1), np.full((3, 3), math.nan), np.zeros((2, 2))):
        with pytest.raises(BadValue, match="pairs"):
            rigorous.rigorous_pair_objective(C, 1.0, p, pairs, 0.5)
    with pytest.raises(BadValue, match="weights"):
        rigorous.rigorous_pair_objective(C, 1.0, 9.0 * p, N, 0.5)
    with pytest.raises(BadValue, match="omega"):
        rigorous.rigorous_pair_objective(C, 1.0, p, N, 0.0)
    with pytest.raises(BadValue, match="centred_gram"):
        rigorous.rigorous_pair_objective(C + np.triu(N + 1.0), 1.0, p, N, 0.5)
