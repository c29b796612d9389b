"""How far from optimal: average variance over the strongest lower bound, on a logarithmic axis from 1.

What the bound proves of every ε-LDP strategy is that no curve goes below the line at 1; a curve at 1.1 is a mechanism
that no other can beat by more than a factor of 1.1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from factormech.experiments import columns
from factormech.figures import axes as scales
from factormech.figures import captions, curves, style
from factormech.figures.captions import absent, drawn, fixed_and_varied
from factormech.figures.sample_complexity_caption import bound_words
from factormech.tables.panels import Panel, View, view

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from factormech.figures.style import Style

__all__ = ["draw", "draw_ratios", "last_sentences", "words"]

Y_LABEL = "average variance over the lower bound"


def draw(frame: pd.DataFrame) -> Figure:
    """The figure of a table of optimality gaps (:mod:`factormech.tables.gaps`)."""
    table = view(frame, "ratio_to_bound")
    return draw_ratios(table, lambda ax, panel, looks: curves.draw_curves(ax, panel, looks, table.drawn))


def draw_ratios(table: View, draw_panel: Callable[[Axes, Panel, Mapping[str, Style]], None]) -> Figure:
    """A figure of multiples of a lower bound; ``draw_panel`` draws into a panel whose axes are prepared."""
    looks = style.mechanism_styles(table.mechanisms)
    with style.context():
        figure, panels = curves.canvas(len(table.panels))
        for ax, panel in zip(panels, table.panels, strict=True):
            scales.prepare_x(ax, panel.x, table.axis)
            scales.set_ratios(ax, _largest(panel))
            draw_panel(ax, panel, looks)
        curves.finish(
            figure,
            panels,
            table,
            curves.mechanism_entries(table.drawn, looks),
            x_label=columns.meaning(table.axis).label,
            y_label=Y_LABEL,
            notes=[_notes(panel, table) for panel in table.panels],
            set_limits=scales.set_ratio_limits,
        )
    return figure


def _largest(panel: Panel) -> float:
    """The largest ratio of a panel."""
    return float(np.nanmax([1.0, *(v for curve in panel.curves for v in curve.high.tolist())]))


def _notes(panel: Panel, table: View) -> list[str]:
    """What this panel lacks, a line per status."""
    return [f"{status}: {', '.join(names)}" for status, names in curves.lacking(panel, table).items()]


def words(title: str, text: str, frame: pd.DataFrame) -> captions.Words:
    """Caption and notes of the figure."""

    table = view(frame, "ratio_to_bound")
    bound = "a lower bound on that of every unbiased linear ε-LDP strategy"
    what = f"average variance over {bound}, {fixed_and_varied(table)}"
    return captions.words(
        [
            captions.lead(title, what),
            text,
            "1 is optimal, and none of these strategies is below.",
            f"Lines are medians over {table.seeds} seeds" if table.seeds > 1 else "",
        ],
        [
            "The average is over the user types; the bound holds for strategies with any number of outputs.",
            "The worst-case variance is at least the average one, so the bound holds for it, too; its ratio is in the "
            "table.",
            *last_sentences(table, frame),
        ],
    )


def last_sentences(table: View, frame: pd.DataFrame) -> list[str]:
    """What a caption ends with: the mechanisms, what the bound is, and what is missing and why."""
    return [
        drawn(table),
        bound_words(list(dict.fromkeys(frame["bound_name"]))),
        *absent(table),
    ]
