"""The verifier is exact on floats, and catches what is not private by a single rounding."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from factormech.errors import BadValue
from factormech.mechanisms.local.two_valued import two_valued
from factormech.privacy.guarantee import (
    column_sum_bounds,
    exponential_below,
    inner_ratio,
    loss_of_ratio,
    privacy_loss,
    ratio_is_within,
    verify_ldp,
)
from tests.oracles import random_strategy


def exact_ratio(Q: np.ndarray) -> Fraction:
    """The likelihood ratio bound of the module's docstring, in rational arithmetic."""
    rows = [[Fraction(x) for x in row] for row in Q.tolist()]
    sums = [sum(column, Fraction(0)) for column in zip(*rows, strict=True)]
    return max(max(row) / min(row) for row in rows) * max(sums) / min(sums)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("shape", [(3, 2), (40, 7), (1500, 3)])
def test_column_sums_are_bracketed_exactly(seed: int, shape: tuple[int, int]) -> None:
    Q = np.random.default_rng(seed).uniform(0, 1, shape) ** 8
    Q /= Q.sum(axis=0)
    low, high = column_sum_bounds(Q)
    for u in range(shape[1]):
        exact = sum(map(Fraction, Q[:, u].tolist()), Fraction(0))
        assert Fraction(low[u]) <= exact <= Fraction(high[u])
        assert high[u] - low[u] <= 4e-15


@pytest.mark.parametrize("epsilon", [1e-3, 0.1, 1.0, 4.0, 20.0])
@pytest.mark.parametrize("seed", range(4))
def test_the_loss_is_an_upper_bound_and_close(epsilon: float, seed: int) -> None:
    Q = random_strategy(np.random.default_rng(seed), 6, 5, epsilon)
    bound = privacy_loss(Q)
    ratio = exact_ratio(Q)
    assert Fraction(math.exp(bound) * (1 + 4e-16)) >= ratio
    assert bound <= math.log(ratio) + 1e-14 + 1e-14 * bound


@given(st.floats(1e-4, 40.0), st.integers(2, 40))
@settings(max_examples=200, deadline=None)
def test_randomized_response_built_inside_the_ratio_passes(epsilon: float, n: int) -> None:
    Q = two_valued(np.eye(n, dtype=bool), epsilon)
    assert verify_ldp(Q, epsilon) <= epsilon


def test_one_entry_too_large_by_a_trillionth_is_refused() -> None:
    Q = two_valued(np.eye(8, dtype=bool), 1.0)
    Q[3, 3] *= 1 + 1e-12
    with pytest.raises(BadValue, match=r"epsilon = 1\.0: must be at least the privacy loss.*output 3"):
        verify_ldp(Q, 1.0)


def test_normalising_columns_differently_is_seen() -> None:
    """Rows may keep the ratio while the columns' sums, which sampling divides by, break it."""
    Q = two_valued(np.eye(8, dtype=bool), 1.0)
    Q[:, 0] *= 1 - 1e-10
    with pytest.raises(BadValue, match="privacy loss"):
        verify_ldp(Q, 1.0)


def test_the_old_unary_encoding_is_refused() -> None:
    """Flipping bits of the one-hot code with probability 1/(e^ε+1) each is 2ε-LDP, not ε-LDP."""
    n, p = 4, math.e / (math.e + 1)
    codes = np.array([[(o >> u) & 1 for u in range(n)] for o in range(2**n)])
    ones = np.eye(n, dtype=int)
    flips = (codes[:, None, :] != ones[None, :, :]).sum(axis=2)
    Q = p ** (n - flips) * (1 - p) ** flips
    with pytest.raises(BadValue, match=r"privacy loss of the strategy, 2\.0000"):
        verify_ldp(Q, 1.0)
    assert verify_ldp(Q, 2.0 + 1e-12) <= 2.0 + 1e-12


