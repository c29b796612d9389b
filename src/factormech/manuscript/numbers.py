r"""The numbers of a study as macros of LaTeX, so that a manuscript names numbers and never types them.

A macro is called after the study, what is counted and how: ``\fmFigureOneMedianImprovement``,
``\fmFigureOneEpsilonMax``, ``\fmFigureOneOptimisedMedianSampleComplexity``. Names of LaTeX
have letters alone, so that digits are spelt.
"""

from __future__ import annotations

import hashlib
import math
import re
import statistics
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from factormech.studies.base import Column
from factormech.studies.sample_complexity import LOWER_BOUND
from factormech.tables import kinds, papers
from factormech.tables.cells import numeral
from factormech.tables.panels import number
from factormech.tables.pivot import value_label
from factormech.tables.rows import is_empty

if TYPE_CHECKING:
    import pandas as pd

DIGITS = ("Zero", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine")
_STATISTICS: Mapping[str, Callable[[list[float]], float]] = {"Min": min, "Median": statistics.median, "Max": max}
_MEANING = {"Min": "minimum", "Median": "median", "Max": "maximum"}


@dataclass(frozen=True)
class Number:
    """A number of a table.

    Parameters
    ----------
    name
        The last part of the macro's name.
    value
        The number.
    text
        How LaTeX prints it.
    meaning
        What it is, in a few words.
    symbol
        What stands before it in captions, as in "ε = 0.5"; nothing for a number that is measured.
    """

    name: str
    value: float
    text: str
    meaning: str
    symbol: str = ""


def prefix_of(study: str, paper: str) -> str:
    r"""Return how the macros of a study begin: ``FigureOne`` for mckenna2020-figure-1."""
    return camel(study.removeprefix("quick/").removeprefix(f"{paper}-"))


def camel(text: str) -> str:
    """Return words and digits as one word of letters: "figure-1" is FigureOne, "0.5" is ZeroPointFive."""
    parts = re.findall(r"[A-Za-z]+|\d|(?<=\d)\.(?=\d)", text)
    return "".join("Point" if p == "." else DIGITS[int(p)] if p.isdigit() else p[:1].upper() + p[1:] for p in parts)


def numbers(frame: pd.DataFrame) -> list[Number]:
    """Return the numbers that a table says of its grid, its settings, and what it shows, each name once."""
    kind = kinds.declared(kinds.kind_of(frame))
    columns = {column.name: column for column in kind.columns}
    found = [*_grid(frame, [columns[name] for name in kind.keys]), *_settings(frame, columns, kind.keys)]
    for paper in papers.papers_of(kind):
        for shown in paper.shown:
            found += _shown(frame, columns[shown.column], [columns[name] for name in paper.columns])
    return list({one.name: one for one in reversed(found)}.values())[::-1]


def macros(found: Iterable[Number], prefix: str, *, study: str, source: bytes) -> str:
    """Return the definitions of all macros, with what each is, and the digest of the table that they are from."""
    lines = [
        f"% The numbers of {study}, from a table of SHA-256 {hashlib.sha256(source).hexdigest()[:16]}.",
        "% They need \\usepackage{siunitx}. A line says what its number is.",
    ]
    lines += [f"\\newcommand{{\\fm{prefix}{one.name}}}{{{one.text}}} % {one.meaning}" for one in found]
    return "\n".join(lines) + "\n"


def exact(value: float) -> str:
    r"""Return a setting as LaTeX, with all its digits: ``\num{0.5}``, a power of ten, or ∞."""
    text = number(value) if math.isfinite(value) else ""
    if re.fullmatch(r"1e[-+]?\d+", text):
        return rf"\ensuremath{{10^{{{int(text[2:])}}}}}"
    return rf"\num{{{text}}}" if text else _infinite(value)


def measured(value: float) -> str:
    r"""Return a measured number as LaTeX, with four digits: ``\num{1663}``."""
    if not math.isfinite(value):
        return _infinite(value)
    return rf"\num{{{value:.0f}}}" if value == round(value) and abs(value) < 1e4 else rf"\num{{{numeral(value)}}}"


def _infinite(value: float) -> str:
    return r"\ensuremath{\infty}" if value > 0 else r"\ensuremath{-\infty}"


def _grid(frame: pd.DataFrame, keys: Iterable[Column]) -> Iterator[Number]:
    """Where the table is: the ends and the number of values of each axis."""
    for column in keys:
        every = frame[column.name].unique().tolist()
        values = [value for value in every if not is_empty(value) and value not in ("", LOWER_BOUND)]
        name = camel(column.name)
        if column.type != "text":
            yield from _ends(column, sorted(float(value) for value in values))
        if len(values) > 1:
            yield Number(f"{name}Count", len(values), exact(len(values)), f"number of values: {column.label}")


def _ends(column: Column, values: list[float]) -> Iterator[Number]:
    name = camel(column.name)
    if len(values) == 1:
        yield Number(name, values[0], exact(values[0]), column.label, column.short)
    for what, value in (("Min", values[0]), ("Max", values[-1])) if len(values) > 1 else ():
        yield Number(f"{name}{what}", value, exact(value), f"{column.label}, {_MEANING[what]}", column.short)


def _settings(frame: pd.DataFrame, columns: Mapping[str, Column], keys: Iterable[str]) -> Iterator[Number]:
    """What is the same in all rows."""
    for name, column in columns.items():
        if name in keys or column.type == "text" or not len(frame):
            continue
        values = set(frame[name].tolist())
        if len(values) == 1 and not is_empty(value := values.pop()):
            yield Number(camel(name), float(value), exact(float(value)), column.label, column.short)


def _shown(frame: pd.DataFrame, column: Column, by: list[Column]) -> Iterator[Number]:
    """What is measured: its minimum, median and maximum, of all rows and of those of each series."""
    yield from _statistics(frame[column.name], column, "", "")
    if not by:
        return
    names = [one.name for one in by]
    for values, rows in frame.groupby(names, sort=False):
        label = ", ".join(filter(None, (value_label(name, value) for name, value in zip(names, values, strict=True))))
        yield from _statistics(rows[column.name], column, "".join(camel(str(value)) for value in values), label)


def _statistics(values: pd.Series[Any], column: Column, series: str, label: str) -> Iterator[Number]:
    there = [float(value) for value in values if not is_empty(value)]
    for what, of in _STATISTICS.items() if there else ():
        value = float(of(there))
        meaning = f"{_MEANING[what]} of {column.label}" + f", {label}" * bool(label)
        yield Number(f"{series}{what}{camel(column.name)}", value, measured(value), meaning)
