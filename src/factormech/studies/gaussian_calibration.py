"""How much noise Gaussian mechanisms add: the analytic calibration beside the classical one.

At sensitivity 1, N(0, σ²) is (ε, δ)-private exactly if Φ(1/(2σ) − εσ) − e^ε Φ(−1/(2σ) − εσ) ≤ δ (Balle & Wang, ICML
2018, Theorem 8); the least such σ is the analytic one. The classical σ = √(2 ln(1.25/δ))/ε is that of Dwork & Roth
("The Algorithmic Foundations of Differential Privacy", 2014, Theorem A.1), proved for ε < 1 only; the mechanisms of
Liu, Upadhyay & Zou (arXiv:2406.02140) and of Edmonds, Nikolov & Ullman (STOC 2020) are stated with noise of its order.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from factormech.studies.axes import DELTA, EPSILON
from factormech.studies.base import REASON, Asked, Column, Curves, Experiment, Problem

ANALYTIC, CLASSICAL = CALIBRATIONS = ("analytic", "classical")
# A bound on rounding where σ is held against the analytic one.
ROUNDING = 1e-9


def measure(asked: Asked) -> Iterator[dict[str, Any]]:
    """Yield σ by both calibrations at every (ε, δ), and the classical one over the analytic one."""
    from factormech.privacy.gaussian import gaussian_delta, gaussian_noise_multiplier

    for delta, epsilon in asked.points("delta", "epsilon"):
        analytic = gaussian_noise_multiplier(epsilon, delta)
        point = {"delta": delta, "epsilon": epsilon, "analytic_sigma": analytic}
        yield {
            **point,
            "calibration": ANALYTIC,
            "sigma": analytic,
            "ratio_to_analytic": 1.0,
            "spent_delta": gaussian_delta(analytic, epsilon),
        }
        row = {**point, "calibration": CLASSICAL}
        if epsilon >= 1.0:
            yield {**row, "reason": "proved for ε < 1 only"}
            continue
        classical = math.sqrt(2.0 * math.log(1.25 / delta)) / epsilon
        spent = gaussian_delta(classical, epsilon)
        yield {**row, "sigma": classical, "ratio_to_analytic": classical / analytic, "spent_delta": spent}


def check(row: Mapping[str, Any]) -> Problem:
    """Return the problem of a row whose σ is below the smallest private one, or spends more than δ."""
    if row["ratio_to_analytic"] < 1.0 - ROUNDING:
        return "ratio_to_analytic", "be at least 1: less noise is not private"
    if row["spent_delta"] > row["delta"] * (1.0 + ROUNDING):
        return "spent_delta", "be at most δ"
    return None


EXPERIMENT = Experiment(
    kind="gaussian-calibration",
    description="The least Gaussian noise that is (ε, δ)-private, at sensitivity 1, beside the classical calibration.",
    axes=(EPSILON, DELTA),
    columns=(
        DELTA.column(),
        EPSILON.column(),
        Column("calibration"),
        Column("sigma", empty="reason", at_least=0.0),
        Column("ratio_to_analytic", empty="reason", at_least=0.0),
        Column("spent_delta", empty="reason", at_least=0.0),
        Column("analytic_sigma", at_least=0.0),
        REASON,
    ),
    keys=("delta", "epsilon", "calibration"),
    measure=measure,
    check=check,
    figure=Curves(
        panel="delta",
        x="epsilon",
        y="sigma",
        series="calibration",
        below="analytic_sigma",
        x_scale="log",
        text="The analytic noise is the least that is (ε, δ)-private; the classical one is proved for ε < 1.",
    ),
    seconds=lambda asked: 1e-3 * len(list(asked.points())),
)
