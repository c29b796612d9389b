"""What one report of each local mechanism says, as a share of the most that an ε-LDP report can say.

Capacity and contraction coefficient of the strategy matrix, the largest divergence of two types, and average
divergences of hard pairs of the workload (:mod:`factormech.learning`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from factormech.studies.axes import DOMAIN_SIZE, EPSILON, LOCAL_MECHANISMS, WORKLOAD
from factormech.studies.base import NAMES, REASON, Asked, Column, Curves, Experiment, Problem, Setting, split
from factormech.studies.grids import strategy_requests
from factormech.studies.hard_pairs import HALF_GAP
from factormech.studies.measures.hard_pairs import matrix_of

if TYPE_CHECKING:
    from factormech.arrays import FloatArray
    from factormech.studies.measures.hard_pairs import HardTest

OUTPUTS_LIMIT = 4096
# Of values that are computed to rounding.
ROUNDING = 1e-9
OF_THE_MATRIX = ("capacity", "contraction", "divergence of two types")
OF_PAIRS = ("χ² of hard pairs", "divergence of hard pairs", "total variation of hard pairs")


def measure(asked: Asked) -> Iterator[dict[str, Any]]:
    """Yield a row for each quantity of each mechanism."""
    from factormech.studies.asked import workload_of
    from factormech.studies.measures.hard_pairs import hard_test

    for name, n in asked.points("workload", "domain_size"):
        workload = workload_of(asked, name, n)
        test = hard_test(workload, asked["half_gap"])
        for epsilon, mechanism in asked.points("epsilon", "mechanisms"):
            point = {"workload": name, "domain_size": n, "epsilon": epsilon, "mechanism": mechanism}
            Q = matrix_of(mechanism, workload, epsilon, asked.seed, OUTPUTS_LIMIT)
            if isinstance(Q, str):
                yield from ({**point, "quantity": each, "reason": Q} for each in OF_THE_MATRIX + OF_PAIRS)
                continue
            for quantity, (lower, upper, limit) in {**_of_matrix(Q, epsilon), **_of_pairs(test, Q, epsilon)}.items():
                values = {"lower": lower, "upper": upper, "limit": limit, "share_of_limit": lower / limit}
                yield {**point, "quantity": quantity, **values}


def _of_matrix(Q: FloatArray, epsilon: float) -> dict[str, tuple[float, float, float]]:
    """Lower end, upper end and limit."""
    from factormech.learning import information
    from factormech.learning.information import capacity, contraction, largest_pairwise_divergence

    found, shrunk, apart = capacity(Q), contraction(Q), largest_pairwise_divergence(Q)
    values = (
        (found.lower, found.upper, information.largest_capacity(epsilon)),
        (shrunk.lower, shrunk.upper, information.largest_contraction(epsilon)),
        (apart, apart, information.largest_divergence(epsilon)),
    )
    return dict(zip(OF_THE_MATRIX, values, strict=True))


def _of_pairs(test: HardTest, Q: FloatArray, epsilon: float) -> dict[str, tuple[float, float, float]]:
    from factormech.learning.information import limits, through

    seen, most = through(test.pairs, Q, epsilon), limits(test.norm, epsilon)
    values = (
        (seen.chi_squared, seen.chi_squared, most.chi_squared),
        (seen.kullback_leibler, seen.kullback_leibler, most.kullback_leibler),
        (seen.total_variation, seen.total_variation, most.total_variation),
    )
    return dict(zip(OF_PAIRS, values, strict=True))


def check(row: Mapping[str, Any]) -> Problem:
    """Return the problem of a row whose ends are out of order, or surely above what every report is below."""
    if row["lower"] > row["upper"]:
        return "upper", "be at least lower"
    return ("lower", "be at most limit") if row["lower"] > row["limit"] * (1.0 + ROUNDING) else None


_number = partial(Column, empty="reason", at_least=0.0)


EXPERIMENT = Experiment(
    kind="channel-information",
    description="Capacity, contraction and divergences of local mechanisms, as shares of what ε-LDP allows.",
    axes=(WORKLOAD, replace(DOMAIN_SIZE, entry={"type": "integer", "minimum": 2, "maximum": 64}), EPSILON),
    settings=(
        Setting(
            "mechanisms",
            NAMES,
            "Names of local mechanisms.",
            ["hadamard"],
            names=LOCAL_MECHANISMS,
        ),
        HALF_GAP,
    ),
    columns=(
        WORKLOAD.column(),
        DOMAIN_SIZE.column(),
        Column("quantity"),
        Column("mechanism"),
        EPSILON.column(),
        _number("share_of_limit"),
        _number("lower"),
        _number("upper"),
        _number("limit"),
        REASON,
    ),
    keys=("workload", "domain_size", "quantity", "mechanism", "epsilon"),
    measure=measure,
    check=check,
    parts=split("workload", "domain_size"),
    solves=lambda asked: strategy_requests(asked, asked["mechanisms"]),
    figure=Curves(
        panel=("workload", "domain_size", "quantity"),
        x="epsilon",
        y="share_of_limit",
        series="mechanism",
        x_scale="log",
        y_scale="linear",
        text=(
            "Each quantity of one report, divided by its largest value among ε-LDP reports: capacity u − 1 − ln u, "
            "u = ε/(1−e^−ε), contraction tanh²(ε/2), divergence of two types ε·tanh(ε/2), all three attained; of hard "
            "pairs the bounds of the proofs, (e^ε−1)²‖M‖²/4, κ times it, and (e^ε−1)‖M‖/4"
        ),
    ),
    seconds=lambda asked: 2.0 + 0.05 * len(asked["mechanisms"]) * len(list(asked.points())),
)
