"""Queries of the multiplicative-weights learner against the statistical query dimension, and the tolerance it needs.

At tolerance 1/(3d) a number of queries is proved (:mod:`factormech.learning.sq.multiplicative`), at 1/√d, which the
thesis prints (Edmonds, PhD thesis, University of Toronto, 2023, Theorem 52), an oracle may keep the learner from
moving at all. d is settled by pilot runs, from an estimate of the dimension upwards, so that all laws which they meet
confirm it; other runs are counted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from factormech.errors import BadValue
from factormech.studies.axes import ALPHA, CLASS_SIZE, CONCEPT_CLASS
from factormech.studies.base import (
    NAMES,
    REASON,
    Asked,
    Column,
    Curves,
    Experiment,
    PaperTable,
    Problem,
    Setting,
    Shown,
    listed,
    split,
)
from factormech.studies.sweeps import quantity, swept

RUNNERS = ("learner/exact", "learner/adversarial", "coarse/exact", "coarse/adversarial")
LEVEL = 0.01
LOSS = quantity(
    ALPHA,
    0.1,
    "No hypothesis may have it on the laws that the dimension is of.",
    entry={"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 0.5, "rule": "be above 0 and below 1/2"},
)
PILOTS_SETTING = Setting(
    "pilots",
    {"type": "integer", "minimum": 1, "maximum": 10000},
    "Runs with each oracle that settle d and are not counted.",
    50,
    default=50,
)
BEYOND = Column("beyond", empty="reason", at_least=0.0)
FAILURE_SETTING = Setting(
    "failure",
    {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 0.5, "rule": "be above 0 and below 1/2"},
    "Probability β with which a run may fail.",
    0.05,
    default=0.05,
)


def measure(asked: Asked) -> Iterator[dict[str, Any]]:
    """Yield a row for each learner of a class, on the same laws for all."""
    from factormech.learning.concepts import concept_class
    from factormech.learning.sq.dimension import reason_too_large
    from factormech.learning.sq.multiplicative import question, settled_dimension
    from factormech.seeds import rng_for

    for name, size in asked.points("concept_class", "class_size"):
        concepts = concept_class(name, size)
        place = {"concept_class": name, "class_size": size, "concepts": concepts.size}
        reason = reason_too_large(concepts)
        if reason:
            for title in asked["learners"]:
                yield {**place, "learner": title, "reason": reason}
            continue
        axes = ("query-complexity", name, str(size))
        task = question(concepts, asked["alpha"], asked["failure"], rng_for(asked.seed, *axes, "search"))
        d = settled_dimension(
            task, (_exact, _adversarial), asked["pilots"], partial(_chance, asked.seed, (*axes, "pilot"))
        )
        for title in asked["learners"]:
            yield {**place, "learner": title, **_counted(asked, task, d, title, axes)}


def _counted(asked: Asked, task: Any, d: float, title: str, axes: tuple[str, ...]) -> dict[str, Any]:
    """Return the queries of a learner, and how often it learned, over the runs that are counted."""
    import numpy as np

    from factormech.learning.sq.multiplicative import counted_runs
    from factormech.numerics.intervals import clopper_pearson

    rule, _, kind = title.partition("/")
    coarse = rule == "coarse"
    found = counted_runs(
        task,
        d,
        _exact if kind == "exact" else _adversarial,
        asked["trials"],
        partial(_chance, asked.seed, axes),
        tolerance_of=_coarse if coarse else None,
        limit=asked["limit"] if coarse else None,
    )
    queries = np.array([run.queries for run in found.runs])
    low, high = clopper_pearson(found.learned, len(found.runs), LEVEL)
    return {
        "estimate": task.value.dimension,
        "learner_dimension": d,
        "tolerance": found.promise.tolerance,
        "mean_queries": float(queries.mean()),
        "fewest_queries": float(queries.min()),
        "most_queries": float(queries.max()),
        "stopped_share": float((queries >= asked["limit"]).mean()) if coarse else 0.0,
        "guaranteed_queries": found.promise.queries,
        "beyond": found.beyond,
        "success": found.learned / len(found.runs),
        "success_low": low,
        "success_high": high,
        "target_share": 0.0 if coarse else 1.0 - asked["failure"],
        "largest_loss": max(found.losses),
        "guaranteed_loss": found.promise.loss,
    }


def _exact(promise: Any, law: Any, _: Any) -> Any:
    from factormech.learning.sq.oracles import ExactOracle

    return ExactOracle(law)


def _adversarial(promise: Any, law: Any, _: Any) -> Any:
    from factormech.learning.sq.oracles import AdversarialOracle

    return AdversarialOracle(law, promise.tolerance)


def _coarse(dimension: float) -> float:
    """The printed tolerance."""
    return float(dimension**-0.5)


def _chance(seed: int, axes: tuple[str, ...], trial: int) -> Any:
    """Return the random stream of one run, the same for every learner."""
    from factormech.seeds import rng_for

    return rng_for(seed, *axes, str(trial))


def check(row: Mapping[str, Any]) -> Problem:
    """Return the problem of a row that breaks a promise, in the number of queries or the share of successes."""
    if row["learner"].startswith("learner/") and row["most_queries"] > row["guaranteed_queries"]:
        return "most_queries", "be at most guaranteed_queries"
    if row["success_high"] < row["target_share"]:
        return "success_high", "be at least target_share"
    if row["learner_dimension"] < row["estimate"] * (1.0 - 1e-9):
        return "learner_dimension", "be at least estimate"
    return None


def refuse_classes(asked: Asked) -> Iterator[BadValue]:
    """Refuse classes that do not exist at a size."""
    from factormech.learning.concepts import concept_class

    for i, name in enumerate(asked["concept_class"]):
        for size in asked["class_size"]:
            try:
                concept_class(name, size)
            except BadValue as error:
                yield BadValue(f"grid.concept_class[{i}]", f"{name} at size {size}", error.rule, error.remedy)


def seconds_of_runs(concepts: int, runs: int) -> float:
    """Of the search for the dimension, and of runs with a program each time that the law moves; measured."""
    return float((4.5 + 0.013 * runs) * (concepts / 4.0) ** 2)


def sizes_of(asked: Asked) -> list[int]:
    """The numbers of concepts of the classes that are small enough."""
    from factormech.learning.concepts import concept_class
    from factormech.learning.sq.dimension import reason_too_large

    classes = [concept_class(name, size) for name, size in asked.points("concept_class", "class_size")]
    return [concepts.size for concepts in classes if not reason_too_large(concepts)]


def _seconds(asked: Asked) -> float:
    fine = sum(name.startswith("learner/") for name in asked["learners"])
    runs = fine * asked["trials"] + 2 * asked["pilots"]
    return 1.0 + sum(seconds_of_runs(size, runs) for size in sizes_of(asked))


_KIND = Experiment(
    kind="query-complexity",
    description="Queries of the multiplicative-weights learner, at the tolerance it needs and at the one as printed.",
    axes=(CONCEPT_CLASS, replace(CLASS_SIZE, entry={"type": "integer", "minimum": 1, "maximum": 64})),
    settings=(
        FAILURE_SETTING,
        PILOTS_SETTING,
        Setting(
            "learners",
            NAMES,
            "learner: tolerance 1/(3d); coarse: 1/√d; answers exact or adversarial.",
            ["learner/exact"],
            default=list(RUNNERS),
            names=listed("learner", RUNNERS),
        ),
        Setting("trials", {"type": "integer", "minimum": 1, "maximum": 10000}, "Runs.", 50, default=50),
        Setting(
            "limit",
            {"type": "integer", "minimum": 1, "maximum": 100000},
            "Queries after which a coarse run is given up.",
            300,
            default=300,
        ),
    ),
    columns=(
        CONCEPT_CLASS.column(),
        CLASS_SIZE.column(),
        Column("learner"),
        Column("concepts", at_least=1),
        Column("estimate", empty="reason", at_least=0.0),
        Column("learner_dimension", empty="reason", at_least=0.0),
        Column("tolerance", empty="reason", at_least=0.0),
        Column("mean_queries", empty="reason", at_least=1.0),
        Column("fewest_queries", empty="reason", at_least=1.0),
        Column("most_queries", empty="reason", at_least=1.0),
        Column("stopped_share", empty="reason", at_least=0.0, added=0.0),
        Column("guaranteed_queries", empty="reason", at_least=1.0, infinite=True),
        BEYOND,
        Column("success", empty="reason", at_least=0.0),
        Column("success_low", empty="reason", at_least=0.0),
        Column("success_high", empty="reason", at_least=0.0),
        Column("target_share", empty="reason", at_least=0.0),
        Column("largest_loss", empty="reason", at_least=0.0),
        Column("guaranteed_loss", empty="reason", at_least=0.0),
        REASON,
    ),
    keys=("concept_class", "class_size", "learner"),
    measure=measure,
    check=check,
    refuse=refuse_classes,
    parts=split("concept_class"),
    figure=Curves(
        panel="concept_class",
        x="class_size",
        y="mean_queries",
        series="learner",
        low="fewest_queries",
        high="most_queries",
        bars="the fewest to the most queries of all runs",
        censored="stopped_share",
        references=("guaranteed_queries",),
        far_references=True,
        x_scale="log2",
        label="queries, mean of all runs",
        text=(
            "Dashed: what is proved at tolerance 1/(3d). At 1/√d nothing is proved, and runs are stopped at a limit: "
            "the mean is at the arrow or above"
        ),
    ),
    tables=(
        PaperTable(
            rows=("concept_class", "class_size"),
            columns=("learner",),
            shown=(Shown("mean_queries"), Shown("guaranteed_queries")),
        ),
    ),
    seconds=_seconds,
    seeded=True,
)
EXPERIMENT = swept(_KIND, LOSS)
