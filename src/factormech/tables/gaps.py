"""The table of optimality gaps: how far each mechanism is from what a lower bound leaves possible.

Its columns are :data:`COLUMNS`, and ``seed`` after ``epsilon`` if the grid has several; its rows are, for every point
of the grid (workload, domain size, ε, seed), one per mechanism. Variances are those of one user, summed over the
queries; ``lower_bound`` is the strongest of the study's bounds on the *average* variance of every ε-LDP strategy, by
the name of ``bound_name``. ``ratio`` is average_variance over lower_bound, which the bound proves to be at least 1;
``worst_ratio`` is worst_variance over the same bound, at least ``ratio``: no more is proved of it. ``rows`` is the
number of outputs that a solver recorded. The status is ``ok``; or without ratios, but with a reason, ``free`` (the
variance is 0), ``unbounded`` (every bound is 0 here), ``refused`` or ``unavailable``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from factormech.tables.format import (
    Problem,
    TableFormat,
    below,
    check_grid,
    empty_text,
    not_among,
    not_positive,
    unreasoned,
)
from factormech.tables.sample_complexity import point_columns

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = (
    "study",
    "workload",
    "domain_size",
    "epsilon",
    "mechanism",
    "average_variance",
    "worst_variance",
    "lower_bound",
    "bound_name",
    "ratio",
    "worst_ratio",
    "rows",
    "status",
    "reason",
)
INTEGERS = frozenset({"domain_size", "seed"})
VARIANCES = ("average_variance", "worst_variance")
RATIOS = ("ratio", "worst_ratio")
FLOATS = frozenset({"epsilon", *VARIANCES, "lower_bound", *RATIOS, "rows"})
STATUSES = ("ok", "free", "unbounded", "refused", "unavailable")
# A mechanism that attains its bound may be this far below it by rounding.
ROUNDING = 1e-9


def problem_of_ratio(row: Mapping[str, Any]) -> Problem:
    """What is wrong with the variances, the bound and the ratios of a row, which other tables have, too."""
    ok, measured = row["status"] == "ok", row["status"] in ("ok", "free", "unbounded")
    for column in VARIANCES:
        if math.isnan(row[column]) == measured or row[column] < 0:
            return column, "be at least 0 where the mechanism has a variance, and empty elsewhere"
    if math.isnan(row["lower_bound"]) or row["lower_bound"] < 0 or row["bound_name"] == "":
        return "lower_bound", "be at least 0 and have a name"
    for column, variance in zip(RATIOS, VARIANCES, strict=True):
        if math.isnan(row[column]) == ok:
            return column, "be a number where the status is ok, and empty elsewhere"
        if ok and not math.isclose(row[column], row[variance] / row["lower_bound"], rel_tol=1e-12):
            return column, f"be {variance} over lower_bound"
    if ok and row["ratio"] < 1.0 - ROUNDING:
        return "ratio", "be at least 1, as for every ε-LDP strategy ((ε, δ)-private ones do not belong here)"
    return unreasoned(row, needed=not ok)


def _problem(row: Mapping[str, Any]) -> Problem:
    problem = (
        empty_text(row, ("study", "workload", "mechanism", "status"))
        or below(row, ("domain_size",), 1)
        or not_positive(row, ("epsilon",))
        or not_among(row, "status", STATUSES)
    )
    return problem or problem_of_ratio(row)


def _check_whole(frame: pd.DataFrame, name: str) -> None:
    """Every study has one row for each workload × domain size × ε × seed × mechanism in it."""
    for study, part in frame.groupby("study", sort=False):
        axes = [part[key].tolist() for key in [*point_columns(frame), "mechanism"]]
        check_grid(axes, name, f"study {study}", "mechanism at every point of its grid")


FORMAT = TableFormat(
    kind="optimality-gap",
    columns=COLUMNS,
    integers=INTEGERS,
    floats=FLOATS,
    problem=_problem,
    check_whole=_check_whole,
    seeded=(*COLUMNS[:4], "seed", *COLUMNS[4:]),
)
