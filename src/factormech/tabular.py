"""What every table of results keeps: typed columns, rows that obey rules, and one exact CSV form.

A table is a :class:`pandas.DataFrame`. Integers are int64 and never missing, other numbers float64 with NaN where
there is none, and everything else text with "" where there is none. A kind of table is a :class:`TableFormat`: its
columns and its rules; :mod:`factormech.tables.kinds` knows all kinds.
"""

from __future__ import annotations

import csv
import io
import itertools
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from factormech.errors import BadValue
from factormech.store.atomic import write_whole

if TYPE_CHECKING:
    import pandas as pd

# The first column of a row that breaks a rule, and the rule, continuing the sentence "must …".
Problem: TypeAlias = tuple[str, str] | None

_INTEGER = re.compile(r"-?[0-9]+")
# What repr gives of a finite float; float() would also read "nan", "1_000" and blanks.
_FLOAT = re.compile(r"-?[0-9]+(\.[0-9]+)?(e[+-]?[0-9]+)?")
_INFINITE = ("inf", "-inf")
_CONTROL = re.compile(r"[\x00-\x1f\x7f\u0085\u2028\u2029]")
# The largest table that is read, in bytes; those of the project have less than one MiB.
SIZE_LIMIT = 2**28
# A mechanism that attains its bound may be this far below it by rounding, relatively.
ROUNDING = 1e-9
_AGAIN = "delete the file and run the workflow again"


