"""Times as LaTeX: seconds of an iteration by domain size, and seconds to each gap by workload and mechanism."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from factormech import labels
from factormech.tables.latex_sample_complexity import EMPTY, escape, note, row, significant
from factormech.tables.panels import number, told
from factormech.tables.timing import ITERATION, TO_GAP

if TYPE_CHECKING:
    import pandas as pd


def typeset(frame: pd.DataFrame) -> str:
    """Two tabulars: single iterations, and the time to each gap."""
    parts = [frame[frame["quantity"] == quantity] for quantity in (ITERATION, TO_GAP)]
    made = [make(part) for make, part in zip((_iterations, _to_gap), parts, strict=True) if len(part)]
    return "\n".join(made)


def _iterations(frame: pd.DataFrame) -> str:
    sizes = frame["domain_size"].tolist()
    what = (
        f"Seconds of one iteration of {labels.mechanism_label(str(frame['mechanism'].iloc[0]))}, random 4n × n "
        f"strategy, identity workload: mean and least of {_counts(frame)} iterations."
    )
    rows = [
        row([name, *map(significant, frame[column].tolist())])
        for name, column in (("mean", "seconds"), ("least", "least_seconds"))
    ]
    return _tabular(["$n$", *map(str, sizes)], rows, [escape(what)])


def _counts(frame: pd.DataFrame) -> str:
    return " or ".join(number(value) for value in sorted(set(frame["iterations"]), reverse=True))


def _to_gap(frame: pd.DataFrame) -> str:
    sizes = sorted(set(frame["domain_size"]))
    several = len(set(frame["epsilon"])) > 1
    rows = []
    for (workload, epsilon, mechanism, gap), part in frame.groupby(
        ["workload", "epsilon", "mechanism", "gap"], sort=False
    ):
        if (part["status"] == "unavailable").all():
            continue
        at = f", $\\varepsilon = {number(epsilon)}$" if several else ""
        name = f"{escape(labels.workload_label(workload))}{at}, {escape(labels.mechanism_label(mechanism))}"
        seconds = part.groupby("domain_size")["seconds"].median()
        rows.append(row([name, number(gap), *(_seconds(seconds.get(n, math.nan)) for n in sizes)]))
    bounds = ", ".join(escape(labels.bound_label(name)) for name in dict.fromkeys(frame["bound_name"]))
    what = (
        "Seconds until the average variance of what a solver has found is at most this multiple of the strongest "
        f"lower bound; {EMPTY}: not reached. Bounds: {bounds}."
    )
    gone = frame[frame["status"] == "unavailable"].groupby("mechanism", sort=False)["reason"]
    notes = [escape(f"{labels.mechanism_label(str(m))}: {'; '.join(told(list(r)))}.") for m, r in gone]
    return _tabular(["Workload and solver", "gap", *(f"$n={n}$" for n in sizes)], rows, [what, *notes])


def _seconds(value: float) -> str:
    return EMPTY if math.isnan(value) else significant(value)


def _tabular(header: list[str], rows: list[str], notes: list[str]) -> str:
    lines = [
        f"\\begin{{tabular}}{{l{'r' * (len(header) - 1)}}}",
        "\\hline",
        row(header),
        "\\hline",
        *rows,
        "\\hline",
        "\\end{tabular}",
        *map(note, notes),
    ]
    return "\n".join(lines) + "\n"
