"""What random matrices of few rows do to a body of answers: distances between its vertices, and its width.

The largest distortion of a distance falls like w(K)/√ℓ (Nikolov, SODA 2023, Theorem 2.5): √ℓ times it over w(K) stays
bounded. E w(TK) ≲ w(K) (Lemma 2.8); for Gaussian T it is c_ℓ·w(K), c_ℓ = √(2/ℓ)·Γ((ℓ+1)/2)/Γ(ℓ/2) < 1
(:mod:`factormech.mechanisms.pure.errors`). Distances are between vertices: inner points of K are left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from factormech.errors import BadValue
from factormech.studies.axes import DOMAIN_SIZE, WORKLOAD
from factormech.studies.base import Asked, Axis, Column, Curves, Experiment, Problem, Setting, split

RATE, RATIO = QUANTITIES = ("distance-rate", "width-ratio")
# Of means over matrices, and of w(K) relative to it.
LEVEL, WIDTH = 1e-3, 0.01
SIZE = replace(DOMAIN_SIZE, default=(64,))
ROWS = Axis("jl_rows", {"type": "integer", "minimum": 1, "maximum": 4096}, 16)
MATRIX = Axis("matrix", {"type": "string", "enum": ["gaussian", "signs"]}, "gaussian", default=("gaussian", "signs"))
MATRICES = Setting(
    "matrices", {"type": "integer", "minimum": 2, "maximum": 100000}, "How many random matrices.", 60, default=60
)


def measure(asked: Asked) -> Iterator[dict[str, Any]]:
    """Yield both quantities for every body, matrix and number of rows."""
    from factormech.mechanisms.pure.bodies import gaussian_width
    from factormech.mechanisms.pure.errors import distortion, width_factor
    from factormech.seeds import rng_for
    from factormech.studies.asked import workload_of

    for name, N in asked.points("workload", "domain_size"):
        Q = workload_of(asked, name, N).matrix()
        width = gaussian_width(Q, rng_for(asked.seed, "jl-distortion", name, str(N)), WIDTH).mean.value
        for matrix, rows in asked.points("matrix", "jl_rows"):
            rng = rng_for(asked.seed, "jl-distortion", name, str(N), matrix, str(rows))
            found = distortion(Q, rows, matrix, width, rng, matrices=asked["matrices"], level=LEVEL)
            here = {"workload": name, "domain_size": N, "matrix": matrix, "jl_rows": rows}
            here |= {"width": width, "factor": width_factor(rows), "distortion": found.distance.value}
            for quantity, estimate in zip(QUANTITIES, (found.rate, found.width_ratio), strict=True):
                ends = {"ratio_to_width": estimate.value, "low": max(0.0, estimate.low), "high": estimate.high}
                yield here | {"quantity": quantity} | ends


def refuse(asked: Asked) -> Iterator[BadValue]:
    """Refuse several domain sizes: a panel is a workload."""
    if len(asked["domain_size"]) > 1:
        yield BadValue("grid.domain_size", list(asked["domain_size"]), "be one number", "make a study for each")


def check(row: Mapping[str, Any]) -> Problem:
    """Return the problem of a row whose interval is out of order, or misses the exact width under Gaussian matrices."""
    if not row["low"] <= row["ratio_to_width"] <= row["high"]:
        return "ratio_to_width", "be between low and high"
    if row["matrix"] == "gaussian" and row["quantity"] == RATIO:
        slack = (row["high"] - row["low"]) + 2.0 * WIDTH
        if abs(row["ratio_to_width"] - row["factor"]) > slack:
            return "ratio_to_width", "be near factor, the exact E w(TK)/w(K) of Gaussian matrices"
    return None


EXPERIMENT = Experiment(
    kind="jl-distortion",
    description="Distortion of distances and of the width of a body of answers by random matrices, over their rows.",
    axes=(WORKLOAD, SIZE, MATRIX, ROWS),
    settings=(MATRICES,),
    columns=(
        WORKLOAD.column(),
        SIZE.column(),
        Column("quantity"),
        MATRIX.column(),
        ROWS.column(),
        Column("ratio_to_width", at_least=0.0),
        Column("low", at_least=0.0),
        Column("high", at_least=0.0),
        Column("factor", at_least=0.0),
        Column("distortion", at_least=0.0),
        Column("width", at_least=0.0),
    ),
    keys=("workload", "quantity", "matrix", "jl_rows"),
    measure=measure,
    check=check,
    refuse=refuse,
    parts=split("workload"),
    figure=Curves(
        panel="workload",
        x="jl_rows",
        y="ratio_to_width",
        series="quantity",
        dash="matrix",
        low="low",
        high="high",
        bars="a 99.9 % interval over matrices",
        references=("factor",),
        x_scale="log2",
        text=(
            "Distortion: the mean over T of the largest |‖T(v − v')‖ − ‖v − v'‖| over vertices of K, which is at most "
            "that over all of K"
        ),
    ),
    seconds=lambda asked: 0.3 + 1e-7 * float(sum(asked["jl_rows"]) * sum(asked["domain_size"]) ** 2 * 2),
    seeded=True,
)
