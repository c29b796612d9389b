"""The norms that decide how many users a class takes, against its size, between certified ends.

γ₂(W, α) and γ̂₂(W, α) (agnostic learning and release), γ₂(D_C, α) (lower bounds of learning), η(C, α) (realizable)
and margin complexity mc(C), of the ±1 matrix of a class (Edmonds, PhD thesis, Toronto, 2023, chapters 5 to 7)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from factormech.errors import BadValue
from factormech.studies.axes import CLASS_SIZE, CONCEPT_CLASS, ENTRY_ERROR
from factormech.studies.base import REASON, Asked, Column, Curves, Experiment, Problem, split

# Series name: quantity of the registry of norms.
QUANTITIES = {
    "class-gamma-2": "gamma-2-approximate",
    "class-gamma-2-shifted": "gamma-2-shifted",
    "class-gamma-2-difference": "gamma-2-difference",
    "class-eta": "eta",
    "class-margin": "margin-complexity",
}
# Rows and columns together of a semidefinite program that takes seconds, once per norm.
_LARGEST = 700


def measure(asked: Asked) -> Iterator[dict[str, Any]]:
    """Yield a row for each quantity of a class at a size; margin complexity is the same at every α."""
    from factormech.learning.concepts import concept_class, difference_matrix
    from factormech.norms.approximate import approximate_norm
    from factormech.norms.registry import compute

    for name, size, alpha in asked.points("concept_class", "class_size", "entry_error"):
        concepts = concept_class(name, size)
        for title, quantity in QUANTITIES.items():
            point = {
                "concept_class": name, "class_size": size, "entry_error": alpha, "quantity": title,
                "concepts": concepts.size, "merged": concepts.merged,
            }  # fmt: skip
            rows = _rows(title, concepts.size, concepts.domain_size)
            if rows > _LARGEST:
                yield {**point, "reason": f"its program has {rows} rows and columns, more than {_LARGEST}"}
                continue
            if title == "class-gamma-2-difference":
                found = approximate_norm(difference_matrix(concepts), alpha)
            else:
                found = compute(quantity, concepts.labels, alpha=None if title == "class-margin" else alpha)
            yield {**point, "norm_value": found.upper, "lower": found.lower, "upper": found.upper}


def _rows(title: str, k: int, T: int) -> int:
    if title == "class-gamma-2-difference":
        return k * (k - 1) // 2 + T
    return k + (2 * T if title == "class-eta" else T)


def check(row: Mapping[str, Any]) -> Problem:
    """Return the problem of a row whose ends are out of order, or whose norm is above √k (W = I·W)."""
    if row["lower"] > row["upper"]:
        return "lower", "be at most upper"
    if row["lower"] > row["concepts"] ** 0.5 * (1.0 + 1e-9):
        return "lower", "be at most the root of the number of concepts"
    return None


def refuse(asked: Asked) -> Iterator[BadValue]:
    """Refuse classes that do not exist at a size, and an α that leaves no norm."""
    from factormech.learning.concepts import concept_class

    for i, alpha in enumerate(asked["entry_error"]):
        if alpha >= 1.0:
            yield BadValue(f"grid.entry_error[{i}]", alpha, "be below 1, the size of a label", "give for example 0.1")
    for i, name in enumerate(asked["concept_class"]):
        for size in asked["class_size"]:
            try:
                if concept_class(name, size).size < 2:
                    rule = "have at least 2 concepts"
                    yield BadValue(f"grid.concept_class[{i}]", f"{name} at size {size}", rule, "give a larger size")
            except BadValue as error:
                yield BadValue(f"grid.concept_class[{i}]", f"{name} at size {size}", error.rule, error.remedy)


EXPERIMENT = Experiment(
    kind="class-norms",
    description="Factorization norms, η and margin complexity of concept classes against their size.",
    axes=(CONCEPT_CLASS, CLASS_SIZE, replace(ENTRY_ERROR, default=(0.1,))),
    columns=(
        CONCEPT_CLASS.column(),
        CLASS_SIZE.column(),
        ENTRY_ERROR.column(),
        Column("quantity"),
        Column("concepts", at_least=1),
        Column("merged", at_least=0),
        Column("norm_value", empty="reason", at_least=0.0),
        Column("lower", empty="reason", at_least=0.0),
        Column("upper", empty="reason", at_least=0.0),
        REASON,
    ),
    keys=("concept_class", "class_size", "entry_error", "quantity"),
    measure=measure,
    check=check,
    refuse=refuse,
    parts=split("concept_class"),
    figure=Curves(
        panel=("concept_class", "entry_error"),
        x="class_size",
        y="norm_value",
        series="quantity",
        low="lower",
        high="upper",
        bars="the certified lower end to the certified upper end",
        x_scale="log2",
        y_scale="log",
        label="norm, η or margin complexity",
        text="Norms of the ±1 matrix of each class; the certified intervals are bars.",
    ),
    seconds=lambda asked: 1.0 * len(asked["concept_class"]) * len(asked["class_size"]) * len(asked["entry_error"]),
)
