"""The studies of a trusted curator: what they refuse, what their rows keep, what their figures say."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from factormech.config.studies import ConfigErrors, Study, load
from factormech.plots import declared
from factormech.privacy.gaussian import gaussian_noise_multiplier
from factormech.studies import few_users, registry, trusted
from factormech.studies.run import modules_of
from tests.figure_checks import assert_no_overlaps, said
from tests.studies import frame_of

pytestmark = pytest.mark.heavy

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = ROOT / "workflow" / "schemas" / "config.schema.yaml"
GRIDS: dict[str, dict[str, Any]] = {
    "central-errors": {"workload": ["prefix", "histogram"], "domain_size": [4, 8], "p": [2, "inf"]},
    "central-prefix": {"domain_size": [4, 16], "p": [2, 3, "inf"]},
    "few-users": {"workload": ["random-signs"], "domain_size": [16], "users": [2, 50, 2000]},
}


def study(kind: str, **changes: Any) -> Study:
    grid = {**GRIDS[kind], **changes.pop("grid", {})}
    asked = {"paper": "p", "artefact": "a", "kind": kind, "title": "T", "relative_width": 0.3, "grid": grid, **changes}
    return load({"studies": {"one": asked}}, SCHEMA, base=ROOT).studies["one"]


def measured(asked: Study) -> pd.DataFrame:
    return frame_of(asked)


@cache
def table(kind: str) -> pd.DataFrame:
    return measured(study(kind))


@pytest.mark.parametrize(
    ("kind", "changes", "wanted"),
    [
        ("central-errors", {"grid": {"p": [1]}}, "grid.p[0] = 1: must be a whole number from 2 to 999, or inf"),
        ("central-prefix", {"grid": {"p": [2.5]}}, "grid.p[0] = 2.5: must be a whole number from 2 to 999, or inf"),
        ("central-prefix", {"grid": {"delta": [1.0]}}, "grid.delta[0] = 1.0: must be a number above 0 and below 1"),
        ("central-errors", {"mechanisms": ["gaussian-projection"]}, "mechanisms[0] = 'gaussian-projection': must be"),
        ("central-errors", {"mechanisms": ["gamma-2-approximate"]}, "mechanisms[0] = 'gamma-2-approximate': must be"),
        ("central-errors", {"mechanisms": ["hadamard"]}, "mechanisms[0] = 'hadamard': must be a known name"),
        ("few-users", {"mechanisms": ["optimal"]}, "mechanisms[0] = 'optimal': must be a known name"),
        ("few-users", {"alpha": 0}, "alpha = 0: must be"),
        ("few-users", {"relative_width": 0.9}, "relative_width = 0.9: must be"),
        ("few-users", {"grid": {"users": [0]}}, "grid.users[0] = 0: must be"),
        (
            "few-users",
            {"grid": {"workload": ["all-ranges"], "domain_size": [2048]}},
            "grid.domain_size[0] = 2048: must be at most 1024 with all-ranges",
        ),
    ],
)
def test_mistakes_are_answered_in_a_line(kind: str, changes: dict[str, Any], wanted: str) -> None:
    with pytest.raises(ConfigErrors) as caught:
        study(kind, **changes)
    lines = str(caught.value).splitlines()
    assert len(lines) == 1
    assert wanted in lines[0]


@pytest.mark.parametrize("kind", GRIDS)
def test_equal_questions_have_equal_answers_and_another_seed_others(kind: str) -> None:
    small = {"domain_size": [4]} | ({"users": [50]} if kind == "few-users" else {})
    small |= {"workload": ["prefix"]} if kind != "central-prefix" else {}
    one, again = (measured(study(kind, grid=small)) for _ in range(2))
    pd.testing.assert_frame_equal(one, again, check_exact=True)
    asked = study(kind, grid=small)
    assert asked.asked is not None
    assert not measured(replace(asked, asked=replace(asked.asked, seed=1))).equals(one)


def test_a_mechanism_brings_its_code() -> None:
    asked = study("central-errors").asked
    assert asked is not None
    assert {"factormech.mechanisms.central.solved", "factormech.mechanisms.central.ordered"} < set(
        modules_of("central-errors", asked)
    )


@pytest.mark.parametrize("kind", ["central-errors", "central-prefix"])
def test_no_error_is_below_what_no_mechanism_passes(kind: str) -> None:
    frame = table(kind)
    drawn = frame[frame["reason"] == ""]
    assert (drawn["lower_bound"] > 0).all()
    assert (drawn["order_p_error"] > drawn["lower_bound"]).all()
    best = drawn.groupby([*(k for k in ("workload", "domain_size", "p") if k in frame)])["factor_error"].min()
    optimal = drawn[drawn["mechanism"] == "optimal"].set_index(best.index.names)["factor_error"].sort_index()
    assert (optimal <= best * (1 + 2e-6)).all()
    assert set(drawn["relation"]) == {"‖x − x'‖₁ ≤ 1 on histograms of real numbers"}


def test_the_reference_is_the_noise_times_the_logarithm() -> None:
    row = table("central-prefix").query("p == 2 and domain_size == 16").iloc[0]
    assert row["scaled_logarithm"] == pytest.approx(gaussian_noise_multiplier(1.0, 1e-6) * math.log(16) / math.pi)
    largest = table("central-prefix").query("p == inf and domain_size == 16").iloc[0]
    assert largest["scaled_logarithm"] == row["scaled_logarithm"]
    third = table("central-prefix").query("p == 3 and domain_size == 16").iloc[0]
    assert third["scaled_logarithm"] == pytest.approx(row["scaled_logarithm"] * (2 * math.sqrt(2 / math.pi)) ** (1 / 3))


def test_rows_obey_their_rules() -> None:
    row = table("central-prefix").query("p == 2").iloc[0].to_dict()
    assert trusted.check_orders(row) is None
    assert trusted.check_orders({**row, "order_p_error": 0.9 * row["lower_bound"]}) is not None
    simulated = table("central-prefix").query("p == inf").iloc[0].to_dict()
    assert trusted.check_orders(simulated) is None
    for change in ({"high": 0.0}, {"low": 1e9}, {"root_mean_square": 0.0}):
        assert trusted.check_orders({**simulated, **change}) is not None
    projected = table("few-users").query("mechanism == 'gaussian-projection'").iloc[0].to_dict()
    flat = table("few-users").query("mechanism == 'gamma-f'").iloc[0].to_dict()
    assert few_users.check(projected) is few_users.check(flat) is None
    for bad in (projected | {"guaranteed_error": 0.0}, projected | {"low": 1e9}, flat | {"lower_bound": 1e9}):
        assert few_users.check(bad) is not None


def test_few_users_cross_where_the_curves_do() -> None:
    frame = table("few-users")
    (at,) = set(frame["crossover"])
    errors = {name: part.set_index("users")["rms_error"] for name, part in frame.groupby("mechanism")}
    ahead = errors["gaussian-projection"] < errors["gamma-f"]
    assert ahead[ahead].index.max() < at < ahead[~ahead].index.min()
    alone = measured(study("few-users", mechanisms=["gamma-f"]))
    assert alone["crossover"].isna().all()


@pytest.mark.parametrize("kind", GRIDS)
def test_every_figure_says_delta_and_the_neighbours(kind: str) -> None:
    declaration = registry.experiment(kind)
    figure = declared.draw(table(kind), experiment=declaration)
    shown = " ".join(text.get_text() for text in figure.texts).replace("\n", " ")
    for told in (
        "ε = 1",
        r"δ = 10$^{\mathregular{-6}}$",
        r"Neighbours: histograms with ‖x − x'‖$_{\mathregular{1}}$ ≤ 1",
    ):
        assert told in shown
    for told in ("ε = 1", "δ = 10⁻⁶", trusted.NEIGHBOURS):
        assert told in said("T", "", table(kind))
    assert_no_overlaps(figure)
    titles = [ax.get_title() for ax in figure.axes]
    wanted = {
        "central-errors": ["Prefix, p = 2", "Prefix, p = ∞", "Histogram, p = 2", "Histogram, p = ∞"],
        "central-prefix": ["p = 2", "p = 3", "p = ∞"],
        "few-users": [""],
    }
    assert titles == wanted[kind]
    upright = [line for line in figure.axes[0].lines if len(set(line.get_xdata())) == 1 and line.get_marker() == "None"]
    assert len(upright) == (1 if kind == "few-users" else 0)


def test_what_a_whole_workload_lacks_is_said_once() -> None:
    text = said("T", "", table("central-errors"))
    assert "Square root missing at Histogram — it is for prefix sums and ranges only" in text
    assert "Panels: Prefix, p = 2; Prefix, p = ∞; Histogram, p = 2" in text
