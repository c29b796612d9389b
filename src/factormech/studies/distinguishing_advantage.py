"""How well real mechanisms tell hard pairs apart against the number of users, beside what no mechanism can pass.

The pairs ν ± M_v/2 of a workload (:mod:`factormech.studies.measures.hard_pairs`), each tested with the best test of n
reports of one mechanism: the advantage is the total variation of the reports' laws, averaged over the weights π of
the pairs, simulated with an interval that holds by Hoeffding's inequality (:mod:`factormech.bounds.hard.advantage`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from factormech.errors import BadValue
from factormech.studies.axes import DOMAIN_SIZE, EPSILON, LOCAL_MECHANISMS, USERS, WORKLOAD
from factormech.studies.base import NAMES, REASON, Asked, Column, Curves, Experiment, Problem, Setting, split
from factormech.studies.grids import strategy_requests
from factormech.studies.hard_pairs import HALF_GAP
from factormech.studies.measures.hard_pairs import matrix_of

if TYPE_CHECKING:
    from factormech.arrays import FloatArray
    from factormech.studies.measures.hard_pairs import HardTest

# More outputs are slow to draw.
OUTPUTS_LIMIT = 1024


def measure(asked: Asked) -> Iterator[dict[str, Any]]:
    """Yield the advantage of every mechanism; each number of users has a random stream of its own."""
    from factormech.studies.asked import workload_of
    from factormech.studies.measures.hard_pairs import hard_test

    for name, n in asked.points("workload", "domain_size"):
        workload = workload_of(asked, name, n)
        test = hard_test(workload, asked["half_gap"])
        for mechanism, epsilon in asked.points("mechanisms", "epsilon"):
            strategy = matrix_of(mechanism, workload, epsilon, asked.seed, OUTPUTS_LIMIT)
            for users in asked["users"]:
                row = {"workload": name, "domain_size": n, "mechanism": mechanism, "epsilon": epsilon, "users": users}
                row["limit"] = test.limit(epsilon, users)
                yield row | (
                    {"reason": strategy} if isinstance(strategy, str) else _told_apart(asked, test, row, strategy)
                )


def _told_apart(asked: Asked, test: HardTest, row: Mapping[str, Any], strategy: FloatArray) -> dict[str, float]:
    """The simulated advantage and its interval, of half-width √(ln(2/level)·Σπ²/trials)."""
    from factormech.bounds.hard.advantage import LEVEL, simulate_advantage
    from factormech.seeds import rng_for

    pairs, users, epsilon = test.pairs, row["users"], row["epsilon"]
    spread = math.log(2.0 / LEVEL) * float(pairs.weights @ pairs.weights)
    trials = max(math.ceil(spread / asked["half_width"] ** 2), 1)
    stream = [str(row[key]) for key in ("workload", "domain_size", "mechanism", "epsilon", "users")]
    rng = rng_for(asked.seed, "distinguishing-advantage", *stream)
    (found,) = simulate_advantage(pairs, strategy, epsilon, [users], test.norm, rng, trials=trials)
    # A rounded sum of weights may exceed 1.
    advantage = min(max(found.advantage, found.low), found.high)
    return {"advantage": advantage, "low": found.low, "high": found.high, "trials": trials}


def check(row: Mapping[str, Any]) -> Problem:
    """Return the problem of a row whose measured advantage is surely above the largest possible one."""
    if not row["low"] <= row["advantage"] <= row["high"]:
        return "advantage", "be between low and high"
    return ("low", "be at most limit: no mechanism is better") if row["low"] > row["limit"] else None


def refuse(asked: Asked) -> Iterable[BadValue]:
    """Refuse large domains, whose pairs take long."""
    for i, n in enumerate(asked["domain_size"]):
        if n > 128:
            yield BadValue(f"grid.domain_size[{i}]", n, "be at most 128 here", "give for example 16")


def _seconds(asked: Asked) -> float:
    points = len(list(asked.points("mechanisms", "epsilon", "users")))
    # All pairs together take about ln(2/level)/width² draws of each law, some microseconds each.
    draws = 2.0 * 14.5 / asked["half_width"] ** 2
    sizes = [float(n) for _, n in asked.points("workload", "domain_size")]
    return sum(1.0 + 2e-5 * n**3 + float(points * draws) * 2e-6 for n in sizes)


EXPERIMENT = Experiment(
    kind="distinguishing-advantage",
    description="How well local mechanisms tell hard pairs apart, beside the limit of all mechanisms.",
    axes=(WORKLOAD, DOMAIN_SIZE, EPSILON, USERS),
    settings=(
        Setting(
            "mechanisms",
            NAMES,
            "Names of local mechanisms.",
            ["hadamard"],
            names=LOCAL_MECHANISMS,
        ),
        HALF_GAP,
        Setting(
            "half_width",
            {"type": "number", "minimum": 0.001, "maximum": 0.5},
            "Half of the width of the advantage's interval: as many collections are drawn as it takes.",
            0.02,
            default=0.02,
        ),
    ),
    columns=(
        WORKLOAD.column(),
        DOMAIN_SIZE.column(),
        Column("mechanism"),
        EPSILON.column(),
        USERS.column(),
        Column("advantage", empty="reason"),
        Column("low", empty="reason"),
        Column("high", empty="reason"),
        Column("limit", at_least=0.0),
        Column("trials", empty="reason", at_least=1.0),
        REASON,
    ),
    keys=("workload", "domain_size", "mechanism", "epsilon", "users"),
    measure=measure,
    check=check,
    refuse=refuse,
    parts=split("workload"),
    solves=lambda asked: strategy_requests(asked, asked["mechanisms"]),
    figure=Curves(
        panel="workload",
        x="users",
        y="advantage",
        series="mechanism",
        low="low",
        high="high",
        bars="an interval with error one in a million",
        references=("limit",),
        x_scale="log",
        y_scale="linear",
        text=(
            "The advantage is P(test says λ | λ) − P(test says λ | μ) of the best test of all reports, averaged over "
            "the pairs; above the dashed line no ε-LDP mechanism of non-interactive users can be"
        ),
    ),
    seconds=_seconds,
    seeded=True,
)
