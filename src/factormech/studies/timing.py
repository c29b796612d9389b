"""What solvers cost: seconds of an iteration, and seconds until a solver has come near a lower bound.

A row of ``quantity`` ``iteration`` is the mean (``seconds``) and least (``least_seconds``) time of ``iterations``
iterations of the published optimiser at a domain size. A row of ``to-gap`` is the time after which ``mechanism`` had a
strategy with an average variance of at most ``gap`` times ``lower_bound``, the strongest of the study's bounds, and the
``iterations`` that it had told of by then; ``final_variance`` and ``final_seconds`` are those of its end. The status is
``ok``; or, with a reason, ``not reached``, ``unbounded`` (every bound is 0) or ``unavailable``.

Seconds are of one machine and one moment: the columns in :data:`CLOCK` are the only ones of all tables that another
run does not repeat.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from factormech.studies import grids
from factormech.studies.asked import Asked
from factormech.studies.axes import DOMAIN_SIZE, EPSILON, SEED, WORKLOAD
from factormech.studies.base import Column, Experiment, PaperTable, Problem, Setting, Shown
from factormech.studies.grids import BOUNDS, BOUNDS_PART, MECHANISMS, POINT, number
from factormech.studies.initialisation import solves
from factormech.studies.optimality_gap import ordered, strongest_bounds
from factormech.tabular import below, below_bound, check_grid, not_among, not_positive, unreasoned

if TYPE_CHECKING:
    import pandas as pd

ITERATION, TO_GAP = QUANTITIES = ("iteration", "to-gap")
STATUSES = ("ok", "not reached", "unbounded", "unavailable")
# What a clock wrote.
CLOCK = frozenset({"seconds", "least_seconds", "final_seconds"})
ITERATIONS_PART = "single.iterations"


def parts(asked: Asked) -> dict[str, Asked]:
    """A part for each mechanism and workload, one for the bounds, and one for single iterations."""
    found = grids.by_mechanism_and_workload(asked)
    others = {name: grids.replace_settings(part, iteration_sizes=[]) for name, part in found.items()}
    return others | {ITERATIONS_PART: grids.replace_settings(asked, mechanisms=[], bounds=[])}


def measure(asked: Asked) -> Iterator[Mapping[str, Any]]:
    """Yield the trace of the part's mechanism, the bounds, or single iterations."""
    from factormech.studies.measures.solvers import time_iterations, trace

    for name in asked["mechanisms"]:
        yield from trace(name, grids.questions(asked), asked["epsilon"], asked.seed)
    yield from grids.bounds_of(asked)
    yield from time_iterations(sorted(asked["iteration_sizes"]))


def table(asked: Asked, parts: Mapping[str, pd.DataFrame]) -> Iterator[dict[str, Any]]:
    """Single iterations first, then the time to each gap."""
    import pandas as pd

    for row in parts[ITERATIONS_PART].to_dict("records"):
        yield {"quantity": ITERATION, "workload": "histogram", "seed": 0, "epsilon": 1.0, "status": "ok"} | row
    others = [frame for name, frame in parts.items() if name not in (BOUNDS_PART, ITERATIONS_PART)]
    told = ordered(pd.concat(others, ignore_index=True), ["_workload", "domain_size"])
    best = strongest_bounds(parts[BOUNDS_PART]).set_index(POINT).to_dict("index")
    for (*point, mechanism), part in told.groupby([*POINT, "mechanism"], sort=False):
        place = dict(zip(POINT, point, strict=True))
        bound = best[tuple(point)]
        for gap in sorted(asked["gaps"]):
            row = {"quantity": TO_GAP, "mechanism": mechanism, "gap": gap, **place, **bound}
            row["origin"] = part["origin"].iloc[0]
            yield row | _reached(part, gap, bound["lower_bound"])


