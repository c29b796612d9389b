"""What figures with a panel per workload share: canvas, curves of mechanisms, legend, footer and notes.

Such a figure keeps three promises. What is in the table is drawn, or its absence is written on the figure with
the reason. No text is cut off or covers another: sizes come from measured text. Curves that coincide remain
visible: markers are hollow and grow smaller from the first drawn to the last.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from factormech.arrays import FloatArray
from factormech.plots import axes as scales
from factormech.plots import form, style, text
from factormech.plots.canvas import empty_figure
from factormech.plots.style import Style
from factormech.studies.base import Column
from factormech.tables.panels import Panel, View, span

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_COLUMNS = 3
PANEL_HEIGHTS = {1: 2.9, 2: 2.65, 3: 1.75}  # inches, by the number of columns
# Series stand so far to either side of a name; names are 1 apart.
SIDE = 0.25
# The height of a strip over that of the panel above it.
STRIP_SHARE = 0.6
LARGEST_MARKER, SMALLEST_MARKER = 5.6, 3.4
# What tells curves apart.
Name = TypeVar("Name", bound=Hashable)
# An entry of a legend: what is shown, and what it is called.
Entry = tuple[Any, str]


def canvas(panels: int, more: float = 0.0) -> tuple[Figure, list[Axes]]:
    """A figure with this many panels, in rows of at most three; ``more`` inches are added to the height of a row."""
    columns = columns_of(panels)
    rows = -(-panels // columns)
    figure = empty_figure(style.width(columns), rows * (PANEL_HEIGHTS[columns] + more))
    grid = figure.add_gridspec(rows, columns)
    return figure, [figure.add_subplot(grid[divmod(i, columns)]) for i in range(panels)]


def canvas_with_strips(panels: int) -> tuple[Figure, list[Axes], list[Axes]]:
    """Return a canvas with a lower strip below each panel."""
    columns = columns_of(panels)
    rows = -(-panels // columns)
    figure = empty_figure(style.width(columns), rows * PANEL_HEIGHTS[columns] * (1.0 + STRIP_SHARE))
    grid = figure.add_gridspec(2 * rows, columns, height_ratios=[1.0, STRIP_SHARE] * rows)
    places = [divmod(i, columns) for i in range(panels)]
    parts = [[figure.add_subplot(grid[2 * row + part, column]) for row, column in places] for part in (0, 1)]
    return figure, parts[0], parts[1]


def columns_of(panels: int) -> int:
    """Panels side by side."""
    return form.columns(2 if panels == 4 else min(panels, MOST_COLUMNS))


def draw_curves(ax: Axes, panel: Panel, looks: Mapping[Name, Style], drawn: Sequence[Name]) -> None:
    """Curves in the table's order, what is filled on top; sizes and places are the same in every panel."""
    sizes, where = marker_sizes(drawn), places(panel.x, len(drawn))
    curves = {curve.name: curve for curve in panel.curves}
    for i, name in enumerate(drawn):
        if name not in curves:
            continue
        look, shown = looks[name], curves[name].positive()
        zorder = 3 + 0.01 * i + (1 if look.filled else 0)
        if np.any(shown.low < shown.high):
            ax.fill_between(where[i], shown.low, shown.high, zorder=2, **style.spread(look))
        ax.plot(where[i], shown.middle, zorder=zorder, clip_on=False, **style.as_drawn(look, sizes[name]))


