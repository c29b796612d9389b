r"""How far from the workload a factorization should be: the a that minimises γ(a)/(α − a), with a certificate.

γ(a) is γ₂(W, a), or γ̂₂(W, a) where row shifts are free. The predicted number of users for accuracy α grows like
(γ(a)/(α − a))² (Edmonds, Nikolov & Ullman, STOC 2020, §4, whose a is α/2).

**Lines.** A dual matrix U with γ₂*(U) ≤ 1 (and U1 = 0 for γ̂₂) proves γ(a) ≥ W•U − a‖U‖₁ for *every* a. In
z = 1/(α − a) ≥ 1/α this says

.. math:: \frac{γ(a)}{α - a} \ge \|U\|_1 + (W\bullet U - α\|U\|_1)\,z ,

so the objective is convex in z, and each solve at one a gives a line below it: the next a is where the largest of the
lines is least (Kelley's method), and that least value is a lower bound of the objective over all a. One solve at a = 0
is often enough: where W•U ≥ α‖U‖₁ for its U, no approximation helps, and the line proves it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from factormech.arrays import FloatArray
from factormech.norms.certified import CertifiedNorm
from factormech.norms.registry import compute
from factormech.workloads.base import Workload

# Relative distance of the objective from its lower bound at which the search ends: twice that of a norm's interval.
GAP = 2e-3
_SOLVES = 16


@dataclass(frozen=True)
class Tried:
    """One a, and the norm there."""

    distance: float
    norm: CertifiedNorm


@dataclass(frozen=True)
class DistanceSearch:
    """The search for a.

    Attributes
    ----------
    tried
        Every a that was solved, in order; the first is 0.
    best
        The one with the least objective.
    objective
        γ(a)/(α − a) there, by the upper end of the norm.
    lower_bound
        What no a in [0, α) goes below.
    stopped
        ``gap`` or ``solves``.
    """

    tried: tuple[Tried, ...]
    best: Tried
    objective: float
    lower_bound: float
    stopped: str


def best_distance(
    workload: Workload | FloatArray, alpha: float, *, shifted: bool = True, gap: float = GAP, solves: int = _SOLVES
) -> DistanceSearch:
    """The a in [0, α) with the least γ(a)/(α − a), to a relative ``gap``."""
    W = workload.matrix() if isinstance(workload, Workload) else workload
    tried: list[Tried] = []
    lines: list[tuple[float, float]] = []
    a, objective, lower, stopped = 0.0, np.inf, 0.0, "solves"
    for _ in range(solves):
        norm = compute("gamma-2-shifted" if shifted else "gamma-2-approximate", workload, alpha=a)
        tried.append(Tried(a, norm))
        objective = min(objective, norm.upper / (alpha - a))
        lines.append(_line(W, norm, a, alpha))
        a, lower = _least(np.array(lines), alpha, max(one.distance for one in tried))
        if objective <= (1.0 + gap) * lower:
            stopped = "gap"
            break
        if any(abs(a - one.distance) <= 1e-12 * alpha for one in tried):
            stopped = "rounding"
            break
    best = min(tried, key=lambda one: one.norm.upper / (alpha - one.distance))
    return DistanceSearch(tuple(tried), best, objective, lower, stopped)


def _line(W: FloatArray, norm: CertifiedNorm, a: float, alpha: float) -> tuple[float, float]:
    """(‖U‖₁, W•U − α‖U‖₁), U scaled so that W•U − a‖U‖₁ is the certified lower end."""
    U = norm.witness["dual"]
    size, value = float(np.abs(U).sum()), float(np.sum(W * U))
    scale = norm.lower / (value - a * size) if value > a * size else 0.0
    return scale * size, scale * (value - alpha * size)


def _least(lines: FloatArray, alpha: float, farthest: float) -> tuple[float, float]:
    """The a where the largest line is least, and its value there; halfway from ``farthest`` to α if none rises.

    The largest of convex pieces is least at 1/α or where a falling line meets a rising one.
    """
    start, slopes = lines[:, 0], lines[:, 1]
    rising = slopes >= 0.0
    if not rising.any():
        return 0.5 * (farthest + alpha), 0.0
    z = [1.0 / alpha]
    for i in np.flatnonzero(~rising):
        z += [float((start[j] - start[i]) / (slopes[i] - slopes[j])) for j in np.flatnonzero(rising)]
    candidates = np.maximum(np.array(z), 1.0 / alpha)
    heights = (start[:, None] + slopes[:, None] * candidates).max(axis=0)
    at = int(np.argmin(heights))
    return max(alpha - 1.0 / float(candidates[at]), 0.0), float(heights[at])
