"""A table of sample complexities on data sets as LaTeX: for every workload, domain size and ε one ``tabular``.

A row per mechanism and, last, the strongest lower bound; a column per data set, and one with the most users over the
fewest."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from factormech import labels
from factormech.tables.latex_sample_complexity import EMPTY, capital, escape, note, row, significant
from factormech.tables.on_data_view import Panel, View, view

if TYPE_CHECKING:
    import pandas as pd


def typeset(frame: pd.DataFrame) -> str:
    """Users needed on each data set, mechanism by mechanism."""
    table = view(frame)
    return "\n".join(_tabular(panel, table) for panel in table.panels)


def _tabular(panel: Panel, table: View) -> str:
    head = [r"\textbf{" + escape(panel.title) + "}", *(escape(labels.data_label(d)) for d in table.data), "most/fewest"]
    rows = [
        row([escape(labels.mechanism_label(s.name)), *map(_number, s.middle.tolist()), _ratio(table.spread(s))])
        for s in panel.series
    ]
    bound = row(["Strongest lower bound", *map(_number, panel.bound.tolist()), ""])
    seeds = f", medians over {table.seeds} seeds" if table.seeds > 1 else ""
    what = f"users needed for {labels.accuracy(table.metric, table.alpha)}{seeds}; most over fewest of the data sets"
    lines = [
        f"\\begin{{tabular}}{{l{'r' * (len(head) - 1)}}}",
        "\\hline",
        row(head),
        "\\hline",
        *rows,
        "\\hline",
        bound,
        "\\hline",
        "\\end{tabular}",
        *(note(capital(escape(text)) + ".") for text in (what, *table.missing)),
    ]
    return "\n".join(lines) + "\n"


def _number(value: float) -> str:
    return EMPTY if math.isnan(value) else significant(value)


def _ratio(value: float) -> str:
    return EMPTY if math.isnan(value) else f"{value:.3f}"
