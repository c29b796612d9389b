"""Known factorizations of prefix sums: their errors over the certified optimum.

Its rows are, for every ``order`` p (∞ for the largest error) and domain size n, one per ``factorization``.
``lower_bound`` is the certified lower end of γ₍ₚ₎, ``ratio`` the error over it (at least 1: none is better than the
optimum), ``trace_bound`` ‖W‖_*/n, ``logarithm`` ln(n)/π.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from factormech.errors import BadValue
from factormech.names import Family
from factormech.studies import norms
from factormech.studies.asked import Asked
from factormech.studies.axes import DOMAIN_SIZE, SEED, WORKLOAD
from factormech.studies.base import Column, Experiment, PaperTable, Problem, Setting, Shown
from factormech.studies.norms import NORMS, SOLVER
from factormech.tabular import below, check_grid, not_positive

if TYPE_CHECKING:
    import pandas as pd

# A factorization that is optimal may be this far below the bound by rounding.
ROUNDING = 1e-9


def _factorizations() -> Iterable[str]:
    from factormech.studies.measures import central

    return central.factorizations()


def _check_factorization(name: str) -> None:
    from factormech.studies.measures import central

    central.check_name(name)


def table(asked: Asked, parts: Mapping[str, pd.DataFrame]) -> Iterator[dict[str, Any]]:
    """The rows by order, then domain size."""
    from factormech.studies.measures.central import rows

    yield from rows(parts.values(), asked["factorizations"])


def check(row: Mapping[str, Any]) -> Problem:
    """Return the problem of a row whose numbers contradict each other."""
    problem = below(row, ("domain_size",), 1) or not_positive(
        row, ("order_p_error", "lower_bound", "ratio_to_bound", "trace_bound")
    )
    if problem is not None:
        return problem
    if not row["p"] >= 2.0:
        return "p", "be at least 2"
    if not math.isclose(row["ratio_to_bound"], row["order_p_error"] / row["lower_bound"], rel_tol=1e-12):
        return "ratio_to_bound", "be order_p_error over lower_bound"
    if row["ratio_to_bound"] < 1.0 - ROUNDING:
        return "ratio_to_bound", "be at least 1: no factorization is below the optimum"
    if math.isnan(row["logarithm"]):
        return "logarithm", "be a number"
    return None


def check_table(frame: pd.DataFrame, name: str) -> None:
    """Every study has one row for each order × domain size × factorization in it."""
    for study, part in frame.groupby("study", sort=False):
        axes = [part[key].tolist() for key in ("p", "domain_size", "factorization")]
        check_grid(axes, name, f"study {study}", "factorization at every order and domain size")


def refuse(asked: Asked) -> Iterator[BadValue]:
    """Refuse norms that are not exact, and workloads other than prefix sums."""
    from factormech.norms.registry import quantity

    for i, name in enumerate(asked["norms"]):
        if quantity(name).exponent is None:
            yield BadValue(f"norms[{i}]", name, "be an exact norm here", "give for example gamma-2")
    if asked["workload"] != ("prefix",):
        yield BadValue("grid.workload", list(asked["workload"]), "be [prefix] here", "give [prefix]")


EXPERIMENT = Experiment(
    kind="prefix-factorizations",
    description="Errors of known factorizations of prefix sums over the certified optimum.",
    axes=(WORKLOAD, DOMAIN_SIZE, SEED),
    settings=(
        NORMS,
        SOLVER,
        Setting(
            "factorizations",
            {"type": "array", "minItems": 1, "uniqueItems": True, "items": {"type": "string", "minLength": 1}},
            "Names of factorizations.",
            ["optimal", "square-root"],
            ["optimal", "square-root", "binary-tree", "identity"],
            Family(_factorizations, _check_factorization),
            stage="table",
        ),
    ),
    columns=(
        DOMAIN_SIZE.column(),
        Column("p", infinite=True),
        Column("factorization"),
        Column("order_p_error"),
        Column("lower_bound"),
        Column("ratio_to_bound"),
        Column("trace_bound"),
        Column("logarithm"),
    ),
    keys=("p", "domain_size", "factorization"),
    measure=norms.measure,
    table=table,
    check=check,
    check_table=check_table,
    refuse=refuse,
    parts=norms.by_norm,
    solves=norms.requests,
    tables=(
        PaperTable(
            rows=("p", "domain_size"),
            columns=("factorization",),
            shown=(Shown("order_p_error"),),
            beside=("logarithm", "trace_bound"),
            best="min",
            bound="lower_bound",
            text="Error of order p of factorizations of prefix sums",
        ),
    ),
    figure="factormech.plots.prefix_factorizations",
    seconds=norms.seconds,
    memory_mb=norms.memory_mb,
    seeded=False,
)
