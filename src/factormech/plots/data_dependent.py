"""Users needed on data sets, a group of points for each, as in McKenna et al., PVLDB 13(11), 2020, Figure 3a.

Mechanisms stand side by side in each group. What lies below the strongest lower bound on a data set is shaded: no
mechanism is there, not even one made for these data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from factormech import labels
from factormech.plots import axes as scales
from factormech.plots import captions, form, style, text
from factormech.plots.canvas import empty_figure
from factormech.plots.style import Style
from factormech.tables.on_data_view import Panel, View, view

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_COLUMNS = 2
PANEL_HEIGHTS = {1: 3.0, 2: 2.5}  # inches, by the number of columns
MARKER = 5.0
# Mechanisms spread this far to either side of a group's centre; a group is one wide. A bound is a little wider.
SPREAD, BOUND = 0.36, 0.45
DECADES_BELOW = 1.0


def draw(frame: pd.DataFrame) -> Figure:
    """The figure of a table of sample complexities on data sets (:mod:`factormech.tables.on_data_view`)."""
    table = view(frame)
    looks = style.mechanism_styles(table.mechanisms)
    with style.context():
        figure, panels, columns = _canvas(len(table.panels))
        for ax, panel in zip(panels, table.panels, strict=True):
            _prepare(ax, panel, table)
            _draw_bound(ax, panel)
            _draw_points(ax, panel, table, looks)
            room = float(figure.get_figwidth()) / columns - 0.45
            ax.set_title(text.balanced(figure, panel.title, room, form.text_size() + 0.5))
        _finish(figure, table, looks)
        for ax in panels:
            scales.thin_labels(ax, text.renderer_of(figure))
    return figure


def words(title: str, text: str, frame: pd.DataFrame) -> captions.Words:
    """Caption and notes of the figure."""

    table = view(frame)
    panels = "; ".join(panel.title for panel in table.panels)
    names = [labels.bound_label(name).replace("Lower", "lower", 1) for name in table.bounds if name != "data-svd"]
    what = f"users needed for {labels.accuracy(table.metric, table.alpha)} on each data set and in the worst case"
    return captions.words(
        [
            captions.lead(title, f"{what}; {panels}"),
            *standin_words(table.standins),
            text,
            *(_deviation(panel, table) for panel in table.panels),
            f"Medians over {table.seeds} seeds, bars to the least and the largest" if table.seeds > 1 else "",
        ],
        [
            f"Data sets: {'; '.join(map(labels.data_label, table.data))}; their variances are exact",
            "No unbiased linear ε-LDP strategy needs fewer users than the bound (dash; shaded below): on a data set, "
            "by singular values weighted by its shares, not even one made for it; in the worst case by "
            + "; ".join(names),
            *table.missing,
        ],
    )


def standin_words(standins: tuple[str, ...]) -> list[str]:
    """A sentence that says which data are synthetic, if any."""
    if not standins:
        return []
    names = ", ".join(map(labels.data_label, standins))
    return [f"{names}: SYNTHETIC data of the same number of users and of non-empty bins, not the data set of that name"]


def _deviation(panel: Panel, table: View) -> str:
    """The mechanism whose needs differ most between data sets, and by how much."""
    spreads = [(table.spread(s), s) for s in panel.series if np.isfinite(table.spread(s))]
    if len(table.data) < 3 or not spreads:
        return ""
    most, series = max(spreads, key=lambda pair: pair[0])
    worst = max(table.worst_over(s) for _, s in spreads)
    where = f"{panel.title}: between" if len(table.panels) > 1 else "between"
    return (
        f"{where} data sets needs differ most for {labels.mechanism_label(series.name)}, by a factor of "
        f"{most:.3g}; the worst case is at most {worst:.3g} times the least need on a data set"
    )


def _canvas(count: int) -> tuple[Figure, list[Axes], int]:
    columns = form.columns(min(count, MOST_COLUMNS))
    rows = -(-count // columns)
    figure = empty_figure(style.width(columns), rows * PANEL_HEIGHTS[columns])
    grid = figure.add_gridspec(rows, columns)
    return figure, [figure.add_subplot(grid[divmod(i, columns)]) for i in range(count)], columns


def _prepare(ax: Axes, panel: Panel, table: View) -> None:
    """Groups along the axis; limits to hold all mechanisms, and the bounds as far as they are near them."""
    from matplotlib.ticker import NullLocator

    groups = np.arange(len(table.data))
    ax.set_xlim(-0.5, len(groups) - 0.5)
    ax.set_xticks(groups, [labels.data_label(name) for name in table.data])
    ax.xaxis.set_minor_locator(NullLocator())
    ax.tick_params(axis="x", length=0)
    ax.grid(visible=False, axis="x")
    for edge in groups[1:] - 0.5:
        ax.axvline(edge, color=style.GRID, linewidth=0.4, zorder=0.4)
    ax.set_yscale("log")
    shown = [v for s in panel.series for v in (s.low, s.high)]
    values = np.concatenate(shown) if shown else np.zeros(0)
    logs = np.log10(values[values > 0]) if np.any(values > 0) else np.zeros(1)
    bounds = np.log10(panel.bound[panel.bound > 0])
    low = max(min(logs.min(), bounds.min(initial=np.inf)), logs.min() - DECADES_BELOW)
    high = max(logs.max(), low + scales.LEAST_DECADES)
    margin = scales.MARGIN * (high - low)
    scales.set_decades(ax, float(low - margin), float(high + margin))


def _draw_bound(ax: Axes, panel: Panel) -> None:
    """The strongest bound of each group, and what is below it; one below the panel is not drawn."""
    floor = ax.get_ylim()[0]
    for i, bound in enumerate(panel.bound.tolist()):
        if bound > floor:
            ends = np.array([i - BOUND, i + BOUND])
            ax.fill_between(ends, floor, bound, color=style.IMPOSSIBLE, linewidth=0, zorder=0.5)
            ax.plot(ends, [bound, bound], color=style.BLACK, linestyle=style.DOTTED, linewidth=1.1, zorder=1.5)


def _draw_points(ax: Axes, panel: Panel, table: View, looks: dict[str, Style]) -> None:
    places = np.linspace(-SPREAD, SPREAD, len(table.drawn)) if len(table.drawn) > 1 else np.zeros(1)
    series = {s.name: s for s in panel.series}
    for place, name in zip(places.tolist(), table.drawn, strict=False):
        found, x = series[name], np.arange(len(table.data)) + place
        middle, low, high = (np.where(found.middle > 0, v, np.nan) for v in (found.middle, found.low, found.high))
        ax.vlines(x, low, high, color=looks[name].colour, linewidth=0.8, zorder=2.5)
        ax.plot(x, middle, zorder=3, **_look(looks[name]))


def _look(look: Style) -> dict[str, Any]:
    return {
        "color": look.colour,
        "linestyle": "",
        "marker": look.marker,
        "markersize": MARKER * look.scale,
        "markerfacecolor": look.colour if look.filled else style.WHITE,
    }


def _finish(figure: Figure, table: View, looks: dict[str, Style]) -> None:
    """Legend and footer."""
    from matplotlib.lines import Line2D

    width = float(figure.get_figwidth())
    entries: list[tuple[Any, str]] = [(Line2D([], [], **_look(looks[n])), looks[n].label) for n in table.drawn]
    line = Line2D([], [], color=style.BLACK, linestyle=style.DOTTED, linewidth=1.1)
    entries.append((line, "Lower bound on the data, unbiased strategies (below it: shaded)"))
    names = [text.wrap(figure, label, width - 0.8, form.text_size()) for _, label in entries]
    lines = [*standin_words(table.standins), _vacuous(table), *table.missing]
    footer = [text.wrap(figure, labels.capital(s), width - 0.2, form.small_size()) for s in lines if s]
    y_label = f"users needed for {labels.accuracy(table.metric, table.alpha)}"
    text.place_around(figure, "data set", y_label, [e for e, _ in entries], names, footer)


def _vacuous(table: View) -> str:
    """Which bounds are not in sight."""
    small = [
        f"{labels.data_label(name)} ({panel.bound[i]:.3g} users; {panel.title})"
        for panel in table.panels
        for i, name in enumerate(table.data)
        if _is_hidden(panel, i)
    ]
    return f"bounds too low to be drawn: {', '.join(small)}" if small else ""


def _is_hidden(panel: Panel, i: int) -> bool:
    values = np.concatenate([s.low for s in panel.series])
    least = values[values > 0].min(initial=np.inf)
    return bool(panel.bound[i] <= 0 or np.log10(panel.bound[i]) < np.log10(least) - DECADES_BELOW)
