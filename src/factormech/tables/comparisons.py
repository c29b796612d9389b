"""Two tables computed from one of sample complexities: by how much a mechanism improves, and how needs grow.

**Improvement** (:data:`IMPROVEMENT`): for each grid point, the
``sample_complexity`` of ``mechanism``, the best of the others (``competitor``) with its own, and ``improvement``,
competitor over mechanism: above 1 is one. ``ratio_to_bound`` is the mechanism over the strongest lower bound, at least
1, and empty where there is no bound above 0. ``excluded`` names the mechanisms that do not compete. The status is
``ok``; or without an improvement, but with a reason, ``alone`` (no other mechanism has a number here), ``free`` (the
mechanism needs no users), or the mechanism's own ``refused`` or ``unavailable``.

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
from functools import partial
from typing import TYPE_CHECKING, Any

from factormech.studies.base import Column, PaperTable, Shown, TableKind
from factormech.tabular import Problem, below, below_bound, check_grid, not_among, not_positive, unreasoned

if TYPE_CHECKING:
    import pandas as pd

ALL_SIZES, UPPER_HALF = PARTS = ("all", "upper-half")
# A line through two points says nothing of how straight the curve is.
LEAST_SIZES = 3
_IMPROVEMENT_STATUSES = ("ok", "alone", "free", "refused", "unavailable")
_COMPETITION = ("competitor_sample_complexity", "improvement")


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
        if not math.isclose(row["improvement"], wanted, rel_tol=1e-12):
            return "improvement", "be competitor_sample_complexity over sample_complexity"
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


_METRIC = Column("metric")
_ALPHA = Column("alpha")
_WORKLOAD, _EPSILON = (
    Column("workload"),
    Column("epsilon"),
)
_ENDS = (
    Column("status"),
    Column("reason", empty="free"),
)


_number = partial(Column, empty="free")


IMPROVEMENT = TableKind(
    kind="improvement",
    columns=(
        _WORKLOAD,
        Column("domain_size"),
        _EPSILON,
        Column("seed", added=0),
        _METRIC,
        _ALPHA,
        Column("mechanism"),
        _number("sample_complexity"),
        Column("competitor", empty="free"),
        _number("competitor_sample_complexity"),
        _number("improvement"),
        _number("lower_bound"),
        Column("bound_name", empty="free"),
        _number("ratio_to_bound"),
        Column("excluded", empty="free"),
        *_ENDS,
    ),
    keys=("workload", "domain_size", "epsilon", "seed", "alpha"),
    check=_improvement_problem,
    check_table=_check_improvement,
    tables=(
        PaperTable(
            rows=("workload", "mechanism", "excluded", "metric", "alpha"),
            shown=(
                Shown("improvement", "min", "least"),
                Shown("improvement", "median", "median"),
                Shown("improvement", "max", "largest"),
                Shown("improvement", "count", "points"),
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
        Column("mechanism"),
        Column("bound_name", empty="free"),
        Column("part"),
        Column("sizes"),
        Column("smallest_size"),
        Column("largest_size"),
        _number("slope"),
        _number("residual"),
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
