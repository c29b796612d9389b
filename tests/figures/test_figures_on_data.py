"""Tables, figures and captions of studies on data sets: complete, exact, edits refused, stand-ins always said."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from tests.figure_checks import assert_no_overlaps, said
from tests.studies import frame_from, table_from
from tests.tables.printed import number, printed
from tests.test_tables import edited
from tests.tiers import every

from factormech.data.files import standin
from factormech.errors import BadValue
from factormech.mechanisms.local.errors import built, questions_of
from factormech.plots import registry
from factormech.studies.grids import BOUNDS_PART
from factormech.studies.measures import consistency, data_dependent
from factormech.tables import consistency_view
from factormech.tables import kinds as tables
from factormech.workloads.registry import create

pytestmark = pytest.mark.heavy

MECHANISMS = ("randomized-response", "hadamard", "fourier-3", "hierarchical")
COUNTS = standin("hepth-standin")


def on_data_frame(data: tuple[str, ...], workloads: tuple[str, ...] = ("prefix",), n: int = 32) -> pd.DataFrame:
    questions = questions_of([(create(name, n), 0) for name in workloads])
    counts = {name: np.roll(COUNTS, 100 * i) for i, name in enumerate(data)}
    parts = [frame_from(data_dependent.measure_on_data(m, built(m), questions, [1.0], counts)) for m in MECHANISMS]
    bounds = frame_from(data_dependent.bounds_on_data(["svd", "centred-svd"], questions, [1.0], counts))
    named = {str(i): part for i, part in enumerate(parts)}
    return table_from("data-dependent", named | {BOUNDS_PART: bounds}, {"metric": "mse", "alpha": 0.01})


def consistency_frame(data: tuple[str, ...], users: tuple[int, ...] = (100, 1000, 10**4)) -> pd.DataFrame:
    questions = questions_of([(create("prefix", 32), 0)])
    grid = consistency.ConsistencyGrid(users, {name: np.roll(COUNTS, 9 * i) for i, name in enumerate(data)}, 6)
    parts = [
        frame_from(consistency.process(m, built(m), questions, [1.0], grid))
        for m in ("hadamard", "fourier-3", "hierarchical")
    ]
    return table_from("consistency", {str(i): part for i, part in enumerate(parts)}, {"level": 0.05})


MAKERS: dict[str, Callable[[], pd.DataFrame]] = {
    "data, one panel": lambda: on_data_frame(("hepth", "medcost-standin", "nettrace")),
    "data, four panels": lambda: on_data_frame(("hepth-standin",), ("prefix", "histogram", "all-ranges", "total")),
    "consistency, three data sets": lambda: consistency_frame(("hepth", "medcost", "nettrace-standin")),
    "consistency, one point": lambda: consistency_frame(("hepth-standin",), (100,)),
}


@pytest.fixture(params=every(2, MAKERS), scope="module")
def frame(request: pytest.FixtureRequest) -> pd.DataFrame:
    return MAKERS[request.param]()


def draw(frame: pd.DataFrame) -> Figure:
    return registry.draw(tables.kind_of(frame), frame)


@pytest.mark.slow
def test_no_text_is_cut_off_or_covers_another(frame: pd.DataFrame) -> None:
    assert_no_overlaps(draw(frame))


def test_tables_round_trip(frame: pd.DataFrame, tmp_path: Path) -> None:
    tables.write(frame, tmp_path / "t.csv", tmp_path / "t.tex")
    pd.testing.assert_frame_equal(tables.read_csv(tmp_path / "t.csv"), frame, check_exact=True)
    assert printed((tmp_path / "t.tex").read_text())


def test_standins_and_gaps_are_told_everywhere(frame: pd.DataFrame) -> None:
    figure, words = draw(frame), said("Title", "text", frame)
    shown = "\n".join(t.get_text() for t in figure.texts).replace("\n", " ")
    standins = [name for name in frame["data"].unique() if name.endswith("-standin")]
    shown += "\n".join(t.get_text() for legend in figure.legends for t in legend.get_texts())
    for text in (shown, words):
        for name in standins:
            assert name.removesuffix("-standin").upper() + " (stand-in)" in text
        assert ("SYNTHETIC" in text) == bool(standins)
        assert "efused: Fourier (≤ 3-way)" in text
        assert "row space" in text
    assert words.startswith("Title: ")
    assert " Text. " in words
    assert "\n" not in words
    ticks = [t.get_text() for ax in figure.axes for t in ax.get_xticklabels()]
    titles = [ax.get_title() for ax in figure.axes]
    if tables.kind_of(frame) == "consistency":
        for name in standins:
            assert any(f"{name.removesuffix('-standin').upper()} (stand-in)" in label for label in [*ticks, *titles])


def test_points_are_users_on_data_over_the_worst_case() -> None:
    """None is above the line at 1: no data set is worse than the worst."""
    frame = on_data_frame(("hepth", "medcost", "nettrace"))
    [ax] = draw(frame).axes
    needs = frame.pivot_table(index="mechanism", columns="data", values="sample_complexity")
    shares = needs.drop(columns="worst-case").div(needs["worst-case"], axis=0)
    marks = [line for line in ax.lines if line.get_marker() not in ("None", "")]
    drawn = np.concatenate([np.asarray(line.get_ydata(), dtype=float) for line in marks])
    np.testing.assert_allclose(np.sort(drawn[np.isfinite(drawn)]), np.sort(shares.to_numpy().ravel()))
    assert shares.to_numpy().max() <= 1.0 + 1e-9
    assert any(np.all(np.asarray(line.get_ydata()) == 1.0) for line in ax.lines)
    spread = (shares.max(axis=1) / shares.min(axis=1)).max()
    assert f"by a factor of {spread:.3g}" in said("", "", frame)


def test_consistency_draws_errors_and_ratios() -> None:
    frame = consistency_frame(("hepth", "nettrace"))
    figure = draw(frame)
    ok = frame[frame["status"] == "ok"]
    for ax, strip, data in zip(figure.axes[::2], figure.axes[1::2], ("hepth", "nettrace"), strict=True):
        rows = ok[ok["data"] == data]
        marked = [line for line in ax.lines if line.get_marker() != "None"]
        drawn = np.sort(np.concatenate([np.ravel(line.get_ydata()) for line in marked]))
        np.testing.assert_allclose(drawn, np.sort(rows["measured_error"] * rows["users"]))
        marked = [line for line in strip.lines if line.get_marker() != "None"]
        drawn = np.sort(np.concatenate([np.ravel(line.get_ydata()) for line in marked]))
        np.testing.assert_allclose(drawn, np.sort(rows[rows["processing"] != "none"]["ratio_to_unprocessed"]))
        assert strip.get_ylim()[1] >= rows["ratio_high"].max()
    view = consistency_view.view(frame)
    lowest = np.nanmin(view.ratios("hadamard", "nonnegative"))
    assert f"{lowest:.2f} to" in said("", "", frame)


@pytest.mark.parametrize(
    ("column", "cell", "says"),
    [
        ("sample_complexity", "", "at least 0"),
        ("variance", "-1.0", "at least 0"),
        ("lower_bound", "1.0", "the same for all mechanisms"),
        ("lower_bound", "", "not be empty"),
        ("lower_bound", "-1.0", "at least 0"),
        ("bound_name", "", "not be empty"),
        ("status", "bound", "be one of ok"),
        ("status", "refused", "be empty where"),
        ("reason", "because", "be empty where"),
        ("data", "other", "have a row for every"),
        ("alpha", "0.5", "no row for"),
    ],
)
def test_edited_cells_are_refused(tmp_path: Path, column: str, cell: str, says: str) -> None:
    path = tmp_path / "t.csv"
    tables.write_csv(on_data_frame(("hepth", "medcost")), path)
    edited(path, 2, column, cell)
    with pytest.raises(BadValue, match=re.escape(str(path))) as caught:
        tables.read_csv(path)
    assert says in str(caught.value)


@pytest.mark.parametrize(
    ("column", "cell", "says"),
    [
        ("processing", "half", "be one of none"),
        ("users", "0", "at least 1"),
        ("trials", "1", "at least 2"),
        ("trials", "7", "be one in a study"),
        ("measured_error", "1e9", "whole number|number|interval"),
        ("measured_error", "1000000.0", "in its interval"),
        ("ratio_to_unprocessed", "0.5", "in its interval"),
        ("violation", "-1.0", "at least 0"),
        ("violation", "", "be a number"),
        ("status", "refused", "be empty where"),
        ("data", "other", "have a row for every"),
    ],
)
def test_edited_cells_of_consistency_are_refused(tmp_path: Path, column: str, cell: str, says: str) -> None:
    path = tmp_path / "t.csv"
    tables.write_csv(consistency_frame(("hepth",)), path)
    edited(path, 2, column, cell)
    with pytest.raises(BadValue) as caught:
        tables.read_csv(path)
    assert re.search(says, str(caught.value))


def test_several_studies_are_refused() -> None:
    for one in (on_data_frame(("hepth",)), consistency_frame(("hepth",), (100,))):
        both = pd.concat([one, one.assign(study="other")], ignore_index=True)
        with pytest.raises(BadValue, match="draw one study at a time"):
            draw(both)


def test_latex_has_every_number() -> None:
    text = tables.latex(on_data_frame(("hepth", "medcost-standin")))
    [table] = printed(text)
    assert set(dict(table.rows)) == {("", "HEPTH"), ("", "MEDCOST (stand-in)"), ("", "Worst case")}
    assert table.heads[-2:] == ["Lower bound", "Best over bound"]
    assert "Not shown: Fourier ($\\leq$ 3-way)" in table.notes
    frame = consistency_frame(("hepth",))
    [table, *_] = printed(tables.latex(frame))
    cells = next(iter(table.rows.values()))
    found = number(next(cell for head, cell in cells.items() if head.endswith("non-negative") and "Hadamard" in head))
    first = frame[(frame["processing"] == "nonnegative") & (frame["mechanism"] == "hadamard")].iloc[0]
    assert math.isclose(found, first["ratio_to_unprocessed"], abs_tol=5e-4)
