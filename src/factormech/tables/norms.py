"""The table of norms: certified ends, and what is known without solving.

Its columns are :data:`COLUMNS`, and ``seed`` after ``domain_size`` if the grid has several; its rows are, for every
workload and domain size (and seed), one per norm, and per ``alpha`` for the norms that have an error (it is empty for
the others). ``lower`` and ``upper`` hold in exact arithmetic. ``trace_bound`` is ‖W‖_*/√(kN), below every exact norm;
``known_lower`` and ``known_upper`` are a closed form (equal, to rounding) or a published interval, which ``known``
names. The status is ``ok``, or ``unavailable`` with a reason and without numbers.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from factormech.tables.format import Problem, TableFormat, below, check_grid, empty_text, not_among, unreasoned

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = (
    "study",
    "workload",
    "domain_size",
    "queries",
    "norm",
    "alpha",
    "lower",
    "upper",
    "trace_bound",
    "known_lower",
    "known_upper",
    "known",
    "method",
    "stopped",
    "status",
    "reason",
)
ENDS = ("lower", "upper")
KNOWN = ("known_lower", "known_upper")
STATUSES = ("ok", "unavailable")
# What is computed in floating point may cross a certified end by this share, or, near zero, by this much.
ROUNDING = 1e-9


def _problem(row: Mapping[str, Any]) -> Problem:
    problem = empty_text(row, ("study", "workload", "norm", "status")) or below(row, ("domain_size", "queries"), 1)
    if problem is not None:
        return problem
    if row["alpha"] < 0.0:
        return "alpha", "be at least 0, or empty"
    unknown = not_among(row, "status", STATUSES)
    if unknown is not None:
        return unknown
    ok = row["status"] == "ok"
    for column in ENDS:
        if math.isnan(row[column]) == ok or row[column] < 0.0:
            return column, "be at least 0 where the status is ok, and empty elsewhere"
    if ok and row["lower"] > row["upper"]:
        return "lower", "be at most upper"
    return _problem_of_facts(row) or unreasoned(row, needed=not ok)


def _problem_of_facts(row: Mapping[str, Any]) -> Problem:
    """What is known may not contradict the certified ends."""
    for column in KNOWN:
        if math.isnan(row[column]) != (row["known"] == ""):
            return column, "be a number where known has a name, and only there"
    for smaller, larger in (("trace_bound", "upper"), ("known_lower", "upper"), ("lower", "known_upper")):
        if row[smaller] > row[larger] * (1.0 + ROUNDING) + ROUNDING:
            return smaller, f"be at most {larger}"
    return None


def _check_whole(frame: pd.DataFrame, name: str) -> None:
    """Every study has one row for each workload × domain size × seed × (norm and α) in it."""
    for study, part in frame.groupby("study", sort=False):
        who = [f"{norm} {alpha!r}" for norm, alpha in zip(part["norm"], part["alpha"].tolist(), strict=True)]
        places = ["workload", "domain_size", *(["seed"] if "seed" in frame else [])]
        check_grid([*(part[key].tolist() for key in places), who], name, f"study {study}", "norm at every point")


FORMAT = TableFormat(
    kind="norms",
    columns=COLUMNS,
    integers=frozenset({"domain_size", "seed", "queries"}),
    floats=frozenset({"alpha", *ENDS, "trace_bound", *KNOWN}),
    problem=_problem,
    check_whole=_check_whole,
    seeded=(*COLUMNS[:3], "seed", *COLUMNS[3:]),
)
