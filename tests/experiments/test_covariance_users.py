"""Users of second moments, covariances and 2-way marginals: closed forms, bounds, shared noise, the figures."""

from __future__ import annotations

import math

import pytest

from factormech.mechanisms.pure.covariance import BALL
from factormech.plots import registry as figures
from factormech.studies import pure_covariance_users as kind
from factormech.studies.measures.pure import laplace_norm
from tests.figure_checks import assert_no_overlaps, said
from tests.studies import project, quick, rows_of

pytestmark = pytest.mark.heavy

STUDIES = ("pure-covariance-users", "two-way-marginals-users")


@pytest.mark.slow
def test_noise_alone_needs_its_closed_form() -> None:
    frame = quick("pure-covariance-users")
    ball = frame[(frame["mechanism"] == "l2-ball") & (frame["accuracy"] == 16)]
    for row in ball.itertuples():
        exact = 16 * BALL * row.coordinates * (row.coordinates + 1) / 2
        assert row.measured_users == math.ceil(exact)
        assert row.low == pytest.approx(exact)
    frame = quick("two-way-marginals-users")
    for row in frame[frame["mechanism"] == "laplace"].itertuples():
        k = row.coordinates * (row.coordinates - 1) // 2
        assert row.measured_users == math.ceil(math.sqrt(k) * laplace_norm(k) * row.accuracy * (1 - 1e-12))


@pytest.mark.parametrize("name", STUDIES)
def test_the_table_keeps_its_order_and_its_bound(name: str) -> None:
    frame = quick(name)
    assert (frame["high"] + 1 >= frame["certified_users"]).all()
    assert frame["certified_users"].max() > 1
    for _, rows in frame.groupby(["statistic", "coordinates", "mechanism"]):
        assert rows.sort_values("accuracy")["measured_users"].is_monotonic_increasing
    row = {"low": 3.5, "measured_users": 5.0, "high": 6.0, "certified_users": 7}
    assert kind.check(row) is None
    assert kind.check(row | {"certified_users": 8}) is not None
    assert kind.check(row | {"low": 5.5}) is not None


def test_a_projection_of_the_same_noise_needs_no_more_users() -> None:
    frame = quick("two-way-marginals-users").set_index(["mechanism", "coordinates", "accuracy"])
    for at, row in frame.loc["trace-projection"].iterrows():
        assert row["low"] <= frame.loc[("trace", *at), "high"]


def test_large_sketches_have_a_reason() -> None:
    rows = rows_of("pure-covariance-users", {"draws": 8, "matrices": 8}, statistic=("second-moment",),
                   coordinates=(33,), accuracy=(2.0,))  # fmt: skip
    assert {row["mechanism"] for row in rows if row.get("reason")} == {"jl-balanced"}


@pytest.mark.parametrize("name", STUDIES)
def test_the_figures_can_be_read(name: str) -> None:
    study = project().quick_studies[f"quick/{name}"]
    assert_no_overlaps(figures.draw(study.kind, quick(name)))
    assert "worst data found" in said(study.title, study.caption, quick(name))
