"""A phase diagram: error of JL release over that of each projection, a cell for each skew and nε."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from factormech import labels
from factormech.arrays import FloatArray
from factormech.figures import curves, style
from factormech.figures.captions import sentence
from factormech.tables.panels import Panel, View, number

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap
    from matplotlib.figure import Figure

__all__ = ["caption", "draw"]

JL = "jl"
# Ends of the colours: the ratio and its inverse.
DEEPEST = 2.0


def draw(frame: pd.DataFrame) -> Figure:
    """The figure of a table of skews."""
    projections = [str(name) for name in dict.fromkeys(frame["mechanism"]) if name != JL]
    titles = [f"JL release over {labels.SERIES[name]}" for name in projections]
    with style.context():
        figure, panels = curves.canvas(len(projections))
        for ax, name in zip(panels, projections, strict=True):
            _draw_map(ax, frame, name)
        curves.finish(
            figure,
            panels,
            View("product", math.nan, "", math.nan, 1, (), (), tuple(Panel(t, np.ones(1), (), (), ()) for t in titles)),
            _entries(),
            x_label="users times privacy budget, nε",
            y_label="length of a long query over the others",
            notes=[[] for _ in projections],
            titles=titles,
        )
    return figure


def ratios(frame: pd.DataFrame, projection: str) -> pd.DataFrame:
    """JL over a projection, skews × products; NaN where one of them has no number."""
    of_jl, of_projection = (
        frame[frame["mechanism"] == name].pivot_table(index="skew", columns="product", values="error", dropna=False)
        for name in (JL, projection)
    )
    return of_jl / of_projection


def _draw_map(ax: Axes, frame: pd.DataFrame, name: str) -> None:
    table = ratios(frame, name)
    values = table.to_numpy(dtype=np.float64)
    ax.grid(visible=False)
    ax.set_facecolor(style.IMPOSSIBLE)
    top = math.log(DEEPEST)
    ax.imshow(np.log(values), cmap=_colours(), vmin=-top, vmax=top, aspect="auto", origin="lower")
    for (i, j), value in np.ndenumerate(values):
        if np.isfinite(value):
            ax.text(j, i, f"{value:.2f}", ha="center", va="center", fontsize=style.SMALL_SIZE)
    _ticks(ax, table.columns.to_numpy(dtype=np.float64), table.index.to_numpy(dtype=np.float64))


def _ticks(ax: Axes, products: FloatArray, skews: FloatArray) -> None:
    ax.set_xticks(range(len(products)), [number(value) for value in products])
    ax.set_yticks(range(len(skews)), [number(value) for value in skews])
    ax.tick_params(length=0)


def _colours() -> Colormap:
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("ratio", [style.BLUE, "#FFFFFF", style.VERMILLION])


def _entries() -> list[curves.Entry]:
    from matplotlib.patches import Patch

    return [
        (Patch(facecolor=style.BLUE), "JL release errs less"),
        (Patch(facecolor=style.VERMILLION), "The projection errs less"),
    ]


def caption(title: str, text: str, frame: pd.DataFrame) -> str:
    """What the cells are."""
    value, low, high = (_wide(frame, column) for column in ("error", "low", "high"))
    jl, others = value.columns == JL, value.columns != JL
    wins = int((value.loc[:, jl].min(axis=1) < value.loc[:, others].min(axis=1)).sum())
    clear = int((high.loc[:, jl].min(axis=1) < low.loc[:, others].min(axis=1)).sum())
    return " ".join(
        (
            sentence(title),
            f"{number(frame['queries'].iloc[0])} random signs of {number(frame['domain_size'].iloc[0])} types, the "
            f"first {number(frame['long'].iloc[0])} of them longer.",
            "Cells: error of JL release, with its best number of rows, over that of the projection; each error is "
            "E‖·‖₂/√k on the worst data found for it, ε-DP, one of n persons replaced, n fixed.",
            f"JL release errs less than every projection here in {wins} of {len(value)} cells, "
            f"in {clear} of them by more than the 99 % intervals.",
            sentence(text),
        )
    )


def _wide(frame: pd.DataFrame, column: str) -> pd.DataFrame:
    """Cells × mechanisms."""
    return frame.pivot_table(index=["skew", "product"], columns="mechanism", values=column, dropna=False)
