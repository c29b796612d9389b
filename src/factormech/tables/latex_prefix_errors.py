"""Factorizations of prefix sums as LaTeX: per order of error a row per factorization, a column per domain size."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from factormech import labels
from factormech.tables.latex_sample_complexity import escape, note, row
from factormech.tables.panels import number

if TYPE_CHECKING:
    import pandas as pd


def typeset(frame: pd.DataFrame) -> str:
    """Errors and, in parentheses, their ratio to the certified lower bound."""
    return "\n".join(_tabular(float(order), part) for order, part in frame.groupby("order"))


def _tabular(order: float, frame: pd.DataFrame) -> str:
    sizes = sorted(set(frame["domain_size"]))
    rows = []
    for name, part in frame.groupby("factorization", sort=False):
        at = part.set_index("domain_size")
        cells = [f"{at.loc[n, 'error']:.4f} ({at.loc[n, 'ratio']:.3f})" for n in sizes]
        rows.append(row([escape(labels.factorization_label(str(name))), *cells]))
    first = frame.drop_duplicates("domain_size").set_index("domain_size")
    rows.append(row([r"$\ln(n)/\pi$", *(f"{first.loc[n, 'logarithm']:.4f}" for n in sizes)]))
    rows.append(row(["trace bound", *(f"{first.loc[n, 'trace_bound']:.4f}" for n in sizes)]))
    symbol = r"\infty" if math.isinf(order) else number(order)
    lines = [
        f"\\begin{{tabular}}{{l{'r' * len(sizes)}}}",
        "\\hline",
        row([f"$p = {symbol}$; $n$", *(number(n) for n in sizes)]),
        "\\hline",
        *rows,
        "\\hline",
        "\\end{tabular}",
        note("Error of order $p$ and, in parentheses, its ratio to the certified lower end of the optimum."),
    ]
    return "\n".join(lines) + "\n"
