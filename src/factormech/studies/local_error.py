"""The largest error of local mechanisms that are really run, against the number of users, beside what is predicted.

Users of a population report, the curator answers with averages, and ‖answers − truth‖_∞ is measured, truth being the
answers on the very users. Runs are repeated until half the confidence interval of the mean is a stated share of it
(:mod:`factormech.mechanisms.local.factorized.release`). Beside it the central-limit prediction for these data with
their full covariance, the one for every data set, what is proved for every data set, and the exact mean squared
error. Mechanisms as in :mod:`factormech.studies.local_release`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from factormech.errors import UnknownName
from factormech.studies.axes import DOMAIN_SIZE, USERS, WORKLOAD
from factormech.studies.base import (
    REASON,
    Asked,
    Axis,
    Column,
    Curves,
    Experiment,
    Family,
    PaperTable,
    Problem,
    Setting,
    Shown,
    split,
)
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
    told_of_privacy,
)

if TYPE_CHECKING:
    import pandas as pd

    from factormech.bounds.protocols.largest import LargestSearch

DEFAULT = ("randomized-response", "one-query", "dyadic-tree/half-sphere", "optimised", "shifted/half-sphere")
_NUMBERS = (
    "delta",
    "measured_error",
    "measured_low",
    "measured_high",
    "gaussian_error",
    "predicted_error",
    "guaranteed_error",
    "measured_l2",
    "exact_l2",
    "l2_deviations",
    "level",
)


def _populations() -> Iterable[str]:
    from factormech.mechanisms.local import populations

    return populations.names()


def _check_population(name: str) -> None:
    if name not in _populations():
        raise UnknownName("population", name, list(_populations()))


POPULATION = Axis(
    "population",
    {"type": "string", "minLength": 1},
    "zipf",
    default=("zipf",),
    names=Family(_populations, _check_population),
)


def measure(asked: Asked) -> Iterator[dict[str, Any]]:
    """Yield a row for each workload, size, budget, accuracy, population, mechanism and number of users."""
    from factormech.bounds.protocols.largest import LargestSearch
    from factormech.mechanisms.local.release_errors import errors
    from factormech.studies.asked import workload_of

    width, level = asked["relative_width"], asked["level"]
    for name, n, epsilon, alpha, data in asked.points("workload", "domain_size", "epsilon", "alpha", "population"):
        W = workload_of(asked, name, n)
        search = LargestSearch(W, epsilon)
        bounds = {users: _least(search, users) for users in asked["users"]}
        shown = panel(asked, name, domain_size=n, epsilon=epsilon, alpha=alpha, population=data)
        point = {"panel": shown, "workload": name, "domain_size": n, "epsilon": epsilon, "alpha": alpha}
        for one in asked["mechanisms"]:
            mechanism, randomizer = apart(one)
            rows = errors(
                W,
                epsilon,
                alpha,
                mechanism,
                asked["users"],
                data=data,
                randomizer=randomizer or "half-sphere",
                delta=delta_of(one, asked["delta"]),
                relative_width=width,
                level=level,
                root_seed=asked.seed,
            )
            for found in rows:
                row = {**point, "population": data, "mechanism": one, "users": found["users"]}
                row |= {key: found[key] for key in ("trials", "stopped", "reason")}
                if not found["reason"]:
                    row |= {key: found[key] for key in _NUMBERS}
                # The bound is about pure privacy.
                pure = delta_of(one, asked["delta"]) is None and not row.get("delta", 0.0)
                yield row | {"lower_bound": bounds[row["users"]] if pure else math.nan}


def _least(search: LargestSearch, users: int) -> float:
    """Return an error that every protocol has on some data of so many users; NaN where nothing is proved."""
    from factormech.errors import BadValue

    try:
        return search.error(users, "given").error
    except BadValue:
        return math.nan


def check(row: Mapping[str, Any]) -> Problem:
    """Return the problem of a row whose measured error is above the proved one, or differs from the exact one."""
    if row["measured_low"] > row["guaranteed_error"]:
        return "measured_low", "be at most guaranteed_error"
    if row["guaranteed_error"] < row["lower_bound"]:  # never true of nan, where no bound holds
        return "guaranteed_error", "be at least lower_bound"
    # A normal mean of squares is so far off once in a billion rows.
    if abs(row["l2_deviations"]) > 6.5:
        return "l2_deviations", "be at most 6.5 in size"
    return None


def told(frame: pd.DataFrame) -> Iterator[str]:
    """How wide the intervals are, and δ."""
    run = frame[frame["reason"] == ""]
    if len(run):
        half = float((0.5 * (run["measured_high"] - run["measured_low"]) / run["measured_error"]).max())
        level = f"{1.0 - run['level'].iloc[0]:.4g}"
        yield f"Intervals hold with probability {level} each, and are ±{100 * half:.2g} % of the mean or narrower."
        yield f"Users: {'; '.join(dict.fromkeys(frame['population']))}."
    yield from told_of_privacy(run)


def seconds(asked: Asked) -> float:
    """Reports of the ball are drawn user by user, others in numbers of outputs."""
    ball = sum(bool(apart(name)[1]) for name in asked["mechanisms"])
    points = math.prod(len(asked[name]) for name in ("domain_size", "workload", "epsilon", "alpha", "population"))
    trials = 40.0 * (0.05 / asked["relative_width"]) ** 2
    each = sum(1.0 + ball * 6e-8 * users * trials * 4.0 for users in asked["users"] if users <= 3e6)
    return float(points * each)


_number = partial(Column, empty="reason", at_least=0.0)


EXPERIMENT = Experiment(
    kind="local-error",
    description=(
        "The largest error of local mechanisms that are really run, against the number of users, beside what is "
        "predicted and what is proved. Runs are repeated until the mean is known to a relative width."
    ),
    axes=(WORKLOAD, DOMAIN_SIZE, BUDGET, replace(ACCURACY, default=(0.05,)), POPULATION, USERS),
    settings=(
        mechanisms(DEFAULT),
        DELTA_SETTING,
        Setting(
            "relative_width",
            {"type": "number", "minimum": 0.005, "maximum": 0.5, "rule": "be a number from 0.005 to 0.5"},
            "Half of the confidence interval over the mean at which a simulation stops.",
            0.05,
            default=0.05,
        ),
        Setting(
            "level",
            {"type": "number", "exclusiveMinimum": 0, "maximum": 0.5, "rule": "be a number above 0, at most 0.5"},
            "How often an interval may miss the mean, all looks at it counted.",
            0.01,
            default=0.01,
        ),
    ),
    columns=(
        PANEL,
        WORKLOAD.column(),
        DOMAIN_SIZE.column(),
        BUDGET.column(),
        ACCURACY.column(),
        POPULATION.column(),
        MECHANISM,
        USERS.column(),
        OWN_DELTA,
        _number("measured_error"),
        _number("measured_low"),
        _number("measured_high"),
        Column("trials", at_least=0.0),
        Column("stopped", empty="free"),
        Column("level", empty="reason", at_least=0.0),
        _number("gaussian_error"),
        _number("predicted_error"),
        _number("guaranteed_error"),
        _number("measured_l2"),
        _number("exact_l2"),
        Column("l2_deviations", empty="reason"),
        Column("lower_bound", empty="free", at_least=0.0, added=math.nan),
        REASON,
    ),
    keys=("workload", "domain_size", "epsilon", "alpha", "population", "mechanism", "users"),
    measure=measure,
    check=check,
    parts=split("workload"),
    solves=lambda asked: strategy_requests(asked, asked["mechanisms"]),
    figure=Curves(
        panel=("workload", "domain_size", "epsilon", "alpha"),
        x="users",
        y="measured_error",
        line="gaussian_error",
        series="mechanism",
        low="measured_low",
        high="measured_high",
        bars="a confidence interval of the mean",
        below="lower_bound",
        floor="bound for every ε-LDP protocol",
        x_scale="log",
        text=(
            "Marks: mean of ‖answers − truth‖∞ over collections that were run, truth being the averages over the "
            "users; lines: the same for normal noise on these data. Every ε-LDP protocol errs by more than the band on "
            "some data, not on all"
        ),
        told="factormech.studies.local_error:told",
    ),
    tables=(
        PaperTable(
            rows=("panel", "users"),
            columns=("mechanism",),
            shown=(Shown("measured_error"),),
            ends=("measured_low", "measured_high"),
        ),
    ),
    seconds=seconds,
    memory_mb=lambda asked: 800,
    seeded=True,
)
