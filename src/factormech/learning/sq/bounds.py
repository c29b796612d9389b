r"""Lower bounds for learners by statistical queries, and local protocols simulated by such queries.

**Lower bounds.** They are on correlational queries, and on users with sequential reports or streams.

**Correlational queries** (Edmonds' Lemma 60 with a probability of failure). Laws λ_v with weights π have correlational
variance c-var = max_{|f| ≤ 1} E_π(E_{λ_v} b·f(a))². An oracle of tolerance τ answers 0 wherever it may. Then, for fixed
coins, the queries and the output h are the same under every v that has all answers 0; by Markov a query has another
answer under a share of at most c-var/τ² of the v, and h has a correlation of α_h or more under at most c-var/α_h². If
the algorithm reaches correlation α_h with probability 1 − β under each λ_v, then J·c-var/τ² + c-var/α_h² ≥ 1 − β:

.. math:: J \ge \tau^2\Bigl(\frac{1-\beta}{\text{c-var}} - \frac1{\alpha_h^2}\Bigr).

*Hard laws, ours.* U the dual matrix of γ₂(W, α), a_v = W_v•U_v/‖U_v‖₁, on the rows with a_v ≥ α: points of λ_v as
|U_v|/‖U_v‖₁, labels of mean s_v·sign U_v with s_v = α/a_v. Concept v has correlation exactly α, and M_v =
α·U_v/(W_v•U_v) is what f is multiplied by. With π̃_v ∝ W_v•U_v, Σ = Z ≥ W•U − α‖U‖₁, the matrix (π̃_vM_v) is (α/Z)U and
the L₂ step of :mod:`factormech.bounds.hard.certificate` gives c-var ≤ (α/γ₂(W, α))² at weights π̂; no binning and no
logarithm, which Lemma 61 (Edmonds, PhD thesis, University of Toronto, 2023) has, and whose λ̃ does not sum to 1. A
learner with excess loss e finds α_h = α − 2e.

*It never binds where Theorem 56 promises something*, whatever the laws. Its error for W ≈ RA (‖A‖ = 1, entries off by
a) is at least η = a + ‖R‖τ; the concept that seems best has the best correlation but for 2η, so e = η, and α_h > 0
takes α > 2η. But α ≤ Σπ_v W_v•M_v ≤ a + ‖R‖γ₂*(π̃M) ≤ a + K_G‖R‖√c-var, hence J < τ²/c-var ≤ (K_G‖R‖τ/(α − a))² <
K_G²/4 < 0.8. So the laws are shown by themselves: after J queries a correlation α_h is found with probability at most
c-var·(J/τ² + 1/α_h²).

**Refutation** of a pair (μ, y) of :mod:`factormech.learning.sq.dimension`, U_c = y_c − π_cμ, value V = max
Σ_c|U_c·F|, both errors of the test at most β:

- a single-intrusion ε-pan-private stream: each state is an ε-LDP report of the user who came last, so exchanging users
  one by one the total variation of the output is at most n(e^ε−1)/4·V (Edmonds' Lemma 5 with L₁ in the place of a
  square), and n_pan = 4(1−2β)/((e^ε−1)V);
- a sequential ε-LDP protocol: the transcripts under μ and λ_c have KL ≤ nκ(e^ε−1)²/4·‖M‖² on average
  (:mod:`factormech.bounds.hard.divergence`), and the test's own divergence is at least kl(β), so
  n_seq = 4kl(β)/(κ(e^ε−1)²‖M‖²), ‖M‖_{∞→L2(π̂)} ≤ γ₂*(U) ≤ 1.783·V. The weights π̂ are those of γ₂*'s dual, the norm is
  then computed for them. Around the centre μ, which is one for all pairs, the average of KL(ρ‖ρ(1+u)) of one report is
  at most κ⁻(u_*)sinh²(ε/2)Y/φ (``relative_constant``; :mod:`factormech.bounds.hard.divergence` has Y and φ), and
  n_seq = kl(β)/(κ⁻(u_*)sinh²(ε/2)Y/φ), which is up to e^ε times more; the larger of both counts.

A learner with loss α₁ < α that fails with probability β₁ becomes a test by estimating the loss of what it found:
subtract these users, and put the sum of both failures for β.

**Simulation.** The simulation is that of Kasiviswanathan, Lee, Nissim, Raskhodnikova & Smith (2011). A user with a
type u ∼ λ sends output o with probability Q_ou, so outputs have the law Qλ. To draw from it by queries about λ:
propose o with probability ∝ M_o = max_u Q_ou, ask for g_o(λ), g_o(u) = Q_ou/M_o ∈ [e^{−ε}, 1], and accept with that
probability. A report takes Σ_o M_o ≤ e^ε queries on average. g is asked as (2g − 1 − e^{−ε})/(1 − e^{−ε}) ∈ [−1, 1],
so a tolerance τ is (1 − e^{−ε})τ/2 in g and ϱ = (e^ε − 1)τ/2 relative to it; the law of an accepted report is then ∝
(1 + e_o)(Qλ)_o with |e_o| ≤ ϱ, which is within ϱ/(2(1 − ϱ)) of Qλ in total variation, and n reports within n times
that. ``tolerance_for`` is the τ that makes it β. (SIAM J. Comput. 40(3), Lemma 5.8, has β/(3e^{2ε}) for one report.)
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from factormech.arrays import FloatArray, IntArray, check_epsilon, check_positive_integer
from factormech.bounds.hard.divergence import checked_error, kappa, kl_of_error
from factormech.bounds.hard.pairs import HardPairs, upper_norm
from factormech.errors import BadValue
from factormech.learning.concepts import ConceptClass
from factormech.learning.information import relative_constant
from factormech.learning.sq.dimension import QueryValue
from factormech.learning.sq.oracles import Oracle, check_failure, check_tolerance
from factormech.norms.certificates import dual_norm
from factormech.numerics.rounding import above, spectral_norm_above
from factormech.privacy.guarantee import verify_ldp

# Lower bounds.

# What the sums of the last lines may lose to rounding.
_SLACK = 1.0 - 1e-9
# Between the column weights and μ, for the centre.
_SHARES = (0.0, 0.25, 0.5, 0.75, 0.9, 1.0)


@dataclass(frozen=True)
class HardCorrelations:
    """Laws on which some concept has correlation α and no function has much on average.

    Attributes
    ----------
    laws
        λ_v, (rows, 2T).
    weights
        π̂, (rows,).
    rows
        The concepts of the laws.
    alpha
        The correlation of concept v with λ_v.
    variance
        At least c-var.
    """

    laws: FloatArray
    weights: FloatArray
    rows: IntArray
    alpha: float
    variance: float


def hard_correlations(concepts: ConceptClass, alpha: float) -> HardCorrelations:
    """The laws made of the dual matrix of γ₂(W, α)."""
    from factormech.norms.approximate import approximate_norm

    if not 0.0 < alpha < 1.0:
        raise BadValue("alpha", alpha, "be a correlation above 0 and below 1", "give for example 0.1")
    W = concepts.labels
    U = approximate_norm(W, alpha).witness["dual"]
    won = np.einsum("vx,vx->v", W, U)
    mass = np.abs(U).sum(axis=1)
    kept = np.flatnonzero((mass > 0.0) & (won >= alpha * mass))
    if not len(kept):
        raise BadValue("alpha", alpha, "leave a concept of this correlation", "give a smaller alpha")
    U, won, mass = U[kept], won[kept], mass[kept]
    M = alpha * U / won[:, None]
    points = np.abs(U) / mass[:, None]
    weights, size, _ = _balanced(won / won.sum(), M)
    first = np.concatenate([0.5 * (points + M), 0.5 * (points - M)], axis=1)
    second = np.concatenate([0.5 * points, 0.5 * points], axis=1)
    # b·M(a)/2 against F on labelled points is M against its odd part.
    norm = min(size, upper_norm(_family(first, second, weights)))
    return HardCorrelations(first, weights, kept, alpha, above(norm * norm))


def correlational_queries(hard: HardCorrelations, tolerance: float, failure: float, excess_loss: float = 0.0) -> float:
    """Fewer queries than this do not learn to ``excess_loss`` with this probability of failure; at least 0."""
    tau, beta = check_tolerance(tolerance), check_failure(failure)
    reached = hard.alpha - 2.0 * excess_loss
    if reached <= 0.0:
        return 0.0
    return max(0.0, _SLACK * tau**2 * ((1.0 - beta) / hard.variance - 1.0 / reached**2))


def correlational_success(hard: HardCorrelations, tolerance: float, queries: int, excess_loss: float = 0.0) -> float:
    """At least the probability of learning to ``excess_loss`` on a law drawn by π̂, after so many queries."""
    tau, J = check_tolerance(tolerance, zero=False), check_positive_integer("queries", queries)
    reached = hard.alpha - 2.0 * excess_loss
    if reached <= 0.0:
        return 1.0
    return min(1.0, hard.variance * (J / tau**2 + 1.0 / reached**2) / _SLACK)


def pan_private_users(value: QueryValue, epsilon: float, beta: float) -> float:
    """n_pan: fewer users of a single-intrusion ε-pan-private stream do not refute with both errors at most β."""
    e, b = check_epsilon(epsilon), checked_error(beta)
    return math.inf if value.upper <= 0.0 else _SLACK * 4.0 * (1.0 - 2.0 * b) / (math.expm1(e) * value.upper)


@dataclass(frozen=True, eq=False)
class SequentialPairs:
    """What bounds users of sequential protocols that tell λ_c from μ, of a pair (μ, y).

    Attributes
    ----------
    norm
        At least ‖M‖_{∞→L2(π̂)} of M_c = λ_c − μ, for the π̂ of γ₂*.
    centred
        The least Y/φ found, Y the sum of a y with diag(y) ⪰ MᵀΠ̂M and μ ≥ φy/Y; ∞ where M is not 0 beyond μ.
    row_mass
        The largest ‖M_c‖₁.
    laws, weights
        λ_c of the concepts that are used, and their π̂.
    """

    norm: float
    centred: float
    row_mass: float
    laws: FloatArray
    weights: FloatArray


def sequential_pairs(value: QueryValue) -> SequentialPairs:
    """Return the numbers of the pair (μ, y) of a value.

    With r between the column weights q of γ₂* and μ, Y = ‖Π̂^{½}M diag(r)^{−½}‖² has diag(Yr) ⪰ MᵀΠ̂M, and μ ≥ φr for
    the least φ = μ_x/r_x: the r of the least Y/φ is taken.
    """
    kept = value.weights > 1e-12
    pi = value.weights[kept] / value.weights[kept].sum()
    laws = value.joint[kept] / value.joint[kept].sum(axis=1, keepdims=True)
    mu = value.law / value.law.sum()
    M = laws - mu
    weights, size, q = _balanced(pi, M)
    norm = min(size, upper_norm(_family(laws, np.broadcast_to(mu, laws.shape), weights)))
    used = np.abs(M).max(axis=0) > 0.0
    centred, scaled = math.inf, np.sqrt(weights)[:, None] * M[:, used]
    if mu[used].min() > 0.0:
        for share in _SHARES:
            r = (1.0 - share) * q[used] / q[used].sum() + share * mu[used] / mu[used].sum()
            Y = above(spectral_norm_above(scaled / np.sqrt(r)) ** 2, 4)
            centred = min(centred, above(Y / min(1.0, float((mu[used] / r).min())), 8))
    return SequentialPairs(norm, centred, float(np.abs(M).sum(axis=1).max()), laws, weights)


def sequential_users(pairs: SequentialPairs, epsilon: float, beta: float) -> float:
    """n_seq: fewer users of a sequential ε-LDP protocol do not refute with both errors at most β."""
    e, b = check_epsilon(epsilon), checked_error(beta)
    if pairs.norm <= 0.0:
        return math.inf
    plain = 4.0 * kl_of_error(b) / (kappa(e) * (math.expm1(e) * pairs.norm) ** 2)
    u = min(-math.expm1(-e), 0.5 * math.expm1(e) * pairs.row_mass)
    chi2 = math.sinh(0.5 * e) ** 2 * pairs.centred
    return _SLACK * max(plain, kl_of_error(b) / (relative_constant(u, interactive=True) * chi2))


def _balanced(pi: FloatArray, M: FloatArray) -> tuple[FloatArray, float, FloatArray]:
    """π̂ of the L₂ step, γ₂*(π̃M)/√σ, at least the norm of M with these weights, and the weights of the columns."""
    dual = dual_norm(pi[:, None] * M)
    p = np.maximum(dual.row_scales**2, 1e-300)
    parts = pi**2 / p
    sigma = float(parts.sum())
    q = np.maximum(dual.column_scales**2, 1e-12 * float((dual.column_scales**2).max()))
    return parts / sigma, above(dual.upper / math.sqrt(sigma), 8), q


def _family(first: FloatArray, second: FloatArray, weights: FloatArray) -> HardPairs:
    return HardPairs(first, np.array(second), weights, np.arange(len(weights)))


# Simulation.

# Numbers of values of queries that are held at once.
_CELLS = 2**21


def simulate_reports(
    strategy: Any, epsilon: float, oracle: Oracle, users: int, rng: np.random.Generator
) -> tuple[IntArray, int]:
    """How many of the users' reports are each output, (m,), and the number of queries that it took.

    ``strategy`` is Q, outputs × types, ε-LDP.
    """
    Q = np.asarray(strategy, dtype=float)
    verify_ldp(Q, epsilon)
    if Q.shape[1] != len(oracle.law):
        raise BadValue(
            "types of the strategy", Q.shape[1], f"be the oracle's, {len(oracle.law)}", "give one column each"
        )
    waiting, counts, asked = check_positive_integer("users", users), np.zeros(len(Q), dtype=np.int64), oracle.asked
    Q = Q[Q.max(axis=1) > 0.0]
    used = np.flatnonzero(np.asarray(strategy).max(axis=1) > 0.0)
    most, least = Q.max(axis=1), math.exp(-epsilon)
    queries = np.clip((2.0 * Q / most[:, None] - 1.0 - least) / (1.0 - least), -1.0, 1.0)
    while waiting:
        proposed = rng.choice(len(Q), size=min(waiting, max(1, _CELLS // Q.shape[1])), p=most / most.sum())
        answers = oracle.ask(queries[proposed])
        accepted = proposed[rng.random(len(proposed)) < 0.5 * (1.0 + least + (1.0 - least) * answers)]
        counts[used] += np.bincount(accepted, minlength=len(Q))
        waiting -= len(accepted)
    return counts, oracle.asked - asked


def tolerance_for(epsilon: float, users: int, failure: float) -> float:
    """The τ of which all reports together are within ``failure`` of the protocol's in total variation."""
    e, b = check_epsilon(epsilon), check_failure(failure)
    share = 2.0 * b / (check_positive_integer("users", users) + 2.0 * b)
    return min(1.0, 2.0 * share / math.expm1(e))
