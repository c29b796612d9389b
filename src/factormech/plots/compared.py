"""Curves of mechanisms with lower bounds, bands over what is summarised, and notes on what is missing.

What such a figure shows is declared (:class:`factormech.studies.drawn.Compared`), and the study may say more
(:mod:`factormech.studies.drawing`). Lower bounds are lines, and what lies below the strongest is shaded. With
``band`` the strongest of them is one band, "below the bound for unbiased strategies", whose edge is the bound, and a
strip below each panel has the curves over that bound; of the bounds only those that a paper published keep their
line. Ratios over a lower bound have an axis from 1, below which no curve can be; with ``groups`` of mechanisms, each
panel is drawn once for every group, as such ratios.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from factormech import labels
from factormech.arrays import FloatArray
from factormech.plots import axes as scales
from factormech.plots import curves, form, style
from factormech.plots.compared_caption import accuracy, words
from factormech.plots.curves import Entry
from factormech.plots.style import Style
from factormech.studies.drawing import Drawing
from factormech.tables.panels import VACUOUS, Curve, Name, Panel, View, grouped, view

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from factormech.studies.base import Experiment

__all__ = ["draw", "words"]

POINT_SIZE, MEDIAN_SIZE = 3.0, 3.2
# The label of the strips.
OVER = "over the bound"


def draw(
    frame: pd.DataFrame,
    *,
    experiment: Experiment,
    drawing: Drawing | None = None,
    band: bool = False,
    groups: Mapping[str, Sequence[str]] | None = None,
) -> Figure:
    """Return the figure of a table of this kind of study."""
    table = grouped(view(frame, experiment, drawing), groups or {})
    ratios = table.shown.height == "ratio"
    band = band and not ratios
    looks = looks_of(table)
    lines = style.bound_styles(table.bounds)
    if band:
        lines = {name: look for name, look in lines.items() if name in labels.PUBLISHED_BOUNDS}
    with style.context():
        strips: list[Axes] = []
        if band:
            figure, panels, strips = curves.canvas_with_strips(len(table.panels))
        else:
            figure, panels = curves.canvas(len(table.panels))
        for ax, panel in zip(panels, table.panels, strict=True):
            _prepare(ax, panel, table)
            if not ratios:
                _draw_impossible(ax, panel, band=band)
                _draw_bounds(ax, panel, lines)
            (_draw_points if table.shown.points else _draw_curves)(ax, panel, table, looks)
        for ax, strip, panel in zip(panels, strips, table.panels, strict=False):
            _draw_strip(ax, strip, panel, table, looks)
        curves.finish(
            figure,
            panels,
            [panel.heading for panel in table.panels],
            [*curves.entries(table.drawn, looks), *_bound_entries(table, lines, band=band)],
            x_label=table.axis.label,
            y_label=table.shown.label.format(accuracy=accuracy(table)),
            notes=[_notes(panel, table, lines) for panel in table.panels],
            footer=[*curves.not_drawn(table), *table.left_out],
            set_limits=scales.set_ratio_limits if ratios else scales.set_decades,
        )
    return figure


def looks_of(table: View) -> dict[Name, Style]:
    """A colour and marker for each value of the first column of curves, and a line for each of the second."""
    series = table.roles.series
    if not series:
        return dict.fromkeys(table.names, style.plain(""))
    firsts = list(dict.fromkeys(name[0] for name in table.names))
    symbol = table.columns[series[0]].short
    by_first = style.mechanism_styles(firsts) if series[0] == "mechanism" else style.series_styles(firsts, symbol)
    if len(series) == 1:
        return {name: replace(by_first[name[0]], label=table.label(name)) for name in table.names}
    dashes = list(dict.fromkeys(name[1:] for name in table.names))
    lines = {rest: style.LINES[i % len(style.LINES)] for i, rest in enumerate(dashes)}
    return {n: replace(by_first[n[0]], label=table.label(n), line=lines[n[1:]]) for n in table.names}


def _prepare(ax: Axes, panel: Panel, table: View) -> None:
    """Scales, limits and ticks."""
    if table.shown.height == "bounds":
        scales.prepare(ax, panel, table.roles.x)
        return
    scales.prepare_x(ax, panel.x, table.roles.x)
    scales.set_ratios(ax, float(np.nanmax([1.0, *(v for curve in panel.curves for v in curve.high.tolist())])))


def _draw_strip(ax: Axes, strip: Axes, panel: Panel, table: View, looks: dict[Name, Style]) -> None:
    """Below a panel, its curves over its strongest bound: factors that many decades hide."""
    over = panel.over_bound()
    scales.prepare_x(strip, over.x, table.roles.x)
    largest = [value for curve in over.curves for value in curve.high.tolist() if np.isfinite(value)]
    scales.set_ratios(strip, max([1.0, *largest]))
    curves.draw_curves(strip, over, looks, table.drawn)
    ax.tick_params(labelbottom=False)
    if ax.get_subplotspec().is_first_col():  # type: ignore[union-attr]
        strip.set_ylabel(OVER, fontsize=form.small_size())


def _draw_curves(ax: Axes, panel: Panel, table: View, looks: dict[Name, Style]) -> None:
    curves.draw_curves(ax, panel, looks, table.drawn)


def _draw_points(ax: Axes, panel: Panel, table: View, looks: dict[Name, Style]) -> None:
    """Every number that is summarised as a point, and a line through the middles."""
    found: dict[Name, Curve] = {curve.name: curve for curve in panel.curves}
    for i, name in enumerate(table.drawn):
        look, curve = looks[name], found[name]
        x, y = curve.points or (np.zeros(0), np.zeros(0))
        ax.plot(x, y, clip_on=False, zorder=2.5, **style.points(look, POINT_SIZE))
        middle = style.as_drawn(look, MEDIAN_SIZE)
        ax.plot(panel.x, curve.middle, zorder=3 + 0.01 * i, clip_on=False, **middle)


def _draw_impossible(ax: Axes, panel: Panel, *, band: bool) -> None:
    """Shade the region below the strongest bound; as a band, to both sides of the panel and with its edge drawn."""
    xs, strongest = curves.across(ax, panel.x, panel.strongest_bound())
    curves.shade_below(ax, xs, strongest, style.BAND if band else style.IMPOSSIBLE, edge=band)


def _draw_bounds(ax: Axes, panel: Panel, looks: dict[str, Style]) -> None:
    """Bounds as lines; a vacuous bound has no line there."""
    for i, bound in enumerate(panel.bounds):
        if bound.name not in looks:
            continue
        look = looks[bound.name]
        xs, y = curves.across(ax, panel.x, bound.positive().middle)
        # A single point between vacuous ones is no line: a dash marks it.
        alone = np.isfinite(y) & ~np.isfinite(_shifted(y, 1)) & ~np.isfinite(_shifted(y, -1))
        ax.plot(xs, y, zorder=1.5 + 0.01 * i, **style.line(look))
        ax.plot(xs[alone], y[alone], color=look.colour, linestyle="", marker="_", markersize=9, zorder=1.5)


def _shifted(y: FloatArray, by: int) -> FloatArray:
    shifted = np.roll(y, by)
    shifted[0 if by > 0 else -1] = np.nan
    return shifted


def _bound_entries(table: View, lines: dict[str, Style], *, band: bool) -> list[Entry]:
    """The bounds in the legend, and what the shade means."""
    if not table.bounds or table.shown.height != "bounds":
        return []
    entries = [curves.line_entry(style.line(look), look.label) for look in lines.values()]
    if band:
        name = "Below the bound for unbiased strategies (certified)"
        return [*entries, curves.patch_entry(style.BAND, name, edge=style.BAND_EDGE)]
    which = {1: "bound", 2: "stronger bound"}.get(len(table.bounds), "strongest bound")
    name = f"Below the {which} for unbiased strategies"
    return [*entries, curves.patch_entry(style.IMPOSSIBLE, name, edge=style.IMPOSSIBLE_EDGE)]


def _notes(panel: Panel, table: View, lines: dict[str, Style]) -> list[str]:
    """Return a note on what the panel lacks, a line per status."""
    found = curves.lacking(panel, table)
    for bound in panel.bounds:
        vacuous = panel.x[bound.middle <= 0]
        if vacuous.size and bound.name in lines and table.shown.height == "bounds":
            label = _short_bound(bound.name, panel)
            found.setdefault(VACUOUS, []).append(curves.at(label, vacuous.tolist(), panel, table.axis))
    return [f"{status}: {', '.join(names)}" for status, names in found.items()]


def _short_bound(name: str, panel: Panel) -> str:
    return "lower bound" if len(panel.bounds) == 1 else f"{name.replace('svd', 'SVD').replace('-', ' ')} bound"
