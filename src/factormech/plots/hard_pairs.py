"""Heat maps of hard pairs: λ_v in one colour and μ_v in another, a row per query, with the weights of the pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from factormech import labels
from factormech.arrays import FloatArray
from factormech.plots import captions, cells, curves, style
from factormech.tables.panels import number

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw", "words"]

# The ends of the colours: of λ − μ above and below 0.
FIRST, SECOND = style.BLUE, style.VERMILLION
# The strip of weights, in parts of the map's width.
STRIP, GAP = 0.14, 0.03
TICKS = 5


def draw(frame: pd.DataFrame) -> Figure:
    """The figure of a table of hard pairs."""
    groups = _groups(frame)
    with style.context():
        figure, panels = curves.canvas(len(groups))
        for ax, (_, rows) in zip(panels, groups, strict=True):
            _draw_map(ax, rows)
        curves.finish(
            figure,
            panels,
            [title for title, _ in groups],
            _entries(),
            x_label="type x, and weight of the pair at the right",
            y_label="query v",
            notes=[[] for _ in groups],
        )
    return figure


def _groups(frame: pd.DataFrame) -> list[tuple[str, pd.DataFrame]]:
    several = len(set(frame["domain_size"])) > 1
    return [
        (f"{labels.workload_label(str(name))}" + (f", n = {number(n)}" if several else ""), rows)
        for (name, n), rows in frame.groupby(["workload", "domain_size"], sort=False)
    ]


def _difference(rows: pd.DataFrame) -> tuple[FloatArray, FloatArray, FloatArray]:
    """λ − μ, queries × types, over the largest entry of its row; queries; weights."""
    rows = rows.sort_values(["query", "type"])
    each = rows.drop_duplicates("query")
    values = (rows["first_probability"] - rows["second_probability"]).to_numpy(dtype=np.float64).reshape(len(each), -1)
    queries, weights = (each[name].to_numpy(dtype=np.float64) for name in ("query", "weight"))
    return values / np.abs(values).max(axis=1, keepdims=True), queries, weights


def _draw_map(ax: Axes, rows: pd.DataFrame) -> None:
    values, queries, weights = _difference(rows)
    k, n = values.shape
    ax.grid(visible=False)
    colours = cells.shades(SECOND, style.WHITE, FIRST)
    ax.imshow(values, cmap=colours, vmin=-1.0, vmax=1.0, aspect="auto", interpolation="nearest", extent=(0, n, k, 0))
    left = n * (1.0 + GAP)
    ax.barh(
        np.arange(k) + 0.5, n * STRIP * weights / weights.max(), height=0.8, left=left, color=style.GREY, linewidth=0
    )
    ax.axvline(n, color=style.DARK, linewidth=0.6)
    ax.set(xlim=(0, n * (1.0 + GAP + STRIP) + 0.1), ylim=(k, 0))
    types, places = (np.unique(np.linspace(0, size - 1, min(size, TICKS)).astype(int)) for size in (n, k))
    ax.set_xticks(types + 0.5, [number(x) for x in types])
    ax.set_yticks(places + 0.5, [number(queries[i]) for i in places])
    ax.tick_params(length=0)


def _entries() -> list[curves.Entry]:
    from matplotlib.patches import Patch

    return [
        (Patch(facecolor=FIRST), "More likely under λ"),
        (Patch(facecolor=SECOND), "More likely under μ"),
        (Patch(facecolor=style.GREY), "Weight π of the pair"),
    ]


def words(title: str, text: str, frame: pd.DataFrame) -> captions.Words:
    """Caption and notes of the figure."""

    told = [
        f"{title} (gaps from {gaps.min():.3g} to {gaps.max():.3g}, {rows['query'].nunique()} pairs)"
        for title, rows in _groups(frame)
        for gaps in [rows["answer_gap"]]
    ]
    sizes = ", ".join(number(n) for n in sorted(set(frame["domain_size"])))
    what = f"λ_v − μ_v over the largest entry of its row, a row per query v and a column per type, n = {sizes}"
    return captions.words(
        [captions.lead(title, what), text, "Bars at the right: the weights π_v of the pairs, over the largest."],
        ["; ".join(told)],
    )
