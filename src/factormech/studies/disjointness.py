r"""Set disjointness decided by two parties who simulate selection: what the transcript tells, and how often they miss.

Information about the hard sets, as a share of their entropy d ln 2, is at most the cap nC*(ε') and, by the
information that disjointness takes, at least a number that falls with the measured probability of missing a common
element (:mod:`factormech.learning.selection.lower_bounds`, :mod:`factormech.learning.selection.sample_size`).
"""

from __future__ import annotations

import math
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

INFORMATION, MISSED = "information", "missed intersections"


def measure(asked: Asked) -> Iterator[dict[str, Any]]:
    """Yield a row for each protocol and number of users, all on the same sets and the same chance."""
    from factormech.learning.selection import sample_size as parties
    from factormech.learning.selection.protocols import least_users
    from factormech.seeds import rng_for

    g, runs = asked["mean_gap"], asked["trials"]
    for d, epsilon in asked.points("coordinates", "epsilon"):
        rng = rng_for(asked.seed, "disjointness", str(d), repr(epsilon), repr(g))
        apart = parties.hard_sets(d, runs, rng, meeting=False)
        meeting = parties.hard_sets(d, runs, rng, meeting=True)
        unmet, met = (parties.reports_of(sets, g, epsilon, rng) for sets in (apart, meeting))
        for name, n in asked.points("protocols", "users"):
            validation = validation_of(name, g, epsilon)
            point = {"coordinates": d, "epsilon": epsilon, "protocol": name, "users": n}
            if n < least_users(validation):
                reason = f"its fresh reports take {least_users(validation)} users"
                yield from ({**point, "quantity": each, "reason": reason} for each in (INFORMATION, MISSED))
                continue
            missed = parties.missed(name, meeting, met, n, LEVEL, validation)
            told = parties.information(name, apart, unmet, n, g, epsilon, LEVEL, validation)
            yield {**point, "quantity": INFORMATION, **_information(told, missed.high, point, g)}
            yield {**point, "quantity": MISSED, **_missed(missed, point, g)}


def _information(told: Any, missed: float, point: Mapping[str, Any], gap: float) -> dict[str, float]:
    from factormech.learning.information import transcript_information
    from factormech.learning.selection.lower_bounds import disjointness_information, mixed_epsilon

    entropy = point["coordinates"] * math.log(2.0)
    cap = transcript_information(point["users"], mixed_epsilon(2.0 * gap, point["epsilon"]))
    least = disjointness_information(point["coordinates"], missed)
    shares = {"share": told.value, "low": told.low, "high": told.high, "lower_bound": least, "cap": min(cap, entropy)}
    return {key: value / entropy for key, value in shares.items()}


def _missed(missed: Any, point: Mapping[str, Any], gap: float) -> dict[str, float]:
    from factormech.learning.selection.lower_bounds import least_failure

    least = least_failure(point["users"], point["coordinates"], gap, point["epsilon"])
    return {"share": missed.value, "low": missed.low, "high": missed.high, "lower_bound": least}


def check(row: Mapping[str, Any]) -> Problem:
    """Return the problem of a row whose measurement is surely outside its proved limits."""
    if not row["low"] <= row["share"] <= row["high"]:
        return "share", "be between low and high"
    if row["quantity"] == INFORMATION and row["low"] > row["cap"]:
        return "low", "be at most cap: reports cannot tell more"
    return ("high", "be at least lower_bound: disjointness takes as much") if row["high"] < row["lower_bound"] else None


def _seconds(asked: Asked) -> float:
    slow = sum(name.startswith("moss") for name in asked["protocols"]) + 0.1
    points = len(asked["coordinates"]) * len(asked["epsilon"])
    return 2.0 + seconds_of_reports(asked, 2.0 * asked["trials"] * slow * points * float(sum(asked["users"])))


_number = partial(Column, at_least=0.0)


_KIND = Experiment(
    kind="disjointness",
    description="Set disjointness decided by simulating selection: its information beside the cap, and its errors.",
    axes=(COORDINATES, BUDGET, USERS),
    settings=(PROTOCOLS, trials(2000)),
    columns=(
        COORDINATES.column(),
        BUDGET.column(),
        Column("quantity"),
        PROTOCOL,
        USERS.column(),
        _number("share", empty="reason"),
        _number("low", empty="reason"),
        _number("high", empty="reason"),
        _number("lower_bound", empty="reason"),
        _number("cap", empty="free"),
        REASON,
    ),
    keys=("quantity", "coordinates", "epsilon", "protocol", "users"),
    measure=measure,
    check=check,
    parts=split("coordinates", "epsilon"),
    figure=Curves(
        panel=("quantity", "coordinates", "epsilon"),
        x="users",
        y="share",
        series="protocol",
        low="low",
        high="high",
        bars="an interval with error one in a million",
        below="lower_bound",
        references=("cap",),
        x_scale="log",
        y_scale="linear",
        text=(
            "Left: what the transcript tells of disjoint sets of the hard law, as a share of their entropy d ln 2, "
            "below the cap NC*(ε'); right: how often a single common element is missed. Disjoint sets are never "
            "said to meet. Bars are intervals (error one in a million); nothing can be in the bands: least information "
            "for the measured errors, least error for the cap"
        ),
    ),
    seconds=_seconds,
    seeded=True,
)
EXPERIMENT = swept(_KIND, GAP)
