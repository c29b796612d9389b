"""Errors of the correlational-query algorithm against the number of queries, for each oracle and both constants.

The correlations of all concepts are estimated by J queries (:mod:`factormech.learning.sq.correlational`; Theorem 56 of
Edmonds, PhD thesis, University of Toronto, 2023), on uniform points labelled by one concept. The thesis's constant √π/2
leaves an error of 1 − 1/√2 times the largest correlation however many queries are asked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from factormech.errors import BadValue
from factormech.studies.axes import CLASS_SIZE, CONCEPT_CLASS, EPSILON
from factormech.studies.base import Asked, Axis, Column, Curves, Experiment, Problem, Setting, listed, split
from factormech.studies.sweeps import quantity, swept

ORACLES = ("exact", "sampled", "adversarial", "simulated")
CONSTANTS = ("unbiased", "as-printed")
# Standard errors that a bar reaches up and down.
BARS = 3.0

TOLERANCE = Axis("tolerance", {"type": "number", "exclusiveMinimum": 0, "maximum": 1}, 0.05)
QUERIES = Axis("queries_asked", {"type": "integer", "minimum": 1, "maximum": 1000000}, 1000)


def measure(asked: Asked) -> Iterator[dict[str, Any]]:
    """Yield the rows of a class: tolerances × oracles × constants × queries; short runs begin the longer ones."""
    from factormech.learning.concepts import concept_class
    from factormech.learning.sq import correlational as csq
    from factormech.norms.approximate import approximate_norm

    for name, size in asked.points("concept_class", "class_size"):
        concepts = concept_class(name, size)
        factors = csq.factors_of(concepts.labels, approximate_norm(concepts.labels, asked["distance"]))
        for tolerance in asked["tolerance"]:
            for title in asked["oracles"]:
                place = {"concept_class": name, "class_size": size, "tolerance": tolerance, "oracle": title}
                one = _Asked(title, tolerance, concepts, factors, (name, str(size)))
                yield from ({**place, **row} for row in _rows(asked, one))


@dataclass(frozen=True)
class _Asked:
    """An oracle for a class: uniform points that one of the concepts labels."""

    oracle: str
    tolerance: float
    concepts: Any
    factors: Any
    axes: tuple[str, str]

    @property
    def own(self) -> int:
        """The concept that labels."""
        return int(self.concepts.size // 2)

    @property
    def samples(self) -> int:
        """Samples of an answer that are as good as the tolerance."""
        return round(self.tolerance**-2)

    def answering(self, rng: Any) -> Any:
        """The oracle itself."""
        import numpy as np

        from factormech.learning.sq import oracles

        T = self.concepts.domain_size
        law = oracles.labelled_law(np.full(T, 1.0 / T), self.concepts.labels[self.own])
        if self.oracle == "adversarial":
            return oracles.Correlational(oracles.AdversarialOracle(law, self.tolerance))
        sampled = self.oracle == "sampled"
        return oracles.Correlational(
            oracles.SampledOracle(law, self.samples, rng) if sampled else oracles.ExactOracle(law)
        )


def _rows(asked: Asked, one: _Asked) -> Iterator[dict[str, Any]]:
    """Constants × queries: the largest errors of the same trials."""
    import numpy as np

    from factormech.learning.sq import correlational as csq

    truth = one.concepts.labels @ one.concepts.labels[one.own] / one.concepts.domain_size
    means = _means(asked, one)
    for constant in asked["constants"]:
        scale = csq.constant_of(constant) / csq.RIGHT
        errors = np.abs(scale * means - truth).max(axis=2)
        for j, J in enumerate(sorted(asked["queries_asked"])):
            error = float(errors[:, j].mean())
            bar = BARS * float(errors[:, j].std(ddof=1)) / asked["trials"] ** 0.5
            row = {"scaling": constant, "queries_asked": J, "correlation_error": error}
            row |= {"low": max(error - bar, 1e-12), "high": error + bar}
            if constant == "unbiased" and one.oracle != "simulated":
                row["guaranteed_error"] = csq.error_bound(
                    one.factors,
                    J,
                    one.tolerance if one.oracle == "adversarial" else 0.0,
                    samples=one.samples if one.oracle == "sampled" else None,
                )
            yield row


def _means(asked: Asked, one: _Asked) -> Any:
    """Estimates with the right constant: trials × numbers of queries × concepts."""
    import numpy as np

    from factormech.learning.sq import correlational as csq
    from factormech.seeds import rng_for

    return np.array(
        [
            csq.estimate(
                one.factors,
                one.answering(rng_for(asked.seed, "csq", one.oracle, str(trial))),
                sorted(asked["queries_asked"]),
                rng_for(asked.seed, "csq", *one.axes, str(trial)),
                attacked=one.own,
                rounded_at=asked["privacy"] if one.oracle == "simulated" else None,
            )
            for trial in range(asked["trials"])
        ]
    )


def check(row: Mapping[str, Any]) -> Problem:
    """Return the problem of a row whose measured error is surely above the proved one."""
    if row["guaranteed_error"] == row["guaranteed_error"] and row["low"] > row["guaranteed_error"]:
        return "correlation_error", "be at most guaranteed_error"
    return None


def refuse_classes(asked: Asked) -> Iterator[BadValue]:
    """Classes that do not exist at a size, or have more concepts or points than the norms are quick for."""
    from factormech.learning.concepts import concept_class

    for i, name in enumerate(asked["concept_class"]):
        for size in asked["class_size"]:
            try:
                found = concept_class(name, size)
            except BadValue as error:
                yield BadValue(f"grid.concept_class[{i}]", f"{name} at size {size}", error.rule, error.remedy)
                continue
            if max(found.matrix.shape) > 64:
                rule = f"have at most 64 concepts and points (it has {found.matrix.shape})"
                yield BadValue(f"grid.concept_class[{i}]", f"{name} at size {size}", rule, "give another size")


def _seconds(asked: Asked) -> float:
    cells = len(asked["concept_class"]) * len(asked["class_size"])
    runs = len(asked["tolerance"]) * len(asked["oracles"]) * asked["trials"]
    return float(cells * (3.0 + 1e-6 * runs * max(asked["queries_asked"])))


_NAMES = {"type": "array", "minItems": 1, "uniqueItems": True}
PRIVACY = quantity(EPSILON, 1.0, name="privacy")
_KIND = Experiment(
    kind="correlational-queries",
    description="Errors of the correlational-query algorithm for each oracle, with the right and the printed constant.",
    axes=(
        CONCEPT_CLASS,
        CLASS_SIZE,
        replace(TOLERANCE, note="A sample has 1/τ² draws for each query."),
        QUERIES,
    ),
    settings=(
        Setting(
            "oracles",
            {**_NAMES, "items": {"type": "string"}},
            "exact; sampled (fresh draws for each query); adversarial; simulated: exact answers made bits, as in the "
            "simulation of a local protocol.",
            ["exact"],
            default=list(ORACLES),
            names=listed("oracle", ORACLES),
        ),
        Setting(
            "constants",
            {**_NAMES, "items": {"enum": list(CONSTANTS)}},
            "unbiased: √(π/2); as-printed: √π/2.",
            ["unbiased"],
            default=list(CONSTANTS),
        ),
        Setting(
            "distance",
            {"type": "number", "minimum": 0, "exclusiveMaximum": 1, "rule": "be at least 0 and below 1"},
            "The error of every entry that the factors may have.",
            0.05,
            default=0.02,
        ),
        Setting("trials", {"type": "integer", "minimum": 2, "maximum": 100000}, "Runs.", 30, default=30),
    ),
    columns=(
        CONCEPT_CLASS.column(),
        CLASS_SIZE.column(),
        Column("tolerance", at_least=0.0),
        Column("oracle"),
        Column("scaling"),
        Column("queries_asked", at_least=1),
        Column("correlation_error", at_least=0.0),
        Column("low", at_least=0.0),
        Column("high", at_least=0.0),
        Column("guaranteed_error", empty="free", at_least=0.0),
    ),
    keys=("concept_class", "class_size", "tolerance", "oracle", "scaling", "queries_asked"),
    measure=measure,
    check=check,
    refuse=refuse_classes,
    parts=split("concept_class"),
    figure=Curves(
        panel=("concept_class", "class_size", "tolerance"),
        x="queries_asked",
        y="correlation_error",
        series="oracle",
        dash="scaling",
        low="low",
        high="high",
        bars="three standard errors below to three standard errors above",
        x_scale="log",
        text="The largest error over all concepts, against the number of queries; a wrong constant never gets better.",
    ),
    seconds=_seconds,
    seeded=True,
)
EXPERIMENT = swept(_KIND, PRIVACY)
