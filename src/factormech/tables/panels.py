"""A table as its readers see it: panels, curves, bounds and gaps.

**The view.** The figure and the caption are two renderings of one :class:`View`, so they cannot tell different
stories. Names here are those of the table; how they are called and drawn is :mod:`factormech.plots.style`'s.

**Shared by all views.** One study, its grid points, numbers along an axis, and phrases for missing values.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np

from factormech import labels
from factormech.arrays import FloatArray
from factormech.errors import BadValue
from factormech.studies.base import Column, Experiment
from factormech.studies.drawing import Drawing, Roles
from factormech.studies.drawn import Compared
from factormech.studies.sample_complexity import LOWER_BOUND
from factormech.tables.layout import arranged, parts, summary_text, titled

if TYPE_CHECKING:
    import pandas as pd


# The view.

ABSENT = "not in the table"
ZERO = "needs no users"
VACUOUS = "vacuous"
# Columns whose value the label of y says.
SAID = ("metric", "alpha")
# The values of the columns that tell curves apart: a mechanism, for example.
Name: TypeAlias = tuple[Any, ...]
One = TypeVar("One", bound=Hashable)


@dataclass(frozen=True)
class Curve:
    """Numbers along the axis, NaN where there are none: the middle, and the ends of the band over what is summarised.

    ``points`` are x and y of every single number.
    """

    name: Any
    middle: FloatArray
    low: FloatArray
    high: FloatArray
    points: tuple[FloatArray, FloatArray] | None = None

    def positive(self) -> Curve:
        """The part that a logarithmic axis can show."""
        shown = self.middle > 0
        middle, low, high = (np.where(shown, values, np.nan) for values in (self.middle, self.low, self.high))
        return Curve(self.name, middle, low, high)


@dataclass(frozen=True)
class Gap:
    """Where along the axis a curve has no number to draw, and why."""

    name: Name
    status: str
    where: tuple[float, ...]
    reasons: tuple[str, ...]
    everywhere: bool


@dataclass(frozen=True)
class Panel:
    """One panel; ``group`` is what its curves have in common, where they are not all curves of the study."""

    title: str
    x: FloatArray
    curves: tuple[Curve, ...]
    bounds: tuple[Curve, ...]
    gaps: tuple[Gap, ...]
    group: str = ""

    @property
    def heading(self) -> str:
        """The heading above the panel."""
        return f"{self.title}: {self.group}" if self.group and self.title else self.title or self.group

    def over_bound(self) -> Panel:
        """The curves as multiples of the strongest bound."""
        best = self.strongest_bound()
        over = tuple(Curve(c.name, c.middle / best, c.low / best, c.high / best) for c in self.curves)
        return replace(self, curves=over, bounds=())

    def of_group(self, group: str, names: Container[Name]) -> Panel:
        """The curves with these names alone."""
        curves = tuple(curve for curve in self.curves if curve.name in names)
        return replace(self, curves=curves, gaps=tuple(gap for gap in self.gaps if gap.name in names), group=group)

    def strongest_bound(self) -> FloatArray:
        """The largest of the bounds at each x; NaN where none says anything (all missing, or 0 or less)."""
        best = np.full(self.x.shape, np.nan)
        for bound in self.bounds:
            best = np.fmax(best, bound.positive().middle)
        return best


@dataclass(frozen=True)
class View:
    """A whole table, arranged by the roles of its columns.

    Parameters
    ----------
    shown
        What the kind of study says of its figure.
    columns
        The columns of the table by name.
    roles
        The role of each column.
    fixed
        The columns of numbers beside x that have one value.
    accuracy
        The values of the metric and of α, if the table has them.
    names, bounds, panels
        Of the curves, of the lower bounds, and the panels.
    summary, left_out
        Sentences on what is summarised, and on what the figure leaves out.
    """

    shown: Compared
    columns: Mapping[str, Column]
    roles: Roles
    fixed: Mapping[str, float]
    accuracy: tuple[tuple[str, ...], tuple[float, ...]]
    names: tuple[Name, ...]
    bounds: tuple[str, ...]
    panels: tuple[Panel, ...]
    summary: str
    left_out: tuple[str, ...]

    @property
    def axis(self) -> Column:
        """The column along x."""
        return self.columns[self.roles.x]

    @property
    def drawn(self) -> tuple[Name, ...]:
        """The curves with a number to draw somewhere."""
        return with_numbers(self.names, ((c.name, c.middle) for panel in self.panels for c in panel.curves))

    @property
    def never_drawn(self) -> dict[Name, tuple[str, ...]]:
        """The other curves, and all reasons for that."""
        never = [name for name in self.names if name not in self.drawn]
        return {name: self.reasons(name) for name in never}

    def label(self, name: Name) -> str:
        """Return the label of a curve."""
        return titled(self.columns, self.roles.series, name)

    def reasons(self, name: Name) -> tuple[str, ...]:
        """Why a curve has gaps, over all panels."""
        return told(
            [reason for panel in self.panels for gap in panel.gaps if gap.name == name for reason in gap.reasons]
        )


def view(frame: pd.DataFrame, kind: Experiment, drawing: Drawing | None = None) -> View:
    """Arrange a table of a kind that compares mechanisms on a grid.

    Raises
    ------
    BadValue
        If the table has no rows.
    """
    shown = kind.figure
    if not isinstance(shown, Compared):
        raise TypeError(f"{kind.kind} is drawn by {shown}")
    if frame.empty:
        raise BadValue("table", "no rows", "have at least one row", "run the workflow again")
    columns = {column.name: column for column in kind.columns}
    keys = [columns[name] for name in dict.fromkeys((*kind.keys, *SAID)) if name in columns]
    is_bound = frame["mechanism"] == LOWER_BOUND
    measured = frame if is_bound.all() else frame[~is_bound]
    measured, roles, left_out = arranged(
        measured,
        keys,
        drawing or Drawing(),
        x=shown.x,
        panels=("workload",),
        series=("mechanism",),
        longest=not shown.fixed,
    )
    bounds = frame[is_bound]
    for name in roles.panels:
        bounds = bounds if name == "mechanism" else bounds[bounds[name].isin(measured[name])]
    apart = [column.short for column in keys if column.name in roles.series[:2] and column.name != "mechanism"]
    if len(bounds) and apart:
        left_out.append(f"a lower bound is the least of those for all values of {' and '.join(apart)}")
    names = tuple(dict.fromkeys(_names(measured[measured["mechanism"] != LOWER_BOUND], roles)))
    numbers = [c.name for c in keys if c.type != "text" and c.name not in (roles.x, *roles.summarised, *SAID)]
    grid = Grid(kind, shown, keys, roles, np.unique(measured[roles.x].to_numpy(dtype=np.float64)), names)
    return View(
        shown=shown,
        columns=columns,
        roles=roles,
        fixed={name: float(frame[name].iloc[0]) for name in numbers if len(set(frame[name])) == 1},
        accuracy=tuple(tuple(frame[name].unique().tolist()) if name in frame else () for name in SAID),  # type: ignore[arg-type]
        names=names,
        bounds=tuple(bounds["bound_name"].unique().tolist()) if len(bounds) else (),
        panels=_panels(measured, bounds, grid, columns),
        summary=summary_text(frame, roles, columns),
        left_out=tuple(left_out),
    )


def grouped(table: View, groups: Mapping[str, Sequence[str]]) -> View:
    """Return the view with each panel once for every group (title → mechanisms), as multiples of its bound."""
    if not groups or "mechanism" not in table.roles.series:
        return table
    at = table.roles.series.index("mechanism")
    members = {title: [name for name in table.names if name[at] in names] for title, names in groups.items()}
    panels = [panel.over_bound().of_group(title, names) for title, names in members.items() for panel in table.panels]
    shown = replace(
        table.shown,
        height="ratio",
        what="users for {accuracy} over the lower bound",
        label="users over the lower bound",
    )
    names = tuple(name for name in table.names if any(name in group for group in members.values()))
    return replace(table, shown=shown, names=names, panels=tuple(panel for panel in panels if panel.curves))


@dataclass(frozen=True)
class Grid:
    """What all panels of a table share."""

    kind: Experiment
    shown: Compared
    keys: Sequence[Column]
    roles: Roles
    x: FloatArray
    names: tuple[Name, ...]

    @property
    def rest(self) -> list[str]:
        """The columns over which a lower bound is a minimum: all that tell curves apart, except the mechanism."""
        used = (self.roles.x, "mechanism", *self.roles.panels, *self.roles.summarised)
        return [column.name for column in self.keys if column.name not in used]


def with_numbers(names: Sequence[One], numbers: Iterable[tuple[One, FloatArray]]) -> tuple[One, ...]:
    """The names with a number above 0 somewhere, which is what a logarithmic axis can show."""
    shown = {name for name, values in numbers if np.any(values > 0)}
    return tuple(name for name in names if name in shown)


def told(reasons: Sequence[str]) -> tuple[str, ...]:
    """Reasons without repetition; of those that differ only in numbers (a residual at each ε), the first."""
    return tuple(dict.fromkeys(told_as(reasons).values()))


def told_as(reasons: Iterable[str]) -> dict[str, str]:
    """Return a text for each reason; reasons that differ only in numbers have the same text."""
    alike: dict[str, list[str]] = {}
    for reason in reasons:
        alike.setdefault(re.sub(r"\d+(\.\d+)?(e[-+]?\d+)?", "#", reason), []).append(reason)
    return {
        reason: group[0] + (" (numbers vary)" if len(set(group)) > 1 else "")
        for group in alike.values()
        for reason in group
    }


def span(where: Sequence[float], x: FloatArray, axis: Column) -> str:
    """Places on an axis in few characters: "n ≥ 32", "ε = 0.5, 1", or "" for all of them."""
    return places(where, x, axis.short)


def places(where: Sequence[float], x: FloatArray, symbol: str) -> str:
    """Places on an axis that has this symbol."""
    missing = np.isin(x, where)
    count = int(missing.sum())
    if count == len(x):
        return ""
    if count > 1 and missing[-count:].all():
        return f"{symbol} ≥ {number(x[-count])}"
    if count > 1 and missing[:count].all():
        return f"{symbol} ≤ {number(x[count - 1])}"
    return f"{symbol} = {', '.join(number(value) for value in x[missing])}"


def number(value: float) -> str:
    """A parameter as one would type it: 512, 0.5, 1."""
    return str(int(value)) if float(value).is_integer() and abs(value) < 2**53 else repr(float(value))


def _panels(
    measured: pd.DataFrame, bounds: pd.DataFrame, grid: Grid, columns: Mapping[str, Column]
) -> tuple[Panel, ...]:
    """The panels; a title has every text, and the numbers that vary."""
    names = [n for n in grid.roles.panels if columns[n].type == "text" or len(set(measured[n])) > 1]
    found = []
    for values, rows in parts(measured, names):
        beside = bounds
        for name, value in zip(names, values, strict=True):
            beside = beside if name == "mechanism" else beside[beside[name] == value]
        found.append(_panel(titled(columns, names, values), rows, beside, grid))
    return tuple(found)


def _panel(title: str, rows: pd.DataFrame, bounds: pd.DataFrame, grid: Grid) -> Panel:
    keys = _names(rows, grid.roles)
    by_name = {name: rows[[key == name for key in keys]] for name in grid.names}
    curves = tuple(_curve(name, part, grid, grid.shown.y) for name, part in by_name.items())
    lines = tuple(_bound(str(name), part, grid) for name, part in bounds.groupby("bound_name", sort=False))
    axis = grid.roles.x
    gaps = [gap for curve in curves for gap in _gaps(by_name[curve.name], curve, axis, grid.x)]
    return Panel(title, grid.x, curves, lines, tuple(gaps))


def _names(rows: pd.DataFrame, roles: Roles) -> list[Name]:
    if not roles.series:
        return [()] * len(rows)
    return list(zip(*(rows[column].tolist() for column in roles.series), strict=True))


def _curve(name: Any, rows: pd.DataFrame, grid: Grid, column: str) -> Curve:
    values, x, roles = rows[column].astype("float64"), rows[grid.roles.x].astype("float64"), grid.roles
    groups = values.groupby(x)
    ends = [groups.quantile(share) for share in roles.quantiles]
    middle, low, high = (
        part.reindex(grid.x).to_numpy(dtype=np.float64) for part in (groups.agg(roles.statistic), *ends)
    )
    numbers = np.isfinite(values.to_numpy())
    points = (x.to_numpy()[numbers], values.to_numpy()[numbers]) if grid.shown.points else None
    return Curve(name, middle, low, high, points)


def _bound(name: str, rows: pd.DataFrame, grid: Grid) -> Curve:
    """A lower bound: summarised like the curves, and the least of those for the curves of a panel."""
    x = rows[grid.roles.x].astype("float64")
    values = rows["lower_bound"].groupby([x, *(rows[column] for column in grid.rest)]).agg(grid.roles.statistic)
    least = np.asarray(values.groupby(level=0).min().reindex(grid.x), dtype=np.float64)
    return Curve(name, least, least, least)


def _gaps(rows: pd.DataFrame, curve: Curve, axis: str, x: FloatArray) -> list[Gap]:
    gaps: list[Gap] = []
    for status, part in rows[rows["status"] != "ok"].groupby("status", sort=False):
        gaps.append(_gap(curve.name, str(status), np.unique(part[axis]), x, tuple(part["reason"])))
    absent = np.setdiff1d(x, rows[axis])
    if absent.size:
        gaps.append(_gap(curve.name, ABSENT, absent, x, ("the table has no row for it",)))
    zero = x[curve.middle <= 0]
    if zero.size:
        gaps.append(_gap(curve.name, ZERO, zero, x, ("its variance is 0, which a logarithmic axis cannot show",)))
    return gaps


def _gap(name: Name, status: str, where: FloatArray, x: FloatArray, reasons: tuple[str, ...]) -> Gap:
    return Gap(name, status, tuple(where.tolist()), tuple(dict.fromkeys(reasons)), everywhere=len(where) == len(x))


# Shared by all views.


def check_one_study(frame: pd.DataFrame) -> None:
    """Refuse a table of several studies, because their grids are unrelated."""
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
    """Return a phrase for each mechanism with zeros in a column that a logarithmic axis cannot show."""
    groups = frame[frame[column] == 0].groupby("mechanism", sort=False)
    return [f"not drawn: {labels.mechanism_label(str(name))} [{workloads_of(rows)}] — {why}" for name, rows in groups]
