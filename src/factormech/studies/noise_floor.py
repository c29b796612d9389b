"""The least noise that hides a shift on the line: V(ε, δ) between certified ends, which every central bound multiplies.

V(ε, δ) = min E Z² over noise Z of which Z and Z + s are (ε, δ)-indistinguishable, for s = 1 (whole counts) or for
every s in [−1, 1] (real counts): :mod:`factormech.bounds.central.line`. No mechanism whose noise does not
depend on the data has a root mean square error below √V·Γ (:mod:`factormech.bounds.central.release`). Theorems 7 and
17 of Liu, Upadhyay & Zou (ICLR 2025) hold for δ below a limit; what stands for it here is the largest δ at which √V
is still half of what it is at δ = 0: up to there the bound is within a factor 2 of that for pure privacy.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from factormech.studies.axes import DELTA, EPSILON
from factormech.studies.base import NAMES, Asked, Column, Experiment, PaperTable, Problem, Setting, Shown, listed, split

SHIFTS = ("unit", "interval")
# Bisections of ln δ: the limit is right to 2^-40 of it.
_BISECTIONS = 40
_LEAST_DELTA = 1e-30
# On σ, whose calibration is right to about 1e-12.
ROUNDING = 1e-9


def measure(asked: Asked) -> Iterator[dict[str, Any]]:
    """Yield √V between its ends at every (ε, δ), and the analytic Gaussian noise over it."""
    from factormech.bounds.central.line import least_noise
    from factormech.privacy.gaussian import gaussian_noise_multiplier

    for shifts, delta, epsilon in asked.points("shifts", "delta", "epsilon"):
        found = least_noise(epsilon, delta, shifts=shifts)
        # Square roots are rounded to the nearest number: one step outward.
        lower, upper = math.nextafter(math.sqrt(found.lower), 0.0), math.nextafter(math.sqrt(found.upper), math.inf)
        row = {"shifts": shifts, "delta": delta, "epsilon": epsilon, "least_noise": lower, "least_noise_upper": upper}
        if delta > 0.0:
            sigma = gaussian_noise_multiplier(epsilon, delta)
            row |= {"analytic_sigma": sigma, "ratio_to_bound": sigma / lower if lower > 0.0 else math.inf}
        yield row | {"half_delta": half_delta(epsilon) if shifts == "unit" else math.nan, "method": found.method}


def half_delta(epsilon: float) -> float:
    """A δ, hardly less than the largest, at which the certified √V of the unit shift is at least half of that at 0."""
    from factormech.bounds.central.line import least_noise

    enough = 0.25 * least_noise(epsilon, 0.0).upper
    low, high = math.log(_LEAST_DELTA), 0.0
    for _ in range(_BISECTIONS):
        middle = 0.5 * (low + high)
        good = least_noise(epsilon, math.exp(middle)).lower >= enough
        low, high = (middle, high) if good else (low, middle)
    return math.exp(low)


def check(row: Mapping[str, Any]) -> Problem:
    """Return the problem of a row whose ends are out of order, or above the Gaussian noise."""
    if row["least_noise"] > row["least_noise_upper"]:
        return "least_noise_upper", "be at least least_noise"
    if row["delta"] > 0.0 and row["analytic_sigma"] < row["least_noise"] * (1.0 - ROUNDING):
        return "analytic_sigma", "be at least the least noise: Gaussian noise is private"
    return None


EXPERIMENT = Experiment(
    kind="noise-floor",
    description="The least (ε, δ)-private noise on the line, certified, beside Gaussian noise of sensitivity 1.",
    axes=(
        EPSILON,
        replace(
            DELTA,
            entry={
                "type": "number",
                "minimum": 0,
                "exclusiveMaximum": 1,
                "rule": "be a number of at least 0 and below 1",
            },
        ),
    ),
    settings=(
        Setting(
            "shifts",
            NAMES,
            "Shifts that are hidden: unit (whole counts), interval (every real shift up to 1).",
            ["unit"],
            default=["unit", "interval"],
            names=listed("shifts", SHIFTS),
        ),
    ),
    columns=(
        Column("shifts"),
        DELTA.column(),
        EPSILON.column(),
        Column("least_noise", at_least=0.0),
        Column("least_noise_upper", at_least=0.0),
        Column("analytic_sigma", empty="free", at_least=0.0),
        Column("ratio_to_bound", empty="free", at_least=0.0, infinite=True),
        Column("half_delta", empty="free", at_least=0.0),
        Column("method"),
    ),
    keys=("shifts", "delta", "epsilon"),
    measure=measure,
    check=check,
    parts=split("shifts"),
    figure="factormech.plots.noise_floor",
    tables=(
        PaperTable(
            rows=("shifts", "delta", "epsilon"),
            shown=(
                Shown("least_noise_upper", label="least noise √V", low="least_noise"),
                Shown("analytic_sigma"),
                Shown("ratio_to_bound"),
            ),
        ),
    ),
    seconds=lambda asked: sum(
        0.5 if shifts == "interval" else 0.2 for shifts, *_ in asked.points("shifts", *asked.grid)
    ),
)
