r"""A lower bound with one weight per user type, and the search for the best weights.

**The theorem.** Finding the best weights is a concave problem. Setting: McKenna, Maity, Mazumdar & Miklau (PVLDB
13(11), 2020). In the notation of ``mechanisms/local/strategy.py`` the average variance per user of an ε-LDP strategy
Q is (tr(X_c⁺C) − tr C)/n, C = PGP. Write c = cosh(ε/2), b = e^{ε/2}.

**Theorem.** Let p > 0 be weights of the types, Σp_u = 1, and let 1/c² ≥ ω ≥ 1 − n²/Σ(1/p_u), ω > 0. Then

.. math:: \operatorname{tr}(X_c^+C) \ge \frac nB \Bigl[\operatorname{tr}\,(C^{1/2} Y C^{1/2})^{1/2}\Bigr]^2, \qquad
          Y = P\bigl(\operatorname{Diag} p - p p^\top/\omega\bigr) P \succeq 0 ,

.. math:: B = B(\omega) = \max_{0\le w\le1}\; (1-w)\,\sigma_k + w\,\sigma_{k+1} + \omega\, w(1-w)\, c^2(t_k-t_{k+1})^2,

with k = ⌊n/(e^ε+1)⌋, t_j = n/((n−j)/b + jb), and σ_j = 2ct_j − 1 − t_j² the information of size j (``staircase.py``).

*Y ⪰ 0.* For z ⟂ 1 and every number α, (pᵀz)² = (Σ(p_u−α)z_u)² ≤ Σ(p_u−α)²/p_u · Σp_uz_u²; the best α, n/Σ(1/p_u),
makes the first factor 1 − n²/Σ(1/p_u) ≤ ω.

*tr(X_cY) ≤ B/n.* Splitting rows of Q into extreme rows does not lower tr(X_cY) (``certificates.py``), so let every row
be a multiple of some v ∈ {1/b, b}ⁿ. Draw row o with probability 1ᵀq_o/n, and let x = nv/(1ᵀv), t = n/(1ᵀv),
μ = pᵀx − 1. The columns of Q sum to one: E x = 1, so E μ = 0; and tr(X_cY) = E[xᵀYx]/n. From (v_u−b)(v_u−1/b) = 0,
Σp_ux_u² = 2ct(1+μ) − t². As x − 1 ⟂ 1 and Y1 = 0,

.. math:: x^\top Y x = \sum_u p_u (x_u-1)^2 - \mu^2/\omega = 2ct - 1 - t^2 + 2(ct-1)\mu - \mu^2/\omega .

In the mean, E[2(ct−1)μ] = E[2c(t−Et)μ] ≤ E[ωc²(t−Et)² + μ²/ω], whence

.. math:: \mathrm E[x^\top Y x] \le \mathrm E[2ct-1-t^2] + \omega c^2\operatorname{Var} t
          = c^2 - 1 - (\mathrm E t - c)^2 - (1-\omega c^2)\operatorname{Var} t .

t takes the values t_0 > … > t_n alone, and t_k ≥ c ≥ t_{k+1}. As (t−t_k)(t−t_{k+1}) ≥ 0, Var t is at least
(t_k−Et)(Et−t_{k+1}). If Et lies between t_k and t_{k+1}, the bound is largest when t takes only these two values; if
not, it is below its value at the nearer of the two. In both cases it is at most B.

*Conclusion.* If tr(X_c⁺C) is finite, C^{1/2} lies in the range of X_c, so with ‖·‖_* the trace norm
‖C^{1/2}Y^{1/2}‖_* = ‖C^{1/2}(X_c^{1/2})⁺ · X_c^{1/2}Y^{1/2}‖_* ≤ (tr(X_c⁺C) · tr(X_cY))^{1/2}. ∎

**The best weights.** With Y' = P(Diag d − ddᵀ/ω')P, any scale of d, and δ = Σd_u, the bound is the largest value over
the scale of (d, ω') of 2 tr(C^{1/2}Y'C^{1/2})^{1/2} − δB(ω'/δ)/n. ddᵀ/ω' is Loewner-convex in (d, ω'), the trace of
the root is concave and increasing, and δB(ω'/δ) is a maximum of linear functions: the problem is concave, and what a
local method finds is the best. Hence p may be taken invariant under every permutation that preserves C.

* If these move every type to every other (C decided by u ⊕ v, or circulant), p is uniform, Y = P/n whatever ω is, and
  the smallest B, which is σ of ``staircase.py``, gives ``centred_svd``: nothing is left to search.
* If C is reflected into itself, so is p; even and odd vectors separate, and the matrices have half the size.

B(ω) = σ where ω ≤ ω_0 = |σ_k − σ_{k+1}|/(c²(t_k−t_{k+1})²), so smaller ω are useless; p uniform with ω_0 is
``centred_svd``.

**Gradient.** With RRᵀ = C, K = Rᵀ(Diag p − ppᵀ/ω)R and X̂ = RK^{−1/2}Rᵀ, the trace T = tr K^{1/2} has
2 dT = Σ(X̂_uu − 2(X̂p)_u/ω) dp_u + (pᵀX̂p/ω²) dω, and dB/dω = w(1−w)c²(t_k−t_{k+1})² at the best w.

The search only chooses (p, ω), a barrier keeping Y ≻ 0 on the complement of 1. The bound is then evaluated from the
theorem, ω being raised where Y ⪰ 0 asks for it: a poor search gives a poor bound, never a wrong one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

import numpy as np

from factormech.arrays import FloatArray, IntArray, check_epsilon
from factormech.bounds.centred import CentredGram
from factormech.bounds.pair_search import PairWeights, levels, spread_types
from factormech.bounds.proved import clearly_better, is_uniform, proved_variance, same_for_all
from factormech.bounds.spectral import centred_svd
from factormech.bounds.staircase import InformationLimit, feasible_omega, largest_information, smallest_omega
from factormech.numerics.descent import minimise
from factormech.workloads.base import Workload

# The search for the weights.

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
class WeightSearch:
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
    def of(cls, centred_gram: FloatArray, partner: IntArray) -> WeightSearch:
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


def negative_log(problem: WeightSearch, limit: InformationLimit, point: FloatArray, barrier: float) -> Valued:
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
    problem = WeightSearch.of(C, partner)
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
    """Return the number of steps from an interpolated start: it falls faster than the cost of a step grows."""
    return max(int(WARM_STEPS * min(1.0, (WARM_SIZE / domain_size) ** 2)), LEAST_STEPS)


def _value(problem: WeightSearch, limit: InformationLimit, point: FloatArray) -> float:
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


# The theorem.

# Weights are looked for in up to so many groups of neighbouring types, then interpolated.
FINEST = 2048


def parametric(workload: Workload, epsilon: float) -> float:
    """The best of these bounds on the average variance per user; never below ``centred_svd``; 0 where it is vacuous."""
    epsilon, n = check_epsilon(epsilon), workload.domain_size
    if InformationLimit.of(n, epsilon) is None or workload.centred_walsh_spectrum() is not None:
        return centred_svd(workload, epsilon)
    C = workload.centred_gram()
    trace = float(np.trace(C))
    if same_for_all(workload, trace):
        return 0.0
    found = solve(C, epsilon)
    weights = PairWeights(found.weights, np.zeros((n, n)), found.omega)
    if is_uniform(weights):
        return centred_svd(workload, epsilon)
    value = proved_variance(CentredGram.of(workload), epsilon, weights)
    if clearly_better(epsilon, found.objective, found.uniform, trace):
        return value
    return max(value, centred_svd(workload, epsilon))


@dataclass(frozen=True)
class ParametricBound:
    """The best bound found on one C, and what certifies it.

    Attributes
    ----------
    objective
        No ε-LDP strategy of any number of outputs has tr(X_c⁺C) below.
    weights
        p, (n,); Σp_u = 1.
    omega
        ω; Y = P(Diag p − ppᵀ/ω)P, or P/n if p is uniform.
    information
        B(ω): no ε-LDP strategy has tr(X_cY) above B/n.
    uniform
        The objective for uniform weights.
    """

    objective: float
    weights: FloatArray
    omega: float
    information: float
    uniform: float

    def target(self, centred_gram: FloatArray) -> FloatArray:
        """The X_c that attains the bound, were there a strategy that has it, (n, n).

        With RRᵀ = C, K = RᵀYR and T = tr K^{1/2} it is X_c = B/(nT)·RK^{−1/2}Rᵀ, in the units of Q: X_c1 = 0,
        tr(X_cY) = B/n and tr(X_c⁺C) = nT²/B = ``objective``, whatever the scale of C. If p is uniform it is
        σC^{1/2}/tr C^{1/2}, of trace σ. Its diagonal and ranges are those that a good strategy nearly has; no strategy
        need reach it.
        """
        n = len(centred_gram)
        R = root_of(centred_gram)
        shifted = self.weights - 1.0 / n
        w = R.T @ shifted
        trace, U = root_trace((R.T * self.weights) @ R - np.outer(w, w) / self.omega, R)
        return np.asarray((U * (self.information / (n * trace))) @ U.T) if trace > 0.0 else np.zeros((n, n))


def solve(centred_gram: FloatArray, epsilon: float) -> ParametricBound:
    """The best bound on tr(X_c⁺C) for C = ``centred_gram``, (n, n), with X_c1 = 0 = C1; 0 for C = 0 or n = 1."""
    return evaluate(centred_gram, epsilon, weights_by_levels(centred_gram, check_epsilon(epsilon), FINEST))


def evaluate(centred_gram: FloatArray, epsilon: float, near: TypeWeights | None) -> ParametricBound:
    """The theorem for C from any weights, or that of uniform ones if it is better."""
    C, n, epsilon = centred_gram, len(centred_gram), check_epsilon(epsilon)
    uniform = np.full(n, 1.0 / n)
    sigma, scale = largest_information(n, epsilon), float(np.trace(C))
    if sigma <= 0.0 or scale <= 0.0:
        return ParametricBound(0.0, uniform, 1.0, sigma, 0.0)
    values = np.linalg.eigvalsh(C)
    values = values[values > n * np.finfo(float).eps * values[-1]]  # the root of rounding noise is not small
    closed = float(np.sum(np.sqrt(values))) ** 2 / sigma
    found = ParametricBound(closed, uniform, 1.0, sigma, closed)
    limit = InformationLimit.of(n, epsilon)
    if limit is None or near is None:
        return found
    weights, omega = near
    omega = feasible_omega(weights, omega, limit)
    objective = scale * objective_bound(C / scale, weights, omega, limit)
    return found if objective <= closed else ParametricBound(objective, weights, omega, limit.at(omega)[0], closed)


def objective_bound(centred_gram: FloatArray, weights: FloatArray, omega: float, limit: InformationLimit) -> float:
    """The theorem: a lower bound on tr(X_c⁺C), for any positive ``weights`` and ω; 0 where no ω makes Y ⪰ 0."""
    p = weights / weights.sum()
    omega = feasible_omega(p, omega, limit)
    if math.isinf(omega):
        return 0.0
    partner = reflection(centred_gram) if np.array_equal(p, p[::-1]) else np.arange(len(p))
    problem = WeightSearch.of(centred_gram, partner)
    trace, _, _ = problem.root_trace(p[np.arange(len(p)) <= partner], omega)
    return len(p) * trace**2 / limit.at(omega)[0]
