"""A phase diagram: JL release over each projection, over skew and Nε, and how far all are above the bound."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from factormech import labels
from factormech.plots import captions, cells, curves, style
from factormech.studies.pure import IN_THE_LIMIT
from factormech.tables.panels import number

PRODUCT = "users_times_epsilon"

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

__all__ = ["draw", "words"]

JL = "jl"
# Ends of the colours: the ratio and its inverse.
DEEPEST = 2.0
# The error over the lower bound that is darkest.
FARTHEST = 12.0


def draw(frame: pd.DataFrame) -> Figure:
    """The figure of a table of skews."""
    projections = [str(name) for name in dict.fromkeys(frame["mechanism"]) if name != JL]
    titles = [*(f"JL release over {labels.SERIES[name]}" for name in projections), "Least error over lower bound"]
    tables = [*(ratios(frame, name) for name in projections), above_bound(frame)]
    looks = [(cells.shades(style.BLUE, style.WHITE, style.VERMILLION), (1.0 / DEEPEST, DEEPEST))] * len(projections)
    looks.append((cells.shades(style.WHITE, style.PURPLE), (1.0, FARTHEST)))
    with style.context():
        figure, panels = curves.canvas(len(titles))
        for ax, table, (colours, ends) in zip(panels, tables, looks, strict=True):
            x, y = ([number(value) for value in index] for index in (table.columns, table.index))
            cells.draw_cells(ax, table.to_numpy(dtype=np.float64), colours, ends, _told, x, y)
        curves.finish(
            figure,
            panels,
            titles,
            _entries(),
            x_label="users times privacy budget, Nε",
            y_label="length of a long query over the others",
        )
    return figure


def _told(value: float) -> str:
    return f"{value:.2f}" if value < 9.995 else f"{value:.0f}"


def ratios(frame: pd.DataFrame, projection: str) -> pd.DataFrame:
    """JL over a projection, skews × products; NaN where one of them has no number."""
    of_jl, of_projection = (
        frame[frame["mechanism"] == name].pivot_table(index="skew", columns=PRODUCT, values="l2_error", dropna=False)
        for name in (JL, projection)
    )
    return of_jl / of_projection


def above_bound(frame: pd.DataFrame) -> pd.DataFrame:
    """The least error of a cell over its lower bound, skews × products."""
    frame = frame.assign(over=frame["l2_error"] / frame["lower_bound"])
    return frame.pivot_table(index="skew", columns=PRODUCT, values="over", aggfunc="min", dropna=False)


def _entries() -> list[curves.Entry]:
    from matplotlib.patches import Patch

    return [
        (Patch(facecolor=style.BLUE), "JL release errs less"),
        (Patch(facecolor=style.VERMILLION), "The projection errs less"),
        (Patch(facecolor=style.PURPLE), f"{FARTHEST:g} times the lower bound (white: 1)"),
    ]


def words(title: str, text: str, frame: pd.DataFrame) -> captions.Words:
    """Caption and notes of the figure."""

    value, low, high = (_wide(frame, column) for column in ("l2_error", "low", "high"))
    jl, others = value.columns == JL, value.columns != JL
    wins = int((value.loc[:, jl].min(axis=1) < value.loc[:, others].min(axis=1)).sum())
    clear = int((high.loc[:, jl].min(axis=1) < low.loc[:, others].min(axis=1)).sum())
    what = "error of JL release, with its best number of rows, over that of the projection, for each skew and Nε"
    return captions.words(
        [
            captions.lead(title, what),
            text,
            f"JL release errs less than every projection here in {wins} of {len(value)} cells, "
            f"in {clear} of them by more than the 99 % intervals.",
            _above(frame),
        ],
        [
            f"{number(frame['queries'].iloc[0])} random signs of {number(frame['domain_size'].iloc[0])} types, the "
            f"first {number(frame['long'].iloc[0])} of them longer.",
            "Each error is E‖·‖₂/√k on the worst data found for it, ε-DP, one of N users replaced, N fixed; "
            f"{IN_THE_LIMIT}.",
        ],
    )


def _above(frame: pd.DataFrame) -> str:
    """The last panel in words."""
    over = above_bound(frame).to_numpy(dtype=np.float64)
    over = over[np.isfinite(over)]
    if not over.size:
        return ""
    return (
        "Last panel: the least of the errors over the lower bound for every ε-private mechanism, "
        f"{_told(over.min())} to {_told(over.max())}."
    )


def _wide(frame: pd.DataFrame, column: str) -> pd.DataFrame:
    """Cells × mechanisms."""
    return frame.pivot_table(index=["skew", PRODUCT], columns="mechanism", values=column, dropna=False)
