"""Queries of learners against the dimension they were told, a panel for each tolerance, with what is promised."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from factormech import labels
from factormech.arrays import FloatArray
from factormech.plots import axes as scales
from factormech.plots import captions, curves, style

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw", "words"]

RULES = {"learner": "Tolerance 1/(3d)", "coarse": "Tolerance 1/√d"}
PROMISED: dict[str, Any] = {"color": style.GREY, "linestyle": style.DASHED, "linewidth": 1.0}


def draw(frame: pd.DataFrame) -> Figure:
    """The figure of a table of queries."""
    rows = frame.dropna(subset=["mean_queries"])
    rules = [rule for rule in RULES if rows["learner"].str.startswith(rule).any()]
    d = rows["learner_dimension"].to_numpy(dtype=np.float64)
    # Dimensions are no round numbers: whole ones around them are marked.
    x = np.arange(np.floor(d.min()), np.ceil(d.max()) + 1.0) if len(d) else np.ones(1)
    names = list(dict.fromkeys(rows["learner"]))
    with style.context():
        figure, panels = curves.canvas(max(1, len(rules)))
        for ax, rule in zip(panels, rules, strict=False):
            scales.prepare_scale(ax, x, "log")
            _draw(ax, rows[rows["learner"].str.startswith(rule)], names)
        curves.finish(
            figure,
            panels,
            [RULES[rule] for rule in rules],
            _entries(names, promised=bool(np.isfinite(rows["guaranteed_queries"]).any())),
            x_label="dimension d of the learner",
            y_label="queries",
            footer=_missing(frame),
        )
    return figure


def _draw(ax: Axes, rows: pd.DataFrame, names: list[str]) -> None:
    values = rows[["fewest_queries", "most_queries", "guaranteed_queries"]].to_numpy(dtype=np.float64).ravel()
    _set_values(ax, values[np.isfinite(values)])
    looks, sizes = style.series_styles(names, ""), curves.marker_sizes(names)
    for name, own in rows.groupby("learner", sort=False):
        d, mean, low, high = (
            own[column].to_numpy(dtype=np.float64)
            for column in ("learner_dimension", "mean_queries", "fewest_queries", "most_queries")
        )
        look = looks[str(name)]
        ax.vlines(d, low, high, color=look.colour, linewidth=0.8, zorder=2.5)
        ax.plot(d, mean, zorder=3, clip_on=False, **{**style.as_drawn(look, sizes[str(name)]), "linestyle": "none"})
    promised = rows[np.isfinite(rows["guaranteed_queries"].astype("float64"))].sort_values("learner_dimension")
    ax.plot(promised["learner_dimension"], promised["guaranteed_queries"], zorder=1.5, **PROMISED)


def _set_values(ax: Axes, values: FloatArray) -> None:
    ax.set_yscale("log")
    logs = np.log10(values)
    room = 0.05 * float(logs.max() - logs.min()) or 0.2
    scales.set_values(ax, float(logs.min()) - room, float(logs.max()) + room)


def _entries(names: list[str], *, promised: bool) -> list[curves.Entry]:
    from matplotlib.lines import Line2D

    looks, sizes = style.series_styles(names, ""), curves.marker_sizes(names)
    marks: list[curves.Entry] = [
        (Line2D([], [], **{**style.as_drawn(looks[name], sizes[name]), "linestyle": "none"}), looks[name].label)
        for name in names
    ]
    return [*marks, (Line2D([], [], **PROMISED), "Promised")] if promised else marks


def _missing(frame: pd.DataFrame) -> list[str]:
    rest = frame[frame["mean_queries"].isna()].drop_duplicates(["concept_class", "class_size"])
    return [f"no number for {r.concept_class}, size {r.class_size}: {r.reason}" for r in rest.itertuples()]


def words(title: str, text: str, frame: pd.DataFrame) -> captions.Words:
    """Caption and notes of the figure."""

    rows = frame.dropna(subset=["mean_queries"])
    classes = "; ".join(
        f"{name} {size}" for name, size in dict.fromkeys(zip(rows["concept_class"], rows["class_size"], strict=True))
    )
    learners = "; ".join(labels.SERIES[name] for name in dict.fromkeys(rows["learner"]))
    return captions.words(
        [
            captions.lead(title, "mean number of queries against the dimension that the learner was told"),
            text,
            "Bars: the least and the most of all runs; runs at the coarse tolerance are given up at their limit.",
            "Every law of other runs before has confirmed the dimension.",
        ],
        [
            f"Classes and sizes: {classes}" if classes else "",
            f"Learners: {learners}" if learners else "",
            *_missing(frame),
        ],
    )
