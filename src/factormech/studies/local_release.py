"""How many users local mechanisms need for an expected ℓ∞ error, against the domain size.

The answers are averages over users of W (k queries on n types). A mechanism has expected error α with N users if
E‖answers − Wλ‖_∞ ≤ α for every distribution λ that they are drawn from. Mechanisms: the (approximate) factorization
mechanisms of Edmonds, Nikolov & Ullman (STOC 2020, §4) and of Edmonds (PhD thesis, 2023, chapter 5), their rivals, and
the strategy matrices of McKenna, Maity, Mazumdar & Miklau (PVLDB 13(11), 2020). Two numbers of each: one predicted by
the central limit, one proved. Below them, what no non-interactive ε-LDP mechanism can do
(:mod:`factormech.bounds.hard.release`), for the same error.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from factormech.studies.axes import DOMAIN_SIZE, WORKLOAD
from factormech.studies.base import REASON, Asked, Column, Curves, Experiment, PaperTable, Problem, Shown, split
from factormech.studies.grids import strategy_requests
from factormech.studies.local_releases import (
    ACCURACY,
    BUDGET,
    DELTA_SETTING,
    MECHANISM,
    OWN_DELTA,
    PANEL,
    apart,
    delta_of,
    mechanisms,
    panel,
)

DEFAULT = (
    "randomized-response",
    "one-query",
    "half-alpha/half-sphere",
    "independent/half-sphere",
    "dyadic-tree/half-sphere",
    "optimal/half-sphere",
    "polynomial/half-sphere",
    "optimised",
    "shifted/half-sphere",
    "shifted/priv-unit",
)
_NUMBERS = ("distance", "norm_product", "worst_answer_variance", "privacy_loss", "predicted_users", "guaranteed_users")
_DRAWN = ("predicted_drawn", "guaranteed_drawn")


def measure(asked: Asked) -> Iterator[dict[str, Any]]:
    """Yield a row for each workload, size, budget, accuracy and mechanism."""
    from factormech.mechanisms.local.factorized.release import half_ranges
    from factormech.studies.asked import workload_of

    for name, n, epsilon, alpha in asked.points("workload", "domain_size", "epsilon", "alpha"):
        W = workload_of(asked, name, n)
        shown = panel(asked, name, epsilon=epsilon, alpha=alpha)
        point = {"panel": shown, "workload": name, "domain_size": n, "epsilon": epsilon, "alpha": alpha}
        point["queries"] = W.queries
        constants = float(half_ranges(W.matrix()).max(initial=0.0))
        if alpha >= constants:
            reason = f"constants err by {constants:g} at most"
            yield from ({**point, "mechanism": mechanism, "reason": reason} for mechanism in asked["mechanisms"])
        else:
            yield from _rows(asked, W, point)


def _rows(asked: Asked, W: Any, point: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    from factormech.bounds.hard.release import lower_bound_release
    from factormech.mechanisms.local.release_errors import sample_complexity

    epsilon, alpha = point["epsilon"], point["alpha"]
    bound = lower_bound_release(W, epsilon, alpha)
    for name in asked["mechanisms"]:
        mechanism, randomizer = apart(name)
        delta = delta_of(name, asked["delta"])
        found = sample_complexity(
            W, epsilon, alpha, mechanism, randomizer=randomizer or "half-sphere", delta=delta, root_seed=asked.seed
        )
        row = {**point, "mechanism": name, "reason": found["reason"]}
        if not found["reason"]:
            row |= {key: found[key] for key in (*_NUMBERS, *_DRAWN, "delta")}
        # The bound is about pure privacy.
        if (delta is None and found["delta"] == 0.0) or (found["reason"] and delta is None):
            row |= {"lower_bound": bound.users, "bound_method": bound.formula, "bound_t": bound.t}
            if not found["reason"]:
                row["ratio_to_bound"] = found["predicted_drawn"] / bound.users if bound.users > 0 else math.nan
        yield row


def check(row: Mapping[str, Any]) -> Problem:
    """Return the problem of a row with fewer users than the bound, or fewer for drawn data than for given data."""
    if row["guaranteed_drawn"] < row["lower_bound"]:  # never true of nan, where no bound holds
        return "guaranteed_drawn", "be at least lower_bound"
    for given, over in (("predicted_users", "predicted_drawn"), ("guaranteed_users", "guaranteed_drawn")):
        if row[over] < row[given] * (1.0 - 1e-6) - 1.0:
            return over, f"be at least {given}"
    return None


def seconds(asked: Asked) -> float:
    """By measured points: solves of the shifted norm are what takes time."""
    sizes = [n for n, *_ in asked.points("domain_size", "workload", "epsilon", "alpha")]
    return float(sum(len(asked["mechanisms"]) * (0.1 + 0.15 * (n / 64) ** 2.2) for n in sizes))


_users = partial(Column, empty="reason", at_least=1.0)


EXPERIMENT = Experiment(
    kind="local-release",
    description=(
        "How many users local mechanisms need for an expected ℓ∞ error: predicted, proved, and the number below which "
        "no non-interactive ε-LDP mechanism can have it. Two data sets are neighbours if one user's type is replaced."
    ),
    axes=(DOMAIN_SIZE, WORKLOAD, BUDGET, ACCURACY),
    settings=(mechanisms(DEFAULT), DELTA_SETTING),
    columns=(
        PANEL,
        WORKLOAD.column(),
        DOMAIN_SIZE.column(),
        BUDGET.column(),
        ACCURACY.column(),
        MECHANISM,
        Column("queries"),
        OWN_DELTA,
        Column("distance", empty="reason", at_least=0.0),
        Column("norm_product", empty="free", at_least=0.0),
        Column("worst_answer_variance", empty="reason", at_least=0.0),
        Column("privacy_loss", empty="reason", at_least=0.0),
        _users("predicted_drawn"),
        _users("guaranteed_drawn"),
        _users("predicted_users"),
        _users("guaranteed_users"),
        Column("lower_bound", empty="free", at_least=0.0),
        Column("bound_method", empty="free"),
        Column("bound_t", empty="free", at_least=0.0),
        Column("ratio_to_bound", empty="free", at_least=0.0),
        REASON,
    ),
    keys=("workload", "epsilon", "alpha", "domain_size", "mechanism"),
    measure=measure,
    check=check,
    parts=split("workload"),
    solves=lambda asked: strategy_requests(asked, asked["mechanisms"]),
    figure=Curves(
        panel=("workload", "epsilon", "alpha"),
        x="domain_size",
        y="predicted_drawn",
        series="mechanism",
        below="lower_bound",
        floor="bound for non-interactive ε-LDP protocols",
        far_below=True,
        x_scale="log2",
        text=(
            "Users N for which E‖answers − Wλ‖∞ ≤ α on every distribution λ of the users' types, predicted by the "
            "central limit; answers are averages over the users; neighbouring data sets replace one user's type. "
            "Points of the ball are reported by the half-sphere randomizer where no other is named. The band is "
            "certified for non-interactive ε-LDP (δ = 0) and the same error"
        ),
        told="factormech.studies.local_releases:told_of_privacy",
    ),
    tables=(
        PaperTable(
            rows=("panel", "epsilon", "alpha", "domain_size"),
            columns=("mechanism",),
            shown=(Shown("predicted_users"),),
            best="min",
            bound="lower_bound",
        ),
    ),
    seconds=seconds,
    memory_mb=lambda asked: 600,
    seeded=True,
)
