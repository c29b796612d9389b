"""The recursive mechanism by its depth: what more subspaces, and better shares of ε, are worth on skewed bodies.

Random signs with some long queries. Depth 1 is K-norm noise; each further step gives the short half of the directions
noise of its own (Nikolov, SODA 2023, Lemmas 4.4 and 4.5; Hardt & Talwar, STOC 2010, Section 7), of the projected body
or projected from the body, and the ε is split to the least E‖Z‖² or equally. One ladder of subspaces serves all depths.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Literal

from factormech.errors import BadValue
from factormech.experiments import pure
from factormech.experiments.base import REASON, Asked, Axis, Column, Curves, Experiment, Problem, Setting, split
from factormech.experiments.pure_skew import LONG, QUERIES, SKEW, TYPES

FORM = Axis(
    "form",
    {"type": "string", "enum": ["projected", "hardt-talwar"]},
    "noise of a subspace",
    "projected",
    description="Noise of the projected body, or projected noise of the body.",
    default=("projected", "hardt-talwar"),
)
# Names of shares, and of the splits that make them.
SHARES: dict[str, Literal["optimal", "equal"]] = {"best-shares": "optimal", "equal-shares": "equal"}
SPLIT = Axis(
    "split",
    {"type": "string", "enum": list(SHARES)},
    "shares of ε",
    "best-shares",
    symbol="shares",
    description="Shares of ε: those of least E‖Z‖², or equal.",
    default=tuple(SHARES),
)
DEPTH = Axis(
    "depth",
    {"type": "integer", "minimum": 1, "maximum": 10},
    "subspaces",
    3,
    description="Numbers of subspaces; a body with fewer has a reason beyond its last.",
    default=(1, 2, 3, 4, 5),
)
SAMPLES = Setting(
    "samples",
    {"type": "integer", "minimum": 500, "maximum": 1000000},
    "Directions behind each estimate.",
    2000,
    default=2000,
)
LEVEL = 1e-3


def measure(asked: Asked) -> Iterator[dict[str, Any]]:
    """nε times the error of every depth."""
    from factormech.central.pure.recursive import ladder
    from factormech.measure.skewed_queries import lengths, signs
    from factormech.seeds import rng_for

    k, samples = asked["queries"], asked["samples"]
    R = signs(k, asked["types"], rng_for(asked.seed, "recursion-depths", "queries"))
    for skew, form in asked.points("skew", "form"):
        rng = rng_for(asked.seed, "recursion-depths", str(skew), form)
        steps = ladder(lengths(k, asked["long"], skew)[:, None] * R, rng, form=form, draws=samples)
        for division, depth in asked.points("split", "depth"):
            row = {"skew": skew, "form": form, "split": division, "depth": depth}
            row |= {"queries": k, "domain_size": asked["types"], "long": asked["long"]}
            yield row | _error(steps, division, depth, k, samples, rng)


def _error(steps: Any, division: str, depth: int, k: int, samples: int, rng: Any) -> dict[str, Any]:
    """Of one depth of a ladder, at ε = 1."""
    import math

    from factormech.central.pure.recursive import noise_of
    from factormech.unavailable import Unavailable

    if isinstance(steps, Unavailable):
        return {"reason": steps.reason}
    if depth > steps.depths:
        return {"reason": f"{steps.depths} subspaces in all"}
    found = noise_of(steps, 1.0, split=SHARES[division], depth=depth).moments(rng, samples, LEVEL)
    if isinstance(found, Unavailable):
        return {"reason": found.reason}
    mean, unit = found.mean_norm, 1.0 / math.sqrt(k)
    return {
        "error": mean.value * unit,
        "low": max(0.0, mean.low * unit),
        "high": mean.high * unit,
        "root_mean_square": math.sqrt(found.mean_square.value / k),
        "best": float(steps.best_depth(SHARES[division])),
    }


def refuse(asked: Asked) -> Iterator[BadValue]:
    """More long queries than queries."""
    if asked["long"] > asked["queries"]:
        yield BadValue("long", asked["long"], f"be at most queries = {asked['queries']}", "give fewer long queries")


def check(row: Mapping[str, Any]) -> Problem:
    """The error is within its interval."""
    return None if row["low"] <= row["error"] <= row["high"] else ("error", "be between low and high")


EXPERIMENT = Experiment(
    kind="recursion-depths",
    description="Errors of the recursive mechanism by depth, kind of noise and shares of ε, on skewed queries.",
    axes=(SKEW, FORM, SPLIT, DEPTH),
    settings=(
        replace(QUERIES, example=16, default=16),
        replace(TYPES, example=64, default=64),
        replace(LONG, default=2),
        SAMPLES,
    ),
    columns=(
        SKEW.column(),
        FORM.column(),
        SPLIT.column(),
        DEPTH.column(),
        Column("queries", "integer", "queries k", "k", "Of random signs.", at_least=1),
        Column("domain_size", "integer", "types N", "N", "User types.", at_least=1),
        Column("long", "integer", "long queries", "", "How many are longer than the others.", at_least=1),
        Column("error", "number", "error times nε", "", "nε·E‖·‖₂/√k, for all data.", "reason", at_least=0.0),
        Column("low", "number", "lower end", "", "the lower end of its 99.9 % interval", "reason", at_least=0.0),
        Column("high", "number", "upper end", "", "the upper end", "reason", at_least=0.0),
        Column("root_mean_square", "number", "root mean square times nε", "", "At least that.", "reason", at_least=0.0),
        Column("best", "number", "best depth", "", "By estimated costs, with these shares.", "free", at_least=1.0),
        REASON,
    ),
    keys=("skew", "form", "split", "depth"),
    measure=measure,
    check=check,
    refuse=refuse,
    parts=split("skew"),
    figure=Curves(
        panel="skew",
        x="depth",
        y="error",
        series="form",
        dash="split",
        low="low",
        high="high",
        x_scale="log2",
        text=f"{pure.MEANING} It is the same for all data; {pure.FALL_SHORT}, and so do Markov chains",
    ),
    seconds=lambda asked: 4.0 * len(asked["skew"]) * (asked["queries"] / 16) ** 2 * asked["samples"] / 2000,
    seeded=True,
)
