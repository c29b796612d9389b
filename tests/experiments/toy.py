"""A kind of study that measures nothing of worth: squares of domain sizes, with noise of a seed, by two methods."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from factormech.errors import BadValue, UnknownName
from factormech.studies.axes import DELTA, DOMAIN_SIZE, ORDER, WORKLOAD
from factormech.studies.base import REASON, Asked, Column, Curves, Experiment, Family, Problem, Setting, split

METHODS = ("analytic", "classical")


def check_method(name: str) -> None:
    if name not in METHODS:
        raise UnknownName("method", name, METHODS)


def measure(asked: Asked) -> Iterator[dict[str, Any]]:
    from factormech.seeds import rng_for
    from factormech.studies.asked import workload_of

    for name, n, p in asked.points("workload", "domain_size", "p"):
        queries = workload_of(asked, name, n).queries
        for method in asked["methods"]:
            point = {"workload": name, "domain_size": n, "p": p, "method": method}
            if method == "classical" and p > 2.0:
                yield {**point, "lower_bound": 1.0, "reason": "for small p only"}
                continue
            noise = float(rng_for(asked.seed, "toy", name, str(n)).random())
            value = queries**2 * asked["scale"] + noise
            yield {**point, "l2_error": value, "low": value - 1.0, "high": value + 1.0, "lower_bound": 1.0}


def check(row: Mapping[str, Any]) -> Problem:
    return ("high", "be at least low") if row["high"] < row["low"] else None


def refuse(asked: Asked) -> Iterable[BadValue]:
    for i, delta in enumerate(asked["delta"]):
        if delta > 0.5:
            yield BadValue(f"grid.delta[{i}]", delta, "be at most a half", "give for example 0.1")


EXPERIMENT = Experiment(
    kind="toy",
    description="Nothing of worth.",
    axes=(WORKLOAD, DOMAIN_SIZE, replace(DELTA, default=(0.25,)), replace(ORDER, default=(2.0,))),
    settings=(
        Setting(
            "methods",
            {"type": "array", "minItems": 1, "items": {"type": "string"}},
            "Names of methods.",
            ["analytic"],
            default=["analytic", "classical"],
            names=Family(lambda: METHODS, check_method),
        ),
        Setting("scale", {"type": "number", "minimum": 0}, "A factor.", 2.0, default=2.0),
    ),
    columns=(
        WORKLOAD.column(),
        DOMAIN_SIZE.column(),
        ORDER.column(),
        Column("method"),
        Column("l2_error", empty="reason", at_least=0.0),
        Column("low", empty="reason"),
        Column("high", empty="reason"),
        Column("lower_bound"),
        REASON,
    ),
    keys=("workload", "domain_size", "p", "method"),
    measure=measure,
    parts=split("workload"),
    check=check,
    refuse=refuse,
    figure=Curves(
        panel="workload",
        x="domain_size",
        y="l2_error",
        series="method",
        dash="p",
        low="low",
        high="high",
        below="lower_bound",
        x_scale="log2",
        text="Values of no worth.",
    ),
    seconds=lambda asked: 100.0 * len(list(asked.points())),
    seeded=True,
)
