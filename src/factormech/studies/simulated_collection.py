"""Collections of simulated users beside their exact errors.

Its rows are, for every point of the grid (workload, domain size, ε, population, users, seed), one per mechanism. The
status is ``ok``; or ``refused`` (the workload is outside the strategy's row space) or ``unavailable`` (the mechanism
cannot exist there, or so many users cannot be simulated: then the exact error is there all the same), which have a
reason instead of numbers.

Errors are in ``metric`` (``mse``: the mean squared error of a normalised query). ``measured_error`` is the mean of the
trials and ``standard_error`` its own (empty for one trial). The interval is for the exact error, at the two-sided level
``level``; its upper end may be ``inf``. ``ratio`` is measured over exact, z the deviation of the measured error over
its exact standard deviation, and ``p_value`` two-sided; ``bias_ratio`` is the scaled squared error of the mean estimate
over the exact error, with a one-sided p-value. Ratios are empty where the exact error is 0. ``relative_variance`` and
``relative_scale`` describe the exact law of the error of one trial: with them the points can be pooled again.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from factormech.studies import grids
from factormech.studies.asked import Asked
from factormech.studies.axes import DOMAIN_SIZE, EPSILON, SEED, USERS, WORKLOAD
from factormech.studies.base import Column, Experiment, PaperTable, Problem, Shown
from factormech.studies.grids import LEVEL, MECHANISMS, OPTIONS, POPULATION, TRIALS, number
from factormech.studies.optimality_gap import ordered
from factormech.tabular import below, check_seeded_grid, filled, not_among, not_positive, unreasoned

if TYPE_CHECKING:
    import pandas as pd

STATUSES = ("ok", "refused", "unavailable")
_RATIOS = ("ratio_to_exact", "bias_ratio")


def measure(asked: Asked) -> Iterator[Mapping[str, Any]]:
    """Yield the collections of the part's mechanism at every point."""
    from factormech.studies.measures.collection import CollectionGrid, collect, row_of

    grid = CollectionGrid(
        asked["users"], asked["population"], asked["trials"], level=asked["level"], root_seed=asked.seed
    )
    for name in asked["mechanisms"]:
        found = collect(name, grids.Strategies(asked, name), grids.questions(asked), asked["epsilon"], grid)
        yield from map(row_of, found)


def table(asked: Asked, parts: Mapping[str, pd.DataFrame]) -> Iterator[dict[str, Any]]:
    """The rows in the order of the grid: workload, domain size, ε, population, users, seed, then mechanisms."""
    import pandas as pd

    measured = pd.concat(list(parts.values()), ignore_index=True).assign(metric="mse", level=asked["level"])
    keys = ["_workload", "domain_size", "epsilon", "_population", "users", "seed", "_mechanism"]
    yield from ordered(measured, keys)[[*(column.name for column in EXPERIMENT.columns), "origin"]].to_dict("records")


def check(row: Mapping[str, Any]) -> Problem:
    """Return the problem of a row whose numbers are not those that its status promises."""
    problem = below(row, ("domain_size", "users", "trials"), 1) or not_positive(row, ("epsilon", "level"))
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
        if row[column] < 0 and column != "z_score":
            return column, "be at least 0"
    for column in ("p_value", "bias_p_value"):
        if row[column] > 1:
            return column, "be at most 1"
    if not row["interval_low"] <= row["measured_error"] <= row["interval_high"]:
        return "measured_error", "be in its interval"
    if not free and not math.isclose(row["ratio_to_exact"], row["measured_error"] / row["exact_error"], rel_tol=1e-9):
        return "ratio_to_exact", "be measured_error over exact_error"
    return None


def check_table(frame: pd.DataFrame, name: str) -> None:
    """A study is a product of workload, domain size, ε, population, users and mechanism; and each workload of seeds."""
    keys = ["domain_size", "epsilon", "population", "users", "mechanism"]
    points = "mechanism at every point of its grid"
    check_seeded_grid(frame, name, keys, ("metric", "trials", "level"), points)


EXPERIMENT = Experiment(
    kind="simulated-collection",
    description="Errors of collections of simulated users beside the exact error.",
    axes=(*grids.GRID, USERS, POPULATION),
    settings=(MECHANISMS, OPTIONS, TRIALS, LEVEL),
    columns=(
        WORKLOAD.column(),
        DOMAIN_SIZE.column(),
        EPSILON.column(),
        SEED.column(),
        POPULATION.column(),
        USERS.column(),
        Column("mechanism"),
        Column("metric"),
        Column("trials"),
        Column("level"),
        number("exact_error"),
        number("measured_error"),
        number("standard_error"),
        number("interval_low"),
        number("interval_high", infinite=True),
        number("ratio_to_exact"),
        number("z_score"),
        number("p_value"),
        number("bias_ratio"),
        number("bias_p_value"),
        number("relative_variance"),
        number("relative_scale"),
        grids.STATUS,
        grids.REASON,
    ),
    keys=("workload", "domain_size", "epsilon", "seed", "population", "users", "mechanism"),
    measure=measure,
    table=table,
    check=check,
    check_table=check_table,
    refuse=grids.refuse_options,
    parts=grids.by_mechanism,
    solves=grids.requests,
    tables=(
        PaperTable(
            rows=("mechanism",),
            shown=(
                Shown("ratio_to_exact", "count", "points"),
                Shown("z_score", "largest", "largest |z|"),
                Shown("p_value", "min", "smallest p"),
                Shown("ratio_to_exact", "mean", "mean of measured over exact"),
            ),
            text="Measured over exact errors of simulated collections",
        ),
    ),
    figure="factormech.plots.simulated_collection",
    seconds=partial(grids.seconds_of_collections, "collect", users_of="population"),
    memory_mb=grids.memory_on_grid,
    seeded=True,
)
_NAMES = [column.name for column in EXPERIMENT.columns]
# What is empty unless a collection was measured.
_MEASURED = _NAMES[_NAMES.index("measured_error") : _NAMES.index("status")]
