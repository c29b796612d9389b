"""γ₂(W, α) of all marginals of one width against attributes over width: the growth beside Corollary 6.

Edmonds, Nikolov & Ullman (STOC 2020), Corollary 6, has (d/w)^Ω(√w) for a constant α. The norm is a linear program in w
+ 1 coefficients, solved in rational arithmetic (:mod:`factormech.norms.subsets.marginals`), so it is exact for
thousands of attributes. The exponent is local: between neighbouring ratios d/w. Of monotone conjunctions, which the
corollary is about, both ends follow from those of marginals."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from factormech.studies.axes import ENTRY_ERROR, WIDTH
from factormech.studies.base import Asked, Axis, Column, Curves, Experiment, Problem, split

RATIO = Axis("attributes_over_width", {"type": "integer", "minimum": 1, "maximum": 2048}, 16)


def measure(asked: Asked) -> Iterator[dict[str, Any]]:
    """Yield both ends of γ₂(W, α) at every width, α and ratio, and the exponent between neighbouring ratios."""
    from factormech.norms.subsets.marginals import conjunctions_norm, marginals_norm

    for width, alpha in asked.points("marginal_width", "entry_error"):
        before: tuple[int, float] | None = None
        for ratio in sorted(asked["attributes_over_width"]):
            found = marginals_norm(ratio * width, width, alpha)
            below, above = conjunctions_norm(ratio * width, width, alpha)
            row = {
                "marginal_width": width, "entry_error": alpha, "attributes_over_width": ratio,
                "attributes": ratio * width, "norm_value": found.upper, "lower": found.lower, "upper": found.upper,
                "conjunctions_lower": below, "conjunctions_upper": above,
            }  # fmt: skip
            if before is not None:
                row["local_exponent"] = math.log(found.lower / before[1]) / math.log(ratio / before[0])
            yield row
            before = ratio, found.lower


def check(row: Mapping[str, Any]) -> Problem:
    """Return the problem of a row with ends out of order, or a norm above that of α = 0, Σ_t √(C(d,t)C(w,t))/2^w."""
    if row["lower"] > row["upper"]:
        return "lower", "be at most upper"
    d, w = row["attributes"], row["marginal_width"]
    exact = sum(math.sqrt(math.comb(d, t) * math.comb(w, t)) for t in range(w + 1)) / 2**w
    if row["upper"] > exact * (1 + 1e-9):
        return "upper", "be at most the norm without error"
    ordered = row["conjunctions_lower"] <= row["conjunctions_upper"]
    return None if ordered else ("conjunctions_lower", "be at most conjunctions_upper")


def _seconds(asked: Asked) -> float:
    """Three programs for each row; one of width w takes some 5e-6·w^4.2 seconds: 0.5 s at 16."""
    each = sum(1.5e-5 * float(w) ** 4.2 for w in asked["marginal_width"])
    return 0.3 + float(len(asked["entry_error"]) * len(asked["attributes_over_width"]) * each)


EXPERIMENT = Experiment(
    kind="marginals-growth",
    description="γ₂(W, α) of all marginals of one width, exactly, with local exponents in attributes over width.",
    axes=(WIDTH, replace(ENTRY_ERROR, default=(0.1,)), RATIO),
    columns=(
        WIDTH.column(),
        ENTRY_ERROR.column(),
        RATIO.column(),
        Column("attributes", at_least=1),
        Column("norm_value", at_least=0.0),
        Column("lower", at_least=0.0),
        Column("upper", at_least=0.0),
        Column("conjunctions_lower", at_least=0.0, added=math.nan),
        Column("conjunctions_upper", at_least=0.0, added=math.nan),
        Column("local_exponent", empty="free"),
    ),
    keys=("marginal_width", "entry_error", "attributes_over_width"),
    measure=measure,
    check=check,
    parts=split("marginal_width"),
    figure=Curves(
        panel="entry_error",
        x="attributes_over_width",
        y="norm_value",
        series="marginal_width",
        low="lower",
        high="upper",
        x_scale="log2",
        y_scale="log",
        label="γ₂(W, α) of all w-way marginals",
        text="γ₂(W, α) of all marginals of width w over d attributes, by exact linear programs.",
    ),
    seconds=_seconds,
)
