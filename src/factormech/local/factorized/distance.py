r"""How far from the workload a factorization should be: the a that minimises γ(a)/(α − a), with a certificate.

γ(a) is γ₂(W, a), or γ̂₂(W, a) where row shifts are free. The predicted number of users for accuracy α grows like
(γ(a)/(α − a))² (Edmonds, Nikolov & Ullman, STOC 2020, §4, whose a is α/2).

**Lines.** A dual matrix U with γ₂*(U) ≤ 1 (and U1 = 0 for γ̂₂) proves γ(a) ≥ W•U − a‖U‖₁ for *every* a. In
z = 1/(α − a) ≥ 1/α this says

.. math:: \frac{γ(a)}{α - a} \ge \|U\|_1 + (W\bullet U - α\|U\|_1)\,z ,

so the objective is convex in z, and each solve at one a gives a line below it: the next a is where the largest of the
lines is least (Kelley's method), and that least value is a lower bound of the objective over all a. One solve at a = 0
is often enough: where W•U ≥ α‖U‖₁ for its U, no approximation lowers the objective, and the line proves it.

**The prediction itself.** The predicted number of users is that of the exact variances and of the integrated union
bound, and depends on a a little beyond the objective: with a > 0 only one tail of each answer matters. ``fewest_users``
goes on from the search: it looks around the best a by that number, where the lines do not rule an improvement out by
more than ``SLACK``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from factormech.arrays import FloatArray
from factormech.norms.approximate.norms import approximate_norm
from factormech.norms.certified import CertifiedNorm
from factormech.workloads.base import Workload

# Relative distance of the objective from its lower bound at which the search ends: twice that of a norm's interval.
GAP = 2e-3
_SOLVES = 16
# How many times the squared objective may exceed the best one where fewer users are still looked for.
SLACK = 1.3
_LOOKS = 8
_SHRINK = 0.381966  # golden section


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
    lines
        ‖U‖₁ and W•U − α‖U‖₁ of each, (solves, 2).
    stopped
        ``gap``, ``rounding`` or ``solves``.
    """

    tried: tuple[Tried, ...]
    best: Tried
    objective: float
    lower_bound: float
    lines: FloatArray
    stopped: str


def best_distance(
    workload: Workload | FloatArray, alpha: float, *, shifted: bool = True, gap: float = GAP, solves: int = _SOLVES
) -> DistanceSearch:
    """The a in [0, α) with the least γ(a)/(α − a), to a relative ``gap``."""
    W = workload.matrix() if isinstance(workload, Workload) else workload

    def numbers(U: FloatArray) -> tuple[float, float]:
        return float(np.abs(U).sum()), float(np.sum(W * U))

    return search(lambda a: norm_at(workload, a, shifted=shifted), numbers, alpha, gap=gap, solves=solves)


def search(
    solve: Callable[[float], CertifiedNorm],
    numbers: Callable[[FloatArray], tuple[float, float]],
    alpha: float,
    *,
    gap: float = GAP,
    solves: int = _SOLVES,
) -> DistanceSearch:
    """The same for any norm γ(a) with duals whose value is a line, V(U) − a·S(U).

    Parameters
    ----------
    solve
        The norm at an a; its dual matrix proves its lower end.
    numbers
        S and V of a dual matrix.
    """
    tried: list[Tried] = []
    lines: list[tuple[float, float]] = []
    a, objective, lower, stopped = 0.0, np.inf, 0.0, "solves"
    for _ in range(solves):
        norm = solve(a)
        tried.append(Tried(a, norm))
        objective = min(objective, norm.upper / (alpha - a))
        lines.append(_line(numbers(norm.witness["dual"]), norm.lower, a, alpha))
        a, lower = _least(np.array(lines), alpha, max(one.distance for one in tried))
        if objective <= (1.0 + gap) * lower:
            stopped = "gap"
            break
        if any(abs(a - one.distance) <= 1e-12 * alpha for one in tried):
            stopped = "rounding"
            break
    best = min(tried, key=lambda one: one.norm.upper / (alpha - one.distance))
    return DistanceSearch(tuple(tried), best, objective, lower, np.array(lines), stopped)


def norm_at(workload: Workload | FloatArray, a: float, *, shifted: bool) -> CertifiedNorm:
    """γ̂₂(W, a) where row shifts are free, else γ₂(W, a)."""
    return approximate_norm(workload, a, shifted=shifted, gap=0.5 * GAP)


def fewest_users(
    search: DistanceSearch, alpha: float, solve: Callable[[float], Tried], users: Callable[[Tried], int]
) -> Tried:
    """The a of the fewest ``users``, among those of the search and a few around the best; ``solve`` adds one."""
    known: dict[float, tuple[float, Tried]] = {one.distance: (users(one), one) for one in search.tried}
    for _ in range(_LOOKS):
        a = _next(sorted(known), min(known, key=lambda at: known[at][0]), alpha)
        z = 1.0 / (alpha - a)
        if float(np.max(search.lines[:, 0] + search.lines[:, 1] * z)) ** 2 > SLACK * search.objective**2:
            known[a] = (math.inf, search.best)  # ruled out, and not looked at again
        else:
            one = solve(a)
            known[a] = (users(one), one)
    return min(known.values(), key=lambda pair: pair[0])[1]


def _next(places: list[float], best: float, alpha: float) -> float:
    """A new a in the wider of the two gaps beside the best one; α ends the last."""
    at = places.index(best)
    right = (places[at + 1] if at + 1 < len(places) else alpha) - best
    left = best - places[at - 1] if at else 0.0
    return best + _SHRINK * right if right >= left else best - _SHRINK * left


def _line(numbers: tuple[float, float], lower: float, a: float, alpha: float) -> tuple[float, float]:
    """(S, V − αS) of a dual matrix, scaled so that V − aS is the certified lower end."""
    size, value = numbers
    scale = lower / (value - a * size) if value > a * size else 0.0
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
