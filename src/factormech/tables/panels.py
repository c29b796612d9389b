"""A table as its readers see it: a panel per workload, a curve per mechanism and bound, gaps with reasons.

The figure and the caption are two renderings of one :class:`View`, so they cannot tell different stories. Names here
are those of the table; how they are called and drawn is :mod:`factormech.figures.style`'s.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from factormech.arrays import FloatArray
from factormech.errors import BadValue
from factormech.experiments import columns
from factormech.experiments.sample_complexity import LOWER_BOUND

if TYPE_CHECKING:
    import pandas as pd

ABSENT = "not in the table"
ZERO = "needs no users"
VACUOUS = "vacuous"


@dataclass(frozen=True)
class Curve:
    """Numbers along the axis, NaN where there are none: median, least and largest over the seeds."""

    name: str
    middle: FloatArray
    low: FloatArray
    high: FloatArray

    def positive(self) -> Curve:
        """The part that a logarithmic axis can show."""
        shown = self.middle > 0
        return Curve(self.name, *(np.where(shown, values, np.nan) for values in (self.middle, self.low, self.high)))


@dataclass(frozen=True)
class Gap:
    """Where along the axis a mechanism has no number to draw, and why."""

    name: str
    status: str
    where: tuple[float, ...]
    reasons: tuple[str, ...]
    everywhere: bool


@dataclass(frozen=True)
class Panel:
    """One workload."""

    workload: str
    x: FloatArray
    curves: tuple[Curve, ...]
    bounds: tuple[Curve, ...]
    gaps: tuple[Gap, ...]

    def strongest_bound(self) -> FloatArray:
        """The largest of the bounds at each x; NaN where none says anything (all missing, or 0 or less)."""
        best = np.full(self.x.shape, np.nan)
        for bound in self.bounds:
            best = np.fmax(best, bound.positive().middle)
        return best


@dataclass(frozen=True)
class View:
    """A whole table: ``axis`` is the column that varies, ``fixed`` the value of the other one."""

    axis: str
    fixed: float
    metric: str
    alpha: float
    seeds: int
    mechanisms: tuple[str, ...]
    bounds: tuple[str, ...]
    panels: tuple[Panel, ...]

    @property
    def drawn(self) -> tuple[str, ...]:
        """The mechanisms with a number to draw somewhere."""
        return with_numbers(self.mechanisms, ((c.name, c.middle) for panel in self.panels for c in panel.curves))

    @property
    def never_drawn(self) -> dict[str, tuple[str, ...]]:
        """The other mechanisms, and all reasons for that."""
        never = [name for name in self.mechanisms if name not in self.drawn]
        return {name: self.reasons(name) for name in never}

    def reasons(self, name: str) -> tuple[str, ...]:
        """Why a mechanism has gaps, over all panels."""
        return told(
            [reason for panel in self.panels for gap in panel.gaps if gap.name == name for reason in gap.reasons]
        )


def view(frame: pd.DataFrame, value: str = "sample_complexity", axis: str | None = None) -> View:
    """Arrange a table; refused if it has no rows, more than one metric or α, or two axes that vary.

    ``value`` is the column whose numbers are shown: tables of other numbers have no metric and α (the view then has the
    column's name and NaN). ``axis`` is the column that varies, of domain size and ε the one that does if not given.
    """
    if frame.empty:
        raise BadValue("table", "no rows", "have at least one row", "run the workflow again")
    sizes = frame["domain_size"].unique()
    if axis is None:
        axis, other = ("domain_size", "epsilon") if len(sizes) > 1 else ("epsilon", "domain_size")
    else:
        other = "epsilon"
        _single(frame, "domain_size", "choose one by table[table.domain_size == …]")
    mechanisms = frame.loc[frame["mechanism"] != LOWER_BOUND, "mechanism"].unique()
    bounds = frame.loc[frame["mechanism"] == LOWER_BOUND, "bound_name"].unique()
    x = np.unique(frame[axis].to_numpy(dtype=np.float64))
    return View(
        axis=axis,
        fixed=float(_single(frame, other, f"choose one by table[table.{other} == …]")),
        metric=str(_single(frame, "metric", "draw one metric at a time")) if "metric" in frame else value,
        alpha=float(_single(frame, "alpha", "draw one α at a time")) if "alpha" in frame else math.nan,
        seeds=int(frame["seed"].nunique()) if "seed" in frame else 1,
        mechanisms=tuple(mechanisms.tolist()),
        bounds=tuple(bounds.tolist()),
        panels=tuple(
            _panel(str(name), part, axis, x, mechanisms.tolist(), bounds.tolist(), value)
            for name, part in frame.groupby("workload", sort=False)
        ),
    )


def with_numbers(names: Sequence[str], numbers: Iterable[tuple[str, FloatArray]]) -> tuple[str, ...]:
    """The names with a number above 0 somewhere, which is what a logarithmic axis can show."""
    shown = {name for name, values in numbers if np.any(values > 0)}
    return tuple(name for name in names if name in shown)


def told(reasons: Sequence[str]) -> tuple[str, ...]:
    """Reasons without repetition; of those that differ only in numbers (a residual at each ε), the first."""
    return tuple(dict.fromkeys(told_as(reasons).values()))


def told_as(reasons: Iterable[str]) -> dict[str, str]:
    """How each of some reasons is told: those that differ only in numbers alike."""
    alike: dict[str, list[str]] = {}
    for reason in reasons:
        alike.setdefault(re.sub(r"\d+(\.\d+)?(e[-+]?\d+)?", "#", reason), []).append(reason)
    return {
        reason: group[0] + (" (numbers vary)" if len(set(group)) > 1 else "")
        for group in alike.values()
        for reason in group
    }


def span(where: Sequence[float], x: FloatArray, axis: str) -> str:
    """Places on an axis in few characters: "n ≥ 32", "ε = 0.5, 1", or "" for all of them."""
    return places(where, x, columns.meaning(axis).symbol)


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


def _single(frame: pd.DataFrame, column: str, remedy: str) -> Any:
    values = frame[column].unique().tolist()
    if len(values) > 1:
        found = ", ".join(map(str, values))
        raise BadValue(f"column {column} of the table", found, "have one value where another axis varies", remedy)
    return values[0]


def _panel(
    workload: str, frame: pd.DataFrame, axis: str, x: FloatArray, mechanisms: list[str], bounds: list[str], value: str
) -> Panel:
    by_mechanism = {name: frame[frame["mechanism"] == name] for name in mechanisms}
    is_bound = frame["mechanism"] == LOWER_BOUND
    by_bound = {name: frame[is_bound & (frame["bound_name"] == name)] for name in bounds}
    curves = tuple(_curve(name, rows, axis, value, x) for name, rows in by_mechanism.items())
    lines = tuple(_curve(name, rows, axis, "lower_bound", x) for name, rows in by_bound.items())
    gaps = [gap for curve in curves for gap in _gaps(by_mechanism[curve.name], curve, axis, x)]
    return Panel(workload, x, curves, lines, tuple(gaps))


def _curve(name: str, rows: pd.DataFrame, axis: str, column: str, x: FloatArray) -> Curve:
    groups = rows.groupby(rows[axis].astype("float64"))[column]
    middle, low, high = (getattr(groups, f)().reindex(x).to_numpy(dtype=np.float64) for f in ("median", "min", "max"))
    return Curve(name, middle, low, high)


def _gaps(rows: pd.DataFrame, curve: Curve, axis: str, x: FloatArray) -> list[Gap]:
    gaps = []
    for status, part in rows[rows["status"] != "ok"].groupby("status", sort=False):
        gaps.append(_gap(curve.name, str(status), np.unique(part[axis]), x, tuple(part["reason"])))
    absent = np.setdiff1d(x, rows[axis])
    if absent.size:
        gaps.append(_gap(curve.name, ABSENT, absent, x, ("the table has no row for it",)))
    zero = x[curve.middle <= 0]
    if zero.size:
        gaps.append(_gap(curve.name, ZERO, zero, x, ("its variance is 0, which a logarithmic axis cannot show",)))
    return gaps


def _gap(name: str, status: str, where: FloatArray, x: FloatArray, reasons: tuple[str, ...]) -> Gap:
    return Gap(name, status, tuple(where.tolist()), tuple(dict.fromkeys(reasons)), everywhere=len(where) == len(x))
