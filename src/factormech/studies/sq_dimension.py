"""The statistical query dimension of small classes: at uniform points, and as far as a search over laws finds it.

At a fixed law it is certified between two ends (:mod:`factormech.learning.sq.dimension`); over laws it is an estimate
from below. Each pair found bounds the users of streams by 1/V and those of sequential reports by 1/‖M‖², ‖M‖ being
computed for the weights of γ₂*: both are shown (Edmonds, PhD thesis, University of Toronto, 2023, Definitions 49 and
55)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from factormech.errors import UnknownName
from factormech.studies.axes import CLASS_SIZE, CONCEPT_CLASS
from factormech.studies.base import REASON, Asked, Column, Curves, Experiment, Family, Problem, Setting, split
from factormech.studies.query_complexity import LOSS, refuse_classes, sizes_of
from factormech.studies.sweeps import swept

UNIFORM, EVERY, REALIZABLE, AGNOSTIC = QUANTITIES = (
    "sqd-uniform",
    "sqd-all-hypotheses",
    "sqd-realizable",
    "sqd-agnostic",
)
QUERY, REPORTS = FORMS = ("one query", "sequential reports")
# Grothendieck's constant is below.
GROTHENDIECK = 1.783


def _check_quantity(name: str) -> None:
    if name not in QUANTITIES:
        raise UnknownName("dimension", name, QUANTITIES)


def measure(asked: Asked) -> Iterator[dict[str, Any]]:
    """Rows of a class: dimensions × forms."""
    from factormech.learning.concepts import concept_class
    from factormech.learning.sq.bounds import sequential_norm
    from factormech.learning.sq.dimension import reason_too_large
    from factormech.seeds import rng_for

    for name, size in asked.points("concept_class", "class_size"):
        concepts = concept_class(name, size)
        reason = reason_too_large(concepts)
        known: list[Any] = []
        for quantity in sorted(asked["quantities"], key=QUANTITIES.index):
            place = {"concept_class": name, "class_size": size, "concepts": concepts.size, "quantity": quantity}
            if reason:
                yield from ({**place, "form": form, "certainty": "", "reason": reason} for form in FORMS)
                continue
            # Each search is wider than those before it: it begins with what they found, and is never below.
            found = _value(quantity, concepts, asked, known, rng_for(asked.seed, "sq-dimension", name, str(size)))
            if quantity != UNIFORM:
                known.append(found)
            certified = quantity == UNIFORM and found.certified
            place["certainty"] = "certified" if certified else "estimate"
            place |= {"theta": found.theta, "floor": 0.0}
            yield {
                **place,
                "form": QUERY,
                "sq_dimension": found.dimension,
                "upper": 1.0 / found.lower if quantity == UNIFORM else found.dimension,
            }
            # A norm that is at most 1.783·V: what the constant cannot take away.
            users = 1.0 / sequential_norm(found)
            yield {
                **place,
                "form": REPORTS,
                "sq_dimension": users,
                "upper": users,
                "floor": found.dimension / GROTHENDIECK,
            }


def _value(quantity: str, concepts: Any, asked: Asked, known: list[Any], rng: Any) -> Any:
    """The value with its pair (μ, y); the searches have the same starts."""
    import numpy as np

    from factormech.learning.sq.dimension import value_at
    from factormech.learning.sq.dimension_search import smallest_value

    if quantity == UNIFORM:
        T = concepts.domain_size
        return value_at(concepts, np.full(2 * T, 0.5 / T))
    return smallest_value(
        concepts,
        asked["alpha"],
        agnostic=quantity == AGNOSTIC,
        losers="all" if quantity == EVERY else "class",
        starts=asked["starts"],
        rounds=asked["rounds"],
        known=known,
        rng=rng,
    )


def check(row: Mapping[str, Any]) -> Problem:
    """The ends are in order, and Grothendieck's inequality holds."""
    if row["upper"] < row["sq_dimension"] * (1.0 - 1e-9):
        return "upper", "be at least sq_dimension"
    return ("sq_dimension", "be at least floor") if row["sq_dimension"] < row["floor"] * (1.0 - 1e-6) else None


def _seconds(asked: Asked) -> float:
    searches = sum({UNIFORM: 0.1, EVERY: 1.0, REALIZABLE: 1.5, AGNOSTIC: 2.0}[q] for q in asked["quantities"])
    return float(1.0 + sum(0.04 * asked["starts"] * searches * (size / 4.0) ** 7 for size in sizes_of(asked)))


_KIND = Experiment(
    kind="sq-dimension",
    description="The statistical query dimension of small classes, realizable and agnostic, for both lower bounds.",
    axes=(CONCEPT_CLASS, replace(CLASS_SIZE, entry={"type": "integer", "minimum": 1, "maximum": 64})),
    settings=(
        Setting(
            "quantities",
            {"type": "array", "minItems": 1, "uniqueItems": True, "items": {"type": "string"}},
            "sqd-uniform: at uniform points with coin labels; sqd-all-hypotheses: over laws on which every hypothesis "
            "loses; sqd-realizable: SQD^R, every concept; sqd-agnostic: SQD^A.",
            ["sqd-uniform"],
            default=list(QUANTITIES),
            names=Family(lambda: QUANTITIES, _check_quantity),
        ),
        Setting(
            "starts", {"type": "integer", "minimum": 1, "maximum": 100}, "Laws a search begins with.", 2, default=2
        ),
        Setting(
            "rounds",
            {"type": "integer", "minimum": 1, "maximum": 100},
            "Steps of a search at most.",
            20,
            default=20,
        ),
    ),
    columns=(
        CONCEPT_CLASS.column(),
        CLASS_SIZE.column(),
        Column("concepts", at_least=1),
        Column("quantity"),
        Column("form"),
        Column("certainty"),
        Column("theta", empty="reason", at_least=0.0),
        Column("sq_dimension", empty="reason", at_least=0.0),
        Column("upper", empty="reason", at_least=0.0),
        Column("floor", empty="reason", at_least=0.0),
        REASON,
    ),
    keys=("concept_class", "class_size", "quantity", "form"),
    measure=measure,
    check=check,
    refuse=refuse_classes,
    parts=split("concept_class"),
    figure=Curves(
        panel="concept_class",
        x="class_size",
        y="sq_dimension",
        series="quantity",
        dash="form",
        high="upper",
        x_scale="log2",
        text="1/V, and 1/‖M‖ of the same pair, which is what sequential reports are bounded by; over laws both are "
        "estimates from below.",
    ),
    seconds=_seconds,
    seeded=True,
)
EXPERIMENT = swept(_KIND, LOSS)
