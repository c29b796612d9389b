"""The kinds of table, their formats, and their two forms, CSV and LaTeX.

The tables of experiments: formats made of what a kind of study says of its columns.

The first columns are ``study`` and ``kind``, the last one is ``origin``: the digest of the file of the part that the
row comes from, as that file states it. The others, their types and their rules are the experiment's
(:class:`factormech.studies.base.Experiment`).

The tables of results: their kinds, and their two forms, CSV and LaTeX.

The columns of a kind are those that its module in :mod:`factormech.studies` declares; the tables that are made from
another table are in ``comparisons.py``. A table says in its column ``kind`` which kind it is; that of an older file,
without the column, is found by its header. A missing number is NaN and a missing text is "".
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from factormech.errors import BadValue, UnknownName
from factormech.store.atomic import write_whole
from factormech.studies import registry as experiments
from factormech.studies.base import Asked, Column, Experiment, TableKind
from factormech.studies.renamed import RENAMED
from factormech.tables import comparisons
from factormech.tabular import Problem, TableFormat, check_grid, read_lines

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "check",
    "declared",
    "format_named",
    "formats",
    "from_rows",
    "has_header",
    "kind_of",
    "latex",
    "names",
    "read_csv",
    "write",
    "write_csv",
]


# The tables of experiments: formats made of what a kind of study says of its columns.

STUDY, KIND, ORIGIN = "study", "kind", "origin"
# How much of the digest of a file a row carries.
DIGITS = 12


def format_of(kind: Experiment | TableKind) -> TableFormat:
    """The format of a kind's tables."""
    integers = frozenset(column.name for column in kind.columns if column.type == "integer")
    floats = frozenset(column.name for column in kind.columns if column.type == "number")
    infinite = frozenset(column.name for column in kind.columns if column.infinite)
    added = {KIND: kind.kind, ORIGIN: ""} | {
        column.name: column.added for column in kind.columns if column.added is not None
    }

    def problem(row: Mapping[str, Any]) -> Problem:
        if row[STUDY] == "":
            return STUDY, "not be empty"
        if row[KIND] != kind.kind:
            return KIND, f"be {kind.kind}"
        found = _problem_of_gaps(row, kind.columns) or _problem_of_values(row, kind.columns)
        # A rule of the kind compares numbers: it is asked where there are some.
        return found or (None if row.get("reason") and kind.check_table is None else kind.check(row))

    def check_whole(frame: pd.DataFrame, name: str) -> None:
        if kind.check_table is not None:
            kind.check_table(frame, name)
            return
        for study, part in frame.groupby(STUDY, sort=False):
            _check_keys(part, kind, f"{name}, study {study}")

    renamed = RENAMED.get(kind.kind, {})
    columns = (STUDY, KIND, *(column.name for column in kind.columns), ORIGIN)
    return TableFormat(kind.kind, columns, integers, floats, problem, check_whole, added, infinite, renamed)


