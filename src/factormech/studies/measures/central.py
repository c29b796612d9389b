"""Errors of a trusted curator's mechanisms and their lower bounds, as rows of tables.

**The factorization mechanism and lower bounds.** Upper: Wx + R·N(0, σ²‖A‖²_{1→2}I) with the analytic σ of (ε, δ) at
sensitivity 1 and RA = W nearly attaining Γ_p = k^{1/p}γ₍ₚ₎ (as in ``bounds/central/release.py``): (E‖·‖_p^p)^{1/p} =
σ·m_p·Γ_p, m_p = √2(Γ((p+1)/2)/√π)^{1/p}; at p = ∞, (E‖·‖²_∞)^{½} ≤ σ·√(2 ln k + 2)·Γ_∞, as the largest of k squares
exceeds t with probability at most k·e^{−t/2}. Neighbours differ by one in one count. The lower end is √V(ε, δ)·Γ_p;
the ratio is σ·m_p/√V, times the norm's own gap.

**Errors by order, and against the number of users.** All errors are of answers on unnormalised histograms; every row
has the neighbours that the guarantee is about. ``error`` is the mean of order p over the queries, (E‖·‖_p^p /
k)^{1/p}, exact, for p < ∞, and E‖·‖_∞ for p = ∞, simulated between ``low`` and ``high``; ``total`` is without the
1/k.

``lower_bound`` is below the ``error`` of every mechanism, whatever it does with the data, on the data that are worst
for it: √V(ε, δ)·γ₍ₚ₎ for p < ∞ and V₁(ε, δ)·γ₂ for E‖·‖_∞ (:mod:`factormech.bounds.central.release`), where √V·γ₂
holds for the root mean square of ‖·‖_∞. It asks for privacy when one count changes by one only, which is less than the
mechanisms have. Where γ₍ₚ₎ has no solver of a bearable size, γ_F ≤ γ₍ₚ₎ stands in.

**Few users.** A projection needs a public total, and its neighbours have the same: ‖x − x'‖₁ ≤ 1 of real numbers, so
that half a user moves. Replacing one user is two such steps. On the histograms x = u/2, u of whole numbers and of
total 2N, one step replaces one unit of u, so that the bound for a user replaced holds with W/2 and 2N users.

**Known factorizations of prefix sums.** They stand beside the optimal one, in errors of every order. The error of
order p of W = RA is n^{−1/p}(Σ_i ‖R_i‖^p)^{1/p} max_j ‖A_j‖: what a Gaussian of unit scale leaves in the answers at
sensitivity one, as a mean of order p over the queries. Liu, Upadhyay & Zou (arXiv:2406.02140, ICLR 2025) leave out
n^{−1/p}; their theorem on prefix sums says that for every p the optimum grows as the logarithm.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from factormech.arrays import FloatArray, check_positive_integer
from factormech.bounds.central.line import least_noise
from factormech.bounds.central.published import PublishedSize
from factormech.bounds.central.release import ONE_COUNT, CentralBound, general_bound, replacement_bounds
from factormech.errors import BadValue, Unavailable, UnknownName
from factormech.mechanisms.central import registry as central_registry
from factormech.mechanisms.central.mechanism import CentralMechanism, check_users
from factormech.mechanisms.central.projection import ProjectedMechanism
from factormech.mechanisms.central.solved import refusal
from factormech.norms import registry
from factormech.norms.certificates import trace_bound
from factormech.norms.ordered_factors import CLASSICAL, classical
from factormech.norms.ordered_factors import trace_bound as trace_bound_of_prefix_errors
from factormech.norms.registry import quantity
from factormech.norms.weighted import checked_exponent
from factormech.numerics.rounding import above, below
from factormech.privacy.gaussian import gaussian_noise_multiplier
from factormech.seeds import rng_for
from factormech.workloads.base import Workload

if TYPE_CHECKING:
    import pandas as pd


# The factorization mechanism and lower bounds.


def gaussian_moment(p: float, queries: int) -> float:
    """m_p of a standard normal variable; at p = ∞, √(2 ln k + 2), which is above the largest's root mean square."""
    p = checked_exponent(p)
    if math.isinf(p):
        return math.sqrt(2.0 * math.log(queries) + 2.0)
    return math.sqrt(2.0) * math.exp((math.lgamma(0.5 * (p + 1.0)) - 0.5 * math.log(math.pi)) / p)


def workload_rows(
    workloads: Iterable[Workload], exponents: Sequence[float], budgets: Sequence[tuple[float, float]]
) -> Iterator[dict[str, Any]]:
    """One row per workload, p and (ε, δ): totals, in counts. The norm is solved once per workload and p."""
    for workload in workloads:
        for p in exponents:
            p = checked_exponent(p)
            name = {2.0: "gamma-f", math.inf: "gamma-2"}.get(p, "gamma-p")
            found = registry.solve(name, workload, p=p if name == "gamma-p" else None)
            k = workload.queries
            scale = k ** (1.0 / p)
            ends = below(found.lower * scale, 16), above(found.upper * scale, 16)
            trace = trace_bound(workload, p, normalised=False)
            subject = {"workload": workload.name, "domain_size": workload.domain_size, "queries": k}
            yield from _rows(subject, p, k, ends, trace, budgets)


