"""The figures of experiments that say what they show: panels of curves, with bars, a band and reference lines.

What is declared is in :class:`factormech.studies.drawn.Curves`; names have one look in all figures
(:mod:`factormech.plots.style`).
"""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING

import numpy as np

from factormech import labels
from factormech.arrays import FloatArray
from factormech.plots import axes as scales
from factormech.plots import captions, curves, style
from factormech.plots.captions import sentence
from factormech.plots.style import Style
from factormech.studies.drawing import Drawing
from factormech.tables.curve_view import CurvePanel, CurveView, Name, curve_view

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from factormech.studies.base import Experiment
    from factormech.studies.drawn import Curves

__all__ = ["draw", "words"]

# The margin of an axis as a share of what is shown, the least that is shown, and how far below it a band is shown.
MARGIN, LEAST_DECADES, DECADES_BELOW = 0.07, 0.25, 1.0
# Inches below a row of panels for names along the axis.
NAMES_HEIGHT = 1.2
# Columns of series whose names have no look of their own.
PLAIN = ("data",)
# What the arrows mean.
CENSORED = "At least this (some runs were stopped)"
# Decades that a band which is shown whole has below its lowest end.
BAND_DECADES = 0.3


def draw(frame: pd.DataFrame, *, experiment: Experiment, drawing: Drawing | None = None) -> Figure:
    """The figure of a table of this experiment."""
    table = curve_view(frame, experiment, drawing)
    with style.context():
        figure, panels = curves.canvas(len(table.panels), NAMES_HEIGHT if table.places else 0.0)
        for ax, panel in zip(panels, table.panels, strict=True):
            draw_panel(ax, panel, table)
        curves.finish(
            figure,
            panels,
            [panel.title for panel in table.panels],
            entries(table),
            x_label=table.x_label,
            y_label=_y_label(table),
            footer=[*_notes(table), *table.coincident(), *table.missing()],
        )
    return figure


def _y_label(table: CurveView) -> str:
    return table.curves.label or table.column(table.curves.y).label


def draw_panel(ax: Axes, panel: CurvePanel, table: CurveView) -> None:
    """One panel of a table."""
    if table.places:
        scales.prepare_names(ax, table.places)
    else:
        scales.prepare_scale(ax, panel.x, table.curves.x_scale, table.curves.x)
    _set_height(ax, panel, table.curves)
    _draw_below(ax, panel)
    _draw_references(ax, panel)
    _draw_marks(ax, panel, table)
    _draw_lines(ax, panel, table, _looks(table))


def entries(table: CurveView) -> list[curves.Entry]:
    """Return the entries of a table's legend: curves, lines and the band."""
    return [*_entries(table, _looks(table)), *_other_entries(table)]


def _looks(table: CurveView) -> dict[Name, Style]:
    """A colour and marker for each name, and a line for each value of the second column."""
    if not table.curves.series:
        return {name: style.plain(labels.capital(table.label(name))) for name in table.names}
    symbol = table.column(table.curves.series).short
    firsts = list(dict.fromkeys(name[0] for name in table.names))
    if table.curves.series in PLAIN:
        numbered = style.series_styles(range(len(firsts)))
        by_series = {name: numbered[i] for i, name in enumerate(firsts)}
    else:
        by_series = style.series_styles(firsts, symbol)
    dashes = list(dict.fromkeys(name[1] for name in table.names))
    found = {}
    for name in table.names:
        look = replace(by_series[name[0]], label=table.label(name))
        if table.curves.dash is not None:
            look = replace(look, line=style.LINES[dashes.index(name[1]) % len(style.LINES)])
        found[name] = look
    return found


