"""The table of an experiment as its figure and caption see it: panels of curves, the band below, what is missing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np

from factormech.arrays import FloatArray
from factormech.labels import capital, value_label
from factormech.studies.base import Column, Curves, Experiment
from factormech.studies.drawing import Drawing, Roles
from factormech.tables.layout import arranged, axis_label, is_mixed, named, parts, summary_text, titled
from factormech.tables.panels import places, told

if TYPE_CHECKING:
    import pandas as pd

# A value of the column of curves, and one of the column of lines ("" where there is none).
Name: TypeAlias = tuple[Any, Any]
# Curves that differ by less, as a share of their values, look like one.
SEEN = 0.005


@dataclass(frozen=True)
class Line:
    """One curve: numbers along the panel's x, NaN where there are none; the ends of intervals; why some are missing.

    ``spread`` says whether the intervals are a band over what is summarised, and not those of the table. ``path``
    has the line, where that is not through the numbers. ``censored`` are the numbers of runs that were stopped, which
    are not in ``y``.
    """

    y: FloatArray
    low: FloatArray
    high: FloatArray
    reasons: tuple[str, ...]
    spread: bool = False
    path: FloatArray | None = None
    censored: FloatArray | None = None

    @property
    def missing(self) -> FloatArray:
        """Where there is no number."""
        return np.asarray(np.isnan(self.y) if self.censored is None else np.isnan(self.y) & np.isnan(self.censored))

    @property
    def is_censored(self) -> bool:
        """Whether runs of it were stopped somewhere."""
        return self.censored is not None and bool(np.isfinite(self.censored).any())

    @property
    def shown(self) -> list[FloatArray]:
        """All numbers of which something is drawn."""
        return [self.y, self.low, self.high, *([] if self.censored is None else [self.censored])]


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
    stars: dict[Name, tuple[FloatArray, FloatArray]]


@dataclass(frozen=True)
class CurveView:
    """A whole table: the names of all curves, in its order, the panels, and what is said of all panels.

    ``places`` are what readers call the values of x where these are texts; their numbers are 0, 1, 2 …
    """

    kind: Experiment
    curves: Curves
    names: tuple[Name, ...]
    panels: tuple[CurvePanel, ...]
    x_label: str
    notes: tuple[str, ...] = ()
    places: tuple[str, ...] = ()

    @property
    def declared(self) -> Curves:
        """The curves that the kind declares, before the study's block changes them."""
        return cast("Curves", self.kind.figure)

    @property
    def drawn(self) -> tuple[Name, ...]:
        """The curves with a number somewhere."""
        shown = {name for panel in self.panels for name, line in panel.lines.items() if not line.missing.all()}
        return tuple(name for name in self.names if name in shown)

    def column(self, name: str) -> Column:
        """A column of the table."""
        return self.kind.column(name)

    def label(self, name: Name) -> str:
        """Return the label of a curve."""
        columns = [column for column in (self.curves.series, self.curves.dash) if column]
        if not columns:
            return self.curves.name or self.column(self.curves.y).label
        return ", ".join(named(self.column(column), value) for column, value in zip(columns, name, strict=False))

    def missing(self) -> list[str]:
        """Which curves lack numbers, where, and why: those that are not drawn first."""
        never = [name for name in self.names if name not in self.drawn]
        found = [f"not drawn: {self.label(name)} — {'; '.join(self._reasons(name)) or 'no rows'}" for name in never]
        for name in self.drawn:
            where = dict.fromkeys(place for group in self._groups() for place in self._gaps_of(group, name))
            if where:
                reasons, places = self._reasons(name), "; ".join(where)
                told_why = f"missing at {places} — {'; '.join(reasons)}" if reasons else f"is not measured at {places}"
                found.append(f"{self.label(name)} {told_why}")
        return found

    def coincident(self) -> list[str]:
        """Which curves lie on each other wherever both have numbers, and in which panels."""
        found: dict[tuple[Name, ...], list[str]] = {}
        for panel in self.panels:
            for names in _together({name: panel.lines[name].y for name in self.drawn if name in panel.lines}):
                found.setdefault(names, []).append(panel.title)
        told = []
        for names, titles in found.items():
            where = f" ({'; '.join(titles)})" if len(titles) < len(self.panels) else ""
            told.append(f"one line in the figure{where}: {' = '.join(map(self.label, names))}")
        return told

    def _reasons(self, name: Name) -> tuple[str, ...]:
        reasons = [r for panel in self.panels if name in panel.lines for r in panel.lines[name].reasons]
        absent = any(name not in panel.lines for panel in self.panels)
        return told(reasons) or (() if absent else ("no number",))

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
            where = panel.x[line.missing]
            place = ", ".join(self.places[int(i)] for i in where) if self.places else places(where, panel.x, symbol)
            yield f"{place} ({panel.title})" if panel.title and self._differs(name) else place

    def _differs(self, name: Name) -> bool:
        """Return whether a curve lacks other places in one panel than in another."""
        lacks = [panel.lines[name].missing if name in panel.lines else None for panel in self.panels]
        return any(one is None or lacks[0] is None or not np.array_equal(one, lacks[0]) for one in lacks)


