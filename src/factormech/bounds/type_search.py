r"""The search for the weights (p, ω) of ``parametric.py``."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

import numpy as np

from factormech.arrays import FloatArray, IntArray
from factormech.bounds.descent import minimise
from factormech.bounds.grouping import levels, spread_types
from factormech.bounds.omega_limit import InformationLimit, smallest_omega

Valued: TypeAlias = tuple[float, FloatArray]
# p and ω.
TypeWeights: TypeAlias = tuple[FloatArray, float]

# Y ⪰ 0 is kept by a barrier, which is lowered in these steps: only where C is singular on 1⊥ does it matter.
BARRIERS = (1e-3, 1e-5, 1e-7)
# Steps of the search at each.
STEPS_LIMIT = 200
# Steps of the search from interpolated weights, of up to WARM_SIZE types and of more than any number of them.
WARM_STEPS, WARM_SIZE, LEAST_STEPS = 40, 640, 3
# How far inside of what is allowed such a search starts, relatively.
INSIDE = 1e-3
# Exponents are cut off here.
LARGEST_LOGARITHM = 500.0
# C is reflected into itself if it is up to this, relatively: the choice of p alone depends on it.
REFLECTION_TOLERANCE = 1e-9


@dataclass(frozen=True)
class Problem:
    """The search over weights that are equal within orbits, by orbit.

    Attributes
    ----------
    sizes
        The number of types in each orbit (1 or 2), (h,).
    even
        A root of C on the vectors that are constant on orbits, in their orthonormal basis, (h, r).
    odd
        The same on the vectors that change sign within orbits, (h, r'); r' = 0 without a symmetry.
    """

    sizes: FloatArray
    even: FloatArray
    odd: FloatArray

    @classmethod
    def of(cls, centred_gram: FloatArray, partner: IntArray) -> Problem:
        """The problem for C, each type's weight being its partner's; ``partner`` is the identity or the reflection."""
        C, n = centred_gram, len(centred_gram)
        first = np.flatnonzero(np.arange(n) <= partner)
        second = partner[first]
        sizes = np.where(first == second, 1.0, 2.0)
        # In the basis (e_u ± e_ū)/√2, or e_u where u is its own partner; C = JCJ.
        mean = C[np.ix_(first, first)] * np.sqrt(sizes[:, None] * sizes) / 2.0
        cross = C[np.ix_(first, second)] * np.sqrt(sizes[:, None] * sizes) / 2.0
        pairs = sizes == 2.0
        ones, even = np.sqrt(sizes / n), mean + cross  # C1 = 0 but for rounding
        even = even - np.outer(ones, ones @ even)
        even = even - np.outer(even @ ones, ones)
        # Rounding is judged against the whole of C: a half may be zero, and the root of noise is not small.
        noise = max(len(C), 4) * np.finfo(float).eps * float(np.trace(C)) if pairs.any() else 0.0
        odd = np.zeros((len(first), 0))
        if pairs.any():
            root = root_of((mean - cross)[np.ix_(pairs, pairs)], noise)
            odd = np.zeros((len(first), root.shape[1]))
            odd[pairs] = root
        return cls(sizes, root_of(even, noise), odd)

    def root_trace(self, weights: FloatArray, omega: float) -> tuple[float, FloatArray, float]:
        """T = tr K^{1/2}, its derivatives by the weight of each orbit and by ω."""
        A, p = self.even, weights
        q = np.sqrt(self.sizes) * (p - 1.0 / self.sizes.sum())  # Pp in the basis of the even vectors
        w = A.T @ q
        even, U = root_trace((A.T * p) @ A - np.outer(w, w) / omega, A)
        projected = U.T @ q
        by_weight = np.einsum("ur,ur->u", U, U) - 2.0 / omega * np.sqrt(self.sizes) * (U @ projected)
        odd, U = root_trace((self.odd.T * p) @ self.odd, self.odd)
        by_weight += np.einsum("ur,ur->u", U, U)
        return even + odd, 0.5 * by_weight, 0.5 * float(projected @ projected) / omega**2


def root_of(C: FloatArray, noise: float = 0.0) -> FloatArray:
    """R of full column rank with RRᵀ = C up to rounding, and up to eigenvalues of size ``noise``."""
    values, vectors = np.linalg.eigh(C)
    keep = values > max(len(C) * np.finfo(float).eps * float(values[-1]), noise)
    return np.asarray(vectors[:, keep] * np.sqrt(values[keep]))


def root_trace(K: FloatArray, A: FloatArray) -> tuple[float, FloatArray]:
    """tr K^{1/2} without eigenvalues that are rounding noise, and U with UUᵀ = AK^{−1/2}Aᵀ."""
    if not len(K):
        return 0.0, np.zeros((len(A), 0))
    values, vectors = np.linalg.eigh(K)
    keep = values > len(K) * np.finfo(float).eps * max(float(values[-1]), 0.0)
    values = values[keep]
    return float(np.sum(np.sqrt(values))), np.asarray((A @ vectors[:, keep]) * values**-0.25)


def negative_log(problem: Problem, limit: InformationLimit, point: FloatArray, barrier: float) -> Valued:
    """log(B/n) − 2 log T − β log(1 − ω_least/ω) and its gradient; infinite unless Y ≻ 0 on the complement of 1."""
    s, place = problem.sizes, Place.of(point, limit, problem.sizes)
    p, omega = place.weights, place.omega
    slack = 1.0 - smallest_omega(p, s) / omega
    if not slack > 0.0:
        return math.inf, np.zeros_like(point)
    trace, by_weight, by_omega = problem.root_trace(p, omega)
    B, slope = limit.at(omega)
    # dω_least/dp = −s(α/p)², α = n/Σ(s/p), where Σsp = 1 is kept.
    alpha = s.sum() / np.sum(s / p)
    by_weight = -2.0 / trace * by_weight - barrier / (slack * omega) * s * (alpha / p) ** 2
    by_omega = slope / B - 2.0 * by_omega / trace - barrier * (1.0 - slack) / (slack * omega)
    value = math.log(B / s.sum()) - 2.0 * math.log(trace) - barrier * math.log(slack)
    return value, place.gradient(point, s, by_weight, by_omega)


@dataclass(frozen=True)
class Place:
    """Where a point (y, θ) of the search is: log p = √ω·y up to a constant, ω = ω_0(ω_most/ω_0)^{1/(1+e^{−θ})}.

    ω_most is 1/c². ω_least is about ω·(Σy_u²/n − (Σy_u/n)²): in y the condition Y ⪰ 0 is of one size, for all ω.
    """

    weights: FloatArray
    omega: float
    omega_slope: float

    @classmethod
    def of(cls, point: FloatArray, limit: InformationLimit, sizes: FloatArray) -> Place:
        share = 1.0 / (1.0 + math.exp(-max(point[-1], -LARGEST_LOGARITHM)))
        reach = math.log(limit.ceiling / limit.floor)
        omega = limit.floor * math.exp(share * reach)
        z = math.sqrt(omega) * point[:-1]
        e = np.exp(np.maximum(z - z.max(), -LARGEST_LOGARITHM))
        return cls(e / (sizes @ e), omega, omega * reach * share * (1.0 - share))

    @classmethod
    def near(cls, weights: FloatArray, omega: float, limit: InformationLimit, sizes: FloatArray) -> FloatArray | None:
        """The point of given weights, and of ω or one a little larger, where Y ≻ 0; None if there is none."""
        p = weights / (sizes @ weights)
        reach = math.log(limit.ceiling / limit.floor)
        least = smallest_omega(p, sizes) * (1.0 + INSIDE)
        if least >= limit.ceiling or reach <= 0.0:
            return None
        share = math.log(max(omega, least, limit.floor) / limit.floor) / reach
        share = min(max(share, INSIDE), 1.0 - INSIDE)
        theta = math.log(share / (1.0 - share))
        omega = limit.floor * math.exp(share * reach)
        return np.append(np.log(p) / math.sqrt(omega), theta)

    def gradient(self, point: FloatArray, sizes: FloatArray, by_weight: FloatArray, by_omega: float) -> FloatArray:
        """The chain rule."""
        p, root = self.weights, math.sqrt(self.omega)
        by_z = p * by_weight - sizes * p * (p @ by_weight)
        return np.append(root * by_z, self.omega_slope * (by_omega + by_z @ point[:-1] / (2.0 * root)))


def best_weights(
    centred_gram: FloatArray, limit: InformationLimit, start: TypeWeights | None = None
) -> tuple[FloatArray, float]:
    """p for each type, and ω: the best that the search finds, from uniform weights or from better ones, for trace 1."""
    C, n = centred_gram, len(centred_gram)
    partner = reflection(C)
    problem = Problem.of(C, partner)
    first = np.flatnonzero(np.arange(n) <= partner)
    point, steps = np.zeros(len(problem.sizes) + 1), STEPS_LIMIT
    barriers: tuple[float, ...] = BARRIERS
    if start is not None:
        p = start[0]
        near = Place.near(0.5 * (p + p[partner])[first], start[1], limit, problem.sizes)
        if near is not None and _value(problem, limit, near) < _value(problem, limit, point):
            point = near
            if n > WARM_SIZE:  # smaller ones are searched to the end: the order of the types may mean nothing
                barriers, steps = BARRIERS[-1:], warm_steps(n)
    for barrier in barriers:
        point, _ = minimise(partial(negative_log, problem, limit, barrier=barrier), point, 1e-2 * barrier, steps)
    place = Place.of(point, limit, problem.sizes)
    found = np.empty(n)
    found[first] = found[partner[first]] = place.weights
    return found, place.omega


def warm_steps(domain_size: int) -> int:
    """Steps from an interpolated start: their number falls faster than their cost grows."""
    return max(int(WARM_STEPS * min(1.0, (WARM_SIZE / domain_size) ** 2)), LEAST_STEPS)


def _value(problem: Problem, limit: InformationLimit, point: FloatArray) -> float:
    return negative_log(problem, limit, point, BARRIERS[-1])[0]


def weights_by_levels(centred_gram: FloatArray, epsilon: float, finest: int) -> TypeWeights | None:
    """Good weights for C, searched in up to ``finest`` groups, then interpolated; None if they gain nothing."""
    found: TypeWeights | None = None
    for gram in levels(centred_gram):
        found = level_weights(gram, epsilon, found, finest)
    return found


def level_weights(
    centred_gram: FloatArray, epsilon: float, coarser: TypeWeights | None, finest: int
) -> TypeWeights | None:
    """The weights of one level, given those of the level before; None where weights gain nothing."""
    n, scale = len(centred_gram), float(np.trace(centred_gram))
    limit = InformationLimit.of(n, epsilon)
    if limit is None or not scale > 0.0:
        return None
    start = None if coarser is None else (spread_types(coarser[0], n), coarser[1])
    if start is not None and n > finest:
        return start
    return best_weights(centred_gram / scale, limit, start)


def reflection(centred_gram: FloatArray) -> IntArray:
    """The partner of every type: its mirror image if C is reflected into itself, else itself."""
    C, types = centred_gram, np.arange(len(centred_gram))
    same = np.abs(C - C[::-1, ::-1]).max() <= REFLECTION_TOLERANCE * np.abs(C).max()
    return types[::-1] if same else types
