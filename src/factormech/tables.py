"""The table of a study: its columns, the rules its rows keep, and its two forms, CSV and LaTeX.

A table is a :class:`pandas.DataFrame` with the columns :data:`COLUMNS`, and ``seed`` after ``epsilon`` if the
grid has several. Its rows are, for every point of the grid (workload, domain size, ε, seed):

* one per mechanism, with status ``ok``; or ``refused`` (the workload is outside the strategy's row space) or
  ``unavailable`` (the mechanism cannot exist there), which have a reason instead of numbers. Their
  ``lower_bound`` and ``bound_name`` are the strongest of the point's bounds, or empty if the study asks for
  none;
* one per lower bound, with mechanism ``lower-bound``, status ``bound`` and the value in ``lower_bound``.

Variances are summed over the queries, for one user. ``sample_complexity`` is worst_variance / (queries · α),
not rounded, and ``lower_bound`` has its units. A missing number is NaN and a missing text is "".
"""

from __future__ import annotations

import csv
import io
import itertools
import math
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from factormech.atomic import write_whole
from factormech.errors import BadValue

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = (
    "study",
    "workload",
    "domain_size",
    "epsilon",
    "mechanism",
    "metric",
    "alpha",
    "sample_complexity",
    "worst_variance",
    "average_variance",
    "lower_bound",
    "bound_name",
    "status",
    "reason",
)
COLUMNS_WITH_SEED = (*COLUMNS[:4], "seed", *COLUMNS[4:])

INTEGERS = frozenset({"domain_size", "seed"})
FLOATS = frozenset({"epsilon", "alpha", "sample_complexity", "worst_variance", "average_variance", "lower_bound"})
MEASURED = ("sample_complexity", "worst_variance", "average_variance")
STATUSES = ("ok", "refused", "unavailable", "bound")
LOWER_BOUND = "lower-bound"

_INTEGER = re.compile(r"-?[0-9]+")
# What repr gives of a finite float; float() would also read "nan", "inf", "1_000" and blanks.
_FLOAT = re.compile(r"-?[0-9]+(\.[0-9]+)?(e[+-]?[0-9]+)?")
_CONTROL = re.compile(r"[\x00-\x1f\x7f\u0085\u2028\u2029]")


