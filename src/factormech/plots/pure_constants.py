"""Constants of K-norm noise, raw and projected: a cell for each number of queries and of types."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from factormech import labels
from factormech.plots import captions, cells, curves, style
from factormech.studies.pure import IN_THE_LIMIT, MEANING, PROJECTED, RAW
from factormech.tables.panels import number

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

__all__ = ["draw", "words"]

# Ends of the colours.
ENDS = (0.1, 1.0)


def draw(frame: pd.DataFrame) -> Figure:
    """The figure of a table of constants."""
    shown = _panels(frame)
    titles = list(shown)
    colours = cells.shades(style.WHITE, style.SKY, style.BLUE)
    with style.context():
        figure, panels = curves.canvas(len(shown))
        for ax, table in zip(panels, shown.values(), strict=True):
            x, y = ([number(value) for value in index] for index in (table.columns, table.index))
            cells.draw_cells(ax, table.to_numpy(dtype=np.float64), colours, ENDS, lambda c: f"{c:.2f}", x, y)
        curves.finish(
            figure,
            panels,
            titles,
            _entries(),
            x_label="types n",
            y_label="queries k",
            footer=_missing(frame),
        )
    return figure


def constants(frame: pd.DataFrame, mechanism: str, product: float) -> pd.DataFrame:
    """The constants at one Nε, queries × types; NaN where there is no number."""
    rows = frame[(frame["mechanism"] == mechanism) & (frame["users_times_epsilon"] == product)]
    return rows.pivot_table(index="queries", columns="domain_size", values="error_constant", dropna=False)


def _panels(frame: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return the panel of raw noise, whose constant is that of all Nε, and those of the projection at each Nε."""
    products = sorted(set(frame["users_times_epsilon"]))
    found = {labels.SERIES[RAW]: constants(frame, RAW, products[0])}
    for product in products:
        title = f"{labels.SERIES[PROJECTED]}, Nε = {number(product)}"
        found[title] = constants(frame, PROJECTED, product)
    return found


def _entries() -> list[curves.Entry]:
    from matplotlib.patches import Patch

    return [
        (Patch(facecolor=style.WHITE, edgecolor=style.GREY, linewidth=0.8), f"Nε·error = {ENDS[0]:g}·2w(K), or less"),
        (Patch(facecolor=style.BLUE), "2w(K), or more"),
    ]


def _missing(frame: pd.DataFrame) -> list[str]:
    """Shapes without a number, by reason."""
    lacking = frame[frame["error_constant"].isna()]
    found = []
    for reason, rows in lacking.groupby("reason", sort=False):
        shapes = dict.fromkeys(zip(rows["queries"], rows["domain_size"], strict=True))
        found.append(f"no number at {', '.join(f'{k} × {N}' for k, N in shapes)}: {reason}")
    return found


def words(title: str, text: str, frame: pd.DataFrame) -> captions.Words:
    """Caption and notes of the figure."""

    shown = frame[frame["error_constant"].notna()]
    ranges = [f"{name}: {np.nanmin(table):.2f} to {np.nanmax(table):.2f}" for name, table in _panels(shown).items()]
    projected = shown[shown["mechanism"] == PROJECTED]
    certified = (projected["l2_error"] / projected["lower_bound"]).min()
    what = "error times Nε over 2w(K) for k random ±1 queries and n types, one matrix for each shape"
    return captions.words(
        [
            captions.lead(title, what),
            text,
            "With the projection the cells depend on Nε and are of the worst data found for it.",
            f"The errors with the projection are {certified:.1f} times the certified lower bound or more."
            if math.isfinite(certified)
            else "",
        ],
        [
            f"Constants: {'; '.join(ranges)}" if ranges else "",
            MEANING,
            IN_THE_LIMIT,
            *_missing(frame),
        ],
    )
