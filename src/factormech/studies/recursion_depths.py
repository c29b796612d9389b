"""The recursive mechanism by its depth: what more subspaces, and better shares of ε, are worth on skewed bodies.

Random signs with some long queries. Depth 1 is K-norm noise; each further step gives the short half of the directions
noise of its own (Nikolov, SODA 2023, Lemmas 4.4 and 4.5; Hardt & Talwar, STOC 2010, Section 7), of the projected body
or projected from the body, and the ε is split to the least E‖Z‖² or equally.

The mechanism estimates the covariances that its subspaces follow from, so that its error depends on a random ladder of
subspaces, which it draws once. What is measured is the expectation over the ladder too: several ladders are drawn, each
serves all forms, splits and depths, and the interval is Student's over their means.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Literal

from factormech.errors import BadValue
from factormech.studies import pure
from factormech.studies.base import REASON, Asked, Axis, Column, Curves, Experiment, Problem, Setting, split
from factormech.studies.pure_skew import LONG, QUERIES, SKEW, TYPES

FORM = Axis(
    "subspace_noise",
    {"type": "string", "enum": ["projected", "hardt-talwar"]},
    "projected",
    default=("projected", "hardt-talwar"),
)
# Names of shares, and of the splits that make them.
SHARES: dict[str, Literal["optimal", "equal"]] = {"best-shares": "optimal", "equal-shares": "equal"}
SPLIT = Axis("split", {"type": "string", "enum": list(SHARES)}, "best-shares", default=tuple(SHARES))
DEPTH = Axis("depth", {"type": "integer", "minimum": 1, "maximum": 10}, 3, default=(1, 2, 3, 4, 5))
SAMPLES = Setting(
    "samples",
    {"type": "integer", "minimum": 500, "maximum": 1000000},
    "Directions behind each estimate on one ladder.",
    2000,
    default=2000,
)
LADDERS = Setting(
    "ladders",
    {"type": "integer", "minimum": 2, "maximum": 1000},
    "Independent ladders of subspaces; the interval is over their means.",
    8,
    default=8,
)
LEVEL = 1e-3


def measure(asked: Asked) -> Iterator[dict[str, Any]]:
    """Yield Nε times the error of every depth."""
    from factormech.errors import Unavailable
    from factormech.mechanisms.pure.knorm import knorm_noise
    from factormech.seeds import rng_for
    from factormech.studies.measures.pure import lengths, signs

    k = asked["queries"]
    R = signs(k, asked["types"], rng_for(asked.seed, "recursion-depths", "queries"))
    points = list(asked.points("subspace_noise", "split", "depth"))
    for skew in asked["skew"]:
        Q = lengths(k, asked["long"], skew)[:, None] * R
        noise, runs = knorm_noise(Q, 1.0), []
        for i in range(asked["ladders"]):
            chance = rng_for(asked.seed, "recursion-depths", str(skew), "ladder", str(i))
            runs.append(_one_ladder(Q, noise, points, asked, chance))
        refused = [run for run in runs if isinstance(run, Unavailable)]
        for form, division, depth in points:
            row = {"skew": skew, "subspace_noise": form, "split": division, "depth": depth}
            row |= {"queries": k, "domain_size": asked["types"], "long": asked["long"]}
            found = refused[0] if refused else [run[form, division, depth] for run in runs]
            yield row | _over_ladders(found, k)


def _one_ladder(Q: Any, noise: Any, points: Any, asked: Asked, rng: Any) -> Any:
    """Of each point on one ladder: E‖Z‖, E‖Z‖² and the depth of least cost; or reasons."""
    from factormech.errors import Unavailable
    from factormech.mechanisms.pure.recursive import LadderDraws, ladders

    steps = ladders(Q, rng, asked["subspace_noise"], draws=asked["samples"], noise=noise)
    if isinstance(steps, Unavailable):
        return steps
    draws = LadderDraws(rng, asked["samples"])
    found: dict[Any, Any] = {}
    for form, division, depth in points:
        here, shares = steps[form], SHARES[division]
        if depth > here.depths:
            found[form, division, depth] = Unavailable(f"{here.depths} subspaces in all")
            continue
        norms = draws.norms(here, depth, shares)
        if isinstance(norms, Unavailable):
            return norms
        costs = [here.cost(t, shares) for t in range(1, here.depths + 1)]
        found[form, division, depth] = (float(norms.mean()), float((norms**2).mean()), costs)
    return found


def _over_ladders(found: Any, k: int) -> dict[str, Any]:
    """The mean over the ladders, with Student's interval; costs have their mean too."""
    import numpy as np

    from factormech.errors import Unavailable
    from factormech.mechanisms.central.moments import student

    missing = found if isinstance(found, Unavailable) else next((x for x in found if isinstance(x, Unavailable)), None)
    if missing is not None:
        return {"reason": missing.reason}
    unit = 1.0 / math.sqrt(k)
    mean = student(np.array([norm for norm, _, _ in found]), LEVEL)
    return {
        "scaled_error": mean.value * unit,
        "low": max(0.0, mean.low * unit),
        "high": mean.high * unit,
        "scaled_root_mean_square": math.sqrt(float(np.mean([square for _, square, _ in found])) / k),
        "best_depth": float(1 + np.argmin(np.mean([costs for _, _, costs in found], axis=0))),
    }


def refuse(asked: Asked) -> Iterator[BadValue]:
    """Refuse more long queries than queries."""
    if asked["long"] > asked["queries"]:
        yield BadValue("long", asked["long"], f"be at most queries = {asked['queries']}", "give fewer long queries")


def check(row: Mapping[str, Any]) -> Problem:
    """Return the problem of a row whose error is outside its interval."""
    return None if row["low"] <= row["scaled_error"] <= row["high"] else ("scaled_error", "be between low and high")


EXPERIMENT = Experiment(
    kind="recursion-depths",
    description="Errors of the recursive mechanism by depth, kind of noise and shares of ε, on skewed queries.",
    axes=(SKEW, FORM, SPLIT, DEPTH),
    settings=(
        replace(QUERIES, example=16, default=16),
        replace(TYPES, example=64, default=64),
        replace(LONG, default=2),
        SAMPLES,
        LADDERS,
    ),
    columns=(
        SKEW.column(),
        FORM.column(),
        SPLIT.column(),
        DEPTH.column(),
        Column("queries", at_least=1),
        Column("domain_size", at_least=1),
        Column("long", at_least=1),
        Column("scaled_error", empty="reason", at_least=0.0),
        Column("low", empty="reason", at_least=0.0),
        Column("high", empty="reason", at_least=0.0),
        Column("scaled_root_mean_square", empty="reason", at_least=0.0),
        Column("best_depth", empty="free", at_least=1.0),
        REASON,
    ),
    keys=("skew", "subspace_noise", "split", "depth"),
    measure=measure,
    check=check,
    refuse=refuse,
    parts=split("skew"),
    figure=Curves(
        panel="skew",
        x="depth",
        y="scaled_error",
        series="subspace_noise",
        dash="split",
        low="low",
        high="high",
        bars="a 99.9 % interval",
        x_scale="log2",
        text=(
            f"{pure.MEANING} It is the same for all data, and a mean over the random ladder of subspaces too: bars are "
            f"Student's over independent ladders; {pure.IN_THE_LIMIT}"
        ),
    ),
    seconds=lambda asked: (
        0.8 * asked["ladders"] * len(asked["skew"]) * (asked["queries"] / 16) ** 2 * asked["samples"] / 2000
    ),
    seeded=True,
)
