"""The table of times: seconds of an iteration, and seconds until a solver has come near a lower bound.

Its columns are :data:`COLUMNS`. A row of ``quantity`` ``iteration`` is the mean (``seconds``) and least
(``least_seconds``) time of ``iterations`` iterations of the published optimiser at a domain size. A row of ``to-gap``
is the time after which ``mechanism`` had a strategy with an average variance of at most ``gap`` times ``lower_bound``,
the strongest of the study's bounds, and the ``iterations`` that it had told of by then; ``final_variance`` and
``final_seconds`` are those of its end. The status is ``ok``; or, with a reason, ``not reached``, ``unbounded`` (every
bound is 0) or ``unavailable``.

Seconds are of one machine and one moment: the columns in :data:`CLOCK` are the only ones of all tables that another
run does not repeat.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

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
    "quantity",
    "workload",
    "domain_size",
    "epsilon",
    "seed",
    "mechanism",
    "gap",
    "iterations",
    "seconds",
    "least_seconds",
    "lower_bound",
    "bound_name",
    "final_variance",
    "final_seconds",
    "status",
    "reason",
)
ITERATION, TO_GAP = QUANTITIES = ("iteration", "to-gap")
STATUSES = ("ok", "not reached", "unbounded", "unavailable")
# What a clock wrote.
CLOCK = frozenset({"seconds", "least_seconds", "final_seconds"})
_FLOATS = ("epsilon", "gap", "iterations", "seconds", "least_seconds", "lower_bound", "final_variance", "final_seconds")


def _problem(row: Mapping[str, Any]) -> Problem:
    problem = (
        empty_text(row, ("study", "workload", "mechanism", "status"))
        or below(row, ("domain_size",), 1)
        or not_positive(row, ("epsilon",))
        or not_among(row, "quantity", QUANTITIES)
        or not_among(row, "status", STATUSES)
    )
    return problem or _problem_of_numbers(row) or unreasoned(row, needed=row["status"] != "ok")


def _problem_of_numbers(row: Mapping[str, Any]) -> Problem:
    ok, single = row["status"] == "ok", row["quantity"] == ITERATION
    ended = not single and row["status"] != "unavailable"
    present = {
        "gap": not single,
        "iterations": ok,
        "seconds": ok,
        "least_seconds": single,
        "lower_bound": not single,
        "final_variance": ended,
        "final_seconds": ended,
    }
    for column, wanted in present.items():
        if math.isnan(row[column]) == wanted or row[column] < 0:
            return column, f"be at least 0 where the quantity is {row['quantity']} and it is known, and empty elsewhere"
    if single and not (ok and row["least_seconds"] <= row["seconds"]):
        return "least_seconds", "be at most the mean"
    if row["status"] == "not reached" and row["final_variance"] <= row["gap"] * row["lower_bound"]:
        return "status", "be 'ok' where the end is within the gap"
    return below_bound(row, "final_variance")


def _check_whole(frame: pd.DataFrame, name: str) -> None:
    """Every study has one row for each workload × mechanism × gap at each of its sizes, and one for each iteration."""
    for (study, quantity), part in frame.groupby(["study", "quantity"], sort=False):
        keys = ["workload", "domain_size", "epsilon", "seed", "mechanism"]
        gaps = part["gap"].fillna(0.0)
        axes = [part[key].tolist() for key in keys] + [gaps.tolist()]
        check_grid(axes, name, f"study {study}, {quantity}", "mechanism and gap at every point of its grid")


FORMAT = TableFormat(
    kind="timing",
    columns=COLUMNS,
    integers=frozenset({"domain_size", "seed"}),
    floats=frozenset(_FLOATS),
    problem=_problem,
    check_whole=_check_whole,
)
