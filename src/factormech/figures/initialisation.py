"""What solvers find from random starts: every start a point, their medians a line, over the rows of the start.

As Figure 3b of McKenna, Maity, Mazumdar & Miklau, PVLDB 13(11), 2020, but over the strongest lower bound on what any
strategy has, where the paper divides by the best strategy that was found.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from factormech.arrays import FloatArray
from factormech.figures import captions, curves
from factormech.figures.captions import fixed_and_varied
from factormech.figures.optimality_gap import draw_ratios, last_sentences
from factormech.tables.panels import Panel, View, view

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from factormech.figures.style import Style

__all__ = ["draw", "words"]

# Mechanisms stand side by side over this share of the distance between two numbers of rows.
SPREAD = 0.36
POINT_SIZE, MEDIAN_SIZE = 3.0, 3.2


def draw(frame: pd.DataFrame) -> Figure:
    """The figure of a table of random starts (:mod:`factormech.tables.starts`)."""
    table = view(frame, "ratio_to_bound", "row_factor")

    def draw_panel(ax: Axes, panel: Panel, looks: Mapping[str, Style]) -> None:
        if len(panel.x) > 1:
            room = np.exp(0.5 * _least_step(panel.x))
            ax.set_xlim(panel.x[0] / room, panel.x[-1] * room)
        _draw_starts(ax, panel, frame[frame["workload"] == panel.workload], table, looks)

    return draw_ratios(table, draw_panel)


def _draw_starts(ax: Axes, panel: Panel, frame: pd.DataFrame, table: View, looks: Mapping[str, Style]) -> None:
    """Points of all starts, and the line of their medians with a large marker at each."""
    for i, (name, shift) in enumerate(zip(table.drawn, _shifts(panel.x, len(table.drawn)), strict=True)):
        look, rows = looks[name], frame[(frame["mechanism"] == name) & (frame["status"] == "ok")]
        median = next(curve.middle for curve in panel.curves if curve.name == name)
        ax.plot(
            rows["row_factor"] * shift,
            rows["ratio_to_bound"],
            linestyle="",
            marker="o",
            clip_on=False,
            markersize=POINT_SIZE,
            markerfacecolor=look.colour,
            markeredgewidth=0,
            alpha=0.35,
            zorder=2.5,
        )
        ax.plot(panel.x * shift, median, zorder=3 + 0.01 * i, clip_on=False, **curves.as_drawn(look, MEDIAN_SIZE))


def _shifts(x: FloatArray, count: int) -> list[float]:
    """Factors by which the points of each mechanism stand beside the number of rows, the first leftmost."""
    places = SPREAD * _least_step(x) * np.linspace(-0.5, 0.5, count) if count > 1 else np.zeros(1)
    return [float(shift) for shift in np.exp(places)]


def _least_step(x: FloatArray) -> float:
    """The least distance of two numbers of rows, in natural logarithms."""
    return float(np.diff(np.log(x)).min()) if len(x) > 1 else 1.0


def words(title: str, text: str, frame: pd.DataFrame) -> captions.Words:
    """Caption and notes of the figure."""

    table = view(frame, "ratio_to_bound", "row_factor")
    size, starts = frame["domain_size"].iloc[0], frame["start"].nunique()
    what = f"average variance of what the solver finds over a lower bound, {fixed_and_varied(table)}; n = {size}"
    return captions.words(
        [
            captions.lead(title, what),
            text,
            "1 is optimal.",
            f"Every small point is one of {starts} random starts; lines join their medians.",
        ],
        [
            "The lower bound is on the average variance of every ε-LDP strategy with any number of outputs.",
            *last_sentences(table, frame),
        ],
    )
