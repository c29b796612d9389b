"""The least width κ of the sensitivity polytope conv(±W_j) over directions of Euclidean, or of largest entry, 1.

κ is 0 exactly if the queries are linearly dependent (Liu, Upadhyay & Zou, ICLR 2025, Lemma 11). For prefix sums it is
2/√(4n − 3) over Euclidean unit directions; it is constant over directions of largest entry 1. For parities it is 2 both
ways. Ends are certified: :mod:`factormech.bounds.central.width` and ``maximum_width``.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from factormech.studies.axes import DOMAIN_SIZE, WORKLOAD
from factormech.studies.base import REASON, Asked, Column, Curves, Experiment, Problem, split

EUCLIDEAN, MAXIMUM = DIRECTIONS = ("euclidean-directions", "maximum-directions")
# Programs over all directions take minutes above.
QUERIES_LIMIT = 128
# On a closed form, whose arithmetic is a handful of roundings.
ROUNDING = 1e-12


def measure(asked: Asked) -> Iterator[dict[str, Any]]:
    """Yield both widths of every workload and size, between their ends."""
    from factormech.studies.asked import workload_of

    for name, n in asked.points("workload", "domain_size"):
        workload = workload_of(asked, name, n)
        for directions in DIRECTIONS:
            row = {"workload": name, "domain_size": n, "directions": directions, "queries": workload.queries}
            if workload.queries <= n and workload.queries > QUERIES_LIMIT:
                yield row | {"reason": f"more than {QUERIES_LIMIT} queries"}
                continue
            lower, upper, method = _ends(workload, directions)
            yield row | {
                "width_lower": lower,
                "width_upper": upper,
                "method": method,
                **_closed_form(name, n, directions),
            }


def _ends(workload: Any, directions: str) -> tuple[float, float, str]:
    from factormech.bounds.central.width import maximum_width, minimum_width

    if workload.queries > workload.domain_size:
        return 0.0, 0.0, "dependent rows"
    if directions == MAXIMUM:
        return (*maximum_width(workload), "linear programs")
    found = minimum_width(workload)
    return found.lower, found.upper, found.method


def _closed_form(name: str, n: int, directions: str) -> dict[str, float]:
    """Return the known width; all rows of a Hadamard matrix have 2 in every direction of a query."""
    from factormech.bounds.central.width import hadamard_width, prefix_maximum_width, prefix_width

    if name == "prefix":
        return {"closed_form": prefix_width(n) if directions == EUCLIDEAN else prefix_maximum_width(n)}
    if name.endswith("parities"):
        return {"closed_form": hadamard_width()}
    if name == "histogram":
        return {"closed_form": 2.0 / math.sqrt(n) if directions == EUCLIDEAN else 2.0}
    return {}


def check(row: Mapping[str, Any]) -> Problem:
    """Return the problem of a row whose ends are out of order, or do not enclose a closed form."""
    if row["width_lower"] > row["width_upper"]:
        return "width_upper", "be at least width_lower"
    closed = row.get("closed_form")
    if closed is None or math.isnan(closed):
        return None
    between = row["width_lower"] * (1.0 - ROUNDING) <= closed <= row["width_upper"] * (1.0 + ROUNDING)
    return None if between else ("closed_form", "be between width_lower and width_upper")


EXPERIMENT = Experiment(
    kind="polytope-width",
    description="The least width of the sensitivity polytope, certified, beside its closed forms.",
    axes=(WORKLOAD, DOMAIN_SIZE),
    columns=(
        WORKLOAD.column(),
        DOMAIN_SIZE.column(),
        Column("directions"),
        Column("queries", at_least=1),
        Column("width_lower", empty="reason", at_least=0.0),
        Column("width_upper", empty="reason", at_least=0.0),
        Column("closed_form", empty="free", at_least=0.0),
        Column("method", empty="free"),
        REASON,
    ),
    keys=("workload", "domain_size", "directions"),
    measure=measure,
    check=check,
    parts=split("workload"),
    figure=Curves(
        panel="workload",
        x="domain_size",
        y="width_upper",
        series="directions",
        low="width_lower",
        high="width_upper",
        bars="the certified lower end to the certified upper end",
        x_scale="log2",
        y_scale="log",
        text=(
            "κ is the least width of conv(±columns of W), 2‖Wᵀθ‖_∞, over directions θ of Euclidean length 1, and over "
            "those of largest entry 1"
        ),
    ),
    seconds=lambda asked: sum(0.05 + 1e-5 * min(n, QUERIES_LIMIT) ** 3 for _, n in asked.points()),
)
