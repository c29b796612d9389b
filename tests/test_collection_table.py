"""Tables of simulated collections: written and read exactly, edited cells refused, the LaTeX complete."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from factormech import reading
from factormech.errors import BadValue, UnknownName
from factormech.mechanisms.local.errors import built, questions_of
from factormech.studies.measures.collection import CollectionGrid, collect, collection_agreement, row_of
from factormech.tables import kinds as tables
from factormech.tables.collected import verdict_of
from factormech.workloads.registry import create
from tests.studies import table_from
from tests.tables.printed import number, printed
from tests.test_tables import edited

Make = Callable[..., pd.DataFrame]


def tabulate(study: str, parts: Sequence[pd.DataFrame], level: float) -> pd.DataFrame:
    return table_from("simulated-collection", {str(i): part for i, part in enumerate(parts)}, {"level": level}, study)


@pytest.fixture(scope="module")
def collected() -> pd.DataFrame:
    """Rows really measured, of two seeds, one with an interval without end."""
    questions = questions_of([(create(name, 16), 0) for name in ("prefix", "histogram")])
    grid = CollectionGrid(users=[100, 10**4], populations=["zipf", "uniform"], trials=8, seeds=(0, 1))
    rows = [
        row
        for name in ("hadamard", "fourier-3", "randomized-response")
        for row in collect(name, built(name), questions, [1.0, 0.5], grid)
    ]
    frame = pd.DataFrame(map(row_of, rows))
    # Both lists hold the same rows, so that the verdicts can be compared.
    frame.attrs["passed"] = collection_agreement(rows)
    return frame


def test_real_collections_round_trip(collected: pd.DataFrame, tmp_path: Path) -> None:
    parts = [part for _, part in collected.groupby("mechanism", sort=False)]
    table = tabulate("s", parts, level=1e-6)
    tables.write(table, tmp_path / "t.csv", tmp_path / "t.tex")
    pd.testing.assert_frame_equal(tables.read_csv(tmp_path / "t.csv"), table, check_exact=True)
    pd.testing.assert_frame_equal(reading.load(tmp_path / "t.csv"), table, check_exact=True)
    assert tables.kind_of(table) == "simulated-collection"
    content = (tmp_path / "t.csv").read_bytes()
    tables.write_csv(table, tmp_path / "again.csv")
    assert (tmp_path / "again.csv").read_bytes() == content
    assert content.splitlines()[0].decode() == ",".join(table.columns)


def test_rows_are_in_the_order_of_the_grid(collected: pd.DataFrame) -> None:
    table = tabulate("s", [collected], level=1e-6)
    assert len(table) == len(collected)
    assert table["workload"].unique().tolist() == ["prefix", "histogram"]
    assert table["epsilon"].drop_duplicates().tolist() == [0.5, 1.0]
    assert table["population"].unique().tolist() == ["zipf", "uniform"]
    assert table["mechanism"].tolist()[:3] == ["hadamard", "fourier-3", "randomized-response"]


def test_the_table_gives_the_verdict_of_the_rows(collected: pd.DataFrame) -> None:
    verdict = verdict_of(tabulate("s", [collected], level=1e-6))
    assert verdict is not None
    found, wanted = verdict.agreement, collected.attrs["passed"]
    assert (found.points, found.comparisons) == (wanted.points, wanted.comparisons)
    assert found.p_value == pytest.approx(wanted.p_value)
    assert found.passed


def test_intervals_without_end_and_single_trials_survive(make_collections: Make, tmp_path: Path) -> None:
    frame = make_collections(("histogram",), {"hadamard": 1.0}, (1.0,), users=(10,))
    open_end = frame.assign(interval_high=math.inf, trials=1, standard_error=math.nan)
    tables.write_csv(open_end, tmp_path / "t.csv")
    pd.testing.assert_frame_equal(tables.read_csv(tmp_path / "t.csv"), open_end, check_exact=True)
    free = open_end.assign(
        exact_error=0.0, measured_error=0.0, interval_low=0.0, ratio_to_exact=math.nan, bias_ratio=math.nan
    )
    tables.write_csv(free, tmp_path / "t.csv")
    pd.testing.assert_frame_equal(tables.read_csv(tmp_path / "t.csv"), free, check_exact=True)


@pytest.mark.parametrize(
    ("column", "cell", "says"),
    [
        ("users", "0", "at least 1"),
        ("users", "100.0", "whole number"),
        ("trials", "51", "be one in a study"),
        ("level", "0.5", "be one in a study"),
        ("level", "1.0", "below 1"),
        ("seed", "7", "have a row for every"),
        ("exact_error", "inf", "be a number"),
        ("exact_error", "-1.0", "at least 0"),
        ("measured_error", "", "be a number where"),
        ("measured_error", "1e9", "in its interval"),
        ("interval_high", "0.0", "in its interval"),
        ("interval_high", "nan", "be a number"),
        ("ratio_to_exact", "1.5", "measured_error over exact_error"),
        ("p_value", "1.5", "at most 1"),
        ("bias_p_value", "", "be a number where"),
        ("relative_scale", "-0.1", "at least 0"),
        ("standard_error", "", "be a number where"),
        ("status", "refused", "be empty where"),
        ("status", "bound", "be one of ok"),
        ("reason", "because", "be empty where"),
        ("population", "", "not be empty"),
        ("population", "zipf", "have a row for every"),
        ("mechanism", "rappor", "once"),
    ],
)
def test_edited_cells_are_refused(make_collections: Make, tmp_path: Path, column: str, cell: str, says: str) -> None:
    path = tmp_path / "t.csv"
    tables.write_csv(make_collections(("histogram",), {"hadamard": 1.0, "rappor": 2.0}), path)
    edited(path, 2, column, cell)
    with pytest.raises(BadValue, match=re.escape(str(path))) as caught:
        tables.read_csv(path)
    assert says in str(caught.value)


def test_missing_lines_are_refused(make_collections: Make) -> None:
    frame = make_collections(("histogram", "prefix"), {"hadamard": 1.0}, seeds=(0, 1))
    for lost in (frame.iloc[:-1], frame[frame["users"].gt(100) | frame["workload"].eq("prefix")]):
        with pytest.raises(BadValue, match="have a row for every"):
            tables.check(lost.reset_index(drop=True))
    # A workload without a choice of its own needs one seed only.
    tables.check(frame[(frame["seed"] == 0) | (frame["workload"] == "prefix")].reset_index(drop=True))


def test_unknown_kinds_are_refused() -> None:
    with pytest.raises(UnknownName, match="did you mean 'slopes'"):
        tables.from_rows([], "slope")


# --- LaTeX


def test_latex_counts_points_and_gaps_and_says_why(make_collections: Make) -> None:
    frame = make_collections(domain_sizes=(16, 32))
    [table] = printed(tables.latex(frame))
    rows = {label: cells for (_, label), cells in table.rows.items()}
    assert len(rows) == frame["mechanism"].nunique()
    points = {label: cells["Points"] for label, cells in rows.items()}
    # RAPPOR: all twelve points of 32 types, and the four of a million users on 16.
    assert (points["Randomized response"], points["RAPPOR"]) == ("24", "8")
    assert points[r"Fourier ($\leq$ 3-way)"] == "12"
    ok = frame[frame["mechanism"] == "hadamard"]
    cells = rows["Hadamard (block)"]
    assert number(cells["Largest $|z|$"]) == pytest.approx(ok["z_score"].abs().max(), rel=6e-4)
    assert number(cells["Smallest $p$"]) == pytest.approx(ok["p_value"].min(), rel=6e-4)
    assert number(cells["Mean of measured over exact"]) == pytest.approx(ok["ratio_to_exact"].mean(), rel=6e-4)


def test_latex_of_what_was_never_measured(make_collections: Make) -> None:
    [table] = printed(tables.latex(make_collections(("histogram",), {"rappor": 1.0}, domain_sizes=(32,))))
    assert dict(table.rows["", "RAPPOR"]) == {"Points": "0"}
    assert "too many users" in table.notes or "needs 2" in table.notes


def test_worst_point_and_pool_are_named(make_collections: Make) -> None:
    frame = make_collections(("histogram",), {"hadamard": 1.0, "fourier": 1.0}, (1.0,), users=(100, 1000))
    row = (frame["mechanism"] == "fourier") & (frame["users"] == 1000)
    one = verdict_of(
        frame.assign(p_value=np.where(row, 1e-12, frame["p_value"]), z_score=np.where(row, 7.0, frame["z_score"]))
    )
    assert one is not None
    assert not one.agreement.passed
    assert one.worst == "Fourier (all parities), Histogram, n = 16, ε = 1, uniform, N = 1000, seed 0"
    assert (one.farthest, one.farthest_z) == ("", 7.0)
    # Each point deviates by 4 of its deviations: too little alone, too much together.
    many = make_collections(("histogram",), {"hadamard": 1.0}, (1.0,), users=tuple(10**k for k in range(2, 18)))
    ratio = 1 + 4 * math.sqrt(0.1 / 50)
    shift = {
        "ratio_to_exact": ratio,
        "measured_error": many["exact_error"] * ratio,
        "interval_high": 9e9,
        "z_score": 4.0,
    }
    pooled = verdict_of(many.assign(**shift, p_value=1e-4))
    assert pooled is not None
    assert not pooled.agreement.passed
    assert pooled.worst.startswith("pool: Hadamard (block), Histogram, ")
