"""Constants of K-norm noise, raw and projected: a cell for each number of queries and of types."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from factormech import labels
from factormech.experiments.pure import FALL_SHORT, MEANING, PROJECTED
from factormech.figures import cells, curves, style
from factormech.figures.captions import sentence
from factormech.tables.panels import Panel, View, number

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

__all__ = ["caption", "draw"]

# Ends of the colours.
ENDS = (0.05, 2.0)


def draw(frame: pd.DataFrame) -> Figure:
    """The figure of a table of constants."""
    names = [str(name) for name in dict.fromkeys(frame["mechanism"])]
    titles = [labels.SERIES[name] for name in names]
    colours = cells.shades("#FFFFFF", style.SKY, style.BLUE)
    with style.context():
        figure, panels = curves.canvas(len(names))
        for ax, name in zip(panels, names, strict=True):
            table = constants(frame, name)
            x, y = ([number(value) for value in index] for index in (table.columns, table.index))
            cells.draw_cells(ax, table.to_numpy(dtype=np.float64), colours, ENDS, lambda c: f"{c:.2f}", x, y)
        curves.finish(
            figure,
            panels,
            View("queries", math.nan, "", math.nan, 1, (), (), tuple(Panel(t, np.ones(1), (), (), ()) for t in titles)),
            _entries(),
            x_label="types N",
            y_label="queries k",
            notes=[[] for _ in names],
            footer=_missing(frame),
            titles=titles,
        )
    return figure


def constants(frame: pd.DataFrame, mechanism: str) -> pd.DataFrame:
    """The largest constant over nε, queries × types; NaN where there is no number."""
    rows = frame[frame["mechanism"] == mechanism]
    return rows.pivot_table(index="queries", columns="domain_size", values="constant", aggfunc="max", dropna=False)


def _entries() -> list[curves.Entry]:
    from matplotlib.patches import Patch

    return [
        (Patch(facecolor="#FFFFFF", edgecolor=style.GREY, linewidth=0.8), f"nε·error = {ENDS[0]:g}·2w(K), or less"),
        (Patch(facecolor=style.BLUE), f"{ENDS[1]:g}·2w(K), or more"),
    ]


def _missing(frame: pd.DataFrame) -> list[str]:
    """Shapes without a number, by reason."""
    lacking = frame[frame["constant"].isna()]
    found = []
    for reason, rows in lacking.groupby("reason", sort=False):
        shapes = dict.fromkeys(zip(rows["queries"], rows["domain_size"], strict=True))
        found.append(f"no number at {', '.join(f'{k} × {N}' for k, N in shapes)}: {reason}")
    return found


def caption(title: str, text: str, frame: pd.DataFrame) -> str:
    """What the cells are."""
    shown = frame[frame["constant"].notna()]
    ranges = [
        f"{labels.SERIES[name]} {np.nanmin(table):.2f} to {np.nanmax(table):.2f}"
        for name in dict.fromkeys(shown["mechanism"])
        for table in [constants(shown, str(name)).to_numpy(dtype=np.float64)]
    ]
    projected = shown[shown["mechanism"] == PROJECTED]
    certified = (projected["error"] / projected["lower_bound"]).min()
    products = ", ".join(number(value) for value in sorted(set(frame["product"])))
    sentences = [
        sentence(title),
        sentence(text),
        "Cells: error times nε over 2w(K) for k random ±1 queries and N types, one matrix for each shape.",
        f"With the projection: the largest over nε of {products}, each on the worst data found for it.",
        sentence(f"Constants: {'; '.join(ranges)}") if ranges else "",
        f"The errors with the projection are {certified:.1f} times the certified lower bound or more."
        if math.isfinite(certified)
        else "",
        sentence(MEANING),
        sentence(f"{FALL_SHORT[:1].upper()}{FALL_SHORT[1:]}, and so does noise from a Markov chain"),
        *map(sentence, (line[:1].upper() + line[1:] for line in _missing(frame))),
    ]
    return " ".join(words for words in sentences if words)
