r"""Lower bounds on the worst-case variance: the average under a prior on the user types is never above the worst.

**Any domain.** Setting: McKenna, Maity, Mazumdar & Miklau (PVLDB 13(11), 2020); notation of ``parametric.py``, whose
theorem this is at ω = 1/c² where the prior is uniform.

**Theorem.** Let x be a distribution over the types, RRᵀ = C, R_x = R − 1xᵀR, and p > 0 weights with Σp_u = 1 and
Σx_u²/p_u ≤ coth²(ε/2). No unbiased ε-LDP factorization mechanism has worst-case variance per user below

.. math:: \frac{T^2}{\sinh^2(\varepsilon/2)} - \sum_u x_u \lVert (R_x)_u\rVert^2 , \qquad
          T = \operatorname{tr}\bigl(R_x^\top(\operatorname{Diag} p - c^2pp^\top)R_x\bigr)^{1/2},

c = cosh(ε/2).

*The objective.* As the number of users is known, W may be replaced by W − Wx1ᵀ, of Gram matrix C_x = R_xR_xᵀ, C_xx = 0.
Let V be any reconstruction, VQ = W, and d = Qx the chances of the reports under x. The mean of Σ_oQ_ou‖Ve_o‖² over x is
tr(V Diag(d) Vᵀ) ≥ tr(X⁻¹C_x), X = QᵀDiag(d)⁻¹Q, Theorem 3.10 with d in place of D; and Xx = 1. So X = 11ᵀ + X_c with
X_cx = 0, and only X_c acts on C_x.

*The information.* Let the rows be multiples of vectors v with entries 1/b and b, b = e^{ε/2}, drawn with probability
d_o, t = 1/(xᵀv) and y = tv − 1. Then xᵀy = 0, E y = 0 and X_c = E[yyᵀ]. As in ``parametric.py``, with τ = ct and
μ = pᵀy, yᵀ(Diag p − c²ppᵀ)y = 2τ − 1 − t² + 2(τ−1)μ − c²μ², and E[2(τ−Eτ)μ] ≤ E[Var t + c²μ²]. In the mean it is at
most 2cEt − 1 − (Et)² ≤ c² − 1 = sinh²(ε/2): here t may take any value.

*Y ⪰ 0 on the complement of x.* (pᵀz)² = (Σ(p_u−αx_u)z_u)² ≤ (1 − 1/Σ(x_u²/p_u))·Σp_uz_u² for the best α, and the factor
is at most 1/c². Cauchy–Schwarz ends the proof. ∎

The best x weighs the types whose variance is largest. It gains little (below 1 % in what was tried): at small ε the
variance is mostly noise that is the same for all types, and at large ε ``pairwise.py`` is stronger. The search ascends
in x and p together; the result is evaluated from the theorem.

**Small domains.** Here the variance averaged under a prior is bounded by a check of every extreme report. Setting and
class of mechanisms are those of ``scatter.py``: unbiased linear strategies. A bound on the average under a prior x of
the user types is one on the worst case.

**Theorem.** Let z_u be any vectors, one a user type, and let λ satisfy, for all v ∈ {e^{−ε}, 1}ⁿ,

.. math:: F(v) = \sum_{u<w} \frac{x_uv_u\,x_wv_w}{x^\top v}\lVert z_u-z_w\rVert^2 \;\ge\; \lambda^\top v .

Then Σx_uVar_u ≥ 1ᵀλ − Σx_u‖z_u − w_u‖² for every ε-LDP strategy of any number of outputs, with any reconstruction.

*Proof.* As for Theorem 1 of ``scatter.py``, each type weighed by x_u: Σx_uVar_u ≥ Σ_oF(Q_o) − Σx_u‖z_u−w_u‖², Q_o the
rows of Q. F is homogeneous, and concave, since F(q) = Σx_uq_u‖z_u‖² − ‖Σx_uq_uz_u‖²/xᵀq. A row is Σθv of vectors
v ∈ {e^{−ε}, 1}ⁿ, so that F(Q_o) ≥ Σθ F(v) ≥ λᵀQ_o, and the columns of Q sum to one. ∎

**Repair.** λ + c1 satisfies the condition for c = min_v (F(v) − λᵀv)/1ᵀv: any z and λ give a bound. From T and λ₀ of
``certificates.py``, with tr(TC) and 1ᵀλ₀, take s = tr(TC)/1ᵀλ₀, z_u = s(Tw)_u/(nx_u) and
λ_u = x_u‖z_u‖² − s²λ_{0u}/n: in exact arithmetic the bound is then the same.

**Rounding.** F is a sum of products of positive terms: its relative error is below γ of 2n² + 16. Distances and
Σx_u‖z_u − w_u‖² are rounded as in ``scatter.py``. e^{−ε} is rounded down, which makes more strategies private.
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from factormech.arrays import FloatArray, check_epsilon
from factormech.bounds.centred import CentredGram
from factormech.bounds.pairwise import certified
from factormech.bounds.proved import same_for_all
from factormech.bounds.scatter import distances_below
from factormech.errors import BadValue
from factormech.numerics.descent import minimise
from factormech.workloads.base import Workload

# Any domain.

# A prior is searched for up to this n, each step costing an eigendecomposition, and while the difference of the two
# terms keeps its digits; beyond this budget ``pairwise.py`` is stronger.
PRIOR_LIMIT = 1024
EPSILON_LIMIT = 8.0
# What is taken off the first term for its roundings: a model of the eigenvalue solver, no proof.
ROUNDING = 1e-11
# The barrier that keeps Y ≻ 0, and the gain that is too little at each.
BARRIERS = ((1e-3, 1e-5), (1e-5, 1e-7))
STEPS_LIMIT = 150
LARGEST_LOGARITHM = 200.0


def worst_case(workload: Workload, epsilon: float) -> float:
    """The best of these bounds on the worst-case variance per user, and of those on the average; at least 0."""
    epsilon, n = check_epsilon(epsilon), workload.domain_size
    average = certified(workload, epsilon)
    moved_to_every_other = workload.centred_walsh_spectrum() is not None  # then the uniform prior is the best
    if n == 1 or n > PRIOR_LIMIT or epsilon > EPSILON_LIMIT or moved_to_every_other:
        return average
    C = workload.centred_gram()
    trace = float(np.trace(C))
    if same_for_all(workload, trace):
        return average
    scale = trace / n
    prior, weights = best_prior(C / scale, epsilon)
    return max(average, scale * prior_bound(C / scale, epsilon, prior, weights))


def prior_bound(
    centred_gram: FloatArray, epsilon: float, prior: FloatArray, weights: FloatArray | None = None
) -> float:
    """The theorem for any prior and weights (x itself without any); weights too far from x are moved towards it."""
    x = np.asarray(prior, dtype=float)
    if x.shape != (len(centred_gram),) or not (x.min() > 0.0 and abs(float(x.sum()) - 1.0) <= 1e-9):
        raise BadValue("prior", x, "be positive, of sum 1, and have an entry per type", "mix in a little of uniform")
    x = x / x.sum()
    p = x if weights is None else weights / weights.sum()
    most = 1.0 / math.tanh(epsilon / 2.0) ** 2
    # Σx²/p is convex in p and 1 at p = x: on the way there it falls at least linearly.
    excess = float(np.sum(x**2 / p)) - 1.0
    keep = min(1.0, (most - 1.0) * (1.0 - 1e-9) / excess) if excess > 0.0 else 1.0
    T, _, _ = _root_trace(_root(centred_gram), x, keep * p + (1.0 - keep) * x, epsilon)
    return (1.0 - ROUNDING) * T**2 / math.sinh(epsilon / 2.0) ** 2 - _own_variance(_root(centred_gram), x)[0]


def best_prior(centred_gram: FloatArray, epsilon: float) -> tuple[FloatArray, FloatArray]:
    """The x and p that the search finds, from uniform ones."""
    n, R = len(centred_gram), _root(centred_gram)
    point = np.zeros(2 * n)
    for barrier, gain in BARRIERS:
        function = partial(_negative, R, check_epsilon(epsilon), barrier=barrier)
        point, _ = minimise(function, point, gain, STEPS_LIMIT)
    x = _softmax(point[:n])
    return x, _softmax(point[:n] + _unit(epsilon) * point[n:])


def _negative(R: FloatArray, epsilon: float, point: FloatArray, barrier: float) -> tuple[float, FloatArray]:
    """−(bound)/(its size at the start) − β log(slack); the point is log x and log(p/x) in units of 1/c."""
    n = len(R)
    x = _softmax(point[:n])
    p = _softmax(point[:n] + _unit(epsilon) * point[n:])
    tanh_squared = math.tanh(epsilon / 2.0) ** 2
    slack = 1.0 - tanh_squared * float(np.sum(x**2 / p))
    if not slack > 0.0 or not np.isfinite(slack):
        return math.inf, np.zeros_like(point)
    T, by_p, by_x = _root_trace(R, x, p, epsilon)
    own, own_by_x = _own_variance(R, x)
    sinh_squared = math.sinh(epsilon / 2.0) ** 2
    unit = float(np.sum(np.linalg.norm(R, axis=0))) ** 2 / n / sinh_squared
    value = (own - T**2 / sinh_squared) / unit - barrier * math.log(slack)
    by_x = (own_by_x - 2.0 * T / sinh_squared * by_x) / unit + barrier * tanh_squared / slack * 2.0 * x / p
    by_p = -2.0 * T / sinh_squared * by_p / unit - barrier * tanh_squared / slack * (x / p) ** 2
    along_p = p * (by_p - p @ by_p)
    along_x = x * (by_x - x @ by_x)
    return value, np.concatenate([along_x + along_p, _unit(epsilon) * along_p])


def _root_trace(R: FloatArray, x: FloatArray, p: FloatArray, epsilon: float) -> tuple[float, FloatArray, FloatArray]:
    """T and its derivatives by p and by x, each entry on its own."""
    c2 = math.cosh(epsilon / 2.0) ** 2
    A = R - x @ R
    w = A.T @ p
    values, vectors = np.linalg.eigh((A.T * p) @ A - c2 * np.outer(w, w))
    keep = values > len(R) * np.finfo(float).eps * max(float(values[-1]), 0.0)
    values, vectors = values[keep], vectors[:, keep]
    U = (A @ vectors) * values**-0.25
    projected = U.T @ p
    by_p = 0.5 * np.einsum("ur,ur->u", U, U) - c2 * (U @ projected)
    # dR_x = −1dxᵀR, and (Diag p − c²ppᵀ)1 = (1 − c²)p.
    by_x = (c2 - 1.0) * (((R @ vectors) * values**-0.25) @ projected)
    return float(np.sum(np.sqrt(values))), by_p, by_x


def _own_variance(R: FloatArray, x: FloatArray) -> tuple[float, FloatArray]:
    """Σx_u‖(R_x)_u‖² and its derivatives by x."""
    mean = x @ R
    squares = np.einsum("ur,ur->u", R - mean, R - mean)
    return float(x @ squares), squares


def _unit(epsilon: float) -> float:
    """1/c: the size of log(p/x) that Y ⪰ 0 allows."""
    return 1.0 / math.cosh(epsilon / 2.0)


def _softmax(z: FloatArray) -> FloatArray:
    e = np.exp(np.maximum(z - z.max(), -LARGEST_LOGARITHM))
    return np.asarray(e / e.sum())


def _root(C: FloatArray) -> FloatArray:
    """R of full column rank with RRᵀ = C, its columns orthogonal."""
    values, vectors = np.linalg.eigh(C)
    keep = values > len(C) * np.finfo(float).eps * max(float(values[-1]), 0.0)
    return np.asarray(vectors[:, keep] * np.sqrt(values[keep]))


# Small domains.

DOMAIN_LIMIT = 20
_UNIT = 2.0**-53
_SLACK = 1.0 + 1e-6
# Vectors v that are looked at together.
_TOGETHER = 2**14


def universal_variance(
    gram: CentredGram, epsilon: float, prior: FloatArray, dual: FloatArray, multiplier: FloatArray
) -> float:
    """Return a lower bound on the variance per user averaged under a prior; 0 where nothing is proved.

    Parameters
    ----------
    gram
        The centred Gram matrix C, n ≤ 20.
    epsilon
        The budget.
    prior
        x, (n,), positive; its sum is made 1 at most.
    dual, multiplier
        T, (n, n), and λ₀, (n,), such as the exact solvers give; any give a bound.
    """
    C, n = gram.matrix, len(gram.matrix)
    x = _below_one(np.asarray(prior, dtype=float), n)
    T, guess = np.asarray(dual, dtype=float), np.asarray(multiplier, dtype=float)
    scale = float(np.sum(T * C)) / float(guess.sum()) if float(guess.sum()) > 0.0 else 0.0
    if not (scale > 0.0 and math.isfinite(scale)):
        return 0.0
    E = scale * T / (n * x[:, None]) - np.eye(n) + x
    M = C + E @ C + C @ E.T + E @ C @ E.T
    sums, largest = np.abs(E).sum(axis=1) * _SLACK, float(np.abs(C).max())
    gamma = 4.0 * (n + 4) * _UNIT
    reach = (1.0 + float(sums.max())) ** 2
    d = distances_below(M, (gamma * largest + gram.entry_error) * reach)
    cost = float(x @ (np.einsum("uv,uv->u", E @ C, E) + (gamma * largest + gram.entry_error) * sums**2))
    centred = M - (M @ x)[:, None] - M @ x + x @ M @ x
    start = x * np.diagonal(centred) - scale**2 * guess / n
    gain = float(start.sum()) + n * _least_slack(d, x, start, math.exp(-check_epsilon(epsilon)) * (1.0 - 4.0 * _UNIT))
    rounding = 8.0 * n * _UNIT * (float(np.abs(start).sum()) + abs(cost))
    return max(gain - cost - rounding, 0.0)


def _least_slack(d: FloatArray, x: FloatArray, multiplier: FloatArray, low: float) -> float:
    """min over v of (F(v) − λᵀv)/1ᵀv, rounded down."""
    n, least = len(x), math.inf
    gamma = (2.0 * n * n + 16.0) * _UNIT
    bits = np.arange(n)
    for first in range(0, 2**n, _TOGETHER):
        chosen = np.arange(first, min(first + _TOGETHER, 2**n))[:, None] >> bits & 1
        v = np.where(chosen == 1, 1.0, low)
        y = v * x
        F = 0.5 * np.einsum("ku,ku->k", y @ d, y) / y.sum(axis=1)
        doubt = gamma * (v @ np.abs(multiplier) + F)
        least = min(least, float(((F - v @ multiplier - doubt) / v.sum(axis=1)).min()))
    return least - 4.0 * n * _UNIT * abs(least)


def _below_one(prior: FloatArray, n: int) -> FloatArray:
    """The prior with a sum of at most 1, which is all that a bound on the worst case needs."""
    if not 2 <= n <= DOMAIN_LIMIT or prior.shape != (n,):
        raise BadValue("shape of prior", prior.shape, f"be (n,), 2 ≤ n ≤ {DOMAIN_LIMIT}", "give a weight per type")
    if not (np.isfinite(prior).all() and prior.min() > 0.0):
        raise BadValue("prior", "not positive", "be positive", "mix in a little of the uniform one")
    return np.asarray(prior / (math.fsum(prior.tolist()) * (1.0 + 4.0 * _UNIT)))
