"""What consistency gains: errors of collections before and after non-negative least squares.

Its rows are, for every point of the grid (workload, domain size, ε, seed, data, users), one per mechanism and
``processing``: ``none``, ``nonnegative`` (the total free) or ``nonnegative-total`` (the total that of the users). The
status is ``ok``; or ``refused`` (the workload is outside the strategy's row space) or ``unavailable`` (the mechanism
cannot exist there, or so many users cannot be simulated), which have a reason instead of numbers.

Errors are in ``metric`` (``mse``: the mean squared error of a normalised query). ``exact_error`` is the exact
expectation for the unprocessed estimate; ``measured_error`` the mean of the trials of this processing; its interval is
Student's, two-sided at ``level``. ``ratio`` is measured_error over that of the same collections unprocessed, with
Student's interval from the pairs; ``violation`` the largest relative violation of the conditions of the optimum.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from factormech.errors import BadValue
from factormech.studies import grids
from factormech.studies.asked import Asked
from factormech.studies.axes import DOMAIN_SIZE, EPSILON, SEED, USERS, WORKLOAD
from factormech.studies.base import Column, Experiment, PaperTable, Problem, Shown
from factormech.studies.grids import DATA, LEVEL, MECHANISMS, OPTIONS, TRIALS, number
from factormech.studies.optimality_gap import ordered
from factormech.tabular import below, check_seeded_grid, filled, not_among, not_positive, unreasoned

if TYPE_CHECKING:
    import pandas as pd

STATUSES = ("ok", "refused", "unavailable")
NONE, FREE, FIXED = PROCESSINGS = ("none", "nonnegative", "nonnegative-total")
_RATIOS = ("ratio_to_unprocessed", "ratio_low", "ratio_high")


def measure(asked: Asked) -> Iterator[Mapping[str, Any]]:
    """Yield the collections of the part's mechanism on every data set, after processing."""
    from dataclasses import asdict

    from factormech.studies.measures.consistency import ConsistencyGrid, process

    data = grids.data_of(asked)
    grid = ConsistencyGrid(asked["users"], data, asked["trials"], level=asked["level"], root_seed=asked.seed)
    for name in asked["mechanisms"]:
        found = process(name, grids.Strategies(asked, name), grids.questions(asked), asked["epsilon"], grid)
        yield from map(asdict, found)


def table(asked: Asked, parts: Mapping[str, pd.DataFrame]) -> Iterator[dict[str, Any]]:
    """One row for each collection and processing, in the order of the grid."""
    import pandas as pd

    measured = pd.concat(list(parts.values()), ignore_index=True).assign(metric="mse", level=asked["level"])
    keys = ["_workload", "domain_size", "epsilon", "_data", "users", "seed", "_mechanism", "_processing"]
    yield from ordered(measured, keys)[[*(column.name for column in EXPERIMENT.columns), "origin"]].to_dict("records")


def check(row: Mapping[str, Any]) -> Problem:
    """Return the problem of a row whose numbers are not those that its status promises."""
    problem = (
        below(row, ("domain_size", "users"), 1)
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
    if not row["measured_low"] <= row["measured_error"] <= row["measured_high"]:
        return "measured_error", "be in its interval"
    if not free and not row["ratio_low"] <= row["ratio_to_unprocessed"] <= row["ratio_high"]:
        return "ratio_to_unprocessed", "be in its interval"
    if row["processing"] == NONE and not free and not math.isclose(row["ratio_to_unprocessed"], 1.0, rel_tol=1e-9):
        return "ratio_to_unprocessed", "be 1 where nothing was processed"
    return None


def check_table(frame: pd.DataFrame, name: str) -> None:
    """A study is a product of its axes, with every processing at each point; each workload has its own seeds."""
    keys = ["domain_size", "epsilon", "data", "users", "mechanism", "processing"]
    points = "mechanism and processing at every point of its grid"
    check_seeded_grid(frame, name, keys, ("metric", "trials", "level"), points)


def refuse(asked: Asked) -> Iterator[BadValue]:
    """Refuse sizes that the data do not have, and settings of mechanisms that have none."""
    yield from grids.refuse_sizes_of_data(asked)
    yield from grids.refuse_options(asked)


EXPERIMENT = Experiment(
    kind="consistency",
    description="Errors of collections before and after non-negative least squares.",
    axes=(*grids.GRID, USERS, DATA),
    settings=(MECHANISMS, OPTIONS, TRIALS, LEVEL),
    columns=(
        WORKLOAD.column(),
        DOMAIN_SIZE.column(),
        EPSILON.column(),
        SEED.column(),
        DATA.column(),
        USERS.column(),
        Column("mechanism"),
        Column("processing"),
        Column("metric"),
        Column("trials"),
        Column("level"),
        number("exact_error"),
        number("measured_error"),
        number("standard_error"),
        number("measured_low"),
        number("measured_high"),
        number("ratio_to_unprocessed"),
        number("ratio_low"),
        number("ratio_high"),
        number("violation"),
        grids.STATUS,
        grids.REASON,
    ),
    keys=("workload", "domain_size", "epsilon", "seed", "data", "users", "mechanism", "processing"),
    measure=measure,
    table=table,
    check=check,
    check_table=check_table,
    refuse=refuse,
    parts=grids.by_mechanism,
    solves=grids.requests,
    tables=(
        PaperTable(
            rows=("data", "workload", "domain_size", "epsilon", "users"),
            columns=("mechanism", "processing"),
            shown=(Shown("ratio_to_unprocessed"),),
            without=(("processing", NONE),),
            text="Error after each processing over that of the unprocessed estimates of the same collections",
        ),
    ),
    figure="factormech.plots.consistency",
    seconds=partial(grids.seconds_of_collections, "process", users_of="data"),
    memory_mb=grids.memory_on_grid,
    seeded=True,
)
_NAMES = [column.name for column in EXPERIMENT.columns]
_MEASURED = _NAMES[_NAMES.index("exact_error") : _NAMES.index("status")]
