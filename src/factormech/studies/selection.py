r"""How many users selection takes, by protocol and number of coordinates, beside what it must take.

Fair coins, but one coordinate of mean ½ + g; success is to name it with probability 2/3. Drawn is n·g²/(c²d),
c = (e^ε+1)/(e^ε−1), which is flat in d for a protocol of the right order. The bounds hold for this very law:
:mod:`factormech.learning.selection.lower_bounds`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from factormech.studies.base import Asked, Column, Curves, Experiment, Problem, Setting, split
from factormech.studies.selection_base import (
    BUDGET,
    COORDINATES,
    FAILURE,
    GAP,
    PROTOCOL,
    PROTOCOLS,
    scale,
    seconds_of_reports,
    trials,
    validation_of,
)
from factormech.studies.sweeps import swept

_ROUNDING = 1e-9


def measure(asked: Asked) -> Iterator[dict[str, Any]]:
    """Yield the users that each protocol needs at every point, all on the same simulated runs."""
    from factormech.learning.selection.protocols import planted, promised_users, protocol
    from factormech.learning.selection.sample_size import users_for_success
    from factormech.seeds import rng_for

    g = asked["mean_gap"]
    for d, epsilon in asked.points("coordinates", "epsilon"):
        runs = planted(d, g, epsilon, asked["trials"], rng_for(asked.seed, "selection", str(d), repr(epsilon), repr(g)))
        unit = scale(g, d, epsilon)
        bounds = _bounds(d, g, epsilon)
        for name in asked["protocols"]:
            found = users_for_success(
                name, runs, 1.0 / unit, validation=validation_of(name, g, epsilon), level=asked["level"]
            )
            own = bounds["sequential_users" if protocol(name).interactive else "non_interactive_users"]
            row = {"coordinates": d, "epsilon": epsilon, "protocol": name, "tried": found.tried, "lower_bound": own}
            row |= {"needed_users": found.users, "low": found.low, "high": found.high}
            row |= {
                "scaled_users": found.users * unit,
                "scaled_low": found.low * unit,
                "scaled_high": found.high * unit,
            }
            of_all = ("sequential", "non_interactive", "disjointness")
            row |= {f"scaled_{key}_bound": bounds[f"{key}_users"] * unit for key in of_all}
            if name == "moss-validated":
                row["guaranteed_users"] = float(promised_users(d, g, epsilon, FAILURE))
            yield row


def _bounds(d: int, gap: float, epsilon: float) -> dict[str, float]:
    from factormech.learning.selection.lower_bounds import users_for_disjointness, users_to_select

    return {
        "sequential_users": users_to_select(d, gap, epsilon, interactive=True),
        "non_interactive_users": users_to_select(d, gap, epsilon, interactive=False),
        "disjointness_users": users_for_disjointness(d, gap, epsilon),
    }


def check(row: Mapping[str, Any]) -> Problem:
    """Return the problem of a row with surely fewer users than are needed, or more than Theorem 7 promises."""
    if not row["low"] <= row["needed_users"] * (1.0 + _ROUNDING) or not row["needed_users"] <= row["high"] * (
        1.0 + _ROUNDING
    ):
        return "needed_users", "be between low and high"
    if row["high"] < row["lower_bound"]:
        return "high", "be at least lower_bound: no protocol takes fewer users"
    promised = row.get("guaranteed_users")
    if promised is not None and row["low"] > promised:
        return "low", "be at most guaranteed_users"
    return None


def _seconds(asked: Asked) -> float:
    from factormech.studies.selection_base import scale

    reports = 0.0
    for d, epsilon in asked.points("coordinates", "epsilon"):
        # About twenty numbers of users are tried; MOSS with a uniform user has the most.
        dear = sum(name in ("moss-uniform", "moss-validated") for name in asked["protocols"])
        reports += asked["trials"] * 45.0 * (dear + 0.2) / scale(asked["mean_gap"], d, epsilon)
    return 2.0 + seconds_of_reports(asked, reports)


_number = partial(Column, at_least=0.0)


_KIND = Experiment(
    kind="selection",
    description="Users with which protocols of selection succeed with probability 2/3, beside lower bounds.",
    axes=(COORDINATES, BUDGET),
    settings=(
        PROTOCOLS,
        trials(400),
        Setting(
            "level",
            {"type": "number", "exclusiveMinimum": 0, "maximum": 0.5, "rule": "be a number above 0, at most 0.5"},
            "How often the interval of a row may miss, all numbers of users that were tried counted.",
            0.001,
            default=0.001,
        ),
    ),
    columns=(
        COORDINATES.column(),
        BUDGET.column(),
        PROTOCOL,
        _number("needed_users"),
        _number("low"),
        _number("high"),
        _number("lower_bound"),
        _number("scaled_users"),
        _number("scaled_low"),
        _number("scaled_high"),
        _number("scaled_sequential_bound"),
        _number("scaled_non_interactive_bound"),
        _number("scaled_disjointness_bound"),
        _number("guaranteed_users", empty="free"),
        Column("tried", at_least=1.0),
    ),
    keys=("coordinates", "epsilon", "protocol"),
    measure=measure,
    check=check,
    parts=split("coordinates", "epsilon"),
    figure=Curves(
        panel="epsilon",
        x="coordinates",
        y="scaled_users",
        series="protocol",
        low="scaled_low",
        high="scaled_high",
        bars="an interval with error one in a million",
        below="scaled_sequential_bound",
        references=("scaled_non_interactive_bound",),
        x_scale="log2",
        y_scale="log",
        text=(
            "N is the number of users with which the one coordinate of mean ½ + g among fair coins is named with "
            "probability 2/3, c = (e^ε+1)/(e^ε−1); bars are confidence intervals. The dashed line bounds "
            "non-interactive protocols (one coordinate) alone, the band every sequential one"
        ),
    ),
    seconds=_seconds,
    seeded=True,
)
EXPERIMENT = swept(_KIND, GAP)
