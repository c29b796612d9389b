"""The table of simulated collections: measured errors of collections really run, next to their exact predictions.

Its columns are :data:`COLUMNS`; its rows are, for every point of the grid (workload, domain size, ε, population, users,
seed), one per mechanism. Seeds belong to a workload: not every workload needs as many. The status is ``ok``; or
``refused`` (the workload is outside the strategy's row space) or ``unavailable`` (the mechanism cannot exist there, or
so many users cannot be simulated: then the exact error is there all the same), which have a reason instead of numbers.

Errors are in ``metric`` (``mse``: the mean squared error of a normalised query). ``measured_error`` is the mean of the
trials and ``standard_error`` its own (empty for one trial). The interval is for the exact error, at the two-sided level
``level``; its upper end may be ``inf``. ``ratio`` is measured over exact, z the deviation of the measured error over
its exact standard deviation, and ``p_value`` two-sided; ``bias_ratio`` is the scaled squared error of the mean estimate
over the exact error, with a one-sided p-value. Ratios are empty where the exact error is 0. ``relative_variance`` and
``relative_scale`` describe the exact law of the error of one trial: with them the points can be pooled again.
"""

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
    "population",
    "users",
    "mechanism",
    "metric",
    "trials",
    "level",
    "exact_error",
    "measured_error",
    "standard_error",
    "interval_low",
    "interval_high",
    "ratio",
    "z",
    "p_value",
    "bias_ratio",
    "bias_p_value",
    "relative_variance",
    "relative_scale",
    "status",
    "reason",
)
INTEGERS = frozenset({"domain_size", "seed", "users", "trials"})
TEXTS = frozenset({"study", "workload", "population", "mechanism", "metric", "status", "reason"})
STATUSES = ("ok", "refused", "unavailable")
# What is empty unless a collection was measured.
_MEASURED = COLUMNS[COLUMNS.index("measured_error") : COLUMNS.index("status")]
_RATIOS = ("ratio", "bias_ratio")


def _problem(row: Mapping[str, Any]) -> Problem:
    problem = (
        empty_text(row, sorted(TEXTS - {"reason"}))
        or below(row, ("domain_size", "users", "trials"), 1)
        or not_positive(row, ("epsilon", "level"))
    )
    if problem is not None:
        return problem
    if row["level"] >= 1:
        return "level", "be below 1"
    ok = row["status"] == "ok"
    numbers = _problem_of_measured(row) if ok else _problem_of_missing(row)
    return not_among(row, "status", STATUSES) or numbers or unreasoned(row, needed=not ok)


def _problem_of_missing(row: Mapping[str, Any]) -> Problem:
    problem = filled(row, _MEASURED)
    if problem is not None:
        return problem
    if row["exact_error"] < 0 or (row["status"] == "refused" and not math.isnan(row["exact_error"])):
        return "exact_error", "be empty, or at least 0 where a collection that has one was not simulated"
    return None


def _problem_of_measured(row: Mapping[str, Any]) -> Problem:
    single, free = row["trials"] == 1, row["exact_error"] == 0
    for column in ("exact_error", *_MEASURED):
        empty = (single and column == "standard_error") or (free and column in _RATIOS)
        if math.isnan(row[column]) != empty:
            return column, "be a number where the status is ok, but for the spread of one trial and ratios to 0"
        if row[column] < 0 and column != "z":
            return column, "be at least 0"
    for column in ("p_value", "bias_p_value"):
        if row[column] > 1:
            return column, "be at most 1"
    if not row["interval_low"] <= row["measured_error"] <= row["interval_high"]:
        return "measured_error", "be in its interval"
    if not free and not math.isclose(row["ratio"], row["measured_error"] / row["exact_error"], rel_tol=1e-9):
        return "ratio", "be measured_error over exact_error"
    return None


def _check_whole(frame: pd.DataFrame, name: str) -> None:
    """A study is a product of workload, domain size, ε, population, users and mechanism; and each workload of seeds."""
    keys = ["domain_size", "epsilon", "population", "users", "mechanism"]
    points = "mechanism at every point of its grid"
    check_seeded_grid(frame, name, keys, ("metric", "trials", "level"), points)


FORMAT = TableFormat(
    kind="simulated-collection",
    columns=COLUMNS,
    integers=INTEGERS,
    floats=frozenset(COLUMNS) - INTEGERS - TEXTS,
    problem=_problem,
    check_whole=_check_whole,
    infinite=frozenset({"interval_high"}),
)
