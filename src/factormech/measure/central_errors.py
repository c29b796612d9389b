"""Errors of a trusted curator's mechanisms, as rows: against the domain size, the order, and the number of users.

All errors are of answers on unnormalised histograms, neighbours ‖x − x'‖₁ ≤ 1. ``error`` is the mean of order p over
the queries (E‖·‖_p^p / k)^{1/p}, exact, for p < ∞, and E‖·‖_∞ for p = ∞, simulated between ``low`` and ``high``;
``total`` is without the 1/k. ``lower`` is a certified lower end of γ₍ₚ₎ where it was asked for: no factorization has
a ``factor_error`` below it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from factormech.arrays import FloatArray, check_positive_integer
from factormech.central.gaussian import RELATION
from factormech.central.mechanism import CentralMechanism, check_users
from factormech.central.projection import ProjectedMechanism
from factormech.central.registry import build
from factormech.errors import BadValue
from factormech.local.strategy import Unavailable
from factormech.norms.registry import compute
from factormech.seeds import rng_for
from factormech.workloads.base import Workload
from factormech.workloads.registry import create

Row = dict[str, Any]
Settings = Mapping[str, Mapping[str, Any]]
# Data sets are compared by so many common draws of the noise before the worst is measured.
_SCREENING = 32


def error_rows(
    workload: str,
    domain_sizes: Sequence[int],
    mechanisms: Sequence[str],
    epsilon: float,
    delta: float,
    *,
    orders: Sequence[float] = (2.0, 4.0, math.inf),
    settings: Settings | None = None,
    users: float | None = None,
    relative_width: float = 0.02,
    seed: int = 0,
) -> Iterator[Row]:
    """A row for each domain size, mechanism and order; ``settings`` are further arguments of ``registry.build``.

    ``users`` is for approximate factorizations alone: their worst case over histograms of so many users, for p < ∞, and
    the error where all users are of the type of largest bias for p = ∞.
    """
    for n in domain_sizes:
        asked = create(workload, n, seed=seed)
        for name in mechanisms:
            common = _common(asked, name, epsilon, delta)
            built = build(name, asked, epsilon, delta, **dict((settings or {}).get(name, {})))
            if isinstance(built, Unavailable):
                yield {**common, "reason": built.reason}
                continue
            if isinstance(built, ProjectedMechanism):
                raise BadValue("mechanism", name, "have an error that is free of the data", "use few_users_rows")
            for p in orders:
                rng = rng_for(seed, "central-error", name, workload, str(n), repr(float(p)))
                yield {**common, "order": float(p), **_error(built, p, users, relative_width, rng)}


def prefix_rows(
    domain_sizes: Sequence[int],
    mechanisms: Sequence[str],
    epsilon: float,
    delta: float,
    *,
    orders: Sequence[float] = (2.0, 4.0, 8.0, math.inf),
    relative_width: float = 0.02,
    seed: int = 0,
) -> Iterator[Row]:
    """Prefix errors by factorization and order beside ``lower``; ``optimal`` is the factorization of each order."""
    for n in domain_sizes:
        workload = create("prefix", n)
        norms = {float(p): norm_name(p) for p in orders}
        lower = {p: compute(norm, workload).lower for p, norm in norms.items()}
        for name in mechanisms:
            for p, norm in norms.items():
                chosen = norm if name == "optimal" else name
                found = error_rows(
                    "prefix", [n], [chosen], epsilon, delta, orders=[p], relative_width=relative_width, seed=seed
                )
                for row in found:
                    yield {**row, "mechanism": name, "order": p, "lower": lower[p]}


def few_users_rows(
    workload: str,
    domain_size: int,
    users: Sequence[float],
    mechanisms: Sequence[str],
    epsilon: float,
    delta: float,
    *,
    settings: Settings | None = None,
    relative_width: float = 0.1,
    seed: int = 0,
) -> Iterator[Row]:
    """The root mean square error per query against the number of users, projection beside factorizations.

    Projection's error is that of the worst data found among sparse histograms (``data`` says which), between ``low``
    and ``high``; a worse one may exist. ``diameter`` is the largest error per query that answers from the body have.
    """
    asked = create(workload, domain_size, seed=seed)
    W = asked.matrix()
    diameter = float(np.sqrt(_largest_square_distance(W) / len(W)))
    for name in mechanisms:
        built = build(name, asked, epsilon, delta, **dict((settings or {}).get(name, {})))
        for count in users:
            common = {**_common(asked, name, epsilon, delta), "users": check_users(count), "order": 2.0}
            common["diameter"] = count * diameter
            if isinstance(built, Unavailable):
                yield {**common, "reason": built.reason}
            elif isinstance(built, ProjectedMechanism):
                rng = rng_for(seed, "few-users", name, workload, str(domain_size), repr(float(count)))
                yield {**common, "relation": built.relation, **_worst_found(built, count, relative_width, rng)}
            else:
                found = built.exact_error(2.0, users=count if built.factorization.approximate else None)
                yield {**common, "error": found.per_query, "total": found.total}


def crossover(rows: Sequence[Row], projection: str, factorization: str) -> float | None:
    """The number of users at which the two errors meet, by interpolation of logarithms; ``None`` where they do not."""
    curves = {}
    for name in (projection, factorization):
        points = sorted((row["users"], row["error"]) for row in rows if row["mechanism"] == name and "error" in row)
        curves[name] = np.log(np.array(points)) if points else np.empty((0, 2))
    one, other = curves[projection], curves[factorization]
    if not one.size or one.shape != other.shape or np.any(one[:, 0] != other[:, 0]):
        raise BadValue("rows", f"{len(one)} and {len(other)} points", "hold both errors at the same users", "add them")
    ahead = one[:, 1] - other[:, 1]
    crossing = np.flatnonzero((ahead[:-1] < 0.0) & (ahead[1:] >= 0.0))
    if not crossing.size:
        return None
    i = int(crossing[0])
    share = ahead[i] / (ahead[i] - ahead[i + 1])
    return float(np.exp(one[i, 0] + share * (one[i + 1, 0] - one[i, 0])))


def norm_name(p: float) -> str:
    """The norm that decides the error of this order."""
    if math.isinf(p):
        return "gamma-2"
    return "gamma-f" if p == 2.0 else f"gamma-p{p:g}"


def sparse_data(domain_size: int, users: float, rng: np.random.Generator) -> list[tuple[str, FloatArray]]:
    """Histograms of this total on 1, 2, 4, … n types, evenly spaced and at random, with their names."""
    n = check_positive_integer("domain_size", domain_size)
    found: list[tuple[str, FloatArray]] = []
    size = 1
    while size < 2 * n:
        s = min(size, n)
        supports = {f"{s} even types": ((np.arange(s) + 0.5) * n / s).astype(int)}
        if s < n:
            supports[f"{s} random types"] = rng.choice(n, s, replace=False)
        if s == 1:
            supports |= {"the first type": np.array([0]), "the last type": np.array([n - 1])}
        for name, support in supports.items():
            x = np.zeros(n)
            x[support] = users / s
            found.append((name, x))
        size *= 2
    return found


def _worst_found(mechanism: ProjectedMechanism, users: float, relative_width: float, rng: np.random.Generator) -> Row:
    """The error on the data that look worst, measured by draws that did not choose them."""
    candidates = sparse_data(mechanism.workload.domain_size, users, rng)
    state = int(rng.integers(1 << 62))
    looks = []
    for _, x in candidates:
        noisy = mechanism.simulate_release(x, np.random.default_rng(state), _SCREENING)
        looks.append(float(np.sum((noisy - mechanism.workload.answer(x)[:, None]) ** 2)))
    name, worst = candidates[int(np.argmax(looks))]
    found = mechanism.simulated_error(worst, rng, relative_width).root_mean_square
    per = math.sqrt(mechanism.workload.queries)
    ends = {"error": found.value / per, "low": found.low / per, "high": found.high / per}
    return {**ends, "total": found.value, "data": name}


def _error(
    mechanism: CentralMechanism, p: float, users: float | None, relative_width: float, rng: np.random.Generator
) -> Row:
    factors = mechanism.factorization
    row: Row = {"factor_error": factors.error(p), "sigma": mechanism.sigma, "sensitivity": mechanism.sensitivity}
    approximate = factors.approximate
    if approximate and users is None:
        raise BadValue("users", None, "be given for an approximate factorization", "give for example 1000")
    if not math.isinf(p):
        found = mechanism.exact_error(p, users=users if approximate else None)
        return {**row, "error": found.per_query, "total": found.total}
    data = None
    if approximate:
        data = np.zeros(mechanism.workload.domain_size)
        data[int(np.argmax(np.abs(factors.bias).max(axis=0)))] = check_users(users)
    simulated = mechanism.simulated_max(rng, relative_width, data=data)
    mean = simulated.mean
    extra = {"root_mean_square": simulated.root_mean_square.value, "draws": simulated.draws}
    return {**row, "error": mean.value, "total": mean.value, "low": mean.low, "high": mean.high, **extra}


def _common(workload: Workload, mechanism: str, epsilon: float, delta: float) -> Row:
    return {
        "workload": workload.name,
        "domain_size": workload.domain_size,
        "queries": workload.queries,
        "mechanism": mechanism,
        "epsilon": float(epsilon),
        "delta": float(delta),
        "relation": RELATION,
    }


def _largest_square_distance(W: FloatArray) -> float:
    G = W.T @ W
    squares = np.diagonal(G)
    return float(np.max(squares[:, None] + squares[None, :] - 2.0 * G))