def test_a_type_that_never_gives_an_output_is_refused() -> None:
    Q = np.array([[0.5, 0.0], [0.5, 1.0]])
    assert privacy_loss(Q) == math.inf
    with pytest.raises(BadValue, match="inf"):
        verify_ldp(Q, 5.0)


@pytest.mark.parametrize(
    ("Q", "message"),
    [
        (np.ones((2, 2)), r"sum of strategy column 0 = 2\.0.*divide the column by its sum \(2 such"),
        (np.array([[1.5, 0.5], [-0.5, 0.5]]), r"strategy\[0, 0\] = 1\.5: must be a probability"),
        (np.array([[np.nan, 0.5], [0.5, 0.5]]), r"strategy\[0, 0\] = nan: must be a probability"),
        (np.ones(3), "outputs × user types"),
        (np.ones((0, 3)), "outputs × user types"),
    ],
)
def test_what_is_no_distribution_is_refused(Q: np.ndarray, message: str) -> None:
    with pytest.raises(BadValue, match=message):
        verify_ldp(Q, 1.0)


@pytest.mark.parametrize("epsilon", [0.0, -1.0, math.nan, math.inf, True, "1"])
def test_epsilon_is_checked(epsilon: object) -> None:
    with pytest.raises(BadValue, match=r"epsilon = .*must be a finite number above 0"):
        verify_ldp(np.full((2, 2), 0.5), epsilon)  # type: ignore[arg-type]


@pytest.mark.parametrize("epsilon", [1e-6, 0.3, 1.0, 7.7, 30.0])
def test_ratios_near_the_limit_are_decided_safely(epsilon: float) -> None:
    assert ratio_is_within(inner_ratio(epsilon), epsilon)
    assert not ratio_is_within(math.exp(epsilon), epsilon)  # cannot be certain within four roundings
    assert loss_of_ratio(math.exp(epsilon)) >= epsilon


@pytest.mark.parametrize("ones", [2, 2047, 2048, 2049, 4096, 4097, 8193])
def test_a_column_of_many_ones_is_no_distribution(ones: int) -> None:
    """Counted in 64 bits, 4097 ones would be 1."""
    Q = np.ones((ones, 2))
    low, high = column_sum_bounds(Q)
    assert np.all(low <= ones)
    assert np.all(high >= ones)
    assert np.all(low >= min(ones, 512) * (1 - 1e-9))
    with pytest.raises(BadValue, match="divide the column by its sum"):
        verify_ldp(Q, 1.0)


def test_two_columns_of_different_sums_beyond_64_bits_are_refused() -> None:
    """The sums 1 and 4097 look alike where 64 bits overflow: the true loss is above log 4097."""
    Q = np.full((4097, 2), 1.0)
    Q[:, 1] = 1.0 / 4097
    with pytest.raises(BadValue):
        verify_ldp(Q, 9.0)


# From 10⁵ entries on: by one entry, in the last row and column, or by the sum of the last column.
SIZES = [(317, 315), (317, 317), (1025, 129), (40, 4001), (20001, 6)]


@pytest.mark.parametrize("shape", SIZES)
def test_large_matrices_are_verified_to_the_last_entry(shape: tuple[int, int]) -> None:
    Q = np.full(shape, 1.0 / shape[0])
    Q[-1] *= inner_ratio(1.0)
    Q[-1, : shape[1] // 2] /= inner_ratio(1.0)
    Q[:-1] *= (1 - Q[-1]) / Q[:-1].sum(axis=0)
    loss = privacy_loss(Q)
    assert verify_ldp(Q, loss * (1 + 1e-9)) <= loss * (1 + 1e-9)
    entry = Q.copy()
    entry[-1, -1] *= 1 + 1e-10
    column = Q.copy()
    column[:, -1] *= 1 + 5e-10
    for bad in (entry, column):
        with pytest.raises(BadValue, match="privacy loss"):
            verify_ldp(bad, loss)


def test_no_exponential_of_a_negative_number() -> None:
    with pytest.raises(BadValue, match="be at least 0"):
        exponential_below(-1.0)
