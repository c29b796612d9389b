"""Random starts as LaTeX: a row per mechanism and number of rows, a column per workload."""

from __future__ import annotations

from typing import TYPE_CHECKING

from factormech import labels
from factormech.tables.latex_gaps import ratio, without_ratio
from factormech.tables.latex_sample_complexity import EMPTY, escape, note, row

if TYPE_CHECKING:
    import pandas as pd


def typeset(frame: pd.DataFrame) -> str:
    """Median and, in parentheses, least and largest ratio over the starts; then the spread of the worst case."""
    workloads = list(dict.fromkeys(frame["workload"]))
    rows = []
    for mechanism, part in frame.groupby("mechanism", sort=False):
        if not (part["status"] == "ok").any():
            continue  # its note says why
        rows.append(row([escape(labels.mechanism_label(str(mechanism))), *[""] * len(workloads)]))
        for factor, starts in part.groupby("row_factor"):
            cells = [_cell(starts.loc[starts["workload"] == w, "ratio"].dropna()) for w in workloads]
            rows.append(row([rf"\quad $m={factor}n$", *cells]))
        spread = [_spread(part.loc[part["workload"] == w, "worst_variance"].dropna()) for w in workloads]
        rows.append(row([r"\quad worst case, largest over least", *spread]))
    starts = frame["start"].nunique()
    lines = [
        f"\\begin{{tabular}}{{l{'r' * len(workloads)}}}",
        "\\hline",
        row(["Rows of the start", *(escape(labels.workload_label(w)) for w in workloads)]),
        "\\hline",
        *rows,
        "\\hline",
        "\\end{tabular}",
        note(
            f"Average variance over the strongest lower bound on that of every {escape('ε')}-LDP strategy: median "
            f"(least to largest) over {starts} random starts. Last: the largest worst-case variance over the least, "
            "over all starts and numbers of rows."
        ),
        *(note(escape(text)) for text in without_ratio(frame)),
    ]
    return "\n".join(lines) + "\n"


def _cell(ratios: pd.Series[float]) -> str:
    if ratios.empty:
        return EMPTY
    return f"{ratio(ratios.median())} ({ratio(ratios.min())} to {ratio(ratios.max())})"


def _spread(variances: pd.Series[float]) -> str:
    return EMPTY if variances.empty or variances.min() <= 0 else ratio(variances.max() / variances.min())
