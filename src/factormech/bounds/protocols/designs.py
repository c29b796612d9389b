r"""Designs beyond uniform faces: the hardest centre of the prior, and certificates with weights of pairs for large ε.

**The hardest centre.** ‖WF_m‖_* is concave in m, as tr(WD_mWᵀ)^{1/2} is the composition of a concave operator-monotone
function and one that is concave. For many users N·B tends to ‖WF_m‖_*²/sinh²(ε/2).

**Weights of pairs** (``pairwise.py``). For any p > 0 with sum S, N ≥ 0, r = N1, g = p − κr and ω > 0 let
Y = P(Diag p − N − ggᵀ/ω)P. The proof there, before its last step, shows for every v ∈ {1/b, b}ⁿ, b = e^{ε/2}, with
t = n/1ᵀv, τ = cosh(ε/2)t, y = tv − 1, and every number s

.. math:: y^\top Y y \le \varphi(\tau) + \omega(\tau - s)^2 + \eta^\top y, \qquad \eta = 2sg - 2(p - r) ,

φ(τ) = S(2τ − 1 − τ²/cosh²(ε/2)) + ν(1−κτ)². With B the largest φ + ω(τ−s)² over the n − 1 values of τ this is
vᵀYv ≤ (λᵀv)(1ᵀv/n), λ = η + (B − 1ᵀη)1/n, 1ᵀλ = B: a universal certificate for every Z with ZZᵀ ⪯ Y (Lemma 3).
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from scipy.optimize import minimize

from factormech.arrays import FloatArray
from factormech.bounds import pairwise, rigorous
from factormech.bounds.protocols import faces, prior
from factormech.bounds.protocols.faces import CentredAnswers
from factormech.bounds.protocols.squared import Design

# A hardest centre is searched for up to so many types; weights of pairs too, and where ε is at least the last number.
CENTRE_LIMIT, PAIRS_LIMIT, PAIRS_EPSILON = 256, 128, 1.5
# The least weight of a type in a prior, relatively to uniform weights; parameters are multiples of 2 to minus this.
_LEAST, _BITS = 0.02, 40
_STEPS = 200


def more_designs(problem: CentredAnswers, epsilon: float) -> list[Design]:
    """The designs of this module on the domain and its initial halves, quarters and so on; pairs also on spaced types.

    So all that is tried on the smaller domain is tried again in the larger one.
    """
    found, n = [], problem.types
    while n >= 2:
        found.append(centred_design(problem, tuple(range(n))))
        m = n if epsilon >= PAIRS_EPSILON else 0
        while m >= 2:
            types = np.unique(np.round(np.linspace(0, n - 1, m)))
            found.append(pairs_design(problem, epsilon, tuple(int(u) for u in types)))
            m //= 2
        n //= 2
    return [design for design in found if design is not None]


def centred_design(problem: CentredAnswers, types: tuple[int, ...]) -> Design | None:
    """The design with the hardest centre on a face; ``None`` where the uniform centre is the hardest."""
    if problem.symmetric or len(types) > CENTRE_LIMIT:
        return None
    m = hardest_centre(problem.gram[np.ix_(types, types)])
    exact = tuple(Fraction(max(round(x * 2**_BITS), 1), 2**_BITS) for x in m)
    total = sum(exact, Fraction(0))
    exact = tuple(x / total for x in exact)
    form, _ = faces.form_on(problem, types, np.array([float(x) for x in exact]))
    gains = faces.singular_values_near(form)
    if not len(gains):
        return None
    return Design(types, gains, np.ones(len(gains)), float(np.trace(form)), centre=exact)


def hardest_centre(gram: FloatArray) -> FloatArray:
    """The m, (n,), that makes the nuclear norm of WF_m largest, WᵀW = ``gram``, by ascent in log m from uniform m."""
    n = len(gram)
    floor = _LEAST / n

    def negative(x: FloatArray) -> tuple[float, FloatArray]:
        weights = np.exp(x - x.max())
        m = floor + (1.0 - n * floor) * weights / weights.sum()
        value, slope = nuclear_norm(gram, m)
        by_weight = (m - floor) * slope
        return -value, -(by_weight - (m - floor) / (1.0 - n * floor) * by_weight.sum())

    found = minimize(negative, np.zeros(n), jac=True, method="L-BFGS-B", options={"maxiter": _STEPS})
    weights = np.exp(found.x - found.x.max())
    return np.asarray(floor + (1.0 - n * floor) * weights / weights.sum())


def nuclear_norm(gram: FloatArray, centre: FloatArray) -> tuple[float, FloatArray]:
    """‖WF_m‖_* = tr(WD_mWᵀ)^{1/2} and its gradient in m.

    With H = (W D_m Wᵀ)^{−1/2}/2 the gradient is (w_u − Wm)ᵀH(w_u − Wm) up to a constant, which log m does not see, as
    tr(H·d(W D_m Wᵀ)) = Σ dm_u(w_uᵀHw_u − 2w_uᵀHWm). In terms of K = FᵀGF = VΛVᵀ it is ½(KK^{-1/2}… )_uu/m_u.
    """
    means = gram @ centre
    centred = gram - means[:, None] - means + float(centre @ means)
    root = np.sqrt(centre)
    values, V = np.linalg.eigh(centred * np.outer(root, root))
    keep = values > 1e-13 * float(values[-1])
    values, V = values[keep], V[:, keep]
    # FᵀWᵀ(WD_mWᵀ)^{−1/2}WF = K^{1/2}: its diagonal divided by m is (w_u − Wm)ᵀ(WD_mWᵀ)^{−1/2}(w_u − Wm).
    diagonal = np.einsum("ui,i,ui->u", V, np.sqrt(values), V) / centre
    return float(np.sqrt(values).sum()), 0.5 * np.asarray(diagonal)


def pairs_design(problem: CentredAnswers, epsilon: float, types: tuple[int, ...]) -> Design | None:
    """The design of the best weights of pairs on a face; ``None`` where they prove nothing or are too many."""
    m = len(types)
    if m > PAIRS_LIMIT:
        return None
    form, error = faces.form_on(problem, types)
    C = form * m
    C = 0.5 * (C + C.T)
    if not float(np.trace(C)) > m * error:
        return None
    found = pairwise.solve(C, epsilon)
    return None if not found.objective > 0.0 else _rigorous_design(types, C, error * m, form, epsilon, found)


def _rigorous_design(
    types: tuple[int, ...], C: FloatArray, error: float, form: FloatArray, epsilon: float, found: pairwise.PairwiseBound
) -> Design | None:
    """Z = TR, RRᵀ = C, with ZZᵀ = TCTᵀ ⪯ Y + ηI, as one direction: gain tr(TC), weight n·tr(TCTᵀ)."""
    n, ratio = len(C), prior.ratio_above(epsilon)
    p, N, scale = found.weights, found.pairs, float(np.abs(C).max())
    r = np.array([math.fsum(row) for row in N.tolist()])
    kappa = 2 / (ratio + 1)
    g, omega = p - float(kappa) * r, _omega(found, n, ratio)
    T = rigorous.pair_dual_guess(C / scale, np.diag(p) - N - np.outer(g, g) / omega) / math.sqrt(scale)
    gain = rigorous.trace_below(T, C, error)
    F, terms, wrong = rigorous.difference(T, C, p, N, g, omega)
    eta = Fraction((rigorous.excess_of(F, T, C, terms, error) + wrong) * (1.0 + 1e-6))
    limit, spread = certificate(p, r, omega, ratio)
    if not (gain > 0.0 and limit > 0):
        return None
    # tr(TCTᵀ), with the error of two products and of C.
    size, doubt = np.abs(T), 4.0 * n * 2.0**-53
    spent = float(np.sum((T @ C) * T)) + doubt * float(np.sum((size @ np.abs(C)) * size)) + error * float(np.sum(T * T))
    weight = n * spent * (1.0 + 1e-12)
    limit += eta * n * prior.uniform_trace_limit(n, ratio)
    trace = faces.centred_trace_above(form, error / n)
    return Design(types, np.array([gain]), np.array([weight]), trace, limit, spread)


def _omega(found: pairwise.PairwiseBound, n: int, ratio: Fraction) -> float:
    """ω, or where Pg is nothing but rounding the one at which ω Var τ is about 10⁻⁶ of B."""
    spread, flat = float(_tau(1, n, ratio) - _tau(n - 1, n, ratio)), 1e-9 * float(found.weights.max())
    return found.omega if spread == 0.0 or np.ptp(found.gap_vector) > flat else 1e-6 * found.information / spread**2


def _tau(size: int, n: int, ratio: Fraction) -> Fraction:
    """τ_j."""
    return n * (ratio + 1) / (2 * (n - size + size * ratio))


def certificate(p: FloatArray, r: FloatArray, omega: float, ratio: Fraction) -> tuple[Fraction, Fraction]:
    """B = 1ᵀλ and Σλ_u²/B², both from above, for the best s."""
    n, mass = len(p), sum(map(Fraction, p.tolist()), Fraction(0))
    nu = Fraction(math.fsum(r.tolist()) * (1.0 + 1e-14))
    kappa, flatness = 2 / (ratio + 1), 4 * ratio / (1 + ratio) ** 2
    tau = [_tau(j, n, ratio) for j in range(1, n)]
    phi = [mass * (2 * t - 1 - flatness * t * t) + nu * (1 - kappa * t) ** 2 for t in tau]
    s = _best_shift([float(t) for t in tau], [float(x) for x in phi], omega)
    B = max(x + Fraction(omega) * (t - s) ** 2 for x, t in zip(phi, tau, strict=True))
    eta = 2.0 * float(s) * (p - float(kappa) * r) - 2.0 * (p - r)
    multiplier = eta + (float(B) - float(eta.sum())) / n
    return B, Fraction(float(np.square(multiplier).sum()) / float(B) ** 2 * (1.0 + 1e-9))


def _best_shift(tau: list[float], phi: list[float], omega: float) -> Fraction:
    """The s that makes max_τ φ(τ) + ω(τ−s)², convex in s, least."""
    low, high = min(tau), max(tau)
    for _ in range(100):
        third = (high - low) / 3.0
        first, second = low + third, high - third
        at = [max(x + omega * (t - s) ** 2 for x, t in zip(phi, tau, strict=True)) for s in (first, second)]
        low, high = (low, second) if at[0] <= at[1] else (first, high)
    return Fraction(0.5 * (low + high))
