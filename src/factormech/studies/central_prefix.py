r"""Errors of prefix sums of n counts by factorization, in ℓ_p for p = 2, 4, 8, ∞, beside the bound and ln(n)/π.

The errors are those of :mod:`.central_errors`. The optimal norm of prefix sums is ln(n)/π + O(1) in every order (Liu,
Upadhyay & Zou, ICLR 2025, Theorem 5), so that the error of the optimal factorization is near

.. math:: σ\, m_p \ln(n)/π ,

σ of sensitivity 1; for p = ∞ the reference is the largest standard deviation alone, σ ln(n)/π.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from factormech.studies import central_errors, trusted
from factormech.studies.axes import DELTA, DOMAIN_SIZE, EPSILON
from factormech.studies.base import REASON, Asked, Column, Curves, Experiment, split

AXES = (
    replace(DOMAIN_SIZE, entry={"type": "integer", "minimum": 2, "maximum": 131072}),
    replace(trusted.ORDERS, default=(2, 4, 8, "inf")),
    replace(EPSILON, default=(1.0,)),
    replace(DELTA, default=(1e-6,)),
)


def measure(asked: Asked) -> Iterator[dict[str, Any]]:
    """Yield a row for each size, privacy budget, order and mechanism."""
    from factormech.mechanisms.central.moments import gaussian_norm
    from factormech.privacy.gaussian import gaussian_noise_multiplier
    from factormech.studies.measures.central import error_rows
    from factormech.workloads.registry import create

    for n, epsilon, delta in asked.points("domain_size", "epsilon", "delta"):
        sigma = gaussian_noise_multiplier(epsilon, delta)
        point = {"domain_size": n, "epsilon": epsilon, "delta": delta}
        rows = error_rows(
            create("prefix", n), asked["mechanisms"], asked["p"], epsilon, delta,
            relative_width=asked["relative_width"], seed=asked.seed,
        )  # fmt: skip
        for row in rows:
            moment = 1.0 if math.isinf(row["p"]) else gaussian_norm(row["p"])
            yield {**point, **row, "scaled_logarithm": sigma * moment * math.log(n) / math.pi}


EXPERIMENT = Experiment(
    kind="central-prefix",
    description="Errors of order p of prefix sums by factorization, beside ln(n)/π and what no mechanism can pass.",
    axes=AXES,
    settings=(trusted.BY_ORDER, trusted.RELATIVE_WIDTH),
    columns=(
        *(axis.column() for axis in AXES),
        *trusted.ORDER_COLUMNS,
        Column("scaled_logarithm", at_least=0.0),
        REASON,
    ),
    keys=("domain_size", "p", "epsilon", "delta", "mechanism"),
    measure=measure,
    check=trusted.check_orders,
    parts=split("domain_size"),
    figure=Curves(
        panel=("p", "epsilon", "delta"),
        x="domain_size",
        y="order_p_error",
        series="mechanism",
        low="low",
        high="high",
        bars="an interval with error one in a million",
        below="lower_bound",
        floor="bound for (ε, δ)-private mechanisms",
        references=("scaled_logarithm",),
        x_scale="log2",
        text="Errors are per query, (E‖·‖_p^p / n)^(1/p), exact, for p < ∞, and E‖·‖_∞, simulated, for p = ∞. "
        "The bound holds for every mechanism on the data that are worst for it.",
        note=trusted.NEIGHBOURS,
    ),
    seconds=lambda asked: central_errors.seconds(Asked({**asked.grid, "workload": ("prefix",)}, asked.settings)),
    seeded=True,
)
