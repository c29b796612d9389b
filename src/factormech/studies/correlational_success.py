"""Learning from correlational queries on the hard laws: how often it succeeds, under what no algorithm can exceed.

The laws are those of the lower bound (:mod:`factormech.learning.sq.bounds`): a concept drawn by their weights has
correlation α, and the oracle answers 0 wherever its tolerance lets it. After J queries the share of successes is at
most c-var·(J/τ² + 1/α_h²), whatever the algorithm. Two are run: the random signs of Theorem 56 (Edmonds, PhD thesis,
University of Toronto, 2023), and asking for the concepts themselves in random order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from factormech.studies.axes import CLASS_SIZE, CONCEPT_CLASS
from factormech.studies.base import NAMES, Asked, Column, Curves, Experiment, Problem, Setting, listed, split
from factormech.studies.correlational_queries import QUERIES, TOLERANCE, refuse_classes

SIGNS, CONCEPTS = ALGORITHMS = ("random-signs", "every-concept")
LEVEL = 0.01


def measure(asked: Asked) -> Iterator[dict[str, Any]]:
    """Yield the rows of a class: tolerances × algorithms × queries, on the same laws for all."""
    from factormech.learning.concepts import concept_class
    from factormech.learning.sq.bounds import correlational_success, hard_correlations
    from factormech.learning.sq.correlational import factors_of
    from factormech.norms.approximate import approximate_norm
    from factormech.numerics.intervals import clopper_pearson

    counts = sorted(asked["queries_asked"])
    for name, size in asked.points("concept_class", "class_size"):
        concepts = concept_class(name, size)
        hard = hard_correlations(concepts, asked["correlation"])
        factors = factors_of(concepts.labels, approximate_norm(concepts.labels, 0.0))
        for tolerance in asked["tolerance"]:
            limits = [correlational_success(hard, tolerance, J, asked["excess_loss"]) for J in counts]
            for title in asked["algorithms"]:
                reached = _successes(asked, concepts, hard, factors, tolerance, title, counts)
                for J, good, limit in zip(counts, reached, limits, strict=True):
                    low, high = clopper_pearson(int(good), asked["trials"], LEVEL)
                    yield {
                        "concept_class": name, "class_size": size, "tolerance": tolerance, "algorithm": title,
                        "queries_asked": J, "success": int(good) / asked["trials"],
                        "low": low, "high": high, "limit": limit,
                    }  # fmt: skip


def _successes(
    asked: Asked, concepts: Any, hard: Any, factors: Any, tolerance: float, title: str, counts: list[int]
) -> Any:
    """Return the number of trials in which the concept found after each number of queries has correlation α_h."""
    import numpy as np

    from factormech.learning.sq.correlational import estimate
    from factormech.learning.sq.oracles import AdversarialOracle, Correlational
    from factormech.seeds import rng_for

    T = concepts.domain_size
    needed = asked["correlation"] - 2.0 * asked["excess_loss"]
    reached = np.zeros(len(counts), dtype=np.int64)
    for trial in range(asked["trials"]):
        rng = rng_for(asked.seed, "csq-success", concepts.name, str(T), str(trial))
        law = hard.laws[rng.choice(len(hard.weights), p=hard.weights / hard.weights.sum())]
        oracle = Correlational(AdversarialOracle(law, tolerance))
        # Ties are broken by chance, last first.
        order = rng.permutation(concepts.size)
        if title == SIGNS:
            seen = estimate(factors, oracle, counts, rng)
        else:
            answers = oracle.correlations(concepts.labels[order])
            asked_by = np.arange(concepts.size)[None, :] < np.array(counts)[:, None]
            # What was not asked may still be right, unlike an answer of 0.
            seen = np.empty(asked_by.shape)
            seen[:, order] = np.where(asked_by, np.where(answers == 0.0, -1.0, answers), 0.0)
        best = order[np.argmax(seen[:, order], axis=1)]
        found = concepts.labels @ (law[:T] - law[T:])
        reached += found[best] >= needed - 1e-9
    return reached


def check(row: Mapping[str, Any]) -> Problem:
    """Return the problem of a row whose algorithm succeeds surely more often than any algorithm can."""
    return ("low", "be at most limit") if row["low"] > row["limit"] else None


def _seconds(asked: Asked) -> float:
    cells = len(asked["concept_class"]) * len(asked["class_size"])
    runs = len(asked["tolerance"]) * len(asked["algorithms"]) * asked["trials"]
    return float(cells * (0.3 + runs * (1e-4 + 1.5e-7 * max(asked["queries_asked"]))))


_SHARE = {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1, "rule": "be above 0 and below 1"}
EXPERIMENT = Experiment(
    kind="correlational-success",
    description="How often correlational queries learn on hard laws, under what no algorithm can exceed.",
    axes=(CONCEPT_CLASS, CLASS_SIZE, TOLERANCE, QUERIES),
    settings=(
        Setting(
            "algorithms",
            NAMES,
            "random-signs: Theorem 56; every-concept: the concepts themselves, in random order.",
            ["every-concept"],
            default=list(ALGORITHMS),
            names=listed("algorithm", ALGORITHMS),
        ),
        Setting("correlation", _SHARE, "α, of one concept with its hard law.", 0.1, default=0.1),
        Setting(
            "excess_loss",
            {"type": "number", "minimum": 0, "maximum": 0.5, "rule": "be between 0 and 1/2"},
            "What the concept found may lose beyond the best; it has correlation α_h = α − 2·this.",
            0.0,
            default=0.0,
        ),
        Setting("trials", {"type": "integer", "minimum": 1, "maximum": 100000}, "Runs.", 200, default=400),
    ),
    columns=(
        CONCEPT_CLASS.column(),
        CLASS_SIZE.column(),
        Column("tolerance", at_least=0.0),
        Column("algorithm"),
        Column("queries_asked", at_least=1),
        Column("success", at_least=0.0),
        Column("low", at_least=0.0),
        Column("high", at_least=0.0),
        Column("limit", at_least=0.0),
    ),
    keys=("concept_class", "class_size", "tolerance", "algorithm", "queries_asked"),
    measure=measure,
    check=check,
    refuse=refuse_classes,
    parts=split("concept_class"),
    figure=Curves(
        panel=("concept_class", "class_size", "tolerance"),
        x="queries_asked",
        y="success",
        series="algorithm",
        low="low",
        high="high",
        bars="a 99 % interval (Clopper–Pearson)",
        references=("limit",),
        x_scale="log",
        y_scale="linear",
        text="How often the concept found has the correlation wanted, on random hard laws, the oracle answering 0 "
        "wherever it may; no algorithm can be above the grey line.",
    ),
    seconds=_seconds,
    seeded=True,
)
