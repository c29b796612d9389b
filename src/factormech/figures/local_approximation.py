"""Users over the least against a/α: one curve for each α and norm, the least of each marked, and α/2."""

from __future__ import annotations

from typing import TYPE_CHECKING

from factormech import labels
from factormech.experiments.base import Curves
from factormech.experiments.local_approximation import BEST, EXPERIMENT, GRID
from factormech.figures import captions, declared, local_releases, style
from factormech.tables.curve_view import curve_view

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

CURVES = Curves(
    panel="panel",
    x="bias_share",
    y="ratio_to_least",
    series="alpha",
    dash="factors",
    x_scale="linear",
    y_scale="ratio",
    text=(
        "Users that are predicted for E‖answers − Wp‖∞ ≤ α on every data set p, over the least number for "
        "this α over all "
        "a and both norms; neighbouring data sets replace one user's type, and reports are purely ε-LDP"
    ),
)
KIND = local_releases.shown(EXPERIMENT, CURVES)
_STAR = 7.0


def draw(frame: pd.DataFrame) -> Figure:
    """The figure of a table of this kind."""
    grid = frame[frame["choice"] == GRID]
    figure = declared.draw(grid, experiment=KIND)
    view = curve_view(grid, KIND)
    with style.context():
        for ax, value, panel in zip(figure.axes, grid["panel"].unique(), view.panels, strict=True):
            ax.axvline(0.5, color=style.GREY, linestyle=style.DOTTED, linewidth=0.9, zorder=1.5)
            best = frame[(frame["panel"] == value) & (frame["choice"] == BEST)]
            names = [name for name in view.drawn if name in panel.lines]
            curves = [line for line in ax.lines if line.get_marker() not in ("", "None")]
            colours = {name: line.get_color() for name, line in zip(names, curves, strict=True)}
            for row in best.itertuples():
                colour = colours[row.alpha, row.factors]
                ax.plot(
                    [row.bias_share], [row.ratio_to_least], "*", color=colour, markersize=_STAR, zorder=6, clip_on=False
                )
    return figure


def words(title: str, text: str, frame: pd.DataFrame) -> captions.Words:
    """Caption and notes of the figure."""

    told = f"Stars: the least of each curve, a searched one included. Dotted: a = α/2.{_price(frame)}"
    return local_releases.words(title, text, frame[frame["choice"] == GRID], KIND, told)


def _price(frame: pd.DataFrame) -> str:
    half = frame[(frame["choice"] == GRID) & (frame["bias_share"] == 0.5) & frame["ratio_to_least"].notna()]
    if half.empty:
        return ""
    low, high = (
        labels.value_label("ratio_to_least", round(float(value), 2))
        for value in (half["ratio_to_least"].min(), half["ratio_to_least"].max())
    )
    return f" There the mechanism needs {low} to {high} times the users of the best a."
