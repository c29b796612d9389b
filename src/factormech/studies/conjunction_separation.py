"""Conjunctions of up to 30 bits: the agnostic learner's users, predicted, beside those of Kearns' learner, proved.

Section 7.1 of Edmonds (PhD thesis, Toronto, 2023): users of agnostic learners grow exponentially in √d at least, those
of realizable ones like d³ ln d. Norms are between certified ends (:mod:`factormech.norms.subsets`); nothing is run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from factormech.errors import BadValue
from factormech.studies.axes import ALPHA, ATTRIBUTES, EPSILON
from factormech.studies.base import Asked, Column, Curves, Experiment, Problem, Setting, split

SERIES = ("users/agnostic-learner", "users/kearns-learner", "users/bound")
_SHARE = {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 0.5, "rule": "be above 0 and below 1/2"}


def measure(asked: Asked) -> Iterator[dict[str, Any]]:
    """Yield the users of both learners, and the lower bound on agnostic ones, at every number of attributes."""
    from factormech.learning.realizable import KearnsLearner
    from factormech.learning.subset_users import agnostic_users

    beta = asked["failure"]
    for d, alpha, epsilon in asked.points("attributes", "alpha", "epsilon"):
        found = agnostic_users(d, epsilon, alpha, beta)
        kearns = KearnsLearner(d, epsilon, alpha).confident_users(beta)
        row = {
            "attributes": d, "epsilon": epsilon, "alpha": alpha, "target_share": 1.0 - beta, "lower": found.norm_low,
            "upper": found.norm_high, "guaranteed_users": int(found.guaranteed), "least_users": found.needed,
            "agnostic_over_kearns": found.predicted / kearns,
        }  # fmt: skip
        for series, users in zip(SERIES, (found.predicted, kearns, found.needed), strict=True):
            yield {**row, "shown": series, "needed_users": float(users)}


def check(row: Mapping[str, Any]) -> Problem:
    """Return the problem of a row whose ends are out of order, or whose agnostic learner is below the bound."""
    if row["lower"] > row["upper"]:
        return "lower", "be at most upper"
    if row["shown"] == SERIES[0] and row["needed_users"] < row["least_users"]:
        return "needed_users", "be at least least_users"
    return None


def refuse(asked: Asked) -> Iterator[BadValue]:
    """Refuse numbers of attributes that the programs do not take, and an α not below the loss of a guess."""
    from factormech.norms.subsets.classes import checked_attributes

    for i, d in enumerate(asked["attributes"]):
        try:
            checked_attributes(d)
        except BadValue as error:
            yield BadValue(f"grid.attributes[{i}]", d, error.rule, error.remedy)
    for i, alpha in enumerate(asked["alpha"]):
        if not 0.0 < alpha < 0.25:
            rule = "be above 0 and below 1/4, so that pairs of laws differ by more"
            yield BadValue(f"grid.alpha[{i}]", alpha, rule, "give for example 0.1")


def _seconds(asked: Asked) -> float:
    """Two programs at each point: 0.1 s to 10 attributes, and 60 s at 30."""
    each = sum(0.2 + 60.0 * (float(d) / 30.0) ** 7 for d in asked["attributes"])
    return 1.0 + len(asked["alpha"]) * len(asked["epsilon"]) * each


EXPERIMENT = Experiment(
    kind="conjunction-separation",
    description="Users of agnostic and of realizable learning of conjunctions to 30 bits, by certified norms.",
    axes=(ATTRIBUTES, replace(ALPHA, default=(0.1,)), replace(EPSILON, default=(1.0,))),
    settings=(Setting("failure", _SHARE, "Failure probability β of the learners.", 0.1, default=0.1),),
    columns=(
        ATTRIBUTES.column(),
        EPSILON.column(),
        ALPHA.column(),
        Column("shown"),
        Column("needed_users", at_least=0.0),
        Column("guaranteed_users", at_least=1),
        Column("least_users", at_least=0.0),
        Column("agnostic_over_kearns", at_least=0.0),
        Column("lower", at_least=0.0),
        Column("upper", at_least=0.0),
        Column("target_share", at_least=0.0),
    ),
    keys=("attributes", "epsilon", "alpha", "shown"),
    measure=measure,
    check=check,
    refuse=refuse,
    parts=split("attributes"),
    figure=Curves(
        panel=("alpha", "epsilon"),
        x="attributes",
        y="needed_users",
        series="shown",
        y_scale="log",
        text="Users that learn conjunctions of d bits with probability 0.9, agnostically and from realizable data.",
    ),
    seconds=_seconds,
)
