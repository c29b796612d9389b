"""The table of sample complexities.

Its columns are :data:`COLUMNS`, and ``seed`` after ``epsilon`` if the grid has several. Its rows are, for every point
of the grid (workload, domain size, ε, seed):

* one per mechanism, with status ``ok``; or ``refused`` (the workload is outside the strategy's row space) or
  ``unavailable`` (the mechanism cannot exist there), which have a reason instead of numbers. Their
  ``lower_bound`` and ``bound_name`` are the strongest of the point's bounds, or empty if the study asks for
  none;
* one per lower bound, with mechanism ``lower-bound``, status ``bound`` and the value in ``lower_bound``.

Variances are summed over the queries, for one user. ``sample_complexity`` is worst_variance / (queries · α),
not rounded, and ``lower_bound`` has its units. Where a solver's record says them, ``rows`` is the number of outputs of
its strategy and ``certified_gap`` the average variance over the solver's own lower bound on that of every ε-LDP
strategy, less 1.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from factormech.errors import BadValue
from factormech.tables.contradictions import below_bound
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

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = (
    "study",
    "workload",
    "domain_size",
    "epsilon",
    "mechanism",
    "metric",
    "alpha",
    "sample_complexity",
    "worst_variance",
    "average_variance",
    "lower_bound",
    "bound_name",
    "rows",
    "certified_gap",
    "status",
    "reason",
)
COLUMNS_WITH_SEED = (*COLUMNS[:4], "seed", *COLUMNS[4:])

INTEGERS = frozenset({"domain_size", "seed"})
SOLVED = ("rows", "certified_gap")
FLOATS = frozenset(
    {"epsilon", "alpha", "sample_complexity", "worst_variance", "average_variance", "lower_bound", *SOLVED}
)
MEASURED = ("sample_complexity", "worst_variance", "average_variance")
STATUSES = ("ok", "refused", "unavailable", "bound")
LOWER_BOUND = "lower-bound"


def _problem(row: Mapping[str, Any]) -> Problem:
    problem = (
        empty_text(row, ("study", "workload", "mechanism", "metric", "status"))
        or below(row, ("domain_size",), 1)
        or not_positive(row, ("epsilon", "alpha"))
        or not_among(row, "status", STATUSES)
    )
    if problem is not None:
        return problem
    if (row["status"] == "bound") != (row["mechanism"] == LOWER_BOUND):
        return "status", f"be 'bound' where the mechanism is {LOWER_BOUND!r}, and only there"
    return _problem_of_numbers(row)


def _problem_of_numbers(row: Mapping[str, Any]) -> Problem:
    ok, bound = row["status"] == "ok", row["status"] == "bound"
    for column in MEASURED:
        if ok and not (math.isfinite(row[column]) and row[column] >= 0):
            return column, "be a finite number of at least 0 where the status is ok"
        if not ok and not math.isnan(row[column]):
            return column, f"be empty where the status is {row['status']}"
    for column, least in zip(SOLVED, (1.0, -1e-9), strict=True):
        if not math.isnan(row[column]) and not (ok and row[column] >= least):
            return column, f"be at least {max(least, 0.0):g}, or empty, and empty where the status is {row['status']}"
    if bound and math.isnan(row["lower_bound"]):
        return "lower_bound", "be a number where the status is bound"
    if math.isnan(row["lower_bound"]) != (row["bound_name"] == ""):
        return "bound_name", "name the bound where lower_bound has a number, and only there"
    return below_bound(row, "sample_complexity") or unreasoned(row, needed=not (ok or bound))


def _check_whole(frame: pd.DataFrame, name: str) -> None:
    """Every study has one row for each workload × domain size × ε × seed × (mechanism or bound) in it."""
    for study, part in frame.groupby("study", sort=False):
        # bound_name tells a bound from the others; that of a mechanism only says which was the strongest.
        who = part["mechanism"].where(part["status"] != "bound", LOWER_BOUND + " " + part["bound_name"])
        axes = [part[key].tolist() for key in point_columns(frame)] + [who.tolist()]
        check_grid(axes, name, f"study {study}", "mechanism and bound at every point of its grid")
    _check_strongest(frame, name)


def _check_strongest(frame: pd.DataFrame, name: str) -> None:
    """What a mechanism's row says of the lower bound is the strongest of its point's bound rows."""
    keys = ["study", *point_columns(frame)]
    is_bound = frame["status"] == "bound"
    bounds = frame[is_bound]
    strongest = bounds[bounds["lower_bound"] == bounds.groupby(keys)["lower_bound"].transform("max")]
    columns = [*keys, "bound_name", "lower_bound"]
    known = set(strongest[columns].itertuples(index=False, name=None))
    points = {row[: len(keys)] for row in known}
    for row in frame.loc[~is_bound, columns].itertuples(index=False, name=None):
        if row not in known and (row[: len(keys)] in points or row[-2]):
            raise BadValue(
                f"{name}, mechanisms at {' '.join(map(str, row[: len(keys)]))}",
                f"{row[-2]} {row[-1]}",
                "repeat the strongest of the point's lower bounds",
                "lines are missing or were edited: run the workflow again",
            )


def point_columns(frame: pd.DataFrame) -> list[str]:
    """The columns that say where in a grid a row is."""
    return ["workload", "domain_size", "epsilon", *(["seed"] if "seed" in frame else [])]


FORMAT = TableFormat("sample-complexity", COLUMNS, INTEGERS, FLOATS, _problem, _check_whole, seeded=COLUMNS_WITH_SEED)
