"""Error probabilities of private agnostic refuters against the number of users, over their lower bound.

A refuter says whether some concept loses at most ½ − α, or labels are fair coins
(:mod:`factormech.learning.agnostic`). It may miss a concept that fits, on the worst law found
(:mod:`factormech.learning.populations`), or give a false alarm, on fair coins at the worst points found, uniform ones
among them. The lower bound is for the larger of the two errors.

With fewer users errors are larger and take more runs to be known as well, and a run takes less time: there are
``trials`` runs at the largest number of users, and more by the root of what is between it and a smaller one."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from factormech.studies.agnostic_learning import LEVEL, refuse_sizes
from factormech.studies.axes import ALPHA, CLASS_SIZE, CONCEPT_CLASS, EPSILON, USERS
from factormech.studies.base import NAMES, Asked, Column, Curves, Experiment, Problem, Setting, listed, split
from factormech.studies.sweeps import quantity, swept

REFUTERS = {"refuter/half-sphere": "half-sphere", "refuter/priv-unit": "priv-unit"}


def measure(asked: Asked) -> Iterator[dict[str, Any]]:
    """Yield the rows of a part, each refuter on the worst laws that were found for it."""
    from factormech.learning.agnostic import AgnosticRefuter
    from factormech.learning.bounds import refutation_certificate, refutation_floor, refutation_users
    from factormech.learning.concepts import concept_class
    from factormech.learning.populations import bases, worst_coins, worst_for_refuter
    from factormech.numerics.intervals import clopper_pearson
    from factormech.seeds import rng_for

    alpha, beta = asked["loss_gap"], asked["error"]
    for name, size in asked.points("concept_class", "class_size"):
        concepts = concept_class(name, size)
        witness = refutation_certificate(concepts, alpha)
        family = bases(concepts, (witness,))
        for epsilon, title in asked.points("epsilon", "refuters"):
            refuter = AgnosticRefuter(concepts, epsilon, alpha, randomizer=REFUTERS[title])
            exact = AgnosticRefuter(concepts, epsilon, alpha, randomizer=REFUTERS[title], distance=0.0)
            for users in asked["users"]:
                trials = _runs(asked, users)
                axes = ("refutation", name, str(size), str(epsilon), str(users))
                law = worst_for_refuter(refuter, family, users, rng_for(asked.seed, *axes, "search"))
                coins = worst_coins(refuter, family, users, rng_for(asked.seed, *axes, "search coins"))
                fits = refuter.says_fit(law, users, trials, rng_for(asked.seed, *axes, "fits"))
                fair = refuter.says_fit(coins, users, trials, rng_for(asked.seed, *axes, "coins"))
                counts = {"miss": int((~fits).sum()), "false_alarm": int(fair.sum())}
                ends = {error: clopper_pearson(count, trials, LEVEL / 2) for error, count in counts.items()}
                yield {
                    "concept_class": name, "class_size": size, "epsilon": epsilon, "users": users, "refuter": title,
                    "trials": trials, "miss": counts["miss"] / trials, "false_alarm": counts["false_alarm"] / trials,
                    "miss_low": ends["miss"][0], "miss_high": ends["miss"][1],
                    "false_alarm_low": ends["false_alarm"][0], "false_alarm_high": ends["false_alarm"][1],
                    "error_probability": max(counts.values()) / trials,
                    "low": max(low for low, _ in ends.values()), "high": max(high for _, high in ends.values()),
                    "predicted": refuter.predicted_error(users),
                    "lower_bound": refutation_floor(witness, epsilon, alpha, users),
                    "distance": refuter.reports.distance, "exact_users": exact.predicted_users(beta),
                    "predicted_users": refuter.predicted_users(beta),
                    "guaranteed_users": refuter.guaranteed_users(beta),
                    "least_users": refutation_users(witness, epsilon, alpha, beta),
                }  # fmt: skip


def check(row: Mapping[str, Any]) -> Problem:
    """Return the problem of a row below its lower bound, or with a measurement that contradicts the prediction."""
    if row["predicted_users"] < row["least_users"]:
        return "predicted_users", "be at least least_users"
    if row["predicted"] < row["lower_bound"]:
        return "predicted", "be at least lower_bound"
    if row["high"] < row["lower_bound"]:
        return "high", "be at least lower_bound"
    # The prediction is of the central limit: it may be off where hundreds of users decide a tail.
    if row["low"] > row["predicted"] + 0.01:
        return "low", "be at most predicted (and 0.01 for what the central limit leaves)"
    return None


def _runs(asked: Asked, users: int) -> int:
    """The trials of the largest number of users, times the root of it over this one."""
    runs: float = asked["trials"] * math.sqrt(max(asked["users"]) / users)
    return round(runs)


def _seconds(asked: Asked) -> float:
    users: float = 2.0 * sum(users * _runs(asked, users) for users in asked["users"])
    users *= len(asked["epsilon"]) * len(asked["refuters"])
    cells = len(asked["concept_class"]) * len(asked["class_size"])
    return cells * (1.0 + 6e-8 * users)


_SHARE = {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 0.5, "rule": "be above 0 and below 1/2"}
LOSS_GAP = quantity(ALPHA, 0.1, name="loss_gap", entry=_SHARE)
_KIND = Experiment(
    kind="refutation",
    description="Error probabilities of private agnostic refuters against the number of users, over their lower bound.",
    axes=(
        CONCEPT_CLASS,
        replace(CLASS_SIZE, default=(4,)),
        replace(EPSILON, default=(1.0,)),
        replace(USERS, entry={"type": "integer", "minimum": 1, "maximum": 10000000}),
    ),
    settings=(
        Setting(
            "refuters",
            NAMES,
            "Refuters, by the randomizer of their reports.",
            ["refuter/half-sphere"],
            default=["refuter/half-sphere"],
            names=listed("refuter", REFUTERS),
        ),
        Setting("error", _SHARE, "β, the error probability that users are predicted for.", 0.05, default=0.05),
        Setting(
            "trials",
            {"type": "integer", "minimum": 2, "maximum": 100000},
            "Runs of each kind at the largest number of users; with fewer users more, by the root of their ratio.",
            200,
            default=200,
        ),
    ),
    columns=(
        CONCEPT_CLASS.column(),
        CLASS_SIZE.column(),
        EPSILON.column(),
        USERS.column(),
        Column("refuter"),
        Column("trials", at_least=2),
        Column("miss", at_least=0.0),
        Column("miss_low", at_least=0.0),
        Column("miss_high", at_least=0.0),
        Column("false_alarm", at_least=0.0),
        Column("false_alarm_low", at_least=0.0),
        Column("false_alarm_high", at_least=0.0),
        Column("error_probability", at_least=0.0),
        Column("low", at_least=0.0),
        Column("high", at_least=0.0),
        Column("predicted", at_least=0.0),
        Column("lower_bound", at_least=0.0),
        Column("distance", at_least=0.0),
        Column("exact_users", at_least=1),
        Column("predicted_users", at_least=1),
        Column("guaranteed_users", at_least=1),
        Column("least_users", at_least=0.0),
    ),
    keys=("concept_class", "class_size", "epsilon", "users", "refuter"),
    measure=measure,
    check=check,
    refuse=refuse_sizes,
    parts=split("concept_class", "class_size"),
    figure=Curves(
        panel=("concept_class", "class_size", "epsilon"),
        x="users",
        y="error_probability",
        series="refuter",
        low="low",
        high="high",
        bars="a 99 % interval (Clopper–Pearson, both errors together), of the larger error",
        below="lower_bound",
        floor="bound for non-interactive ε-LDP refuters",
        references=("predicted",),
        x_scale="log",
        y_scale="linear",
        text="Larger probability of a miss or a false alarm, each on the worst law found; grey: central-limit bound.",
    ),
    seconds=_seconds,
    seeded=True,
)
EXPERIMENT = swept(_KIND, LOSS_GAP)
