"""Users that all marginals of one width take for an expected largest error, from above and below, to d in the
thousands.

The factorization mechanism with the best polynomial (guaranteed for every number of users, and predicted by the central
limit theorem) over certified lower bounds (:mod:`factormech.mechanisms.local.factorized.marginal_users`). Where the
predicted users are few enough, their collection is run, and the mean of its largest error is beside α."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from factormech.errors import BadValue
from factormech.studies.axes import ALPHA, ATTRIBUTES, EPSILON, WIDTH
from factormech.studies.base import Asked, Column, Curves, Experiment, Problem, Setting, split

# A collection of more users is not run, nor one whose parities are more.
_MOST_USERS, _MOST_PARITIES = 3_000_000, 2_000
# Two-sided error of the interval of a mean error.
_LEVEL = 1e-3
SERIES = ("users/guaranteed", "users/predicted", "users/bound")


def measure(asked: Asked) -> Iterator[dict[str, Any]]:
    """Yield three numbers of users at every width, ε, α and number of attributes."""
    from factormech.mechanisms.local.factorized.marginal_users import least_users, sufficient_users

    for width, epsilon, alpha, attributes in asked.points("marginal_width", "epsilon", "alpha", "attributes"):
        guaranteed, predicted = sufficient_users(attributes, width, epsilon, alpha)
        below = least_users(attributes, width, epsilon, alpha)
        for series, users in zip(SERIES, (guaranteed, predicted, below), strict=True):
            run = _run(asked, attributes, width, epsilon, alpha, predicted) if series == SERIES[1] else {}
            yield {
                "marginal_width": width, "epsilon": epsilon, "alpha": alpha, "attributes": attributes, "shown": series,
                "needed_users": float(users), "least_users": below, **run,
            }  # fmt: skip


def _run(asked: Asked, attributes: int, width: int, epsilon: float, alpha: float, users: int) -> dict[str, float]:
    """The mean of the largest errors of collections that are run, and its interval; nothing for larger ones."""
    from factormech.mechanisms.local.factorized.marginal_users import largest_errors
    from factormech.numerics.intervals import student_half_width
    from factormech.seeds import rng_for

    parities = sum(math.comb(attributes, t) for t in range(1, width + 1))
    if users > _MOST_USERS or parities > _MOST_PARITIES:
        return {}
    axes = ("marginals-users", str(width), repr(epsilon), repr(alpha), str(attributes))
    errors = largest_errors(attributes, width, epsilon, alpha, users, asked["trials"], rng_for(asked.seed, *axes))
    mean, half = float(errors.mean()), student_half_width(errors, _LEVEL)
    return {"measured_error": mean, "measured_low": mean - half, "measured_high": mean + half}


def check(row: Mapping[str, Any]) -> Problem:
    """Return the problem of a row with fewer users than are proved to be needed."""
    return None if row["needed_users"] >= row["least_users"] else ("needed_users", "be at least least_users")


def refuse(asked: Asked) -> Iterator[BadValue]:
    """Refuse widths above a number of attributes, and an α that a constant answer reaches."""
    for i, alpha in enumerate(asked["alpha"]):
        if not 0.0 < alpha < 0.5:
            rule = "be above 0 and below 1/2, the error of a constant"
            yield BadValue(f"grid.alpha[{i}]", alpha, rule, "give for example 0.05")
    least = min(asked["attributes"])
    for i, width in enumerate(asked["marginal_width"]):
        if width > least:
            rule = f"be at most {least}, the smallest number of attributes"
            yield BadValue(f"grid.marginal_width[{i}]", width, rule, "give a smaller one, or more attributes")


def _seconds(asked: Asked) -> float:
    points = len(asked["alpha"]) * len(asked["attributes"]) * len(asked["epsilon"])
    collections = 1.5e-8 * _MOST_USERS * asked["trials"]
    return 0.5 + float(points * sum(6e-5 * float(w) ** 4.2 + collections / 8**w for w in asked["marginal_width"]))


EXPERIMENT = Experiment(
    kind="marginals-users",
    description="Users for all marginals of one width, above and below, at thousands of attributes.",
    axes=(WIDTH, replace(EPSILON, default=(1.0,)), replace(ALPHA, default=(0.05,)), ATTRIBUTES),
    settings=(
        Setting("trials", {"type": "integer", "minimum": 2, "maximum": 10000}, "Collections of each.", 50, default=50),
    ),
    columns=(
        WIDTH.column(),
        EPSILON.column(),
        ALPHA.column(),
        ATTRIBUTES.column(),
        Column("shown"),
        Column("needed_users", at_least=0.0),
        Column("least_users", at_least=0.0),
        Column("measured_error", empty="free", at_least=0.0, added=math.nan),
        Column("measured_low", empty="free", added=math.nan),
        Column("measured_high", empty="free", at_least=0.0, added=math.nan),
    ),
    keys=("marginal_width", "epsilon", "alpha", "attributes", "shown"),
    measure=measure,
    check=check,
    refuse=refuse,
    parts=split("marginal_width"),
    figure=Curves(
        panel=("marginal_width", "epsilon", "alpha"),
        x="attributes",
        y="needed_users",
        series="shown",
        below="least_users",
        floor="bound for non-interactive ε-LDP protocols",
        x_scale="log2",
        y_scale="log",
        text="Users for expected largest error α of all marginals of one width; shaded: below the lower bound.",
    ),
    seconds=_seconds,
    seeded=True,
)
