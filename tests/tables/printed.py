"""What a LaTeX table prints, read back: heads, blocks, rows and cells of every tabular, and the notes below."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

_TABULAR = re.compile(
    r"\\begin\{tabular\}\{@\{\}(?P<spec>.*?)@\{\}\}\n(?P<body>.*?)\\end\{tabular\}$", re.DOTALL | re.M
)
_SPEC = re.compile(r"S\[table-format=[^\]]*\]|[lrc]")
_HEAD = re.compile(r"\{(?:\\begin\{tabular\}\[b\]\{@\{\}c@\{\}\}(.*?)\\end\{tabular\}|([^&]*))\}(?: &| \\\\)")


@dataclass
class Printed:
    """One float: its heads, and rows as (block, label) → head → cell."""

    caption: str
    notes: str
    heads: list[str] = field(default_factory=list)
    rows: dict[tuple[str, str], dict[str, str]] = field(default_factory=dict)


def printed(text: str) -> list[Printed]:
    """Every float of a file; stacked tabulars are one table, and every row has as many cells as its tabular columns."""
    floats = re.findall(r"\\begin\{table\}.*?\\end\{table\}", text, flags=re.DOTALL)
    assert text.count("\\begin{table}") == len(floats)
    return [_float(one) for one in floats]


def _float(text: str) -> Printed:
    caption = re.search(r"\\caption\{(.*)\}\\label\{tab:[^}]+\}", text)
    assert caption
    last = text.rfind("\\end{tabular}")
    table = Printed(caption[1], text[max(last, 0) :])
    for found in _TABULAR.finditer(text):
        width = len(_SPEC.findall(found["spec"]))
        lines = found["body"].splitlines()
        assert [line for line in lines if "rule" in line] == ["\\toprule", "\\midrule", "\\bottomrule"]
        heads = [(a or b).replace(" \\\\", "") for a, b in _HEAD.findall(lines[1])]
        assert len(heads) == width, lines[1]
        table.heads += heads[1:]
        for row, cells in _rows(lines[3:-1], width):
            table.rows.setdefault(row, {}).update(zip(heads[1:], cells, strict=True))
    return table


def _rows(lines: list[str], width: int) -> Iterator[tuple[tuple[str, str], list[str]]]:
    block = ""
    for line in lines:
        if line == "\\addlinespace":
            continue
        title = re.fullmatch(r"\\multicolumn\{(\d+)\}\{@\{\}l\}\{\\itshape (.*)\} \\\\", line)
        if title:
            assert int(title[1]) == width
            block = title[2]
            continue
        label, *cells = re.split(r"(?<!\\) & ", line.removesuffix(" \\\\"))
        assert len(cells) == width - 1, line
        yield (block, label), cells


def number(cell: str) -> float:
    """The number that a cell prints, NaN where it prints none."""
    text = cell.removeprefix("\\bfseries ")
    return float(text) if re.fullmatch(r"-?\d+(\.\d+)?(e-?\d+)?", text) else math.nan