def _together(lines: dict[Name, FloatArray]) -> list[tuple[Name, ...]]:
    """Groups of two and more curves that differ by less than is seen."""
    groups: list[list[Name]] = []
    for name, y in lines.items():
        near = (g for g in groups if np.isfinite(y + lines[g[0]]).any() and _same(y, lines[g[0]]))
        group = next(near, None)
        if group is None:
            groups.append([name])
        else:
            group.append(name)
    return [tuple(group) for group in groups if len(group) > 1]


def _same(y: FloatArray, other: FloatArray) -> bool:
    """Return whether two curves agree wherever both have numbers."""
    both = np.isfinite(y) & np.isfinite(other)
    return bool(np.allclose(y[both], other[both], rtol=SEEN, atol=0.0))


def curve_view(frame: pd.DataFrame, kind: Experiment, drawing: Drawing | None = None) -> CurveView:
    """Arrange the table of a kind that says what its figure shows."""
    shown = kind.figure
    if not isinstance(shown, Curves):
        raise TypeError(f"{kind.kind} is drawn by {shown}")
    columns = {column.name: column for column in kind.columns}
    starred = frame[frame[shown.stars[0]] == shown.stars[1]] if shown.stars else frame[:0]
    frame = frame.drop(starred.index) if shown.apart else frame
    frame = frame[frame[shown.where[0]] == shown.where[1]] if shown.where else frame
    keys = [columns[name] for name in dict.fromkeys((*kind.keys, *shown.place)) if name in frame]
    series = [name for name in (shown.series, shown.dash) if name]
    frame, roles, left_out = arranged(frame, keys, drawing or Drawing(), x=shown.x, panels=shown.panels, series=series)
    curves = _with_roles(shown, roles)
    across = axis_label(columns[curves.x], frame)
    texts = list(dict.fromkeys(frame[curves.x])) if columns[curves.x].type == "text" else []
    if texts:
        frame = frame.assign(**{curves.x: frame[curves.x].map({text: i for i, text in enumerate(texts)})})
    names = tuple(dict.fromkeys(_names(frame, curves)))
    varying = [
        name for name in curves.panels if shown.panel == name or len(set(frame[name])) > 1 or is_mixed(name, frame)
    ]
    same = [name for name in curves.panels if name not in varying]
    if len(varying) > 1:  # the panels of one value of the first column stand together
        frame = frame.iloc[np.lexsort([_ranks(frame[name]) for name in reversed(varying)])]
    panels = tuple(
        replace(
            _panel([capital(titled(columns, varying[:m], values[:m], part)) for m in (None, 1)], part, curves, roles),
            stars=_stars(starred, varying, values, curves),
        )
        for values, part in parts(frame, varying)
    )
    fixed = titled(columns, same, [frame[name].iloc[0] for name in same], frame)
    notes = (fixed, curves.note, summary_text(frame, roles, columns), *left_out)
    told_as = tuple(value_label(curves.x, text) for text in texts)
    return CurveView(kind, curves, names, panels, across, tuple(filter(None, notes)), told_as)