@dataclass(frozen=True)
class TableFormat:
    """A kind of table.

    Parameters
    ----------
    kind
        Its name.
    columns
        The columns, in their order.
    integers, floats
        Which columns hold numbers; the others hold text.
    problem
        The rule that a row breaks, if any.
    check_whole
        Refuses rows that do not go together, given the frame and its name.
    added
        Columns that older tables do not have, with the value that they stand for there.
    infinite
        The columns of floats in which ∞ is a value.
    renamed
        Names of columns in older tables, and those that they have now.
    """

    kind: str
    columns: tuple[str, ...]
    integers: frozenset[str]
    floats: frozenset[str]
    problem: Callable[[Mapping[str, Any]], Problem]
    check_whole: Callable[[pd.DataFrame, str], None]
    added: Mapping[str, Any] = field(default_factory=dict)
    infinite: frozenset[str] = frozenset()
    renamed: Mapping[str, str] = field(default_factory=dict)

    def has(self, header: Sequence[Any]) -> bool:
        """Whether these are the columns of this kind, by older names or new, some that were added later left out."""
        names = self.names_now(header)
        return names == tuple(c for c in self.columns if c in names or c not in self.added)

    def names_now(self, header: Sequence[Any]) -> tuple[Any, ...]:
        """Return the names of columns, with an older name replaced by today's."""
        return tuple(self.renamed.get(name, name) for name in header)

    def from_rows(self, rows: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
        """A table from mappings column → value; what a row leaves out (or gives as ``None``) is empty.

        The rules are checked.
        """
        rows = list(rows)
        columns = self.columns
        for i, row in enumerate(rows):
            for name in row:
                if name not in columns:
                    known = f"known: {', '.join(columns)}"
                    raise BadValue(f"row {i} of the table", name, "have known columns only", known)
        frame = self._frame({c: [self._or_empty(c, row.get(c)) for row in rows] for c in columns})
        self.check(frame)
        return frame

    def from_lines(self, lines: Sequence[Sequence[str]], path: Path) -> pd.DataFrame:
        """The table in the lines of a CSV file, the first of which is its header."""
        header = self.names_now(lines[0])
        columns: dict[str, list[Any]] = {name: [] for name in header}
        for number, cells in enumerate(lines[1:], start=2):
            if len(cells) != len(header):
                raise BadValue(
                    f"{path}, line {number}",
                    f"{len(cells)} cells",
                    f"have {len(header)} cells",
                    "the file was cut off or edited: delete it and run the workflow again",
                )
            for name, cell in zip(header, cells, strict=True):
                columns[name].append(self._parse(name, cell, f"{path}, line {number}, column {name}"))
        missing = {name: [self.added[name]] * (len(lines) - 1) for name in self.columns if name not in columns}
        frame = self._frame({name: (columns | missing)[name] for name in self.columns})
        self.check(frame, str(path))
        return frame

    def write_csv(self, frame: pd.DataFrame, path: Path | str) -> None:
        r"""Write a table, whole or not at all: UTF-8, "\n" line ends, floats that read back to equal bits.

        Equal tables give equal bytes. A frame that breaks the rules is refused before anything is written.
        """
        self.check(frame)
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(frame.columns)
        columns = [[self._cell(name, value) for value in frame[name].tolist()] for name in frame.columns]
        writer.writerows(zip(*columns, strict=True))
        write_whole(Path(path), text.getvalue().encode())

    def check(self, frame: pd.DataFrame, name: str = "table") -> None:
        """Refuse a frame that is not a table of this kind: its columns, types, rows, and how these go together."""
        if tuple(frame.columns) != self.columns:
            found = ",".join(map(str, frame.columns))
            raise BadValue(f"columns of {name}", found, f"be {','.join(self.columns)}", "build it by from_rows")
        if frame.empty:
            raise BadValue(name, "no rows", "have at least one row", "run the workflow again")
        self._check_types(frame, name)
        for i, row in enumerate(frame.to_dict("records")):
            problem = self._infinity(row) or self.problem(row)
            if problem is not None:
                column, rule = problem
                remedy = "the file was edited or the job that made it is wrong: run the workflow again"
                raise BadValue(f"{name}, line {i + 2}, column {column}", row[column], rule, remedy)
        self.check_whole(frame, name)

    def _parse(self, column: str, cell: str, where: str) -> Any:
        """A cell as the value it stands for."""
        if column in self.integers:
            if not _INTEGER.fullmatch(cell) or abs(int(cell)) >= 2**63:
                raise BadValue(where, cell, "be a whole number", _AGAIN)
            return int(cell)
        if column in self.floats:
            if cell == "":
                return math.nan
            if not _FLOAT.fullmatch(cell) and not (column in self.infinite and cell in _INFINITE):
                raise BadValue(where, cell, "be a number, or nothing", _AGAIN)
            return float(cell)
        return cell

    def _cell(self, column: str, value: Any) -> str:
        """A value as the text of its cell: the shortest one that gives back the same float."""
        if column in self.floats:
            return "" if math.isnan(value) else repr(float(value))
        return str(value)

    def _or_empty(self, column: str, value: Any) -> Any:
        if value is not None:
            return value
        if column in self.integers:
            raise BadValue(f"column {column}", None, "have a value in every row", "give a whole number")
        return math.nan if column in self.floats else ""

    def _frame(self, columns: Mapping[str, list[Any]]) -> pd.DataFrame:
        """Columns with the types of a table."""
        import pandas as pd

        return pd.DataFrame({name: pd.Series(values, dtype=self._dtype(name)) for name, values in columns.items()})

    def _dtype(self, column: str) -> str:
        return "int64" if column in self.integers else "float64" if column in self.floats else "str"

    def _check_types(self, frame: pd.DataFrame, name: str) -> None:
        remedy = "build the table by from_rows or read_csv"
        for column in frame.columns:
            where, dtype, wanted = f"column {column} of {name}", str(frame[column].dtype), self._dtype(column)
            if wanted != "str":
                if dtype != wanted:
                    raise BadValue(where, dtype, f"have the type {wanted}", remedy)
                continue
            for value in frame[column].tolist():
                if not isinstance(value, str):
                    raise BadValue(where, value, "hold text ('' where there is none)", remedy)
                if _CONTROL.search(value):
                    raise BadValue(where, value, "hold no line ends or control characters", "replace them by spaces")

    def _infinity(self, row: Mapping[str, Any]) -> Problem:
        wrong = (c for c in row if c in self.floats and c not in self.infinite and math.isinf(row[c]))
        return next(((column, "be finite") for column in wrong), None)


def read_lines(path: Path) -> list[list[str]]:
    """The cells of each line of a CSV file that ends as a whole one does."""
    again = "delete it and run the workflow again"
    try:
        if path.stat().st_size > SIZE_LIMIT:
            rule, remedy = f"have at most {SIZE_LIMIT >> 20} MiB", "give a file of results/tables"
            raise BadValue("table", str(path), rule, remedy)
        text = path.read_bytes().decode("utf-8")
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise BadValue("table", str(path), f"be a readable file ({reason})", "run the workflow first") from None
    except UnicodeDecodeError:
        raise BadValue("table", str(path), "be a CSV file in UTF-8", "give a file of results/tables") from None
    if not text.endswith("\n"):
        raise BadValue("table", str(path), "end with a line end (this file was cut off, or is empty)", again)
    # Text cells hold no line ends, so a physical line is a row, and its number means what an editor shows.
    lines = text.removesuffix("\n").split("\n")
    try:
        return [next(csv.reader([line], strict=True), []) for line in lines]
    except csv.Error as error:
        raise BadValue("table", str(path), f"be a CSV file ({error})", again) from None


def check_grid(axes: Sequence[Sequence[Any]], name: str, part: str, points: str) -> None:
    """Refuse rows, given by their places on each axis, that are not the product of the axes, each point once.

    Completeness is what shows that lines are missing at the end of a file, which still parses. (A rest that is the
    complete table of a smaller grid passes; but files are written whole, so none arises here.)
    """
    rows = list(zip(*axes, strict=True))
    seen = set(rows)
    if len(seen) < len(rows):
        twice = next(row for row in rows if rows.count(row) > 1)
        raise BadValue(name, " ".join(map(str, twice)), "have this row once", "run the workflow again")
    if len(seen) < math.prod(len(set(axis)) for axis in axes):
        lost = next(row for row in itertools.product(*(dict.fromkeys(axis) for axis in axes)) if row not in seen)
        raise BadValue(
            name,
            f"{part}: no row for {' '.join(map(str, lost))}",
            f"have a row for every {points}",
            "lines are missing: delete the file and run the workflow again",
        )


def check_seeded_grid(
    frame: pd.DataFrame, name: str, keys: Sequence[str], constant: Sequence[str], points: str
) -> None:
    """Refuse a study that has several values of a ``constant`` column, or is no product of workload and ``keys``.

    Each workload is a product with its own seeds: not every workload needs as many.
    """
    for study, part in frame.groupby("study", sort=False):
        for column in constant:
            found = part[column].unique().tolist()
            if len(found) > 1:
                several = ", ".join(map(str, found))
                raise BadValue(f"{name}, column {column}", several, "be one in a study", "run the workflow again")
        for workload, rows in part.groupby("workload", sort=False):
            axes = [rows[key].tolist() for key in ["seed", *keys]]
            check_grid(axes, name, f"study {study}, workload {workload}", points)
        once = part[["workload", *keys]].drop_duplicates()
        check_grid([once[key].tolist() for key in once], name, f"study {study}", points)


def not_positive(row: Mapping[str, Any], columns: Iterable[str]) -> Problem:
    """The first of these columns without a finite number above 0."""
    bad = (column for column in columns if not (math.isfinite(row[column]) and row[column] > 0))
    return next(((column, "be a finite number above 0") for column in bad), None)


def below(row: Mapping[str, Any], columns: Iterable[str], least: int) -> Problem:
    """The first of these columns of integers with one that is too small."""
    return next(((column, f"be at least {least}") for column in columns if row[column] < least), None)


def not_among(row: Mapping[str, Any], column: str, known: Sequence[str]) -> Problem:
    """Return whether the text of a column is none of the known ones."""
    return None if row[column] in known else (column, f"be one of {', '.join(known)}")


def filled(row: Mapping[str, Any], columns: Iterable[str]) -> Problem:
    """The first of these columns of numbers that is not empty, where the status leaves nothing to measure."""
    bad = (column for column in columns if not math.isnan(row[column]))
    return next(((column, f"be empty where the status is {row['status']}") for column in bad), None)


def unreasoned(row: Mapping[str, Any], *, needed: bool) -> Problem:
    """Return whether the reason is missing where one is needed, or there where it is not."""
    if needed == (row["reason"] != ""):
        return None
    return "reason", f"{'say why' if needed else 'be empty'} where the status is {row['status']}"


def below_bound(row: Mapping[str, Any], column: str, bound: str = "lower_bound") -> Problem:
    """Return the problem of a row whose value is below the lower bound in the same row; else None.

    A value or a bound that is not there (NaN) contradicts nothing.
    """
    if row[column] < row[bound] * (1.0 - ROUNDING):
        return column, f"be at least its own {bound}, {row[bound]:.6g}: a theorem excludes less"
    return None
