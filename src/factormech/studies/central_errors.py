r"""Errors of factorization mechanisms of a trusted curator against the domain size, in ℓ₂, ℓ₄ and ℓ_∞.

M(x) = L(Rx + z), z ~ N(0, σ²I), LR = W, has for p < ∞ the exact error

.. math:: (E\lVert M(x) - Wx\rVert_p^p)^{1/p} = σ\, m_p \Bigl(\sum_i \lVert L_i\rVert^p\Bigr)^{1/p},
          \qquad m_p = \sqrt 2\,(Γ((p+1)/2)/\sqrt π)^{1/p},

whatever the data; E‖·‖_∞ is simulated. σ is the analytic noise at the sensitivity of R. Beside them: what no mechanism
can pass on the data that are worst for it (:mod:`factormech.studies.measures.central`; Liu, Upadhyay & Zou, ICLR 2025).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from factormech.studies import trusted
from factormech.studies.axes import DELTA, DOMAIN_SIZE, EPSILON, WORKLOAD
from factormech.studies.base import REASON, Asked, Curves, Experiment, split

AXES = (
    WORKLOAD,
    replace(DOMAIN_SIZE, default=(64,)),
    trusted.ORDERS,
    replace(EPSILON, default=(1.0,)),
    replace(DELTA, default=(1e-6,)),
)


def measure(asked: Asked) -> Iterator[dict[str, Any]]:
    """Yield a row for each workload, size, privacy budget, order and mechanism."""
    from factormech.studies.asked import workload_of
    from factormech.studies.measures.central import error_rows

    for name, epsilon, delta, n in asked.points("workload", "epsilon", "delta", "domain_size"):
        W = workload_of(asked, name, n)
        point = {"workload": name, "domain_size": n, "epsilon": epsilon, "delta": delta}
        rows = error_rows(
            W, asked["mechanisms"], asked["p"], epsilon, delta,
            relative_width=asked["relative_width"], seed=asked.seed,
        )  # fmt: skip
        yield from ({**point, **row} for row in rows)


def seconds(asked: Asked) -> float:
    """Simulations and the norms of large dense workloads, at the default width."""
    budgets = len(asked["epsilon"]) * len(asked["delta"]) * len(asked["workload"])
    each = 2e-4 * (1.0 + 2.0 * (0.02 / asked["relative_width"]) ** 2) * len(asked["mechanisms"])
    return float(1.0 + budgets * sum(0.05 + n * each for n in asked["domain_size"]))


EXPERIMENT = Experiment(
    kind="central-errors",
    description="Errors of order p of a trusted curator's factorization mechanisms, beside what no mechanism can pass.",
    axes=AXES,
    settings=(trusted.BY_ORDER, trusted.RELATIVE_WIDTH),
    columns=(*(axis.column() for axis in AXES), *trusted.ORDER_COLUMNS, REASON),
    keys=("workload", "domain_size", "p", "epsilon", "delta", "mechanism"),
    measure=measure,
    check=trusted.check_orders,
    parts=split("workload"),
    figure=Curves(
        panel=("workload", "p", "epsilon", "delta"),
        x="domain_size",
        y="order_p_error",
        series="mechanism",
        low="low",
        high="high",
        bars="an interval with error one in a million",
        below="lower_bound",
        floor="bound for (ε, δ)-private mechanisms",
        x_scale="log2",
        text="Errors are per query, (E‖·‖_p^p / k)^(1/p), exact, for p < ∞, and E‖·‖_∞, simulated, for p = ∞. "
        "The bound holds for every mechanism on the data that are worst for it.",
        note=trusted.NEIGHBOURS,
    ),
    seconds=seconds,
    seeded=True,
)
