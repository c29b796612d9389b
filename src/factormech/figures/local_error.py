"""Measured largest errors with their intervals, on the curves that the central limit predicts."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from factormech.experiments.base import Curves
from factormech.experiments.local_error import EXPERIMENT
from factormech.figures import captions, declared, local_releases, style
from factormech.tables.curve_view import curve_view

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

CURVES = Curves(
    panel="panel",
    x="users",
    y="measured_error",
    series="mechanism",
    low="measured_low",
    high="measured_high",
    bars="a confidence interval of the mean",
    x_scale="log",
    text=(
        "Marks: mean of ‖answers − truth‖∞ over collections that were run, truth being the averages over the very "
        "users; lines: the same for normal noise with the exact covariance and bias on these data. "
        "Neighbouring data sets "
        "replace one user's type. Points of the ball are reported by the half-sphere randomizer where no other is named"
    ),
)
KIND = local_releases.shown(EXPERIMENT, CURVES)


def draw(frame: pd.DataFrame) -> Figure:
    """The figure of a table of this kind."""
    figure = declared.draw(frame, experiment=KIND)
    view = curve_view(frame, KIND)
    predicted = curve_view(frame, local_releases.shown(EXPERIMENT, replace(CURVES, y="gaussian_error")))
    with style.context():
        for ax, panel, curves in zip(figure.axes, view.panels, predicted.panels, strict=True):
            names = [name for name in view.drawn if name in panel.lines]
            for name, marks in zip(names, list(ax.lines), strict=True):
                line = {"color": marks.get_color(), "linestyle": marks.get_linestyle()}
                width, order = marks.get_linewidth(), marks.get_zorder() - 0.7
                ax.plot(curves.x, curves.lines[name].y, linewidth=width, zorder=order, **line)
                marks.set_linestyle("none")
    return figure


def words(title: str, text: str, frame: pd.DataFrame) -> captions.Words:
    """Caption and notes of the figure."""

    run = frame[frame["reason"] == ""]
    deltas = sorted({float(delta) for delta in run["delta"].dropna()})
    pure = "All mechanisms are purely ε-LDP." if deltas in ([], [0.0]) else "δ of each mechanism is in the table."
    if run.empty:
        return local_releases.words(title, text, frame, KIND, pure)
    half = float((0.5 * (run["measured_high"] - run["measured_low"]) / run["measured_error"]).max())
    level = f"{1.0 - run['level'].iloc[0]:.4g}"
    people = "; ".join(dict.fromkeys(frame["population"]))
    told = f"Intervals hold with probability {level} each, and are ±{100 * half:.2g} % of the mean or narrower."
    return local_releases.words(title, text, frame, KIND, told, f"Users: {people}.", pure)
