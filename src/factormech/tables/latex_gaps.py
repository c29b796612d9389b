"""Optimality gaps as LaTeX: a row per mechanism, a column per workload, with median and largest ratio to the bound."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from factormech import labels
from factormech.tables.latex_sample_complexity import EMPTY, escape, note, row
from factormech.tables.panels import told

if TYPE_CHECKING:
    import pandas as pd


def typeset(frame: pd.DataFrame) -> str:
    """Median and, in parentheses, largest average variance over the strongest lower bound; then the worst case."""
    from factormech.measure.gaps import summary

    found = summary(frame).set_index(["mechanism", "workload"]).to_dict("index")
    workloads = list(dict.fromkeys(frame["workload"]))
    mechanisms = list(dict.fromkeys(frame["mechanism"]))
    rows = []
    for mechanism in mechanisms:
        cells = [found[mechanism, workload] for workload in workloads]
        median = [_pair(cell["median"], cell["largest"]) for cell in cells]
        rows.append(row([escape(labels.mechanism_label(mechanism)), *median]))
        rows.append(row([r"\quad worst case", *(ratio(cell["worst"]) for cell in cells)]))
    names = ", ".join(escape(labels.bound_label(name)) for name in dict.fromkeys(frame["bound_name"]))
    lines = [
        f"\\begin{{tabular}}{{l{'r' * len(workloads)}}}",
        "\\hline",
        row(["Mechanism", *(escape(labels.workload_label(w)) for w in workloads)]),
        "\\hline",
        *rows,
        "\\hline",
        "\\end{tabular}",
        note(
            "Average variance over the strongest lower bound on that of every "
            f"{escape('ε')}-LDP strategy: median (largest) over {_points(frame)}; below, the largest worst-case "
            f"variance over the same bound. Bounds: {names}."
        ),
        *(note(escape(text)) for text in without_ratio(frame)),
    ]
    return "\n".join(lines) + "\n"


def ratio(value: float) -> str:
    """A multiple of a bound: 1.004, 1.23, 12.3, 123; never rounded to 1 from above 1.0005."""
    if math.isnan(value):
        return EMPTY
    digits = 3 if value < 1.1 else max(2 - int(math.log10(value)), 0)
    return f"{value:.{digits}f}"


def _pair(median: float, largest: float) -> str:
    return EMPTY if math.isnan(median) else f"{ratio(median)} ({ratio(largest)})"


def _points(frame: pd.DataFrame) -> str:
    epsilons, sizes = (sorted(set(frame[c])) for c in ("epsilon", "domain_size"))
    counts = [f"{len(values)} {what}" for values, what in ((epsilons, "budgets"), (sizes, "domain sizes"))]
    several = [text for text, values in zip(counts, (epsilons, sizes), strict=True) if len(values) > 1]
    return " and ".join(several) or "one point"


def without_ratio(frame: pd.DataFrame) -> list[str]:
    """What has no ratio, and why: a sentence for each mechanism and status."""
    gone = frame[frame["status"] != "ok"].groupby(["mechanism", "status"], sort=False)
    return [
        f"{labels.mechanism_label(str(mechanism))}: {len(part)} without a ratio ({status}: "
        f"{'; '.join(told(part['reason'].tolist()))})."
        for (mechanism, status), part in gone
    ]
