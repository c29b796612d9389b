"""How many users there are of each type: from lists, series, data frames and files, under the names of the types."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from factormech.arrays import FloatArray
from factormech.errors import BadValue

if TYPE_CHECKING:
    import pandas as pd

    from factormech.workloads.base import Workload
    from factormech.workloads.csv_text import Table

_ONE_NUMBER = "give one row, one column, or two columns with a header such as type,count"
# The numbers that were given, the names that stand beside them, and where the i-th number stands.
_Given = tuple[Any, Sequence[Any] | None, Callable[[int], str]]


def counts_of(queries: Workload, data: Any, *, whole: bool = True) -> FloatArray:
    """Return the number of users of each type as an array, in the order of the workload's types.

    ``data`` is a list, an array, a mapping from types to numbers, a Series whose index names the types, a data frame
    (of pandas, or of the interchange protocol) or the path of a file with one row, one column, or a column of types
    and one of counts. Names are matched where the workload has names, too.
    """
    values, labels, place = _with_labels(data)
    x = np.asarray(values)
    if labels is not None and queries.type_names is not None:
        order = _order(labels, queries.type_names)
        x, place = x[order], _reordered(place, order)
    if x.dtype.kind not in "biuf" or x.shape != (queries.domain_size,):
        rule = f"be {queries.domain_size} numbers, one for each user type of {queries.name}"
        found = f"{len(x)} numbers" if x.ndim == 1 and x.dtype.kind in "biuf" else f"{x.dtype.name} array of {x.shape}"
        remedy = "give the number of users of each type, 0 for a type without users"
        raise BadValue("data", found, rule, remedy)
    x = x.astype(np.float64)
    bad = np.flatnonzero(~((x >= 0.0) & (x <= 2.0**53) & ((x == np.floor(x)) | (not whole))))
    if bad.size:
        rule = "be a whole number of at least 0" if whole else "be a number of at least 0"
        raise BadValue(place(int(bad[0])), float(x[bad[0]]), rule, f"correct it ({bad.size} such entries)")
    return x


def as_frame(data: Any) -> pd.DataFrame | None:
    """Return a pandas frame, made of any object that speaks the data frame interchange protocol; else None.

    Frames of that protocol have no index: a single column of texts is taken for the names of the rows.
    """
    if hasattr(data, "iloc") and hasattr(data, "columns"):
        frame: pd.DataFrame = data
        return frame
    if not hasattr(data, "__dataframe__"):
        return None
    import warnings

    from pandas.api.interchange import from_dataframe

    with warnings.catch_warnings():  # pandas 3 warns of the protocol's end, which other libraries still speak
        warnings.simplefilter("ignore", DeprecationWarning)
        return named_by_text(from_dataframe(data))


def named_by_text(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame with its only column of texts as the index, if it has numbers in the others and no such index."""
    texts = [column for column, kind in frame.dtypes.items() if kind.kind not in "biuf"]
    if len(texts) != 1 or frame.shape[1] == 1 or not _is_default(frame.index):
        return frame
    return frame.set_index(texts[0])


def _is_default(index: Any) -> bool:
    """Return whether an index is 0, 1, 2, …, which names nothing."""
    return bool(index.dtype.kind in "iu") and index.tolist() == list(range(len(index)))


def _reordered(place: Callable[[int], str], order: Sequence[int]) -> Callable[[int], str]:
    return lambda i: place(order[i])


def _with_labels(data: Any) -> _Given:
    if isinstance(data, (str, os.PathLike)):
        return _of_file(Path(data))
    frame = as_frame(data)
    if frame is not None:
        return _of_frame(frame)
    if isinstance(data, Mapping):
        return list(data.values()), list(data), lambda i: f"data[{list(data)[i]!r}]"
    if hasattr(data, "reindex"):  # a Series
        return data.to_numpy(), None if _is_default(data.index) else data.index.tolist(), "data[{}]".format
    return data, None, "data[{}]".format


def _of_frame(frame: Any) -> _Given:
    if frame.shape[1] == 2:
        return frame.iloc[:, 1].to_numpy(), frame.iloc[:, 0].tolist(), "data[{}]".format
    if frame.shape[1] == 1:
        return _with_labels(frame.iloc[:, 0])
    if frame.shape[0] == 1:
        return _with_labels(frame.iloc[0])
    raise BadValue("data", f"a data frame of shape {frame.shape}", "hold one number for each type", _ONE_NUMBER)


def _of_file(path: Path) -> _Given:
    from factormech.workloads.matrix import read_table

    table = read_table(path)
    rows, columns = table.values.shape

    def line(i: int) -> str:
        return f"{path}, line {i + table.first_line}"

    if columns == 2 and rows > 1 and table.column_names is not None and table.row_names is None:
        return table.values[:, 1], _increasing(table, path), line
    if columns == 1:
        return table.values[:, 0], table.row_names, line
    if rows == 1:
        named = table.row_names is not None
        return table.values[0], table.column_names, lambda i: f"{line(0)}, column {i + 1 + named}"
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


def _order(labels: Sequence[Any], types: Sequence[Any]) -> list[int]:
    """For each of the workload's types, where its number stands; names that do not match are refused."""
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
    return [found.index(name) for name in wanted]
