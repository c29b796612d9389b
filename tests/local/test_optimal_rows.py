"""Strategy matrices from staircase rows."""

from __future__ import annotations

import math

import numpy as np
import pytest

from factormech.arrays import FloatArray
from factormech.errors import BadValue
from factormech.mechanisms.local.optimal.problem import BoolArray, Optimised, Problem
from factormech.mechanisms.local.optimal.rows import strategy_of
from factormech.privacy.guarantee import column_sum_bounds
from factormech.seeds import rng_for


def subsets_of_size(n: int, k: int) -> BoolArray:
    """All subsets of size k."""
    every = (np.arange(2**n)[:, None] >> np.arange(n) & 1).astype(bool)
    return np.asarray(every[every.sum(axis=1) == k])


def uniform(n: int, k: int, epsilon: float) -> tuple[BoolArray, FloatArray]:
    """Subset selection by its supports and weights."""
    S = subsets_of_size(n, k)
    column = float(np.sum(1 + math.expm1(epsilon) * S[:, 0]))
    return S, np.full(len(S), 1 / column)


@pytest.mark.parametrize("epsilon", [1e-3, 0.1, 1.0, 8.0, 40.0])
@pytest.mark.parametrize("off", [0.0, 1e-12])
def test_private_with_columns_that_sum_to_one(epsilon: float, off: float) -> None:
    S, theta = uniform(7, 2, epsilon)
    theta = theta * (1 + off * rng_for(0, "rows").standard_normal(len(theta)))
    strategy = strategy_of(S, theta, epsilon)
    assert strategy.privacy_loss <= epsilon  # verified from the entries as it was made
    low, high = column_sum_bounds(strategy.matrix)
    assert max(abs(low - 1).max(), abs(high - 1).max()) < 1e-14
    expected = np.where(S, math.exp(epsilon), 1.0) * theta[:, None]
    repair = 1e-9 if epsilon < 0.01 else 1e-10
    assert np.allclose(strategy.matrix[: len(S)], expected, rtol=repair + 1e-11)
    # At ε = 0.001 all columns are off alike, which one factor repairs.
    assert strategy.outputs == len(S) + (off > 0 and epsilon > 1e-2)


def test_columns_far_off_are_refused() -> None:
    S, theta = uniform(5, 2, 1.0)
    theta[0] *= 1.01
    with pytest.raises(BadValue, match="column sums of the rows"):
        strategy_of(S, theta, 1.0)


def test_weights_must_be_probabilities() -> None:
    S, theta = uniform(5, 2, 1.0)
    for wrong in (-theta, 0 * theta, theta[:-1], theta * np.nan):
        with pytest.raises(BadValue, match="weights"):
            strategy_of(S, wrong, 1.0)


class TestProblem:
    def test_refuses_what_is_no_centred_gram_matrix(self) -> None:
        P = np.eye(4) - 0.25
        for wrong, said in [
            (-P, "least eigenvalue"),
            (P + np.triu(np.ones((4, 4))), "symmetric"),
            (P + 1, "centred"),
            (P[:3], "shape"),
            (P * np.nan, "finite"),
        ]:
            with pytest.raises(BadValue, match=said):
                Problem(wrong, 1.0)

    def test_refuses_what_is_no_distribution(self) -> None:
        P = np.eye(4) - 0.25
        for wrong in (np.ones(4), np.ones(3) / 3, np.array([-1.0, 1, 0.5, 0.5])):
            with pytest.raises(BadValue, match="prior"):
                Problem(P, 1.0, wrong)

    def test_workload_that_asks_nothing(self) -> None:
        assert Problem(np.zeros((3, 3)), 1.0).domain_size == 3


def test_gap() -> None:
    S, theta = uniform(4, 1, 1.0)
    assert Optimised(S, theta, 1.5, 1.0, 3, "gap").gap == 0.5
    assert Optimised(S, theta, 0.0, 0.0, 3, "gap").gap == 0.0
    assert Optimised(S, theta, 1.0, 0.0, 3, "gap").gap == math.inf


@pytest.mark.parametrize("weight", [5e-324, 1.37e-312, 1e-200])
def test_a_row_too_light_to_keep_the_ratio_is_left_out(weight: float) -> None:
    """A subnormal weight times e^ε is rounded to few digits: such a row alone would break the privacy of all."""
    singles = np.eye(4, dtype=bool)
    theta = np.full(4, 1.0 / (np.e + 3.0))
    light = np.vstack([singles, [[True, True, False, False]]])
    strategy = strategy_of(light, np.append(theta, weight), 1.0)
    assert strategy.matrix.shape == (4, 4)
    np.testing.assert_array_equal(strategy.matrix, strategy_of(singles, theta, 1.0).matrix)
