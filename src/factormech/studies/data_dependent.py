"""How many users strategies need on given data.

Its rows are, for every point of the grid (workload, domain size, ε, seed) and every data set, one per mechanism;
``worst-case`` stands in the place of a data set. The status is ``ok``; or ``refused`` (the workload is outside the
strategy's row space) or ``unavailable`` (the mechanism cannot exist there), which have a reason instead of numbers.
``variance`` is that of one user drawn from the data, summed over the queries; ``sample_complexity`` is
variance/(queries · α), not rounded, and ``lower_bound`` has its units: the strongest bound that holds on these data,
for every ε-LDP factorization mechanism, and its name.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from factormech.errors import BadValue
from factormech.studies import grids
from factormech.studies.asked import Asked
from factormech.studies.axes import DOMAIN_SIZE, EPSILON, SEED, WORKLOAD
from factormech.studies.base import Column, Experiment, PaperTable, Problem, Shown
from factormech.studies.grids import BOUNDS, BOUNDS_PART, DATA, MECHANISMS, METRIC, OPTIONS, TARGET, number
from factormech.studies.optimality_gap import ordered
from factormech.studies.sample_complexity import for_targets
from factormech.tabular import below_bound, check_seeded_grid, not_among, not_positive, unreasoned

if TYPE_CHECKING:
    import pandas as pd

STATUSES = ("ok", "refused", "unavailable")
WORST_CASE = "worst-case"
_PLACES = ["workload", "domain_size", "epsilon", "seed", "data", "alpha"]


def measure(asked: Asked) -> Iterator[Mapping[str, Any]]:
    """Yield the variances of the part's mechanism on every data set, or the bounds there."""
    from dataclasses import asdict

    from factormech.studies.measures.data_dependent import bounds_on_data, measure_on_data

    data, questions = grids.data_of(asked), grids.questions(asked)
    for name in asked["mechanisms"]:
        strategies = grids.Strategies(asked, name)
        yield from map(asdict, measure_on_data(name, strategies, questions, asked["epsilon"], data))
    if asked["bounds"]:
        found = bounds_on_data(asked["bounds"], questions, asked["epsilon"], data, grids.evaluate_bound)
        yield from map(asdict, found)


def table(asked: Asked, parts: Mapping[str, pd.DataFrame]) -> Iterator[dict[str, Any]]:
    """One row for each grid point, data set (the worst case last) and mechanism, with the strongest bound there."""
    import pandas as pd

    from factormech.mechanisms.local.errors import sample_complexity

    def users(frame: pd.DataFrame, column: str) -> list[float]:
        triples = zip(frame[column], frame["queries"], frame["alpha"], strict=True)
        return [sample_complexity(asked["metric"], variance, int(p), alpha) for variance, p, alpha in triples]

    measured = pd.concat([frame for name, frame in parts.items() if name != BOUNDS_PART], ignore_index=True)
    measured, bounds = (for_targets(frame, asked) for frame in (measured, parts[BOUNDS_PART]))
    bounded = bounds.assign(lower_bound=users(bounds, "variance_bound"))[[*_PLACES, "lower_bound", "bound_name"]]
    measured = measured.assign(sample_complexity=users(measured, "variance"))
    joined = measured.merge(bounded, on=_PLACES, how="left", validate="many_to_one")
    order = ordered(joined, ["_workload", "domain_size", "epsilon", "seed", "alpha", "_data", "_mechanism"])
    yield from order[[*(column.name for column in EXPERIMENT.columns), "origin"]].to_dict("records")


def check(row: Mapping[str, Any]) -> Problem:
    """Return the problem of a row whose numbers are not those that its status promises."""
    problem = not_positive(row, ("epsilon", "alpha")) or not_among(row, "status", STATUSES)
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


def check_table(frame: pd.DataFrame, name: str) -> None:
    """A study is a product of its axes (each workload of its seeds), and has one bound at a point."""
    keys = ["domain_size", "epsilon", "alpha", "data", "mechanism"]
    points = "mechanism on every data set at every point of its grid"
    check_seeded_grid(frame, name, keys, ("metric",), points)
    places = ["study", *_PLACES]
    bounds = frame[[*places, "lower_bound", "bound_name"]].drop_duplicates()
    twice = bounds[bounds.duplicated(places)]
    if len(twice):
        where = " ".join(map(str, twice.iloc[0][places]))
        rule, remedy = "be the same for all mechanisms", "lines were edited: run the workflow again"
        raise BadValue(f"{name}, lower_bound at {where}", twice.iloc[0]["lower_bound"], rule, remedy)


def refuse(asked: Asked) -> Iterator[BadValue]:
    """Refuse sizes that the data do not have, and settings of mechanisms that have none."""
    yield from grids.refuse_sizes_of_data(asked)
    yield from grids.refuse_options(asked)


EXPERIMENT = Experiment(
    kind="data-dependent",
    description="Users that strategies need on data sets, and on the worst data.",
    axes=(*grids.GRID, DATA, TARGET),
    settings=(MECHANISMS, OPTIONS, METRIC, BOUNDS),
    columns=(
        WORKLOAD.column(),
        DOMAIN_SIZE.column(),
        EPSILON.column(),
        SEED.column(),
        DATA.column(),
        Column("mechanism"),
        Column("metric"),
        TARGET.column(),
        number("sample_complexity"),
        number("variance"),
        Column("lower_bound"),
        Column("bound_name"),
        grids.STATUS,
        grids.REASON,
    ),
    keys=(*_PLACES, "mechanism"),
    measure=measure,
    table=table,
    check=check,
    check_table=check_table,
    refuse=refuse,
    parts=grids.by_mechanism_and_bounds,
    solves=grids.requests,
    tables=(
        PaperTable(
            rows=("data", "workload", "domain_size", "epsilon", "metric", "alpha"),
            columns=("mechanism",),
            shown=(Shown("sample_complexity"),),
            best="min",
            bound="lower_bound",
            text="Users that each mechanism needs on each data set",
        ),
    ),
    figure="factormech.plots.data_dependent",
    seconds=lambda asked: grids.seconds_on_grid("measure_on_data", asked),
    memory_mb=grids.memory_on_grid,
    seeded=True,
)
