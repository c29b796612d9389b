"""The statistical query dimension between certified ends: at uniform points, and over all laws.

At a fixed law both ends are computed (:mod:`factormech.learning.sq.dimension`); of parities they have a closed form.
Over all laws of at most four points they come from branch and bound (:mod:`factormech.learning.sq.global_search`), and
of larger classes from a law that a search finds and from closed forms (``learning.sq.dimension``): both
sides are proved, and far apart. Each pair found bounds the users of streams by 1/V and those of sequential reports by
1/‖M‖², ‖M‖ being computed for the weights of γ₂*: both are shown (Edmonds, PhD thesis, University of Toronto, 2023,
Definitions 49 and 55)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from factormech.studies.axes import CLASS_SIZE, CONCEPT_CLASS
from factormech.studies.base import NAMES, REASON, Asked, Column, Curves, Experiment, Problem, Setting, listed, split
from factormech.studies.query_complexity import LOSS, refuse_classes, sizes_of
from factormech.studies.sweeps import swept

UNIFORM, EVERY, REALIZABLE, AGNOSTIC = QUANTITIES = (
    "sqd-uniform",
    "sqd-all-hypotheses",
    "sqd-realizable",
    "sqd-agnostic",
)
QUERY, REPORTS = FORMS = ("one query", "sequential reports")
# An interval of at most this ratio is called certified; a wider one has two sides that are proved.
NARROW = 1.02
# Grothendieck's constant is below.
GROTHENDIECK = 1.783


def measure(asked: Asked) -> Iterator[dict[str, Any]]:
    """Yield the rows of a class: dimensions × forms."""
    from factormech.learning.concepts import concept_class
    from factormech.learning.sq.bounds import sequential_pairs
    from factormech.learning.sq.dimension import reason_too_large
    from factormech.seeds import rng_for

    for name, size in asked.points("concept_class", "class_size"):
        concepts = concept_class(name, size)
        reason = reason_too_large(concepts)
        known: list[Any] = []
        for quantity in sorted(asked["quantities"], key=QUANTITIES.index):
            place = {"concept_class": name, "class_size": size, "concepts": concepts.size, "quantity": quantity}
            if reason:
                yield from _too_large(place, name, size, reason)
                continue
            # Each search is wider than those before it: it begins with what they found, and is never below.
            chance = rng_for(asked.seed, "sq-dimension", name, str(size))
            found, low, high = _value(quantity, concepts, asked, known, chance)
            if quantity != UNIFORM:
                known.append(found)
            place["certainty"] = "certified" if high <= NARROW * low else "two sides"
            place |= {"theta": found.theta, "floor": 0.0}
            yield {**place, "form": QUERY, "sq_dimension": low, "upper": high}
            # A norm that is at most 1.783·V: what the constant cannot take away.
            users = 1.0 / sequential_pairs(found).norm
            place["certainty"] = "one pair"
            yield {
                **place,
                "form": REPORTS,
                "sq_dimension": users,
                "upper": users,
                "floor": found.dimension / GROTHENDIECK,
            }


def _value(quantity: str, concepts: Any, asked: Asked, known: list[Any], rng: Any) -> Any:
    """The value with its pair (μ, y), and both ends; the searches have the same starts."""
    import numpy as np

    from factormech.learning.sq.dimension import simple_ends, value_at
    from factormech.learning.sq.dimension_search import smallest_value
    from factormech.learning.sq.global_search import certified_dimension, is_searched

    if quantity == UNIFORM:
        T = concepts.domain_size
        found = value_at(concepts, np.full(2 * T, 0.5 / T))
        return found, found.dimension, 1.0 / found.lower
    kind: dict[str, Any] = {"agnostic": quantity == AGNOSTIC, "losers": "all" if quantity == EVERY else "class"}
    alpha = asked["alpha"]
    search = {"starts": asked["starts"], "rounds": asked["rounds"], "known": known, "rng": rng}
    found = smallest_value(concepts, alpha, **kind, **search)
    if is_searched(concepts):
        proved = certified_dimension(concepts, alpha, **kind, found=found)
        return proved.value, proved.lower, proved.upper
    low, high = simple_ends(concepts, alpha)
    return found, max(low, found.dimension), max(high, found.dimension)


def _too_large(place: dict[str, Any], name: str, size: int, reason: str) -> Iterator[dict[str, Any]]:
    """Rows without a program: the closed form of parities at uniform points, else the reason."""
    from factormech.learning.sq.dimension import parities_at_uniform_points

    if name == "parities" and place["quantity"] == UNIFORM:
        low, high = parities_at_uniform_points(size)
        ends = {"sq_dimension": low, "upper": high, "floor": 0.0, "theta": 0.0}
        yield {**place, **ends, "form": QUERY, "certainty": "certified" if high <= NARROW * low else "two sides"}
        yield {**place, "form": REPORTS, "certainty": "", "reason": reason}
        return
    yield from ({**place, "form": form, "certainty": "", "reason": reason} for form in FORMS)


def check(row: Mapping[str, Any]) -> Problem:
    """Return the problem of a row whose ends are out of order, or contradict Grothendieck's inequality."""
    if row["upper"] < row["sq_dimension"] * (1.0 - 1e-9):
        return "upper", "be at least sq_dimension"
    return ("sq_dimension", "be at least floor") if row["sq_dimension"] < row["floor"] * (1.0 - 1e-6) else None


def _seconds(asked: Asked) -> float:
    searches = sum({UNIFORM: 0.1, EVERY: 1.0, REALIZABLE: 1.5, AGNOSTIC: 2.0}[q] for q in asked["quantities"])
    # Branch and bound takes 3 s of 4 concepts, 16 s of 14.
    over = sum(quantity != UNIFORM for quantity in asked["quantities"])
    sizes = sizes_of(asked)
    return float(1.0 + sum(0.04 * asked["starts"] * searches * (size / 4.0) ** 7 + over * size for size in sizes))


_KIND = Experiment(
    kind="sq-dimension",
    description="The statistical query dimension of small classes, realizable and agnostic, for both lower bounds.",
    axes=(CONCEPT_CLASS, replace(CLASS_SIZE, entry={"type": "integer", "minimum": 1, "maximum": 64})),
    settings=(
        Setting(
            "quantities",
            NAMES,
            "sqd-uniform: at uniform points with coin labels; sqd-all-hypotheses: over laws on which every hypothesis "
            "loses; sqd-realizable: SQD^R, every concept; sqd-agnostic: SQD^A.",
            ["sqd-uniform"],
            default=list(QUANTITIES),
            names=listed("dimension", QUANTITIES),
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
        text="1/V, bars between certified ends, and 1/‖M‖ of the best pair found, which is what sequential reports are "
        "bounded by.",
    ),
    seconds=_seconds,
    seeded=True,
)
EXPERIMENT = swept(_KIND, LOSS)
