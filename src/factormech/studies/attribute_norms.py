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
from factormech.studies.axes import ATTRIBUTES, ENTRY_ERROR
from factormech.studies.base import Asked, Axis, Column, Curves, Experiment, Family, Problem, split

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
    "conjunctions",
    names=Family(_names, _check_name, _module_of),
)


def measure(asked: Asked) -> Iterator[dict[str, Any]]:
    """Yield a row for each quantity and number of attributes; margin complexity is solved once for all α."""
    from factormech.norms.certified import CertifiedNorm
    from factormech.norms.subsets.classes import subset_class
    from factormech.norms.subsets.norms import subset_norm

    for name, d in asked.points("set_class", "attributes"):
        queries = subset_class(name, d)
        margin: CertifiedNorm | None = None
        for alpha in asked["entry_error"]:
            for title, quantity in QUANTITIES.items():
                if title == "class-margin":
                    found = margin = margin or subset_norm(queries, quantity)
                else:
                    found = subset_norm(queries, quantity, alpha)
                yield {
                    "set_class": name, "attributes": d, "entry_error": alpha, "quantity": title,
                    "norm_value": found.upper, "lower": found.lower, "upper": found.upper,
                }  # fmt: skip


def check(row: Mapping[str, Any]) -> Problem:
    """Return the problem of a row whose ends are out of order or far apart, or whose norm is above 2^{d/2}."""
    if row["lower"] > row["upper"]:
        return "lower", "be at most upper"
    if row["lower"] > 2.0 ** (0.5 * row["attributes"]) * (1.0 + 1e-9):
        return "lower", "be at most the root of the number of types"
    return ("upper", "be at most 1.001 times lower") if row["upper"] > 1.001 * row["lower"] else None


def refuse(asked: Asked) -> Iterator[BadValue]:
    """Refuse numbers of attributes that the programs do not take, and an α that leaves no norm."""
    from factormech.norms.subsets.classes import subset_class

    for i, alpha in enumerate(asked["entry_error"]):
        if alpha >= 1.0:
            yield BadValue(f"grid.entry_error[{i}]", alpha, "be below 1, the size of a label", "give for example 0.1")
    for i, name in enumerate(asked["set_class"]):
        for d in asked["attributes"]:
            try:
                subset_class(name, d)
            except BadValue as error:
                yield BadValue(f"grid.set_class[{i}]", f"{name} of {d} attributes", error.rule, error.remedy)


def _seconds(asked: Asked) -> float:
    """Some 5 s at 16 attributes and 70 s at 24, for all quantities."""
    each = sum(0.2 + 5.0 * (float(d) / 16.0) ** 6.5 for d in asked["attributes"])
    return 1.0 + float(len(asked["set_class"]) * len(asked["entry_error"]) * each)


EXPERIMENT = Experiment(
    kind="attribute-norms",
    description="Norms, η and margin complexity of classes on sets of up to 30 attributes, between certified ends.",
    axes=(SET_CLASS, ATTRIBUTES, replace(ENTRY_ERROR, default=(0.1,))),
    columns=(
        SET_CLASS.column(),
        ATTRIBUTES.column(),
        ENTRY_ERROR.column(),
        Column("quantity"),
        Column("norm_value", at_least=0.0),
        Column("lower", at_least=0.0),
        Column("upper", at_least=0.0),
    ),
    keys=("set_class", "attributes", "entry_error", "quantity"),
    measure=measure,
    check=check,
    refuse=refuse,
    parts=split("set_class"),
    figure=Curves(
        panel=("set_class", "entry_error"),
        x="attributes",
        y="norm_value",
        series="quantity",
        low="lower",
        high="upper",
        y_scale="log",
        text="Norms of the ±1 matrix of a class over d attributes; intervals are narrower than the markers.",
    ),
    seconds=_seconds,
)
