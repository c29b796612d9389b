"""CSV files as people have them: what is read, to which names, and what is refused with which sentence."""

from __future__ import annotations

import csv
import io
import itertools
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import factormech as fm
from factormech.errors import BadValue
from factormech.workloads.csv_text import parse

W = [[1.0, 0.0, -2.5], [0.1, 1e-30, 3.0]]
TYPES, QUERIES = ("0-17", "18-64", "65+"), ("young", "été")
PLAIN = "1,0,-2.5\n0.1,1e-30,3\n"

LAYOUTS: dict[str, tuple[str, bool, bool]] = {
    "numbers alone": (PLAIN, False, False),
    "a header": ("0-17,18-64,65+\n" + PLAIN, True, False),
    "names of queries": ("young,1,0,-2.5\nété,0.1,1e-30,3\n", False, True),
    "both, an empty corner": (",0-17,18-64,65+\nyoung,1,0,-2.5\nété,0.1,1e-30,3\n", True, True),
    "both, a named corner": ("query,0-17,18-64,65+\nyoung,1,0,-2.5\nété,0.1,1e-30,3\n", True, True),
    "both, no corner": ("0-17,18-64,65+\nyoung,1,0,-2.5\nété,0.1,1e-30,3\n", True, True),
    "quotes everywhere": ('"","0-17","18-64","65+"\n"young","1","0","-2.5"\n"été","0.1","1e-30","3"\n', True, True),
}
ENDS = {"unix": "\n", "windows": "\r\n", "old mac": "\r"}
ENCODINGS = ("utf-8", "utf-8-sig", "cp1252", "utf-16")


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_every_layout_is_read_to_the_last_bit(layout: str, delimiter: str) -> None:
    text, header, named = LAYOUTS[layout]
    for end, encoding, tail in itertools.product(ENDS.values(), ENCODINGS, ("", "\n", "\n\n")):
        content = (text + tail).replace(",", delimiter).replace("\n", end).encode(encoding)
        found = parse(content, "w.csv")
        assert found.values.tolist() == W
        assert found.column_names == (TYPES if header else None)
        assert found.row_names == (QUERIES if named else None)


def test_quotes_hold_delimiters_and_quotes() -> None:
    text = '"age, years";"say ""x"""\n1;2\n'
    assert parse(text.encode(), "w.csv").column_names == ("age, years", 'say "x"')
    rows = [["query", "a,b", "c;d"], ["x\ty", "1", "2"]]
    for delimiter in ",;\t":
        out = io.StringIO()
        csv.writer(out, delimiter=delimiter).writerows(rows)
        found = parse(out.getvalue().encode(), "w.csv")
        assert (found.row_names, found.column_names) == (("x\ty",), ("a,b", "c;d"))


def test_what_pandas_writes_is_read_back(tmp_path: Path) -> None:
    frame = pd.DataFrame(W, index=list(QUERIES), columns=list(TYPES))
    for saved, names in ((frame, QUERIES), (frame.reset_index(drop=True), ("0", "1"))):
        saved.to_csv(tmp_path / "w.csv")
        made = fm.workload(tmp_path / "w.csv")
        assert (made.query_names, made.type_names) == (names, TYPES)
        assert made.matrix().tolist() == W
    numbered = pd.DataFrame(W)
    numbered.to_csv(tmp_path / "n.csv")  # both axes are numbers: the empty corner tells
    assert fm.workload(tmp_path / "n.csv").type_names == ("0", "1", "2")


NUMBERS_ALONE = {
    "parities": "-1,1\n1,1\n",
    "prefix sums": "0,0,1\n0,1,1\n1,1,1\n",
    "moments": "1,2,3\n1,4,9\n1,8,27\n",
    "rows of a running number": "0,1,2\n3,4,5\n",
    "means below counts": "1,1,0\n18,30,45\n",
    "weights": "0.1,0.5\n0.25,0.3\n",
    "one query": "1,2,3\n",
    "one type": "5\n1\n",
}


@pytest.mark.parametrize("name", NUMBERS_ALONE)
def test_a_first_query_is_not_taken_for_a_header(name: str) -> None:
    text = NUMBERS_ALONE[name]
    want = [[float(cell) for cell in line.split(",")] for line in text.split()]
    assert parse(text.encode(), "w.csv").values.tolist() == want


