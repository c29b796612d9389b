"""Reconstructions that are best under a prior of the user types."""

from __future__ import annotations

import numpy as np
import pytest

from factormech.arrays import FloatArray
from factormech.errors import BadValue
from factormech.mechanisms.local.optimal.rows import strategy_of
from factormech.mechanisms.local.registry import build
from factormech.mechanisms.local.strategy import StrategyMatrix
from factormech.seeds import rng_for
from factormech.workloads.registry import create
from tests.local.test_optimal_rows import uniform


def matrix(n: int, epsilon: float) -> FloatArray:
    """A strategy without symmetry: subset selection's rows at random weights, then columns that sum to one."""
    rng = rng_for(0, "priors", str(n))
    Q = np.vstack([strategy_of(*uniform(n, k, epsilon), epsilon).matrix for k in (1, 2)])
    Q *= rng.uniform(0.2, 0.5, len(Q))[:, None]
    return np.vstack([Q, (1 - Q.sum(axis=0))])


def prior(n: int) -> FloatArray:
    x = rng_for(1, "priors", str(n)).uniform(0.05, 1.0, n)
    return np.asarray(x / x.sum())


@pytest.mark.parametrize("epsilon", [1e-3, 1.0, 5.0])
def test_unbiased_and_no_variance_under_the_prior_is_less(epsilon: float) -> None:
    n, x = 6, prior(6)
    Q, C = matrix(n, epsilon), create("prefix", n).centred_gram()
    best = StrategyMatrix(Q, 2 * epsilon, x)
    assert np.abs(best.defect).max() < 1e-10
    least = best.evaluate(C).on(x)
    rng = rng_for(2, "priors")
    null = np.eye(len(Q)) - Q @ np.linalg.pinv(Q)  # what may be added to the rows of B
    for _ in range(50):
        B = best.reconstruction + 1e-3 * np.abs(best.reconstruction).max() * rng.standard_normal((n, len(Q))) @ null
        other = ((Q @ x) * np.einsum("uo,uv,vo->o", B, C, B)).sum() - x @ np.diag(C)
        assert other >= least * (1 - 1e-9)
    assert least < StrategyMatrix(Q, 2 * epsilon).evaluate(C).on(x)


def test_the_uniform_prior_is_the_default() -> None:
    Q, C = matrix(6, 1.0), create("all-ranges", 6).centred_gram()
    default, told = StrategyMatrix(Q, 2.0), StrategyMatrix(Q, 2.0, np.full(6, 1 / 6))
    assert np.allclose(default.evaluate(C).variance, told.evaluate(C).variance, rtol=1e-14)


def test_variances_are_those_of_the_definition() -> None:
    n, x = 5, prior(5)
    Q, W = matrix(n, 1.0), create("prefix", n).matrix()
    strategy = StrategyMatrix(Q, 2.0, x)
    V = W @ strategy.reconstruction  # Σ_o Q_ou‖Ve_o‖² − ‖Σ_o Q_ouVe_o‖²
    mean = V @ Q
    direct = np.einsum("po,po,ou->u", V, V, Q) - np.einsum("pu,pu->u", mean, mean)
    assert np.allclose(strategy.evaluate(create("prefix", n).centred_gram()).variance, direct, rtol=1e-12)


def test_a_strategy_that_misses_part_of_the_domain() -> None:
    # Parities of one attribute out of two: the marginal on it is answered, under any prior.
    half = build("hadamard-table1", 2, 1.0)
    assert isinstance(half, StrategyMatrix)
    Q = np.repeat(half.matrix, 2, axis=1)
    C = np.kron([[1.0, -1.0], [-1.0, 1.0]], np.ones((2, 2)))
    for x in (None, prior(4)):
        strategy = StrategyMatrix(Q, 1.0, x)
        assert strategy.evaluate(C).answered
        assert not strategy.evaluate(create("histogram", 4).centred_gram()).answered


def test_a_prior_must_be_one() -> None:
    Q = matrix(4, 1.0)
    for wrong in (np.ones(4), np.array([0.5, 0.5, 0, 0]), np.full(3, 1 / 3), np.full(4, np.nan)):
        with pytest.raises(BadValue, match="be a distribution over the user types without zeros"):
            StrategyMatrix(Q, 2.0, wrong)
