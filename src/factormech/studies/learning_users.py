"""How many users each way of learning and refuting a class takes, over lower bounds, and whether promises are kept.

For a task (:mod:`factormech.learning.trials`) to succeed with probability 1 − β: users predicted, users guaranteed, and
the least that its certificate leaves to any protocol. At the predicted number it is run with random numbers that took
no part in any choice, and the share of successes must not be surely below the promise. It is then run with fewer users,
by a factor √2 at a time, while the share is at least the promise: the last number is the measured one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from factormech.studies.agnostic_learning import LEVEL, refuse_sizes
from factormech.studies.axes import ALPHA, CLASS_SIZE, CONCEPT_CLASS, EPSILON
from factormech.studies.base import NAMES, REASON, Asked, Column, Curves, Experiment, Family, Problem, Setting, split

if TYPE_CHECKING:
    from factormech.errors import BadValue
    from factormech.learning.trials import Task

# Curves of every task.
SHOWN = ("predicted", "lower bound")
_STEPS = 24
# How likely a row is refused whose promise is kept just so.
_FALSE_ALARM = 1e-6
_SHARE = {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 0.5, "rule": "be above 0 and below 1/2"}
_KEYS = ("concept_class", "class_size", "epsilon", "alpha")


def _tasks() -> list[str]:
    from factormech.learning.trials import TASKS

    return list(TASKS)


def _check_task(name: str) -> None:
    from factormech.errors import UnknownName

    if name not in _tasks():
        raise UnknownName("task", name, _tasks())


def measure(asked: Asked) -> Iterator[dict[str, Any]]:
    """Yield the rows of a part: classes × ε × α × tasks."""
    from factormech.learning.concepts import concept_class
    from factormech.learning.trials import OF_CONJUNCTIONS, TASKS, Promise

    beta = asked["failure"]
    for point in asked.points(*_KEYS):
        keys = dict(zip(_KEYS, point, strict=True))
        concepts = concept_class(str(keys["concept_class"]), int(keys["class_size"]))
        for name in asked["tasks"]:
            row = {**keys, "task": name, "concepts": concepts.size}
            if name in OF_CONJUNCTIONS and keys["concept_class"] != "conjunctions":
                yield {**row, "shown": SHOWN[0], "reason": "it learns conjunctions only"}
                continue
            task = TASKS[name](Promise(concepts, float(keys["epsilon"]), float(keys["alpha"]), beta))
            found = {
                **row, "target_share": 1.0 - beta, "trials": asked["trials"], "predicted_users": task.predicted,
                "guaranteed_users": task.guaranteed, "least_users": task.least, **_measured(asked, task, row),
            }  # fmt: skip
            yield {**found, "shown": SHOWN[0], "needed_users": task.predicted}
            if task.least >= 1.0:
                yield {**found, "shown": SHOWN[1], "needed_users": task.least}
            else:
                yield {**row, "shown": SHOWN[1], "reason": "the bound is below one user"}


def _measured(asked: Asked, task: Task, row: Mapping[str, Any]) -> dict[str, float]:
    """The share at the predicted users, its interval, and the fewest users with the promised share."""
    from factormech.numerics.intervals import clopper_pearson
    from factormech.seeds import rng_for

    trials = asked["trials"]
    names = ("learning-users", *(str(row[key]) for key in _KEYS), str(row["task"]))

    def successes(step: int) -> int:
        streams = (rng_for(asked.seed, *names, str(step), use) for use in ("search", "runs"))
        return task.run(2.0 ** (-0.5 * step), trials, *streams)

    first = successes(0)
    low, high = clopper_pearson(first, trials, LEVEL / task.kinds)
    step = 0
    while step < _STEPS and task.predicted * 2.0 ** (-0.5 * (step + 1)) >= 1.0:
        if successes(step + 1) < (1.0 - asked["failure"]) * trials:
            break
        step += 1
    return {
        "success": first / trials, "success_low": low, "success_high": high,
        "measured_users": max(1, round(task.predicted * 2.0 ** (-0.5 * step))),
    }  # fmt: skip


def check(row: Mapping[str, Any]) -> Problem:
    """Return the problem of a row that breaks a promise, or has fewer users than are proved to be needed.

    Refuters succeed just as often as promised, so that the interval alone would refuse one right row in a hundred. A
    row is refused where so few successes have a probability of at most 10⁻⁶."""
    from factormech.numerics.intervals import clopper_pearson

    trials = int(row["trials"])
    if clopper_pearson(round(row["success"] * trials), trials, 2.0 * _FALSE_ALARM)[1] < row["target_share"]:
        return "success", f"be such that a share of {row['target_share']:g} is likelier than {_FALSE_ALARM:g}"
    for column in ("predicted_users", "measured_users"):
        if row[column] < row["least_users"]:
            return column, "be at least least_users"
    if row["guaranteed_users"] < row["predicted_users"]:
        return "guaranteed_users", "be at least predicted_users"
    return None


def refuse(asked: Asked) -> Iterator[BadValue]:
    """Refuse classes that do not exist at a size, and an α not below the loss of a guess."""
    from factormech.errors import BadValue

    for i, alpha in enumerate(asked["alpha"]):
        if not 0.0 < alpha < 0.5:
            yield BadValue(f"grid.alpha[{i}]", alpha, "be above 0 and below 1/2", "give for example 0.1")
    yield from refuse_sizes(asked)


def _seconds(asked: Asked) -> float:
    """Runs, and certificates of the differences of concepts."""
    from factormech.learning.concepts import concept_class

    cells = [concept_class(name, size).size for name, size in asked.points("concept_class", "class_size")]
    repeated: int = len(asked["epsilon"]) * len(asked["alpha"])
    return repeated * (len(cells) * len(asked["tasks"]) * (0.3 + 4e-3 * float(asked["trials"])) + 0.1 * sum(cells))


EXPERIMENT = Experiment(
    kind="learning-users",
    description="Users that learners and refuters of a class take, over lower bounds, and how often they succeed.",
    axes=(
        CONCEPT_CLASS,
        CLASS_SIZE,
        replace(EPSILON, default=(1.0,)),
        replace(ALPHA, default=(0.1,)),
    ),
    settings=(
        Setting(
            "tasks",
            NAMES,
            "What is done, and how.",
            ["users/realizable-learner"],
            default=["users/agnostic-learner", "users/realizable-learner"],
            names=Family(_tasks, _check_task),
        ),
        Setting("failure", _SHARE, "β: a task succeeds with probability at least 1 − β.", 0.1, default=0.1),
        Setting("trials", {"type": "integer", "minimum": 10, "maximum": 100000}, "Runs of each.", 200, default=200),
    ),
    columns=(
        CONCEPT_CLASS.column(),
        CLASS_SIZE.column(),
        EPSILON.column(),
        ALPHA.column(),
        Column("task"),
        Column("concepts", at_least=1),
        Column("shown"),
        Column("needed_users", empty="reason", at_least=0.0),
        Column("predicted_users", empty="reason", at_least=1),
        Column("guaranteed_users", empty="reason", at_least=1),
        Column("measured_users", empty="reason", at_least=1),
        Column("least_users", empty="reason", at_least=0.0),
        Column("target_share", empty="reason"),
        Column("success", empty="reason"),
        Column("success_low", empty="reason"),
        Column("success_high", empty="reason"),
        Column("trials", empty="reason", at_least=1),
        REASON,
    ),
    keys=(*_KEYS, "task", "shown"),
    measure=measure,
    check=check,
    refuse=refuse,
    parts=split("concept_class", "class_size"),
    figure=Curves(
        panel=("concept_class", "epsilon", "alpha"),
        x="class_size",
        y="needed_users",
        series="task",
        dash="shown",
        x_scale="log2",
        y_scale="log",
        text=(
            "Users with whom a task is predicted to succeed with the promised probability, and the number that no "
            "protocol for it (proper, if it learns agnostically) can be below"
        ),
    ),
    seconds=_seconds,
    seeded=True,
)
