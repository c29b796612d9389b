"""Users needed against ε or domain size, a panel per workload, as in McKenna et al., PVLDB 13(11), 2020.

Lower bounds are lines, and what lies below the strongest is shaded. With ``band`` the strongest of them is one band,
"below the bound for unbiased strategies", whose edge is the bound; of the bounds only those that a paper published keep
their line.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from factormech import labels
from factormech.arrays import FloatArray
from factormech.experiments import columns
from factormech.figures import axes as scales
from factormech.figures import curves, style
from factormech.figures.curves import Entry
from factormech.figures.sample_complexity_caption import words
from factormech.figures.style import Style
from factormech.tables.panels import VACUOUS, Panel, View, view

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw", "words"]


def draw(frame: pd.DataFrame, *, band: bool = False) -> Figure:
    """The figure of a table (:mod:`factormech.tables.kinds`) in which ε or domain size varies, or neither."""
    table = view(frame)
    looks = style.mechanism_styles(table.mechanisms)
    lines = style.bound_styles(table.bounds)
    if band:
        lines = {name: look for name, look in lines.items() if name in labels.PUBLISHED_BOUNDS}
    with style.context():
        figure, panels = curves.canvas(len(table.panels))
        for ax, panel in zip(panels, table.panels, strict=True):
            scales.prepare(ax, panel, table.axis)
            _draw_impossible(ax, panel, band=band)
            _draw_bounds(ax, panel, lines)
            curves.draw_curves(ax, panel, looks, table.drawn)
        curves.finish(
            figure,
            panels,
            table,
            [*curves.mechanism_entries(table.drawn, looks), *_bound_entries(table, lines, band=band)],
            x_label=columns.meaning(table.axis).label,
            y_label=y_label(table),
            notes=[_notes(panel, table, lines) for panel in table.panels],
        )
    return figure


def y_label(table: View) -> str:
    """What a sample complexity counts."""
    return f"users needed for {labels.accuracy(table.metric, table.alpha)}"


def _across(ax: Axes, panel: Panel, y: FloatArray) -> tuple[FloatArray, FloatArray]:
    """A bound along the axis; with a single x, across the whole panel."""
    if len(panel.x) == 1:
        return np.array(ax.get_xlim()), np.repeat(y, 2)
    return panel.x, y


def _draw_impossible(ax: Axes, panel: Panel, *, band: bool) -> None:
    """What lies below the strongest bound, shaded; as a band, to both sides of the panel and with its edge drawn."""
    floor = ax.get_ylim()[0]
    xs, strongest = _across(ax, panel, panel.strongest_bound())
    # Where the bound leaves the panel below, the shade goes down to its edge with it.
    top = np.maximum(strongest, floor)
    colour = style.BAND if band else style.IMPOSSIBLE
    ax.fill_between(xs, floor, top, where=np.isfinite(strongest), color=colour, linewidth=0, zorder=0.5)
    if band:
        ax.plot(xs, strongest, color=style.BAND_EDGE, linewidth=1.3, solid_capstyle="butt", zorder=1.6)


def _draw_bounds(ax: Axes, panel: Panel, looks: dict[str, Style]) -> None:
    """Bounds as lines; a vacuous bound has no line there."""
    for i, bound in enumerate(panel.bounds):
        if bound.name not in looks:
            continue
        look = looks[bound.name]
        xs, y = _across(ax, panel, bound.positive().middle)
        # A single point between vacuous ones is no line: a dash marks it.
        alone = np.isfinite(y) & ~np.isfinite(_shifted(y, 1)) & ~np.isfinite(_shifted(y, -1))
        ax.plot(xs, y, color=look.colour, linestyle=look.line, linewidth=0.9, zorder=1.5 + 0.01 * i)
        ax.plot(xs[alone], y[alone], color=look.colour, linestyle="", marker="_", markersize=9, zorder=1.5)


def _shifted(y: FloatArray, by: int) -> FloatArray:
    shifted = np.roll(y, by)
    shifted[0 if by > 0 else -1] = np.nan
    return shifted


def _bound_entries(table: View, lines: dict[str, Style], *, band: bool) -> list[Entry]:
    """The bounds in the legend, and what the shade means."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    entries: list[Entry] = [
        (Line2D([], [], color=look.colour, linestyle=look.line, linewidth=0.9), look.label) for look in lines.values()
    ]
    if band and table.bounds:
        patch = Patch(facecolor=style.BAND, edgecolor=style.BAND_EDGE, linewidth=0.8)
        entries.append((patch, "Below the bound for unbiased strategies (certified)"))
    elif table.bounds:
        which = {1: "bound", 2: "stronger bound"}.get(len(table.bounds), "strongest bound")
        patch = Patch(facecolor=style.IMPOSSIBLE, edgecolor="#C8C8C8", linewidth=0.4)
        entries.append((patch, f"Below the {which} for unbiased strategies"))
    return entries


def _notes(panel: Panel, table: View, lines: dict[str, Style]) -> list[str]:
    """What this panel lacks, a line per status."""
    found = curves.lacking(panel, table)
    for bound in panel.bounds:
        vacuous = panel.x[bound.middle <= 0]
        if vacuous.size and bound.name in lines:
            label = _short_bound(bound.name, panel)
            found.setdefault(VACUOUS, []).append(curves.at(label, vacuous.tolist(), panel, table.axis))
    return [f"{status}: {', '.join(names)}" for status, names in found.items()]


def _short_bound(name: str, panel: Panel) -> str:
    return "lower bound" if len(panel.bounds) == 1 else f"{name.replace('svd', 'SVD').replace('-', ' ')} bound"
