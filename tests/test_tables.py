"""Tables: what is written is what is read, what is not a table is refused, and the LaTeX parses."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from factormech.errors import BadValue
from factormech.studies.sample_complexity import MEASURED
from factormech.tables import kinds as tables
from tests.tiers import every

MakeTable = Callable[..., pd.DataFrame]
FORMAT = tables.format_named("sample-complexity")
SMALL: dict[str, Any] = {"workloads": {"prefix": 1.0, "histogram": 0.1}, "epsilons": (0.5, 4.0)}


def identical(a: pd.DataFrame, b: pd.DataFrame) -> bool:
    """Equal columns, types, text and, for floats, bits (so that 0 is not −0)."""
    if list(a.columns) != list(b.columns) or list(map(str, a.dtypes)) != list(map(str, b.dtypes)):
        return False
    for name in a.columns:
        x, y = a[name].tolist(), b[name].tolist()
        if name in tables.format_named(tables.kind_of(a)).floats:
            x, y = ([struct.pack("<d", v) if v == v else None for v in values] for values in (x, y))
        if x != y:
            return False
    return True


@pytest.mark.parametrize("seeds", [(0,), (0, 1, 7)])
def test_round_trip(make_table: MakeTable, tmp_path: Path, seeds: Any) -> None:
    frame = make_table(**SMALL, seeds=seeds)
    tables.write_csv(frame, tmp_path / "t.csv")
    assert identical(tables.read_csv(tmp_path / "t.csv"), frame)
    assert tuple(frame["seed"].unique()) == seeds


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(
    value=st.floats(min_value=0, allow_infinity=False, allow_nan=False),
    bound=st.floats(allow_infinity=False, allow_nan=False),
    reason=st.text(st.characters(blacklist_categories=["Cc", "Cs", "Zl", "Zp"]), min_size=1),
    epsilon=st.floats(min_value=0.001, max_value=40),
)
def test_any_float_and_text_survive(
    tmp_path_factory: pytest.TempPathFactory, value: float, bound: float, reason: str, epsilon: float
) -> None:
    point = {
        "study": reason,
        "workload": "w",
        "domain_size": 2**62,
        "epsilon": epsilon,
        "seed": 0,
        "metric": "m",
        "alpha": 0.1,
    }
    measured = dict.fromkeys(MEASURED, value)
    near = {"lower_bound": min(value, bound), "bound_name": "x"}  # no value is below its own bound
    frame = tables.from_rows(
        [
            {**point, "mechanism": "a", "status": "ok", **measured, **near},
            {**point, "mechanism": 'b,"', "status": "refused", "reason": reason, **near},
            {**point, "mechanism": "lower-bound", "status": "bound", **near},
        ]
    )
    path = tmp_path_factory.mktemp("t") / "t.csv"
    tables.write_csv(frame, path)
    assert identical(tables.read_csv(path), frame)


def test_bytes_are_canonical(make_table: MakeTable, tmp_path: Path) -> None:
    for name in ("a", "b"):
        tables.write_csv(make_table(**SMALL), tmp_path / name)
    content = (tmp_path / "a").read_bytes()
    assert content == (tmp_path / "b").read_bytes()
    assert b"\r" not in content
    assert content.endswith(b"\n")
    assert b",nan" not in content
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a", "b"]


def test_header_is_the_promised_one(make_table: MakeTable, tmp_path: Path) -> None:
    tables.write_csv(make_table(**SMALL), tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_text().splitlines()[0] == (
        "study,kind,workload,domain_size,epsilon,seed,mechanism,metric,alpha,sample_complexity,worst_variance,"
        "average_variance,lower_bound,bound_name,rows,certified_gap,log2_outputs,status,reason,origin"
    )


@pytest.mark.slow
def test_truncations_are_refused(make_table: MakeTable, tmp_path: Path) -> None:
    """A file cut in a line never reads; one cut at a line end only where a smaller grid is complete."""
    path = tmp_path / "t.csv"
    frame = make_table(**SMALL)
    tables.write_csv(frame, path)
    whole = path.read_bytes()
    ends = [i + 1 for i, byte in enumerate(whole) if byte == 10]
    read = []
    for length in sorted({*range(0, len(whole), 41), *ends, len(whole) - 1}):
        path.write_bytes(whole[:length])
        try:
            read.append(len(tables.read_csv(path)))
        except BadValue:
            continue
    point = len(frame) // 4
    assert read == [point, 2 * point, 4 * point]  # one ε of the first workload, all of it, everything


def test_a_failed_write_leaves_the_old_file(
    make_table: MakeTable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "t.csv"
    path.write_text("old")

    def fail(_: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("factormech.store.atomic.os.fsync", fail)
    with pytest.raises(KeyboardInterrupt):
        tables.write_csv(make_table(**SMALL), path)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def edited(path: Path, line: int, column: str, cell: str) -> None:
    lines = path.read_text().split("\n")
    cells = lines[line - 1].split(",")
    cells[lines[0].split(",").index(column)] = cell
    lines[line - 1] = ",".join(cells)
    path.write_text("\n".join(lines))


@pytest.mark.parametrize(
    ("column", "cell", "says"),
    [
        ("sample_complexity", "abc", "be a number"),
        ("sample_complexity", "nan", "be a number"),
        ("sample_complexity", "inf", "be a number"),
        ("sample_complexity", "1_0", "be a number"),
        ("sample_complexity", " 1", "be a number"),
        ("sample_complexity", "1e999", "finite"),
        ("sample_complexity", "-1.0", "at least 0"),
        ("worst_variance", "", "finite number"),
        ("domain_size", "512.0", "whole number"),
        ("domain_size", "0", "at least 1"),
        ("domain_size", "9" * 30, "whole number"),
        ("epsilon", "0.0", "at least 0.001"),
        ("epsilon", "", "not be empty"),
        ("alpha", "-0.01", "above 0"),
        ("status", "fine", "be one of ok, refused"),
        ("status", "bound", "only there"),
        ("status", "refused", "be empty where"),
        ("reason", "because", "be empty where"),
        ("lower_bound", "", "bound_name"),
        ("bound_name", "", "bound_name"),
        ("bound_name", "svd", "strongest"),
        ("lower_bound", "1.5", "strongest"),
        ("rows", "0.5", "be at least 1, or empty"),
        ("certified_gap", "-0.1", "be at least 0, or empty"),
        ("log2_outputs", "-1", "be at least 0, or empty"),
        ("mechanism", "", "not be empty"),
        ("mechanism", "lower-bound", "only there"),
        ("workload", "hist\x00", "control"),
        ("mechanism", "rappor", "once"),
        ("epsilon", "0.75", "a row for every"),
    ],
)
def test_edited_cells_are_refused(make_table: MakeTable, tmp_path: Path, column: str, cell: str, says: str) -> None:
    path = tmp_path / "t.csv"
    tables.write_csv(make_table(**SMALL), path)
    tables.read_csv(path)
    edited(path, 2, column, cell)
    with pytest.raises(BadValue, match=re.escape(str(path))) as caught:
        tables.read_csv(path)
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "cut off, or is empty"),
        (b"a,b\n1,2\n", "line 1"),
        (b"\x89HDF\r\n\x1a\n" + bytes(range(256)), "UTF-8"),
        (b"study,workload\n", "line 1"),
        (",".join(FORMAT.columns).encode() + b"\n", "at least one row"),
        (",".join(FORMAT.columns).encode() + b"\n\n", "have 20 cells"),
        (",".join(FORMAT.columns).encode() + b"\na,b\n", "have 20 cells"),
        (",".join(FORMAT.columns).encode() + b'\n"a\n', "CSV"),
    ],
)
def test_foreign_files_are_refused(tmp_path: Path, content: bytes, says: str) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(content)
    with pytest.raises(BadValue, match=re.escape(says)):
        tables.read_csv(path)


def test_missing_files_and_folders_are_refused(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "none.csv"):
        with pytest.raises(BadValue, match="run the workflow first"):
            tables.read_csv(path)


def test_write_refuses_what_is_not_a_table(make_table: MakeTable, tmp_path: Path) -> None:
    good = make_table(**SMALL)
    bad = [
        good.iloc[:-1],
        good.drop(columns="reason"),
        good.assign(domain_size=good["domain_size"].astype(float)),
        good.assign(reason=np.nan),
        good.assign(reason=good["reason"].str.cat(["\r"] * len(good))),
        good[0:0],
    ]
    for frame in bad:
        with pytest.raises(BadValue):
            tables.write_csv(frame, tmp_path / "t.csv")
    assert not list(tmp_path.iterdir())


def test_from_rows_says_what_is_wrong() -> None:
    with pytest.raises(BadValue, match="epsilson"):
        tables.from_rows([{"epsilson": 1.0}])
    with pytest.raises(BadValue, match="domain_size"):
        tables.from_rows([{"study": "t"}])


# --- older tables

GALLERY = sorted((Path(__file__).parents[1] / "docs" / "gallery").glob("*.csv"))
# Beside the tables of studies: what claims gave, and what the run took.
OTHERS = {"claims", "jobs", "run", "times"}


@pytest.mark.parametrize(
    "path", every(4, [path for path in GALLERY if path.stem not in OTHERS]), ids=lambda path: path.stem
)
def test_every_table_of_the_gallery_is_read(path: Path, tmp_path: Path) -> None:
    """Written as it is today, it reads back to equal bits."""
    frame = tables.read_csv(path)
    assert frame["kind"].unique().tolist() == [tables.kind_of(frame)]
    tables.write_csv(frame, tmp_path / "t.csv")
    assert identical(tables.read_csv(tmp_path / "t.csv"), frame)


def test_columns_that_an_older_table_lacks_have_what_they_stood_for(make_table: MakeTable, tmp_path: Path) -> None:
    frame, path = make_table(**SMALL), tmp_path / "t.csv"
    for dropped in (["kind"], ["seed"], ["kind", "seed"]):
        frame.drop(columns=dropped).to_csv(path, index=False)
        read = tables.read_csv(path)
        assert tables.kind_of(read) == "sample-complexity"
        assert identical(read, frame)
    frame.drop(columns="rows").to_csv(path, index=False)
    with pytest.raises(BadValue, match="line 1"):
        tables.read_csv(path)


def test_a_table_is_of_the_kind_that_it_says(make_table: MakeTable, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    tables.write_csv(make_table(**SMALL), path)
    edited(path, 3, "kind", "optimality-gap")
    with pytest.raises(BadValue, match="line 3, column kind = 'optimality-gap': must be sample-complexity"):
        tables.read_csv(path)


def test_what_solvers_recorded_is_of_mechanisms_alone(make_table: MakeTable) -> None:
    frame = make_table({"prefix": 1.0}, {"hadamard": 1.0, "optimised": 0.5}, (0.5, 4.0))
    frame.loc[frame["mechanism"] == "optimised", ["rows", "certified_gap"]] = np.array([[70.0, 0.01], [64.0, 0.004]])
    tables.check(frame)
    frame.loc[frame["status"] == "bound", "rows"] = 3.0
    with pytest.raises(BadValue, match="rows"):
        tables.check(frame)
