"""The table of consistent estimates: errors of collections before and after non-negative least squares.

Its columns are :data:`COLUMNS`; its rows are, for every point of the grid (workload, domain size, ε, seed, data,
users), one per mechanism and ``processing``: ``none``, ``nonnegative`` (the total free) or ``nonnegative-total`` (the
total that of the users). The status is ``ok``; or ``refused`` (the workload is outside the strategy's row space) or
``unavailable`` (the mechanism cannot exist there, or so many users cannot be simulated), which have a reason instead
of numbers.

Errors are in ``metric`` (``mse``: the mean squared error of a normalised query). ``exact_error`` is the exact
expectation for the unprocessed estimate; ``measured_error`` the mean of the trials of this processing; its interval is
Student's, two-sided at ``level``. ``ratio`` is measured_error over that of the same collections unprocessed, with
Student's interval from the pairs; ``violation`` the largest relative violation of the conditions of the optimum."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from factormech.tables.format import (
    Problem,
    TableFormat,
    below,
    check_seeded_grid,
    empty_text,
    filled,
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
    "seed",
    "data",
    "users",
    "mechanism",
    "processing",
    "metric",
    "trials",
    "level",
    "exact_error",
    "measured_error",
    "standard_error",
    "interval_low",
    "interval_high",
    "ratio",
    "ratio_low",
    "ratio_high",
    "violation",
    "status",
    "reason",
)
INTEGERS = frozenset({"domain_size", "seed", "users", "trials"})
TEXTS = frozenset({"study", "workload", "data", "mechanism", "processing", "metric", "status", "reason"})
STATUSES = ("ok", "refused", "unavailable")
NONE, FREE, FIXED = PROCESSINGS = ("none", "nonnegative", "nonnegative-total")
_MEASURED = COLUMNS[COLUMNS.index("exact_error") : COLUMNS.index("status")]
_RATIOS = ("ratio", "ratio_low", "ratio_high")


def _problem(row: Mapping[str, Any]) -> Problem:
    problem = (
        empty_text(row, sorted(TEXTS - {"reason"}))
        or below(row, ("domain_size", "users"), 1)
        or below(row, ("trials",), 2)
        or not_positive(row, ("epsilon", "level"))
        or not_among(row, "status", STATUSES)
        or not_among(row, "processing", PROCESSINGS)
    )
    if problem is not None:
        return problem
    ok = row["status"] == "ok"
    return (_problem_of_measured(row) if ok else filled(row, _MEASURED)) or unreasoned(row, needed=not ok)


def _problem_of_measured(row: Mapping[str, Any]) -> Problem:
    free = row["exact_error"] == 0
    for column in _MEASURED:
        if math.isnan(row[column]):
            if free and column in _RATIOS:
                continue
            return column, "be a number where the status is ok"
        if row[column] < 0:
            return column, "be at least 0"
    if not row["interval_low"] <= row["measured_error"] <= row["interval_high"]:
        return "measured_error", "be in its interval"
    if not free and not row["ratio_low"] <= row["ratio"] <= row["ratio_high"]:
        return "ratio", "be in its interval"
    if row["processing"] == NONE and not free and not math.isclose(row["ratio"], 1.0, rel_tol=1e-9):
        return "ratio", "be 1 where nothing was processed"
    return None


def _check_whole(frame: pd.DataFrame, name: str) -> None:
    """A study is a product of its axes, and each workload of its seeds."""
    keys = ["domain_size", "epsilon", "data", "users", "mechanism", "processing"]
    points = "mechanism and processing at every point of its grid"
    check_seeded_grid(frame, name, keys, ("metric", "trials", "level"), points)


FORMAT = TableFormat("consistency", COLUMNS, INTEGERS, frozenset(COLUMNS) - INTEGERS - TEXTS, _problem, _check_whole)
