"""Numbers as tables print them."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factormech.tables.cells import between, numeral, scientific, whole


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (1.0, "1.000"),
        (0.012346, "0.01235"),
        (99.996, "100.0"),
        (1234.5, "1234"),
        (99999.6, "100000"),
        (-0.5, "-0.5000"),
        (12345678.0, "12350000"),
        (1.2345678e10, "1.235e10"),
        (1.2e-5, "1.200e-5"),
        (5e-324, "4.941e-324"),
    ],
)
def test_four_significant_digits(value: float, text: str) -> None:
    assert numeral(value) == text


def test_whole_numbers_are_printed_as_they_are() -> None:
    assert [whole(value) for value in (0.0, 7.0, 9999.0, 12345.0, 1e12)] == ["0", "7", "9999", "12340", "1.000e12"]
    assert scientific(0.012346) == "1.235e-2"


@given(st.floats(min_value=1e-300, max_value=1e300))
def test_printed_numbers_are_within_half_a_unit(value: float) -> None:
    assert math.isclose(float(numeral(value)), value, rel_tol=5.0001e-4)
    assert math.isclose(float(scientific(value)), value, rel_tol=5.0001e-4)


@pytest.mark.parametrize(
    ("lower", "upper", "found"),
    [
        (2.0, 2.0, ("2.0000",) * 2),
        (2.9614648, 2.9614665, ("2.9615",) * 2),
        (1.5010, 1.5020, ("1.50",) * 2),
        (1.444, 1.456, ("1.44", "1.46")),
        (0.0, 1e-15, ("0", "0")),
        (0.0, 0.3, ("0", "0.300")),
    ],
)
def test_digits_are_those_that_both_ends_round_to(lower: float, upper: float, found: tuple[str, str]) -> None:
    assert between(lower, upper) == found


@given(st.floats(1e-9, 1e9), st.floats(0.0, 0.5))
def test_an_interval_is_never_narrowed(lower: float, share: float) -> None:
    upper = lower * (1.0 + share)
    low, high = between(lower, upper)
    if low != high:
        assert float(low) <= lower
        assert float(high) >= upper
