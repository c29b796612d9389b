r"""What a trusted curator's factorization mechanism achieves beside what no curator can pass: rows for tables.

Upper: Wx + R·N(0, σ²‖A‖²_{1→2}I) with the analytic σ of (ε, δ) at sensitivity 1 and RA = W nearly attaining
Γ_p = k^{1/p}γ₍ₚ₎ (as in ``bounds/central/release.py``): (E‖·‖_p^p)^{1/p} = σ·m_p·Γ_p, m_p = √2(Γ((p+1)/2)/√π)^{1/p}; at
p = ∞, (E‖·‖²_∞)^{½} ≤ σ·√(2 ln k + 2)·Γ_∞, as the largest of k squares exceeds t with probability at most k·e^{−t/2}.
Neighbours differ by one in one count. The lower end is √V(ε, δ)·Γ_p; the ratio is σ·m_p/√V, times the norm's own gap.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from factormech.bounds.central.one_dimensional import least_noise
from factormech.bounds.central.published import Entry
from factormech.bounds.central.release import ONE_COUNT
from factormech.errors import BadValue
from factormech.gaussian import gaussian_noise_multiplier
from factormech.norms import registry
from factormech.norms.certify import trace_bound
from factormech.norms.weighted import checked_exponent
from factormech.numerics.rounding import above, below
from factormech.workloads.base import Workload


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


def published_rows(entries: Iterable[Entry], budgets: Sequence[tuple[float, float]]) -> Iterator[dict[str, Any]]:
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
