"""Errors of simulated collections with and without non-negativity, a panel per data set.

The upper part of a panel shows users × error, the variance per user and query: lines are the exact error of the
unprocessed estimate, hollow markers its measured error, filled ones the error after non-negative least squares, small
dots with the total fixed to the number of users. The strip below has the last two over the unprocessed one. Bars are
the intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from factormech import labels
from factormech.arrays import FloatArray
from factormech.plots import axes as scales
from factormech.plots import captions, form, style, text
from factormech.plots.canvas import empty_figure
from factormech.plots.data_dependent import standin_words
from factormech.plots.style import Style
from factormech.studies.consistency import FIXED, FREE, NONE
from factormech.tables.consistency_view import LABELS, ConsistencyPanel, ConsistencyView, Series, view
from factormech.tables.panels import number

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PANEL_HEIGHTS = {1: 4.2, 2: 3.6, 3: 3.2}  # inches, by the number of columns
STRIP_SHARE = 0.6  # height of the strip over that of the part above it
MARKER = 4.2
LINES = {FREE: style.DASHED, FIXED: style.DOTTED}
# Mechanisms stand side by side over this share of the distance between two numbers of users, and not farther than
# this many decades to either side.
SPREAD, MOST_SPREAD = 0.6, 0.12


def draw(frame: pd.DataFrame) -> Figure:
    """The figure of a table of consistent estimates (:mod:`factormech.tables.consistency_view`)."""
    table = view(frame)
    looks = style.mechanism_styles(table.mechanisms)
    places = _places(table)
    with style.context():
        figure, pairs, columns = _canvas(len(table.panels), len(table.data))
        room = float(figure.get_figwidth()) / columns - 0.45
        for i, ((ax, strip), panel) in enumerate(zip(pairs, table.panels, strict=True)):
            _prepare(ax, strip, panel, table)
            for series in panel.series:
                if series.name in places:
                    _draw_errors(ax, series, table.users, places[series.name], looks[series.name])
                    _draw_ratios(strip, series, places[series.name], looks[series.name])
            ax.set_title(text.balanced(figure, panel.title, room, form.text_size() + 0.5))
            if i % columns == 0:
                strip.set_ylabel("over unprocessed", fontsize=form.small_size())
            else:
                strip.tick_params(labelleft=False)
        _finish(figure, table, looks)
        for _, strip in pairs:
            scales.thin_labels(strip, text.renderer_of(figure))
    return figure


def words(title: str, text: str, frame: pd.DataFrame) -> captions.Words:
    """Caption and notes of the figure."""

    table = view(frame)
    what = f"N × mean squared error per query against the number of users N = {_list(table.users)} of each data set"
    return captions.words(
        [
            captions.lead(title, what),
            *standin_words(table.standins),
            text,
            "Lines: exact error of the unprocessed estimate; hollow markers: measured; filled: after non-negative "
            "least squares; dots: the same with the total, which is public, fixed.",
        ],
        [
            f"In simulation: {table.trials} trials each{_seeds(table)}; "
            + "; ".join(panel.title for panel in table.panels),
            "Least squares are in the workload's distance.",
            f"Bars: {_bars(table)}",
            *(_gain(table, name) for name in table.drawn),
            f"The conditions of the optimum hold to {table.violation:.1g}" if np.isfinite(table.violation) else "",
            *table.missing,
        ],
    )


def _gain(table: ConsistencyView, name: str) -> str:
    parts = []
    for processing in (FREE, FIXED):
        ratios = table.ratios(name, processing)
        if np.isfinite(ratios).any():
            parts.append(f"{np.nanmin(ratios):.2f} to {np.nanmax(ratios):.2f} ({LABELS[processing]})")
    return f"{labels.mechanism_label(name)}: error after over before from {' and '.join(parts)}" if parts else ""


def _bars(table: ConsistencyView) -> str:
    hull = f", their hull over {table.seeds} seeds" if table.seeds > 1 else ""
    level = f"each at two-sided level {table.level:g}"
    return f"Student's intervals, {level}, those of ratios from pairs of one collection{hull}"


def _seeds(table: ConsistencyView) -> str:
    return f", {table.seeds} seeds" if table.seeds > 1 else ""


def _list(values: FloatArray) -> str:
    return ", ".join(map(number, values.tolist()))


def _places(table: ConsistencyView) -> dict[str, FloatArray]:
    shifts = np.linspace(-1, 1, len(table.drawn)) if len(table.drawn) > 1 else np.zeros(1)
    reach = min(SPREAD * scales.half_gap(table.users), MOST_SPREAD)
    return {
        name: table.users * 10.0 ** (shift * reach) for name, shift in zip(table.drawn, shifts.tolist(), strict=False)
    }


def _canvas(panels: int, data: int) -> tuple[Figure, list[tuple[Axes, Axes]], int]:
    columns = form.columns(min(data, 3))
    rows = -(-panels // columns)
    figure = empty_figure(style.width(columns), rows * PANEL_HEIGHTS[columns])
    grid = figure.add_gridspec(2 * rows, columns, height_ratios=[1.0, STRIP_SHARE] * rows)
    pairs = []
    for i in range(panels):
        row, column = divmod(i, columns)
        ax = figure.add_subplot(grid[2 * row, column])
        pairs.append((ax, figure.add_subplot(grid[2 * row + 1, column])))
    return figure, pairs, columns


def _prepare(ax: Axes, strip: Axes, panel: ConsistencyPanel, table: ConsistencyView) -> None:
    """Scales, limits and ticks of a panel and its strip."""
    from matplotlib.ticker import NullLocator

    users, margin = table.users, scales.half_gap(table.users)
    decades = [n for n in users.tolist() if float(np.log10(n)).is_integer()]
    for part in (ax, strip):
        part.set_xscale("log")
        part.set_xlim(users[0] * 10**-margin, users[-1] * 10**margin)
        part.xaxis.set_minor_locator(NullLocator())
        part.set_xticks(decades or users, [_size(n) for n in decades or users.tolist()])
    ax.tick_params(labelbottom=False)
    ax.set_yscale("log")
    scales.set_decades(ax, *_limits(panel))
    strip.set_ylim(0.0, _highest_ratio(table))
    strip.axhline(1.0, color=style.BLACK, linewidth=0.7, zorder=1)
    strip.set_yticks([0.0, 0.5, 1.0])


def _highest_ratio(table: ConsistencyView) -> float:
    """The end of all strips: above 1, and above every interval but the widest."""
    parts = [s.by_processing[p] for panel in table.panels for s in panel.series for p in LINES]
    highest = [v for part in parts for v in (part.ratio, part.ratio_high)]
    return 1.06 * float(np.nanmax([1.0, *np.concatenate(highest).tolist()])) if highest else 1.06


def _size(users: float) -> str:
    exponent = np.log10(users)
    return f"$10^{{{int(exponent)}}}$" if users >= 100 and float(exponent).is_integer() else number(users)


def _limits(panel: ConsistencyPanel) -> tuple[float, float]:
    """log₁₀ of the limits: all that is exact or measured, at least a decade; intervals that reach 0 are cut off."""
    parts = [m for s in panel.series for m in s.by_processing.values()]
    values = [s.exact for s in panel.series] + [v for m in parts for v in (m.middle, m.high)]
    flat = np.concatenate(values)
    logs = np.log10(flat[np.isfinite(flat) & (flat > 0)])
    low, high = (float(logs.min()), float(logs.max())) if logs.size else (0.0, 0.0)
    missing = max(scales.LEAST_DECADES - (high - low), 0.0)
    low, high = low - missing / 2, high + missing / 2
    return low - scales.MARGIN * (high - low), high + scales.MARGIN * (high - low)


def _draw_errors(ax: Axes, series: Series, users: FloatArray, x: FloatArray, look: Style) -> None:
    """The exact line, and what was measured with its intervals."""
    floor = ax.get_ylim()[0]
    ax.plot(users, np.where(series.exact > 0, series.exact, np.nan), color=look.colour, linewidth=0.8, zorder=2)
    for processing, found in series.by_processing.items():
        middle = np.where(found.middle > 0, found.middle, np.nan)
        ax.vlines(x, np.maximum(found.low, floor), found.high, color=look.colour, linewidth=0.6, zorder=2.5)
        line = LINES.get(processing, "")
        ax.plot(x, middle, color=look.colour, linestyle=line, linewidth=0.8, zorder=3, **_marker(look, processing))


def _draw_ratios(strip: Axes, series: Series, x: FloatArray, look: Style) -> None:
    for processing, line in LINES.items():
        found = series.by_processing[processing]
        strip.vlines(x, found.ratio_low, found.ratio_high, color=look.colour, linewidth=0.6, zorder=2.5)
        marker = _marker(look, processing)
        strip.plot(x, found.ratio, color=look.colour, linestyle=line, linewidth=0.8, zorder=3, **marker)


def _marker(look: Style, processing: str) -> dict[str, Any]:
    """Hollow, filled, or a dot."""
    if processing == FIXED:
        return {"marker": ".", "markersize": 3.0, "markerfacecolor": look.colour}
    colour = style.WHITE if processing == NONE else look.colour
    return {
        "marker": look.marker,
        "markersize": MARKER * look.scale,
        "markerfacecolor": colour,
        "markeredgewidth": 0.7,
    }


def _finish(figure: Figure, table: ConsistencyView, looks: dict[str, Style]) -> None:
    """Legend and footer."""
    from matplotlib.lines import Line2D

    width = float(figure.get_figwidth())
    entries: list[tuple[Any, str]] = [
        (Line2D([], [], color=looks[n].colour, linewidth=0.8, **_marker(looks[n], NONE)), looks[n].label)
        for n in table.drawn
    ]
    grey = Style("", style.GREY, "o", style.SOLID)
    entries += [
        (Line2D([], [], color=style.GREY, linestyle=LINES[p], linewidth=0.8, **_marker(grey, p)), LABELS[p])
        for p in LINES
    ]
    names = [text.wrap(figure, label[:1].upper() + label[1:], width - 0.8, form.text_size()) for _, label in entries]
    says = (
        f"lines: exact error without processing; hollow markers: measured, {table.trials} trials; bars: {_bars(table)}"
    )
    lines = [says, *standin_words(table.standins), *table.missing]
    footer = [text.wrap(figure, labels.capital(s), width - 0.2, form.small_size()) for s in lines]
    y_label = "N × mean squared error per query"
    text.place_around(figure, "number of users N", y_label, [e for e, _ in entries], names, footer)
