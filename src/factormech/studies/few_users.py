r"""Few users: Gaussian noise with projection beside factorizations, over the number of users N.

The error of a factorization does not depend on N. Projecting the noisy answers on N·conv{W_1, …, W_n}, what N users
could have, makes it at most of the order of √N for few users (Nikolov, Talwar & Zhang, SIAM J. Comput. 45(2), 2016; the
regime that Edmonds, Nikolov & Ullman, STOC 2020, §1.2.3, set beside theirs). Projecting the answers of the best
factorization is never worse than it. An approximate factorization γ₂(W, α) has less noise, and a bias of up to αN.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from factormech.errors import BadValue
from factormech.studies import trusted
from factormech.studies.axes import ALPHA, DELTA, DOMAIN_SIZE, EPSILON, USERS, WORKLOAD
from factormech.studies.base import REASON, Asked, Column, Curves, Experiment, Problem, split
from factormech.studies.sweeps import quantity, swept

AXES = (
    WORKLOAD,
    replace(DOMAIN_SIZE, default=(64,), entry={"type": "integer", "minimum": 2, "maximum": 4096}),
    USERS,
    replace(EPSILON, default=(1.0,)),
    replace(DELTA, default=(1e-6,)),
)
# The crossover is that of these two.
PROJECTED, FACTORED = "gaussian-projection", "gamma-f"
KNOWN = (*trusted.OF_DATA, *(name for name in trusted.FACTORIZATIONS if name != trusted.OPTIMAL))


def measure(asked: Asked) -> Iterator[dict[str, Any]]:
    """Yield a row for each workload, size, privacy budget, mechanism and number of users."""
    from factormech.studies.asked import workload_of
    from factormech.studies.measures.central import crossover, few_users_rows

    for name, n, epsilon, delta in asked.points("workload", "domain_size", "epsilon", "delta"):
        rows = few_users_rows(
            workload_of(asked, name, n), asked["users"], asked["mechanisms"], epsilon, delta,
            alpha=asked["alpha"], relative_width=asked["relative_width"], seed=asked.seed,
        )  # fmt: skip
        point: dict[str, Any] = {"workload": name, "domain_size": n, "epsilon": epsilon, "delta": delta}
        both = all(any(row["mechanism"] == one and "rms_error" in row for row in rows) for one in (PROJECTED, FACTORED))
        at = crossover(rows, PROJECTED, FACTORED) if both else None
        yield from ({**point, **row} | ({} if at is None else {"crossover": at}) for row in rows)


def check(row: Mapping[str, Any]) -> Problem:
    """Return the problem of a row whose error is below its bound, above its guarantee, or outside its interval."""
    exact = row["mechanism"] not in trusted.OF_DATA[:2]
    if exact and row["rms_error"] < row["lower_bound"] * (1.0 - trusted.ROUNDING):
        return "rms_error", "be at least lower_bound"
    if not exact and not row["low"] <= row["rms_error"] <= row["high"]:
        return "rms_error", "be between low and high"
    if not exact and not max(row["low"], row["lower_bound"]) <= row["guaranteed_error"] * (1.0 + trusted.ROUNDING):
        return "guaranteed_error", "be at least low and lower_bound"
    return None


def refuse(asked: Asked) -> Iterator[BadValue]:
    """Refuse large matrices: a body of answers is searched at a time."""
    for i, n in enumerate(asked["domain_size"]):
        if n > 1024 and "all-ranges" in asked["workload"]:
            yield BadValue(f"grid.domain_size[{i}]", n, "be at most 1024 with all-ranges", "give for example 64")


def seconds(asked: Asked) -> float:
    """Projections, with intervals of the default width."""
    projections = sum(name in trusted.OF_DATA[:2] for name in asked["mechanisms"])
    points = len(list(asked.points("workload", "epsilon", "delta", "users")))
    draws = (0.15 / asked["relative_width"]) ** 2
    return float(2.0 + points * projections * draws * sum(0.02 * n for n in asked["domain_size"]))


ALLOWED = quantity(
    ALPHA,
    0.1,
    "The mechanism approximate allows it of each entry.",
    entry={"type": "number", "exclusiveMinimum": 0, "maximum": 1000000},
)
_KIND = Experiment(
    kind="few-users",
    description="Error of Gaussian noise with projection on what so many users could answer, beside factorizations.",
    axes=AXES,
    settings=(
        trusted.mechanisms(KNOWN, (trusted.OPTIMAL,), ("gaussian-projection", "gamma-f-projection", "gamma-f")),
        replace(trusted.RELATIVE_WIDTH, default=0.15, example=0.15),
    ),
    columns=(
        *(axis.column() for axis in AXES),
        Column("mechanism"),
        Column("rms_error", empty="reason", at_least=0.0),
        Column("low", empty="free", at_least=0.0),
        Column("high", empty="free", at_least=0.0),
        Column("guaranteed_error", empty="free", at_least=0.0),
        Column("lower_bound", at_least=0.0),
        Column("crossover", empty="free", at_least=0.0),
        Column("sigma", empty="reason", at_least=0.0),
        Column("worst_data", empty="free"),
        trusted.RELATION,
        REASON,
    ),
    keys=("workload", "domain_size", "epsilon", "delta", "mechanism", "users"),
    measure=measure,
    check=check,
    refuse=refuse,
    parts=split("workload"),
    figure=Curves(
        panel=("workload", "domain_size", "epsilon", "delta"),
        x="users",
        y="rms_error",
        series="mechanism",
        low="low",
        high="high",
        bars="an interval with error one in a million",
        below="lower_bound",
        floor="bound for (ε, δ)-private mechanisms",
        references=("guaranteed_error",),
        marks=("crossover",),
        x_scale="log",
        text="Errors are of counts, on the worst data: found by search for the projections, exact for the others.",
        note=f"{trusted.NEIGHBOURS} and, for projections and the bound, of one public total",
    ),
    seconds=seconds,
    seeded=True,
)
EXPERIMENT = swept(_KIND, ALLOWED)
