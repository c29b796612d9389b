"""Users of the multiplicative-weights learner: a single-intrusion pan-private stream against sequential local reports.

Every query is answered by users of its own, as many as its tolerance 1/(3d) takes with failure β/T, T the promised
number of queries (:mod:`factormech.learning.sq.streams`). A learner that accepts a hypothesis by its estimated loss
also refutes, at the loss that it promises, so the lower bounds (:mod:`factormech.learning.sq.bounds`) are those of
refutation there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from factormech.studies.axes import CLASS_SIZE, CONCEPT_CLASS, EPSILON
from factormech.studies.base import NAMES, REASON, Asked, Column, Curves, Experiment, Problem, Setting, listed, split
from factormech.studies.query_complexity import (
    BEYOND,
    FAILURE_SETTING,
    LEVEL,
    LOSS,
    PILOTS_SETTING,
    refuse_classes,
    seconds_of_runs,
    sizes_of,
)
from factormech.studies.sweeps import swept

LOCAL, STREAM = MODELS = ("sequential-reports", "pan-private-stream")


def measure(asked: Asked) -> Iterator[dict[str, Any]]:
    """Yield the rows of a class: ε × models, on the same laws for all."""
    from factormech.learning.concepts import concept_class
    from factormech.learning.sq.dimension import reason_too_large
    from factormech.learning.sq.multiplicative import question
    from factormech.seeds import rng_for

    for name, size in asked.points("concept_class", "class_size"):
        concepts = concept_class(name, size)
        place = {"concept_class": name, "class_size": size}
        reason = reason_too_large(concepts)
        axes = ("pan-private", name, str(size))
        if reason:
            for epsilon in asked["epsilon"]:
                for model in asked["models"]:
                    yield {**place, "epsilon": epsilon, "model": model, "reason": reason}
            continue
        task = question(concepts, asked["alpha"], asked["failure"], rng_for(asked.seed, *axes, "search"))
        # Half of the failure is the learner's, half the answers'.
        halved = replace(task, failure=0.5 * asked["failure"])
        yield from ({**place, **row} for row in _rows(asked, halved, axes))


def _rows(asked: Asked, task: Any, axes: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    """ε × models of one class, all with the d that pilot runs of all have settled."""
    from factormech.learning.sq import bounds
    from factormech.learning.sq.dimension_search import smallest_value
    from factormech.learning.sq.global_search import certified_dimension, is_searched
    from factormech.learning.sq.multiplicative import counted_runs, plan, settled_dimension
    from factormech.seeds import rng_for

    crowds = {(e, model): _Crowd(model, e, task.failure) for e in asked["epsilon"] for model in asked["models"]}
    d = settled_dimension(
        task,
        [crowd.oracle for crowd in crowds.values()],
        asked["pilots"],
        lambda pilot: rng_for(asked.seed, *axes, "pilot", str(pilot)),
    )
    loss = min(plan(task.concepts, d, task.alpha, task.failure).loss, 0.5)
    chance = rng_for(asked.seed, *axes, "hard")
    # Every pair gives a bound: that of the least value the best for streams, another perhaps for reports.
    hard = [smallest_value(task.concepts, loss, losers="all", starts=3, rng=chance)]
    if is_searched(task.concepts):
        hard.append(certified_dimension(task.concepts, loss, losers="all", found=hard[0]).value)
    pairs = [bounds.sequential_pairs(value) for value in hard]
    for (epsilon, model), crowd in crowds.items():
        floors = {
            "pan_private_bound": _binding(
                max(bounds.pan_private_users(one, epsilon, asked["failure"]) for one in hard)
            ),
            "sequential_bound": _binding(max(bounds.sequential_users(one, epsilon, asked["failure"]) for one in pairs)),
        }
        found = counted_runs(
            task, d, crowd.oracle, asked["trials"], lambda trial: rng_for(asked.seed, *axes, str(trial))
        )
        counted = _counted(found, float(crowd.users(found.promise)))
        yield {
            "epsilon": epsilon,
            "model": model,
            "learner_dimension": d,
            **floors,
            **counted,
            "target_share": 1.0 - asked["failure"],
        }


def _binding(users: float) -> float | None:
    """A bound on users; nothing where it is below the one user that every protocol has."""
    return users if users >= 1.0 else None


def _counted(found: Any, each: float) -> dict[str, Any]:
    """The users of the runs that are counted, of which each query takes so many, and how often they learned."""
    from factormech.numerics.intervals import clopper_pearson

    low, high = clopper_pearson(found.learned, len(found.runs), LEVEL)
    return {
        "users_per_query": each,
        "mean_users": float(found.users.mean()),
        "fewest_users": float(found.users.min()),
        "most_users": float(found.users.max()),
        "guaranteed_users": each * found.promise.queries,
        "beyond": found.beyond,
        "success": found.learned / len(found.runs),
        "success_low": low,
        "success_high": high,
    }


class _Crowd:
    """Users who answer the queries of a plan, by one model."""

    def __init__(self, model: str, epsilon: float, failure: float) -> None:
        from factormech.learning.sq import streams

        stream = model == STREAM
        self._needed = streams.pan_private_users_per_query if stream else streams.sequential_users_per_query
        self._oracle = streams.PanPrivateOracle if stream else streams.LocalOracle
        self.epsilon, self.failure = epsilon, failure
        self._known: dict[tuple[float, float], int] = {}

    def users(self, promise: Any) -> int:
        """Return the number of users of one query."""
        key = (promise.tolerance, promise.queries)
        if key not in self._known:
            self._known[key] = self._needed(promise.tolerance, self.epsilon, self.failure / promise.queries)
        return self._known[key]

    def oracle(self, promise: Any, law: Any, rng: Any) -> Any:
        """Return an oracle with fresh users for every query."""
        return self._oracle(law, self.users(promise), self.epsilon, rng)


def check(row: Mapping[str, Any]) -> Problem:
    """Return the problem of a row whose runs contradict the lower bound or the promise."""
    floor = "sequential_bound" if row["model"] == LOCAL else "pan_private_bound"
    if row["fewest_users"] < row[floor]:
        return "fewest_users", f"be at least {floor}"
    if row["most_users"] > row["guaranteed_users"]:
        return "most_users", "be at most guaranteed_users"
    if row["success_high"] < row["target_share"]:
        return "success_high", "be at least target_share"
    return None


def _seconds(asked: Asked) -> float:
    runs = len(asked["epsilon"]) * len(asked["models"]) * (asked["trials"] + asked["pilots"])
    return 1.0 + sum(seconds_of_runs(size, runs) for size in sizes_of(asked))


_KIND = Experiment(
    kind="pan-private",
    description="Users of one learner as a pan-private stream and by sequential reports, over their lower bounds.",
    axes=(CONCEPT_CLASS, replace(CLASS_SIZE, entry={"type": "integer", "minimum": 1, "maximum": 64}), EPSILON),
    settings=(
        FAILURE_SETTING,
        replace(PILOTS_SETTING, default=10),
        Setting(
            "models",
            NAMES,
            "sequential-reports: randomized response; pan-private-stream: Laplace noise at both ends of a stream.",
            ["pan-private-stream"],
            default=list(MODELS),
            names=listed("model", MODELS),
        ),
        Setting("trials", {"type": "integer", "minimum": 1, "maximum": 10000}, "Runs.", 50, default=50),
    ),
    columns=(
        CONCEPT_CLASS.column(),
        CLASS_SIZE.column(),
        EPSILON.column(),
        Column("model"),
        Column("learner_dimension", empty="reason", at_least=0.0),
        Column("users_per_query", empty="reason", at_least=1.0),
        Column("mean_users", empty="reason", at_least=1.0),
        Column("fewest_users", empty="reason", at_least=1.0),
        Column("most_users", empty="reason", at_least=1.0),
        Column("guaranteed_users", empty="reason", at_least=1.0),
        Column("pan_private_bound", empty="free", at_least=1.0),
        Column("sequential_bound", empty="free", at_least=1.0),
        BEYOND,
        Column("success", empty="reason", at_least=0.0),
        Column("success_low", empty="reason", at_least=0.0),
        Column("success_high", empty="reason", at_least=0.0),
        Column("target_share", empty="reason", at_least=0.0),
        REASON,
    ),
    keys=("concept_class", "class_size", "epsilon", "model"),
    measure=measure,
    check=check,
    refuse=refuse_classes,
    parts=split("concept_class"),
    figure=Curves(
        panel=("concept_class", "class_size"),
        x="epsilon",
        y="mean_users",
        series="model",
        low="fewest_users",
        high="most_users",
        bars="the run with the fewest users to the one with the most",
        references=("pan_private_bound", "sequential_bound"),
        far_references=True,
        x_scale="log",
        text="Users of one and the same learner, mean over the runs, with the lower bounds of both models.",
    ),
    seconds=_seconds,
    seeded=True,
)
EXPERIMENT = swept(_KIND, LOSS)
