"""Excess loss of private agnostic learners against the number of users, per class, over its lower bound.

Every user sends one ε-LDP report of a labelled point; the learner outputs the concept of the largest estimated
agreement (:mod:`factormech.learning.agnostic`). The data are the worst law found in a family that has the pairs of
the lower bound (:mod:`factormech.learning.populations`), sought again for every number of users; the lower bound
holds for some law."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from factormech.errors import BadValue
from factormech.studies.axes import CLASS_SIZE, CONCEPT_CLASS, EPSILON, USERS
from factormech.studies.base import NAMES, Asked, Column, Curves, Experiment, Problem, Setting, listed, split

LEVEL = 0.01
LEARNERS = {"learner/half-sphere": "half-sphere", "learner/priv-unit": "priv-unit"}
# Matrices of a certificate have k(k−1)/2 + 2T rows.
_MOST = 512


def measure(asked: Asked) -> Iterator[dict[str, Any]]:
    """Yield the rows of a part: classes × ε × users × learners, each with a search for its worst law."""
    from factormech.learning.agnostic import AgnosticLearner
    from factormech.learning.bounds import learning_certificates, learning_floor
    from factormech.learning.concepts import concept_class
    from factormech.learning.populations import bases, worst_for_learner
    from factormech.seeds import rng_for

    for name, size in asked.points("concept_class", "class_size"):
        concepts = concept_class(name, size)
        witnesses = learning_certificates(concepts)
        family = bases(concepts, witnesses[:1])
        for epsilon in asked["epsilon"]:
            learners = {
                n: AgnosticLearner(concepts, epsilon, asked["excess"], randomizer=LEARNERS[n])
                for n in asked["learners"]
            }
            for users in asked["users"]:
                floor = learning_floor(witnesses, epsilon, users)
                for title, learner in learners.items():
                    axes = ("agnostic-learning", name, str(size), str(epsilon), str(users))
                    law = worst_for_learner(learner, family, users, rng_for(asked.seed, *axes, "search"))
                    losses = learner.excess_losses(law, users, asked["trials"], rng_for(asked.seed, *axes, "trials"))
                    q = learner.reports.agreements(law)
                    low, high = interval_of_mean(losses, 0.0, 0.5 * float(q.max() - q.min()))
                    yield {
                        "concept_class": name, "class_size": size, "epsilon": epsilon, "users": users,
                        "learner": title, "concepts": concepts.size, "trials": asked["trials"],
                        "excess": float(losses.mean()), "low": low, "high": high,
                        "predicted": learner.predicted_excess(users), "lower_bound": floor,
                        "predicted_users": learner.predicted_users(), "guaranteed_users": learner.guaranteed_users(),
                    }  # fmt: skip


def interval_of_mean(values: Any, least: float, most: float) -> tuple[float, float]:
    """The empirical Bernstein interval of a mean in [least, most], level ``LEVEL`` (Maurer & Pontil, COLT 2009).

    Mean ± √(2V ln(2/δ)/m) ± 7(most − least)ln(2/δ)/(3(m−1)), each side at δ = LEVEL/2.
    """
    import math

    import numpy as np

    m = len(values)
    log = math.log(4.0 / LEVEL)
    width = math.sqrt(2.0 * float(np.var(values, ddof=1)) * log / m) + 7.0 * (most - least) * log / (3.0 * (m - 1))
    mean = float(np.mean(values))
    return max(least, mean - width), min(most, mean + width)


def check(row: Mapping[str, Any]) -> Problem:
    """Return the problem of a row whose prediction is below the bound, or whose measurement contradicts either."""
    if row["predicted"] < row["lower_bound"]:
        return "predicted", "be at least lower_bound"
    if row["high"] < row["lower_bound"]:
        return "high", "be at least lower_bound"
    if row["low"] > row["predicted"]:
        return "low", "be at most predicted"
    return None


def refuse_sizes(asked: Asked) -> Iterator[BadValue]:
    """Classes that do not exist at a size, or are too large for their certificates."""
    from factormech.learning.concepts import concept_class

    for i, name in enumerate(asked["concept_class"]):
        for size in asked["class_size"]:
            try:
                found = concept_class(name, size)
            except BadValue as error:
                yield BadValue(f"grid.concept_class[{i}]", f"{name} at size {size}", error.rule, error.remedy)
                continue
            if found.size < 2 or found.size > _MOST or found.domain_size > _MOST:
                rule = f"have 2 to {_MOST} concepts and at most {_MOST} points (it has {found.matrix.shape})"
                yield BadValue(f"grid.concept_class[{i}]", f"{name} at size {size}", rule, "give another size")


def seconds_of(asked: Asked) -> float:
    """Certificates, then trials of users at two random numbers each."""
    users: float = sum(asked["users"]) * len(asked["epsilon"]) * len(asked["learners"]) * asked["trials"]
    cells = len(asked["concept_class"]) * len(asked["class_size"])
    return float(cells) * (3.0 + 6e-8 * users + 0.3 * len(asked["users"]) * len(asked["epsilon"]))


# What the studies of learners share.
AXES = (
    CONCEPT_CLASS,
    replace(CLASS_SIZE, default=(4,)),
    replace(EPSILON, default=(1.0,)),
    replace(USERS, entry={"type": "integer", "minimum": 1, "maximum": 10000000}),
)
BELOW_HALF = {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 0.5, "rule": "be above 0 and below 1/2"}
TRIALS = Setting(
    "trials", {"type": "integer", "minimum": 2, "maximum": 100000}, "Runs of each learner.", 300, default=300
)
COLUMNS_BEFORE = (
    CONCEPT_CLASS.column(),
    CLASS_SIZE.column(),
    EPSILON.column(),
    USERS.column(),
    Column("learner"),
    Column("concepts", at_least=1),
    Column("trials", at_least=2),
)
COLUMNS_AFTER = (
    Column("low", at_least=0.0),
    Column("high", at_least=0.0),
    Column("predicted", at_least=0.0),
    Column("lower_bound", at_least=0.0),
    Column("predicted_users", at_least=1),
    Column("guaranteed_users", at_least=1),
)
EXPERIMENT = Experiment(
    kind="agnostic-learning",
    description="Excess loss of private agnostic learners against the number of users, over its lower bound.",
    axes=AXES,
    settings=(
        Setting(
            "learners",
            NAMES,
            "Learners, by the randomizer of their reports.",
            ["learner/half-sphere"],
            default=["learner/half-sphere"],
            names=listed("learner", LEARNERS),
        ),
        Setting(
            "excess",
            BELOW_HALF,
            "The excess loss α that the factorization is made for.",
            0.1,
            default=0.1,
        ),
        TRIALS,
    ),
    columns=(
        *COLUMNS_BEFORE,
        Column("excess", at_least=0.0),
        *COLUMNS_AFTER,
    ),
    keys=("concept_class", "class_size", "epsilon", "users", "learner"),
    measure=measure,
    check=check,
    refuse=refuse_sizes,
    parts=split("concept_class", "class_size"),
    figure=Curves(
        panel=("concept_class", "class_size", "epsilon"),
        x="users",
        y="excess",
        series="learner",
        low="low",
        high="high",
        bars="a 99 % interval (empirical Bernstein)",
        below="lower_bound",
        floor="bound for non-interactive ε-LDP learners",
        references=("predicted",),
        x_scale="log",
        y_scale="log",
        text="Expected excess loss on the worst law found; grey: the largest central-limit bound for all laws.",
    ),
    seconds=seconds_of,
    seeded=True,
)
