"""What the views of tables share: one study, places of its grid, numbers along an axis, phrases for what is missing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from factormech import labels
from factormech.arrays import FloatArray
from factormech.errors import BadValue
from factormech.tables.panels import told

if TYPE_CHECKING:
    import pandas as pd


def check_one_study(frame: pd.DataFrame) -> None:
    """Refuse a table of several studies, whose grids have nothing to do with each other."""
    studies = frame["study"].unique().tolist()
    if len(studies) > 1:
        remedy = "draw one study at a time"
        raise BadValue("column study of the table", ", ".join(studies), "have one value", remedy)


def in_order(frame: pd.DataFrame, columns: Iterable[str]) -> dict[str, tuple[Any, ...]]:
    """The values of each of these columns, in the order in which the table first has them."""
    return {column: tuple(frame[column].unique().tolist()) for column in columns}


def rows_at(frame: pd.DataFrame, place: Mapping[str, Any]) -> pd.DataFrame:
    """The rows that have these values in these columns."""
    return frame[np.logical_and.reduce([frame[column] == value for column, value in place.items()])]


def along(values: pd.Series[Any], keys: pd.Series[Any], x: Sequence[Any] | FloatArray, how: str) -> FloatArray:
    """One number for each place in ``x``, NaN where no row is there: "mean", "median", "min" or "max" of its values."""
    return np.asarray(getattr(values.groupby(keys), how)().reindex(x), dtype=np.float64)


def workloads_of(rows: pd.DataFrame) -> str:
    """The workloads of some rows, as readers know them."""
    return ", ".join(labels.workload_label(name) for name in rows["workload"].unique().tolist())


def unmeasured(frame: pd.DataFrame, where: Callable[[pd.DataFrame], str]) -> list[str]:
    """A phrase for each mechanism and status but ``ok``: with ``where`` of its rows, unless everywhere, and why."""
    phrases = []
    for (name, status), rows in frame[frame["status"] != "ok"].groupby(["mechanism", "status"], sort=False):
        why = "; ".join(told(rows["reason"].tolist()))
        phrases.append(f"{status}: {labels.mechanism_label(str(name))}{unless_everywhere(rows, frame, where)} — {why}")
    return phrases


def unless_everywhere(rows: pd.DataFrame, frame: pd.DataFrame, where: Callable[[pd.DataFrame], str]) -> str:
    """Where some rows of a mechanism are, in brackets; "" if they are all that it has."""
    everywhere = len(rows) == int((frame["mechanism"] == rows["mechanism"].iloc[0]).sum())
    return "" if everywhere else f" [{where(rows)}]"


def without_number(frame: pd.DataFrame, column: str, why: str) -> list[str]:
    """A phrase for each mechanism of which a logarithmic axis cannot show the zeros of a column."""
    groups = frame[frame[column] == 0].groupby("mechanism", sort=False)
    return [f"not drawn: {labels.mechanism_label(str(name))} [{workloads_of(rows)}] — {why}" for name, rows in groups]