REFUSED = {
    "a header of ages": (
        "18,30,45\n1,0,1\n0,1,1\n",
        r"line 1 = '18, 30, 45': must be a query; it looks like a header, because the other lines .* 0, 1 and -1; "
        r"if it is a header, remove it, or begin it with 'query' and each row with a name; if a query, move it down",
    ),
    "a header of years, backwards": ("2026,2025\n1,0\n", r"line 1 = '2026, 2025': must be a query; it looks like"),
    "a header of many numbers": ("0,1,2,3,4,5,6,7\n" + "2,9,9,9,9,9,9,0.5\n", r"'0, 1, 2, 3, 4, 5, …': .* consecutive"),
    "a wrong cell": ("1,2\n3,four\n", r"w.csv, line 2, column 2 = 'four': must be a number; correct this cell"),
    "a line below a header": ("a,b\n1,2\n3,x\n", r"line 3, column 2 = 'x'"),
    "a decimal comma": ("0,5;1\n1;2\n", r"line 1, column 1 = '0,5': .* decimal point: 0\.5"),
    "thousands": ("1;2\n1,234,567;2\n", r"line 2, column 1 = '1,234,567': .* separators of thousands"),
    "per cent": ("1,2\n50%,1\n", r"column 1 = '50%': .* a fraction"),
    "blanks": ("1 0\n0 1\n", r"line 1, column 1 = '1 0': .* by commas, semicolons or tabs"),
    "an empty cell": ("1,2\n,4\n", r"line 2, column 1 = '': must be a number; write a number into this empty cell"),
    "a trailing comma": ("1,\n3,\n", r"line 1, column 2 = ''"),
    "a ragged line": ("1,2\n3,4\n5\n", r"line 3: cells = 1: must have as many cells as line 1, 2"),
    "a ragged line below a header": ("a,b\n3,4\n5\n", r"line 3: cells = 1: must have as many cells as line 2, 2"),
    "a long header": ("a,b,c\n1,2\n", r"line 1: cells = 3: must have as many cells as line 2, 2"),
    "numbers among names": ("0,1,2+\n1,0,1\n", r"line 1, column 3 = '2\+': must be a number; .* if line 1 is a header"),
    "a header of some numbers": ("a,1,b\n1,0,1\n", r"line 1, column 1 = 'a': .* if line 1 is a header"),
    "a mistyped number alone": ("1O\n2\n", r"line 1, column 1 = '1O': must be a number"),
    "a header alone": ("a,b\n", r"line 1 = 'a, b': must stand above rows .* write a line for each query below it"),
    "a remark": ("# ages\nquery,a\nx,1\n", r"line 1 = '# ages': must be a header or a row; remove this line"),
    "a short first row": ("query,a,b\nx,1\ny,1,2\nz,0,1\n", r"line 2: cells = 2: must have as many cells as line 3, 3"),
    "a thousand": ("1;2\n1,400;2\n", r"line 2, column 1 = '1,400': .* a decimal point, 1\.400, or no .* 1400"),
    "names in some lines": ("1,2\nx,3\n", r"line 2, column 1 = 'x': must be a number"),
    "a name twice": ("a,b,a\n1,2,3\n", r"line 1, column 3 = 'a': must be another name than in line 1, column 1"),
    "a query twice": ("x,1\ny,2\nx,3\n", r"line 3, column 1 = 'x': must be another name than in line 1"),
    "a nameless column": ("query,a,\nx,1,2\n", r"line 1, column 3 = '': must be a name"),
    "an open quote": ('"a,b\n1,2\n', r"line 1 = .*: must close every quote"),
    "an empty line": ("1,2\n\n3,4\n", r"line 2 = 'an empty line': must hold a row; remove this line"),
    "no number": ("1,2\n3,nan\n", r"line 2, column 2 = nan: must be a finite number"),
    "no number below a header": ("a,b\n1,2\n3,inf\n", r"line 3, column 2 = inf"),
    "underscores": ("1,2\n1_000,3\n", r"line 2, column 1 = '1_000': must be a number"),
    "binary": ("1,2\n3,\x004\n", r"line 2 = '\\x00': must be text"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refusals_say_what_was_seen_in_which_line_and_what_to_change(case: str) -> None:
    text, said = REFUSED[case]
    for content in (text.encode(), text.replace("\n", "\r\n").encode("utf-8-sig")):
        with pytest.raises(BadValue, match=said) as refused:
            parse(content, "w.csv")
        assert "\n" not in str(refused.value)


def test_a_query_that_looks_like_a_header_is_a_query() -> None:
    """Names in every line and numbers beside them: no line is taken for a header, so that no query is lost."""
    found = parse(b"mean age,0,1,2\nold,0,0,1\n", "w.csv")
    assert found.row_names == ("mean age", "old")
    assert found.column_names is None
    assert parse(b"query,0,1,2\nold,0,0,1\n", "w.csv").column_names == ("0", "1", "2")


def test_random_tables_come_back() -> None:
    rng = np.random.default_rng(7)
    for shape in [(1, 1), (1, 4), (5, 1), (6, 3)]:
        values = rng.normal(size=shape) * 10.0 ** rng.integers(-30, 30, size=shape)
        text = "\n".join(",".join(map(repr, row)) for row in values.tolist())
        assert np.array_equal(parse(text.encode(), "w.csv").values, values)
