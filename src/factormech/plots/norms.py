"""Norms between certified ends, a panel per workload, over the domain size or the error α.

The ends of an exact norm are a few millionths apart and look like one line. Crosses are closed forms, a band a
published interval; the dashed grey line is the trace bound or, where α varies, the upper half of the sandwich.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from factormech import labels
from factormech.arrays import FloatArray
from factormech.plots import axes as scales
from factormech.plots import captions, curves, style
from factormech.studies import columns
from factormech.tables.norm_view import Asked, NormPanel, NormView, norm_view
from factormech.tables.panels import number

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw", "words"]

CLOSED = "closed form"
Y_LABEL, TOTAL = "norm", "Γ = k^(1/p)·γ₍ₚ₎(W)"
TRACE, SANDWICH = "Trace bound ‖W‖⁎/√(kN)", "2γ̂₂(W, α) + 1 + α"
# The margin of an axis as a share of what is shown, and the least that is shown.
MARGIN, LEAST_DECADES = 0.08, 0.25


def draw(frame: pd.DataFrame, *, totals: bool = False) -> Figure:
    """The figure of a table of norms (:mod:`factormech.tables.norms`)."""
    table = norm_view(in_total(frame) if totals else frame)
    looks = style.norm_styles(table.asked)
    if totals:
        looks = {key: replace(look, label=f"{_factor(key[0])}{look.label}") for key, look in looks.items()}
    sizes = _sizes(table)
    with style.context():
        figure, panels = curves.canvas(len(table.panels))
        for ax, panel in zip(panels, table.panels, strict=True):
            scales.prepare_x(ax, panel.x, table.axis)
            _set_height(ax, panel, table.axis)
            for i, (asked, curve) in enumerate(panel.curves.items()):
                _draw_curve(ax, panel.x, curve.low, curve.high, {**style.as_drawn(looks[asked], sizes[asked])}, i)
            _draw_known(ax, panel)
        curves.finish(
            figure,
            panels,
            [labels.workload_label(panel.workload) for panel in table.panels],
            [*_entries(table, looks, sizes), *_extra_entries(table)],
            x_label=columns.meaning(table.axis).label,
            y_label=TOTAL if totals else Y_LABEL,
            footer=_missing(table),
        )
    return figure


def in_total(frame: pd.DataFrame) -> pd.DataFrame:
    """The table with k^{1/p} times each norm of order p; the trace bound, which has no order, is left out."""
    factors = frame["queries"].astype("float64") ** [1.0 / order_of(name) for name in frame["norm"]]
    ends = {name: frame[name] * factors for name in ("lower", "upper", "known_lower", "known_upper")}
    return frame.assign(**ends, trace_bound=np.nan)


def order_of(norm: str) -> float:
    """The order p of a norm γ₍ₚ₎: 2 for γ_F, and ∞ for γ₂ and its approximations."""
    return 2.0 if norm == "gamma-f" else float(norm.removeprefix("gamma-p")) if norm.startswith("gamma-p") else np.inf


def _factor(norm: str) -> str:
    order = order_of(norm)
    return "" if np.isinf(order) else "√k·" if order == 2.0 else f"k^(1/{order:g})·"


def _sizes(table: NormView) -> dict[Asked, float]:
    spaced = np.linspace(curves.LARGEST_MARKER, curves.SMALLEST_MARKER, len(table.asked)).tolist()
    return dict(zip(table.asked, spaced, strict=True))


def _draw_curve(ax: Axes, x: FloatArray, low: FloatArray, high: FloatArray, look: dict[str, Any], place: int) -> None:
    ax.fill_between(x, low, high, color=look["color"], alpha=0.3, linewidth=0, zorder=2)
    ax.plot(x, high, zorder=3 + 0.01 * place, clip_on=False, **look)


def _draw_known(ax: Axes, panel: NormPanel) -> None:
    for fact in panel.known:
        if fact.name == CLOSED:
            ax.plot(panel.x, fact.upper, zorder=4, clip_on=False, **_cross())
        else:
            ax.fill_between(panel.x, fact.lower, fact.upper, color=style.BAND, linewidth=0, zorder=1)
    for values in (panel.trace, panel.sandwich):
        if np.isfinite(values).any():
            ax.plot(panel.x, values, color=style.GREY, linestyle=style.DASHED, zorder=1.5)


def _cross() -> dict[str, Any]:
    return {"color": style.BLACK, "marker": "+", "markersize": 7.5, "linestyle": "", "markeredgewidth": 0.6}


def _set_height(ax: Axes, panel: NormPanel, axis: str) -> None:
    """A logarithmic axis over domain sizes; one from 0 over α, where norms vanish."""
    shown = [values for curve in panel.curves.values() for values in (curve.low, curve.high)]
    shown += [panel.trace, panel.sandwich, *(values for fact in panel.known for values in (fact.lower, fact.upper))]
    every = np.concatenate(shown)
    every = every[np.isfinite(every)]
    if axis == "entry_error" or not every.size or every.min() <= 0.0:
        top = float(every.max(initial=0.0)) or 1.0
        scales.set_linear(ax, -MARGIN * top / 2, (1.0 + MARGIN) * top)
        return
    ax.set_yscale("log")
    low, high = np.log10(every.min()), np.log10(every.max())
    room = max(MARGIN * (high - low), 0.5 * (LEAST_DECADES - (high - low)))
    scales.set_values(ax, float(low - room), float(high + room))


def _entries(table: NormView, looks: dict[Asked, style.Style], sizes: dict[Asked, float]) -> list[curves.Entry]:
    from matplotlib.lines import Line2D

    return [(Line2D([], [], **style.as_drawn(looks[key], sizes[key])), looks[key].label) for key in table.asked]


def _extra_entries(table: NormView) -> list[curves.Entry]:
    """Return the legend's entries for what is drawn beside the norms."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    names = {fact.name for panel in table.panels for fact in panel.known}
    found: list[curves.Entry] = []
    if CLOSED in names:
        found.append((Line2D([], [], **_cross()), "Closed form"))
    found += [(Patch(color=style.BAND), f"Interval ({name})") for name in sorted(names - {CLOSED})]
    dashed = Line2D([], [], color=style.GREY, linestyle=style.DASHED)
    found += [(dashed, name) for name in _dashed(table)]
    return found


