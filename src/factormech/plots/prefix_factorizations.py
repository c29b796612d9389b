"""Known factorizations of prefix sums beside the optimal one, a panel per order of error, over the domain size."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from factormech import labels
from factormech.arrays import FloatArray
from factormech.plots import axes as scales
from factormech.plots import captions, curves, style
from factormech.studies import columns
from factormech.tables.panels import Curve, Panel, number

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw", "words"]

Y_LABEL = "error"
LOGARITHM, TRACE = "ln(n)/π", "Trace bound ‖W‖⁎/n"
# A panel reaches this far above the second worst factorization at the largest n: the worst would press all others flat.
ROOM = 1.6


def draw(frame: pd.DataFrame) -> Figure:
    """Return the figure of a table of factorizations of prefix sums."""
    orders = sorted(set(frame["p"]))
    names = tuple(dict.fromkeys(frame["factorization"]))
    looks = {name: style.FACTORIZATIONS[name] for name in names}
    shown_panels = _panels(frame, orders, names)
    with style.context():
        figure, panels = curves.canvas(len(orders))
        for ax, panel, order in zip(panels, shown_panels, orders, strict=True):
            scales.prepare_x(ax, panel.x, "domain_size")
            ax.set_yscale("log")
            shown = np.concatenate([curve.middle for curve in panel.curves])
            top = float(np.log10(np.nanmax(shown)))
            scales.set_values(ax, -0.06 * top, 1.06 * top)
            _draw_bounds(ax, frame[frame["p"] == order], panel.x)
            curves.draw_curves(ax, panel, looks, names)
        curves.finish(
            figure,
            panels,
            [labels.order_label(order) for order in orders],
            [*curves.entries(names, looks), *_bound_entries()],
            x_label=columns.meaning("domain_size").label,
            y_label=Y_LABEL,
        )
    return figure


def _panels(frame: pd.DataFrame, orders: list[float], names: tuple[str, ...]) -> tuple[Panel, ...]:
    found = []
    for order in orders:
        part = frame[frame["p"] == order]
        x = np.sort(part["domain_size"].unique()).astype(np.float64)
        values = {name: _along(part[part["factorization"] == name], x, "order_p_error") for name in names}
        ends = sorted(float(v[-1]) for v in values.values())
        limit = ROOM * ends[-2 if len(ends) > 1 else -1]
        inside = {name: np.where(v <= limit, v, np.nan) for name, v in values.items()}
        found.append(Panel(str(order), x, tuple(Curve(name, v, v, v) for name, v in inside.items()), (), ()))
    return tuple(found)


def _along(rows: pd.DataFrame, x: FloatArray, column: str) -> FloatArray:
    return np.asarray(rows.set_index("domain_size")[column].reindex(x).to_numpy(dtype=np.float64))


def _draw_bounds(ax: Axes, rows: pd.DataFrame, x: FloatArray) -> None:
    first = rows.drop_duplicates("domain_size")
    for column, line in (("logarithm", style.DASHED), ("trace_bound", style.DOTTED)):
        values = _along(first, x, column)
        ax.plot(x, np.where(values >= 0.9, values, np.nan), color=style.GREY, linestyle=line, zorder=2)


def _bound_entries() -> list[curves.Entry]:
    from matplotlib.lines import Line2D

    lines = ((style.DASHED, LOGARITHM), (style.DOTTED, TRACE))
    return [(Line2D([], [], color=style.GREY, linestyle=line), name) for line, name in lines]


def words(title: str, text: str, frame: pd.DataFrame) -> captions.Words:
    """Caption and notes of the figure."""

    sizes, orders = sorted(set(frame["domain_size"])), sorted(set(frame["p"]))
    last = frame[frame["domain_size"] == sizes[-1]]
    told = [
        f"{labels.factorization_label(str(name))} {', '.join(f'{ratio:.3g}' for ratio in part['ratio_to_bound'])}"
        for name, part in last.groupby("factorization", sort=False)
    ]
    what = f"errors of order p against domain size n from {number(sizes[0])} to {number(sizes[-1])}"
    return captions.words(
        [captions.lead(title, what), text, f"Orders: {'; '.join(labels.order_label(order) for order in orders)}."],
        [
            "An error is the mean of order p over the n queries of R's row norms, times A's largest column norm.",
            f"Over the certified lower bound, at n = {number(sizes[-1])} and in this order of p: {'; '.join(told)}.",
            "A factorization far above all others leaves its panel; ln(n)/π is drawn from where it is near 1.",
        ],
    )
