r"""A lower bound with one weight per user type, the best of which a concave problem finds.

Setting: McKenna, Maity, Mazumdar & Miklau (PVLDB 13(11), 2020). In the notation of ``local/strategy.py`` the average
variance per user of an ε-LDP strategy Q is (tr(X_c⁺C) − tr C)/n, C = PGP. Write c = cosh(ε/2), b = e^{ε/2}.

**Theorem.** Let p > 0 be weights of the types, Σp_u = 1, and let 1/c² ≥ ω ≥ 1 − n²/Σ(1/p_u), ω > 0. Then

.. math:: \operatorname{tr}(X_c^+C) \ge \frac nB \Bigl[\operatorname{tr}\,(C^{1/2} Y C^{1/2})^{1/2}\Bigr]^2, \qquad
          Y = P\bigl(\operatorname{Diag} p - p p^\top/\omega\bigr) P \succeq 0 ,

.. math:: B = B(\omega) = \max_{0\le w\le1}\; (1-w)\,\sigma_k + w\,\sigma_{k+1} + \omega\, w(1-w)\, c^2(t_k-t_{k+1})^2,

with k = ⌊n/(e^ε+1)⌋, t_j = n/((n−j)/b + jb), and σ_j = 2ct_j − 1 − t_j² the information of size j (``staircase.py``).

*Y ⪰ 0.* For z ⟂ 1 and every number α, (pᵀz)² = (Σ(p_u−α)z_u)² ≤ Σ(p_u−α)²/p_u · Σp_uz_u²; the best α, n/Σ(1/p_u),
makes the first factor 1 − n²/Σ(1/p_u) ≤ ω.

*tr(X_cY) ≤ B/n.* Splitting rows of Q into extreme rows does not lower tr(X_cY) (``certificate.py``), so let every row
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

import numpy as np

from factormech.arrays import FloatArray, check_epsilon
from factormech.bounds.average import same_for_all
from factormech.bounds.centred import CentredGram
from factormech.bounds.omega_limit import InformationLimit, feasible_omega
from factormech.bounds.pair_search import PairWeights
from factormech.bounds.proved import clearly_better, is_uniform, proved_variance
from factormech.bounds.spectral import centred_svd
from factormech.bounds.staircase import largest_information
from factormech.bounds.type_search import (
    Problem,
    TypeWeights,
    reflection,
    root_of,
    root_trace,
    weights_by_levels,
)
from factormech.workloads.base import Workload

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
    problem = Problem.of(centred_gram, partner)
    trace, _, _ = problem.root_trace(p[np.arange(len(p)) <= partner], omega)
    return len(p) * trace**2 / limit.at(omega)[0]
