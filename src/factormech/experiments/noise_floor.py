"""The least noise that hides a shift on the line: V(ε, δ) between certified ends, which every central bound multiplies.

V(ε, δ) = min E Z² over noise Z of which Z and Z + s are (ε, δ)-indistinguishable, for s = 1 (whole counts) or for
every s in [−1, 1] (real counts): :mod:`factormech.bounds.central.one_dimensional`. No mechanism whose noise does not
depend on the data has a root mean square error below √V·Γ (:mod:`factormech.bounds.central.release`). Theorems 7 and
17 of Liu, Upadhyay & Zou (ICLR 2025) hold for δ below a limit; what stands for it here is the largest δ at which √V
is still half of what it is at δ = 0: up to there the bound is within a factor 2 of that for pure privacy.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from factormech.errors import UnknownName
from factormech.experiments.axes import DELTA, EPSILON
from factormech.experiments.base import Asked, Column, Experiment, Family, PaperTable, Problem, Setting, Shown, split

SHIFTS = ("unit", "interval")
# Bisections of ln δ: the limit is right to 2^-40 of it.
_BISECTIONS = 40
_LEAST_DELTA = 1e-30
# On σ, whose calibration is right to about 1e-12.
ROUNDING = 1e-9


def measure(asked: Asked) -> Iterator[dict[str, Any]]:
    """√V between its ends at every (ε, δ), and the analytic Gaussian noise over it."""
    from factormech.bounds.central.one_dimensional import least_noise
    from factormech.gaussian import gaussian_noise_multiplier

    for shifts, delta, epsilon in asked.points("shifts", "delta", "epsilon"):
        found = least_noise(epsilon, delta, shifts=shifts)
        # Square roots are rounded to the nearest number: one step outward.
        lower, upper = math.nextafter(math.sqrt(found.lower), 0.0), math.nextafter(math.sqrt(found.upper), math.inf)
        row = {"shifts": shifts, "delta": delta, "epsilon": epsilon, "lower": lower, "upper": upper}
        if delta > 0.0:
            sigma = gaussian_noise_multiplier(epsilon, delta)
            row |= {"gaussian_sigma": sigma, "ratio": sigma / lower if lower > 0.0 else math.inf}
        yield row | {"half_delta": half_delta(epsilon) if shifts == "unit" else math.nan, "method": found.method}


def half_delta(epsilon: float) -> float:
    """A δ, hardly less than the largest, at which the certified √V of the unit shift is at least half of that at 0."""
    from factormech.bounds.central.one_dimensional import least_noise

    enough = 0.25 * least_noise(epsilon, 0.0).upper
    low, high = math.log(_LEAST_DELTA), 0.0
    for _ in range(_BISECTIONS):
        middle = 0.5 * (low + high)
        good = least_noise(epsilon, math.exp(middle)).lower >= enough
        low, high = (middle, high) if good else (low, middle)
    return math.exp(low)


def check(row: Mapping[str, Any]) -> Problem:
    """The ends are in order, and Gaussian noise, which hides every shift, is not below."""
    if row["lower"] > row["upper"]:
        return "upper", "be at least lower"
    if row["delta"] > 0.0 and row["gaussian_sigma"] < row["lower"] * (1.0 - ROUNDING):
        return "gaussian_sigma", "be at least the least noise: Gaussian noise is private"
    return None


def _check_shifts(name: str) -> None:
    if name not in SHIFTS:
        raise UnknownName("shifts", name, SHIFTS)


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
            description="Failure probabilities δ; 0 is pure privacy.",
        ),
    ),
    settings=(
        Setting(
            "shifts",
            {"type": "array", "minItems": 1, "uniqueItems": True, "items": {"type": "string"}},
            "Shifts that are hidden: unit (whole counts), interval (every real shift up to 1).",
            ["unit"],
            default=["unit", "interval"],
            names=Family(lambda: SHIFTS, _check_shifts),
        ),
    ),
    columns=(
        Column("shifts", "text", "shifts that are hidden", description="unit, or interval: all in [−1, 1]."),
        DELTA.column(),
        EPSILON.column(),
        Column("lower", "number", "least noise √V", "√V ≥", "Certified lower end of √V.", at_least=0.0),
        Column("upper", "number", "least noise √V, from above", "√V ≤", "Root mean square of a noise.", at_least=0.0),
        Column("gaussian_sigma", "number", "Gaussian σ", "σ", "The analytic σ; none at δ = 0.", "free", at_least=0.0),
        Column("ratio", "number", "σ over √V", "σ/√V", "Over the lower end.", "free", at_least=0.0, infinite=True),
        Column(
            "half_delta",
            "number",
            "largest δ of half the pure floor",
            "δ½",
            "Up to this δ, √V of the unit shift is at least half of that at δ = 0.",
            "free",
            at_least=0.0,
        ),
        Column("method", "text", "method", description="closed form, hull (exact to rounding) or linear program."),
    ),
    keys=("shifts", "delta", "epsilon"),
    measure=measure,
    check=check,
    parts=split("shifts"),
    figure="factormech.figures.noise_floor",
    tables=(
        PaperTable(
            rows=("shifts", "delta", "epsilon"),
            shown=(Shown("upper", label="least noise √V", low="lower"), Shown("gaussian_sigma"), Shown("ratio")),
        ),
    ),
    seconds=lambda asked: sum(
        0.5 if shifts == "interval" else 0.2 for shifts, *_ in asked.points("shifts", *asked.grid)
    ),
)
