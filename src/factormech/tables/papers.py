"""The tables that a paper prints of every kind of study.

An experiment says its own, or has those that its figure suggests; :data:`PAPERS` has those of the other kinds.
"""

from __future__ import annotations

from collections.abc import Mapping

from factormech.experiments.base import Column, Curves, Experiment
from factormech.experiments.paper_table import PaperTable, Shown
from factormech.tables.comparisons import ALL_SIZES
from factormech.tables.consistency import NONE
from factormech.tables.sample_complexity import LOWER_BOUND
from factormech.tables.timing import ITERATION, TO_GAP

COLUMNS: Mapping[str, Column] = {
    column.name: column
    for column in (
        Column("workload", "text", "workload"),
        Column("domain_size", "integer", "domain size n", "n"),
        Column("epsilon", "number", "privacy budget ε", "ε"),
        Column("alpha", "number", "error α", "α"),
        Column("mechanism", "text", "mechanism"),
        Column("bound_name", "text", "lower bound"),
        Column("metric", "text", "metric"),
        Column("data", "text", "data"),
        Column("users", "integer", "users N", "N"),
        Column("part", "text", "part of the domain sizes"),
        Column("processing", "text", "processing"),
        Column("population", "text", "population"),
        Column("norm", "text", "norm"),
        Column("order", "number", "order p of the error", "p"),
        Column("factorization", "text", "factorization"),
        Column("row_factor", "integer", "rows over domain size m/n", "m/n"),
        Column("gap", "number", "multiple of the bound"),
        Column("sample_complexity", "number", "users needed"),
        Column("lower_bound", "number", "lower bound"),
        Column("trace_bound", "number", "trace bound"),
        Column("logarithm", "number", "ln(n)/π"),
        Column("error", "number", "error"),
        Column("ratio", "number", "ratio"),
        Column("worst_ratio", "number", "worst case over bound"),
        Column("ratio_to_bound", "number", "users over bound"),
        Column("excluded", "text", "not competing"),
        Column("slope", "number", "slope"),
        Column("seconds", "number", "seconds"),
        Column("least_seconds", "number", "least"),
        Column("z", "number", "largest |z|"),
        Column("p_value", "number", "smallest p"),
        Column("lower", "number", "lower end"),
        Column("upper", "number", "norm"),
        Column("exact_error", "number", "exact error"),
    )
}
_POINT = ("workload", "domain_size", "epsilon")
_ACCURACY = ("metric", "alpha")

PAPERS: Mapping[str, tuple[PaperTable, ...]] = {
    "sample-complexity": (
        PaperTable(
            rows=(*_POINT, *_ACCURACY),
            columns=("mechanism",),
            shown=(Shown("sample_complexity"),),
            best="min",
            bound="lower_bound",
            without=(("mechanism", LOWER_BOUND),),
            text="Users that each mechanism needs in the worst case",
        ),
    ),
    "data-dependent": (
        PaperTable(
            rows=("data", *_POINT, *_ACCURACY),
            columns=("mechanism",),
            shown=(Shown("sample_complexity"),),
            best="min",
            bound="lower_bound",
            text="Users that each mechanism needs on each data set",
        ),
    ),
    "optimality-gap": (
        PaperTable(
            rows=_POINT,
            columns=("mechanism",),
            shown=(Shown("ratio"),),
            best="min",
            text="Average variance of each mechanism over the strongest lower bound on that of every ε-LDP strategy",
        ),
    ),
    "improvement": (
        PaperTable(
            rows=("workload", "mechanism", "excluded", *_ACCURACY),
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
    "slopes": (
        PaperTable(
            rows=("mechanism", "epsilon", *_ACCURACY),
            columns=("workload",),
            shown=(Shown("slope"),),
            where=(("part", ALL_SIZES),),
            without=(("mechanism", LOWER_BOUND),),
            text="Slope of log users needed against log domain size, over all sizes",
        ),
        PaperTable(
            rows=("bound_name", "epsilon", *_ACCURACY),
            columns=("workload",),
            shown=(Shown("slope"),),
            where=(("part", ALL_SIZES), ("mechanism", LOWER_BOUND)),
            text="Slope of the log of lower bounds against log domain size, over all sizes",
        ),
    ),
    "consistency": (
        PaperTable(
            rows=("data", *_POINT, "users"),
            columns=("mechanism", "processing"),
            shown=(Shown("ratio"),),
            without=(("processing", NONE),),
            text="Error after each processing over that of the unprocessed estimates of the same collections",
        ),
    ),
    "simulated-collection": (
        PaperTable(
            rows=("mechanism",),
            shown=(
                Shown("ratio", "count", "points"),
                Shown("z", "largest"),
                Shown("p_value", "min"),
                Shown("ratio", "mean", "mean of measured over exact"),
            ),
            text="Measured over exact errors of simulated collections",
        ),
    ),
    "initialisation": (
        PaperTable(
            rows=("mechanism", "workload", "domain_size", "epsilon", "row_factor"),
            shown=(
                Shown("ratio", "min", "least"),
                Shown("ratio", "median", "median"),
                Shown("ratio", "max", "largest"),
                Shown("worst_ratio", "max", "largest in the worst case"),
            ),
            text="Average variance over the strongest lower bound, over random starts with m rows",
        ),
    ),
    "timing": (
        PaperTable(
            rows=("domain_size",),
            where=(("quantity", ITERATION),),
            shown=(Shown("seconds", "mean", "mean"), Shown("least_seconds", "min", "least")),
            text="Seconds of one iteration",
        ),
        PaperTable(
            rows=("gap", "epsilon", "workload", "domain_size"),
            where=(("quantity", TO_GAP),),
            columns=("mechanism",),
            shown=(Shown("seconds"),),
            best="min",
            text="Seconds until the average variance is at most a multiple of the strongest lower bound",
        ),
    ),
    "norms": (
        PaperTable(
            rows=("workload", "alpha", "domain_size"),
            columns=("norm",),
            shown=(Shown("upper", low="lower"),),
            beside=("trace_bound",),
            text="Certified norms: the digits that both ends share, or both ends",
        ),
    ),
    "prefix-factorizations": (
        PaperTable(
            rows=("order", "domain_size"),
            columns=("factorization",),
            shown=(Shown("error"),),
            beside=("logarithm", "trace_bound"),
            best="min",
            bound="lower_bound",
            text="Error of order p of factorizations of prefix sums",
        ),
    ),
}


def papers_of(kind: Experiment) -> tuple[PaperTable, ...]:
    """The tables of an experiment: its own, those of its curves, or all numbers at each of its keys."""
    if kind.tables:
        return kind.tables
    curves = kind.figure
    if isinstance(curves, Curves):
        return (_of_curves(curves),)
    numbers = [column.name for column in kind.columns if column.type == "number" and column.name not in kind.keys]
    return (PaperTable(rows=kind.keys, shown=tuple(map(Shown, numbers))),)


def _of_curves(curves: Curves) -> PaperTable:
    """A row for each place of a panel, a column for each curve."""
    return PaperTable(
        rows=(*curves.panels, curves.x),
        columns=tuple(name for name in (curves.series, curves.dash) if name),
        shown=(Shown(curves.y),),
        best="min" if curves.below else "",
        bound=curves.below or "",
        beside=curves.references,
        ends=(curves.low, curves.high) if curves.low and curves.high else (),
    )
