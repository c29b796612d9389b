"""The tables that a paper prints: every cell against the CSV file, by another way; a planted fault is found."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from factormech import labels
from factormech.studies.drawn import PaperTable, Shown
from factormech.tables import kinds, papers
from factormech.tables.latex import LINE, latex_text, typeset
from tests.tables.printed import Printed, number, printed

GALLERY = Path(__file__).parents[2] / "docs" / "gallery"
NO_TABLE = {"claims", "jobs", "run", "times"}
FILES = sorted(path for path in GALLERY.glob("*.csv") if path.stem not in NO_TABLE)


def faults(text: str, frame: pd.DataFrame) -> list[str]:
    """What is wrong with the printed tables of users and of bits, ε down the side, by the rows of the CSV file."""
    found = []
    mechanisms = frame[frame["status"] != "bound"]
    for table in printed(text):
        for (block, label), cells in table.rows.items():
            at = mechanisms[(mechanisms["epsilon"].astype(str).str.removesuffix(".0") == label)]
            title = block or table.caption
            at = at[[latex_text(labels.workload_label(name)) in title for name in at["workload"]]]
            judged = _faulty_bits(cells, at) if table.caption.startswith("Bits") else _faults(cells, at, table)
            found += [f"{block} {label}: {fault}" for fault in judged]
    return found


def _faulty_bits(cells: dict[str, str], at: pd.DataFrame) -> Iterator[str]:
    for row in at[at["log2_outputs"].notna()].itertuples():
        head = latex_text(labels.mechanism_label(row.mechanism))
        if not math.isclose(number(cells[head]), row.log2_outputs, rel_tol=5.1e-4):
            yield f"{head} prints {cells[head]} for {row.log2_outputs} bits"


def _faults(cells: dict[str, str], at: pd.DataFrame, table: Printed) -> Iterator[str]:
    least = at["sample_complexity"].min()
    for row in at.itertuples():
        head = latex_text(labels.mechanism_label(row.mechanism))
        if head not in cells:
            if head not in table.notes or latex_text(row.reason)[:40] not in table.notes:
                yield f"{head} is lost without a reason"
            continue
        cell, value = cells[head], row.sample_complexity
        if math.isnan(value):
            if "\\dagger" not in cell or latex_text(row.reason)[:40] not in table.notes:
                yield f"{head} has no dagger, or no reason below"
            continue
        if not math.isclose(number(cell), value, rel_tol=5.1e-4):
            yield f"{head} prints {cell} for {value}"
        if cell.startswith("\\bfseries") != math.isclose(value, least, rel_tol=1e-4):
            yield f"{head} is wrongly bold, or not"
    bound = at["lower_bound"].max()
    if not math.isclose(number(cells["Lower bound"]), max(bound, 0.0), rel_tol=5.1e-4):
        yield "wrong bound"
    if bound > 0 and not math.isclose(number(cells["Best over bound"]), least / bound, rel_tol=5.1e-4):
        yield "wrong ratio to the bound"


@pytest.fixture(scope="module")
def figure_1() -> pd.DataFrame:
    return kinds.read_csv(GALLERY / "mckenna2020-figure-1.csv")


@pytest.fixture(scope="module")
def with_gaps() -> pd.DataFrame:
    return kinds.read_csv(GALLERY / "epsilon.csv")


def test_every_cell_is_the_csv_files(figure_1: pd.DataFrame, with_gaps: pd.DataFrame) -> None:
    for frame in (figure_1, with_gaps):
        assert faults(kinds.latex(frame), frame) == []
    tables = printed(kinds.latex(figure_1))
    assert sum(len(table.rows) for table in tables) == 2 * 6 * 8  # users, and bits, of every workload at every ε
    users = [table for table in tables if not table.caption.startswith("Bits")]
    assert sum(len(table.rows) for table in users) == 6 * 8
    assert all(table.heads[-2:] == ["Lower bound", "Best over bound"] for table in users)


@pytest.mark.parametrize(
    ("plant", "says"),
    [
        (lambda text: text.replace("\\bfseries 1561", "1561", 1), "wrongly bold"),
        (lambda text: text.replace(" 1663 ", " \\bfseries 1663 ", 1), "wrongly bold"),
        (lambda text: text.replace(" 1663 ", " 16630 ", 1), "prints 16630"),
        (lambda text: text.replace(" 1663 ", " 1.663 ", 1), "prints 1.663"),
        (lambda text: text.replace(" 1663 ", " {$\\dagger$} ", 1), "prints"),
        (lambda text: re.sub(r"& 1561 & 1\.000", "& 1571 & 1.000", text, count=1), "wrong bound"),
        (lambda text: re.sub(r"& 1561 & 1\.000", "& 1561 & 1.010", text, count=1), "wrong ratio"),
    ],
)
def test_a_planted_fault_is_found(figure_1: pd.DataFrame, plant: object, says: str) -> None:
    text = kinds.latex(figure_1)
    planted = plant(text)  # type: ignore[operator]
    assert planted != text
    assert any(says in fault for fault in faults(planted, figure_1))


def test_a_dagger_without_its_reason_is_found(with_gaps: pd.DataFrame) -> None:
    text = kinds.latex(with_gaps)
    reasons = with_gaps.loc[with_gaps["status"] == "refused", "reason"]
    assert len(reasons)
    lost = text.replace(latex_text(reasons.iloc[0])[:40], "no reason")
    assert lost != text
    assert faults(lost, with_gaps)


@pytest.mark.slow
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_table_of_the_gallery_is_well_formed(path: Path) -> None:
    text = kinds.latex(kinds.read_csv(path))
    tables = printed(text)
    assert tables
    for table in tables:
        assert len(table.caption.split()) <= 90
        assert len(table.rows) <= 45
        marks = {mark for cells in table.rows.values() for cell in cells.values() for mark in _daggers(cell)}
        assert marks == set(_daggers(table.notes.partition("\\par ")[2]))
    assert not re.search(r"\bnan\b|U\+|textbackslash|e\+\d", text)
    assert text.isascii()
    assert len(set(re.findall(r"\\label\{(.*?)\}", text))) == len(tables)


def _daggers(text: str) -> list[str]:
    return re.findall(r"\$\\dagger(?:_\{\d+\})?\$", text)


# Small tables.


@dataclass
class Plain:
    """A column that is in no vocabulary."""

    name: str
    type: str
    label: str
    symbol: str = ""

    @property
    def short(self) -> str:
        return self.symbol or self.label


COLUMNS: Any = {
    column.name: column
    for column in (
        Plain("place", "text", "place"),
        Plain("n", "integer", "domain size n", "n"),
        Plain("alpha", "number", "error α", "α"),
        Plain("who", "text", "mechanism"),
        Plain("error", "number", "error"),
        Plain("upper", "number", "norm", "Γ"),
        Plain("lower", "number", "norm"),
        Plain("bound", "number", "bound"),
        Plain("reason", "text", "reason"),
    )
}
PAPER = PaperTable(rows=("place", "n"), columns=("who",), shown=(Shown("error"),), best="min", bound="bound")


def small(*rows: tuple[str, int, str, float, str], bound: float = 1.0) -> pd.DataFrame:
    frame = pd.DataFrame(rows, columns=["place", "n", "who", "error", "reason"])
    return frame.assign(study="s", bound=bound, alpha=math.nan, seed=0)


def one(frame: pd.DataFrame, paper: PaperTable = PAPER) -> Printed:
    [table] = printed(typeset(frame, [paper], COLUMNS))
    return table


def test_what_reads_the_same_is_equally_bold() -> None:
    frame = small(("x", 8, "first", 2.0, ""), ("x", 8, "other", 2.00001, ""), ("x", 8, "worse", 2.1, ""))
    [row] = one(frame).rows.values()
    assert [row[head].startswith("\\bfseries") for head in ("First", "Other", "Worse")] == [True, True, False]


def test_reasons_are_said_once_and_lost_series_below() -> None:
    rows = [("x", n, "first", 2.0, "") for n in (8, 16)] + [
        ("x", 8, "other", 3.0, ""),
        ("x", 16, "other", math.nan, "too large"),
    ]
    rows += [("x", n, "worse", math.nan, f"no way at {n}") for n in (8, 16)]
    table = one(small(*rows))
    assert "\\dagger" in table.rows["", "16"]["Other"]
    assert table.notes.count("too large") == 1
    assert "Not shown: worse (no way at 8 (numbers vary))." in table.notes
    assert table.heads == ["First", "Other", "Bound", "Best over bound"]


def test_a_vacuous_bound_has_no_ratio() -> None:
    [row] = one(small(("x", 8, "first", 2.0, ""), ("x", 8, "other", 3.0, ""), bound=-1.0)).rows.values()
    assert row == {"First": "\\bfseries 2", "Other": "3", "Bound": "0"}


def test_a_row_with_an_empty_key_holds_at_every_value_of_the_key() -> None:
    rest = [small(("x", 8, "other", e, "")).assign(alpha=e) for e in (0.1, 0.2)]
    frame = pd.concat([small(("x", 8, "every", 2.5, "")), *rest])
    paper = PaperTable(rows=("n", "alpha"), columns=("who",), shown=(Shown("error"),))
    rows = one(frame.reset_index(drop=True), paper).rows
    assert {label: cells["Every"] for (_, label), cells in rows.items()} == {"0.1": "2.500", "0.2": "2.500"}


def test_long_tables_keep_the_ends_of_every_block_and_say_so() -> None:
    places = [f"place {i}" for i in range(8)]
    frame = small(*((place, n, "a", float(n), "") for place in places for n in range(1, 101)))
    tables = printed(typeset(frame, [PAPER], COLUMNS))
    assert len(tables) == 3
    for place in places:
        kept = [label for table in tables for block, label in table.rows if block == place]
        assert (kept[0], kept[-1]) == ("1", "100")
    assert "of 800 rows are printed, evenly chosen" in tables[0].notes


def test_a_block_of_zero_is_titled() -> None:
    rows = [("x", n, "a", float(n), "") for n in (1, 2)]
    frame = pd.concat([small(*rows).assign(alpha=alpha) for alpha in (0.0, 0.5)], ignore_index=True)
    table = one(frame, PaperTable(rows=("alpha", "n"), columns=("who",), shown=(Shown("error"),)))
    assert {block for block, _ in table.rows} == {r"$\alpha$ = 0", r"$\alpha$ = 0.5"}


def test_wide_tables_are_stacked_and_none_is_lost() -> None:
    names = [f"mechanism-{i:02d}" for i in range(40)]
    frame = small(*(("x", n, name, float(n), "") for n in (1, 2) for name in names))
    text = typeset(frame, [PAPER], COLUMNS)
    [table] = printed(text)
    assert table.heads == [*(name.capitalize() for name in names), "Bound", "Best over bound"]
    assert text.count("\\toprule") > 40 * 4.4 * len("mechanism-00") / LINE


def test_certified_numbers_have_the_digits_of_both_ends() -> None:
    paper = PaperTable(rows=("n",), shown=(Shown("upper", low="lower"),))
    frame = small(("x", 1, "a", 1.0, ""), ("x", 2, "a", 1.0, ""), ("x", 3, "a", 1.0, ""))
    frame = frame.assign(lower=[2.9614648, 1.444, 0.0], upper=[2.9614665, 1.456, 1e-15])
    cells = [cells["Norm"] for cells in one(frame, paper).rows.values()]
    assert cells == ["2.9615", "{[\\num{1.44}, \\num{1.46}]}", "0"]


def test_seeds_share_a_cell_and_a_total_row_has_all() -> None:
    seeds = [small(("one", 8, "a", e, ""), ("two", 8, "a", 9.0, "")).assign(seed=s) for s, e in ((0, 1.0), (1, 2.0))]
    paper = PaperTable(rows=("place",), shown=(Shown("error"), Shown("error", "max", "largest")), total="All")
    table = one(pd.concat(seeds, ignore_index=True), paper)
    assert [*table.rows["", "one"].values()] == ["1.500", "2"]
    assert [*table.rows["", "All"].values()] == ["5.500", "9"]
    assert "ver 2 seeds" in table.notes


def test_a_study_without_a_number_says_why() -> None:
    rows = [("x", n, who, math.nan, "too large") for n in (8, 16) for who in ("one", "other")]
    table = one(small(*rows, bound=math.nan))
    assert not table.rows
    assert "Not shown: one; other (too large)." in table.notes


def test_every_kind_has_tables_of_its_columns() -> None:
    for name in kinds.names():
        kind = kinds.declared(name)
        assert all({*paper.names} <= {column.name for column in kind.columns} for paper in papers.papers_of(kind)), name
