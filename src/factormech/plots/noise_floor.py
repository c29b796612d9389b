"""The least noise on the line over ε, a curve per δ; Gaussian noise over it; and the δ that costs half of it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from factormech import labels
from factormech.arrays import FloatArray
from factormech.plots import axes as scales
from factormech.plots import captions, curves, style
from factormech.plots.style import Style
from factormech.studies import columns
from factormech.tables.panels import number

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw", "words"]

UNIT, INTERVAL = "unit", "interval"
LINES = {UNIT: style.SOLID, INTERVAL: style.DASHED}
NAMES = {UNIT: "one shift by 1 (whole counts)", INTERVAL: "every shift up to 1 (real counts)"}
TITLES = ("Least noise, ε·√V(ε, δ)", "Gaussian σ over √V", "Largest δ that leaves half of √V(ε, 0)")
# Where the ends are this near there is nothing to see between them.
SEEN = 1.01


def draw(frame: pd.DataFrame) -> Figure:
    """The figure of a table of least noise."""
    x = np.unique(frame["epsilon"].to_numpy(dtype=np.float64))
    looks = style.series_styles(frame["delta"], "δ")
    halves = frame.dropna(subset=["half_delta"]).drop_duplicates("epsilon").sort_values("epsilon")
    titles = TITLES if len(halves) else TITLES[:2]
    with style.context():
        figure, panels = curves.canvas(len(titles))
        for ax in panels:
            scales.prepare_scale(ax, x, "log")
        _draw_noise(panels[0], frame, looks)
        _draw_ratios(panels[1], frame, looks)
        if len(halves):
            values = halves["half_delta"].to_numpy(dtype=np.float64)
            _set_values(panels[2], values)
            panels[2].plot(halves["epsilon"], values, **style.as_drawn(style.plain(""), 3.4))
        curves.finish(
            figure,
            panels,
            titles,
            _entries(frame, looks),
            x_label=columns.meaning("epsilon").label,
            y_label="",
        )
    return figure


def _draw_noise(ax: Axes, frame: pd.DataFrame, looks: dict[float, Style]) -> None:
    _set_values(
        ax,
        (frame[["least_noise", "least_noise_upper"]].mul(frame["epsilon"], axis=0)).to_numpy(dtype=np.float64).ravel(),
    )
    for (delta, shifts), rows in _curves(frame):
        epsilon = rows["epsilon"].to_numpy(dtype=np.float64)
        low, high = (epsilon * rows[name].to_numpy(dtype=np.float64) for name in ("least_noise", "least_noise_upper"))
        look = replace(looks[delta], line=LINES[shifts])
        ax.plot(epsilon, np.where(low > 0.0, low, np.nan), clip_on=False, **_as_drawn(look, shifts))
        wide = high > SEEN * low
        ax.vlines(epsilon[wide], low[wide], high[wide], color=look.colour, linewidth=0.8)


def _draw_ratios(ax: Axes, frame: pd.DataFrame, looks: dict[float, Style]) -> None:
    rest = frame[np.isfinite(frame["ratio_to_bound"].astype("float64"))]
    scales.set_ratios(ax, float(rest["ratio_to_bound"].max()) if len(rest) else 1.0)
    for (delta, shifts), rows in _curves(rest):
        ax.plot(rows["epsilon"], rows["ratio_to_bound"], **_as_drawn(replace(looks[delta], line=LINES[shifts]), shifts))


def _curves(frame: pd.DataFrame) -> list[tuple[tuple[float, str], pd.DataFrame]]:
    keys = frame[["delta", "shifts"]].drop_duplicates().itertuples(index=False, name=None)
    return [
        (key, frame[(frame["delta"] == key[0]) & (frame["shifts"] == key[1])].sort_values("epsilon")) for key in keys
    ]


def _as_drawn(look: Style, shifts: str) -> dict[str, Any]:
    return style.as_drawn(look, 4.4 if shifts == UNIT else 0.0)


def _set_values(ax: Axes, values: FloatArray) -> None:
    ax.set_yscale("log")
    logs = np.log10(values[np.isfinite(values) & (values > 0.0)])
    room = 0.05 * float(logs.max() - logs.min()) or 0.2
    scales.set_values(ax, float(logs.min()) - room, float(logs.max()) + room)


def _entries(frame: pd.DataFrame, looks: dict[float, Style]) -> list[curves.Entry]:
    from matplotlib.lines import Line2D

    deltas = [(Line2D([], [], **_as_drawn(look, UNIT)), look.label) for look in looks.values()]
    lines = [
        (Line2D([], [], color=style.GREY, linestyle=LINES[shifts]), NAMES[shifts])
        for shifts in dict.fromkeys(frame["shifts"])
    ]
    return [*deltas, *lines]


def words(title: str, text: str, frame: pd.DataFrame) -> captions.Words:
    """Caption and notes of the figure."""

    x = sorted(set(frame["epsilon"]))
    deltas = ", ".join(labels.value_label("delta", delta) for delta in sorted(set(frame["delta"])))
    what = (
        "certified lower ends of √V, the least root mean square noise that hides a shift, times ε, against privacy "
        f"budget ε from {number(x[0])} to {number(x[-1])}, in the first panel"
    )
    second = "Second panel: the analytic Gaussian σ over √V, at δ > 0." if frame["ratio_to_bound"].notna().any() else ""
    third = "Third panel: up to this δ the bounds for one shift keep at least half of what δ = 0 gives."
    hidden = f"Hidden: {'; '.join(NAMES[shifts] for shifts in dict.fromkeys(frame['shifts']))}"
    return captions.words(
        [captions.lead(title, what), text, second, third * bool(frame["half_delta"].notna().any())],
        [_widest(frame), f"δ = {deltas}", hidden],
    )


def _widest(frame: pd.DataFrame) -> str:
    ratio = (frame["least_noise_upper"] / frame["least_noise"]).to_numpy(dtype=np.float64)
    widest = float(np.max(ratio))
    if not widest > SEEN:
        return f"The ends of √V differ by at most {100.0 * (widest - 1.0):.1g} %."
    return f"Bars: to the upper end of √V, where it is more than {100.0 * (SEEN - 1.0):.0f} % above the lower one."
