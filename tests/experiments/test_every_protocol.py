"""The study of bounds for every protocol: what a row keeps, and what the figure says."""

from __future__ import annotations

import pytest

from factormech.bounds.protocols.mean_squared import mean_squared_error
from factormech.plots import registry as figures
from factormech.studies import registry
from factormech.workloads.registry import create
from tests.figure_checks import assert_no_overlaps
from tests.studies import quick, rows_of


def test_rows_are_the_bound_and_the_errors_of_one_strategy() -> None:
    frame = quick("every-protocol")
    for row in frame.query("workload == 'prefix'").itertuples():
        bound = mean_squared_error(create("prefix", row.domain_size), row.epsilon, row.users)
        assert row.lower_bound == pytest.approx(bound.error, rel=1e-12)
        assert (row.hard_types, row.field) == (len(bound.types), bound.field)
        assert row.ratio_to_bound == pytest.approx(row.mean_squared_error / row.lower_bound, rel=1e-12)
    plain = frame.query("mechanism == 'optimised'")
    mixed = frame.query("mechanism == 'optimised/shrunk'")
    assert (mixed["mean_squared_error"].to_numpy() < plain["mean_squared_error"].to_numpy()).all()
    # V/N for all N.
    assert (plain["mean_squared_error"] * plain["users"]).groupby(plain["workload"]).nunique().max() <= 3
    # Within 3 % for a million users.
    assert frame.query("users == 1000000")["ratio_to_bound"].max() < 1.03


def test_a_point_without_a_bound_has_a_reason() -> None:
    rows = rows_of("every-protocol", workload=("histogram",), domain_size=(8,), epsilon=(12.0,), users=(3,))
    assert len(rows) == 2
    assert all("vacuous" in row["reason"] and "ratio_to_bound" not in row for row in rows)


def test_a_row_below_its_bound_is_refused() -> None:
    check = registry.experiment("every-protocol").check
    assert check({"mean_squared_error": 0.9, "lower_bound": 1.0}) == ("mean_squared_error", "be at least lower_bound")
    assert check({"mean_squared_error": 1.1, "lower_bound": 1.0}) is None


def test_the_figure_and_its_caption() -> None:
    frame = quick("every-protocol")
    assert_no_overlaps(figures.draw("every-protocol", frame))
    assert "interactive or not, with any estimator" in figures.words("every-protocol", "Title", "Words.", frame).caption
