"""How many users strategies need for a target error, against the privacy budget or the domain size.

Its rows are, for every point of the grid (workload, domain size, ε, seed, α):

* one per mechanism, with status ``ok``; or ``refused`` (the workload is outside the strategy's row space) or
  ``unavailable`` (the mechanism cannot exist there), which have a reason instead of numbers. Their
  ``lower_bound`` and ``bound_name`` are the strongest of the point's bounds;
* one per lower bound, with mechanism ``lower-bound``, status ``bound`` and the value in ``lower_bound``.

Variances are summed over the queries, for one user. ``sample_complexity`` is worst_variance / (queries · α),
not rounded, and ``lower_bound`` has its units. ``log2_outputs`` are the bits of a report, by the number of outputs of
the strategy. Where a solver's record says them, ``rows`` is that number and ``certified_gap`` the average variance over
the solver's own lower bound on that of every ε-LDP strategy, less 1.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from factormech.errors import BadValue
from factormech.studies import grids
from factormech.studies.asked import Asked
from factormech.studies.axes import DOMAIN_SIZE, EPSILON, WORKLOAD
from factormech.studies.base import Column, Compared, Experiment, PaperTable, Problem, Setting, Shown
from factormech.studies.grids import BOUNDS, BOUNDS_PART, MECHANISMS, METRIC, OPTIONS, POINT, TARGET, number
from factormech.tabular import below_bound, check_grid, not_among, not_positive, unreasoned

if TYPE_CHECKING:
    import pandas as pd

SOLVED = ("rows", "certified_gap")
MEASURED = ("sample_complexity", "worst_variance", "average_variance")
STATUSES = ("ok", "refused", "unavailable", "bound")
LOWER_BOUND = "lower-bound"
PLACES = ["workload", "domain_size", "epsilon", "seed", "alpha"]


def measure(asked: Asked) -> Iterator[Mapping[str, Any]]:
    """Yield the exact variances of the part's mechanisms, or its lower bounds, at every point."""
    from dataclasses import asdict

    from factormech.mechanisms.local.errors import measure_mechanism

    for name in asked["mechanisms"]:
        strategies = grids.Strategies(asked, name)
        found = measure_mechanism(name, strategies, grids.questions(asked), asked["epsilon"], strategies.record)
        yield from map(asdict, found)
    yield from grids.bounds_of(asked)


def table(asked: Asked, parts: Mapping[str, pd.DataFrame]) -> Iterator[dict[str, Any]]:
    """The rows in the order of the grid: workload, domain size, seed, ε, then mechanisms, then bounds."""
    import pandas as pd

    from factormech.mechanisms.local.errors import sample_complexity

    def users(frame: pd.DataFrame, column: str) -> list[float]:
        triples = zip(frame[column], frame["queries"], frame["alpha"], strict=True)
        return [sample_complexity(asked["metric"], variance, int(p), alpha) for variance, p, alpha in triples]

    measured = pd.concat([frame for name, frame in parts.items() if name != BOUNDS_PART], ignore_index=True)
    measured, bounds = (for_targets(frame, asked) for frame in (measured, parts[BOUNDS_PART]))
    measured["sample_complexity"] = users(measured, "worst_variance")
    bounded = bounds.assign(lower_bound=users(bounds, "variance_bound"))
    point = [*POINT, "alpha"]
    strongest = bounded.loc[bounded.groupby(point)["lower_bound"].idxmax(), [*point, "lower_bound", "bound_name"]]
    measured = measured.merge(strongest, on=point, how="left", validate="many_to_one")
    bounded = bounded.assign(mechanism=LOWER_BOUND, status="bound", reason="")
    joined = pd.concat([measured, bounded], ignore_index=True)
    ranks = {name: rank for rank, name in enumerate(dict.fromkeys(joined["mechanism"]))}
    wanted = {name: rank for rank, name in enumerate(dict.fromkeys(joined["workload"]))}
    order = joined.assign(_w=joined["workload"].map(wanted), _m=joined["mechanism"].map(ranks)).sort_values(
        ["_w", "domain_size", "seed", "epsilon", "alpha", "_m"], kind="stable"
    )
    yield from order[[*(column.name for column in EXPERIMENT.columns), "origin"]].to_dict("records")


