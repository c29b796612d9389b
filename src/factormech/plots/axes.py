"""Scales, limits and ticks of a panel with a logarithmic vertical axis."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from factormech.arrays import FloatArray
from factormech.plots import form, style
from factormech.tables.panels import Panel, number

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# A panel shows at least one decade, and bounds down to this many decades below the lowest mechanism.
LEAST_DECADES, DECADES_BELOW = 1.0, 1.0
MARGIN, X_MARGIN = 0.06, 0.04
MOST_LABELS, FEWEST_LABELS = 6, 4
# Labels within a decade, from few to many; labels are this share of the axis apart.
LABEL_STEP = 0.09
_MULTIPLES = (
    (1,),
    (1, 3),
    (1, 2, 5),
    (1, 1.5, 2, 3, 5, 7),
    (1, 1.2, 1.4, 1.6, 1.8, 2, 2.5, 3, 3.5, 4, 5, 6, 7, 8, 9),
    tuple(k / 10 for k in range(10, 100)),
)
# An axis of multiples of a lower bound reaches this far at least; its labels are this share of it apart.
LEAST_RATIO, RATIO_STEP = 1.02, 0.13
# An axis of values whose largest is so many times the least is logarithmic.
MAGNITUDES = 50.0
# With a single x, the curves stand side by side up to this far from it.
SINGLE_SPREAD = 0.8


def prepare(ax: Axes, panel: Panel, axis: str) -> None:
    """Scales, limits and ticks for what a panel shows."""
    prepare_x(ax, panel.x, axis)
    ax.set_yscale("log")
    bottom, top = limits(panel)
    set_decades(ax, bottom, top)


def limits(panel: Panel) -> tuple[float, float]:
    """log₁₀ of the vertical limits: all mechanisms, and the bounds as far as they are near them."""
    shown = _logs([values for c in panel.curves for values in (c.positive().low, c.positive().high)])
    bounds = _logs([panel.strongest_bound(), *(bound.positive().middle for bound in panel.bounds)])
    if not shown.size:
        shown = bounds if bounds.size else np.zeros(1)
    low = max(min(shown.min(), bounds.min(initial=np.inf)), shown.min() - DECADES_BELOW)
    high = max(shown.max(), bounds.max(initial=-np.inf))
    missing = max(LEAST_DECADES - (high - low), 0.0)
    low, high = low - missing / 2, high + missing / 2
    return float(low - MARGIN * (high - low)), float(high + MARGIN * (high - low))


def set_decades(ax: Axes, bottom: float, top: float) -> None:
    """Set the vertical limits to 10^bottom and 10^top, with few and round labels."""
    from matplotlib.ticker import FixedFormatter, FixedLocator, NullFormatter

    ax.set_ylim(10**bottom, 10**top)
    ticks = [(k, m) for k, m in _ticks(bottom, top) if bottom <= k + math.log10(m) <= top]
    ax.yaxis.set_major_locator(FixedLocator([m * 10.0**k for k, m in ticks]))
    ax.yaxis.set_major_formatter(FixedFormatter([_power(k, m) for k, m in ticks]))
    decades = range(math.floor(bottom), math.ceil(top)) if top - bottom < 8 else range(0)
    ax.yaxis.set_minor_locator(FixedLocator([m * 10.0**k for k in decades for m in range(2, 10)]))
    ax.yaxis.set_minor_formatter(NullFormatter())


def set_ratios(ax: Axes, largest: float) -> None:
    """A logarithmic axis for multiples of a lower bound: from 1, which is a line, to a little above ``largest``."""
    ax.set_yscale("log")
    reach = max(math.log10(largest), math.log10(LEAST_RATIO)) * (1.0 + 1.5 * MARGIN)
    # A little room below 1, so that what is optimal is seen whole.
    set_ratio_limits(ax, -MARGIN * reach, reach)
    ax.axhline(1.0, zorder=1, **style.ONE)


def set_ratio_limits(ax: Axes, bottom: float, top: float) -> None:
    """Set the vertical limits to 10^bottom and 10^top, with labels at round multiples from 1."""
    from matplotlib.ticker import FixedFormatter, FixedLocator, NullFormatter

    ax.set_ylim(10**bottom, 10**top)
    near = [1.005, 1.01, 1.02, 1.05, 1.1, 1.2, 1.3, 1.5]
    far = [m * 10.0**k for k in range(math.ceil(top) + 1) for m in (2, 3, 5, 10)]
    ticks = [1.0]
    for tick in near + far:
        if math.log10(tick) <= top and math.log10(tick / ticks[-1]) >= RATIO_STEP * top:
            ticks.append(tick)
    ax.yaxis.set_major_locator(FixedLocator(ticks))
    ax.yaxis.set_major_formatter(FixedFormatter([_ratio(tick) for tick in ticks]))
    ax.yaxis.set_minor_locator(FixedLocator([]))
    ax.yaxis.set_minor_formatter(NullFormatter())


def set_values(ax: Axes, bottom: float, top: float) -> None:
    """Set the limits of a logarithmic axis to 10^bottom and 10^top, with plain labels at round values."""
    from matplotlib.ticker import FixedFormatter, FixedLocator, NullFormatter

    if top - bottom > 3.0:
        set_decades(ax, bottom, top)
        return
    ax.set_ylim(10**bottom, 10**top)
    decades = range(math.floor(bottom), math.ceil(top) + 1)
    for multiples in _MULTIPLES:
        ticks = [m * 10.0**k for k in decades for m in multiples if 10**bottom <= m * 10.0**k <= 10**top]
        if len(ticks) >= FEWEST_LABELS:
            break
    ticks = _spaced(ticks, LABEL_STEP * (top - bottom))
    ax.yaxis.set_major_locator(FixedLocator(ticks))
    ax.yaxis.set_major_formatter(FixedFormatter([f"{tick:g}" for tick in ticks]))
    ax.yaxis.set_minor_locator(FixedLocator([]))
    ax.yaxis.set_minor_formatter(NullFormatter())


def set_linear(ax: Axes, bottom: float, top: float) -> None:
    """Limits and ticks of a linear axis, all inside."""
    from matplotlib.ticker import MaxNLocator

    ax.set_ylim(bottom, top)
    ticks = [t for t in MaxNLocator(MOST_LABELS, steps=[1, 2, 5, 10]).tick_values(bottom, top) if bottom <= t <= top]
    ax.set_yticks(ticks, [f"{tick:.6g}" for tick in ticks])


def _spaced(ticks: list[float], step: float) -> list[float]:
    """From the lowest on, the ticks that are at least ``step`` decades above the last one kept."""
    kept = ticks[:1]
    for tick in ticks[1:]:
        if math.log10(tick / kept[-1]) >= step:
            kept.append(tick)
    return kept


def _ratio(value: float) -> str:
    exponent = math.floor(math.log10(value) + 1e-9)
    return f"{value:g}" if value < 10000 else _power(exponent, round(value / 10.0**exponent))


def half_gap(x: FloatArray) -> float:
    """Half of the least distance of two neighbours on a logarithmic axis, in decades."""
    return 0.5 * float(np.diff(np.log10(x)).min(initial=np.inf if len(x) > 1 else 1.0))


def thin_labels(ax: Axes, renderer: Any) -> None:
    """Blank the labels below the axis that would touch the next one, from the right; their ticks remain."""
    labels = [label for label in ax.get_xticklabels() if label.get_text()]
    boxes = [label.get_window_extent(renderer) for label in labels]
    # Upright names may stand closer than numbers.
    gap = 0.0 if not boxes or labels[0].get_rotation() else 0.25 * boxes[0].height
    kept = list(range(len(labels)))[-1:]
    for i in reversed(range(len(labels) - 1)):
        if boxes[i].x1 + gap <= boxes[kept[-1]].x0:
            kept.append(i)
    texts = [label.get_text() if i in kept else "" for i, label in enumerate(labels)]
    if len(kept) < len(labels):
        ax.set_xticks(ax.get_xticks(), texts)


def prepare_scale(ax: Axes, x: FloatArray, scale: str, axis: str = "") -> None:
    """Limits and ticks of what varies, on a ``linear`` or ``log`` scale, or ``log2``, which labels every value.

    The scale ``auto`` is that of the axis of this name (:func:`prepare_x`).
    """
    if scale == "auto":
        prepare_x(ax, x, axis)
    elif scale == "log" and len(x) > 1:
        _prepare_log(ax, x)
    else:
        prepare_x(ax, x, "domain_size" if scale == "log2" else "")


def _prepare_log(ax: Axes, x: FloatArray) -> None:
    """Label decades; multiples of them where there are fewer than three; the given values, between two of these."""
    from matplotlib.ticker import FixedFormatter, FixedLocator, NullFormatter

    logs = np.log10(x)
    margin = X_MARGIN * (logs[-1] - logs[0])
    low, high = float(logs[0] - margin), float(logs[-1] + margin)
    ax.set_xscale("log")
    ax.set_xlim(10**low, 10**high)
    decades = range(math.floor(low), math.ceil(high) + 1)
    step = max(1, math.ceil((high - low) / MOST_LABELS))
    powers = [k for k in decades if k % step == 0 and low <= k <= high]
    if len(powers) > 2:
        ticks = [10.0**k for k in powers]
        plain = powers[0] >= -3 and powers[-1] <= 3
        names = [f"{tick:g}" if plain else _power(k, 1) for k, tick in zip(powers, ticks, strict=True)]
    else:
        ticks = [m * 10.0**k for k in decades for m in (1, 2, 5) if 10**low <= m * 10.0**k <= 10**high]
        ticks = ticks if len(ticks) > 1 else x.tolist()
        names = [f"{tick:g}" for tick in ticks]
    ax.set_xticks(ticks, names)
    ax.xaxis.set_major_formatter(FixedFormatter(names))
    ax.xaxis.set_minor_locator(FixedLocator(x.tolist()))
    ax.xaxis.set_minor_formatter(NullFormatter())


def prepare_names(ax: Axes, names: Sequence[str]) -> None:
    """Names along the axis, upright, at 0, 1, 2 …"""
    from matplotlib.ticker import NullLocator

    ax.set_xlim(-0.5, len(names) - 0.5)
    ax.set_xticks(range(len(names)), names, rotation=90, fontsize=form.small_size())
    ax.xaxis.set_minor_locator(NullLocator())


def prepare_x(ax: Axes, x: FloatArray, axis: str) -> None:
    """Limits and ticks of what varies: powers of two for sizes, a logarithmic axis for values of many magnitudes."""
    from matplotlib.ticker import FixedLocator, MaxNLocator, NullLocator

    if len(x) == 1:
        ax.set_xlim(x[0] - 1, x[0] + 1)
        ax.set_xticks(x, [_size(x[0])])
        ax.grid(visible=False, axis="x")
        return
    if axis in ("domain_size", "row_factor", "coordinates"):
        ax.set_xscale("log", base=2)
        logs = np.log2(x)
        margin = X_MARGIN * (logs[-1] - logs[0])
        ax.set_xlim(2 ** (logs[0] - margin), 2 ** (logs[-1] + margin))
        ax.set_xticks(x, [_size(value) for value in x])
        ax.xaxis.set_minor_locator(NullLocator())
        return
    if x[0] > 0 and x[-1] >= MAGNITUDES * x[0]:
        _prepare_log(ax, x)
        return
    margin = X_MARGIN * (x[-1] - x[0])
    ax.set_xlim(x[0] - margin, x[-1] + margin)
    steps = [
        t for t in MaxNLocator(6, steps=[1, 2, 5, 10]).tick_values(x[0], x[-1]) if x[0] - margin <= t <= x[-1] + margin
    ]
    ax.set_xticks(steps, [f"{t:.6g}" for t in steps])
    ax.xaxis.set_minor_locator(FixedLocator(x.tolist()))


def _ticks(bottom: float, top: float) -> list[tuple[int, int]]:
    """Exponent and multiple of each labelled tick: every decade, or fewer if many, or 1-2-5 if hardly two."""
    decades = range(math.floor(bottom), math.ceil(top) + 1)
    if top - bottom < 1.6 or math.floor(top) <= math.ceil(bottom):
        return [(k, m) for k in decades for m in (1, 2, 5)]
    step = max(1, math.ceil((top - bottom) / MOST_LABELS))
    return [(k, 1) for k in decades if k % step == 0]


def _power(k: int, m: int) -> str:
    return f"$10^{{{k}}}$" if m == 1 else rf"${m}{{\times}}10^{{{k}}}$"


def _size(value: float) -> str:
    """A parameter as a tick label; large powers of two as such."""
    exponent = math.log2(value)
    if value >= 8192 and exponent.is_integer():
        return f"$2^{{{int(exponent)}}}$"
    return number(value)


def _logs(values: list[FloatArray]) -> FloatArray:
    flat = np.concatenate([np.asarray(v, dtype=np.float64).ravel() for v in values]) if values else np.zeros(0)
    return np.asarray(np.log10(flat[np.isfinite(flat) & (flat > 0)]))
