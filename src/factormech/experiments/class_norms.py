"""The norms that decide how many users a class takes, against its size, between certified ends.

γ₂(W, α) and γ̂₂(W, α) (agnostic learning and release), γ₂(D_C, α) (lower bounds of learning), η(C, α) (realizable)
and margin complexity mc(C), of the ±1 matrix of a class (Edmonds, PhD thesis, Toronto, 2023, chapters 5 to 7)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from factormech.errors import BadValue
from factormech.experiments.axes import ALPHA, CLASS_SIZE, CONCEPT_CLASS
from factormech.experiments.base import REASON, Asked, Column, Curves, Experiment, Problem, split

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
    """Every quantity of one class at one size; margin complexity is the same at every α."""
    from factormech.learning.concepts import concept_class, difference_matrix
    from factormech.norms.approximate.norms import approximate_norm
    from factormech.norms.registry import compute

    for name, size, alpha in asked.points("concept_class", "class_size", "alpha"):
        concepts = concept_class(name, size)
        for title, quantity in QUANTITIES.items():
            point = {
                "concept_class": name, "class_size": size, "alpha": alpha, "norm_of_class": title,
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
            yield {**point, "value": found.upper, "low": found.lower, "high": found.upper}


def _rows(title: str, k: int, T: int) -> int:
    if title == "class-gamma-2-difference":
        return k * (k - 1) // 2 + T
    return k + (2 * T if title == "class-eta" else T)


def check(row: Mapping[str, Any]) -> Problem:
    """Ends in order, and no norm above √k: W = I·W, with rows of length 1 and columns of √k."""
    if row["low"] > row["high"]:
        return "low", "be at most high"
    if row["low"] > row["concepts"] ** 0.5 * (1.0 + 1e-9):
        return "low", "be at most the root of the number of concepts"
    return None


def refuse(asked: Asked) -> Iterator[BadValue]:
    """Classes that do not exist at a size, and an α that leaves nothing."""
    from factormech.learning.concepts import concept_class

    for i, alpha in enumerate(asked["alpha"]):
        if alpha >= 1.0:
            yield BadValue(f"grid.alpha[{i}]", alpha, "be below 1, the size of a label", "give for example 0.1")
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
    axes=(CONCEPT_CLASS, CLASS_SIZE, replace(ALPHA, default=(0.1,))),
    columns=(
        CONCEPT_CLASS.column(),
        CLASS_SIZE.column(),
        ALPHA.column(),
        Column("norm_of_class", "text", "quantity", description="Which."),
        Column("concepts", "integer", "concepts k", "k", "Distinct concepts.", at_least=1),
        Column("merged", "integer", "merged concepts", "", "Duplicates that were left out.", at_least=0),
        Column("value", "number", "value", "", "The upper end.", "reason", at_least=0.0),
        Column("low", "number", "lower end", "", "the certified lower end", "reason", at_least=0.0),
        Column("high", "number", "upper end", "", "the certified upper end", "reason", at_least=0.0),
        REASON,
    ),
    keys=("concept_class", "class_size", "alpha", "norm_of_class"),
    measure=measure,
    check=check,
    refuse=refuse,
    parts=split("concept_class"),
    figure=Curves(
        panel=("concept_class", "alpha"),
        x="class_size",
        y="value",
        series="norm_of_class",
        low="low",
        high="high",
        x_scale="log2",
        y_scale="log",
        text="Norms of the ±1 matrix of each class; the certified intervals are bars.",
    ),
    seconds=lambda asked: 1.0 * len(asked["concept_class"]) * len(asked["class_size"]) * len(asked["alpha"]),
)
