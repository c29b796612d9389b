"""The table of sample complexities on data sets.

Its columns are :data:`COLUMNS`; its rows are, for every point of the grid (workload, domain size, ε, seed) and every
data set, one per mechanism; ``worst-case`` stands in the place of a data set. The status is ``ok``; or ``refused``
(the workload is outside the strategy's row space) or ``unavailable`` (the mechanism cannot exist there), which have a
reason instead of numbers. ``variance`` is that of one user drawn from the data, summed over the queries;
``sample_complexity`` is variance/(queries · α), not rounded, and ``lower_bound`` has its units: the strongest bound
that holds on these data, for every ε-LDP factorization mechanism, and its name."""

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
    check_seeded_grid,
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
    "seed",
    "data",
    "mechanism",
    "metric",
    "alpha",
    "sample_complexity",
    "variance",
    "lower_bound",
    "bound_name",
    "status",
    "reason",
)
INTEGERS = frozenset({"domain_size", "seed"})
FLOATS = frozenset({"epsilon", "alpha", "sample_complexity", "variance", "lower_bound"})
STATUSES = ("ok", "refused", "unavailable")
WORST_CASE = "worst-case"


def _problem(row: Mapping[str, Any]) -> Problem:
    problem = (
        empty_text(row, ("study", "workload", "data", "mechanism", "metric", "bound_name", "status"))
        or below(row, ("domain_size",), 1)
        or not_positive(row, ("epsilon", "alpha"))
        or not_among(row, "status", STATUSES)
    )
    if problem is not None:
        return problem
    ok = row["status"] == "ok"
    for column in ("sample_complexity", "variance"):
        if ok and not row[column] >= 0:
            return column, "be a number of at least 0 where the status is ok"
        if not ok and not math.isnan(row[column]):
            return column, f"be empty where the status is {row['status']}"
    if not row["lower_bound"] >= 0:
        return "lower_bound", "be a number of at least 0"
    return below_bound(row, "sample_complexity") or unreasoned(row, needed=not ok)


def _check_whole(frame: pd.DataFrame, name: str) -> None:
    """A study is a product of its axes (each workload of its seeds), and has one bound at a point."""
    keys = ["domain_size", "epsilon", "data", "mechanism"]
    points = "mechanism on every data set at every point of its grid"
    check_seeded_grid(frame, name, keys, ("metric", "alpha"), points)
    places = ["study", "workload", "domain_size", "epsilon", "seed", "data"]
    bounds = frame[[*places, "lower_bound", "bound_name"]].drop_duplicates()
    twice = bounds[bounds.duplicated(places)]
    if len(twice):
        where = " ".join(map(str, twice.iloc[0][places]))
        rule, remedy = "be the same for all mechanisms", "lines were edited: run the workflow again"
        raise BadValue(f"{name}, lower_bound at {where}", twice.iloc[0]["lower_bound"], rule, remedy)


FORMAT = TableFormat("data-dependent", COLUMNS, INTEGERS, FLOATS, _problem, _check_whole)