def across(ax: Axes, x: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Places and values of a line along the axis; with a single x, it goes across the panel."""
    return (x, y) if len(x) > 1 else (np.array(ax.get_xlim()), np.repeat(y, 2))


def shade_below(ax: Axes, x: FloatArray, y: FloatArray, colour: str, *, edge: bool = True) -> None:
    """Shade what lies below a line, no more where the line leaves the panel, and draw the line."""
    shown = np.isfinite(y) & ((y > 0.0) | (ax.get_yscale() != "log"))
    ax.fill_between(x, ax.get_ylim()[0], y, where=shown, color=colour, linewidth=0, zorder=0.5)
    if edge:
        ax.plot(x, y, **style.EDGE)


def marker_sizes(drawn: Sequence[Name]) -> dict[Name, float]:
    """Sizes from large to small, so that the first drawn is seen around the last."""
    return dict(zip(drawn, np.linspace(LARGEST_MARKER, SMALLEST_MARKER, len(drawn)).tolist(), strict=True))


def entries(drawn: Sequence[Name], looks: Mapping[Name, Style]) -> list[Entry]:
    """The curves in a legend."""
    sizes = marker_sizes(drawn)
    return [line_entry(style.as_drawn(looks[name], sizes[name]), looks[name].label) for name in drawn]


def line_entry(look: Mapping[str, Any], label: str) -> Entry:
    """A line in a legend."""
    from matplotlib.lines import Line2D

    return Line2D([], [], **look), label


def patch_entry(colour: str, label: str, *, edge: str | None = None) -> Entry:
    """A colour of an area in a legend."""
    from matplotlib.patches import Patch

    return Patch(facecolor=colour, edgecolor=edge or colour, linewidth=style.PATCH_EDGE if edge else 0.0), label


def finish(
    figure: Figure,
    panels: Sequence[Axes],
    titles: Sequence[str],
    entries: Sequence[Entry],
    *,
    x_label: str,
    y_label: str,
    notes: Sequence[Sequence[str]] = (),
    footer: Sequence[str] = (),
    set_limits: Callable[[Axes, float, float], None] = scales.set_decades,
) -> None:
    """Titles, legend, footer and notes (a list for each panel), in this order: each needs the sizes of those before."""
    width = float(figure.get_figwidth())
    for ax, title in zip(panels, titles, strict=True):
        room = width / columns_of(len(panels)) - 0.45
        ax.set_title(text.balanced(figure, title, room, form.text_size() + 0.5))
    told = [text.wrap(figure, line, width - 0.2, form.small_size()) for line in footer]
    names = [text.wrap(figure, label, width - 0.8, form.text_size()) for _, label in entries]
    text.place_around(figure, x_label, y_label, [shown for shown, _ in entries], names, told)
    for ax in panels:
        scales.thin_labels(ax, text.renderer_of(figure))
    for ax, lines in zip(panels, notes, strict=False):
        text.place_note(figure, ax, list(lines), set_limits)


def not_drawn(table: View) -> list[str]:
    """The mechanisms without a number anywhere, and why."""
    return [f"not drawn: {table.label(name)} — {'; '.join(reasons)}" for name, reasons in table.never_drawn.items()]


def lacking(panel: Panel, table: View) -> dict[str, list[str]]:
    """Return what the panel lacks, by status; what every panel lacks is in the footer."""
    never = table.never_drawn
    found: dict[str, list[str]] = {}
    for gap in panel.gaps:
        if gap.name not in never:
            label = table.label(gap.name)
            found.setdefault(gap.status, []).append(at(label, gap.where, panel, table.axis))
    return found


def at(label: str, where: Iterable[float], panel: Panel, axis: Column) -> str:
    """A name and where along the axis it is meant: "RAPPOR [n ≥ 32]"."""
    place = span(list(where), panel.x, axis)
    return f"{label} [{place}]" if place else label


def beside(x: FloatArray, count: int) -> list[FloatArray]:
    """Return the offsets of the points of each series around names, side by side."""
    return [x + offset for offset in (np.linspace(-1, 1, count) * SIDE if count > 1 else np.zeros(1))]


def places(x: FloatArray, count: int) -> list[FloatArray]:
    """Return the positions of each curve's points: on x, or side by side if there is but one x."""
    if len(x) > 1 or count == 1:
        return [x] * count
    return [x + offset for offset in np.linspace(-1, 1, count) * scales.SINGLE_SPREAD]
