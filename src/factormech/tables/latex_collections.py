"""A table of simulated collections as LaTeX: one ``tabular``, a row per mechanism, and the verdict below it.

Columns are the points measured, those refused or unavailable, the largest |z|, the smallest p-value of mean error and
bias (of a single comparison), and the mean of measured over exact.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

from factormech import labels
from factormech.tables.collected import Line, view
from factormech.tables.latex_sample_complexity import EMPTY, capital, escape, note, row, significant
from factormech.tables.verdict import level_text, verdict_text

if TYPE_CHECKING:
    import pandas as pd

HEADER = ("Mechanism", "points", "refused/unavailable", "worst $|z|$", "smallest $p$", "mean ratio")


def typeset(frame: pd.DataFrame) -> str:
    """The agreement of measured with exact errors, mechanism by mechanism."""
    table = view(frame)
    what = (
        f"measured over exact errors of simulated collections, {table.trials} trials each; intervals at level "
        f"{level_text(table.level)}"
    )
    notes = [what, verdict_text(table.verdict), *table.misses, *table.missing]
    lines = [
        f"\\begin{{tabular}}{{l{'r' * (len(HEADER) - 1)}}}",
        "\\hline",
        row(HEADER),
        "\\hline",
        *(row(_cells(line)) for line in table.lines),
        "\\hline",
        "\\end{tabular}",
        *(note(capital(escape(text)) + ".") for text in notes),
    ]
    return "\n".join(lines) + "\n"


def _cells(line: Line) -> list[str]:
    absent = f"{line.refused}/{line.unavailable}" if line.refused or line.unavailable else "0"
    numbers = (
        _number(line.worst_z, "{:.2f}".format),
        _number(line.smallest_p, significant),
        _number(line.mean_ratio, "{:.4f}".format),
    )
    return [escape(labels.mechanism_label(line.mechanism)), str(line.points), absent, *numbers]


def _number(value: float, form: Callable[[float], str]) -> str:
    return EMPTY if math.isnan(value) else form(value)
