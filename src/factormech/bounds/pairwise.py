r"""A lower bound with one weight per user type and one per pair of types: near the optimum for every ε.

**The theorem and its best weights.** Setting: McKenna, Maity, Mazumdar & Miklau (PVLDB 13(11), 2020); notation of
``parametric.py``, whose theorem is the case N = 0. That theorem sees of a report only how likely it is under each
type. At large ε the best reports name few types, most pairs are never named together, and to know this nearly doubles
the bound.

**Theorem.** Let p be weights of the types with Σp_u = 1, N a symmetric matrix of weights N_uv ≥ 0 of the pairs with
N_uu = 0, r = N1, ν = 1ᵀr and ω > 0. Write c = cosh(ε/2), κ = 2/(e^ε+1) and g = p − κr. If

.. math:: Y = P\bigl(\operatorname{Diag} p - N - g g^\top/\omega\bigr)P \succeq 0 , \qquad
   \text{then} \qquad
   \operatorname{tr}(X_c^+C) \ge \frac nB \Bigl[\operatorname{tr}\,(C^{1/2}YC^{1/2})^{1/2}\Bigr]^2

for every ε-LDP strategy, where B is the maximum, over the laws of a random τ in {τ_1, …, τ_{n−1}}, of
E φ(τ) + ω Var τ, with τ_j = cn/((n−j)e^{−ε/2} + je^{ε/2}) and φ(τ) = 2τ − 1 − τ²/c² + ν(1−κτ)².

*tr(X_cY) ≤ B/n.* As in ``parametric.py`` let every row of Q be a multiple of a vector v with entries 1/b and b,
b = e^{ε/2}. A constant row is half the sum of two that are not, v and its opposite, up to scale: splitting it loses
nothing, and the number of entries b is from 1 to n − 1. Draw a row with probability 1ᵀq/n and let x = nv/(1ᵀv),
t = n/(1ᵀv), τ = ct, y = x − 1. Then E y = 0 and tr(X_cY) = E[yᵀYy]/n. Multiply by weights what holds of the entries:

* (bt − x_u)(x_u − t/b) = 0: p_uy_u² = p_u(2τ − 1 − t²) + 2(τ−1)p_uy_u;
* (x_u − t/b)(x_v − t/b) ≥ 0: −N_uvy_uy_v ≤ N_uv(1−t/b)² + N_uv(1−t/b)(y_u+y_v).

As t/b = κτ, their sum is yᵀ(Diag p − N)y ≤ φ(τ) + 2τgᵀy + (terms linear in y alone). In the mean these vanish, and
E[2τgᵀy] = E[2(τ−Eτ)gᵀy] ≤ E[ω(τ−Eτ)² + (gᵀy)²/ω].

*B.* ψ = φ + ωτ² is a quadratic function of τ, and B the maximum of Eψ − ω(Eτ)². If ψ is concave, the law of greatest Eψ
with a given mean has two neighbouring values; if it is convex, the two outermost. So B is the largest over these n − 1
pairs of the greatest value on a segment.

*Conclusion.* As in ``parametric.py``, by Cauchy–Schwarz. ∎

The bound is the largest value over the scale of (p, N, ω) of a concave function, as there: N, p, ω may be taken
invariant under what preserves C, and what a local method finds is the best. Where C_uv depends on u ⊕ v alone, as for
marginals and parities, the problem is one in the eigenvalues of C, and solved at once: ``translation_pairs.py``.

**Large ε.** Let w_u be the columns of W and 2D_uv = ‖w_u−w_v‖², so that PDP = −C. For uniform p and N = sD − (11ᵀ−I)/n,
s the least number with N ≥ 0 (the columns being distinct), P(Diag p − N)P = sC. As e^ε grows κ vanishes, and g with it;
then B is attained at τ_1, and the bound is tr C·((n+a−1)/(a−1))², a = e^ε: what randomized response attains.

If some Y has a negative eigenvalue −η, adding η to every p_u and dividing p, N, ω by the new sum of p repairs it: a
poor search gives a poor bound, never a wrong one. Triples of types add more inequalities of this kind: for prefix and
all ranges little is left for them (0.3 % at n = 16), for marginals and parities at large ε up to a sixth
(``triples.py``).

**What figures draw.** ``certified`` is the best bound that is affordable at a domain size.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from factormech.arrays import FloatArray, check_epsilon
from factormech.bounds import parametric, triples
from factormech.bounds.centred import CentredGram
from factormech.bounds.pair_search import (
    BARRIERS,
    WARM_BARRIERS,
    Barriers,
    Halves,
    PairWeights,
    best_pair_weights,
    levels,
    off_edge,
    pairs_gain,
    single_start,
    spread_pairs,
    spread_types,
    uniform_start,
)
from factormech.bounds.parametric import TypeWeights, level_weights, warm_steps
from factormech.bounds.proved import clearly_better, is_uniform, proved_variance, same_for_all
from factormech.bounds.spectral import centred_svd
from factormech.bounds.staircase import SizeLimit
from factormech.bounds.translation_pairs import best_translated
from factormech.workloads.base import Workload

# The theorem and its best weights.

# Weights of pairs are looked for in up to so many groups of neighbouring types, then interpolated.
FINEST = 2048
# Where the search gains more than this over interpolated weights, the order of the types may mean nothing: up to so
# many types, it starts again from uniform weights,
NO_GUIDE = 1.03
ANY_ORDER = 640
# and the weights of randomized response are tried whatever ε is.
ANY_EPSILON = 640
# Times that Y ⪰ 0 is repaired.
REPAIRS = 20
# Where C depends on u ⊕ v alone, pairs have weights if the bound gains this by them, relatively, and more than what is
# rounding in B, in units of τ_1/B.
GAIN, ROUNDING = 1e-9, 1e-14


def pairwise(workload: Workload, epsilon: float) -> float:
    """The best of these bounds on the average variance per user; never below ``parametric``; 0 where it is vacuous."""
    epsilon = check_epsilon(epsilon)
    C = workload.centred_gram()
    if workload.domain_size == 1 or same_for_all(workload, float(np.trace(C))):
        return 0.0
    return variance_of(workload, epsilon, solve(C, epsilon))


def variance_of(workload: Workload, epsilon: float, bound: PairwiseBound) -> float:
    """The bound on the average variance per user that the weights of ``solve`` prove, rounded down.

    It is never below ``parametric``, which is evaluated where it may be as good.
    """
    gram, weights = CentredGram.of(workload), _of(bound)
    found = 0.0 if is_uniform(weights) else proved_variance(gram, epsilon, weights)
    other = bound.without_pairs if bound.pairs.any() else bound.uniform
    if clearly_better(epsilon, bound.objective, other, gram.trace_above):
        return found
    return max(found, parametric.parametric(workload, epsilon))


@dataclass(frozen=True)
class PairwiseBound:
    """The best bound found on one C, and what certifies it.

    Attributes
    ----------
    objective
        No ε-LDP strategy of any number of outputs has tr(X_c⁺C) below.
    weights
        p, (n,); Σp_u = 1.
    pairs
        N, (n, n), symmetric, ≥ 0, zero on the diagonal.
    omega
        ω.
    gap_vector
        g = p − κN1, (n,): Y = P(Diag p − N − ggᵀ/ω)P.
    information
        B: no ε-LDP strategy has tr(X_cY) above B/n.
    without_pairs, uniform
        The objective of the best bound that was found with N = 0, and of uniform weights.
    """

    objective: float
    weights: FloatArray
    pairs: FloatArray
    omega: float
    gap_vector: FloatArray
    information: float
    without_pairs: float = math.inf
    uniform: float = math.inf

    def target(self, centred_gram: FloatArray) -> FloatArray:
        """The X_c that attains the bound, were there a strategy that has it, (n, n).

        With RRᵀ = C, K = RᵀYR and T = tr K^{1/2} it is X_c = B/(nT)·RK^{−1/2}Rᵀ, in the units of Q: X_c1 = 0,
        tr(X_cY) = B/n and tr(X_c⁺C) = nT²/B = ``objective``, whatever the scale of C. Where N_uv > 0, u and v are never
        named together: (X_c)_uv is about the least that any strategy can have.
        """
        C = np.asarray(centred_gram, dtype=float)
        found = Halves.of(C).root_trace(self.weights, self.pairs, self.gap_vector, self.omega)
        if found is None or found.trace <= 0.0:
            return np.zeros_like(C)
        return found.gradient() * (self.information / (len(C) * found.trace))


def solve(centred_gram: FloatArray, epsilon: float) -> PairwiseBound:
    """The best bound on tr(X_c⁺C) for C = ``centred_gram``, (n, n), with X_c1 = 0 = C1; 0 for C = 0 or n = 1."""
    translated = _translated(centred_gram, epsilon)
    if translated is not None:
        return translated
    *coarser, last = levels(centred_gram)
    types: TypeWeights | None = None
    near: PairWeights | None = None
    for gram in coarser:
        types = level_weights(gram, epsilon, types, parametric.FINEST)
        near = _of(_level(gram, epsilon, parametric.evaluate(gram, epsilon, types), near))
    types = level_weights(last, epsilon, types, parametric.FINEST)
    without = parametric.evaluate(last, epsilon, types)
    return replace(_level(last, epsilon, without, near), without_pairs=without.objective, uniform=without.uniform)


def _translated(C: FloatArray, epsilon: float) -> PairwiseBound | None:
    """The best bound where C depends on u ⊕ v alone; None for any other C."""
    limit = SizeLimit.of(len(C), epsilon)
    weights = best_translated(C, limit)
    if weights is None:
        return None
    uniform = parametric.evaluate(C, epsilon, None)
    without, found = _without_pairs(uniform), evaluate(C, weights, limit)
    least = max(GAIN, ROUNDING * float(limit.tau[0]) / found.information) if found.information > 0.0 else math.inf
    better = found if found.objective > (1.0 + least) * without.objective else without
    return replace(better, without_pairs=uniform.objective, uniform=uniform.uniform)


def _without_pairs(bound: parametric.ParametricBound) -> PairwiseBound:
    """The same bound, the weights of pairs being zero."""
    p, n = bound.weights, len(bound.weights)
    return PairwiseBound(bound.objective, p, np.zeros((n, n)), bound.omega, p, bound.information)


def _level(
    C: FloatArray, epsilon: float, without: parametric.ParametricBound, coarser: PairWeights | None
) -> PairwiseBound:
    """The best bound found for one C, given the one without pairs, and good weights for groups of the types."""
    n, scale = len(C), float(np.trace(C))
    found = _without_pairs(without)
    if without.objective <= 0.0:
        return found
    limit, halves = SizeLimit.of(n, epsilon), Halves.of(C / scale)
    if not pairs_gain(halves, limit, _of(found)):
        return found
    found = max(found, _searched_from_near(C, limit, coarser), key=_objective)
    if n > ANY_EPSILON and math.exp(-epsilon) * n > 1.0:
        return found  # far from where reports name single types
    start = single_start(C / scale, limit)
    return found if start is None else max(found, evaluate(C, start, limit), key=_objective)


def _searched_from_near(C: FloatArray, limit: SizeLimit, coarser: PairWeights | None) -> PairwiseBound:
    """The best bound that the search finds from interpolated weights, and from uniform ones if those were no guide."""
    n = len(C)
    uniform = uniform_start(n, limit)
    if coarser is None:
        return searched(C, uniform, limit)
    spread = PairWeights(spread_types(coarser.types, n), spread_pairs(coarser.pairs, n), coarser.omega)
    near = evaluate(C, spread, limit)
    if n > FINEST:
        return near
    found = max(near, searched(C, off_edge(_of(near), limit), limit, WARM_BARRIERS, warm_steps(n)), key=_objective)
    if n <= ANY_ORDER and found.objective > NO_GUIDE * near.objective:
        found = max(found, searched(C, uniform, limit), key=_objective)
    return found


def _of(bound: PairwiseBound) -> PairWeights:
    return PairWeights(bound.weights, bound.pairs, bound.omega)


def searched(
    centred_gram: FloatArray,
    start: PairWeights,
    limit: SizeLimit,
    barriers: Barriers = BARRIERS,
    steps: int | None = None,
) -> PairwiseBound:
    """The best bound that the search finds from a start."""
    best = best_pair_weights(centred_gram / np.trace(centred_gram), limit, start, barriers, steps)
    return evaluate(centred_gram, best, limit)


def _objective(bound: PairwiseBound) -> float:
    return bound.objective


def evaluate(centred_gram: FloatArray, weights: PairWeights, limit: SizeLimit) -> PairwiseBound:
    """The theorem, for any p with positive sum, symmetric N ≥ 0 with zero diagonal and ω > 0; Y ⪰ 0 is repaired."""
    n, halves = len(centred_gram), Halves.of(centred_gram)
    if halves.reflected:  # the average over the reflection is as good, and two halves need it
        p, N = weights.types, weights.pairs
        weights = PairWeights(0.5 * (p + p[::-1]), 0.5 * (N + N[::-1, ::-1]), weights.omega)
    p, N, omega, g = repaired(weights, limit)
    r = N.sum(axis=1)
    found = halves.root_trace(p, N, g, omega)
    trace = 0.0 if found is None else found.trace
    B = limit.at(float(r.sum()), omega).value
    return PairwiseBound(n * trace**2 / B, p, N, omega, g, B)


def repaired(weights: PairWeights, limit: SizeLimit) -> tuple[FloatArray, FloatArray, float, FloatArray]:
    """p, N, ω, g with Σp_u = 1 and Y ⪰ 0 up to the rounding of eigenvalues: every p_u is raised as needed.

    It is repeated on the numbers as rounded: where ω is tiny, Y sees the last digits of p.
    """
    p, N, omega = weights.types, weights.pairs, weights.omega
    total = float(p.sum())
    p, N, omega = p / total, N / total, omega / total
    for _ in range(REPAIRS):
        values = np.linalg.eigvalsh(certificate_matrix(p, p - limit.kappa * N.sum(axis=1), N, omega))
        noise = len(p) * np.finfo(float).eps * float(np.abs(values).max())
        if values[0] >= -noise:
            break
        lift = noise - 2.0 * float(values[0])
        s = 1.0 + len(p) * lift
        p, N, omega = (p + lift) / s, N / s, omega / s
    return p, N, omega, p - limit.kappa * N.sum(axis=1)


def certificate_matrix(p: FloatArray, g: FloatArray, N: FloatArray, omega: float) -> FloatArray:
    """Y = P(Diag p − N − ggᵀ/ω)P."""
    shifted = g - g.mean()
    Y = np.diag(p) - N
    Y -= Y.mean(axis=0)
    Y -= Y.mean(axis=1)[:, None]
    Y -= np.outer(shifted, shifted) / omega
    return np.asarray(0.5 * (Y + Y.T))


# What figures draw.

# Weights are used up to this n (three minutes and 3 GB at 4096).
WEIGHTS_LIMIT = 4096


def certified(workload: Workload, epsilon: float) -> float:
    """Return the largest lower bound on the average variance per user that takes no more than minutes.

    It holds for unbiased linear strategies (``registry.py``), in exact arithmetic, and is 0 where it is vacuous.
    """
    epsilon = check_epsilon(epsilon)
    if workload.domain_size > WEIGHTS_LIMIT:
        return centred_svd(workload, epsilon)
    # It is never below the bounds of ``parametric.py`` and ``spectral.py``.
    found = pairwise(workload, epsilon)
    return max(found, triples.proved(workload, epsilon, found)[0]) if found > 0.0 else found
