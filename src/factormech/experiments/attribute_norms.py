"""Norms of classes on sets of attributes against their number, at sizes whose matrices are never written out.

γ₂(W, α), γ̂₂(W, α), η(C, α) and margin complexity of a class that permutations of d attributes leave as it is, each
between certified ends (:mod:`factormech.norms.subsets`): of conjunctions margin complexity grows nearly linearly,
and the others with an exponent that rises with d.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from factormech.errors import BadValue
from factormech.experiments.axes import ALPHA, ATTRIBUTES
from factormech.experiments.base import Asked, Axis, Column, Curves, Experiment, Family, Problem, split

# Series name: quantity of the registry of norms.
QUANTITIES = {
    "class-gamma-2": "gamma-2-approximate",
    "class-gamma-2-shifted": "gamma-2-shifted",
    "class-eta": "eta",
    "class-margin": "margin-complexity",
}


def _names() -> Iterable[str]:
    from factormech.norms.subsets import classes

    return classes.names()


def _check_name(name: str) -> None:
    from factormech.norms.subsets import classes

    classes.check_name(name)


def _module_of(_: str) -> str:
    return "factormech.norms.subsets.classes"


SET_CLASS = Axis(
    "set_class",
    {"type": "string", "minLength": 1},
    "class",
    "conjunctions",
    description="Names of classes on sets of attributes.",
    names=Family(_names, _check_name, _module_of),
)


def measure(asked: Asked) -> Iterator[dict[str, Any]]:
    """Every quantity at every number of attributes; margin complexity is solved once for all α."""
    from factormech.norms.certified import CertifiedNorm
    from factormech.norms.subsets.classes import subset_class
    from factormech.norms.subsets.norms import subset_norm

    for name, d in asked.points("set_class", "attributes"):
        queries = subset_class(name, d)
        margin: CertifiedNorm | None = None
        for alpha in asked["alpha"]:
            for title, quantity in QUANTITIES.items():
                if title == "class-margin":
                    found = margin = margin or subset_norm(queries, quantity)
                else:
                    found = subset_norm(queries, quantity, alpha)
                yield {
                    "set_class": name, "attributes": d, "alpha": alpha, "norm_of_class": title,
                    "value": found.upper, "low": found.lower, "high": found.upper,
                }  # fmt: skip


def check(row: Mapping[str, Any]) -> Problem:
    """Ends in order and near each other, and no norm above the root of the number of users, 2^{d/2}."""
    if row["low"] > row["high"]:
        return "low", "be at most high"
    if row["low"] > 2.0 ** (0.5 * row["attributes"]) * (1.0 + 1e-9):
        return "low", "be at most the root of the number of types"
    return ("high", "be at most 1.001 times low") if row["high"] > 1.001 * row["low"] else None


def refuse(asked: Asked) -> Iterator[BadValue]:
    """Numbers of attributes that the programs do not take, and an α that leaves nothing."""
    from factormech.norms.subsets.classes import subset_class

    for i, alpha in enumerate(asked["alpha"]):
        if alpha >= 1.0:
            yield BadValue(f"grid.alpha[{i}]", alpha, "be below 1, the size of a label", "give for example 0.1")
    for i, name in enumerate(asked["set_class"]):
        for d in asked["attributes"]:
            try:
                subset_class(name, d)
            except BadValue as error:
                yield BadValue(f"grid.set_class[{i}]", f"{name} of {d} attributes", error.rule, error.remedy)


def _seconds(asked: Asked) -> float:
    """Some 5 s at 16 attributes and 70 s at 24, for all quantities."""
    each = sum(0.2 + 5.0 * (float(d) / 16.0) ** 6.5 for d in asked["attributes"])
    return 1.0 + float(len(asked["set_class"]) * len(asked["alpha"]) * each)


EXPERIMENT = Experiment(
    kind="attribute-norms",
    description="Norms, η and margin complexity of classes on sets of up to 30 attributes, between certified ends.",
    axes=(SET_CLASS, ATTRIBUTES, replace(ALPHA, default=(0.1,))),
    columns=(
        SET_CLASS.column(),
        ATTRIBUTES.column(),
        ALPHA.column(),
        Column("norm_of_class", "text", "quantity", description="Which."),
        Column("value", "number", "value", "", "The upper end.", at_least=0.0),
        Column("low", "number", "lower end", "", "the certified lower end", at_least=0.0),
        Column("high", "number", "upper end", "", "the certified upper end", at_least=0.0),
    ),
    keys=("set_class", "attributes", "alpha", "norm_of_class"),
    measure=measure,
    check=check,
    refuse=refuse,
    parts=split("set_class"),
    figure=Curves(
        panel=("set_class", "alpha"),
        x="attributes",
        y="value",
        series="norm_of_class",
        low="low",
        high="high",
        y_scale="log",
        text="Norms of the ±1 matrix of a class over d attributes; intervals are narrower than the markers.",
    ),
    seconds=_seconds,
)
