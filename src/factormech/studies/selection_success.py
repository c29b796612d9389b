"""How often protocols of selection succeed, against the number of users, beside the limit of all protocols."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from factormech.studies.axes import USERS
from factormech.studies.base import REASON, Asked, Column, Curves, Experiment, Problem, split
from factormech.studies.selection_base import (
    BUDGET,
    COORDINATES,
    GAP,
    LEVEL,
    PROTOCOL,
    PROTOCOLS,
    seconds_of_reports,
    trials,
    validation_of,
)
from factormech.studies.sweeps import swept


def measure(asked: Asked) -> Iterator[dict[str, Any]]:
    """Yield the share of successes of each protocol and number of users, all on the same simulated runs."""
    from factormech.learning.selection.protocols import least_users, planted, protocol
    from factormech.learning.selection.sample_size import successes
    from factormech.seeds import rng_for

    g, runs = asked["mean_gap"], asked["trials"]
    for d, epsilon in asked.points("coordinates", "epsilon"):
        rng = rng_for(asked.seed, "selection-success", str(d), repr(epsilon), repr(g))
        reports = planted(d, g, epsilon, runs, rng)
        for name, n in asked.points("protocols", "users"):
            row = {"coordinates": d, "epsilon": epsilon, "protocol": name, "users": n, **_limits(n, d, g, epsilon)}
            row["limit"] = row["sequential_limit" if protocol(name).interactive else "non_interactive_limit"]
            validation = validation_of(name, g, epsilon)
            if n < least_users(validation):
                yield row | {"reason": f"its fresh reports take {least_users(validation)} users"}
            else:
                yield row | _interval(successes(name, reports, n, validation), runs)


def _interval(successes: int, runs: int) -> dict[str, float]:
    from factormech.numerics.intervals import clopper_pearson

    low, high = clopper_pearson(successes, runs, LEVEL)
    return {"success": successes / runs, "low": low, "high": high}


def _limits(users: int, d: int, gap: float, epsilon: float) -> dict[str, float]:
    from factormech.learning.selection.lower_bounds import largest_success

    return {
        "sequential_limit": largest_success(users, d, 2.0 * gap, epsilon, interactive=True),
        "non_interactive_limit": largest_success(users, d, 2.0 * gap, epsilon, interactive=False),
    }


def check(row: Mapping[str, Any]) -> Problem:
    """Return the problem of a row that succeeds surely more often than any protocol can."""
    if not row["low"] <= row["success"] <= row["high"]:
        return "success", "be between low and high"
    return ("low", "be at most limit: no protocol is better") if row["low"] > row["limit"] else None


def _seconds(asked: Asked) -> float:
    slow = sum(name.startswith("moss") for name in asked["protocols"]) + 0.1
    points = len(asked["coordinates"]) * len(asked["epsilon"])
    return 2.0 + seconds_of_reports(asked, asked["trials"] * slow * points * float(sum(asked["users"])))


_number = partial(Column, at_least=0.0)


_KIND = Experiment(
    kind="selection-success",
    description="The share of runs in which protocols of selection name the best coordinate, against the users.",
    axes=(COORDINATES, BUDGET, USERS),
    settings=(PROTOCOLS, trials(1000)),
    columns=(
        COORDINATES.column(),
        BUDGET.column(),
        PROTOCOL,
        USERS.column(),
        _number("success", empty="reason"),
        _number("low", empty="reason"),
        _number("high", empty="reason"),
        _number("limit"),
        _number("sequential_limit"),
        _number("non_interactive_limit"),
        REASON,
    ),
    keys=("coordinates", "epsilon", "protocol", "users"),
    measure=measure,
    check=check,
    parts=split("coordinates", "epsilon"),
    figure=Curves(
        panel=("coordinates", "epsilon"),
        x="users",
        y="success",
        series="protocol",
        low="low",
        high="high",
        bars="an interval with error one in a million",
        references=("sequential_limit", "non_interactive_limit"),
        x_scale="log",
        y_scale="linear",
        text=(
            "The share of runs in which the one coordinate of mean ½ + g among fair coins is named; bars are intervals "
            "of Clopper & Pearson (error one in a million). No sequential protocol is above the one dashed line, no "
            "non-interactive one (one coordinate) above the other"
        ),
    ),
    seconds=_seconds,
    seeded=True,
)
EXPERIMENT = swept(_KIND, GAP)
