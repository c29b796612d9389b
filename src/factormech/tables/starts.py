"""The table of random starts: what a solver finds from each, over a lower bound on what any strategy has.

Its columns are :data:`COLUMNS`; its rows are, for every workload, domain size, ε, seed and mechanism, one for each
multiple ``row_factor`` of the domain size that the solver was allowed as rows, and each random ``start``. ``rows`` is
the number of outputs that the strategy has at the end, ``stopped`` what the solver said of its end. Variances, bound,
ratios and status are those of :mod:`factormech.tables.gaps`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from factormech.tables.format import Problem, TableFormat, below, check_grid, empty_text, not_among, not_positive
from factormech.tables.gaps import RATIOS, STATUSES, VARIANCES, problem_of_ratio

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = (
    "study",
    "workload",
    "domain_size",
    "epsilon",
    "seed",
    "mechanism",
    "row_factor",
    "start",
    "rows",
    "average_variance",
    "worst_variance",
    "lower_bound",
    "bound_name",
    "ratio",
    "worst_ratio",
    "stopped",
    "status",
    "reason",
)


def _problem(row: Mapping[str, Any]) -> Problem:
    problem = (
        empty_text(row, ("study", "workload", "mechanism", "status"))
        or below(row, ("domain_size", "row_factor"), 1)
        or below(row, ("seed", "start"), 0)
        or not_positive(row, ("epsilon",))
        or not_among(row, "status", STATUSES)
    )
    return problem or problem_of_ratio(row)


def _check_whole(frame: pd.DataFrame, name: str) -> None:
    """Every workload has one row for each domain size × ε × seed × mechanism × number of rows × start."""
    keys = ["domain_size", "epsilon", "seed", "mechanism", "row_factor", "start"]
    for (study, workload), part in frame.groupby(["study", "workload"], sort=False):
        axes = [part[key].tolist() for key in keys]
        check_grid(axes, name, f"study {study}, workload {workload}", "mechanism, number of rows and start")


FORMAT = TableFormat(
    kind="initialisation",
    columns=COLUMNS,
    integers=frozenset({"domain_size", "seed", "row_factor", "start"}),
    floats=frozenset({"epsilon", "rows", *VARIANCES, "lower_bound", *RATIOS}),
    problem=_problem,
    check_whole=_check_whole,
)
