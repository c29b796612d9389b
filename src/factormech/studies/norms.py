"""Factorization norms between certified ends, and what is known of them without solving.

Its rows are, for every workload, domain size and seed, one per norm, and per ``entry_error`` for the norms that have
an error (it is empty for the others). ``lower`` and ``upper`` hold in exact arithmetic. ``trace_bound`` is
‖W‖_*/√(kN), below every exact norm; ``known_lower`` and ``known_upper`` are a closed form (equal, to rounding) or a
published interval, which ``known`` names. The status is ``ok``, or ``unavailable`` with a reason and without numbers.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from factormech.errors import BadValue
from factormech.names import Family
from factormech.studies import grids, solves
from factormech.studies.asked import Asked
from factormech.studies.axes import DOMAIN_SIZE, ENTRY_ERROR, SEED, WORKLOAD
from factormech.studies.base import Column, Experiment, PaperTable, Problem, Setting, Shown
from factormech.studies.grids import number
from factormech.studies.optimality_gap import ordered
from factormech.studies.solves import Solve
from factormech.tabular import below, check_grid, not_among, unreasoned

if TYPE_CHECKING:
    import pandas as pd

    from factormech.studies.measures.norms import NormQuestion, SolvedFor

ENDS = ("lower", "upper")
KNOWN = ("known_lower", "known_upper")
STATUSES = ("ok", "unavailable")
# What is computed in floating point may cross a certified end by this share, or, near zero, by this much.
ROUNDING = 1e-9


def _norms() -> Iterable[str]:
    from factormech.norms import registry

    return registry.quantities()


def _check_norm(name: str) -> None:
    from factormech.norms import registry

    registry.quantity(name)


def _module_of_norm(name: str) -> str:
    from factormech.norms import registry

    return registry.quantity(name).module("auto")


NORMS = Setting(
    "norms",
    {"type": "array", "minItems": 1, "uniqueItems": True, "items": {"type": "string", "minLength": 1}},
    "Names of norms.",
    ["gamma-2", "gamma-f"],
    names=Family(_norms, _check_norm, _module_of_norm),
)
SOLVER = Setting(
    "solver",
    {"type": "string", "enum": ["auto", "cvxpy", "cvxpy-scs"]},
    "What solves the norms: auto (our own, the best for the workload), or a general solver through cvxpy, slow and "
    "independent, for small sizes: cvxpy (Clarabel), cvxpy-scs.",
    "auto",
    "auto",
)


def is_tolerant(norm: str) -> bool:
    """Return whether a norm has an error α."""
    from factormech.norms.registry import quantity

    return quantity(norm).tolerant


def measure(asked: Asked) -> Iterator[Mapping[str, Any]]:
    """Yield the norms of the part at every point."""
    from factormech.studies.measures.norms import NormQuestion, measure_norm

    pairs = list(grids.asked_workloads(asked))
    concepts = asked.settings.get("concepts", False)
    questions = [NormQuestion(workload, seed, concepts) for workload, seed in pairs]
    for norm in asked["norms"]:
        yield from measure_norm(norm, questions, alphas(asked), solved(asked, norm))


def alphas(asked: Asked) -> tuple[float, ...]:
    """The errors of the study, in order; none where its norms have none."""
    return tuple(sorted(asked.grid.get("entry_error", ())))


def solved(asked: Asked, norm: str) -> SolvedFor:
    """Return the function that gets a norm: read from a file, or solved here."""
    from factormech.norms.stored import from_datasets
    from factormech.spec import Spec, find
    from factormech.studies.measures.norms import solved_here

    here = solved_here(norm, asked["solver"])

    def found(question: NormQuestion, alpha: float | None) -> Any:
        W = question.workload
        options = {"concepts": True} if question.concepts else {}
        stored = find(Spec("factorization", norm, W.spec(), options, alpha=alpha))
        if stored is None:
            return here(question, alpha)
        return from_datasets(stored.datasets, stored.attributes, W)

    return found


def request(asked: Asked, norm: str, workload: str, n: int, seed: int, alpha: float | None) -> Solve:
    """The request for a factorization at a point of the grid."""
    found = solves.of_workload(
        "factorization", norm, workload, n, seed=seed, root_seed=asked.seed, own=asked.definitions
    )
    options = {"concepts": True} if asked.settings.get("concepts", False) else {}
    return replace(found, alpha=alpha, options=options)


def requests(asked: Asked) -> Iterator[Solve]:
    """The factorizations that take long enough for a file; those of a general solver have none."""
    cost = grids.costs()

    if asked["solver"] != "auto":
        return
    for norm, name, n, seed in asked.points("norms", "workload", "domain_size", "seed"):
        if cost.norm_deserves_a_job(norm, name, n):
            for alpha in alphas(asked) if is_tolerant(norm) else (None,):
                yield request(asked, norm, name, n, seed, alpha)


def table(_: Asked, parts: Mapping[str, pd.DataFrame]) -> Iterator[dict[str, Any]]:
    """Yield the rows in the order of the study's workloads and norms, then of the grid."""
    import pandas as pd

    joined = pd.concat(list(parts.values()), ignore_index=True)
    order = ordered(joined, ["_workload", "domain_size", "seed", "_norm", "entry_error"])
    yield from order[[*(column.name for column in EXPERIMENT.columns), "origin"]].to_dict("records")


