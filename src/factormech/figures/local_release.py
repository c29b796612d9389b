"""Users that local mechanisms need against the domain size, above the bound for non-interactive mechanisms."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from factormech.experiments.base import Curves
from factormech.experiments.local_release import EXPERIMENT
from factormech.figures import axes as scales
from factormech.figures import captions, declared, local_releases, style
from factormech.tables.curve_view import CurvePanel, curve_view

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

CURVES = Curves(
    panel="panel",
    x="domain_size",
    y="predicted_drawn",
    series="mechanism",
    below="lower_bound",
    x_scale="log2",
    text=(
        "Users N for which E‖answers − Wλ‖∞ ≤ α on every distribution λ of the users' types, predicted by the central "
        "limit; answers are averages over the users; neighbouring data sets replace one user's type. Points of the "
        "ball are reported by the half-sphere randomizer where no other is named. The band is certified for "
        "non-interactive "
        "ε-LDP (δ = 0) and the same error"
    ),
)
KIND = local_releases.shown(EXPERIMENT, CURVES)
# Decades below the bound that are shown.
ROOM = 0.3


def draw(frame: pd.DataFrame) -> Figure:
    """The figure of a table of this kind."""
    figure = declared.draw(frame, experiment=KIND)
    with style.context():
        for ax, panel in zip(figure.axes, curve_view(frame, KIND).panels, strict=True):
            _lower(ax, panel)
    return figure


def _lower(ax: Axes, panel: CurvePanel) -> None:
    """Show the band whole: the bound is far below all mechanisms, and that is what there is to see."""
    positive = panel.below[np.isfinite(panel.below) & (panel.below > 0)]
    low, high = np.log10(ax.get_ylim())
    if not positive.size or np.log10(positive.min()) - ROOM >= low:
        return
    scales.set_values(ax, float(np.log10(positive.min()) - ROOM), float(high))
    for band in list(ax.collections):
        band.remove()
    floor = ax.get_ylim()[0]
    xs, below = (panel.x, panel.below) if len(panel.x) > 1 else (np.array(ax.get_xlim()), np.repeat(panel.below, 2))
    top = np.maximum(below, floor)
    ax.fill_between(xs, floor, top, where=np.isfinite(below), color=style.BAND, linewidth=0, zorder=0.5)


def words(title: str, text: str, frame: pd.DataFrame) -> captions.Words:
    """Caption and notes of the figure."""

    deltas = sorted({float(delta) for delta in frame["delta"].dropna()})
    pure = "All mechanisms are purely ε-LDP." if deltas in ([], [0.0]) else "δ of each mechanism is in the table."
    return local_releases.words(title, text, frame, KIND, pure)