def published_rows(
    entries: Iterable[PublishedSize], budgets: Sequence[tuple[float, float]]
) -> Iterator[dict[str, Any]]:
    """The same for the papers' families, from closed forms, beside the published growth."""
    for entry in entries:
        subject = {
            "workload": entry.family,
            "size": entry.size,
            "width_of_query": entry.width_of_query,
            "queries": entry.queries,
            "growth": entry.growth,
            "setting": entry.setting,
            "source": entry.source,
            "polytope_width": entry.polytope_width,
        }
        ends = (entry.norm_lower, entry.norm_upper)
        yield from _rows(subject, entry.p, entry.queries, ends, math.nan, budgets)


def _rows(
    subject: dict[str, Any], p: float, k: int, ends: tuple[float, float], trace: float,
    budgets: Sequence[tuple[float, float]],
) -> Iterator[dict[str, Any]]:  # fmt: skip
    for epsilon, delta in budgets:
        if delta == 0.0:
            raise BadValue("delta", delta, "be above 0: Gaussian noise has no pure privacy", "give for example 1e-6")
        noise = least_noise(epsilon, delta)
        root = below(math.sqrt(noise.lower), 2)
        sigma = gaussian_noise_multiplier(epsilon, delta)
        upper, lower = above(sigma * gaussian_moment(p, k) * ends[1], 32), below(root * ends[0], 2)
        yield {
            **subject,
            "p": p,
            "epsilon": epsilon,
            "delta": delta,
            "relation": ONE_COUNT,
            "scaled_norm_lower": ends[0],
            "scaled_norm_upper": ends[1],
            "analytic_sigma": sigma,
            "least_noise": root,
            "total_error": upper,
            "lower_bound": lower,
            "trace_lower": below(root * trace, 2) if not math.isnan(trace) else trace,
            "ratio_to_bound": upper / lower if lower > 0.0 else math.inf,
        }


# Errors by order, and against the number of users.

Row = dict[str, Any]
# The factors of the norm of each order.
OPTIMAL = "optimal"
# Data sets are compared by so many common draws of the noise before the worst is measured.
_SCREENING = 32
# The norm of a matrix of differences is solved up to so many entries; beyond, its trace bound stands in.
_LARGEST_DIFFERENCES = 1 << 17


def error_rows(
    workload: Workload,
    mechanisms: Sequence[str],
    orders: Sequence[float],
    epsilon: float,
    delta: float,
    *,
    relative_width: float = 0.02,
    seed: int = 0,
) -> Iterator[Row]:
    """A row for each order and mechanism whose error is free of the data; ``optimal`` has the factors of each order."""
    made: dict[str, CentralMechanism | Unavailable] = {}
    for p in orders:
        bounds = _lower_bounds(workload, p, epsilon, delta)
        for name in mechanisms:
            row = {"p": float(p), "mechanism": name, "queries": workload.queries, **bounds}
            chosen = norm_name(p) if name == OPTIMAL else name
            if chosen not in made:
                made[chosen] = _free_of_data(chosen, workload, epsilon, delta)
            built = made[chosen]
            if isinstance(built, Unavailable):
                yield {**row, "reason": built.reason}
                continue
            rng = rng_for(seed, "central-error", name, workload.name, str(workload.domain_size), repr(float(p)))
            yield {**row, **_error(built, p, relative_width, rng)}


def _free_of_data(name: str, workload: Workload, epsilon: float, delta: float) -> CentralMechanism | Unavailable:
    built = None if name == central_registry.APPROXIMATE else central_registry.build(name, workload, epsilon, delta)
    if built is None or isinstance(built, ProjectedMechanism):
        raise BadValue("mechanism", name, "have an error that is free of the data", "use few_users_rows")
    return built