def _draw_lines(ax: Axes, panel: CurvePanel, table: CurveView, looks: dict[Name, Style]) -> None:
    """Curves in the table's order, what is filled on top, and the intervals behind them."""
    sizes = curves.marker_sizes(table.drawn)
    where = curves.beside(panel.x, len(table.drawn)) if table.places else curves.places(panel.x, len(table.drawn))
    for i, name in enumerate(table.drawn):
        if name not in panel.lines:
            continue
        look, line = looks[name], panel.lines[name]
        # What is filled hides what it coincides with, unless it is behind.
        zorder = 3 + 0.01 * i - (0.2 if look.filled else 0)
        drawn = style.as_drawn(look, sizes[name])
        if table.places:  # between names there is no line
            drawn["linestyle"] = "none"
        if line.path is not None:
            ax.plot(where[i], line.path, zorder=zorder - 0.7, **{**drawn, "marker": ""})
            drawn["linestyle"] = "none"
        ax.plot(where[i], line.y, zorder=zorder, clip_on=False, **drawn)
        if line.censored is not None:
            ax.plot(where[i], line.censored, zorder=zorder, clip_on=False, **style.censored(look))
        if name in panel.stars:
            ax.plot(*panel.stars[name], zorder=6, clip_on=False, **style.star(look, apart=bool(table.curves.apart)))
        if line.spread:
            ax.fill_between(where[i], line.low, line.high, zorder=2, **style.spread(look))
        elif table.curves.low is not None or table.curves.high is not None:
            ax.vlines(where[i], line.low, line.high, zorder=zorder - 0.5, **style.bar(look))


def _draw_below(ax: Axes, panel: CurvePanel) -> None:
    if np.isfinite(panel.below).any():
        curves.shade_below(ax, *curves.across(ax, panel.x, panel.below), style.BAND)


def _draw_references(ax: Axes, panel: CurvePanel) -> None:
    for i, values in enumerate(panel.references.values()):
        xs, y = curves.across(ax, panel.x, values)
        ax.plot(xs, y, zorder=1.5, **style.reference(i))


def _draw_marks(ax: Axes, panel: CurvePanel, table: CurveView) -> None:
    if table.curves.one:
        ax.axhline(1.0, zorder=1.5, **style.reference(0))
    for x in table.curves.uprights if table.curves.x == table.declared.x else ():
        ax.axvline(x, zorder=1.5, **style.reference(1))
    for i, x in enumerate(panel.marks.values()):
        if np.isfinite(x):
            ax.axvline(x, zorder=1.4, **style.mark(i))


def _notes(table: CurveView) -> list[str]:
    """Return the line below the figure."""
    return [" ".join(map(sentence, table.notes))] if table.notes else []


def _set_height(ax: Axes, panel: CurvePanel, declared: Curves) -> None:
    """All curves and their intervals; the band and the lines as far as they are near, unless far ones are shown."""
    scale, far = declared.y_scale, declared.far_references
    curved = [values for line in panel.lines.values() for values in line.shown]
    curved += [y for _, y in panel.stars.values()]
    shown = _finite([*curved, *panel.references.values()] if far and curved else curved, scale)
    one = [np.ones(1)] if declared.one else []
    others = _finite([panel.below, *panel.references.values(), *one], scale)
    every = shown if shown.size else others if others.size else np.ones(1)
    if scale == "linear":
        low, high = min(every.min(), others.min(initial=np.inf)), max(every.max(), others.max(initial=-np.inf))
        room = MARGIN * (high - low) or 0.1 * abs(high) or 1.0
        scales.set_linear(ax, float(low - room), float(high + room))
        return
    if scale == "ratio":
        scales.set_ratios(ax, float(every.max()))
        return
    ax.set_yscale("log")
    low, high = np.log10(every.min()), np.log10(every.max())
    low = max(min(low, np.log10(others.min(initial=np.inf))), low - DECADES_BELOW)
    high = min(max(high, np.log10(others.max(initial=1e-300))), high + DECADES_BELOW)
    room = max(MARGIN * (high - low), 0.5 * (LEAST_DECADES - (high - low)))
    bottom = low - room
    if declared.far_below and np.any(panel.below > 0):
        bottom = min(bottom, np.log10(panel.below[panel.below > 0].min()) - BAND_DECADES)
    scales.set_values(ax, float(bottom), float(high + room))


def _finite(values: list[FloatArray], scale: str) -> FloatArray:
    flat = np.concatenate([v.ravel() for v in values]) if values else np.zeros(0)
    return np.asarray(flat[np.isfinite(flat) & ((flat > 0) | (scale == "linear"))])


