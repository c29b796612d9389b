"""Figures of answers in memory: the users of a ranking, and the variances of a fitted mechanism."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from factormech.plots.canvas import empty_figure
from factormech.plots.style import BLACK, BLUE, GREY, WHITE, context

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Bars up to so many types or queries; a line beyond.
_BARS = 40
# Users that differ by more than this factor are drawn on a logarithmic axis.
_LOGARITHMIC = 20.0


def draw_ranking(ranking: Any) -> Figure:
    """Return the users that each mechanism needs as points, best on top, with the lower bound as a dashed line."""
    found = [one for one in ranking.mechanisms if one.status == "ok" and one.users > 0]
    rows = dict(zip((id(one) for one in found), range(len(found)), strict=True))
    with context():
        figure = empty_figure(6.0, 1.3 + 0.22 * max(len(found), 1))
        ax = figure.add_subplot()
        for pure, face, label in ((True, BLUE, "ε-private"), (False, WHITE, "δ > 0: the bound does not cover it")):
            kept = [one for one in found if (one.delta == 0.0) == pure]
            if kept:
                x, y = [one.users for one in kept], [rows[id(one)] for one in kept]
                ax.plot(x, y, "o", color=BLUE, markerfacecolor=face, label=label)
        if ranking.lower_bound > 0.0:
            ax.axvline(ranking.lower_bound, color=BLACK, linestyle="--", linewidth=1.0, label="lower bound")
        ax.set_yticks(range(len(found)), [one.label for one in found])
        ax.invert_yaxis()
        users = [one.users for one in found]
        if users and max(users) > _LOGARITHMIC * min(users):
            ax.set_xscale("log")
        else:
            ax.set_xlim(left=0.0)
        ax.set_xlabel("users")
        ax.set_title(ranking.title)
        figure.legend(loc="outside lower right", ncols=3, frameon=False)
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
            figure.legend(loc="outside lower right", frameon=False)
        ax.set_ylim(bottom=0.0)
        ax.set_xlabel({"type": "user type", None: "query"}.get(errors.index.name, str(errors.index.name)))
        local = fitted.mechanism.family == "local"
        ax.set_ylabel("variance that one user adds" if local else "variance of the release")
        ax.set_title(f"{fitted.mechanism.label}, {fitted.workload.name}, ε = {fitted.mechanism.epsilon:g}")
        figure.set_layout_engine("constrained")
    return figure