def for_targets(frame: pd.DataFrame, asked: Asked) -> pd.DataFrame:
    """Return the measured rows once for each target error α of the study, with the metric."""
    import pandas as pd

    copies = [frame.assign(metric=asked["metric"], alpha=alpha) for alpha in asked["alpha"]]
    return pd.concat(copies, ignore_index=True)


def check(row: Mapping[str, Any]) -> Problem:
    """Return the problem of a row whose numbers are not those that its status promises."""
    problem = not_positive(row, ("epsilon", "alpha")) or not_among(row, "status", STATUSES)
    if problem is not None:
        return problem
    if (row["status"] == "bound") != (row["mechanism"] == LOWER_BOUND):
        return "status", f"be 'bound' where the mechanism is {LOWER_BOUND!r}, and only there"
    return _problem_of_numbers(row)


def _problem_of_numbers(row: Mapping[str, Any]) -> Problem:
    ok, bound = row["status"] == "ok", row["status"] == "bound"
    for column in MEASURED:
        if ok and not (math.isfinite(row[column]) and row[column] >= 0):
            return column, "be a finite number of at least 0 where the status is ok"
        if not ok and not math.isnan(row[column]):
            return column, f"be empty where the status is {row['status']}"
    for column, least in zip((*SOLVED, "log2_outputs"), (1.0, -1e-9, 0.0), strict=True):
        if not math.isnan(row[column]) and not (ok and row[column] >= least):
            return column, f"be at least {max(least, 0.0):g}, or empty, and empty where the status is {row['status']}"
    if bound and math.isnan(row["lower_bound"]):
        return "lower_bound", "be a number where the status is bound"
    if math.isnan(row["lower_bound"]) != (row["bound_name"] == ""):
        return "bound_name", "name the bound where lower_bound has a number, and only there"
    return below_bound(row, "sample_complexity") or unreasoned(row, needed=not (ok or bound))


def check_table(frame: pd.DataFrame, name: str) -> None:
    """Every study has one row for each workload × domain size × ε × seed × α × (mechanism or bound) in it."""
    for study, part in frame.groupby("study", sort=False):
        # bound_name tells a bound from the others; that of a mechanism only says which was the strongest.
        who = part["mechanism"].where(part["status"] != "bound", LOWER_BOUND + " " + part["bound_name"])
        axes = [part[key].tolist() for key in PLACES] + [who.tolist()]
        check_grid(axes, name, f"study {study}", "mechanism and bound at every point of its grid")
    _check_strongest(frame, name)


def _check_strongest(frame: pd.DataFrame, name: str) -> None:
    """Check that the lower bound in a mechanism's row is the strongest of its point's bound rows."""
    keys = ["study", *PLACES]
    is_bound = frame["status"] == "bound"
    bounds = frame[is_bound]
    strongest = bounds[bounds["lower_bound"] == bounds.groupby(keys)["lower_bound"].transform("max")]
    columns = [*keys, "bound_name", "lower_bound"]
    known = set(strongest[columns].itertuples(index=False, name=None))
    points = {row[: len(keys)] for row in known}
    for row in frame.loc[~is_bound, columns].itertuples(index=False, name=None):
        if row not in known and (row[: len(keys)] in points or row[-2]):
            raise BadValue(
                f"{name}, mechanisms at {' '.join(map(str, row[: len(keys)]))}",
                f"{row[-2]} {row[-1]}",
                "repeat the strongest of the point's lower bounds",
                "lines are missing or were edited: run the workflow again",
            )


def refuse(asked: Asked) -> Iterator[BadValue]:
    """Refuse settings that name mechanisms or bounds that the study does not have."""
    yield from grids.refuse_options(asked)
    others, compared = asked["mechanisms"], asked["compare"]
    if compared and compared not in others:
        yield BadValue("compare", compared, "be a mechanism of the study", "give one of them, or leave the key out")
    for i, name in enumerate(asked["exclude"]):
        if name not in others or name == compared:
            remedy = "give mechanisms that do not compete, or leave the key out"
            yield BadValue(f"exclude[{i}]", name, "be another mechanism of the study", remedy)
    for title, names in asked["groups"].items():
        for i, name in enumerate(names):
            if name not in others:
                rule = "be a mechanism of the study"
                yield BadValue(f"groups.{title}[{i}]", name, rule, f"give one of {', '.join(others)}")


