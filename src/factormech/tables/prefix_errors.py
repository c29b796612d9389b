"""The table of factorizations of prefix sums: their errors over the certified optimum.

Its columns are :data:`COLUMNS`; its rows are, for every ``order`` p (∞ for the largest error) and domain size n, one
per ``factorization``. ``lower_bound`` is the certified lower end of γ₍ₚ₎, ``ratio`` the error over it (at least 1: none
is better than the optimum), ``trace_bound`` ‖W‖_*/n, ``logarithm`` ln(n)/π.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from factormech.tables.format import Problem, TableFormat, below, check_grid, empty_text, not_positive

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = (
    "study",
    "domain_size",
    "order",
    "factorization",
    "error",
    "lower_bound",
    "ratio",
    "trace_bound",
    "logarithm",
)
# A factorization that is optimal may be this far below the bound by rounding.
ROUNDING = 1e-9


def _problem(row: Mapping[str, Any]) -> Problem:
    problem = (
        empty_text(row, ("study", "factorization"))
        or below(row, ("domain_size",), 1)
        or not_positive(row, ("error", "lower_bound", "ratio", "trace_bound"))
    )
    if problem is not None:
        return problem
    if not row["order"] >= 2.0:
        return "order", "be at least 2"
    if not math.isclose(row["ratio"], row["error"] / row["lower_bound"], rel_tol=1e-12):
        return "ratio", "be error over lower_bound"
    if row["ratio"] < 1.0 - ROUNDING:
        return "ratio", "be at least 1: no factorization is below the optimum"
    if math.isnan(row["logarithm"]):
        return "logarithm", "be a number"
    return None


def _check_whole(frame: pd.DataFrame, name: str) -> None:
    """Every study has one row for each order × domain size × factorization in it."""
    for study, part in frame.groupby("study", sort=False):
        axes = [part[key].tolist() for key in ("order", "domain_size", "factorization")]
        check_grid(axes, name, f"study {study}", "factorization at every order and domain size")


FORMAT = TableFormat(
    kind="prefix-factorizations",
    columns=COLUMNS,
    integers=frozenset({"domain_size"}),
    floats=frozenset({"order", "error", "lower_bound", "ratio", "trace_bound", "logarithm"}),
    problem=_problem,
    check_whole=_check_whole,
    infinite=frozenset({"order"}),
)
