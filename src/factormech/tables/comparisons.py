"""Two tables computed from one of sample complexities: by how much a mechanism improves, and how needs grow.

**Improvement** (:data:`IMPROVEMENT`): for each grid point, the
``sample_complexity`` of ``mechanism``, the best of the others (``competitor``) with its own, and ``ratio``, competitor
over mechanism: above 1 is an improvement. ``ratio_to_bound`` is the mechanism over the strongest lower bound, at least
1, and empty where there is no bound above 0. ``excluded`` names the mechanisms that do not compete. The status is
``ok``; or without a ratio, but with a reason, ``alone`` (no other mechanism has a number here), ``free`` (the mechanism
needs no users), or the mechanism's own ``refused`` or ``unavailable``.

**Slopes** (:data:`SLOPES`): for each workload, ε, and mechanism or lower bound, the least-squares ``slope`` of
log(sample complexity) against log(domain size), over ``part`` = ``all`` of the study's domain sizes and over their
``upper-half`` (the larger half, the middle one included). ``sizes`` counts those with a number above 0 there, between
``smallest_size`` and ``largest_size`` (0 where there is none); ``residual`` is the root mean square deviation of the
natural logarithms from the line. The status is ``ok``, or ``too-few``: less than three sizes, with the reason. Over
several seeds, slopes are of the medians, as figures draw them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from factormech.experiments.base import Column, PaperTable, Shown, TableKind
from factormech.tabular import (
    Problem,
    below,
    below_bound,
    check_grid,
    not_among,
    not_positive,
    unreasoned,
)

if TYPE_CHECKING:
    import pandas as pd

ALL_SIZES, UPPER_HALF = PARTS = ("all", "upper-half")
# A line through two points says nothing of how straight the curve is.
LEAST_SIZES = 3
_IMPROVEMENT_STATUSES = ("ok", "alone", "free", "refused", "unavailable")
_COMPETITION = ("competitor_sample_complexity", "ratio")


def _improvement_problem(row: Mapping[str, Any]) -> Problem:
    problem = (
        below(row, ("domain_size",), 1)
        or not_positive(row, ("epsilon", "alpha"))
        or not_among(row, "status", _IMPROVEMENT_STATUSES)
    )
    return problem or _problem_of_ratios(row) or unreasoned(row, needed=row["status"] != "ok")


def _problem_of_ratios(row: Mapping[str, Any]) -> Problem:
    status = row["status"]
    if math.isnan(row["sample_complexity"]) != (status in ("refused", "unavailable")) or row["sample_complexity"] < 0:
        return "sample_complexity", "be at least 0 where the mechanism has a number, and empty elsewhere"
    if (row["sample_complexity"] == 0) != (status == "free"):
        return "status", "be 'free' where no users are needed, and only there"
    for column in _COMPETITION:
        if math.isnan(row[column]) != (status != "ok") or row[column] < 0:
            return column, "be at least 0 where the status is ok, and empty elsewhere"
    if (row["competitor"] == "") != (status != "ok") or row["competitor"] == row["mechanism"]:
        return "competitor", "be another mechanism where the status is ok, and empty elsewhere"
    if status == "ok":
        wanted = row["competitor_sample_complexity"] / row["sample_complexity"]
        if not math.isclose(row["ratio"], wanted, rel_tol=1e-12):
            return "ratio", "be competitor_sample_complexity over sample_complexity"
    if math.isnan(row["lower_bound"]) != (row["bound_name"] == ""):
        return "bound_name", "name the bound where lower_bound has a number, and only there"
    compared = row["lower_bound"] > 0 and not math.isnan(row["sample_complexity"])
    if math.isnan(row["ratio_to_bound"]) == compared:
        return "ratio_to_bound", "be a number where there is one over a bound above 0, and only there"
    if compared and not math.isclose(
        row["ratio_to_bound"], row["sample_complexity"] / row["lower_bound"], rel_tol=1e-12
    ):
        return "ratio_to_bound", "be sample_complexity over lower_bound"
    return below_bound(row, "sample_complexity")


def _check_improvement(frame: pd.DataFrame, name: str) -> None:
    keys = ["mechanism", "workload", "domain_size", "epsilon", "seed", "alpha"]
    for study, part in frame.groupby("study", sort=False):
        check_grid([part[key].tolist() for key in keys], name, f"study {study}", "point of its grid")


def _slope_problem(row: Mapping[str, Any]) -> Problem:
    problem = (
        not_positive(row, ("epsilon", "alpha"))
        or below(row, ("sizes", "smallest_size", "largest_size"), 0)
        or not_among(row, "part", PARTS)
    )
    if problem is not None:
        return problem
    if row["status"] != ("ok" if row["sizes"] >= LEAST_SIZES else "too-few"):
        return "status", f"be 'ok' for {LEAST_SIZES} sizes or more, else 'too-few'"
    least = 1 if row["sizes"] else 0
    if row["smallest_size"] < least or row["largest_size"] < row["smallest_size"] + max(row["sizes"] - 1, 0):
        return "largest_size", "leave room for that many sizes from the smallest"
    ok = row["status"] == "ok"
    for column in ("slope", "residual"):
        if math.isnan(row[column]) == ok:
            return column, "be a number where the status is ok, and empty elsewhere"
    if row["residual"] < 0:
        return "residual", "be at least 0"
    return unreasoned(row, needed=not ok)


def _check_slopes(frame: pd.DataFrame, name: str) -> None:
    who = frame["mechanism"] + " " + frame["bound_name"]
    for study, part in frame.groupby("study", sort=False):
        axes = [part[key].tolist() for key in ("workload", "epsilon", "alpha", "part")] + [who[part.index].tolist()]
        check_grid(axes, name, f"study {study}", "mechanism and bound of every workload")


_METRIC = Column("metric", "text", "metric", description="The error that α bounds.")
_ALPHA = Column("alpha", "number", "target error α", "α", "The error that the users suffice for.")
_WORKLOAD, _EPSILON = (
    Column("workload", "text", "workload", description="The workload."),
    Column("epsilon", "number", "privacy budget ε", "ε", "The privacy budget."),
)
_ENDS = (
    Column("status", "text", "status", description="`ok`, or another word with a `reason`."),
    Column("reason", "text", "reason", description="Why there are no numbers, where there are none.", empty="free"),
)


def _number(name: str, label: str, description: str = "", symbol: str = "") -> Column:
    return Column(name, "number", label, symbol, description, empty="free")


IMPROVEMENT = TableKind(
    kind="improvement",
    columns=(
        _WORKLOAD,
        Column("domain_size", "integer", "domain size n", "n", "Number of user types."),
        _EPSILON,
        Column("seed", "integer", "seed", description="Seed of what is random.", added=0),
        _METRIC,
        _ALPHA,
        Column("mechanism", "text", "mechanism", description="The mechanism that is compared."),
        _number("sample_complexity", "users N", "Users that the mechanism needs.", "N"),
        Column("competitor", "text", "competitor", description="The best of the others.", empty="free"),
        _number("competitor_sample_complexity", "users of the competitor", "Users that the competitor needs."),
        _number("ratio", "competitor over mechanism", symbol="ratio"),
        _number("lower_bound", "lower bound", "Users that every mechanism of the bound's class needs."),
        Column("bound_name", "text", "bound", description="Which bound it is.", empty="free"),
        _number("ratio_to_bound", "mechanism over the lower bound", symbol="over bound"),
        Column("excluded", "text", "excluded", description="Mechanisms that do not compete.", empty="free"),
        *_ENDS,
    ),
    keys=("workload", "domain_size", "epsilon", "seed", "alpha"),
    check=_improvement_problem,
    check_table=_check_improvement,
    tables=(
        PaperTable(
            rows=("workload", "mechanism", "excluded", "metric", "alpha"),
            shown=(
                Shown("ratio", "min", "least"),
                Shown("ratio", "median", "median"),
                Shown("ratio", "max", "largest"),
                Shown("ratio", "count", "points"),
                Shown("ratio_to_bound", "max", "largest over bound"),
            ),
            total="All",
            text="Users that the best other mechanism needs over those of one mechanism; and those over the bound",
        ),
    ),
)
SLOPES = TableKind(
    kind="slopes",
    columns=(
        _WORKLOAD,
        _EPSILON,
        _METRIC,
        _ALPHA,
        Column("mechanism", "text", "mechanism", description="The mechanism, or `lower-bound`."),
        Column("bound_name", "text", "bound", description="Which bound it is.", empty="free"),
        Column("part", "text", "sizes used", description="`all` domain sizes, or the `upper-half`."),
        Column("sizes", "integer", "sizes", description="How many have a number above 0."),
        Column("smallest_size", "integer", "smallest size", description="Of these."),
        Column("largest_size", "integer", "largest size", description="Of these."),
        _number("slope", "slope", "Of log users against log domain size, least squares."),
        _number("residual", "residual", "Root mean square of the logarithms from the line."),
        *_ENDS,
    ),
    keys=("workload", "epsilon", "alpha", "mechanism", "bound_name", "part"),
    check=_slope_problem,
    check_table=_check_slopes,
    tables=(
        PaperTable(
            rows=("mechanism", "epsilon", "metric", "alpha"),
            columns=("workload",),
            shown=(Shown("slope"),),
            where=(("part", ALL_SIZES),),
            without=(("mechanism", "lower-bound"),),
            text="Slope of log users needed against log domain size, over all sizes",
        ),
        PaperTable(
            rows=("bound_name", "epsilon", "metric", "alpha"),
            columns=("workload",),
            shown=(Shown("slope"),),
            where=(("part", ALL_SIZES), ("mechanism", "lower-bound")),
            text="Slope of the log of lower bounds against log domain size, over all sizes",
        ),
    ),
)
KINDS = {kind.kind: kind for kind in (IMPROVEMENT, SLOPES)}
