"""What the page plots of a table, and what its figure shows in words.

The page draws a table with its own script (``plot.js``): every kind of table says its axes, curves and panels, by its
declared figure or by the table that a paper prints of it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import pandas as pd

from factormech import labels
from factormech.plots import style
from factormech.studies.base import Column, Curves, Experiment, TableKind
from factormech.tables import kinds, papers
from factormech.tables.cells import numeral
from factormech.tables.pivot import named, value_label

# Numbers over more than this factor are drawn on a logarithmic axis, where the kind does not say.
WIDE = 20.0
# The most names that a sentence lists.
MOST = 14


@dataclass(frozen=True)
class Plot:
    """Columns by their part in a plot; ``""`` or an empty tuple for what a table has not.

    ``values`` has what a reader calls the values of columns of text; ``colours`` are of the first column of curves.
    """

    x: str
    y: str
    series: tuple[str, ...]
    panels: tuple[str, ...]
    low: str
    high: str
    below: str
    x_scale: str
    y_scale: str
    labels: dict[str, str]
    values: dict[str, dict[str, str]]
    colours: dict[str, str]

    def as_data(self) -> dict[str, Any]:
        """The same in plain dictionaries."""
        return asdict(self)


def plot_of(frame: pd.DataFrame) -> Plot:
    """Return how a table is plotted."""
    kind = kinds.declared(kinds.kind_of(frame))
    columns = {column.name: column for column in kind.columns}
    parts = _of_curves(kind.figure) if isinstance(kind.figure, Curves) else _of_paper(kind, frame)
    shown = [parts["x"], *parts["series"], *parts["panels"]]
    texts = [name for name in shown if columns[name].type == "text"]
    return Plot(
        **parts,
        x_scale=_scale(frame[parts["x"]], columns[parts["x"]]),
        y_scale=_scale(frame[parts["y"]], columns[parts["y"]]),
        labels={name: column.label for name, column in columns.items()},
        values={name: {str(v): value_label(name, v) for v in frame[name].unique().tolist()} for name in texts},
        colours=_colours(frame, parts["series"]),
    )


def _of_curves(curves: Curves) -> dict[str, Any]:
    return {
        "x": curves.x,
        "y": curves.y,
        "series": tuple(name for name in (curves.series, curves.dash) if name),
        "panels": tuple(name for name in curves.panels if name != curves.x),
        "low": curves.low or "",
        "high": curves.high or "",
        "below": curves.below or "",
    }


def _of_paper(kind: Experiment | TableKind, frame: pd.DataFrame) -> dict[str, Any]:
    """The innermost number that varies is the axis, other rows tell panels apart, and heads of columns tell curves."""
    paper = papers.papers_of(kind)[0]
    varied = _varied(frame, paper.rows) or [paper.rows[-1]]
    numbers = [name for name in varied if kind.column(name).type != "text"]
    x = (numbers or varied)[-1]
    others = [name for name in _varied(frame, kind.keys) if name not in varied and kind.column(name).type == "text"]
    low, high = paper.ends or (paper.shown[0].low, paper.shown[0].column if paper.shown[0].low else "")
    return {
        "x": x,
        "y": paper.shown[0].column,
        "series": paper.columns or tuple(others[:1]),
        "panels": tuple(name for name in varied if name != x),
        "low": low,
        "high": high,
        "below": paper.bound,
    }


def _varied(frame: pd.DataFrame, names: Iterable[str]) -> list[str]:
    """The columns with more than one value."""
    return [name for name in names if len(frame[name].drop_duplicates()) > 1]


def _scale(values: pd.Series[Any], column: Column) -> str:
    if column.type == "text" or any(isinstance(v, float) and math.isinf(v) for v in values.tolist()):
        return "category"
    there = [float(v) for v in values.dropna()]
    wide = bool(there) and min(there) > 0 and max(there) > WIDE * min(there)
    return "log" if wide else "linear"


def _colours(frame: pd.DataFrame, series: Iterable[str]) -> dict[str, str]:
    """The colours that the figures have for names."""
    names = [*series][:1]
    found = frame[names[0]].unique().tolist() if names else []
    return {str(value): look.colour for value, look in style.series_styles(found).items()}


def description(frame: pd.DataFrame, plot: Plot) -> str:
    """Return in words what the figure of a table shows: its axes, panels and curves, and which curve is smallest."""
    columns = {column.name: column for column in kinds.declared(kinds.kind_of(frame)).columns}
    there = frame[frame[plot.y].notna()]
    if there.empty:
        return f"A plot of {plot.labels[plot.y]} without a number."
    said = [f"{labels.capital(plot.labels[plot.y])} from {_ends(there[plot.y])}, against {_axis(there, plot)}"]
    for names, what in ((plot.panels, "panels"), (plot.series, "curves")):
        found = _names(there, names, columns)
        if len(found) > 1:
            more = f"; and {len(found) - MOST} more" if len(found) > MOST else ""
            said.append(f"{len(found)} {what}: {'; '.join(found[:MOST])}{more}")
    said.append(_least(there, plot, columns))
    return " ".join(f"{text}." for text in said if text)


def _axis(frame: pd.DataFrame, plot: Plot) -> str:
    label = plot.labels[plot.x]
    if plot.x_scale == "category":
        return f"{label}: {', '.join(value_label(plot.x, v) for v in frame[plot.x].unique().tolist()[:MOST])}"
    return f"{label} from {_ends(frame[plot.x])}"


def _ends(values: pd.Series[Any]) -> str:
    finite = [float(v) for v in values.dropna() if math.isfinite(v)] or [math.nan]
    return f"{_number(min(finite))} to {_number(max(finite))}"


def _number(value: float) -> str:
    if math.isnan(value):
        return "none"
    return f"{value:.0f}" if value == round(value) and abs(value) < 1e6 else numeral(value)


def _names(frame: pd.DataFrame, names: Iterable[str], columns: dict[str, Column]) -> list[str]:
    varied = _varied(frame, names)
    rows = frame[varied].drop_duplicates().to_dict("records") if varied else []
    return [_joined(row, columns) for row in rows]


def _joined(row: Mapping[str, Any], columns: dict[str, Column]) -> str:
    return ", ".join(named(columns[name], value) for name, value in row.items() if value_label(name, value))


def _least(frame: pd.DataFrame, plot: Plot, columns: dict[str, Column]) -> str:
    """Which curve has the smallest number at the end of the axis, in how many panels."""
    series = _varied(frame, plot.series)
    if not series or plot.x_scale == "category":
        return ""
    end = frame[frame[plot.x] == frame[plot.x].max()]
    panels = [rows for _, rows in end.groupby([*plot.panels], sort=False)] if plot.panels else [end]
    best = [rows.loc[rows[plot.y].idxmin()] for rows in panels if len(rows) > 1]
    names = [_joined({name: row[name] for name in series}, columns) for row in best]
    if not names:
        return ""
    first = max(dict.fromkeys(names), key=names.count)
    where = f" in {names.count(first)} of {len(names)} panels" if len(names) > 1 else ""
    return f"At the largest {plot.labels[plot.x]} the smallest number is that of {first}{where}"
