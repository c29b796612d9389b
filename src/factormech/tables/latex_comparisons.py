"""Improvements and slopes as LaTeX: one ``tabular`` each, with what they lack in notes below."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from factormech import labels
from factormech.errors import BadValue
from factormech.tables.comparisons import ALL_SIZES, UPPER_HALF
from factormech.tables.latex_sample_complexity import EMPTY, escape, note, row, significant
from factormech.tables.panels import number, told
from factormech.tables.sample_complexity import LOWER_BOUND

if TYPE_CHECKING:
    import pandas as pd

    from factormech.measure.compare import Attained, Summary


def typeset_improvement(frame: pd.DataFrame) -> str:
    """Least, median and largest improvement with the points where they are attained, by workload and over all."""
    from factormech.measure.compare import summarise

    mechanism = escape(labels.mechanism_label(_single(frame, "mechanism")))
    groups = [(labels.workload_label(str(name)), part) for name, part in frame.groupby("workload", sort=False)]
    rows = [row([escape(label), *_summary_cells(summarise(part), part)]) for label, part in groups]
    if len(groups) > 1:
        rows += ["\\hline", row(["All", *_summary_cells(summarise(frame), frame)])]
    header = ("Workload", "least", "median", "largest", "over bound")
    notes = [
        f"Users needed by the best other mechanism over users needed by {mechanism}, for "
        f"{escape(labels.accuracy(_single(frame, 'metric'), _single(frame, 'alpha')))}: least, median and largest over "
        f"{len(frame)} points, with the first point and competitor that attain them. Last: users needed by "
        f"{mechanism} over the strongest lower bound, least to largest.",
        *_not_competing(frame),
        *(escape(text) for text in _without_ratio(frame)),
    ]
    return _tabular("lllll", header, rows, notes)


def _not_competing(frame: pd.DataFrame) -> list[str]:
    names = [escape(labels.mechanism_label(name)) for name in str(_single(frame, "excluded")).split()]
    return [f"Not among the others: {', '.join(names)}."] if names else []


def typeset_slopes(frame: pd.DataFrame) -> str:
    """Slopes over all domain sizes and, in parentheses, over the upper half; a column per workload and ε."""
    metric, alpha = _single(frame, "metric"), _single(frame, "alpha")
    places = list(dict.fromkeys(zip(frame["workload"], frame["epsilon"], strict=True)))
    several = _varies(frame, "epsilon")
    cells = {
        (r["mechanism"], r["bound_name"], r["workload"], r["epsilon"], r["part"]): r for r in frame.to_dict("records")
    }
    curves = list(dict.fromkeys(zip(frame["mechanism"], frame["bound_name"], strict=True)))
    rows = []
    for mechanism, bound in curves:
        texts = [
            _slope_cell(*(cells[mechanism, bound, *place, part] for part in (ALL_SIZES, UPPER_HALF)))
            for place in places
        ]
        label = labels.bound_label(bound) if mechanism == LOWER_BOUND else labels.mechanism_label(mechanism)
        rows.append(row([escape(label), *texts]))
    fixed = "" if several else f" $\\varepsilon = {number(float(frame['epsilon'].iloc[0]))}$."
    at = [f", $\\varepsilon = {number(epsilon)}$" if several else "" for _, epsilon in places]
    titles = [escape(labels.workload_label(w)) + text for (w, _), text in zip(places, at, strict=True)]
    notes = [
        f"Slope of log users needed for {escape(labels.accuracy(metric, alpha))} against log domain size, over all "
        f"sizes and (in parentheses) their upper half; root mean square residuals are at most "
        f"{_largest(frame, ALL_SIZES)} ({_largest(frame, UPPER_HALF)}) in natural logarithms.{fixed}",
        *(escape(text) for text in _without_slope(frame)),
    ]
    return _tabular("l" + "r" * len(places), ("Mechanism", *titles), rows, notes)


def _tabular(spec: str, header: tuple[str, ...], rows: list[str], notes: list[str]) -> str:
    lines = [f"\\begin{{tabular}}{{{spec}}}", "\\hline", row(header), "\\hline", *rows, "\\hline", "\\end{tabular}"]
    return "\n".join([*lines, *map(note, notes)]) + "\n"


def _summary_cells(summary: Summary | None, part: pd.DataFrame) -> list[str]:
    to_bound = part["ratio_to_bound"].dropna()
    bound = f"{significant(to_bound.min())} to {significant(to_bound.max())}" if len(to_bound) else EMPTY
    if summary is None:
        return [EMPTY, EMPTY, EMPTY, bound]
    sole = not _varies(part, "workload")
    found = (summary.least, summary.median, summary.largest)
    return [*(f"{significant(one.ratio)} ({_point(one, part, sole=sole)})" for one in found), bound]


def _point(one: Attained, part: pd.DataFrame, *, sole: bool) -> str:
    """Where a ratio is attained, by the axes that vary, and against whom."""
    texts = [] if sole else [escape(labels.workload_label(one.workload))]
    if _varies(part, "domain_size"):
        texts.append(f"$n={one.domain_size}$")
    if _varies(part, "epsilon"):
        texts.append(f"$\\varepsilon={number(one.epsilon)}$")
    if one.seed is not None:
        texts.append(f"seed {one.seed}")
    return ", ".join([*texts, escape(labels.mechanism_label(one.competitor))])


def _without_ratio(frame: pd.DataFrame) -> list[str]:
    """How many points have no ratio, and why."""
    gone = frame[frame["status"] != "ok"].groupby(["workload", "status"], sort=False)
    return [
        f"{labels.workload_label(str(workload))}: {len(part)} without a ratio ({status}: "
        f"{'; '.join(told(part['reason'].tolist()))})."
        for (workload, status), part in gone
    ]


def _slope_cell(whole: dict[Any, Any], upper: dict[Any, Any]) -> str:
    first, second = (EMPTY if math.isnan(r["slope"]) else f"${r['slope']:.2f}$" for r in (whole, upper))
    return first if first == second == EMPTY else f"{first} ({second})"


def _without_slope(frame: pd.DataFrame) -> list[str]:
    """What has no slope, a sentence for each reason."""
    gone = frame[frame["status"] != "ok"]
    by_reason: dict[str, list[str]] = {}
    for r in gone.to_dict("records"):
        label = labels.bound_label(r["bound_name"]) if r["mechanism"] == LOWER_BOUND else r["mechanism"]
        label = labels.mechanism_label(label)
        by_reason.setdefault(r["reason"], []).append(f"{label} ({labels.workload_label(r['workload'])})")
    return [f"No slope: {', '.join(dict.fromkeys(who))}: {reason}." for reason, who in by_reason.items()]


def _largest(frame: pd.DataFrame, part: str) -> str:
    value = float(frame.loc[frame["part"] == part, "residual"].max())
    return EMPTY if math.isnan(value) else f"{value:.2g}"


def _varies(frame: pd.DataFrame, column: str) -> bool:
    return len(frame[column].unique()) > 1


def _single(frame: pd.DataFrame, column: str) -> Any:
    values = frame[column].unique().tolist()
    if len(values) > 1:
        remedy = "typeset one at a time"
        raise BadValue(f"column {column} of the table", ", ".join(map(str, values)), "have one value", remedy)
    return values[0]
