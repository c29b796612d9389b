"""What a figure of curves must show: arrows of stopped runs, bounds as lines, what sizes count, what coincides."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from tests.figure_checks import assert_no_overlaps, said

from factormech import labels
from factormech.plots import published_bounds, registry, style
from factormech.plots.declared import CENSORED
from factormech.plots.norms import in_total
from factormech.studies.registry import experiment
from factormech.tables.kinds import read_csv

GALLERY = Path(__file__).parents[2] / "docs" / "gallery"


def table(study: str) -> pd.DataFrame:
    """The table of a study in the gallery."""
    return read_csv(GALLERY / f"{study}.csv")


def drawn(study: str, **settings: Any) -> tuple[pd.DataFrame, Figure]:
    """A table of the gallery and its figure."""
    frame = table(study)
    return frame, registry.draw(str(frame["kind"].iloc[0]), frame, **settings)


def arrows(ax: Axes) -> list[float]:
    """The heights of the arrows of a panel."""
    lines = [line for line in ax.lines if "uparrow" in str(line.get_marker())]
    assert all(line.get_linestyle() == "None" for line in lines)
    return sorted(y for line in lines for y in np.asarray(line.get_ydata(), dtype=float) if np.isfinite(y))


def legend(figure: Figure) -> list[str]:
    return [text.get_text() for text in figure.legends[0].get_texts()]


def below(figure: Figure) -> str:
    return " ".join(text.get_text().replace("\n", " ") for text in figure.texts)


def test_stopped_runs_are_arrows_without_bars_and_the_promise_is_a_line() -> None:
    frame = table("query-complexity-ordered")
    coarse = frame["learner"].str.startswith("coarse/")
    frame = frame.assign(stopped_share=np.where(coarse, 1.0, 0.0))
    figure = registry.draw("query-complexity", frame)
    assert_no_overlaps(figure)
    for ax, (_, rows) in zip(figure.axes, frame.groupby("concept_class", sort=False), strict=True):
        stopped = rows[rows["stopped_share"] > 0]
        assert arrows(ax) == pytest.approx(sorted(stopped["mean_queries"]))
        bars = [path.vertices[:, 1] for c in ax.collections for path in c.get_paths() if len(path.vertices) == 2]
        ends = {float(y) for ends in bars for y in ends if np.isfinite(y)}
        fine = rows[rows["stopped_share"] == 0]
        assert ends <= set(fine["fewest_queries"]) | set(fine["most_queries"])
        promised = fine.groupby("class_size")["guaranteed_queries"].max()
        assert any(np.array_equal(line.get_ydata(), promised) for line in ax.lines)
    assert CENSORED in legend(figure)
    assert below(figure).count("types T") == 1


def test_without_stopped_runs_there_is_no_arrow() -> None:
    frame = table("query-complexity-ordered")
    figure = registry.draw(
        "query-complexity", frame[frame["learner"].str.startswith("learner/")].assign(stopped_share=0.0)
    )
    assert not any(arrows(ax) for ax in figure.axes)
    assert CENSORED not in legend(figure)


@pytest.mark.slow
def test_every_order_of_a_central_bound_has_its_panel_with_the_bound_as_a_line() -> None:
    frame, figure = drawn("central-bounds")
    assert_no_overlaps(figure)
    places = frame[["workload", "p"]].drop_duplicates()
    assert len(figure.axes) == len(places)
    for ax, (_, rows) in zip(figure.axes, frame.groupby(["workload", "p"], sort=False), strict=True):
        lines = [np.asarray(line.get_ydata()) for line in ax.lines]
        for column in ("total_error", "lower_bound", "trace_lower"):
            assert any(np.array_equal(line, rows[column]) for line in lines), column
        [edge] = [line for line in ax.lines if line.get_color() == style.BAND_EDGE]
        assert (np.asarray(edge.get_ydata()) <= rows["total_error"].to_numpy()).all()
    assert "in counts" in below(figure)


def test_local_corollaries_show_squares_of_norms_and_no_error_of_a_curator() -> None:
    frame, figure = drawn("corollary-growth")
    rows = published_bounds.squares(frame)
    assert "counts" not in below(figure)
    for ax, (family, part) in zip(figure.axes, rows.groupby("family", sort=False), strict=True):
        lines = [np.asarray(line.get_ydata(), dtype=float) for line in ax.lines]
        norms = frame[frame["family"] == family]["scaled_norm_upper"]
        assert any(np.array_equal(line, norms**2) for line in lines)
        if "parities" in str(family):  # γ₂² is the number of queries, which grows as (d/w)^w
            np.testing.assert_allclose(norms**2, part["queries"])
            assert part["growth_scaled"].iloc[-1] == pytest.approx(norms.iloc[-1] ** 2)
        else:
            assert part["growth_scaled"].isna().all()


def test_a_caption_of_growth_speaks_of_its_own_families() -> None:
    thresholds, others = (said("", "", table(name)) for name in ("threshold-growth", "corollary-growth"))
    assert "local users grow" in thresholds
    assert not any(word in thresholds for word in ("parities", "Corollary 6"))
    assert all(word in others for word in ("For parities", "Corollary 6"))


def test_a_threshold_is_said_to_have_types_and_a_grid_a_side() -> None:
    assert labels.size_symbol("class_size", ["thresholds"]) == "T"
    assert labels.size_symbol("class_size", ["halfspaces"]) == "g"
    assert labels.size_symbol("class_size", ["parities", "points"]) == "size"
    _, figure = drawn("agnostic-learning-ordered")
    titles = [ax.get_title() for ax in figure.axes]
    assert titles[0] == "Thresholds, T = 4"
    assert not any("d = " in title for title in titles)
    _, figure = drawn("agnostic-learning")  # one size, which counts bits of most classes and the side of halfspaces
    titles = [ax.get_title() for ax in figure.axes]
    assert titles == ["Parities, d = 4", "Conjunctions, d = 4", "Decision Stumps, d = 4", "Halfspaces, g = 4"]
    assert "size" not in below(figure)


@pytest.mark.slow
def test_curves_on_each_other_are_named() -> None:
    frame, figure = drawn("central-errors")
    told = "Optimal = Noise on every count = Noise on every answer"
    assert told in below(figure)
    assert told in said("", "", frame)
    rows = frame[(frame["workload"] == "parities") & (frame["p"] == 2.0)]
    spread = rows.groupby("domain_size")["order_p_error"].agg(["min", "max"])
    assert (spread["max"] <= 1.001 * spread["min"]).all()


def test_an_axis_of_a_norm_says_which_norm_at_which_error() -> None:
    _, figure = drawn("marginals-growth")
    assert "(W, α)" in below(figure)
    assert labels.value_label("entry_error", 1.0 / 6.0) == "1/6"
    assert labels.value_label("entry_error", 0.1) == "0.1"


def test_total_norms_of_parities_grow_as_the_theorem_says() -> None:
    """Γ = k^{1/2 + 1/p} for k parities (Liu, Upadhyay & Zou, Theorem 6); the norms alone are √k in every order."""
    frame = table("liu2024-theorem-6")
    rows = in_total(frame)[frame["workload"] == "parities"]
    orders = {"gamma-f": 2.0, "gamma-p4": 4.0, "gamma-p8": 8.0, "gamma-2": np.inf}
    for norm, part in rows.groupby("norm"):
        k = part["queries"].astype(float)
        np.testing.assert_allclose(part["upper"], k ** (0.5 + 1.0 / orders[str(norm)]), rtol=1e-5)
    _, figure = drawn("liu2024-theorem-6", totals=True)
    assert_no_overlaps(figure)
    heights = [float(np.asarray(line.get_ydata())[-1]) for line in figure.axes[0].lines if line.get_linestyle() == "-"]
    assert len({round(y, 3) for y in heights}) == 4


@pytest.mark.slow
def test_strips_have_users_over_the_strongest_bound() -> None:
    frame, figure = drawn("mckenna2020-figure-1", band=True)
    assert_no_overlaps(figure)
    assert len(figure.axes) == 2 * frame["workload"].nunique()
    rows = frame[frame["workload"] == "prefix"]
    bound = rows[rows["mechanism"] == "lower-bound"].groupby("epsilon")["lower_bound"].max()
    strip = figure.axes[frame["workload"].nunique() + 1]
    own = rows[rows["mechanism"] == "optimised"].set_index("epsilon")["sample_complexity"]
    assert any(len(y) == len(own) and np.allclose(y, own / bound) for y in (line.get_ydata() for line in strip.lines))
    assert strip.get_ylim()[0] <= 1.0


def test_a_figure_says_no_protocol_is_in_the_band_of_local_errors() -> None:
    kind = experiment("local-error")
    frame = table("local-error")
    bounded = frame.assign(lower_bound=0.02 / np.sqrt(frame["users"] / 1000.0))
    figure = registry.draw(kind.kind, bounded)
    for ax in figure.axes:
        [edge] = [line for line in ax.lines if line.get_color() == style.BAND_EDGE]
        assert np.isfinite(np.asarray(edge.get_ydata(), dtype=float)).all()
    assert "Below the bound for every ε-LDP protocol" in legend(figure)
