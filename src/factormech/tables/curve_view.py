"""The table of an experiment as its figure and caption see it: panels of curves, the band below, what is missing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from factormech import labels
from factormech.arrays import FloatArray
from factormech.experiments.base import Column, Curves, Experiment
from factormech.tables.panels import places, told

if TYPE_CHECKING:
    import pandas as pd

# A value of the column of curves, and one of the column of lines ("" where there is none).
Name: TypeAlias = tuple[Any, Any]


@dataclass(frozen=True)
class Line:
    """One curve: numbers along the panel's x, NaN where there are none; the ends of intervals; why some are missing."""

    y: FloatArray
    low: FloatArray
    high: FloatArray
    reasons: tuple[str, ...]

    @property
    def missing(self) -> FloatArray:
        """Where there is no number."""
        return np.asarray(np.isnan(self.y))


@dataclass(frozen=True)
class CurvePanel:
    """One panel; panels with one ``group`` share the first part of their titles."""

    title: str
    group: str
    x: FloatArray
    lines: dict[Name, Line]
    below: FloatArray
    references: dict[str, FloatArray]
    marks: dict[str, float]


@dataclass(frozen=True)
class CurveView:
    """A whole table: the names of all curves, in its order, the panels, and what is said of all panels."""

    kind: Experiment
    curves: Curves
    names: tuple[Name, ...]
    panels: tuple[CurvePanel, ...]
    notes: tuple[str, ...] = ()

    @property
    def drawn(self) -> tuple[Name, ...]:
        """The curves with a number somewhere."""
        shown = {name for panel in self.panels for name, line in panel.lines.items() if not line.missing.all()}
        return tuple(name for name in self.names if name in shown)

    def column(self, name: str) -> Column:
        """A column of the table."""
        return self.kind.column(name)

    def label(self, name: Name) -> str:
        """What a reader calls a curve."""
        series = _named(self.column(self.curves.series), name[0])
        return series if self.curves.dash is None else f"{series}, {_named(self.column(self.curves.dash), name[1])}"

    def missing(self) -> list[str]:
        """Which curves lack numbers, where, and why: those that are not drawn first."""
        never = [name for name in self.names if name not in self.drawn]
        found = [f"not drawn: {self.label(name)} — {'; '.join(self._reasons(name))}" for name in never]
        for name in self.drawn:
            where = dict.fromkeys(place for group in self._groups() for place in self._gaps_of(group, name))
            if where:
                found.append(f"{self.label(name)} missing at {'; '.join(where)} — {'; '.join(self._reasons(name))}")
        return found

    def _reasons(self, name: Name) -> tuple[str, ...]:
        reasons = [r for panel in self.panels if name in panel.lines for r in panel.lines[name].reasons]
        absent = any(name not in panel.lines for panel in self.panels)
        return told(reasons) or (("no rows for it",) if absent else ("no number",))

    def _groups(self) -> Iterator[list[CurvePanel]]:
        for group in dict.fromkeys(panel.group for panel in self.panels):
            yield [panel for panel in self.panels if panel.group == group]

    def _gaps_of(self, group: list[CurvePanel], name: Name) -> Iterator[str]:
        """The places of a curve's gaps in panels of one group; its name where they are everywhere."""
        if len(group) > 1 and all(name not in panel.lines or panel.lines[name].missing.all() for panel in group):
            yield group[0].group
            return
        for panel in group:
            yield from self._gaps(panel, name)

    def _gaps(self, panel: CurvePanel, name: Name) -> Iterator[str]:
        """Where in a panel a curve that is drawn elsewhere has no number."""
        line = panel.lines.get(name)
        if line is None or line.missing.all():
            yield panel.title or "every place"
        elif line.missing.any():
            symbol = self.column(self.curves.x).short
            place = places(panel.x[line.missing].tolist(), panel.x, symbol)
            yield f"{place} ({panel.title})" if panel.title and self._differs(name) else place

    def _differs(self, name: Name) -> bool:
        """Whether a curve lacks other places in one panel than in another."""
        lacks = [panel.lines[name].missing if name in panel.lines else None for panel in self.panels]
        return any(one is None or lacks[0] is None or not np.array_equal(one, lacks[0]) for one in lacks)


def curve_view(frame: pd.DataFrame, kind: Experiment) -> CurveView:
    """Arrange the table of a kind that says what its figure shows."""
    curves = kind.figure
    if not isinstance(curves, Curves):
        raise TypeError(f"{kind.kind} is drawn by {curves}")
    names = tuple(dict.fromkeys(_names(frame, curves)))
    titled = [name for name in curves.panels if curves.panel == name or len(set(frame[name])) > 1]
    same = [name for name in curves.panels if name not in titled]
    parts = list(frame.groupby(titled, sort=False)) if titled else [((), frame)]
    panels = tuple(
        _panel(_titled(kind, titled, values), _titled(kind, titled[:1], values[:1]), part, kind, curves)
        for values, part in parts
    )
    notes = (_titled(kind, same, [frame[name].iloc[0] for name in same]), curves.note)
    return CurveView(kind, curves, names, panels, tuple(filter(None, notes)))


def _titled(kind: Experiment, names: list[str], values: Iterable[Any]) -> str:
    """Values of columns, in one line."""
    return ", ".join(_named(kind.column(name), value) for name, value in zip(names, values, strict=True))


def _panel(title: str, group: str, frame: pd.DataFrame, kind: Experiment, curves: Curves) -> CurvePanel:
    x = np.unique(frame[curves.x].to_numpy(dtype=np.float64))
    keys = _names(frame, curves)
    lines = {}
    for name in dict.fromkeys(keys):
        rows = frame[[key == name for key in keys]].sort_values(curves.x).set_index(curves.x)
        y, low, high = (_along(rows, x, column or curves.y) for column in (curves.y, curves.low, curves.high))
        if curves.y_scale != "linear":
            y = np.where(y > 0, y, np.nan)
        reasons = tuple(dict.fromkeys(r for r in rows.get("reason", []) if r))
        lines[name] = Line(y, low, high, reasons)
    grouped = frame.groupby(frame[curves.x].astype("float64"))
    below = np.full(x.shape, np.nan)
    if curves.below is not None:
        below = np.asarray(grouped[curves.below].agg(lambda v: v.min(skipna=False)).reindex(x), dtype=np.float64)
    references = {name: np.asarray(grouped[name].max().reindex(x), dtype=np.float64) for name in curves.references}
    marks = {name: float(frame[name].astype("float64").max()) for name in curves.marks}
    return CurvePanel(title, group, x, lines, below, references, marks)


def _names(frame: pd.DataFrame, curves: Curves) -> list[Name]:
    series = frame[curves.series].tolist()
    return list(zip(series, frame[curves.dash].tolist() if curves.dash else [""] * len(series), strict=True))


def _along(rows: pd.DataFrame, x: FloatArray, column: str) -> FloatArray:
    return np.asarray(rows[column].reindex(x).to_numpy(dtype=np.float64))


def _named(column: Column, value: Any) -> str:
    """A value with its symbol where it is a number: "δ = 1e-06"."""
    label = labels.value_label(column.name, value)
    return label if isinstance(value, str) else f"{column.short} = {label}"
