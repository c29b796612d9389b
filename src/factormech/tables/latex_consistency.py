"""A table of consistent estimates as LaTeX: for every workload, domain size, ε and data set one ``tabular``.

A row per mechanism and processing, a column per number of users: the error over that of the unprocessed estimates.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from factormech import labels
from factormech.tables import consistency
from factormech.tables.consistency_view import LABELS, Panel, View, view
from factormech.tables.latex_sample_complexity import EMPTY, capital, escape, note, row
from factormech.tables.panels import number

if TYPE_CHECKING:
    import pandas as pd


def typeset(frame: pd.DataFrame) -> str:
    """Errors after over errors before, mechanism by mechanism."""
    table = view(frame)
    return "\n".join(_tabular(panel, table) for panel in table.panels)


def _tabular(panel: Panel, table: View) -> str:
    head = [r"\textbf{" + escape(panel.title) + "}", *(f"$N = {number(n)}$" for n in table.users.tolist())]
    rows = [
        row([escape(f"{labels.mechanism_label(s.name)}, {LABELS[p]}"), *map(_ratio, s.by_processing[p].ratio.tolist())])
        for s in panel.series
        for p in (consistency.FREE, consistency.FIXED)
    ]
    what = f"error over that of the unprocessed estimates of the same collections, {table.trials} trials each"
    lines = [
        f"\\begin{{tabular}}{{l{'r' * len(table.users)}}}",
        "\\hline",
        row(head),
        "\\hline",
        *rows,
        "\\hline",
        "\\end{tabular}",
        *(note(capital(escape(text)) + ".") for text in (what, *table.missing)),
    ]
    return "\n".join(lines) + "\n"


def _ratio(value: float) -> str:
    return EMPTY if math.isnan(value) else f"{value:.3f}"