def part_of(kind: Experiment, study: str, rows: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """The rows of one part as a table; whether they are complete can only be seen in the whole."""
    import pandas as pd

    if kind.table is not None:  # what is measured is not yet a table
        return pd.DataFrame([dict(row) for row in rows])
    format_ = replace(format_of(kind), check_whole=lambda frame, name: None)
    return format_.from_rows({STUDY: study, KIND: kind.kind, **row} for row in rows)


def table_of(
    kind: Experiment,
    study: str,
    asked: Asked,
    parts: Mapping[str, pd.DataFrame],
    digests: Mapping[str, str] | None = None,
) -> pd.DataFrame:
    """The table of a study: its parts in their order, or what the kind makes of them.

    ``digests`` are those of the files of the parts, by name.
    """
    import pandas as pd

    parts = {name: frame.assign(**{ORIGIN: (digests or {}).get(name, "")[:DIGITS]}) for name, frame in parts.items()}
    if kind.table is not None:
        rows = kind.table(asked, parts)
        return format_of(kind).from_rows({STUDY: study, KIND: kind.kind, **row} for row in rows)
    frame = pd.concat(list(parts.values()), ignore_index=True)
    format_of(kind).check(frame)
    return frame


def is_empty(value: Any) -> bool:
    """Whether a cell has nothing in it."""
    return value == "" or (isinstance(value, float) and math.isnan(value))


def _problem_of_gaps(row: Mapping[str, Any], columns: Sequence[Column]) -> Problem:
    """What is missing without leave; or a reason for what is not missing."""
    missing = [column for column in columns if is_empty(row[column.name])]
    for column in missing:
        if column.empty == "never":
            return column.name, "not be empty"
        if column.empty == "reason" and row["reason"] == "":
            return column.name, "not be empty without a reason"
    has_reason = any(column.empty == "reason" for column in columns)
    if has_reason and row.get("reason") and not any(column.empty == "reason" for column in missing):
        return "reason", "be empty where no number is missing"
    return None


def _problem_of_values(row: Mapping[str, Any], columns: Iterable[Column]) -> Problem:
    for column in columns:
        value = row[column.name]
        if column.at_least is not None and not is_empty(value) and value < column.at_least:
            return column.name, f"be at least {column.at_least:g}"
    return None


def _check_keys(part: pd.DataFrame, kind: Experiment | TableKind, name: str) -> None:
    axes = [["" if is_empty(value) else value for value in part[key].tolist()] for key in kind.keys]
    if kind.complete:
        check_grid(axes, name, "grid", f"combination of {', '.join(kind.keys)}")
        return
    seen = set()
    for row in zip(*axes, strict=True):
        if row in seen:
            raise BadValue(name, " ".join(map(str, row)), "have this row once", "run the workflow again")
        seen.add(row)


# The tables of results: their kinds, and their two forms, CSV and LaTeX.


def names() -> list[str]:
    """Every kind of table."""
    return [*comparisons.KINDS, *experiments.names()]


def formats() -> Iterator[TableFormat]:
    """The format of every kind; those of experiments last, for their modules are imported."""
    yield from map(format_named, names())


def format_named(kind: str) -> TableFormat:
    """The format of a kind."""
    return format_of(declared(kind))


def declared(kind: str) -> Experiment | TableKind:
    """What declares the tables of a kind."""
    if kind not in names():
        raise UnknownName("kind of table", kind, names())
    return comparisons.KINDS[kind] if kind in comparisons.KINDS else experiments.experiment(kind)


def kind_of(frame: pd.DataFrame) -> str:
    """The kind of a table."""
    return _format_of_frame(frame).kind


def from_rows(rows: Iterable[Mapping[str, Any]], kind: str = "sample-complexity") -> pd.DataFrame:
    """A table from mappings column → value; what a row leaves out (or gives as ``None``) is empty.

    The column ``kind`` is added. The rules of the kind are checked.
    """
    return format_named(kind).from_rows({KIND: kind, **row} for row in rows)


def read_csv(path: Path | str) -> pd.DataFrame:
    """The table in a CSV file of :func:`write_csv`; anything else is refused with its line and the remedy."""
    path = Path(path)
    lines = read_lines(path)
    remedy = "give a file of results/tables, or run the workflow again"
    kind = lines[1][1] if lines[0][1:2] == [KIND] and len(lines) > 1 and len(lines[1]) > 1 else ""
    format_ = format_named(kind) if kind in names() else None
    if format_ is None or not format_.has(lines[0]):
        format_ = _format_of(lines[0], f"{path}, line 1", remedy)
    return format_.from_lines(lines, path)


def has_header(path: Path) -> bool:
    """Whether a file begins as a table does."""
    try:
        with path.open("rb") as file:
            first = file.readline(2**16).decode("utf-8").rstrip("\n")
    except (OSError, UnicodeDecodeError):
        return False
    return any(known.has(first.split(",")) for known in formats())


def write_csv(frame: pd.DataFrame, path: Path | str) -> None:
    r"""Write a table, whole or not at all: UTF-8, "\n" line ends, floats that read back to equal bits.

    Equal tables give equal bytes. A frame that breaks the rules of its kind is refused before anything is written.
    """
    _format_of_frame(frame).write_csv(frame, path)


def write(frame: pd.DataFrame, csv_path: Path | str, latex_path: Path | str) -> None:
    """Write a table in both its forms; a frame that breaks the rules of its kind is refused before either."""
    check(frame)
    text = latex(frame)
    write_csv(frame, csv_path)
    write_whole(latex_path, text.encode())


def latex(frame: pd.DataFrame, width: float | None = None, *, star: str = "") -> str:
    """The tables that a paper prints of a study, as LaTeX: see :func:`factormech.tables.latex.typeset`."""
    from factormech.tables import papers
    from factormech.tables.latex import LINE, typeset

    kind = declared(kind_of(frame))
    columns = {column.name: column for column in kind.columns}
    return typeset(frame, papers.papers_of(kind), columns, width=width or LINE, star=star)


def check(frame: pd.DataFrame, name: str = "table") -> None:
    """Refuse a frame that is not a table: its columns, types, rows, and what the status of each promises."""
    _format_of_frame(frame, f"columns of {name}").check(frame, name)


def _format_of_frame(frame: pd.DataFrame, where: str = "columns of the table") -> TableFormat:
    kind = frame[KIND].iloc[0] if KIND in frame and len(frame) else None
    if isinstance(kind, str) and kind in names():
        return format_named(kind)
    return _format_of(frame.columns, where, "build it by from_rows")


def _format_of(header: Sequence[Any], where: str, remedy: str) -> TableFormat:
    for known in formats():
        if known.has(header):
            return known
    words = [str(word) for word in header]
    # Of the kinds, the one with the most of these columns is what was meant.
    nearest = max(formats(), key=lambda known: len(set(known.columns) & set(words)))
    raise BadValue(where, ",".join(words), f"be {','.join(nearest.columns)}", remedy)
