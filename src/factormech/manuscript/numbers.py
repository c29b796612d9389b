r"""The numbers of a study as macros of LaTeX, so that a manuscript names numbers and never types them.

A macro is called after the study, what is counted and how: ``\fmFigureOneMedianImprovement``,
``\fmFigureOneEpsilonMax``, ``\fmFigureOneOptimisedMedianSampleComplexity``. Names of LaTeX
have letters alone, so that digits are spelt.

**The caption** of a figure is LaTeX in which every number of the table is a macro. Numbers that a caption cites
("Theorem 3.4", "PVLDB 13(11), 2020") and those that the author of a study typed stay as they are, unless a setting of
the table stands there: "ε = 1".
"""

from __future__ import annotations

import hashlib
import math
import re
import statistics
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from factormech.studies.base import Column
from factormech.studies.sample_complexity import LOWER_BOUND
from factormech.tables import kinds, papers
from factormech.tables.cells import numeral
from factormech.tables.latex import latex_text
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
    """Yield the ends and the number of values of each axis of the table."""
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
    """Yield the settings that are the same in all rows."""
    for name, column in columns.items():
        if name in keys or column.type == "text" or not len(frame):
            continue
        values = set(frame[name].tolist())
        if len(values) == 1 and not is_empty(value := values.pop()):
            yield Number(camel(name), float(value), exact(float(value)), column.label, column.short)


def _shown(frame: pd.DataFrame, column: Column, by: list[Column]) -> Iterator[Number]:
    """Yield minimum, median and maximum of the measured columns, over all rows and over those of each series."""
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


# A number on its own: not a part of a name ("3-way"), of a formula ("2w(K)", "1/p") or of a list of indices.
_NUMBER = re.compile(
    r"(?<![\w.,(/^√·−±-])(?<!≤ )(?:10[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+|\d+(?:\.\d+)?(?:e[-+]?\d+)?)(?![\w(/√^]|[-–]\w|\.\d| 1/)"
)
# What a number after it cites.
_CITED = re.compile(
    r"(?:Theorems?|Figures?|Sections?|Chapters?|Lemmas?|Corollar(?:y|ies)|Definitions?|Algorithms?|Propositions?"
    r"|Remarks?|Tables?|Theorem \d+(?:\.\d+)? and|PVLDB|STOC|COLT|SODA|ICLR|§|[A-Z]\w+ \d+(?:\.\d+)? and)\s?$"
)
_YEAR = re.compile(r"(?:19|20)\d\d")
_RAISED = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
_MARK = "FMNUMBER"


def with_macros(caption: str, typed: Iterable[str], found: Sequence[Number], prefix: str) -> tuple[str, list[Number]]:
    """Return a caption as LaTeX, and the numbers that it alone has.

    Parameters
    ----------
    caption
        The caption as text.
    typed
        The pieces of it that the author of the study typed.
    found
        The numbers of the table.
    prefix
        How the names of macros begin, after ``fm``.
    """
    spans = [span for text in typed for span in _places(caption, text)]
    names: list[str] = []
    own: list[Number] = []
    pieces, end = [], 0
    for token in _NUMBER.finditer(caption):
        before = caption[: token.start()]
        if _CITED.search(before) or (_YEAR.fullmatch(token[0]) and before.endswith((", ", "("))):
            continue
        value = _value(token[0])
        is_typed = any(start <= token.start() < stop for start, stop in spans)
        one = _in_context(before, value, found)
        if one is None and is_typed:
            continue
        if one is None:
            one = Number(f"Caption{chr(ord('A') + len(own))}", value, exact(value), "a number of the caption")
            own.append(one)
        pieces += [caption[end : token.start()], f"{_MARK}{_letters(len(names))}"]
        names.append(one.name)
        end = token.end()
    text = latex_text("".join([*pieces, caption[end:]]))
    for i, name in reversed([*enumerate(names)]):
        text = text.replace(f"{_MARK}{_letters(i)}", f"\\fm{prefix}{name}{{}}")
    return text, own


def _places(caption: str, text: str) -> list[tuple[int, int]]:
    """Return the positions of a text in a caption, sentence by sentence."""
    sentences = [part.strip() for part in re.split(r"(?<=[.!?])\s", " ".join(text.split())) if part.strip()]
    starts = [(caption.find(part[1:].rstrip(".")), len(part)) for part in sentences]
    return [(start, start + length) for start, length in starts if start >= 0]


def _in_context(before: str, value: float, found: Iterable[Number]) -> Number | None:
    """The setting whose symbol or label a number follows: "ε = 1", "domain size n from 8 to 64"."""
    for one in found:
        if one.symbol and math.isclose(one.value, value, rel_tol=1e-5) and re.search(_follows(one), before):
            return one
    return None


def _follows(one: Number) -> str:
    """Return the text that stands before a setting in a caption."""
    label = re.escape(one.meaning.removesuffix(", minimum").removesuffix(", maximum"))
    if one.name.endswith("Min"):
        return rf"{label} from $"
    if one.name.endswith("Max"):
        return rf"{label} from \S+ to $"
    target = "|error $" if one.symbol == "α" else ""
    return rf"(?:^|[\s(]){re.escape(one.symbol)} = $|{label} = ${target}"


def _value(text: str) -> float:
    if re.fullmatch("10[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+", text):
        return float(10.0 ** int(text[2:].translate(_RAISED)))
    return float(text)


def _letters(i: int) -> str:
    """A word of letters for a whole number, of four letters, so that no word begins another."""
    return "".join(chr(ord("a") + i // 26**k % 26) for k in (3, 2, 1, 0))