def from_rows(rows: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """A table from mappings column → value; what a row leaves out (or gives as ``None``) is empty.

    The column ``seed`` is there if any row has it. The rules of a table are checked.
    """
    rows = list(rows)
    columns = COLUMNS_WITH_SEED if any("seed" in row for row in rows) else COLUMNS
    for i, row in enumerate(rows):
        for name in row:
            if name not in columns:
                raise BadValue(f"row {i} of the table", name, "have known columns only", f"known: {', '.join(columns)}")
    frame = _frame({c: [_or_empty(c, row.get(c)) for row in rows] for c in columns})
    check(frame)
    return frame


def read_csv(path: Path | str) -> pd.DataFrame:
    """The table in a CSV file of :func:`write_csv`; anything else is refused with its line and the remedy."""
    path = Path(path)
    lines = _lines(path)
    header = tuple(lines[0])
    if header not in (COLUMNS, COLUMNS_WITH_SEED):
        raise BadValue(
            f"{path}, line 1",
            ",".join(header),
            f"be {','.join(COLUMNS)} (and seed after epsilon, if there are several)",
            "give a file of results/tables, or run the workflow again",
        )
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
            columns[name].append(_parse(name, cell, f"{path}, line {number}, column {name}"))
    frame = _frame(columns)
    check(frame, str(path))
    return frame


def has_header(path: Path) -> bool:
    """Whether a file begins as a table does."""
    try:
        with path.open("rb") as file:
            first = file.readline().decode("utf-8").rstrip("\n")
    except (OSError, UnicodeDecodeError):
        return False
    return tuple(first.split(",")) in (COLUMNS, COLUMNS_WITH_SEED)


def write_csv(frame: pd.DataFrame, path: Path | str) -> None:
    r"""Write a table, whole or not at all: UTF-8, "\n" line ends, floats that read back to equal bits.

    Equal tables give equal bytes. A frame that breaks the rules of a table is refused before anything is
    written.
    """
    check(frame)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(frame.columns)
    columns = [[_cell(name, value) for value in frame[name].tolist()] for name in frame.columns]
    writer.writerows(zip(*columns, strict=True))
    write_whole(Path(path), text.getvalue().encode())


def latex(frame: pd.DataFrame) -> str:
    """Sample complexities as LaTeX, one ``tabular`` per workload: see :mod:`factormech.latex`."""
    from factormech.latex import typeset

    return typeset(frame)


def check(frame: pd.DataFrame, name: str = "table") -> None:
    """Refuse a frame that is not a table: its columns, types, rows, and what the status of each promises.

    Completeness is what shows that lines are missing at the end of a file, which still parses. (A rest that
    is the complete table of a smaller grid passes; but files are written whole, so none arises here.)
    """
    header = tuple(frame.columns)
    if header not in (COLUMNS, COLUMNS_WITH_SEED):
        raise BadValue(
            f"columns of {name}",
            ",".join(map(str, header)),
            f"be {','.join(COLUMNS)}",
            "build it by from_rows",
        )
    if frame.empty:
        raise BadValue(name, "no rows", "have at least one row", "run the workflow again")
    _check_types(frame, name)
    for i, row in enumerate(frame.to_dict("records")):
        problem = _problem(row)
        if problem is not None:
            column, rule = problem
            remedy = "the file was edited or the job that made it is wrong: run the workflow again"
            raise BadValue(f"{name}, line {i + 2}, column {column}", row[column], rule, remedy)
    _check_complete(frame, name)
    _check_strongest(frame, name)


def _lines(path: Path) -> list[list[str]]:
    """The cells of each line of a CSV file that ends as a whole one does."""
    again = "delete it and run the workflow again"
    try:
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


def _parse(column: str, cell: str, where: str) -> Any:
    """A cell as the value it stands for."""
    if column in INTEGERS:
        if not _INTEGER.fullmatch(cell) or abs(int(cell)) >= 2**63:
            raise BadValue(where, cell, "be a whole number", "delete the file and run the workflow again")
        return int(cell)
    if column in FLOATS:
        if cell == "":
            return math.nan
        if not _FLOAT.fullmatch(cell):
            raise BadValue(where, cell, "be a number, or nothing", "delete the file and run the workflow again")
        return float(cell)
    return cell


def _cell(column: str, value: Any) -> str:
    """A value as the text of its cell: the shortest one that gives back the same float."""
    if column in FLOATS:
        return "" if math.isnan(value) else repr(float(value))
    return str(value)


def _or_empty(column: str, value: Any) -> Any:
    if value is not None:
        return value
    if column in INTEGERS:
        raise BadValue(f"column {column}", None, "have a value in every row", "give a whole number")
    return math.nan if column in FLOATS else ""


def _frame(columns: Mapping[str, list[Any]]) -> pd.DataFrame:
    """Columns with the types of a table."""
    import pandas as pd

    kinds = {name: "int64" if name in INTEGERS else "float64" if name in FLOATS else "str" for name in columns}
    return pd.DataFrame({name: pd.Series(values, dtype=kinds[name]) for name, values in columns.items()})


def _check_types(frame: pd.DataFrame, name: str) -> None:
    remedy = "build the table by from_rows or read_csv"
    for column in frame.columns:
        where, dtype = f"column {column} of {name}", frame[column].dtype
        if column in INTEGERS or column in FLOATS:
            wanted = "int64" if column in INTEGERS else "float64"
            if str(dtype) != wanted:
                raise BadValue(where, str(dtype), f"have the type {wanted}", remedy)
            continue
        for value in frame[column].tolist():
            if not isinstance(value, str):
                raise BadValue(where, value, "hold text ('' where there is none)", remedy)
            if _CONTROL.search(value):
                raise BadValue(where, value, "hold no line ends or control characters", "replace them by spaces")


def _problem(row: Mapping[str, Any]) -> tuple[str, str] | None:
    """The first column of a row that breaks a rule, and the rule."""
    for column in ("study", "workload", "mechanism", "metric", "status"):
        if row[column] == "":
            return column, "not be empty"
    if row["domain_size"] < 1:
        return "domain_size", "be at least 1"
    for column in ("epsilon", "alpha"):
        if not (math.isfinite(row[column]) and row[column] > 0):
            return column, "be a finite number above 0"
    if row["status"] not in STATUSES:
        return "status", f"be one of {', '.join(STATUSES)}"
    if (row["status"] == "bound") != (row["mechanism"] == LOWER_BOUND):
        return "status", f"be 'bound' where the mechanism is {LOWER_BOUND!r}, and only there"
    return _problem_of_numbers(row)


def _problem_of_numbers(row: Mapping[str, Any]) -> tuple[str, str] | None:
    ok, bound = row["status"] == "ok", row["status"] == "bound"
    for column in MEASURED:
        if ok and not (math.isfinite(row[column]) and row[column] >= 0):
            return column, "be a finite number of at least 0 where the status is ok"
        if not ok and not math.isnan(row[column]):
            return column, f"be empty where the status is {row['status']}"
    if math.isinf(row["lower_bound"]):
        return "lower_bound", "be finite"
    if bound and math.isnan(row["lower_bound"]):
        return "lower_bound", "be a number where the status is bound"
    if math.isnan(row["lower_bound"]) != (row["bound_name"] == ""):
        return "bound_name", "name the bound where lower_bound has a number, and only there"
    if (ok or bound) and row["reason"]:
        return "reason", f"be empty where the status is {row['status']}"
    if not (ok or bound) and not row["reason"]:
        return "reason", f"say why where the status is {row['status']}"
    return None


def _check_complete(frame: pd.DataFrame, name: str) -> None:
    """Every study has one row for each workload × domain size × ε × seed × (mechanism or bound) in it."""
    keys = _point(frame)
    for study, part in frame.groupby("study", sort=False):
        # bound_name tells a bound from the others; that of a mechanism only says which was the strongest.
        who = part["mechanism"].where(part["status"] != "bound", LOWER_BOUND + " " + part["bound_name"])
        axes = [part[key] for key in keys] + [who]
        rows = list(zip(*(axis.tolist() for axis in axes), strict=True))
        seen = set(rows)
        if len(seen) < len(rows):
            twice = next(row for row in rows if rows.count(row) > 1)
            raise BadValue(name, " ".join(map(str, twice)), "have this row once", "run the workflow again")
        if len(seen) < math.prod(axis.nunique() for axis in axes):
            lost = next(row for row in itertools.product(*(axis.unique().tolist() for axis in axes)) if row not in seen)
            raise BadValue(
                name,
                f"study {study}: no row for {' '.join(map(str, lost))}",
                "have a row for every mechanism and bound at every point of its grid",
                "lines are missing: delete the file and run the workflow again",
            )


def _check_strongest(frame: pd.DataFrame, name: str) -> None:
    """What a mechanism's row says of the lower bound is the strongest of its point's bound rows."""
    keys = ["study", *_point(frame)]
    is_bound = frame["status"] == "bound"
    bounds = frame[is_bound]
    strongest = bounds[bounds["lower_bound"] == bounds.groupby(keys)["lower_bound"].transform("max")]
    columns = [*keys, "bound_name", "lower_bound"]
    known = set(strongest[columns].itertuples(index=False, name=None))
    points = {row[: len(keys)] for row in known}
    for row in frame.loc[~is_bound, columns].itertuples(index=False, name=None):
        if row not in known and (row[: len(keys)] in points or row[-2]):
            raise BadValue(
                f"{name}, mechanisms at {' '.join(map(str, row[: len(keys)]))}",
                f"{row[-2]} {row[-1]}",
                "repeat the strongest of the point's lower bounds",
                "lines are missing or were edited: run the workflow again",
            )


def _point(frame: pd.DataFrame) -> list[str]:
    """The columns that say where in a grid a row is."""
    return ["workload", "domain_size", "epsilon", *(["seed"] if "seed" in frame else [])]
