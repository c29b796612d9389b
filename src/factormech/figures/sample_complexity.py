"""Users needed against ε or domain size, a panel per workload, as in McKenna et al., PVLDB 13(11), 2020.

The figure keeps three promises. What is in the table is drawn, or its absence is written on the figure with
the reason. No text is cut off or covers another: sizes come from measured text. Curves that coincide remain
visible: markers are hollow and grow smaller from the first drawn to the last.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from factormech import labels
from factormech.arrays import FloatArray
from factormech.figures import axes as scales
from factormech.figures import style, text
from factormech.figures.sample_complexity_caption import caption
from factormech.figures.style import Style
from factormech.tables.panels import VACUOUS, Panel, View, span, view

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["caption", "draw"]

MOST_COLUMNS = 3
PANEL_HEIGHTS = {1: 2.9, 2: 2.65, 3: 1.75}  # inches, by the number of columns
LARGEST_MARKER, SMALLEST_MARKER = 5.6, 3.4


def draw(frame: pd.DataFrame) -> Figure:
    """The figure of a table (:mod:`factormech.tables.kinds`) in which ε or domain size varies, or neither."""
    table = view(frame)
    looks = style.mechanism_styles(table.mechanisms)
    lines = style.bound_styles(table.bounds)
    with style.context():
        figure, panels = _canvas(len(table.panels))
        for ax, panel in zip(panels, table.panels, strict=True):
            scales.prepare(ax, panel, table.axis)
            _draw_bounds(ax, panel, lines)
            _draw_curves(ax, panel, looks, table.drawn)
        _finish(figure, panels, table, looks, lines)
    return figure


def x_label(table: View) -> str:
    """What varies."""
    return {"epsilon": "privacy budget ε", "domain_size": "domain size n"}[table.axis]


def y_label(table: View) -> str:
    """What a sample complexity counts."""
    return f"users needed for {labels.accuracy(table.metric, table.alpha)}"


def _canvas(panels: int) -> tuple[Figure, list[Axes]]:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    columns = _columns(panels)
    rows = -(-panels // columns)
    figure = Figure(figsize=(style.WIDTHS[columns], rows * PANEL_HEIGHTS[columns]))
    FigureCanvasAgg(figure)  # not pyplot: a figure belongs to its caller, not to a global list
    grid = figure.add_gridspec(rows, columns)
    return figure, [figure.add_subplot(grid[divmod(i, columns)]) for i in range(panels)]


def _columns(panels: int) -> int:
    return 2 if panels == 4 else min(panels, MOST_COLUMNS)


def _draw_bounds(ax: Axes, panel: Panel, looks: dict[str, Style]) -> None:
    """Bounds as lines, and what lies below the strongest as impossible; a vacuous bound has no line there."""
    floor = ax.get_ylim()[0]
    if len(panel.x) == 1:
        xs, widen = np.array(ax.get_xlim()), 2
    else:
        xs, widen = panel.x, 1
    strongest = np.repeat(panel.strongest_bound(), widen)
    # Where the bound leaves the panel below, the shade goes down to its edge with it.
    top = np.maximum(strongest, floor)
    ax.fill_between(xs, floor, top, where=np.isfinite(strongest), color=style.IMPOSSIBLE, linewidth=0, zorder=0.5)
    for i, bound in enumerate(panel.bounds):
        look, y = looks[bound.name], np.repeat(bound.positive().middle, widen)
        # A single point between vacuous ones is no line: a dash marks it.
        alone = np.isfinite(y) & ~np.isfinite(_shifted(y, 1)) & ~np.isfinite(_shifted(y, -1))
        ax.plot(xs, y, color=look.colour, linestyle=look.line, linewidth=1.1, zorder=1.5 + 0.01 * i)
        ax.plot(xs[alone], y[alone], color=look.colour, linestyle="", marker="_", markersize=9, zorder=1.5)


def _draw_curves(ax: Axes, panel: Panel, looks: dict[str, Style], drawn: tuple[str, ...]) -> None:
    """Curves in the table's order, what is filled on top; sizes and places are the same in every panel."""
    sizes, places = _sizes(drawn), _places(panel.x, len(drawn))
    curves = {curve.name: curve for curve in panel.curves}
    for i, name in enumerate(drawn):
        look, shown = looks[name], curves[name].positive()
        zorder = 3 + 0.01 * i + (1 if look.filled else 0)
        if np.any(shown.low < shown.high):
            ax.fill_between(places[i], shown.low, shown.high, color=look.colour, alpha=0.15, linewidth=0, zorder=2)
        ax.plot(places[i], shown.middle, zorder=zorder, clip_on=False, **_look(look, sizes[name]))


