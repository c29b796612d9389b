"""The roles of a table's columns in its figure, and the rows that the figure shows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from factormech import labels
from factormech.studies.base import Column
from factormech.studies.drawing import MOST_PANELS, Drawing, KeyColumn, Roles, roles

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["arranged", "axis_label", "is_mixed", "named", "parts", "summary_text", "titled"]

_MIDDLE = {"median": "medians", "mean": "means", "min": "the least values", "max": "the largest values"}


def arranged(
    frame: pd.DataFrame,
    columns: Sequence[Column],
    drawing: Drawing,
    *,
    x: str,
    panels: Sequence[str] = (),
    series: Sequence[str] = (),
    longest: bool = False,
) -> tuple[pd.DataFrame, Roles, list[str]]:
    """Return the rows that a figure shows, the role of every column, and a sentence for what the figure leaves out.

    Parameters
    ----------
    frame
        A table.
    columns
        The columns that tell its rows apart.
    drawing
        What the study says of its figure.
    x, panels, series, longest
        As :func:`factormech.studies.drawing.roles` takes them.
    """
    keys = [KeyColumn(c.name, c.type != "text", int(frame[c.name].nunique())) for c in columns if c.name in frame]
    found = roles(keys, drawing, x=x, panels=panels, series=series, longest=longest)
    if frame.duplicated([found.x, *found.panels, *found.series, *found.summarised]).any():
        found = replace(found, panels=(*found.panels, *found.rest))
    shown, left_out = _thinned(frame, found.panels, {column.name: column for column in columns})
    return shown, found, left_out


def _thinned(
    frame: pd.DataFrame, panels: Sequence[str], columns: Mapping[str, Column]
) -> tuple[pd.DataFrame, list[str]]:
    """The rows of at most :data:`MOST_PANELS` panels: fewer values of the columns that have the most of them."""
    left_out: list[str] = []
    for _ in panels:
        counts = {name: int(frame[name].nunique()) for name in panels}
        if not panels or len(frame[[*panels]].drop_duplicates()) <= MOST_PANELS:
            break
        name = max(counts, key=lambda column: counts[column])
        values = list(dict.fromkeys(frame[name]))
        values = values if columns[name].type == "text" else sorted(values)
        kept = [values[0], values[len(values) // 2], values[-1]]
        frame = frame[frame[name].isin(kept)]
        told = ", ".join(labels.value_label(name, value) for value in kept)
        left_out.append(f"of {len(values)} values of {columns[name].short}, the panels show {told}; the table has all")
    return frame, left_out


def parts(frame: pd.DataFrame, columns: Sequence[str]) -> list[tuple[tuple[Any, ...], pd.DataFrame]]:
    """The rows of each panel, by the values of the columns that tell the panels apart."""
    return [(key, rows) for key, rows in frame.groupby(list(columns), sort=False)] if columns else [((), frame)]


def titled(
    columns: Mapping[str, Column], names: Sequence[str], values: Iterable[Any], frame: pd.DataFrame | None = None
) -> str:
    """Values of columns, on one line: "Prefix, n = 64"; the rows that have them say what a size counts."""
    return ", ".join(named(columns[name], value, frame) for name, value in zip(names, values, strict=True))


def named(column: Column, value: Any, frame: pd.DataFrame | None = None) -> str:
    """A value with its symbol where it is a number: "δ = 1e-06"; the rows say what a size counts."""
    label = labels.value_label(column.name, value)
    return label if isinstance(value, str) else f"{_symbol(column, frame)} = {label}"


def axis_label(column: Column, frame: pd.DataFrame) -> str:
    """Return the label of a column of these rows, as on an axis; of sizes, what they count."""
    subject = labels.SIZED.get(column.name, ("", ""))[0]
    return labels.size_label(column.name, frame[subject]) if subject in frame else column.label


def is_mixed(name: str, frame: pd.DataFrame) -> bool:
    """Whether a column of sizes counts different things in different rows: bits of one class, types of another."""
    subject = labels.SIZED.get(name, ("", ""))[0]
    return subject in frame and " or " in labels.size_label(name, frame[subject])


def _symbol(column: Column, frame: pd.DataFrame | None) -> str:
    subject = labels.SIZED.get(column.name, ("", ""))[0]
    if frame is None or subject not in frame:
        return column.short
    return labels.size_symbol(column.name, frame[subject])


def summary_text(frame: pd.DataFrame, found: Roles, columns: Mapping[str, Column]) -> str:
    """A sentence on what is summarised; empty if nothing is."""
    counts = {name: len(set(frame[name])) for name in found.summarised if name in frame}
    told = [f"{count} {_plural(columns[name])}" for name, count in counts.items() if count > 1]
    if not told:
        return ""
    low, high = found.quantiles
    ends = "the least to the largest" if (low, high) == (0.0, 1.0) else f"the {low:g} to the {high:g} quantile"
    return f"Lines are {_MIDDLE[found.statistic]} over {' and '.join(told)}, bands reach from {ends}."


def _plural(column: Column) -> str:
    known = ("seed", "start", "workload", "mechanism")
    return f"{column.label}s" if column.label in known else f"values of {column.short}"
