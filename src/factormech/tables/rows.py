"""The tables of studies: formats made of what a kind of study says of its columns.

The first columns are ``study`` and ``kind``, the last one is ``origin``: the digest of the file of the part that the
row comes from, as that file states it. The others, their types and their rules are the kind's
(:class:`factormech.studies.base.Experiment`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from factormech.errors import BadValue
from factormech.studies.base import Asked, Column, Experiment, TableKind
from factormech.studies.renamed import RENAMED
from factormech.tabular import Problem, TableFormat, check_grid

if TYPE_CHECKING:
    import pandas as pd

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
    """Return whether a cell is empty."""
    return value == "" or (isinstance(value, float) and math.isnan(value))


def _problem_of_gaps(row: Mapping[str, Any], columns: Sequence[Column]) -> Problem:
    """Return the problem of a cell that is empty without a reason, or that has a number and a reason."""
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
