"""What a solver finds from several random starts with several numbers of rows, over a lower bound.

As in section 6.5 of McKenna, Maity, Mazumdar & Miklau, PVLDB 13(11), 2020. Its rows are, for every workload, domain
size, ε, seed and mechanism, one for each multiple ``row_factor`` of the domain size that the solver was allowed as
rows, and each random ``start``. ``rows`` is the number of outputs that the strategy has at the end, ``stopped`` what
the solver said of its end. Variances, bound, ratios and status are those of
:mod:`factormech.studies.optimality_gap`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from factormech.studies import grids
from factormech.studies.asked import Asked
from factormech.studies.axes import DOMAIN_SIZE, EPSILON, SEED, WORKLOAD
from factormech.studies.base import Column, Compared, Experiment, PaperTable, Problem, Setting, Shown
from factormech.studies.grids import BOUNDS, MECHANISMS, number
from factormech.studies.optimality_gap import (
    BOUND_COLUMNS,
    RATIO_COLUMNS,
    STATUSES,
    VARIANCE_COLUMNS,
    joined,
    ordered,
    problem_of_ratio,
    ratios,
)
from factormech.studies.solves import Solve
from factormech.tabular import below, check_grid, not_among, not_positive

if TYPE_CHECKING:
    import pandas as pd


def measure(asked: Asked) -> Iterator[Mapping[str, Any]]:
    """Yield the solutions of the part's mechanism from every start, or the bounds."""
    from factormech.studies.measures.solvers import Starts, measure_starts

    starts = Starts(sorted(asked["rows"]), asked["starts"], asked.seed)
    for name in asked["mechanisms"]:
        yield from measure_starts(name, grids.questions(asked), asked["epsilon"], starts)
    yield from grids.bounds_of(asked)


def table(_: Asked, parts: Mapping[str, pd.DataFrame]) -> Iterator[dict[str, Any]]:
    """Yield the rows in the order of the study's workloads and mechanisms, then of the grid."""
    keys = ["_workload", "domain_size", "epsilon", "seed", "_mechanism", "row_factor", "start"]
    order = ordered(joined(parts), keys)
    columns = [*(column.name for column in EXPERIMENT.columns if column.name in order), "origin"]
    yield from ({**row, **ratios(row)} for row in order[columns].to_dict("records"))


def check(row: Mapping[str, Any]) -> Problem:
    """Return the problem of a row whose numbers are not those that its status promises."""
    problem = (
        below(row, ("domain_size", "row_factor"), 1)
        or below(row, ("seed", "start"), 0)
        or not_positive(row, ("epsilon",))
        or not_among(row, "status", STATUSES)
    )
    return problem or problem_of_ratio(row)


def check_table(frame: pd.DataFrame, name: str) -> None:
    """Every workload has one row for each domain size × ε × seed × mechanism × number of rows × start."""
    keys = ["domain_size", "epsilon", "seed", "mechanism", "row_factor", "start"]
    for (study, workload), part in frame.groupby(["study", "workload"], sort=False):
        axes = [part[key].tolist() for key in keys]
        check_grid(axes, name, f"study {study}, workload {workload}", "mechanism, number of rows and start")


def solves(asked: Asked) -> Iterator[Solve]:
    """The bounds alone: what starts lead to is the study's own."""
    return grids.requests(grids.replace_settings(asked, mechanisms=[]))


def seconds(asked: Asked) -> float:
    """Return the seconds that a part is expected to take."""
    cost = grids.costs()

    count = len(asked["epsilon"]) * len(asked["seed"]) * asked["starts"] * len(asked["workload"])
    works = [cost.starts(name, asked["domain_size"], asked["rows"], count) for name in asked["mechanisms"]]
    bounds = grids.solved_here(grids.replace_settings(asked, mechanisms=[]))
    return float(bounds + sum(map(cost.in_process_seconds, works)))


EXPERIMENT = Experiment(
    kind="initialisation",
    description="Average variances that solvers find from random starts, over the strongest lower bound.",
    axes=grids.GRID,
    settings=(
        MECHANISMS,
        BOUNDS,
        Setting(
            "rows",
            {
                "type": "array",
                "minItems": 1,
                "uniqueItems": True,
                "items": {"type": "integer", "minimum": 1, "maximum": 1024},
            },
            "Rows of the strategies that solvers start from, in multiples of the domain size.",
            [2, 4, 8, 16],
            [2, 4, 8, 16],
        ),
        Setting(
            "starts",
            {"type": "integer", "minimum": 1, "maximum": 100000},
            "Random starts of each solver, for each number of rows.",
            10,
            10,
        ),
    ),
    columns=(
        WORKLOAD.column(),
        DOMAIN_SIZE.column(),
        EPSILON.column(),
        SEED.column(),
        Column("mechanism"),
        Column("row_factor"),
        Column("start"),
        number("rows"),
        *VARIANCE_COLUMNS,
        *BOUND_COLUMNS,
        *RATIO_COLUMNS,
        Column("stopped", empty="free"),
        grids.STATUS,
        grids.REASON,
    ),
    keys=("workload", "domain_size", "epsilon", "seed", "mechanism", "row_factor", "start"),
    measure=measure,
    table=table,
    check=check,
    check_table=check_table,
    parts=grids.by_mechanism_and_workload,
    solves=solves,
    tables=(
        PaperTable(
            rows=("mechanism", "workload", "domain_size", "epsilon", "row_factor"),
            shown=(
                Shown("ratio_to_bound", "min", "least"),
                Shown("ratio_to_bound", "median", "median"),
                Shown("ratio_to_bound", "max", "largest"),
                Shown("worst_ratio", "max", "largest in the worst case"),
            ),
            text="Average variance over the strongest lower bound, over random starts with m rows",
        ),
    ),
    figure=Compared(
        y="worst_ratio",
        x="row_factor",
        what="worst-case variance of what the solver finds over a lower bound",
        label="worst-case variance over the lower bound",
        height="ratio",
        points=True,
        fixed=True,
        text=("1 is optimal.", "Every small point is one of {start} random starts; lines join their medians."),
        notes=("The lower bound is on the average variance of every ε-LDP strategy with any number of outputs.",),
    ),
    seconds=seconds,
    memory_mb=grids.memory_on_grid,
    seeded=True,
)