def _ranks(values: pd.Series[Any]) -> list[int]:
    """The place of each value in the order in which values first appear."""
    order = {value: i for i, value in enumerate(dict.fromkeys(values))}
    return [order[value] for value in values]


def _with_roles(curves: Curves, roles: Roles) -> Curves:
    """The declaration with the roles of a study: another x has the scale that its values ask for."""
    series, dash = (*roles.series, None, None)[:2]
    scale = curves.x_scale if roles.x == curves.x else "auto"
    return replace(curves, x=roles.x, panel=roles.panels, series=series or "", dash=dash, x_scale=scale)


def _panel(titles: list[str], frame: pd.DataFrame, curves: Curves, roles: Roles) -> CurvePanel:
    x = np.unique(frame[curves.x].to_numpy(dtype=np.float64))
    keys = _names(frame, curves)
    lines = {}
    for name in dict.fromkeys(keys):
        lines[name] = _line(frame[[key == name for key in keys]], x, curves, roles)
    grouped = frame.groupby(frame[curves.x].astype("float64"))
    below = np.full(x.shape, np.nan)
    if curves.below is not None:
        below = np.asarray(grouped[curves.below].agg(lambda v: v.min(skipna=False)).reindex(x), dtype=np.float64)
    references = {
        name: np.asarray(grouped[name].agg(_largest).reindex(x), dtype=np.float64) for name in curves.references
    }
    marks = {name: float(frame[name].astype("float64").max()) for name in curves.marks}
    return CurvePanel(titles[0], titles[-1], x, lines, below, references, marks, {})


def _largest(values: pd.Series[float]) -> float:
    """The largest finite number; NaN if there is none."""
    return float(values.where(np.isfinite(values.astype("float64"))).max())


def _stars(
    rows: pd.DataFrame, columns: list[str], values: tuple[Any, ...], curves: Curves
) -> dict[Name, tuple[FloatArray, FloatArray]]:
    """The rows of a panel that are drawn as stars."""
    for column, value in zip(columns, values, strict=True):
        rows = rows[rows[column] == value]
    keys = _names(rows, curves)
    found = {}
    for name in dict.fromkeys(keys):
        part = rows[[key == name for key in keys]]
        x, y = (np.asarray(part[column].to_numpy(dtype=np.float64)) for column in (curves.x, curves.y))
        found[name] = (x, y)
    return found


def _line(rows: pd.DataFrame, x: FloatArray, curves: Curves, roles: Roles) -> Line:
    """A curve; where several rows have one x, they are summarised."""
    reasons = tuple(dict.fromkeys(r for r in rows.get("reason", []) if r))
    at = rows[curves.x].astype("float64")
    spread = bool(at.duplicated().any())
    if spread:
        groups = rows[curves.y].astype("float64").groupby(at)
        found = [groups.agg(roles.statistic), *(groups.quantile(share) for share in roles.quantiles)]
    else:
        found = [rows[column or curves.y].set_axis(at) for column in (curves.y, curves.low, curves.high)]
    path = (
        None if curves.line is None or spread else rows[curves.line].set_axis(at).reindex(x).to_numpy(dtype=np.float64)
    )
    y, low, high = (np.asarray(values.reindex(x).to_numpy(dtype=np.float64)) for values in found)
    if curves.y_scale != "linear":
        y = np.where(y > 0, y, np.nan)
    if curves.censored is None or spread:
        return Line(y, low, high, reasons, spread, path)
    stopped = rows[curves.censored].set_axis(at).reindex(x).to_numpy(dtype=np.float64) > 0
    middle, low, high = (np.where(stopped, np.nan, values) for values in (y, low, high))
    return Line(middle, low, high, reasons, spread, path, np.where(stopped, y, np.nan))


def _names(frame: pd.DataFrame, curves: Curves) -> list[Name]:
    columns = [frame[name].tolist() if name else [""] * len(frame) for name in (curves.series, curves.dash)]
    return list(zip(*columns, strict=True))
