r"""Factors of a workload up to a shift and an approximation, and how coarse they should be.

**Factors of a shifted workload.** |RA − c1ᵀ − W| ≤ a is checked on the floats. The data are a normalised histogram p,
so a shift c1ᵀp = c is public: the curator subtracts it. What decides the noise is ‖R‖_{2→∞}‖A‖_{1→2}, and the
dimension of A's columns a little (``compressed``).

**The best distance a.** It minimises γ(a)/(α − a), with a certificate. γ(a) is γ₂(W, a), or γ̂₂(W, a) where row
shifts are free. The predicted number of users for accuracy α grows like (γ(a)/(α − a))² (Edmonds, Nikolov & Ullman,
STOC 2020, §4, whose a is α/2).

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
from functools import cached_property
from typing import Any

import numpy as np

from factormech.arrays import FloatArray
from factormech.errors import BadValue
from factormech.norms.approximate import approximate_norm
from factormech.norms.certified import CertifiedNorm
from factormech.numerics.rounding import TINY, above, gamma
from factormech.workloads.base import Workload

# Factors of a shifted workload.

# What may be lost to rounding by factors that are called exact, relative to the largest entry of W.
EXACT = 1e-9


@dataclass(frozen=True)
class LocalFactorization:
    """R, A and c for a workload.

    Attributes
    ----------
    workload
        W, (k, N).
    left, right
        R, (k, s), and A, (s, N).
    shift
        c, (k,).
    distance
        A certified bound on the entries of |RA − c1ᵀ − W|, all roundings counted.
    """

    workload: FloatArray
    left: FloatArray
    right: FloatArray
    shift: FloatArray
    distance: float

    @cached_property
    def bias(self) -> FloatArray:
        """D = RA − c1ᵀ − W, (k, N), as computed."""
        return _difference(self.workload, self.left, self.right, self.shift)

    @property
    def row_norm(self) -> float:
        """‖R‖_{2→∞}."""
        return float(np.sqrt(np.max(np.einsum("qs,qs->q", self.left, self.left), initial=0.0)))

    @property
    def column_norm(self) -> float:
        """‖A‖_{1→2}."""
        return float(np.sqrt(np.max(np.einsum("su,su->u", self.right, self.right), initial=0.0)))


def factorization(
    workload: FloatArray, left: FloatArray, right: FloatArray, shift: FloatArray | None = None, *, distance: float = 0.0
) -> LocalFactorization:
    """The factorization with these factors; refused if RA − c1ᵀ is farther from W than ``distance`` says.

    Rounding may add ``EXACT`` times the largest entry of W to the distance, and is added to the certified one.
    """
    W = _checked("workload", workload)
    R, A = _checked("left", left), _checked("right", right)
    c = np.zeros(len(W)) if shift is None else np.asarray(shift, dtype=np.float64)
    if R.shape != (len(W), len(A)) or A.shape[1] != W.shape[1] or c.shape != (len(W),):
        found = f"left {R.shape}, right {A.shape}, shift {c.shape}"
        rule = f"have shapes ({len(W)}, s), (s, {W.shape[1]}) and ({len(W)},)"
        raise BadValue("factors", found, rule, "give R, A and c of this workload")
    if not distance >= 0.0:
        raise BadValue("distance", distance, "be a number of at least 0", "leave it out for exact factors")
    certified = _distance_above(W, R, A, c)
    if not certified <= distance + EXACT * float(np.max(np.abs(W), initial=0.0)):
        rule = f"be within {distance:g} of the workload in every entry (their product is {certified:.3g} from it)"
        raise BadValue(
            "factors", f"{R.shape} x {A.shape}", rule, "give factors of this workload, or state the distance"
        )
    return LocalFactorization(W, R, A, c, certified)


def compressed(found: LocalFactorization) -> LocalFactorization:
    """The same product in the least dimension, the rank of R or of A; no norm grows.

    The columns of A matter only within the row space of R, which projection shortens; and the rows of R only within
    the column space of A. Directions of relative size below rounding are dropped.
    """
    R, A = _onto_rows(found.left, found.right)
    At, Rt = _onto_rows(A.T, R.T)
    return factorization(found.workload, Rt.T, At.T, found.shift, distance=found.distance)


def _onto_rows(R: FloatArray, A: FloatArray) -> tuple[FloatArray, FloatArray]:
    """(RQ, QᵀA), the columns of Q an orthonormal basis of the row space of R."""
    if not min(*R.shape, A.shape[1]):
        return R[:, :0], A[:0]
    _, sizes, V = np.linalg.svd(R, full_matrices=False)
    Q = V[sizes > max(R.shape) * 2.0**-52 * sizes[0]].T
    return np.asarray(R @ Q), np.asarray(Q.T @ A)


def _difference(W: FloatArray, R: FloatArray, A: FloatArray, c: FloatArray) -> FloatArray:
    return np.asarray(R @ A - c[:, None] - W)


def _distance_above(W: FloatArray, R: FloatArray, A: FloatArray, c: FloatArray) -> float:
    """A number at least every |RA − c1ᵀ − W|: the computed entry, and γ_{s+2} times the sizes that went into it."""
    s = len(A)
    sizes = np.sqrt(np.einsum("qs,qs->q", R, R)).max(initial=0.0) * np.sqrt(np.einsum("su,su->u", A, A)).max(
        initial=0.0
    )
    sizes = above(float(sizes), s + 8) + float(np.max(np.abs(c), initial=0.0)) + float(np.max(np.abs(W), initial=0.0))
    largest = float(np.max(np.abs(_difference(W, R, A, c)), initial=0.0))
    return above(largest + above(gamma(s + 4) * sizes, 6) + TINY, 4)


def _checked(name: str, matrix: Any) -> FloatArray:
    M = np.asarray(matrix, dtype=np.float64)
    if M.ndim != 2 or not np.isfinite(M).all():
        raise BadValue(name, M.shape, "be a matrix of finite numbers", "give one row per query and one column per type")
    return M


# The best distance a.

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
