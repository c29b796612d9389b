"""Users that full parity takes for an error α under pure privacy, against 1/α, with local slopes.

Above: the users at which simulated errors reach α, on the worst data found. Below: certified, by packings and means
over data (:mod:`factormech.bounds.packing.lower`). Noise alone has N ∝ 1/α; the projection makes it up to 1/α² where
users are few next to the types.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from typing import Any

from factormech.studies import pure
from factormech.studies.base import Asked, Axis, Column, Experiment, PaperTable, Problem, Setting, Shown, split
from factormech.studies.sweeps import swept

# Numbers of the noise that is kept for all numbers of users; more of it is drawn again for each, from the same seed.
_KEPT = 2**22
ACCURACY = Axis("accuracy", {"type": "number", "exclusiveMinimum": 1, "maximum": 10000}, 8.0)
TRIALS = Setting(
    "trials",
    {"type": "integer", "minimum": 4, "maximum": 1000},
    "How many draws of noise all data sets and numbers of users share.",
    24,
    default=24,
)


def measure(asked: Asked) -> Iterator[dict[str, Any]]:
    """Yield the users of the three mechanisms at every N and 1/α, with slopes between neighbouring values of 1/α."""
    from factormech.studies.measures.pure import local_slopes, parity_users_rows

    x, epsilon = sorted(asked["accuracy"]), asked["epsilon"]
    alphas = [1.0 / value for value in x]
    for N in asked["domain_size"]:
        below = list(parity_users_rows([N], alphas, epsilon))
        for mechanism, found in _needed(asked, N, alphas).items():
            slopes = local_slopes(x, [row["measured_users"] for row in found])
            for accuracy, alpha, row, bound, slope in zip(x, alphas, found, below, slopes, strict=True):
                yield {
                    "domain_size": N,
                    "epsilon": epsilon,
                    "mechanism": mechanism,
                    "accuracy": accuracy,
                    "alpha": alpha,
                    **row,
                    "local_slope": slope,
                    "certified_users": bound["users"],
                    "lower_slope": bound["slope"],
                    "bound_method": bound["method"],
                }


def _needed(asked: Asked, N: int, alphas: list[float]) -> dict[str, list[dict[str, Any]]]:
    """Users of each mechanism for each α."""
    from factormech.studies.measures.pure import parity_laplace_norm, users_within

    epsilon = asked["epsilon"]
    search = _search(asked, N)
    raw = float(search(1)[2])
    found: dict[str, list[dict[str, Any]]] = {pure.LAPLACE: [], pure.RAW: [], pure.PROJECTED: []}
    for alpha in alphas:
        for name, norm in ((pure.LAPLACE, parity_laplace_norm(N)), (pure.RAW, raw)):
            found[name].append({"measured_users": max(1, math.ceil(norm / (epsilon * alpha)))})
        users, _ = users_within(lambda n: search(n)[0], alpha)
        found[pure.PROJECTED].append({"measured_users": users, "sparsity": search(users)[1]})
    return found


def _search(asked: Asked, N: int) -> Callable[[int], tuple[float, int, float]]:
    """n ↦ error with the projection on the worst data found, their types, and E‖εu‖; all n have the same noise."""
    from factormech.mechanisms.pure.parity import errors_with, noise_by_draw
    from factormech.seeds import rng_for
    from factormech.studies.measures.pure import sparsities_to

    epsilon, trials = asked["epsilon"], asked["trials"]

    def drawn() -> Iterable[Any]:
        return noise_by_draw(N, epsilon, rng_for(asked.seed, "full-parity-users", str(N)), trials)

    kept = list(drawn()) if trials * N <= _KEPT else []

    @cache
    def error(n: int) -> tuple[float, int, float]:
        errors = errors_with(kept or drawn(), N, epsilon, [n], sparsities_to(N, n), trials)
        sparsity, worst = errors.worst(0)
        return worst.value, sparsity, float(errors.raw.mean())

    return error


def check(row: Mapping[str, Any]) -> Problem:
    """Return the problem of a row with fewer users than are proved to be needed."""
    return (
        None if row["measured_users"] >= row["certified_users"] else ("measured_users", "be at least certified_users")
    )


def _seconds(asked: Asked) -> float:
    sorts = sum(N * min(17, N.bit_length()) for N in asked["domain_size"]) * len(asked["accuracy"])
    return 0.8 + 7e-8 * float(sorts * asked["trials"])


_KIND = Experiment(
    kind="full-parity-users",
    description="Users that all parities take under pure privacy, against 1/α, with slopes, above the packing bound.",
    axes=(pure.TYPES, ACCURACY),
    settings=(TRIALS,),
    columns=(
        pure.TYPES.column(),
        pure.SPENT,
        Column("mechanism"),
        ACCURACY.column(),
        Column("alpha", at_least=0.0),
        Column("measured_users", at_least=1),
        Column("local_slope", empty="free"),
        pure.SPARSITY,
        Column("certified_users", at_least=1),
        Column("lower_slope", empty="free"),
        pure.METHOD,
    ),
    keys=("domain_size", "mechanism", "accuracy"),
    measure=measure,
    check=check,
    refuse=pure.refuse_sizes,
    parts=split("domain_size"),
    figure="factormech.plots.full_parity_users",
    tables=(
        PaperTable(
            rows=("domain_size", "epsilon", "accuracy"),
            columns=("mechanism",),
            shown=(Shown("measured_users"),),
            best="min",
            bound="certified_users",
        ),
    ),
    seconds=_seconds,
    seeded=True,
)
EXPERIMENT = swept(_KIND, pure.EPSILON)
