"""Users that all marginals of one width take for an expected largest error, from above and below, to d in the
thousands.

The factorization mechanism with the best polynomial (guaranteed for every number of users, and predicted by the central
limit theorem) over certified lower bounds (:mod:`factormech.local.factorized.marginal_users`). Nothing is simulated."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from factormech.errors import BadValue
from factormech.experiments.axes import ALPHA, ATTRIBUTES, EPSILON, WIDTH
from factormech.experiments.base import Asked, Column, Curves, Experiment, Problem, split

SERIES = ("users/guaranteed", "users/predicted", "users/bound")


def measure(asked: Asked) -> Iterator[dict[str, Any]]:
    """Three numbers of users at every width, ε, α and number of attributes."""
    from factormech.local.factorized.marginal_users import least_users, sufficient_users

    for width, epsilon, alpha, attributes in asked.points("width", "epsilon", "alpha", "attributes"):
        guaranteed, predicted = sufficient_users(attributes, width, epsilon, alpha)
        below = least_users(attributes, width, epsilon, alpha)
        for series, users in zip(SERIES, (guaranteed, predicted, below), strict=True):
            yield {
                "width": width, "epsilon": epsilon, "alpha": alpha, "attributes": attributes, "series": series,
                "users": float(users), "lower_bound": below,
            }  # fmt: skip


def check(row: Mapping[str, Any]) -> Problem:
    """No number of users is below what is proved to be needed."""
    return None if row["users"] >= row["lower_bound"] else ("users", "be at least lower_bound")


def refuse(asked: Asked) -> Iterator[BadValue]:
    """Widths above a number of attributes, and an α that a constant answer has."""
    for i, alpha in enumerate(asked["alpha"]):
        if not 0.0 < alpha < 0.5:
            rule = "be above 0 and below 1/2, the error of a constant"
            yield BadValue(f"grid.alpha[{i}]", alpha, rule, "give for example 0.05")
    least = min(asked["attributes"])
    for i, width in enumerate(asked["width"]):
        if width > least:
            rule = f"be at most {least}, the smallest number of attributes"
            yield BadValue(f"grid.width[{i}]", width, rule, "give a smaller one, or more attributes")


def _seconds(asked: Asked) -> float:
    points = len(asked["alpha"]) * len(asked["attributes"]) * len(asked["epsilon"])
    return 0.5 + float(points * sum(6e-5 * float(w) ** 4.2 for w in asked["width"]))


EXPERIMENT = Experiment(
    kind="marginals-users",
    description="Users for all marginals of one width, above and below, at thousands of attributes.",
    axes=(WIDTH, replace(EPSILON, default=(1.0,)), replace(ALPHA, default=(0.05,)), ATTRIBUTES),
    columns=(
        WIDTH.column(),
        EPSILON.column(),
        ALPHA.column(),
        ATTRIBUTES.column(),
        Column("series", "text", "what", description="guaranteed, predicted, or the lower bound."),
        Column("users", "number", "users n", "n", "For expected largest error α on every law.", at_least=0.0),
        Column("lower_bound", "number", "users needed", "n ≥", "By every protocol without interaction.", at_least=0.0),
    ),
    keys=("width", "epsilon", "alpha", "attributes", "series"),
    measure=measure,
    check=check,
    refuse=refuse,
    parts=split("width"),
    figure=Curves(
        panel=("width", "epsilon", "alpha"),
        x="attributes",
        y="users",
        series="series",
        below="lower_bound",
        x_scale="log2",
        y_scale="log",
        text="Users for expected largest error α of all marginals of one width; shaded: below the lower bound.",
    ),
    seconds=_seconds,
)