def check(row: Mapping[str, Any]) -> Problem:
    """Return the problem of a row whose numbers are not those that its status promises."""
    problem = below(row, ("domain_size", "queries"), 1)
    if problem is not None:
        return problem
    if row["entry_error"] < 0.0:
        return "entry_error", "be at least 0, or empty"
    unknown = not_among(row, "status", STATUSES)
    if unknown is not None:
        return unknown
    ok = row["status"] == "ok"
    for column in ENDS:
        if math.isnan(row[column]) == ok or row[column] < 0.0:
            return column, "be at least 0 where the status is ok, and empty elsewhere"
    if ok and row["lower"] > row["upper"]:
        return "lower", "be at most upper"
    return _problem_of_facts(row) or unreasoned(row, needed=not ok)


def _problem_of_facts(row: Mapping[str, Any]) -> Problem:
    """Return the problem of a row whose known value contradicts the certified ends."""
    for column in KNOWN:
        if math.isnan(row[column]) != (row["known"] == ""):
            return column, "be a number where known has a name, and only there"
    for smaller, larger in (("trace_bound", "upper"), ("known_lower", "upper"), ("lower", "known_upper")):
        if row[smaller] > row[larger] * (1.0 + ROUNDING) + ROUNDING:
            return smaller, f"be at most {larger}"
    return None


def check_table(frame: pd.DataFrame, name: str) -> None:
    """Every study has one row for each workload × domain size × seed × (norm and α) in it."""
    for study, part in frame.groupby("study", sort=False):
        who = [f"{norm} {alpha!r}" for norm, alpha in zip(part["norm"], part["entry_error"].tolist(), strict=True)]
        places = ["workload", "domain_size", "seed"]
        check_grid([*(part[key].tolist() for key in places), who], name, f"study {study}", "norm at every point")


def refuse(asked: Asked) -> Iterator[BadValue]:
    """Refuse an error α for norms that have none, and its absence for those that need it."""
    tolerant = any(map(is_tolerant, asked["norms"]))
    if tolerant and not asked["entry_error"]:
        yield BadValue("grid.entry_error", [], "be given where a norm has an error", "give for example [0.1]")
    if asked["entry_error"] and not tolerant:
        rule = "be an axis of studies with a norm that has an error"
        yield BadValue("grid.entry_error", list(asked["entry_error"]), rule, "leave it out")


def by_norm(asked: Asked) -> dict[str, Asked]:
    """Return a part for each norm; norms that have an error α get its values."""
    found = {}
    for norm in asked["norms"]:
        part = grids.replace_settings(asked, norms=[norm])
        found[norm] = part if is_tolerant(norm) else replace(part, grid={**part.grid, "entry_error": ()})
    return found


def seconds(asked: Asked) -> float:
    """Return the seconds that a part is expected to take."""
    cost = grids.costs()

    points = list(asked.points("norms", "workload", "domain_size", "seed"))
    count = max(1, len(alphas(asked)))
    here = [(norm, name, n) for norm, name, n, _ in points if not cost.norm_deserves_a_job(norm, name, n)]
    return float(count * (0.02 * len(points) + sum(cost.norm_seconds(*point) for point in here)))


def memory_mb(asked: Asked) -> int:
    """The memory of a part, in megabytes."""
    cost = grids.costs()

    points = list(asked.points("norms", "workload", "domain_size"))
    return round(float(max(cost.memory_mb(cost.factorize(norm, name, n)) for norm, name, n in points)))


EXPERIMENT = Experiment(
    kind="norms",
    description="Factorization norms of workloads between certified ends.",
    axes=(WORKLOAD, DOMAIN_SIZE, replace(ENTRY_ERROR, default=()), SEED),
    settings=(
        NORMS,
        Setting(
            "concepts",
            {"type": "boolean"},
            "Whether the workloads are read as concept classes, their entries as ±1 labels (a 0/1 matrix W as 2W − 1).",
            False,
            False,
        ),
        SOLVER,
        Setting(
            "totals",
            {"type": "boolean"},
            "Whether the figure shows Γ = k^{1/p}γ₍ₚ₎, the norms for all k queries together, as theorems on growth do.",
            False,
            False,
            stage="figure",
        ),
    ),
    columns=(
        WORKLOAD.column(),
        DOMAIN_SIZE.column(),
        grids.SEED_COLUMN,
        Column("queries"),
        Column("norm"),
        number("entry_error"),
        number("lower"),
        number("upper"),
        number("trace_bound"),
        number("known_lower"),
        number("known_upper"),
        Column("known", empty="free"),
        Column("method", empty="free"),
        Column("stopped", empty="free"),
        grids.STATUS,
        grids.REASON,
    ),
    keys=("workload", "domain_size", "seed", "norm", "entry_error"),
    measure=measure,
    table=table,
    check=check,
    check_table=check_table,
    refuse=refuse,
    parts=by_norm,
    solves=requests,
    tables=(
        PaperTable(
            rows=("workload", "entry_error", "domain_size"),
            columns=("norm",),
            shown=(Shown("upper", low="lower"),),
            beside=("trace_bound",),
            text="Certified norms: the digits that both ends share, or both ends",
        ),
    ),
    figure="factormech.plots.norms",
    seconds=seconds,
    memory_mb=memory_mb,
    seeded=False,
)