def _dashed(table: NormView) -> list[str]:
    """Return the label of the dashed line, which depends on the axis."""
    traces = any(np.isfinite(panel.trace).any() for panel in table.panels)
    sandwiches = any(np.isfinite(panel.sandwich).any() for panel in table.panels)
    return [TRACE] * traces + [SANDWICH] * sandwiches


def _missing(table: NormView) -> list[str]:
    return [
        f"{labels.workload_label(panel.workload)}: {labels.norm_label(norm)} missing — {'; '.join(reasons)}"
        for panel in table.panels
        for norm, reasons in panel.missing.items()
    ]


def words(title: str, text: str, frame: pd.DataFrame, *, totals: bool = False) -> captions.Words:
    """Caption and notes of the figure."""
    table = norm_view(in_total(frame) if totals else frame)
    x = np.unique(np.concatenate([panel.x for panel in table.panels]))
    varied = "error α of every entry" if table.axis == "entry_error" else "domain size n"
    fixed = f", with n = {number(table.fixed)}" if table.axis == "entry_error" else ""
    widest = float((frame["upper"] / frame["lower"] - 1.0).where(frame["lower"] > 0).max())
    names = "; ".join(labels.workload_label(panel.workload) for panel in table.panels)
    across = f"from {number(x[0])} to {number(x[-1])}{fixed}"
    what = f"{TOTAL if totals else 'norms'} against {varied} {across}; workloads: {names}"
    return captions.words(
        [
            captions.lead(title, what),
            text,
            "Both ends of every norm hold in exact arithmetic"
            + (f"; the widest interval is {widest:.0e} of its lower end." if np.isfinite(widest) else "."),
        ],
        [*(f"Dashed: {name}" for name in _dashed(table)), *_missing(table)],
    )