def _look(look: Style, size: float) -> dict[str, Any]:
    return {
        "color": look.colour,
        "linestyle": look.line,
        "marker": look.marker,
        "markersize": size * look.scale,
        "markerfacecolor": look.colour if look.filled else "none",
        "linewidth": 1.2 if look.filled else 0.9,
    }


def _sizes(drawn: tuple[str, ...]) -> dict[str, float]:
    return dict(zip(drawn, np.linspace(LARGEST_MARKER, SMALLEST_MARKER, len(drawn)).tolist(), strict=True))


def _places(x: FloatArray, count: int) -> list[FloatArray]:
    """Where each curve has its points: on x, or side by side if there is but one x."""
    if len(x) > 1 or count == 1:
        return [x] * count
    return [x + offset for offset in np.linspace(-1, 1, count) * scales.SINGLE_SPREAD]


def _shifted(y: FloatArray, by: int) -> FloatArray:
    shifted = np.roll(y, by)
    shifted[0 if by > 0 else -1] = np.nan
    return shifted


def _finish(figure: Figure, panels: list[Axes], table: View, looks: dict[str, Style], lines: dict[str, Style]) -> None:
    """Titles, legend, footer and notes, in this order: each needs the sizes of those before."""
    width = float(figure.get_figwidth())
    for ax, panel in zip(panels, table.panels, strict=True):
        room = width / _columns(len(panels)) - 0.45
        ax.set_title(text.balanced(figure, labels.workload_label(panel.workload), room, style.TEXT_SIZE + 0.5))
    footer = [text.wrap(figure, line, width - 0.2, style.SMALL_SIZE) for line in _footer(table)]
    text.place_around(
        figure,
        x_label(table),
        y_label(table),
        *_legend_entries(figure, table, looks, lines, width - 0.8),
        footer,
    )
    for ax, panel in zip(panels, table.panels, strict=True):
        scales.thin_labels(ax, text.renderer_of(figure))
        text.place_note(figure, ax, _notes(panel, table))


def _legend_entries(
    figure: Figure, table: View, looks: dict[str, Style], lines: dict[str, Style], room: float
) -> tuple[list[Any], list[str]]:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    sizes = _sizes(table.drawn)
    entries: list[tuple[Any, str]] = [
        (Line2D([], [], **_look(looks[name], sizes[name])), looks[name].label) for name in table.drawn
    ]
    for look in lines.values():
        entries.append((Line2D([], [], color=look.colour, linestyle=look.line, linewidth=1.1), look.label))
    if lines:
        which = {1: "bound", 2: "stronger bound"}.get(len(lines), "strongest bound")
        patch = Patch(facecolor=style.IMPOSSIBLE, edgecolor="#C8C8C8", linewidth=0.4)
        entries.append((patch, f"Impossible (below the {which})"))
    return [e for e, _ in entries], [text.wrap(figure, label, room, style.TEXT_SIZE) for _, label in entries]


def _footer(table: View) -> list[str]:
    return [
        f"not drawn: {labels.mechanism_label(name)} — {'; '.join(reasons)}"
        for name, reasons in table.never_drawn.items()
    ]


def _notes(panel: Panel, table: View) -> list[str]:
    """What this panel lacks, a line per status; what no panel has is in the footer."""
    never = table.never_drawn
    lacking: dict[str, list[str]] = {}
    for gap in panel.gaps:
        if gap.name not in never:
            label = labels.mechanism_label(gap.name)
            lacking.setdefault(gap.status, []).append(_at(label, gap.where, panel, table.axis))
    for bound in panel.bounds:
        vacuous = panel.x[bound.middle <= 0]
        if vacuous.size:
            label = _short_bound(bound.name, panel)
            lacking.setdefault(VACUOUS, []).append(_at(label, vacuous.tolist(), panel, table.axis))
    return [f"{status}: {', '.join(names)}" for status, names in lacking.items()]


def _at(label: str, where: Iterable[float], panel: Panel, axis: str) -> str:
    place = span(list(where), panel.x, axis)
    return f"{label} [{place}]" if place else label


def _short_bound(name: str, panel: Panel) -> str:
    return "lower bound" if len(panel.bounds) == 1 else f"{name.replace('svd', 'SVD').replace('-', ' ')} bound"
