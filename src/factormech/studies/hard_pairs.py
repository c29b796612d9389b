"""Hard distributions of a workload as a picture: what no local mechanism tells apart with few users.

Rows are the probabilities of λ_v and μ_v on every type, for each query v, with the weight π_v of the pair
(:mod:`factormech.bounds.hard.pairs`; Edmonds, Nikolov & Ullman, STOC 2020; Edmonds, PhD thesis, 2023). The answers of
a pair differ by at least 2θ.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from factormech.studies.axes import DOMAIN_SIZE, WORKLOAD
from factormech.studies.base import Asked, Column, Experiment, PaperTable, Problem, Setting, Shown, split

FORMS = ("apart", "mixed", "centre")
HALF_GAP = Setting(
    "half_gap",
    {"type": "number", "exclusiveMinimum": 0, "maximum": 1000},
    "Half of the least difference θ of a query's answers on its two distributions.",
    0.05,
    default=0.05,
)
# On sums of doubles that were normalised.
ROUNDING = 1e-9


def measure(asked: Asked) -> Iterator[dict[str, Any]]:
    """Yield the pairs of each workload, a row for each query and type."""
    import numpy as np

    from factormech.studies.asked import workload_of
    from factormech.studies.measures.hard_pairs import pairs_of

    for name, n in asked.points("workload", "domain_size"):
        workload = workload_of(asked, name, n)
        pairs = pairs_of(workload, asked["half_gap"], asked["form"])
        gaps = 2.0 * pairs.half_gaps(workload)
        for i, v in enumerate(pairs.queries.tolist()):
            for x in range(n):
                yield {
                    "workload": name,
                    "domain_size": n,
                    "query": v,
                    "type": x,
                    "weight": float(pairs.weights[i]),
                    "answer_gap": float(gaps[i]),
                    "first_probability": float(pairs.first[i, x]),
                    "second_probability": float(np.asarray(pairs.second[i, x])),
                }


def check(row: Mapping[str, Any]) -> Problem:
    """Return the problem of a row with a probability or weight above 1."""
    for name in ("first_probability", "second_probability", "weight"):
        if row[name] > 1.0 + ROUNDING:
            return name, "be at most 1"
    return None


EXPERIMENT = Experiment(
    kind="hard-pairs",
    description="The pairs of distributions that the local lower bounds are made of.",
    axes=(WORKLOAD, replace(DOMAIN_SIZE, entry={"type": "integer", "minimum": 2, "maximum": 128})),
    settings=(
        HALF_GAP,
        Setting(
            "form",
            {"enum": list(FORMS)},
            "apart: disjoint supports; mixed: row by row to equal gaps; centre: around a common centre.",
            "apart",
            default="apart",
        ),
    ),
    columns=(
        WORKLOAD.column(),
        DOMAIN_SIZE.column(),
        Column("query", at_least=0),
        Column("type", at_least=0),
        Column("weight", at_least=0.0),
        Column("answer_gap", at_least=0.0),
        Column("first_probability", at_least=0.0),
        Column("second_probability", at_least=0.0),
    ),
    keys=("workload", "domain_size", "query", "type"),
    complete=False,
    measure=measure,
    check=check,
    parts=split("workload"),
    figure="factormech.plots.hard_pairs",
    tables=(PaperTable(rows=("workload", "domain_size", "query"), shown=(Shown("weight"), Shown("answer_gap"))),),
    seconds=lambda asked: sum(0.2 + 2e-5 * n**3 for _, n in asked.points()),
)
