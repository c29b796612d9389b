"""Users needed against 1/α, a panel for each number of types, and under each the local slopes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from factormech.plots import axes as scales
from factormech.plots import captions, curves, style
from factormech.plots.canvas import empty_figure
from factormech.studies.pure import FALL_SHORT, MEANING, PROJECTED
from factormech.tables.panels import number

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw", "words"]

BELOW = "Below the lower bound for ε-private mechanisms, and its slope"


def draw(frame: pd.DataFrame) -> Figure:
    """The figure of a table of users needed."""
    parts = list(frame.groupby("domain_size", sort=False))
    x = [np.unique(rows["accuracy"].to_numpy(dtype=np.float64)) for _, rows in parts]
    titles = [f"n = {n}" for n, _ in parts] + [f"Slopes, n = {n}" for n, _ in parts]
    with style.context():
        figure, panels = _canvas(len(parts))
        for ax, across in zip(panels, [*x, *x], strict=True):
            scales.prepare_scale(ax, across, "log")
        for i, (_, rows) in enumerate(parts):
            _draw_users(panels[i], rows)
            _draw_slopes(panels[len(parts) + i], rows)
        curves.finish(
            figure,
            panels,
            titles,
            _entries(frame),
            x_label="accuracy 1/α",
            y_label="users N; d ln N / d ln(1/α)",
        )
    return figure


def _canvas(columns: int) -> tuple[Figure, list[Axes]]:
    """Two rows of panels."""
    figure = empty_figure(style.width(min(columns, 3)), 2 * curves.PANEL_HEIGHTS[3] + 0.2)
    grid = figure.add_gridspec(2, columns)
    return figure, [figure.add_subplot(grid[divmod(i, columns)]) for i in range(2 * columns)]


def _draw_users(ax: Axes, rows: pd.DataFrame) -> None:
    ax.set_yscale("log")
    logs = np.log10(rows[["measured_users", "certified_users"]].to_numpy(dtype=np.float64))
    room = 0.05 * float(logs.max() - logs.min()) or 0.2
    scales.set_values(ax, float(logs.min()) - room, float(logs.max()) + room)
    below = rows.drop_duplicates("accuracy").sort_values("accuracy")
    x, y = (below[name].to_numpy(dtype=np.float64) for name in ("accuracy", "certified_users"))
    curves.shade_below(ax, x, y, style.BAND)
    _draw_lines(ax, rows, "measured_users")


def _draw_slopes(ax: Axes, rows: pd.DataFrame) -> None:
    slopes = rows[["local_slope", "lower_slope"]].to_numpy(dtype=np.float64)
    slopes = slopes[np.isfinite(slopes)]
    scales.set_linear(
        ax, min(0.4, float(slopes.min(initial=0.9))) - 0.1, max(2.0, float(slopes.max(initial=2.0))) + 0.1
    )
    for line in (1.0, 2.0):
        ax.axhline(line, color=style.GREY, linewidth=0.7, linestyle=style.DOTTED, zorder=1)
    below = rows.drop_duplicates("accuracy").sort_values("accuracy")
    ax.plot(below["accuracy"], below["lower_slope"].astype("float64"), **style.EDGE)
    _draw_lines(ax, rows, "local_slope")


def _draw_lines(ax: Axes, rows: pd.DataFrame, column: str) -> None:
    looks = style.series_styles(rows["mechanism"])
    sizes = curves.marker_sizes(list(dict.fromkeys(rows["mechanism"])))
    for name, size in sizes.items():
        line = rows[rows["mechanism"] == name].sort_values("accuracy")
        ax.plot(line["accuracy"], line[column].astype("float64"), **style.as_drawn(looks[name], size))


def _entries(frame: pd.DataFrame) -> list[curves.Entry]:
    names = list(dict.fromkeys(frame["mechanism"]))
    return [
        *curves.entries(names, style.series_styles(names)),
        curves.patch_entry(style.BAND, BELOW, edge=style.BAND_EDGE),
    ]


def words(title: str, text: str, frame: pd.DataFrame) -> captions.Words:
    """Caption and notes of the figure."""

    x = sorted(set(frame["accuracy"]))
    projected = frame[frame["mechanism"] == PROJECTED]
    slopes = projected["local_slope"].to_numpy(dtype=np.float64)
    slopes = slopes[np.isfinite(slopes)]
    told = f"With the projection the slopes are from {slopes.min():.2f} to {slopes.max():.2f}." if len(slopes) else ""
    what = f"users N against accuracy 1/α from {number(x[0])} to {number(x[-1])}, and local slopes below"
    return captions.words(
        [captions.lead(title, what), text, told, "Shaded: fewer than proved to be needed."],
        [
            "The users are simulated, with the data the worst found among evenly spread ones over 1, 2, 4 … types.",
            "Second row: local slopes of ln N in ln(1/α), between both neighbours.",
            MEANING,
            FALL_SHORT,
        ],
    )
