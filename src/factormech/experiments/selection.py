r"""How many users selection takes, by protocol and number of coordinates, beside what it must take.

Fair coins, but one coordinate of mean ½ + g; success is to name it with probability 2/3. Drawn is n·g²/(c²d),
c = (e^ε+1)/(e^ε−1), which is flat in d for a protocol of the right order. The bounds hold for this very law:
:mod:`factormech.selection.lower_bounds`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from factormech.experiments.base import Asked, Column, Curves, Experiment, Problem, Setting, split
from factormech.experiments.selection_base import (
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
from factormech.experiments.sweeps import swept

_ROUNDING = 1e-9


def measure(asked: Asked) -> Iterator[dict[str, Any]]:
    """Every protocol meets the same runs."""
    from factormech.seeds import rng_for
    from factormech.selection.protocols import promised_users, protocol
    from factormech.selection.reports import planted
    from factormech.selection.sample_size import users_for_success

    g = asked["gap"]
    for d, epsilon in asked.points("dimension", "epsilon"):
        runs = planted(d, g, epsilon, asked["trials"], rng_for(asked.seed, "selection", str(d), repr(epsilon), repr(g)))
        unit = scale(g, d, epsilon)
        bounds = _bounds(d, g, epsilon)
        for name in asked["protocols"]:
            found = users_for_success(
                name, runs, 1.0 / unit, validation=validation_of(name, g, epsilon), level=asked["level"]
            )
            own = bounds["sequential_users" if protocol(name).interactive else "non_interactive_users"]
            row = {"dimension": d, "epsilon": epsilon, "protocol": name, "tried": found.tried, "lower_bound": own}
            row |= {"users": found.users, "low": found.low, "high": found.high}
            row |= {f"scaled_{key}": row[key] * unit for key in ("users", "low", "high")}
            row |= {f"{key}_bound": bounds[f"{key}_users"] * unit for key in ("sequential", "non_interactive")}
            row["disjointness_bound"] = bounds["disjointness_users"] * unit
            if name == "moss-validated":
                row["promised_users"] = float(promised_users(d, g, epsilon, FAILURE))
            yield row


def _bounds(d: int, gap: float, epsilon: float) -> dict[str, float]:
    from factormech.selection.lower_bounds import users_for_disjointness, users_to_select

    return {
        "sequential_users": users_to_select(d, gap, epsilon, interactive=True),
        "non_interactive_users": users_to_select(d, gap, epsilon, interactive=False),
        "disjointness_users": users_for_disjointness(d, gap, epsilon),
    }


def check(row: Mapping[str, Any]) -> Problem:
    """No protocol takes surely fewer users than every protocol must, and Theorem 7 keeps its promise."""
    if not row["low"] <= row["users"] * (1.0 + _ROUNDING) or not row["users"] <= row["high"] * (1.0 + _ROUNDING):
        return "users", "be between low and high"
    if row["high"] < row["lower_bound"]:
        return "high", "be at least lower_bound: no protocol takes fewer users"
    promised = row.get("promised_users")
    if promised is not None and row["low"] > promised:
        return "low", "be at most promised_users"
    return None


def _seconds(asked: Asked) -> float:
    from factormech.experiments.selection_base import scale

    reports = 0.0
    for d, epsilon in asked.points("dimension", "epsilon"):
        # About twenty numbers of users are tried; MOSS with a uniform user has the most.
        dear = sum(name in ("moss-uniform", "moss-validated") for name in asked["protocols"])
        reports += asked["trials"] * 45.0 * (dear + 0.2) / scale(asked["gap"], d, epsilon)
    return 2.0 + seconds_of_reports(asked, reports)


def _number(name: str, label: str, description: str, **more: Any) -> Column:
    return Column(name, "number", label, description=description, at_least=0.0, **more)


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
        _number("users", "users n", "Users for success 2/3."),
        _number("low", "lower end", "lower end of the interval of users"),
        _number("high", "upper end", "upper end"),
        _number("lower_bound", "users needed", "Users that every protocol needs (interactive, or not, as this one)."),
        _number("scaled_users", "n·g²/(c²d)", "Users in units of c²d/g²."),
        _number("scaled_low", "lower end, scaled", "lower end"),
        _number("scaled_high", "upper end, scaled", "upper end"),
        _number("sequential_bound", "lower bound", "Of all sequential protocols, scaled."),
        _number("non_interactive_bound", "lower bound, non-interactive", "Of all non-interactive protocols, scaled."),
        _number("disjointness_bound", "by set disjointness", "Of protocols that are right on every law, scaled."),
        _number("promised_users", "promised", "Users with which Theorem 7 promises success 2/3.", empty="free"),
        Column("tried", "integer", "numbers of users tried", at_least=1.0),
    ),
    keys=("dimension", "epsilon", "protocol"),
    measure=measure,
    check=check,
    parts=split("dimension", "epsilon"),
    figure=Curves(
        panel="epsilon",
        x="dimension",
        y="scaled_users",
        series="protocol",
        low="scaled_low",
        high="scaled_high",
        below="sequential_bound",
        references=("non_interactive_bound",),
        x_scale="log2",
        y_scale="log",
        text=(
            "n is the number of users with which the one coordinate of mean ½ + g among fair coins is named with "
            "probability 2/3, c = (e^ε+1)/(e^ε−1); bars are confidence intervals. The dashed line bounds "
            "non-interactive protocols (one coordinate) alone, the band every sequential one"
        ),
    ),
    seconds=_seconds,
    seeded=True,
)
EXPERIMENT = swept(_KIND, GAP)
