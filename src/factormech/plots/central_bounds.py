"""Upper and lower error of a trusted curator over the size, a panel per workload or family, a colour per order p."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from factormech import labels
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

PLAIN_Y = "Error of all queries together, in counts, (E‖·‖ₚᵖ)^{1/p}, and (E‖·‖²_∞)^{1/2} at p = ∞"
# Norms whose ends are nearer than this are known.
CERTIFIED = 1e-3
UPPER, LOWER = "Factorization with Gaussian noise", "Lower bound √V·Γ"
EXTRAS = {
    "trace_lower": (style.DOTTED, "Trace bound (Theorem 3)"),
    "growth_scaled": (style.DASH_DOTTED, "Published growth, scaled to the last lower bound"),
}


def draw(frame: pd.DataFrame) -> Figure:
    """The figure of a table of central bounds, of workloads or of families."""
    groups = _groups(frame)
    x_name = "domain_size" if "domain_size" in frame else "size"
    looks = style.series_styles(frame["p"], "p")
    with style.context():
        figure, panels = curves.canvas(len(groups))
        for ax, (_, rows) in zip(panels, groups, strict=True):
            _draw_panel(ax, rows, x_name, looks)
        curves.finish(
            figure,
            panels,
            [title for title, _ in groups],
            _entries(frame, looks),
            x_label=f"{_x_label(frame)} ({_stated(frame)})",
            y_label="error of all queries together, in counts",
            notes=[_ratios(rows) for _, rows in groups],
        )
    return figure


def _groups(frame: pd.DataFrame) -> list[tuple[str, pd.DataFrame]]:
    """The rows of each panel: of a workload or family and, where there are several, a budget."""
    subject = "workload" if "workload" in frame else "family"
    several = len(frame[["epsilon", "delta"]].drop_duplicates()) > 1
    found = []
    for key, rows in frame.groupby([subject, "epsilon", "delta"], sort=False):
        title = labels.workload_label(str(key[0]))
        budget = f"ε = {labels.value_label('epsilon', key[1])}, δ = {labels.value_label('delta', key[2])}"
        found.append((f"{title} ({budget})" if several else title, rows))
    return found


def _draw_panel(ax: Axes, rows: pd.DataFrame, x_name: str, looks: dict[float, Style]) -> None:
    x = np.unique(rows[x_name].to_numpy(dtype=np.float64))
    scales.prepare_scale(ax, x, "log2")
    ax.set_yscale("log")
    shown = rows[["total_error", "lower_bound"]].to_numpy(dtype=np.float64)
    logs = np.log10(shown[shown > 0.0])
    room = 0.06 * float(logs.max() - logs.min()) or 0.2
    scales.set_values(ax, float(logs.min()) - room, float(logs.max()) + room)
    for p, part in rows.groupby("p"):
        part = part.sort_values(x_name)
        at, look = part[x_name].to_numpy(dtype=np.float64), looks[p]
        lower, upper = (part[name].to_numpy(dtype=np.float64) for name in ("lower_bound", "total_error"))
        ax.fill_between(at, lower, upper, color=look.colour, alpha=0.10, linewidth=0, zorder=1)
        ax.plot(at, upper, zorder=3, clip_on=False, **style.as_drawn(look, 4.4))
        ax.plot(at, lower, zorder=2.5, **style.as_drawn(replace(look, line=style.DASHED, marker=""), 0.0))
        for name, (line, _) in EXTRAS.items():
            if name in part:
                ax.plot(at, part[name], color=look.colour, linestyle=line, linewidth=0.9, zorder=2)


def _ratios(rows: pd.DataFrame) -> list[str]:
    """What is between the two, by p."""
    told = []
    for p, part in rows.groupby("p"):
        low, high = float(part["ratio_to_bound"].min()), float(part["ratio_to_bound"].max())
        span = f"{low:.3g}" if high <= 1.005 * low else f"{low:.3g}–{high:.3g}"
        told.append(f"{span} (p={labels.value_label('p', p)})")
    return [f"upper/lower {', '.join(told)}"]


def _x_label(frame: pd.DataFrame) -> str:
    if "domain_size" in frame:
        return columns.meaning("domain_size").label
    attributes = {name != "prefix" for name in frame["family"]}
    return {frozenset({True}): "attributes d", frozenset({False}): "types T"}.get(frozenset(attributes), "size T or d")


def _stated(frame: pd.DataFrame) -> str:
    """ε and δ, unless the panels say them, and the neighbours."""
    budgets = _budgets(frame)
    return f"{f'{budgets[0]}, ' * (len(budgets) == 1)}neighbours: ‖x − x'‖₁ ≤ 1"


def _budgets(frame: pd.DataFrame) -> list[str]:
    pairs = frame[["epsilon", "delta"]].drop_duplicates().itertuples(index=False, name=None)
    return [f"ε = {labels.value_label('epsilon', e)}, δ = {labels.value_label('delta', d)}" for e, d in pairs]


def _entries(frame: pd.DataFrame, looks: dict[float, Style]) -> list[curves.Entry]:
    from matplotlib.lines import Line2D

    found: list[curves.Entry] = [(Line2D([], [], **style.as_drawn(look, 4.4)), look.label) for look in looks.values()]
    found.append((Line2D([], [], color=style.GREY, linestyle=style.SOLID), UPPER))
    found.append((Line2D([], [], color=style.GREY, linestyle=style.DASHED), LOWER))
    for name, (line, label) in EXTRAS.items():
        if name in frame:
            found.append((Line2D([], [], color=style.GREY, linestyle=line), label))
    return found


def words(title: str, text: str, frame: pd.DataFrame) -> captions.Words:
    """Caption and notes of the figure."""

    x = sorted(set(frame["domain_size" if "domain_size" in frame else "size"]))
    what = f"{PLAIN_Y}, against {_x_label(frame)} from {number(x[0])} to {number(x[-1])}"
    return captions.words(
        [
            captions.lead(title, what),
            text,
            f"Solid: {UPPER[:1].lower()}{UPPER[1:]}, {_factors(frame)}.",
            "Dashed: √V(ε, δ)·Γ, which every mechanism has at least on some data.",
            f"Settings: {' and '.join(_budgets(frame))}",
        ],
        [
            "At p = ∞ the solid curve is σ√(2 ln k + 2)·Γ, which bounds the error.",
            "Noise that does not depend on the data has the dashed error or more on all data.",
            "Neighbours differ by 1 in one count.",
            *_extras(frame),
            *(f"{title}: {_ratios(rows)[0]}." for title, rows in _groups(frame)),
        ],
    )


def _factors(frame: pd.DataFrame) -> str:
    """Whose factors the solid curve has: the optimal ones, or those of a bracket where a norm is known to lie."""
    known = bool((frame["scaled_norm_upper"] <= (1 + CERTIFIED) * frame["scaled_norm_lower"]).all())
    return "optimal factors" if known else "factors of the upper end of a published bracket of Γ"


def _extras(frame: pd.DataFrame) -> list[str]:
    names = {style.DOTTED: "dotted", style.DASH_DOTTED: "dash-dotted"}
    return [f"{label}: {names[line]}." for name, (line, label) in EXTRAS.items() if name in frame]
