"""Norms as LaTeX: per workload a row per norm, a column per domain size or α; or one table over all workloads."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from factormech import labels
from factormech.tables.latex_sample_complexity import EMPTY, escape, note, row
from factormech.tables.norm_view import Asked, NormPanel, NormView, norm_view
from factormech.tables.panels import number

if TYPE_CHECKING:
    import pandas as pd

_NORMS = {
    "gamma-2": r"$\gamma_2(W)$",
    "gamma-f": r"$\gamma_F(W)$",
    "gamma-2-approximate": r"$\gamma_2(W, \alpha)$",
    "gamma-2-shifted": r"$\hat\gamma_2(W, \alpha)$",
    "gamma-2-difference": r"$\gamma_2(D, \alpha)$",
    "eta": r"$\eta(C, \alpha)$",
    "margin-complexity": r"$\mathrm{mc}(C)$",
}
_SYMBOLS = {"domain_size": "$n$", "alpha": r"$\alpha$"}


def typeset(frame: pd.DataFrame) -> str:
    """One tabular over all workloads if each has but one point, else one per workload."""
    table = norm_view(frame)
    if all(len(panel.x) == 1 for panel in table.panels):
        return _over_workloads(frame, table)
    return "\n".join(_tabular(panel, table, frame) for panel in table.panels)


def norm_name(asked: Asked) -> str:
    """A norm in LaTeX, its α a number if it has one."""
    name, alpha = asked
    order = re.fullmatch(r"gamma-p(\d+)", name)
    symbol = rf"$\gamma_{{({order[1]})}}(W)$" if order else _NORMS.get(name, escape(name))
    return symbol if alpha is None else symbol.replace(r"\alpha", f"{alpha:g}")


def interval(lower: float, upper: float) -> str:
    """What both ends round to, with as many digits after the point as that allows from six to two; else both ends.

    [2.9614648, 2.9614665] is 2.9615: five digits would be 2.96146 at one end and 2.96147 at the other.
    """
    if math.isnan(upper):
        return EMPTY
    for digits in range(6, 1, -1):
        low, high = f"{lower:.{digits}f}", f"{upper:.{digits}f}"
        if low == high:
            return low
    return f"[{lower:.4f}, {upper:.4f}]"


def _tabular(panel: NormPanel, table: NormView, frame: pd.DataFrame) -> str:
    rows = []
    for asked, curve in panel.curves.items():
        cells = [interval(low, high) for low, high in zip(curve.low.tolist(), curve.high.tolist(), strict=True)]
        rows.append(row([norm_name(asked), *cells]))
        for fact in panel.known:
            if fact.asked == asked:
                ends = zip(fact.lower.tolist(), fact.upper.tolist(), strict=True)
                rows.append(row([rf"\quad {escape(fact.name)}", *(_known(low, high) for low, high in ends)]))
    if any(math.isfinite(value) for value in panel.trace.tolist()):
        rows.append(row(["trace bound", *(_known(value, value) for value in panel.trace.tolist())]))
    if any(math.isfinite(value) for value in panel.sandwich.tolist()):
        rows.append(row([r"$2\hat\gamma_2(W, \alpha)+1+\alpha$", *map(_one, panel.sandwich.tolist())]))
    title = escape(labels.workload_label(panel.workload)) + (
        f", $n = {number(table.fixed)}$" if table.axis == "alpha" else ""
    )
    lines = [
        f"\\begin{{tabular}}{{l{'r' * len(panel.x)}}}",
        "\\hline",
        row([f"{title}; {_SYMBOLS[table.axis]}", *(number(value) for value in panel.x)]),
        "\\hline",
        *rows,
        "\\hline",
        "\\end{tabular}",
        *_notes(panel),
    ]
    return "\n".join(lines) + "\n"


def _over_workloads(frame: pd.DataFrame, table: NormView) -> str:
    rows = []
    for panel in table.panels:
        ends = [panel.curves[asked] for asked in table.asked]
        cells = [interval(float(curve.low[0]), float(curve.high[0])) for curve in ends]
        size = frame.loc[frame["workload"] == panel.workload, "domain_size"].iloc[0]
        rows.append(row([escape(labels.workload_label(panel.workload)), number(size), *cells]))
    lines = [
        f"\\begin{{tabular}}{{lr{'r' * len(table.asked)}}}",
        "\\hline",
        row(["", "$n$", *map(norm_name, table.asked)]),
        "\\hline",
        *rows,
        "\\hline",
        "\\end{tabular}",
        *(text for panel in table.panels for text in _notes(panel)),
    ]
    return "\n".join(lines) + "\n"


def _notes(panel: NormPanel) -> list[str]:
    name = labels.workload_label(panel.workload)
    return [
        note(f"{escape(name)}: {norm_name((norm, None))} missing: {escape('; '.join(reasons))}.")
        for norm, reasons in panel.missing.items()
    ]


def _known(lower: float, upper: float) -> str:
    """A closed form to six digits after the point, or a published interval to four."""
    if math.isnan(upper):
        return EMPTY
    return f"{upper:.6f}" if math.isclose(lower, upper, rel_tol=1e-9) else f"[{lower:.4f}, {upper:.4f}]"


def _one(value: float) -> str:
    return EMPTY if math.isnan(value) else f"{value:.4f}"