def _entries(table: CurveView, looks: dict[Name, Style]) -> list[curves.Entry]:
    """Curves, and of those that have arrows alone the arrow."""
    if table.places:
        sizes = curves.marker_sizes(table.drawn)
        marks = {name: style.as_drawn(looks[name], sizes[name]) | {"linestyle": "none"} for name in table.drawn}
        return [curves.line_entry(marks[name], looks[name].label) for name in table.drawn]
    lines = [panel.lines[name] for name in table.drawn for panel in table.panels if name in panel.lines]
    if not any(line.is_censored for line in lines):
        return curves.entries(table.drawn, looks)
    found = []
    for entry, name in zip(curves.entries(table.drawn, looks), table.drawn, strict=True):
        whole = any(np.isfinite(panel.lines[name].y).any() for panel in table.panels if name in panel.lines)
        found.append(entry if whole else curves.line_entry(style.censored(looks[name]), looks[name].label))
    return found


def _other_entries(table: CurveView) -> list[curves.Entry]:
    found: list[curves.Entry] = []
    if any(line.is_censored for panel in table.panels for line in panel.lines.values()):
        found.append(curves.line_entry(style.censored(style.plain("")), CENSORED))
    if table.curves.apart and any(panel.stars for panel in table.panels):
        found.append(curves.line_entry(style.star(style.plain(""), apart=True), table.curves.apart))
    if table.curves.one:
        found.append(curves.line_entry(style.reference(0), table.curves.one))
    for i, name in enumerate(table.curves.references):
        if any(np.isfinite(panel.references[name]).any() for panel in table.panels):
            found.append(curves.line_entry(style.reference(i), labels.capital(table.column(name).label)))
    for i, name in enumerate(table.curves.marks):
        if any(np.isfinite(panel.marks[name]) for panel in table.panels):
            found.append(curves.line_entry(style.mark(i), labels.capital(table.column(name).label)))
    if table.curves.below is not None and any(np.isfinite(panel.below).any() for panel in table.panels):
        name = f"Below the {table.curves.floor or table.column(table.curves.below).label}"
        found.append(curves.patch_entry(style.BAND, name, edge=style.BAND_EDGE))
    return found


def words(
    title: str, text: str, frame: pd.DataFrame, *, experiment: Experiment, drawing: Drawing | None = None
) -> captions.Words:
    """Caption and notes of a study's figure."""
    return captions.words(*sentences(title, text, frame, experiment=experiment, drawing=drawing))


def sentences(
    title: str, text: str, frame: pd.DataFrame, *, experiment: Experiment, drawing: Drawing | None = None
) -> tuple[list[str], list[str]]:
    """The sentences of caption and notes."""
    table = curve_view(frame, experiment, drawing)
    titles = "; ".join(panel.title for panel in table.panels if panel.title)
    names = "; ".join(table.label(name) for name in table.drawn)
    return [
        captions.lead(title, _against(table)),
        text,
        table.curves.note,
        *(note for note in table.notes if note != table.curves.note),
        table.curves.text,
        *_told(table, frame),
        _bars(table),
    ], [*table.coincident(), f"Panels: {titles}" * bool(titles), f"Curves: {names}" * bool(names), *table.missing()]


def _against(table: CurveView) -> str:
    """Return what is plotted against what, as a phrase."""
    if table.places:
        return f"{_y_label(table)}, for each {table.x_label}"
    x = np.unique(np.concatenate([panel.x for panel in table.panels]))
    short = [labels.value_label("", float(value)) for value in (x[0], x[-1])]
    across = f"from {short[0]} to {short[1]}" if len(x) > 1 else f"= {short[0]}"
    return f"{_y_label(table)} against {table.x_label} {across}"


def _told(table: CurveView, frame: pd.DataFrame) -> list[str]:
    """The sentences that the kind has for this table."""
    module, _, name = table.curves.told.partition(":")
    return list(getattr(import_module(module), name)(frame)) if module else []


def _bars(table: CurveView) -> str:
    if table.curves.low is None or table.curves.high is None:
        return ""
    low, high = (table.column(name).label for name in (table.curves.low, table.curves.high))
    return f"Bars: {table.curves.bars or f'{low} to {high}'}"
