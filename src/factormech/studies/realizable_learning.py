"""Loss of private learners against the number of users, on data that a concept labels, over the lower bound.

The learner by η outputs the concept of the least estimated penalty (:mod:`factormech.learning.realizable`); the
agnostic one, of the largest agreement, runs on the same kind of law. For each the worst realizable law found is sought
again for every number of users (:mod:`factormech.learning.populations`)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from factormech.studies.agnostic_learning import (
    AXES,
    BELOW_HALF,
    COLUMNS_AFTER,
    COLUMNS_BEFORE,
    LEVEL,
    TRIALS,
    check,
    refuse_sizes,
)
from factormech.studies.base import NAMES, Asked, Column, Curves, Experiment, Setting, listed, split

# Learner and randomizer.
LEARNERS = {
    "realizable/half-sphere": ("realizable", "half-sphere"),
    "realizable/priv-unit": ("realizable", "priv-unit"),
    "learner/half-sphere": ("agnostic", "half-sphere"),
    "learner/priv-unit": ("agnostic", "priv-unit"),
}


def measure(asked: Asked) -> Iterator[dict[str, Any]]:
    """Yield the rows of a part: classes × ε × users × learners."""
    from factormech.learning.agnostic import AgnosticLearner
    from factormech.learning.concepts import concept_class
    from factormech.learning.populations import realizable_laws, worst_realizable_law
    from factormech.learning.realizable import RealizableLearner
    from factormech.learning.realizable_bounds import learning_certificate, learning_floor
    from factormech.learning.reports import losses
    from factormech.numerics.intervals import mean_of_levels
    from factormech.seeds import rng_for

    made: dict[str, type[RealizableLearner] | type[AgnosticLearner]]
    made = {"realizable": RealizableLearner, "agnostic": AgnosticLearner}
    for name, size in asked.points("concept_class", "class_size"):
        concepts = concept_class(name, size)
        certificate = learning_certificate(concepts)
        laws = realizable_laws(concepts, certificate)
        for epsilon, title in asked.points("epsilon", "learners"):
            kind, randomizer = LEARNERS[title]
            learner = made[kind](concepts, epsilon, asked["loss"], randomizer=randomizer)
            for users in asked["users"]:
                axes = ("realizable-learning", name, str(size), str(epsilon), str(users))
                law = worst_realizable_law(learner, laws, users, rng_for(asked.seed, *axes, "search"))
                found = learner.losses(law, users, asked["trials"], rng_for(asked.seed, *axes, "trials"))
                low, high = mean_of_levels(found, losses(concepts, law), LEVEL)
                yield {
                    "concept_class": name, "class_size": size, "epsilon": epsilon, "users": users, "learner": title,
                    "concepts": concepts.size, "trials": asked["trials"], "distance": learner.reports.distance,
                    "loss": float(found.mean()), "low": low, "high": high,
                    "predicted": min(learner.predicted_loss(users), 1.0),
                    "lower_bound": learning_floor(certificate, epsilon, users),
                    "predicted_users": learner.predicted_users(), "guaranteed_users": learner.guaranteed_users(),
                }  # fmt: skip


def _seconds(asked: Asked) -> float:
    rows = len(asked["epsilon"]) * len(asked["learners"])
    cells = len(asked["concept_class"]) * len(asked["class_size"])
    return float(cells * (0.5 + rows * (0.3 + sum(0.1 + 5e-4 * asked["trials"] + 2e-8 * n * asked["trials"]
                                                 for n in asked["users"]))))  # fmt: skip


EXPERIMENT = Experiment(
    kind="realizable-learning",
    description="Loss of private learners against the number of users on realizable data, over its lower bound.",
    axes=AXES,
    settings=(
        Setting(
            "learners",
            NAMES,
            "Learners, realizable ones by η and agnostic ones, by the randomizer of their reports.",
            ["realizable/half-sphere"],
            default=["realizable/half-sphere", "learner/half-sphere"],
            names=listed("learner", LEARNERS),
        ),
        Setting(
            "loss",
            BELOW_HALF,
            "The loss α that the factorizations are made for.",
            0.1,
            default=0.1,
        ),
        TRIALS,
    ),
    columns=(
        *COLUMNS_BEFORE,
        Column("distance", at_least=0.0),
        Column("loss", at_least=0.0),
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
        y="loss",
        series="learner",
        low="low",
        high="high",
        bars="a 99 % interval (Clopper & Pearson for each value that a loss can have)",
        below="lower_bound",
        floor="bound for non-interactive ε-LDP learners",
        x_scale="log",
        y_scale="log",
        text="Expected loss on the worst realizable law found; no learner is in the band on every realizable law",
    ),
    seconds=_seconds,
    seeded=True,
)
