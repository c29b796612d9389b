"""What a trusted curator's factorization mechanism achieves, and what no curator can pass, for any workload.

:mod:`factormech.studies.measures.central`: σ·m_p·Γ_p above; √V(ε, δ)·Γ_p below, the data-independent bound, which holds
for every mechanism on the worst data of all sizes; and Theorem 3 of Liu, Upadhyay & Zou (ICLR 2025) with its
constant, the trace bound √V·k^{1/p−½}N^{−½}‖W‖_{S₁}. The rows of :mod:`factormech.studies.published_bounds` are
like these.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from factormech.errors import BadValue
from factormech.studies.axes import DELTA, DOMAIN_SIZE, EPSILON, ORDER, WORKLOAD
from factormech.studies.base import Asked, Column, Curves, Experiment, PaperTable, Problem, Shown, split

COPIED = (
    "queries",
    "scaled_norm_lower",
    "scaled_norm_upper",
    "analytic_sigma",
    "least_noise",
    "total_error",
    "lower_bound",
    "ratio_to_bound",
)
BUDGET = (EPSILON, replace(DELTA, default=(1e-6,)), replace(ORDER, default=(2.0,)))
COLUMNS = (
    Column("queries", at_least=1),
    Column("scaled_norm_lower", at_least=0.0),
    Column("scaled_norm_upper", at_least=0.0),
    Column("analytic_sigma", at_least=0.0),
    Column("least_noise", at_least=0.0),
    Column("total_error", at_least=0.0),
    Column("lower_bound", at_least=0.0),
    Column("ratio_to_bound", at_least=1.0, infinite=True),
)
# A curator's error with Gaussian noise, and what no curator can pass on all data: one panel for each order p.
CURVES = Curves(
    panel=("workload", "p", "epsilon", "delta"),
    x="domain_size",
    y="total_error",
    below="lower_bound",
    floor="bound for (ε, δ)-private mechanisms",
    far_below=True,
    references=("trace_lower",),
    far_references=True,
    x_scale="log2",
    label="error of all queries together, in counts",
    text=(
        "The error is (E‖·‖ₚᵖ)^{1/p}, and √E‖·‖²_∞ at p = ∞, where the curve bounds it; every mechanism has √V·Γ, the "
        "edge of the band, or more on some data"
    ),
)


def measure(asked: Asked) -> Iterator[dict[str, Any]]:
    """Yield the rows of every workload and size; each norm is solved once."""
    # What the registry of norms solves with: the results depend on its code.
    import factormech.norms.by_workload  # noqa: F401
    from factormech.studies.asked import workload_of
    from factormech.studies.measures.central import workload_rows

    budgets = list(asked.points("epsilon", "delta"))
    for name, n in asked.points("workload", "domain_size"):
        for row in workload_rows([workload_of(asked, name, n)], asked["p"], budgets):
            yield {
                "workload": name,
                "domain_size": n,
                **{key: row[key] for key in ("p", "epsilon", "delta", "trace_lower", *COPIED)},
            }


def check(row: Mapping[str, Any]) -> Problem:
    """Return the problem of a row whose bound is above what it bounds."""
    if row["total_error"] < row["lower_bound"]:
        return "total_error", "be at least lower_bound"
    if row.get("trace_lower", 0.0) > row["total_error"]:
        return "trace_lower", "be at most total_error"
    return None


def refuse(asked: Asked) -> Iterable[BadValue]:
    """Refuse orders below 2, which have no such bound."""
    for i, p in enumerate(asked["p"]):
        if p < 2.0:
            yield BadValue(
                f"grid.p[{i}]", p, "be at least 2: the bounds are for these", "give 2, a larger order or inf"
            )


EXPERIMENT = Experiment(
    kind="central-bounds",
    description="Error of the central factorization mechanism between certified bounds, for any workload.",
    axes=(WORKLOAD, DOMAIN_SIZE, *BUDGET),
    columns=(
        WORKLOAD.column(),
        DOMAIN_SIZE.column(),
        *(axis.column() for axis in BUDGET),
        *COLUMNS,
        Column("trace_lower", at_least=0.0),
    ),
    keys=("workload", "domain_size", "epsilon", "delta", "p"),
    measure=measure,
    check=check,
    refuse=refuse,
    parts=split("workload"),
    figure=CURVES,
    tables=(
        PaperTable(
            rows=("workload", "p", "epsilon", "delta", "domain_size"),
            shown=(
                Shown("scaled_norm_upper", label="norm Γ", low="scaled_norm_lower"),
                Shown("total_error"),
                Shown("lower_bound"),
                Shown("ratio_to_bound"),
            ),
        ),
    ),
    seconds=lambda asked: sum(0.2 + 2e-5 * n**2 for _, n, _ in asked.points("workload", "domain_size", "p")),
)
