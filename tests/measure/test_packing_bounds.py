"""Rows of the packing bounds: what each says, and slopes of known curves."""

from __future__ import annotations

import math

import pytest

from factormech.bounds.packing.core import LowerBound
from factormech.bounds.packing.marginals import full_parity
from factormech.errors import BadValue
from factormech.studies.measures import pure as rows


def test_parity_rows_take_the_better_bound() -> None:
    found = list(rows.parity_rows([16, 256], [0.1, 4.0, 64.0, 4096.0], 0.5))
    assert len(found) == 8
    for row in found:
        assert (
            row["lower"]
            == max(row["packing"], row["averaging"])
            == full_parity(row["domain_size"], row["users"], 0.5).value
        )
        assert row["product"] == row["users"] * 0.5
    assert found[0]["users"] == 1  # nε = 0.1 is less than one person: the row says what it is of
    assert {row["method"] for row in found} == {"packing", "averaging"}


def test_parity_errors_approach_a_limit_as_epsilon_falls_and_copies_are_many() -> None:
    """nε fixed: whole multiplicities matter less and less."""
    values = [next(rows.parity_rows([256], [64.0], epsilon))["packing"] for epsilon in (1.0, 0.1, 0.01, 0.001)]
    assert values[3] == pytest.approx(values[2], rel=0.02)
    assert max(values) <= 1.05 * values[3]


def test_slopes_of_powers() -> None:
    x = [2.0, 5.0, 10.0, 100.0]
    assert rows.local_slopes(x, [7 * v**1.5 for v in x]) == pytest.approx([1.5] * 4)
    assert rows.local_slopes([2.0], [3.0]) == [None]
    assert rows.local_slopes([1.0, 2.0, 4.0], [1.0, 1.0, 8.0])[:2] == [None, None]


def test_users_rows_have_the_slope_of_their_bound() -> None:
    found = list(
        rows.users_rows(
            {"a": 1}, lambda n: LowerBound(min(1.0, 5 / math.sqrt(n)), n, 1.0, "made"), [0.05, 0.1, 0.2], 1.0
        )
    )
    assert [row["alpha"] for row in found] == [0.2, 0.1, 0.05]
    for row in found:
        assert row["users"] == pytest.approx((5 / row["alpha"]) ** 2, rel=0.01)
        assert row["slope"] == pytest.approx(2.0, abs=0.02)


def test_parity_slopes_lie_between_the_terms_of_the_theorem() -> None:
    found = list(rows.parity_users_rows([2**12], [0.3, 0.1, 0.03, 0.01], 1.0))
    assert [row["users"] for row in found] == sorted(row["users"] for row in found)
    assert all(0.8 <= row["slope"] <= 2.1 for row in found)


def test_products_are_checked() -> None:
    with pytest.raises(BadValue, match="product"):
        rows.users_of(0.0, 1.0)
