"""Mechanisms that answer workloads from local reports, measured: how many users they need, and how wrong they are.

Rows are plain dictionaries of equal keys; a mechanism that does not exist at a point has the reason in ``reason``, an
empty one where it does.

* ``predicted_users``: the central-limit number for every data vector; a prediction.
* ``guaranteed_users``: proved for every data vector.
* ``predicted_drawn``, ``guaranteed_drawn``: the same for users that are drawn from a distribution and errors from its
  answers, for every distribution, which is what lower bounds are about (``mechanisms/local/factorized/release.py``).

``delta`` is that of the mechanism as it was built, 0 where it is purely private. Errors are those of averages over the
users, in the largest absolute value over the queries.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from factormech.arrays import FloatArray
from factormech.errors import Unavailable

# Sources are imported for their code: what is behind a registry alone is not seen where code tells what is stale.
from factormech.mechanisms.local.factorized import registry, release, sources  # noqa: F401
from factormech.mechanisms.local.factorized.release import LocalRelease, simulate
from factormech.mechanisms.local.factorized.releases import FactorizationRelease
from factormech.mechanisms.local.populations import population
from factormech.seeds import rng_for
from factormech.workloads.base import Workload

_NO_USERS: dict[str, Any] = {
    **dict.fromkeys(("distance", "norm_product", "worst_answer_variance", "privacy_loss"), math.nan),
    **dict.fromkeys(("predicted_users", "guaranteed_users", "predicted_drawn", "guaranteed_drawn", "dimension"), 0),
}
_NO_ERROR: dict[str, Any] = {
    **dict.fromkeys(("measured_error", "measured_low", "measured_high", "gaussian_error", "predicted_error"), math.nan),
    **dict.fromkeys(("guaranteed_error", "measured_l2", "exact_l2", "l2_deviations", "level"), math.nan),
    "trials": 0,
    "stopped": "",
}


def sample_complexity(
    workload: Workload,
    epsilon: float,
    alpha: float,
    mechanism: str,
    *,
    randomizer: str = "half-sphere",
    delta: float | None = None,
    seed: int = 0,
    root_seed: int = 0,
) -> dict[str, Any]:
    """The users that a mechanism needs for expected ℓ_∞ error α: one row; the seeds are those of its solver."""
    built = registry.build(
        mechanism, workload, epsilon, alpha=alpha, randomizer=randomizer, delta=delta, seed=seed, root_seed=root_seed
    )
    row = _point(workload, epsilon, alpha, mechanism, randomizer, built, root_seed)
    if isinstance(built, Unavailable):
        return {**row, "reason": built.reason, **_NO_USERS}
    if built.distance >= alpha:
        return {**row, "reason": f"it is {built.distance:.3g} away from the workload", **_NO_USERS}
    return {
        **row,
        "reason": "",
        "distance": built.distance,
        "norm_product": built.norm_product if isinstance(built, FactorizationRelease) else math.nan,
        "worst_answer_variance": float(built.query_variances.max()),
        "privacy_loss": built.privacy_loss(),
        "predicted_users": built.predicted_users(alpha),
        "guaranteed_users": built.guaranteed_users(alpha),
        "predicted_drawn": release.predicted_users(built, alpha),
        "guaranteed_drawn": release.guaranteed_users(built, alpha),
        "dimension": built.dimension if isinstance(built, FactorizationRelease) else 0,
    }


def errors(
    workload: Workload,
    epsilon: float,
    alpha: float,
    mechanism: str,
    users: Sequence[int],
    *,
    data: str = "uniform",
    randomizer: str = "half-sphere",
    delta: float | None = None,
    relative_width: float = 0.02,
    level: float = 0.01,
    root_seed: int = 0,
) -> Iterator[dict[str, Any]]:
    """Measured errors against the number of users, with the predicted curves: one row for each of ``users``.

    The mechanism is built once, for accuracy ``alpha``. ``data`` is a population of
    ``mechanisms/local/populations.py``; every mechanism sees the same users.
    """
    built = registry.build(
        mechanism, workload, epsilon, alpha=alpha, randomizer=randomizer, delta=delta, root_seed=root_seed
    )
    for n in users:
        row = {**_point(workload, epsilon, alpha, mechanism, randomizer, built, root_seed), "data": data, "users": n}
        reason = built.reason if isinstance(built, Unavailable) else built.simulation_refusal(n)
        if isinstance(built, Unavailable) or reason:
            yield {**row, "reason": reason, **_NO_ERROR}
        else:
            yield {**row, "reason": "", **_measured(built, row, relative_width, level)}


def _measured(built: LocalRelease, row: dict[str, Any], relative_width: float, level: float) -> dict[str, Any]:
    n, seed = row["users"], row["root_seed"]
    counts = population(row["data"], built.domain_size, n, seed)
    axes = [str(row[key]) for key in ("workload", "domain_size", "epsilon", "alpha", "mechanism", "randomizer", "data")]
    rng = rng_for(seed, "local-release", *axes, str(n))
    found = simulate(built, counts, rng, relative_width=relative_width, level=level)
    exact = built.l2_error(counts)
    return {
        "measured_error": found.mean,
        "measured_low": found.low,
        "measured_high": found.high,
        "gaussian_error": built.gaussian_error(counts, rng)[0],
        "predicted_error": built.predicted_error(n),
        "guaranteed_error": built.guaranteed_error(n),
        "measured_l2": float(found.squares.mean()),
        "exact_l2": exact,
        "l2_deviations": _deviations(found.squares, exact),
        "level": level,
        "trials": found.trials,
        "stopped": found.stopped,
    }


def _deviations(squares: FloatArray, exact: float) -> float:
    """Return how many standard errors the mean of the squared errors is off; 0 for a mechanism without noise."""
    error = float(squares.std(ddof=1)) / math.sqrt(len(squares))
    off = float(squares.mean()) - exact
    return off / error if abs(off) > 1e-9 * exact else 0.0


def _point(
    workload: Workload,
    epsilon: float,
    alpha: float,
    mechanism: str,
    randomizer: str,
    built: LocalRelease | Unavailable,
    root_seed: int,
) -> dict[str, Any]:
    return {
        "workload": workload.name,
        "domain_size": workload.domain_size,
        "queries": workload.queries,
        "epsilon": epsilon,
        "alpha": alpha,
        "mechanism": mechanism,
        "randomizer": randomizer if registry.uses_randomizer(mechanism) else "",
        "delta": math.nan if isinstance(built, Unavailable) else built.delta,
        "root_seed": root_seed,
    }
