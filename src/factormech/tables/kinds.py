"""The tables of results: their kinds, and their two forms, CSV and LaTeX.

Every kind has its own columns, documented in the module that has its format: ``sample_complexity.py``,
``collections.py``, ``comparisons.py``, ``gaps.py``, ``starts.py``, ``timing.py``, ``on_data.py``, ``consistency.py``,
``norms.py`` and ``prefix_errors.py``; those of experiments are made of what these say (``experiments.py``). No two
kinds have the same columns, so a table says itself of which kind it is. A missing number is NaN and a missing text is
"".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from factormech.atomic import write_whole
from factormech.errors import BadValue, UnknownName
from factormech.experiments import registry as experiments
from factormech.tables import collections as collection_table
from factormech.tables import comparisons as comparison_tables
from factormech.tables import consistency as consistency_table
from factormech.tables import experiments as experiment_tables
from factormech.tables import gaps as gap_table
from factormech.tables import norms as norms_table
from factormech.tables import on_data as on_data_table
from factormech.tables import prefix_errors as prefix_errors_table
from factormech.tables import sample_complexity as sample_complexity_table
from factormech.tables import starts as starts_table
from factormech.tables import timing as timing_table
from factormech.tables.format import TableFormat, read_lines
from factormech.tables.sample_complexity import COLUMNS, COLUMNS_WITH_SEED, FLOATS, INTEGERS, LOWER_BOUND, MEASURED

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "COLUMNS",
    "COLUMNS_WITH_SEED",
    "FLOATS",
    "FORMATS",
    "INTEGERS",
    "LOWER_BOUND",
    "MEASURED",
    "check",
    "format_named",
    "formats",
    "from_rows",
    "has_header",
    "kind_of",
    "latex",
    "read_csv",
    "write",
    "write_csv",
]

FORMATS: dict[str, TableFormat] = {
    format_.kind: format_
    for format_ in (
        sample_complexity_table.FORMAT,
        collection_table.FORMAT,
        comparison_tables.IMPROVEMENT,
        comparison_tables.SLOPES,
        on_data_table.FORMAT,
        consistency_table.FORMAT,
        gap_table.FORMAT,
        starts_table.FORMAT,
        timing_table.FORMAT,
        norms_table.FORMAT,
        prefix_errors_table.FORMAT,
    )
}


def formats() -> Iterator[TableFormat]:
    """The format of every kind; those of experiments last, for their modules are imported."""
    yield from FORMATS.values()
    for kind in experiments.names():
        yield experiment_tables.format_of(experiments.experiment(kind))


def format_named(kind: str) -> TableFormat:
    """The format of a kind."""
    if kind in FORMATS:
        return FORMATS[kind]
    if not experiments.is_experiment(kind):
        raise UnknownName("kind of table", kind, [*FORMATS, *experiments.names()])
    return experiment_tables.format_of(experiments.experiment(kind))


def kind_of(frame: pd.DataFrame) -> str:
    """The kind of a table, by its columns."""
    return _format_of(frame.columns, "columns of the table", "build it by from_rows").kind


def from_rows(rows: Iterable[Mapping[str, Any]], kind: str = "sample-complexity") -> pd.DataFrame:
    """A table from mappings column → value; what a row leaves out (or gives as ``None``) is empty.

    Where a kind has tables with and without seeds, the column ``seed`` is there if any row has it. The rules of the
    kind are checked.
    """
    return format_named(kind).from_rows(rows)


def read_csv(path: Path | str) -> pd.DataFrame:
    """The table in a CSV file of :func:`write_csv`; anything else is refused with its line and the remedy."""
    path = Path(path)
    lines = read_lines(path)
    remedy = "give a file of results/tables, or run the workflow again"
    return _format_of(lines[0], f"{path}, line 1", remedy).from_lines(lines, path)


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
    _format_of(frame.columns, "columns of the table", "build it by from_rows").write_csv(frame, path)


def write(frame: pd.DataFrame, csv_path: Path | str, latex_path: Path | str) -> None:
    """Write a table in both its forms; a frame that breaks the rules of its kind is refused before either."""
    check(frame)
    text = latex(frame)
    write_csv(frame, csv_path)
    write_whole(latex_path, text.encode())


def latex(frame: pd.DataFrame) -> str:
    """The tables that a paper prints of a study, as LaTeX: see :mod:`factormech.tables.latex`."""
    from factormech.tables import papers
    from factormech.tables.latex import typeset

    kind = kind_of(frame)
    if not experiments.is_experiment(kind):
        return typeset(frame, papers.PAPERS[kind], papers.COLUMNS)
    experiment = experiments.experiment(kind)
    return typeset(frame, papers.papers_of(experiment), {column.name: column for column in experiment.columns})


def check(frame: pd.DataFrame, name: str = "table") -> None:
    """Refuse a frame that is not a table: its columns, types, rows, and what the status of each promises."""
    _format_of(frame.columns, f"columns of {name}", "build it by from_rows").check(frame, name)


def _format_of(header: Sequence[Any], where: str, remedy: str) -> TableFormat:
    for known in formats():
        if known.has(header):
            return known
    words = [str(word) for word in header]
    # Of the kinds, the one with the most of these columns is what was meant.
    nearest = max(formats(), key=lambda known: len(set(known.columns) & set(words)))
    rule = f"be {','.join(nearest.columns)}{' (and seed after epsilon, if there are several)' * bool(nearest.seeded)}"
    raise BadValue(where, ",".join(words), rule, remedy)
