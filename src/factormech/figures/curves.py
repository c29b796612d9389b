"""What figures with a panel per workload share: canvas, curves of mechanisms, legend, footer and notes.

Such a figure keeps three promises. What is in the table is drawn, or its absence is written on the figure with
the reason. No text is cut off or covers another: sizes come from measured text. Curves that coincide remain
visible: markers are hollow and grow smaller from the first drawn to the last.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from factormech import labels
from factormech.arrays import FloatArray
from factormech.figures import axes as scales
from factormech.figures import form, style, text
from factormech.figures.canvas import empty_figure
from factormech.figures.style import Style
from factormech.tables.panels import Panel, View, span

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_COLUMNS = 3
PANEL_HEIGHTS = {1: 2.9, 2: 2.65, 3: 1.75}  # inches, by the number of columns
LARGEST_MARKER, SMALLEST_MARKER = 5.6, 3.4
# What tells curves apart.
Name = TypeVar("Name", bound=Hashable)
# An entry of a legend: what is shown, and what it is called.
Entry = tuple[Any, str]


def canvas(panels: int) -> tuple[Figure, list[Axes]]:
    """A figure with this many panels, in rows of at most three."""
    columns = columns_of(panels)
    rows = -(-panels // columns)
    figure = empty_figure(style.WIDTHS[columns], rows * PANEL_HEIGHTS[columns])
    grid = figure.add_gridspec(rows, columns)
    return figure, [figure.add_subplot(grid[divmod(i, columns)]) for i in range(panels)]


def columns_of(panels: int) -> int:
    """Panels side by side."""
    return form.columns(2 if panels == 4 else min(panels, MOST_COLUMNS))


def draw_curves(ax: Axes, panel: Panel, looks: Mapping[str, Style], drawn: Sequence[str]) -> None:
    """Curves in the table's order, what is filled on top; sizes and places are the same in every panel."""
    sizes, where = marker_sizes(drawn), places(panel.x, len(drawn))
    curves = {curve.name: curve for curve in panel.curves}
    for i, name in enumerate(drawn):
        look, shown = looks[name], curves[name].positive()
        zorder = 3 + 0.01 * i + (1 if look.filled else 0)
        if np.any(shown.low < shown.high):
            ax.fill_between(where[i], shown.low, shown.high, color=look.colour, alpha=0.15, linewidth=0, zorder=2)
        ax.plot(where[i], shown.middle, zorder=zorder, clip_on=False, **as_drawn(look, sizes[name]))


def as_drawn(look: Style, size: float) -> dict[str, Any]:
    """A style as the arguments of a line."""
    return {
        "color": look.colour,
        "linestyle": look.line,
        "marker": look.marker,
        "markersize": size * look.scale,
        "markerfacecolor": look.colour if look.filled else "none",
        "linewidth": 1.2 if look.filled else 0.9,
    }


def marker_sizes(drawn: Sequence[Name]) -> dict[Name, float]:
    """Sizes from large to small, so that the first drawn is seen around the last."""
    return dict(zip(drawn, np.linspace(LARGEST_MARKER, SMALLEST_MARKER, len(drawn)).tolist(), strict=True))


def mechanism_entries(drawn: Sequence[str], looks: Mapping[str, Style]) -> list[Entry]:
    """The mechanisms in a legend."""
    from matplotlib.lines import Line2D

    sizes = marker_sizes(drawn)
    return [(Line2D([], [], **as_drawn(looks[name], sizes[name])), looks[name].label) for name in drawn]


def finish(
    figure: Figure,
    panels: Sequence[Axes],
    table: View,
    entries: Sequence[Entry],
    *,
    x_label: str,
    y_label: str,
    notes: Sequence[Sequence[str]],
    footer: Sequence[str] = (),
    set_limits: Callable[[Axes, float, float], None] = scales.set_decades,
    titles: Sequence[str] | None = None,
) -> None:
    """Titles, legend, footer and notes, in this order: each needs the sizes of those before.

    ``titles`` are those of the panels, if they are not the names of workloads.
    """
    width = float(figure.get_figwidth())
    titles = titles or [labels.workload_label(panel.workload) for panel in table.panels]
    for ax, title in zip(panels, titles, strict=True):
        room = width / columns_of(len(panels)) - 0.45
        ax.set_title(text.balanced(figure, title, room, form.text_size() + 0.5))
    told = [text.wrap(figure, line, width - 0.2, form.small_size()) for line in [*not_drawn(table), *footer]]
    names = [text.wrap(figure, label, width - 0.8, form.text_size()) for _, label in entries]
    text.place_around(figure, x_label, y_label, [shown for shown, _ in entries], names, told)
    for ax, lines in zip(panels, notes, strict=True):
        scales.thin_labels(ax, text.renderer_of(figure))
        text.place_note(figure, ax, list(lines), set_limits)


def not_drawn(table: View) -> list[str]:
    """The mechanisms without a number anywhere, and why."""
    return [
        f"not drawn: {labels.mechanism_label(name)} — {'; '.join(reasons)}"
        for name, reasons in table.never_drawn.items()
    ]


def lacking(panel: Panel, table: View) -> dict[str, list[str]]:
    """What this panel lacks, by status; what no panel has is in the footer."""
    never = table.never_drawn
    found: dict[str, list[str]] = {}
    for gap in panel.gaps:
        if gap.name not in never:
            label = labels.mechanism_label(gap.name)
            found.setdefault(gap.status, []).append(at(label, gap.where, panel, table.axis))
    return found


def at(label: str, where: Iterable[float], panel: Panel, axis: str) -> str:
    """A name and where along the axis it is meant: "RAPPOR [n ≥ 32]"."""
    place = span(list(where), panel.x, axis)
    return f"{label} [{place}]" if place else label


def places(x: FloatArray, count: int) -> list[FloatArray]:
    """Where each curve has its points: on x, or side by side if there is but one x."""
    if len(x) > 1 or count == 1:
        return [x] * count
    return [x + offset for offset in np.linspace(-1, 1, count) * scales.SINGLE_SPREAD]
