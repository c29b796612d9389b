"""Measured errors of simulated collections on their exact predictions, a panel per workload, domain size and ε.

The upper part of a panel shows users × error, the variance per user and query: lines are exact, markers measured. The
strip below shows measured over exact around 1, which no logarithmic axis can. Mechanisms stand side by side around
their number of users; bars are the intervals. What is in the table is drawn, or told below the panels with the reason.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from factormech import labels
from factormech.arrays import FloatArray
from factormech.plots import axes as scales
from factormech.plots import form, style, text
from factormech.plots.canvas import empty_figure
from factormech.plots.simulated_collection_caption import words
from factormech.plots.style import Style
from factormech.tables.collected import Collected, Copies, Panel, level_text, verdict_text, view
from factormech.tables.panels import number

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw", "words"]

PANEL_HEIGHTS = {1: 3.9, 2: 3.0, 3: 2.6, 4: 2.4}  # inches, by the number of columns
STRIP_SHARE = 0.5  # height of the strip over that of the part above it
MARKER, STRIP_MARKER = 4.2, 2.8
# Mechanisms spread over this share of the distance between two numbers of users.
SPREAD = 0.76
# Ratios beyond these ends are cut off with an arrow; nearer ends follow the intervals.
LOWEST_RATIO, HIGHEST_RATIO, LEAST_RATIO_SPAN = 0.0, 3.0, 0.02


def draw(frame: pd.DataFrame) -> Figure:
    """The figure of a table of simulated collections (:mod:`factormech.tables.collected`)."""
    table = view(frame)
    looks = style.mechanism_styles(table.mechanisms)
    places = _places(table)
    with style.context():
        columns = form.columns(table.columns)
        figure, pairs = _canvas(len(table.panels), columns)
        for i, ((ax, strip), panel) in enumerate(zip(pairs, table.panels, strict=True)):
            first = i - i % columns
            ends = _ratio_ends(table.panels[first : first + columns])
            _prepare(ax, strip, panel, table, ends)
            for series in panel.series:
                if series.name in places:
                    _draw_errors(ax, series, table.users, places[series.name], looks[series.name])
                    _draw_ratios(strip, series, places[series.name], looks[series.name], ends)
            if i % columns == 0:
                strip.set_ylabel("measured/exact", fontsize=form.small_size())
            else:
                strip.tick_params(labelleft=False)
        _finish(figure, pairs, table, looks)
    return figure


def _places(table: Collected) -> dict[str, FloatArray]:
    """Where each mechanism that is drawn has its points: side by side around the number of users."""
    shifts = scales.half_gap(table.users) * SPREAD * np.linspace(-1, 1, max(len(table.drawn), 1))
    if len(table.drawn) == 1:
        shifts = np.zeros(1)
    return {name: table.users * 10.0**shift for name, shift in zip(table.drawn, shifts.tolist(), strict=False)}


def _ratio_ends(panels: Sequence[Panel]) -> tuple[float, float]:
    """The limits of the strips of a row: one scale, so that they can be compared."""
    series = [s for panel in panels for s in panel.series]
    ratios = np.concatenate([v.ravel() for s in series for v in (s.ratio_low, s.ratio_high, s.ratios)])
    finite = ratios[np.isfinite(ratios)]
    low = float(finite.min(initial=1.0 - LEAST_RATIO_SPAN))
    high = float(finite.max(initial=1.0 + LEAST_RATIO_SPAN))
    if np.isinf(ratios).any():
        high = HIGHEST_RATIO
    low, high = max(low, LOWEST_RATIO), min(high, HIGHEST_RATIO)
    margin = 0.06 * (high - low)
    return low - margin, high + margin


def _canvas(panels: int, columns: int) -> tuple[Figure, list[tuple[Axes, Axes]]]:
    rows = -(-panels // columns)
    figure = empty_figure(style.width(columns), rows * PANEL_HEIGHTS[columns])
    heights = [1.0, STRIP_SHARE] * rows
    grid = figure.add_gridspec(2 * rows, columns, height_ratios=heights)
    pairs = []
    for i in range(panels):
        row, column = divmod(i, columns)
        ax = figure.add_subplot(grid[2 * row, column])
        pairs.append((ax, figure.add_subplot(grid[2 * row + 1, column])))
    return figure, pairs


def _prepare(ax: Axes, strip: Axes, panel: Panel, table: Collected, ends: tuple[float, float]) -> None:
    """Scales, limits and ticks of a panel and its strip."""
    from matplotlib.ticker import NullLocator

    users = table.users
    margin = scales.half_gap(users)
    for part in (ax, strip):
        part.set_xscale("log")
        part.set_xlim(users[0] * 10**-margin, users[-1] * 10**margin)
        part.xaxis.set_minor_locator(NullLocator())
        part.set_xticks(users, [_power_of_ten(n) for n in users.tolist()])
        part.grid(visible=False, axis="x")
        # Where one number of users ends and the next begins.
        for edge in np.sqrt(users[:-1] * users[1:]).tolist():
            part.axvline(edge, color=style.GRID, linewidth=0.4, zorder=0.4)
    ax.tick_params(labelbottom=False)
    ax.set_yscale("log")
    scales.set_decades(ax, *_error_limits(panel))
    strip.set_ylim(*ends)
    strip.set_yticks(_ratio_ticks(*ends))
    strip.axhline(1.0, color=style.BLACK, linewidth=0.7, zorder=1)


def _ratio_ticks(bottom: float, top: float) -> list[float]:
    """Round ratios, none so near the ends that its label would touch one of the part above."""
    from matplotlib.ticker import MaxNLocator

    margin = 0.12 * (top - bottom)
    ticks = np.asarray(MaxNLocator(5, steps=[1, 2, 5, 10]).tick_values(bottom, top))
    return [tick for tick in ticks.tolist() if bottom + margin <= tick <= top - margin]


def _error_limits(panel: Panel) -> tuple[float, float]:
    """log₁₀ of the limits: all that is exact or measured, at least a decade. An interval without end has none."""
    values = [v for s in panel.series for v in (s.exact_low, s.exact_high, s.measured, s.low, s.high)]
    flat = np.concatenate([np.ravel(v) for v in values]) if values else np.zeros(0)
    logs = np.log10(flat[np.isfinite(flat) & (flat > 0)])
    low, high = (float(logs.min()), float(logs.max())) if logs.size else (0.0, 0.0)
    missing = max(scales.LEAST_DECADES - (high - low), 0.0)
    low, high = low - missing / 2, high + missing / 2
    return low - scales.MARGIN * (high - low), high + scales.MARGIN * (high - low)


def _power_of_ten(users: float) -> str:
    exponent = np.log10(users)
    return f"$10^{{{int(exponent)}}}$" if users >= 100 and float(exponent).is_integer() else number(users)


def _draw_errors(ax: Axes, series: Copies, users: FloatArray, x: FloatArray, look: Style) -> None:
    """The exact line, as wide as the points of all mechanisms, and the measured points with their intervals."""
    width = 10 ** (scales.half_gap(users) * SPREAD)
    if np.isfinite(series.exact).any():
        ends = np.concatenate([users[:1] / width, users, users[-1:] * width])
        line, low, high = (np.pad(v, 1, mode="edge") for v in (series.exact, series.exact_low, series.exact_high))
        ax.plot(ends, line, color=look.colour, linestyle=look.line, linewidth=0.8, zorder=2)
        ax.fill_between(ends, low, high, color=look.colour, alpha=0.15, linewidth=0, zorder=1.5)
    top = np.minimum(series.high, ax.get_ylim()[1])
    ax.vlines(x, series.low, top, color=look.colour, linewidth=0.8, zorder=2.5)
    _draw_markers(ax, x, series.measured, series, look, MARKER)


def _draw_ratios(strip: Axes, series: Copies, x: FloatArray, look: Style, ends: tuple[float, float]) -> None:
    """The hull of the intervals, a dash for every copy, and the mean of the copies; arrows where the axis ends."""
    bottom, top = ends
    strip.vlines(x, series.ratio_low, np.minimum(series.ratio_high, top), color=look.colour, linewidth=0.8, zorder=2)
    if series.ratios.shape[1] > 1:
        inside = np.where((series.ratios > bottom) & (series.ratios < top), series.ratios, np.nan)
        strip.plot(x, inside, color=look.colour, linestyle="", marker="_", markersize=3.2, markeredgewidth=0.5)
    _draw_markers(strip, x, np.clip(series.ratio, bottom, top), series, look, STRIP_MARKER)
    for beyond, edge, arrow in ((series.ratio_high > top, top, "^"), (series.ratio_low < bottom, bottom, "v")):
        marks = np.where(beyond, edge, np.nan)
        strip.plot(x, marks, color=look.colour, linestyle="", marker=arrow, markersize=2.0, clip_on=False, zorder=4)


def _draw_markers(ax: Axes, x: FloatArray, y: FloatArray, series: Copies, look: Style, size: float) -> None:
    """The points, black where the interval of one of them misses the exact error."""
    ax.plot(x, np.where(series.misses, np.nan, y), zorder=3, **_marker(look, size))
    if series.misses.any():
        black = {"color": style.BLACK, "markerfacecolor": style.BLACK}
        ax.plot(x, np.where(series.misses, y, np.nan), zorder=4, **{**_marker(look, size), **black})


def _marker(look: Style, size: float) -> dict[str, Any]:
    return {
        "color": look.colour,
        "linestyle": "",
        "marker": look.marker,
        "markersize": size * look.scale,
        # White, not transparent: the bar and the line end at the marker's rim.
        "markerfacecolor": look.colour if look.filled else style.WHITE,
        "markeredgewidth": 0.7,
        "clip_on": False,
    }


def _finish(figure: Figure, pairs: list[tuple[Axes, Axes]], table: Collected, looks: dict[str, Style]) -> None:
    """Titles, legend and footer."""
    width = float(figure.get_figwidth())
    for (ax, _), panel in zip(pairs, table.panels, strict=True):
        room = width / form.columns(table.columns) - 0.45
        title = f"{labels.workload_label(panel.workload)}, n = {panel.domain_size}, ε = {number(panel.epsilon)}"
        ax.set_title(text.balanced(figure, title, room, form.text_size() + 0.5))
    handles, names = _legend_entries(figure, table, looks, width - 0.8)
    footer = [text.wrap(figure, line, width - 0.2, form.small_size()) for line in _footer(table)]
    text.place_around(figure, "number of users N", "N × mean squared error per query", handles, names, footer)
    for _, strip in pairs:
        scales.thin_labels(strip, text.renderer_of(figure))


def _legend_entries(
    figure: Figure, table: Collected, looks: dict[str, Style], room: float
) -> tuple[list[Any], list[str]]:
    from matplotlib.lines import Line2D

    entries: list[tuple[Any, str]] = [
        (Line2D([], [], **{**_marker(looks[n], MARKER), "linestyle": looks[n].line, "linewidth": 0.8}), looks[n].label)
        for n in table.drawn
    ]
    return [e for e, _ in entries], [text.wrap(figure, label, room, form.text_size()) for _, label in entries]


def _footer(table: Collected) -> list[str]:
    hull = f", their hull over {table.copies_text}" if table.copies > 1 else ""
    bars = f"intervals for the exact error, each at level {level_text(table.level)}"
    says = f"lines: exact; markers: measured, mean of {table.trials} trials; bars: {bars}{hull}"
    lines = [verdict_text(table.verdict), says, *table.misses, table.left_out, *table.missing]
    return [line[:1].upper() + line[1:] for line in lines if line]
