"""Seconds of an iteration of the published optimiser, and seconds until solvers come near a lower bound.

The first panel is Figure 3c of McKenna, Maity, Mazumdar & Miklau, PVLDB 13(11), 2020. In the others a colour is a gap,
a line and marker a solver; what is never reached has no point and is named in the panel.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from factormech import labels
from factormech.plots import axes as scales
from factormech.plots import captions, curves, style
from factormech.plots.compared_caption import bound_words
from factormech.studies import columns
from factormech.studies.base import Column
from factormech.studies.timing import ITERATION, TO_GAP
from factormech.tables.panels import number, span, told

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from factormech.plots.style import Style

__all__ = ["draw", "words"]

MARKER = 4.2


def draw(frame: pd.DataFrame) -> Figure:
    """The figure of a table of times."""
    single, near = frame[frame["quantity"] == ITERATION], frame[frame["quantity"] == TO_GAP]
    parts = [part for _, part in near.groupby("workload", sort=False)]
    titles = ["One iteration", *(labels.workload_label(str(part["workload"].iloc[0])) for part in parts)]
    colours = gap_colours(near)
    looks = style.mechanism_styles(dict.fromkeys(frame["mechanism"]))
    with style.context():
        figure, panels = curves.canvas(len(titles))
        _draw_iterations(panels[0], single, looks)
        for ax, part in zip(panels[1:], parts, strict=True):
            _draw_times(ax, part, looks, colours)
        shown, names = _legend(frame, looks, colours)
        curves.finish(
            figure,
            panels,
            titles,
            list(zip(shown, names, strict=True)),
            x_label=columns.meaning("domain_size").label,
            y_label="seconds",
            notes=[notes(part) for part in [single, *parts]],
            footer=unavailable(near),
        )
    return figure


def gap_colours(near: pd.DataFrame) -> dict[float, str]:
    """A colour for each gap, the narrowest darkest; more gaps than colours share the lightest."""
    gaps = sorted(set(near["gap"]))
    return {gap: style.BLUES[max(len(style.BLUES) - 1 - i, 0)] for i, gap in enumerate(gaps)}


def _draw_iterations(ax: Axes, single: pd.DataFrame, looks: dict[str, Style]) -> None:
    """Means, and dashes at the least."""
    x = np.sort(single["domain_size"].to_numpy(dtype=float))
    rows = single.sort_values("domain_size")
    scales.prepare_x(ax, x, "domain_size")
    _prepare_y(ax, rows[["seconds", "least_seconds"]].to_numpy().ravel())
    look = looks[str(rows["mechanism"].iloc[0])]
    ax.plot(x, rows["least_seconds"], color=look.colour, linestyle="", marker="_", markersize=7, zorder=3)
    ax.plot(x, rows["seconds"], zorder=3, clip_on=False, **style.as_drawn(look, MARKER))


def _draw_times(ax: Axes, part: pd.DataFrame, looks: dict[str, Style], colours: dict[float, str]) -> None:
    """A line for each solver and gap; over seeds and budgets, medians."""
    x = np.unique(part["domain_size"].to_numpy(dtype=float))
    scales.prepare_x(ax, x, "domain_size")
    _prepare_y(ax, part["seconds"].to_numpy())
    narrow = {gap: rank for rank, gap in enumerate(sorted(colours, reverse=True))}
    for (mechanism, gap), rows in part.groupby(["mechanism", "gap"], sort=False):
        seconds = rows.groupby("domain_size")["seconds"].median().reindex(x)
        # The narrower the gap, the smaller and the further in front: lines that coincide remain visible.
        share = 1.0 - narrow[gap] / max(len(narrow) - 1, 1)
        look = {**style.as_drawn(looks[mechanism], MARKER * (0.8 + 0.8 * share)), "color": colours[gap]}
        look["linewidth"] *= 1.0 + 2.0 * share
        if looks[mechanism].filled:
            look["markerfacecolor"] = colours[gap]
        ax.plot(x, seconds, zorder=3 + 0.01 * narrow[gap], clip_on=False, **look)


def _prepare_y(ax: Axes, seconds: np.ndarray[Any, np.dtype[np.float64]]) -> None:
    ax.set_yscale("log")
    logs = np.log10(seconds[np.isfinite(seconds) & (seconds > 0)])
    low, high = (float(logs.min()), float(logs.max())) if logs.size else (-1.0, 1.0)
    room = max(high - low, scales.LEAST_DECADES)
    middle = (low + high) / 2
    scales.set_decades(ax, middle - (0.5 + scales.MARGIN) * room, middle + (0.5 + scales.MARGIN) * room)


def _legend(frame: pd.DataFrame, looks: dict[str, Style], colours: dict[float, str]) -> tuple[list[Any], list[str]]:
    from matplotlib.lines import Line2D

    drawn = dict.fromkeys(frame.loc[frame["status"] == "ok", "mechanism"])
    shown: list[Any] = [Line2D([], [], **style.as_drawn(looks[name], MARKER)) for name in drawn]
    names = [looks[name].label for name in drawn]
    for gap, colour in colours.items():
        shown.append(Line2D([], [], color=colour, linewidth=2.4))
        names.append(f"within {number(gap)} of the lower bound")
    return shown, names


def notes(part: pd.DataFrame) -> list[str]:
    """What a panel has no point for, a line per status: "not reached by Optimised: 1.05, 1.1 [n = 8]"."""
    lines = []
    for status, rows in part[~part["status"].isin(["ok", "unavailable"])].groupby("status", sort=False):
        x = np.unique(part["domain_size"].to_numpy(dtype=float))
        who = []
        for mechanism, part_of_one in rows.groupby("mechanism", sort=False):
            spans = [
                (number(gap), span(missing["domain_size"].tolist(), x, Column("domain_size")))
                for gap, missing in part_of_one.groupby("gap")
            ]
            gaps = ", ".join(gap + (f" [{place}]" if place else "") for gap, place in spans)
            who.append(f"{labels.mechanism_label(str(mechanism))}: {gaps}")
        lines.append(f"{status} by {'; '.join(who)}")
    return lines


def unavailable(near: pd.DataFrame) -> list[str]:
    """The mechanisms without a trace, and why."""
    gone = near[near["status"] == "unavailable"].groupby("mechanism", sort=False)["reason"]
    return [f"not drawn: {labels.mechanism_label(str(name))} — {'; '.join(told(list(why)))}" for name, why in gone]


def words(title: str, text: str, frame: pd.DataFrame) -> captions.Words:
    """Caption and notes of the figure."""
    single, near = frame[frame["quantity"] == ITERATION], frame[frame["quantity"] == TO_GAP]
    counts = " or ".join(number(c) for c in sorted(set(single["iterations"]), reverse=True))
    workloads = "; ".join(labels.workload_label(w) for w in dict.fromkeys(near["workload"]))
    epsilons = ", ".join(number(e) for e in sorted(set(near["epsilon"])))
    missed = [
        f"{labels.workload_label(str(workload))}: {'; '.join(notes(part))}"
        for workload, part in near.groupby("workload", sort=False)
        if notes(part)
    ]
    what = "seconds of one iteration (first panel), and seconds until a solver is within a factor of a lower bound"
    return captions.words(
        [
            captions.lead(title, f"{what}, with ε = {epsilons}"),
            text,
            "Seconds of the processor, with the search for a step size.",
            f"First panel: mean of {counts} iterations (dashes: the least).",
        ],
        [
            f"An iteration is of {labels.mechanism_label(str(single['mechanism'].iloc[0]))} on a random 4n × n "
            "strategy and the identity workload.",
            "Other panels: seconds until the average variance of what a solver has found is within a factor of a lower "
            f"bound on that of every ε-LDP strategy; workloads: {workloads}.",
            bound_words(list(dict.fromkeys(near["bound_name"]))),
            *(f"Without a point, {line}" for line in missed),
            *unavailable(near),
        ],
    )
