"""Figures of answers in memory: the users of a ranking, and the variances of a fitted mechanism."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from factormech.figures.canvas import empty_figure
from factormech.figures.style import BLACK, BLUE, GREY, context

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Bars up to so many types or queries; a line beyond.
_BARS = 40
# Users that differ by more than this factor are drawn on a logarithmic axis.
_LOGARITHMIC = 20.0


def draw_ranking(ranking: Any) -> Figure:
    """Return the users that each mechanism needs as bars, best on top, with the lower bound as a dashed line."""
    found = [one for one in ranking.mechanisms if one.status == "ok" and one.users > 0]
    with context():
        figure = empty_figure(6.0, 0.9 + 0.24 * max(len(found), 1))
        ax = figure.add_subplot()
        ax.barh([one.label for one in found], [one.users for one in found], color=BLUE, height=0.7)
        ax.invert_yaxis()
        if ranking.lower_bound > 0.0:
            ax.axvline(ranking.lower_bound, color=BLACK, linestyle="--", linewidth=1.0, label="lower bound")
            ax.legend(loc="lower right", frameon=False)
        users = [one.users for one in found]
        if users and max(users) > _LOGARITHMIC * min(users):
            ax.set_xscale("log")
        ax.set_xlabel("users")
        ax.set_title(ranking.title)
        figure.set_layout_engine("constrained")
    return figure


def draw_errors(fitted: Any) -> Figure:
    """Return the variances of a fitted mechanism by user type or query, with the lower bound where there is one."""
    errors = fitted.errors
    variance, low, high = (errors[name].to_numpy(dtype=float) for name in ("variance", "low", "high"))
    x = np.arange(len(errors))
    with context():
        figure = empty_figure(6.0, 3.4)
        ax = figure.add_subplot()
        if len(errors) <= _BARS:
            ax.bar(x, variance, color=BLUE, width=0.7)
            ax.set_xticks(x, [str(name) for name in errors.index], rotation=0 if len(errors) <= 12 else 90)
        else:
            ax.plot(x, variance, color=BLUE)
        if np.any(high > low):
            ax.vlines(x, low, high, color=GREY, linewidth=1.0)
        if math.isfinite(fitted.lower_bound) and fitted.lower_bound > 0.0:
            label = "lower bound on the worst variance"
            ax.axhline(fitted.lower_bound, color=BLACK, linestyle="--", linewidth=1.0, label=label)
            ax.legend(loc="lower right", frameon=False)
        ax.set_ylim(bottom=0.0)
        ax.set_xlabel({"type": "user type", None: "query"}.get(errors.index.name, str(errors.index.name)))
        ax.set_ylabel("variance")
        ax.set_title(f"{fitted.mechanism.label}, {fitted.workload.name}, ε = {fitted.mechanism.epsilon:g}")
        figure.set_layout_engine("constrained")
    return figure
