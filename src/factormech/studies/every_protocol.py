"""The mean squared error of the best strategy over what every ε-LDP protocol has, against the number of users.

The error is that on the worst data set of N users, per query (:mod:`factormech.bounds.protocols.mean_squared`). The
strategy is ``optimised`` for the worst case (McKenna, Maity, Mazumdar & Miklau, PVLDB 13(11), 2020), of variance V per
user, whose error is V/N. Mixed with constant answers, which err by at most r² on all data, its error is at most
V·r²/(V + N·r²) for the best share: that of constant answers for few users.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from factormech.errors import BadValue
from factormech.studies.axes import DOMAIN_SIZE, EPSILON, USERS, WORKLOAD
from factormech.studies.base import REASON, Asked, Column, Curves, Experiment, Problem, split
from factormech.studies.solves import Solve, strategy

OPTIMISED, SHRUNK = "optimised", "optimised/shrunk"
AXES = (
    WORKLOAD,
    replace(DOMAIN_SIZE, entry={"type": "integer", "minimum": 2, "maximum": 256}),
    replace(EPSILON, default=(1.0,)),
    USERS,
)
WORST = {"objective": "worst"}
_EVERY = "every ε-LDP protocol, interactive or not, with any estimator"


def measure(asked: Asked) -> Iterator[dict[str, Any]]:
    """Yield two rows for each workload, size, privacy budget and number of users."""
    from factormech.bounds.protocols.mean_squared import SquaredSearch
    from factormech.bounds.protocols.squared import constant_answers
    from factormech.studies.asked import workload_of

    for name, n, epsilon in asked.points("workload", "domain_size", "epsilon"):
        workload = workload_of(asked, name, n)
        search = SquaredSearch(workload, epsilon)
        k, variance = workload.queries, _worst_variance(workload, epsilon, asked.seed)
        constant = constant_answers(search.problem)
        for users in asked["users"]:
            point = {"workload": name, "domain_size": n, "epsilon": epsilon, "users": users} | _bound(search, users)
            errors = {OPTIMISED: variance / users, SHRUNK: variance * constant / (variance + users * constant)}
            for mechanism, error in errors.items():
                row = {**point, "mechanism": mechanism, "mean_squared_error": error / k}
                yield row | ({"ratio_to_bound": error / k / row["lower_bound"]} if "lower_bound" in row else {})


def _bound(search: Any, users: int) -> dict[str, Any]:
    """The bound at this number of users, or why there is none."""
    try:
        found = search.error(users)
    except BadValue as error:
        return {"reason": str(error), "hard_types": 0}
    return {
        "lower_bound": found.error,
        "hard_types": len(found.types),
        "field": found.field,
        "certificate": found.information,
    }


def _worst_variance(workload: Any, epsilon: float, seed: int) -> float:
    """The worst-case variance per user of the strategy that is optimised for it, summed over queries."""
    from factormech.mechanisms.local.registry import strategy_for

    strategy: Any = strategy_for(OPTIMISED, workload, epsilon, options=WORST, root_seed=seed)
    return float(strategy.evaluate(workload.centred_gram()).worst)


def solves(asked: Asked) -> Iterator[Solve]:
    """The strategies of least worst-case variance."""
    for name, n, epsilon in asked.points("workload", "domain_size", "epsilon"):
        yield strategy(OPTIMISED, name, n, epsilon, options=WORST, root_seed=asked.seed, own=asked.definitions)


def check(row: Mapping[str, Any]) -> Problem:
    """Return the problem of a row whose error is below the lower bound."""
    return (
        ("mean_squared_error", "be at least lower_bound")
        if row["mean_squared_error"] < row.get("lower_bound", 0.0)
        else None
    )


def seconds(asked: Asked) -> float:
    """A solve for each workload, size and budget, and a search for each number of users."""
    solves = sum(0.5 + 0.0006 * n**2 for n in asked["domain_size"]) * len(list(asked.points("workload", "epsilon")))
    return float(
        1.0 + solves + 0.002 * sum(asked["domain_size"]) * len(list(asked.points("workload", "epsilon", "users")))
    )


EXPERIMENT = Experiment(
    kind="every-protocol",
    description=f"Mean squared error of the best strategy over a bound for {_EVERY}, against the number of users.",
    axes=AXES,
    columns=(
        *(axis.column() for axis in AXES),
        Column("mechanism"),
        Column("mean_squared_error", at_least=0.0),
        Column("lower_bound", empty="reason", at_least=0.0),
        Column("ratio_to_bound", empty="reason", at_least=1.0),
        Column("hard_types"),
        Column("field", empty="free"),
        Column("certificate", empty="free"),
        REASON,
    ),
    keys=("workload", "domain_size", "epsilon", "mechanism", "users"),
    measure=measure,
    check=check,
    parts=split("workload"),
    solves=solves,
    figure=Curves(
        panel=("workload", "epsilon"),
        x="users",
        y="ratio_to_bound",
        series="mechanism",
        dash="domain_size",
        x_scale="log",
        y_scale="ratio",
        text=f"Errors on the worst data over the bound for {_EVERY}. Above 1 either may be improved.",
        note="On given data, in the worst case; the hard data have as many user types as make the bound largest",
    ),
    seconds=seconds,
    seeded=True,
)