def derived(asked: Asked) -> dict[str, str]:
    """The tables of improvement and of growth, where the study compares a mechanism; growth needs three sizes."""
    if not asked["compare"]:
        return {}
    names = ["improvement", *(["slopes"] if len(asked["domain_size"]) > 2 else [])]
    return {name: f"factormech.tables.compare:{name}_of_study" for name in names}


def seconds(asked: Asked) -> float:
    """Return the seconds that a part is expected to take."""
    return grids.seconds_on_grid("measure", asked)


EXPERIMENT = Experiment(
    kind="sample-complexity",
    description="Users that strategies need for a target error, beside lower bounds.",
    axes=(*grids.GRID, TARGET),
    settings=(
        MECHANISMS,
        OPTIONS,
        METRIC,
        BOUNDS,
        Setting(
            "compare",
            {"type": "string", "minLength": 1},
            "A mechanism of the study; tables of its improvement on the best of the others and of growth with the "
            "domain size are made.",
            "adaptive-pgd",
            optional=True,
            stage="table",
        ),
        Setting(
            "exclude",
            {"type": "array", "uniqueItems": True, "items": {"type": "string", "minLength": 1}},
            "Mechanisms of the study that the one of compare does not compete with.",
            ["optimised"],
            [],
            stage="table",
        ),
        Setting(
            "band",
            {"type": "boolean"},
            "Whether the figure draws the strongest lower bound as a band, and of the bounds only the published one "
            "as a line.",
            True,
            False,
            stage="figure",
        ),
        Setting(
            "groups",
            {
                "type": "object",
                "rule": "be a mapping from titles to lists of mechanisms of the study",
                "additionalProperties": {
                    "type": "array",
                    "minItems": 1,
                    "uniqueItems": True,
                    "description": "The mechanisms of one group; a mechanism may be in several.",
                    "remedy": "give for example [hadamard, optimised]",
                    "items": {"type": "string", "minLength": 1, "remedy": "give for example hadamard"},
                },
            },
            "Groups of mechanisms. The figure has each panel once for every group, as users over the strongest lower "
            "bound, where one panel of all mechanisms is crowded.",
            {"published": ["hadamard-table1"], "solved": ["optimised"]},
            {},
            stage="figure",
        ),
    ),
    columns=(
        WORKLOAD.column(),
        DOMAIN_SIZE.column(),
        EPSILON.column(),
        grids.SEED_COLUMN,
        Column("mechanism"),
        Column("metric"),
        TARGET.column(),
        number("sample_complexity"),
        number("worst_variance"),
        number("average_variance"),
        number("lower_bound"),
        Column("bound_name", empty="free"),
        number("rows"),
        number("certified_gap"),
        number("log2_outputs", added=math.nan),
        grids.STATUS,
        grids.REASON,
    ),
    keys=(*PLACES, "mechanism"),
    measure=measure,
    table=table,
    check=check,
    check_table=check_table,
    refuse=refuse,
    parts=grids.by_mechanism_and_bounds,
    solves=grids.requests,
    derived=derived,
    tables=(
        PaperTable(
            rows=("workload", "domain_size", "epsilon", "metric", "alpha"),
            columns=("mechanism",),
            shown=(Shown("sample_complexity"),),
            best="min",
            bound="lower_bound",
            without=(("mechanism", LOWER_BOUND),),
            text="Users that each mechanism needs in the worst case",
        ),
        PaperTable(
            rows=("workload", "domain_size", "epsilon"),
            columns=("mechanism",),
            shown=(Shown("log2_outputs"),),
            without=(("mechanism", LOWER_BOUND),),
            text="Bits of a report, by the number of outputs of each strategy; none where reports are real numbers",
        ),
    ),
    figure=Compared(y="sample_complexity", what="users needed for {accuracy}", label="users needed for {accuracy}"),
    seconds=seconds,
    memory_mb=grids.memory_on_grid,
    seeded=True,
)
