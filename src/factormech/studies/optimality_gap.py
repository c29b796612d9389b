"""How far from optimal: average variances over the strongest lower bound.

Its rows are, for every point of the grid (workload, domain size, ε, seed), one per mechanism. Variances are those of
one user, summed over the queries. ``lower_bound`` is the strongest of the study's bounds on the *average* variance of
every ε-LDP strategy. ``ratio`` is average_variance over lower_bound, which the bound proves to be at least 1;
``worst_ratio`` is worst_variance over the same bound, at least ``ratio``: no more is proved of it. ``rows`` is the
number of outputs that a solver recorded. The status is ``ok``; or without ratios, but with a reason, ``free`` (the
variance is 0), ``unbounded`` (every bound is 0 here), ``refused`` or ``unavailable``.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from factormech.errors import BadValue
from factormech.studies import grids
from factormech.studies.asked import Asked
from factormech.studies.axes import DOMAIN_SIZE, EPSILON, WORKLOAD
from factormech.studies.base import Column, Compared, Experiment, PaperTable, Problem, Shown
from factormech.studies.grids import BOUNDS, BOUNDS_PART, MECHANISMS, OPTIONS, POINT, number
from factormech.studies.sample_complexity import measure
from factormech.tabular import check_grid, not_among, not_positive, unreasoned

if TYPE_CHECKING:
    import pandas as pd

VARIANCES = ("average_variance", "worst_variance")
RATIOS = ("ratio_to_bound", "worst_ratio")
STATUSES = ("ok", "free", "unbounded", "refused", "unavailable")
# A mechanism that attains its bound may be this far below it by rounding.
ROUNDING = 1e-9

VARIANCE_COLUMNS = (
    number("average_variance"),
    number("worst_variance"),
)
BOUND_COLUMNS = (
    Column("lower_bound", at_least=0.0),
    Column("bound_name"),
)
RATIO_COLUMNS = (
    number("ratio_to_bound"),
    number("worst_ratio"),
)


def strongest_bounds(bounds: pd.DataFrame) -> pd.DataFrame:
    """For each point of the frame of ``measure_bounds`` the largest bound on the average variance, and its name."""
    best = bounds.loc[bounds.groupby(POINT)["variance_bound"].idxmax(), [*POINT, "variance_bound", "bound_name"]]
    return best.rename(columns={"variance_bound": "lower_bound"})


def ratios(row: Mapping[str, Any]) -> dict[str, Any]:
    """The ratios of a measured row with its bound, or the status that says why there are none."""
    if row["status"] != "ok":
        return {}
    if row["average_variance"] == 0.0:
        return {"status": "free", "reason": "its variance is 0"}
    if row["lower_bound"] == 0.0:
        return {"status": "unbounded", "reason": "every lower bound is 0 here"}
    bound = row["lower_bound"]
    return {"ratio_to_bound": row["average_variance"] / bound, "worst_ratio": row["worst_variance"] / bound}


def joined(parts: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """The rows of all parts but the bounds', each with the strongest bound of its point."""
    import pandas as pd

    measured = pd.concat([frame for name, frame in parts.items() if name != BOUNDS_PART], ignore_index=True)
    return measured.merge(strongest_bounds(parts[BOUNDS_PART]), on=POINT, how="left", validate="many_to_one")


def ordered(frame: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    """Return the rows sorted by these columns; one with ``_`` before its name keeps its order of first appearance."""
    named = [key[1:] for key in keys if key.startswith("_")]
    ranks = {c: {name: rank for rank, name in enumerate(dict.fromkeys(frame[c]))} for c in named}
    ranked = frame.assign(**{f"_{c}": frame[c].map(ranks[c]) for c in named})
    return ranked.sort_values(keys, kind="stable").reset_index(drop=True)


def table(_: Asked, parts: Mapping[str, pd.DataFrame]) -> Iterator[dict[str, Any]]:
    """Yield the rows in the order of the grid, then of the study's mechanisms."""
    order = ordered(joined(parts), ["_workload", "domain_size", "epsilon", "seed", "_mechanism"])
    columns = [*(column.name for column in EXPERIMENT.columns if column.name in order), "origin"]
    yield from ({**row, **ratios(row)} for row in order[columns].to_dict("records"))


def problem_of_ratio(row: Mapping[str, Any]) -> Problem:
    """Return the problem of a row's variances, bound and ratios, which other tables have, too."""
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
    if ok and row["ratio_to_bound"] < 1.0 - ROUNDING:
        return "ratio_to_bound", "be at least 1, as for every ε-LDP strategy ((ε, δ)-private ones do not belong here)"
    return unreasoned(row, needed=not ok)


def check(row: Mapping[str, Any]) -> Problem:
    """Return the problem of a row whose numbers are not those that its status promises."""
    return not_positive(row, ("epsilon",)) or not_among(row, "status", STATUSES) or problem_of_ratio(row)


def check_table(frame: pd.DataFrame, name: str) -> None:
    """Every study has one row for each workload × domain size × ε × seed × mechanism in it."""
    for study, part in frame.groupby("study", sort=False):
        axes = [part[key].tolist() for key in EXPERIMENT.keys]
        check_grid(axes, name, f"study {study}", "mechanism at every point of its grid")


def refuse(asked: Asked) -> Iterator[BadValue]:
    """Refuse settings of mechanisms that have none."""
    yield from grids.refuse_options(asked)


EXPERIMENT = Experiment(
    kind="optimality-gap",
    description="Average variances over the strongest lower bound on those of every ε-LDP strategy.",
    axes=grids.GRID,
    settings=(MECHANISMS, OPTIONS, BOUNDS),
    columns=(
        WORKLOAD.column(),
        DOMAIN_SIZE.column(),
        EPSILON.column(),
        grids.SEED_COLUMN,
        Column("mechanism"),
        *VARIANCE_COLUMNS,
        *BOUND_COLUMNS,
        *RATIO_COLUMNS,
        number("rows"),
        grids.STATUS,
        grids.REASON,
    ),
    keys=("workload", "domain_size", "epsilon", "seed", "mechanism"),
    measure=measure,
    table=table,
    check=check,
    check_table=check_table,
    refuse=refuse,
    parts=grids.by_mechanism_and_bounds,
    solves=grids.requests,
    tables=(
        PaperTable(
            rows=("workload", "domain_size", "epsilon"),
            columns=("mechanism",),
            shown=(Shown("ratio_to_bound"),),
            best="min",
            text="Average variance of each mechanism over the strongest lower bound on that of every ε-LDP strategy",
        ),
    ),
    figure=Compared(
        y="ratio_to_bound",
        what="average variance over a lower bound on that of every unbiased linear ε-LDP strategy",
        label="average variance over the lower bound",
        height="ratio",
        text=("1 is optimal, and none of these strategies is below.",),
        notes=(
            "The average is over the user types; the bound holds for strategies with any number of outputs.",
            "The worst-case variance is at least the average one, so the bound holds for it, too; its ratio is in the "
            "table.",
        ),
    ),
    seconds=lambda asked: grids.seconds_on_grid("measure", asked),
    memory_mb=grids.memory_on_grid,
    seeded=True,
)
