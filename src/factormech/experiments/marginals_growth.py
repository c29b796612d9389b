"""γ₂(W, α) of all marginals of one width against attributes over width: the growth beside Corollary 6.

Edmonds, Nikolov & Ullman (STOC 2020), Corollary 6, has (d/w)^Ω(√w) for a constant α. The norm is a linear program in w
+ 1 coefficients, solved in rational arithmetic (:mod:`factormech.norms.subsets.marginals`), so it is exact for
thousands of attributes. The exponent is local: between neighbouring ratios d/w."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from factormech.experiments.axes import ALPHA, WIDTH
from factormech.experiments.base import Asked, Axis, Column, Curves, Experiment, Problem, split

RATIO = Axis(
    "ratio",
    {"type": "integer", "minimum": 1, "maximum": 2048},
    "attributes over width d/w",
    16,
    symbol="d/w",
    description="Numbers of attributes over the width, d/w.",
)


def measure(asked: Asked) -> Iterator[dict[str, Any]]:
    """Both ends of γ₂(W, α) at every width, α and ratio, and the local exponent from the ratio before."""
    from factormech.norms.subsets.marginals import marginals_norm

    for width, alpha in asked.points("width", "alpha"):
        before: tuple[int, float] | None = None
        for ratio in sorted(asked["ratio"]):
            found = marginals_norm(ratio * width, width, alpha)
            row = {
                "width": width, "alpha": alpha, "ratio": ratio, "attributes": ratio * width, "value": found.upper,
                "low": found.lower, "high": found.upper,
            }  # fmt: skip
            if before is not None:
                row["exponent"] = math.log(found.lower / before[1]) / math.log(ratio / before[0])
            yield row
            before = ratio, found.lower


def check(row: Mapping[str, Any]) -> Problem:
    """Ends in order, and no norm above that of the exact queries, Σ_t √(C(d,t)C(w,t))/2^w."""
    if row["low"] > row["high"]:
        return "low", "be at most high"
    d, w = row["attributes"], row["width"]
    exact = sum(math.sqrt(math.comb(d, t) * math.comb(w, t)) for t in range(w + 1)) / 2**w
    return ("high", "be at most the norm without error") if row["high"] > exact * (1 + 1e-9) else None


def _seconds(asked: Asked) -> float:
    """A program of width w takes some 1e-6·w^4.2 seconds: 0.5 s at 16."""
    each = sum(5e-6 * float(w) ** 4.2 for w in asked["width"])
    return 0.3 + float(len(asked["alpha"]) * len(asked["ratio"]) * each)


EXPERIMENT = Experiment(
    kind="marginals-growth",
    description="γ₂(W, α) of all marginals of one width, exactly, with local exponents in attributes over width.",
    axes=(WIDTH, replace(ALPHA, default=(0.1,)), RATIO),
    columns=(
        WIDTH.column(),
        ALPHA.column(),
        RATIO.column(),
        Column("attributes", "integer", "attributes d", "d", "Of the domain.", at_least=1),
        Column("value", "number", "γ₂(W, α)", "γ₂", "The upper end.", at_least=0.0),
        Column("low", "number", "lower end", "", "the certified lower end", at_least=0.0),
        Column("high", "number", "upper end", "", "the certified upper end", at_least=0.0),
        Column("exponent", "number", "local exponent", "", "d ln γ₂/d ln(d/w) from the ratio before.", "free"),
    ),
    keys=("width", "alpha", "ratio"),
    measure=measure,
    check=check,
    parts=split("width"),
    figure=Curves(
        panel="alpha",
        x="ratio",
        y="value",
        series="width",
        low="low",
        high="high",
        x_scale="log2",
        y_scale="log",
        text="γ₂(W, α) of all marginals of width w over d attributes, by exact linear programs.",
    ),
    seconds=_seconds,
)
