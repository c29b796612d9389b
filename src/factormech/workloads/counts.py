"""How many users there are of each type: from lists, series, data frames and files, under the names of the types."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from factormech.arrays import FloatArray
from factormech.errors import BadValue

if TYPE_CHECKING:
    from factormech.workloads.base import Workload
    from factormech.workloads.csv_text import Table

_ONE_NUMBER = "give one row, one column, or two columns with a header such as type,count"


def counts_of(queries: Workload, data: Any, *, whole: bool = True) -> FloatArray:
    """Return the number of users of each type as an array, in the order of the workload's types.

    ``data`` is a list, an array, a Series whose index names the types, a data frame or the path of a file with one
    row, one column, or a column of types and one of counts. Names are matched where the workload has names, too.
    """
    values, labels = _with_labels(data)
    if labels is not None and queries.type_names is not None:
        values = _in_order(values, labels, queries.type_names)
    x = np.asarray(values)
    if x.dtype.kind not in "biuf" or x.shape != (queries.domain_size,):
        rule = f"be {queries.domain_size} numbers, one for each user type of {queries.name}"
        found = f"{len(x)} numbers" if x.ndim == 1 and x.dtype.kind in "biuf" else f"{x.dtype.name} array of {x.shape}"
        remedy = "give the number of users of each type, 0 for a type without users"
        raise BadValue("data", found, rule, remedy)
    x = x.astype(np.float64)
    bad = np.flatnonzero(~((x >= 0.0) & (x <= 2.0**53) & ((x == np.floor(x)) | (not whole))))
    if bad.size:
        rule = "be a whole number of at least 0" if whole else "be a number of at least 0"
        raise BadValue(f"data[{bad[0]}]", float(x[bad[0]]), rule, f"correct it ({bad.size} such entries)")
    return x


def _with_labels(data: Any) -> tuple[Any, Sequence[Any] | None]:
    """The numbers of what was given, and the names that stand beside them."""
    if isinstance(data, (str, os.PathLike)):
        return _of_file(Path(data))
    if hasattr(data, "columns") and hasattr(data, "iloc"):
        return _of_frame(data)
    if hasattr(data, "reindex"):  # a Series; its default index 0, 1, 2, … names nothing
        named = not (data.index.dtype.kind in "iu" and data.index.tolist() == list(range(len(data))))
        return data.to_numpy(), data.index.tolist() if named else None
    return data, None


def _of_frame(frame: Any) -> tuple[Any, Sequence[Any] | None]:
    if frame.shape[1] == 2:
        return frame.iloc[:, 1].to_numpy(), frame.iloc[:, 0].tolist()
    if frame.shape[1] == 1:
        return _with_labels(frame.iloc[:, 0])
    if frame.shape[0] == 1:
        return _with_labels(frame.iloc[0])
    raise BadValue("data", f"a data frame of shape {frame.shape}", "hold one number for each type", _ONE_NUMBER)


def _of_file(path: Path) -> tuple[Any, Sequence[Any] | None]:
    from factormech.workloads.matrix import read_table

    table = read_table(path)
    rows, columns = table.values.shape
    if columns == 2 and rows > 1 and table.column_names is not None and table.row_names is None:
        return table.values[:, 1], _increasing(table, path)
    if columns == 1:
        return table.values[:, 0], table.row_names
    if rows == 1:
        return table.values[0], table.column_names
    raise BadValue(str(path), f"{rows} rows, {columns} columns", "hold one number for each type", _ONE_NUMBER)


def _increasing(table: Table, path: Path) -> list[str]:
    """The numbers in the first column of a histogram, as names: each once, in order."""
    types = table.values[:, 0]
    wrong = np.flatnonzero(np.diff(types) <= 0.0)
    if wrong.size:
        i = int(wrong[0]) + 1
        place, rule = f"{path}, line {i + table.first_line}, column 1", f"be above {types[i - 1]:g}, the type before it"
        raise BadValue(place, f"{types[i]:g}", rule, "sort the lines by type, each type once")
    return [f"{value:g}" for value in types]


def _in_order(values: Any, labels: Sequence[Any], types: Sequence[Any]) -> Any:
    """The numbers in the order of the workload's types; names that do not match are refused."""
    found = [str(label) for label in labels]
    wanted = [str(name) for name in types]
    missing, unknown = sorted(set(wanted) - set(found)), sorted(set(found) - set(wanted))
    if missing or unknown or len(set(found)) != len(found):
        parts = [f"unknown: {', '.join(unknown[:5])}"] if unknown else []
        parts += [f"missing: {', '.join(missing[:5])}"] if missing else []
        said = "; ".join(parts) or "a type twice"
        rule = "name each user type once, as the workload does"
        remedy = f"correct the names (the workload has {', '.join(wanted[:5])}, …), or give the numbers alone"
        raise BadValue("types of the data", said, rule, remedy)
    return np.asarray(values)[[found.index(name) for name in wanted]]