def _reached(told: pd.DataFrame, gap: float, bound: float) -> dict[str, Any]:
    """When a trace first was within a gap of the bound, or why that is not known."""
    end = told.iloc[-1]
    if end["reason"]:
        return {"status": "unavailable", "reason": end["reason"]}
    final = {"final_variance": end["average_variance"], "final_seconds": end["seconds"]}
    if bound <= 0.0:
        return {**final, "status": "unbounded", "reason": "every lower bound is 0 here"}
    within = told[told["average_variance"] <= gap * bound]
    if within.empty:
        reason = f"ends at {end['average_variance'] / bound:.3f} times the lower bound"
        return {**final, "status": "not reached", "reason": reason}
    first = within.iloc[0]
    return {**final, "iterations": first["told"], "seconds": first["seconds"], "status": "ok"}


def check(row: Mapping[str, Any]) -> Problem:
    """Return the problem of a row whose numbers are not those that its status promises."""
    problem = (
        below(row, ("domain_size",), 1)
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


def check_table(frame: pd.DataFrame, name: str) -> None:
    """Every study has one row for each workload × mechanism × gap at each of its sizes, and one for each iteration."""
    for (study, quantity), part in frame.groupby(["study", "quantity"], sort=False):
        keys = ["workload", "domain_size", "epsilon", "seed", "mechanism"]
        gaps = part["gap"].fillna(0.0)
        axes = [part[key].tolist() for key in keys] + [gaps.tolist()]
        check_grid(axes, name, f"study {study}, {quantity}", "mechanism and gap at every point of its grid")


def seconds(asked: Asked) -> float:
    """Return the seconds that a part is expected to take."""
    cost = grids.costs()

    count = len(asked["epsilon"]) * len(asked["seed"]) * len(asked["workload"])
    works = [cost.trace(name, asked["domain_size"], count) for name in asked["mechanisms"]]
    works += [cost.iterate(asked["iteration_sizes"])] if asked["iteration_sizes"] else []
    bounds = grids.solved_here(grids.replace_settings(asked, mechanisms=[]))
    return float(bounds + sum(map(cost.in_process_seconds, works)))


def _numbers(example: list[Any], **entry: Any) -> dict[str, Any]:
    items = {**entry, "remedy": f"give for example {example[0]}"}
    return {"type": "array", "minItems": 1, "uniqueItems": True, "items": items}


EXPERIMENT = Experiment(
    kind="timing",
    description="Processor seconds of the solvers.",
    axes=grids.GRID,
    settings=(
        MECHANISMS,
        BOUNDS,
        Setting(
            "gaps",
            _numbers(
                [1.1],
                type="number",
                exclusiveMinimum=1,
                maximum=1000,
                rule="be a number above 1 and at most 1000",
            ),
            "Multiples of the strongest lower bound that the solvers are clocked to.",
            [1.05, 1.1, 1.2],
            [1.05, 1.1, 1.2],
            stage="table",
        ),
        Setting(
            "iteration_sizes",
            _numbers([64], type="integer", minimum=2, maximum=8192),
            "Domain sizes at which single iterations of the published optimiser are clocked.",
            [64, 128, 256],
            [64, 128, 256, 512, 1024],
        ),
    ),
    columns=(
        Column("quantity"),
        WORKLOAD.column(),
        DOMAIN_SIZE.column(),
        EPSILON.column(),
        SEED.column(),
        Column("mechanism"),
        number("gap"),
        number("iterations"),
        number("seconds"),
        number("least_seconds"),
        number("lower_bound"),
        Column("bound_name", empty="free"),
        number("final_variance"),
        number("final_seconds"),
        grids.STATUS,
        grids.REASON,
    ),
    keys=("quantity", "workload", "domain_size", "epsilon", "seed", "mechanism", "gap"),
    measure=measure,
    table=table,
    check=check,
    check_table=check_table,
    parts=parts,
    solves=solves,
    tables=(
        PaperTable(
            rows=("domain_size",),
            where=(("quantity", ITERATION),),
            shown=(Shown("seconds", "mean", "mean"), Shown("least_seconds", "min", "least")),
            text="Seconds of one iteration",
        ),
        PaperTable(
            rows=("gap", "epsilon", "workload", "domain_size"),
            where=(("quantity", TO_GAP),),
            columns=("mechanism",),
            shown=(Shown("seconds"),),
            best="min",
            text="Seconds until the average variance is at most a multiple of the strongest lower bound",
        ),
    ),
    figure="factormech.plots.timing",
    seconds=seconds,
    memory_mb=grids.memory_on_grid,
    seeded=True,
)