def few_users_rows(
    workload: Workload,
    users: Sequence[int],
    mechanisms: Sequence[str],
    epsilon: float,
    delta: float,
    *,
    alpha: float,
    relative_width: float = 0.15,
    seed: int = 0,
) -> list[Row]:
    """The root mean square error per query by mechanism and number of users.

    A projection's error is that of the worst data found among sparse histograms, which ``worst_data`` names, between
    ``low`` and ``high``; a worse one may exist, but none beyond ``guarantee``. That of the approximate factorization
    γ₂(W, α) is exact, on the data that are worst for it.
    """
    bounds = dict(zip(users, _replacement_bounds(workload, users, epsilon, delta), strict=True))
    per = math.sqrt(workload.queries)
    found: list[Row] = []
    for name in mechanisms:
        given = alpha if name == central_registry.APPROXIMATE else None
        built = central_registry.build(name, workload, epsilon, delta, alpha=given)
        for count in users:
            row: Row = {"users": int(check_users(count)), "mechanism": name, "lower_bound": bounds[count].per_query}
            if isinstance(built, Unavailable):
                found.append({**row, "reason": built.reason})
                continue
            row |= {"relation": built.relation, "sigma": built.sigma}
            if isinstance(built, ProjectedMechanism):
                rng = rng_for(seed, "few-users", name, workload.name, str(workload.domain_size), str(count))
                row |= {"guaranteed_error": built.guaranteed_error(count) / per}
                row |= _worst_found(built, count, relative_width, rng)
            else:
                row["rms_error"] = built.exact_error(2.0, users=count if given is not None else None).per_query
            found.append(row)
    return found


def crossover(rows: Sequence[Mapping[str, Any]], projection: str, factorization: str) -> float | None:
    """The number of users at which the two errors meet, by interpolation of logarithms; ``None`` where they do not."""
    curves = {}
    for name in (projection, factorization):
        points = sorted(
            (row["users"], row["rms_error"]) for row in rows if row["mechanism"] == name and "rms_error" in row
        )
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
    return {"rms_error": found.value / per, "low": found.low / per, "high": found.high / per, "worst_data": name}


def _error(mechanism: CentralMechanism, p: float, relative_width: float, rng: np.random.Generator) -> Row:
    row: Row = {"factor_error": mechanism.factorization.error(p), "relation": mechanism.relation}
    row |= {"sigma": mechanism.sigma, "sensitivity": mechanism.sensitivity}
    if not math.isinf(p):
        found = mechanism.exact_error(p)
        return {**row, "order_p_error": found.per_query, "total_error": found.total}
    simulated = mechanism.simulated_max(rng, relative_width)
    mean = simulated.mean
    extra = {"root_mean_square": simulated.root_mean_square.value, "draws": float(simulated.draws)}
    return {**row, "order_p_error": mean.value, "total_error": mean.value, "low": mean.low, "high": mean.high, **extra}


def _lower_bounds(workload: Workload, p: float, epsilon: float, delta: float) -> Row:
    """``lower_bound``, and for p = ∞ ``root_lower_bound`` of the root mean square of the largest error."""
    order = p if refusal(workload, p) is None else 2.0
    if not math.isinf(p):
        return {"lower_bound": general_bound(workload, epsilon, delta, p=order).per_query}
    mean, root = (general_bound(workload, epsilon, delta, p=order, moment=moment).per_query for moment in (1, 2))
    return {"lower_bound": mean, "root_lower_bound": root}


def _replacement_bounds(
    workload: Workload, users: Sequence[int], epsilon: float, delta: float
) -> Sequence[CentralBound]:
    n = workload.domain_size
    norm = "certified" if workload.queries * n * (n - 1) // 2 <= _LARGEST_DIFFERENCES else "trace"
    half = 0.5 * workload.matrix()
    return replacement_bounds(half, epsilon, delta, [2 * int(check_users(N)) for N in users], norm=norm)


# Known factorizations of prefix sums.


def factorizations() -> list[str]:
    """Return every factorization that a study may name."""
    return [OPTIMAL, *CLASSICAL]


def check_name(name: str) -> None:
    """Refuse an unknown factorization."""
    if name not in factorizations():
        raise UnknownName("factorization", name, factorizations())


def rows(measurements: Iterable[pd.DataFrame], names: Sequence[str]) -> Iterator[dict[str, Any]]:
    """The errors of these factorizations from measured norms of ``prefix``, by order, then domain size."""
    import pandas as pd

    frame = pd.concat(list(measurements), ignore_index=True)
    norms = [
        (float(quantity(row["norm"]).exponent or math.nan), row)
        for row in frame.drop_duplicates(["norm", "domain_size"]).to_dict("records")
    ]
    norms.sort(key=lambda pair: (pair[0], pair[1]["domain_size"]))
    for p, norm in norms:
        yield from _factorization_rows(p, norm, names)


def _factorization_rows(p: float, norm: dict[str, Any], names: Sequence[str]) -> Iterator[dict[str, Any]]:
    n = int(norm["domain_size"])
    common = {
        "domain_size": n,
        "p": p,
        "lower_bound": norm["lower"],
        "trace_bound": trace_bound_of_prefix_errors(n),
        "logarithm": math.log(n) / math.pi,
        "origin": norm.get("origin", ""),
    }
    for name in names:
        error = norm["upper"] if name == OPTIMAL else classical(name, n).error(p)
        yield {**common, "factorization": name, "order_p_error": error, "ratio_to_bound": error / norm["lower"]}
