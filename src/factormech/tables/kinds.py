"""The kinds of table, and their two forms, CSV and LaTeX.

The columns of a kind are those that its module in :mod:`factormech.studies` declares; the tables that are made from
another table are in ``comparisons.py``. A table says in its column ``kind`` which kind it is; that of an older file,
without the column, is found by its header. A missing number is NaN and a missing text is "".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from factormech.errors import BadValue, UnknownName
from factormech.store import seals
from factormech.store.atomic import write_whole
from factormech.studies import registry as experiments
from factormech.studies.base import Experiment, TableKind
from factormech.tables import comparisons
from factormech.tables.rows import KIND, format_of
from factormech.tabular import TableFormat, read_lines

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


def names() -> list[str]:
    """Return the names of all kinds of tables."""
    return [*comparisons.KINDS, *experiments.names()]


def formats() -> Iterator[TableFormat]:
    """The format of every kind; those of experiments last, for their modules are imported."""
    yield from map(format_named, names())


def format_named(kind: str) -> TableFormat:
    """The format of a kind."""
    return format_of(declared(kind))


def declared(kind: str) -> Experiment | TableKind:
    """Return the declaration of the tables of a kind."""
    if kind not in names():
        raise UnknownName("kind of table", kind, names())
    return comparisons.KINDS[kind] if kind in comparisons.KINDS else experiments.experiment(kind)


def kind_of(frame: pd.DataFrame) -> str:
    """Return the kind of a table."""
    return _format_of_frame(frame).kind


def from_rows(rows: Iterable[Mapping[str, Any]], kind: str = "sample-complexity") -> pd.DataFrame:
    """Return a table of mappings from columns to values; what a row leaves out or gives as ``None`` is empty.

    The column ``kind`` is added. The rules of the kind are checked.
    """
    return format_named(kind).from_rows({KIND: kind, **row} for row in rows)


def read_csv(path: Path | str) -> pd.DataFrame:
    """The table in a CSV file of :func:`write_csv`; anything else is refused with its line and the remedy.

    So is a table of a run that has other bytes than its job has sealed.
    """
    path = Path(path)
    seals.check_table(path)
    lines = read_lines(path)
    remedy = "give a file of results/tables, or run the workflow again"
    kind = lines[1][1] if lines[0][1:2] == [KIND] and len(lines) > 1 and len(lines[1]) > 1 else ""
    format_ = format_named(kind) if kind in names() else None
    if format_ is None or not format_.has(lines[0]):
        format_ = _format_of(lines[0], f"{path}, line 1", remedy)
    return format_.from_lines(lines, path)


def has_header(path: Path) -> bool:
    """Return whether a file begins as a table does."""
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
