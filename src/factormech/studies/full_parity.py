"""Full parity under pure privacy: errors against Nε of exact K-norm noise, with and without projection, and Laplace.

All N parities of n types have a simplex for their body: K-norm noise is drawn by its exact law and the projection is a
sort (:mod:`factormech.mechanisms.pure.parity`). The error is E‖·‖₂/√k, a mean of norms; below is what packings and
means over data prove of every ε-private mechanism (:mod:`factormech.studies.measures.pure`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from factormech.errors import BadValue
from factormech.studies import pure
from factormech.studies.base import Asked, Column, Curves, Experiment, Setting, split
from factormech.studies.sweeps import swept

TRIALS = Setting(
    "trials",
    {"type": "integer", "minimum": 4, "maximum": 10000},
    "How many draws of noise all data sets and numbers of users share.",
    100,
    default=100,
)


def measure(asked: Asked) -> Iterator[dict[str, Any]]:
    """Yield the errors of the three mechanisms at every N and Nε, on draws that all data share."""
    from factormech.mechanisms.central.moments import student
    from factormech.mechanisms.pure.parity import parity_errors
    from factormech.seeds import rng_for
    from factormech.studies.measures.pure import LEVEL, parity_laplace_norm, parity_rows, sparsities_to, users_of

    products, epsilon = asked["users_times_epsilon"], asked["epsilon"]
    users = [users_of(product, epsilon) for product in products]
    for N in asked["domain_size"]:
        rng = rng_for(asked.seed, "full-parity", str(N))
        errors = parity_errors(N, epsilon, users, sparsities_to(N, max(users)), rng, asked["trials"])
        raw, laplace = student(errors.raw, LEVEL), parity_laplace_norm(N)
        bounds = parity_rows([N], products, epsilon)
        for i, (product, n, bound) in enumerate(zip(products, users, bounds, strict=True)):
            here = {"domain_size": N, "epsilon": epsilon, "users_times_epsilon": product, "users": n}
            here |= {
                "lower_bound": bound["lower"],
                "bound_method": bound["method"],
                "set_size": bound["set_size"],
            }
            scale = n * epsilon
            yield here | {"mechanism": pure.LAPLACE} | dict.fromkeys(("l2_error", "low", "high"), laplace / scale)
            yield here | {"mechanism": pure.RAW} | _ends(raw.value / scale, raw.low / scale, raw.high / scale)
            sparsity, worst = errors.worst(i, LEVEL)
            found = _ends(worst.value, worst.low, worst.high)
            yield here | {"mechanism": pure.PROJECTED, "sparsity": sparsity} | found


def _ends(value: float, low: float, high: float) -> dict[str, float]:
    return {"l2_error": value, "low": max(0.0, low), "high": high}


def refuse(asked: Asked) -> Iterator[BadValue]:
    """Refuse numbers of types that are no power of two, and products Nε of no whole number of users."""
    yield from pure.refuse_sizes(asked)
    yield from pure.refuse_products(asked)


def _seconds(asked: Asked) -> float:
    """Draws and sorts."""
    sorts = sum(N * min(17, N.bit_length()) for N in asked["domain_size"]) * len(asked["users_times_epsilon"])
    return 0.8 + 8e-9 * float(sorts * asked["trials"])


_KIND = Experiment(
    kind="full-parity",
    description="Errors of pure mechanisms on all parities against Nε, above the packing bound.",
    axes=(pure.TYPES, pure.PRODUCT),
    settings=(TRIALS,),
    columns=(
        pure.TYPES.column(),
        pure.SPENT,
        Column("mechanism"),
        pure.PRODUCT.column(),
        pure.USERS,
        pure.ERROR,
        pure.LOW,
        pure.HIGH,
        pure.SPARSITY,
        pure.LOWER,
        pure.METHOD,
        Column("set_size", empty="free", at_least=1.0),
    ),
    keys=("domain_size", "mechanism", "users_times_epsilon"),
    measure=measure,
    check=pure.check_errors,
    refuse=refuse,
    parts=split("domain_size"),
    figure=Curves(
        panel="domain_size",
        x="users_times_epsilon",
        y="l2_error",
        series="mechanism",
        low="low",
        high="high",
        bars="a 99.9 % interval",
        below="lower_bound",
        floor="bound for ε-private mechanisms",
        x_scale="log",
        text=(
            f"{pure.MEANING} With the projection it is that of the worst data found, evenly spread over 1, 2, 4 … n "
            f"types; without, of all data. K-norm noise is drawn by its exact law; {pure.FALL_SHORT}"
        ),
    ),
    seconds=_seconds,
    seeded=True,
)
EXPERIMENT = swept(_KIND, pure.EPSILON)
