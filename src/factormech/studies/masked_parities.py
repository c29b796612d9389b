"""Masked parities: users of a sequential protocol that is run, beside what every protocol without interaction needs.

The separation of Table 1.1, row 1, of Edmonds (PhD thesis, Toronto, 2023), after Kasiviswanathan, Lee, Nissim,
Raskhodnikova & Smith (2011): :mod:`factormech.learning.masked_parities`. The sequential number of users is proved for
uniform points; at it, and at halves of it, the protocol is simulated with the exact law of its counts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from factormech.errors import BadValue
from factormech.studies.axes import ATTRIBUTES, EPSILON
from factormech.studies.base import Asked, Column, Curves, Experiment, Problem, Setting, split

SERIES = ("users/sequential", "users/bound")
# Two ends of a share of successes: missed this often, over all rows of a study.
LEVEL = 1e-4
# Runs that are drawn at a time: counts of all bits of a run are held at once.
_BLOCK = 20_000
_SHARE = {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 0.5, "rule": "be above 0 and below 1/2"}


def measure(asked: Asked) -> Iterator[dict[str, Any]]:
    """Yield the sequential protocol with its share of successes, and the bound on protocols without interaction."""
    from factormech.learning.masked_parities import MaskedParities
    from factormech.numerics.intervals import clopper_pearson
    from factormech.seeds import rng_for

    beta, trials = asked["failure"], asked["trials"]
    for epsilon, d in asked.points("epsilon", "attributes"):
        problem = MaskedParities(d, epsilon)
        first, second = problem.sequential_users(beta)
        rng = rng_for(asked.seed, "masked-parities", str(d), repr(epsilon))
        blocks = (min(_BLOCK, trials - done) for done in range(0, trials, _BLOCK))
        right = sum(int(problem.learned((first, second), block, rng).sum()) for block in blocks)
        low, high = clopper_pearson(right, trials, LEVEL)
        needed = problem.non_interactive_users(beta)
        row = {
            "epsilon": epsilon, "attributes": d, "least_users": needed, "target_share": 1.0 - beta, "trials": trials,
            "needed_over_sequential": needed / (first + second), "first_round_users": first,
            "success": right / trials, "success_low": low, "success_high": high,
        }  # fmt: skip
        yield {**row, "shown": SERIES[0], "needed_users": float(first + second)}
        yield {**row, "shown": SERIES[1], "needed_users": needed}


def check(row: Mapping[str, Any]) -> Problem:
    """Return the problem of a row whose share of successes is surely below the promised one."""
    return ("success_high", "be at least target_share") if row["success_high"] < row["target_share"] else None


def refuse(asked: Asked) -> Iterator[BadValue]:
    """Refuse numbers of attributes whose users do not fit into the whole numbers that are drawn."""
    for i, d in enumerate(asked["attributes"]):
        if d > 4096:
            yield BadValue(f"grid.attributes[{i}]", d, "be at most 4096 here", "give a smaller number")


EXPERIMENT = Experiment(
    kind="masked-parities",
    description="Masked parities: a sequential protocol that is run, beside the bound on those without interaction.",
    axes=(replace(EPSILON, default=(1.0,)), ATTRIBUTES),
    settings=(
        Setting("failure", _SHARE, "Failure probability β of the protocols.", 0.1, default=0.1),
        Setting(
            "trials",
            {"type": "integer", "minimum": 10, "maximum": 1000000},
            "Runs of the protocol.",
            4000,
            default=4000,
        ),
    ),
    columns=(
        EPSILON.column(),
        ATTRIBUTES.column(),
        Column("shown"),
        Column("needed_users", at_least=0.0),
        Column("least_users", at_least=0.0),
        Column("needed_over_sequential", at_least=0.0),
        Column("target_share", at_least=0.0),
        Column("trials", at_least=1),
        Column("first_round_users", at_least=1),
        Column("success", at_least=0.0),
        Column("success_low", at_least=0.0),
        Column("success_high", at_least=0.0),
    ),
    keys=("epsilon", "attributes", "shown"),
    measure=measure,
    check=check,
    refuse=refuse,
    parts=split("epsilon"),
    figure=Curves(
        panel="epsilon",
        x="attributes",
        y="needed_users",
        series="shown",
        y_scale="log",
        text="Users that learn masked parities to a loss below 1/4 with probability 0.9, on uniform points.",
    ),
    seconds=lambda asked: 0.5 + 2e-7 * len(asked["epsilon"]) * sum(asked["attributes"]) * asked["trials"],
    seeded=True,
)
