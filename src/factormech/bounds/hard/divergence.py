r"""How much n private reports can say about which of two distributions the users came from, every constant explicit.

A family of pairs (λ_v, μ_v) with weights π has M with rows λ_v − μ_v and ‖M‖² = max E_π (M_v·f)² over |f| ≤ 1
(``norm``). One user's ε-LDP randomizer r(y|x) turns λ_v and μ_v into laws p_v and q_v of the report.

**One user.** Put b(y) = min_x r(y|x), so that r(y|x) = b(y)((e^ε+1)/2 + (e^ε−1)/2·f_y(x)) with |f_y| ≤ 1. As the rows
of M sum to 0, p_v(y) − q_v(y) = b(y)(e^ε−1)/2·M_v·f_y. With p_v, q_v ≥ b and Σb ≤ 1,

.. math:: E_\pi\chi^2(p_v\Vert q_v) \le E_\pi\sum_y \frac{(p_v-q_v)^2}{b}
          \le \frac{(e^\varepsilon-1)^2}{4}\lVert M\rVert^2 =: \bar\chi^2

(Edmonds, Nikolov & Ullman, STOC 2020, have e^ε(e^ε−1)²‖M‖² for KL). From it, on average over π:

- KL ≤ κχ̄² in nats, either way round: p/q ≥ e^{−ε}, and (t ln t − t + 1)/(t−1)² decreases in t, so κ is its value at
  e^{−ε}, (1 − (1+ε)e^{−ε})/(1 − e^{−ε})², from ½ at ε = 0 to 1;
- Hellinger: H² = Σ(√p − √q)² = Σ(p−q)²/(√p+√q)² ≤ Σ(p−q)²/(4b), so H² ≤ χ̄²/4;
- total variation ½Σ|p−q| ≤ (e^ε−1)/4·E_π|M_v·f| ≤ (e^ε−1)/4·‖M‖.

**Information**: one report has at most ε²/8 nats about the data, whatever their law: against the law of reports
∝ √(min_x r·max_x r) the log-likelihoods span ε, and KL = ∫₀¹ sψ''(s)ds, where ψ'' is the variance of a number in an
interval of length ε, at most ε²/4. By the chain rule n reports have nε²/8, also of a sequential protocol.

**n users, non-interactive** (each with a randomizer of their own). P_v, Q_v: laws of all reports. Suppose the total
variation of P_v and Q_v is at least V = 1 − 2β for **every** v with π_v > 0, as a test with both errors ≤ β implies.

- Jeffreys: a test of error probabilities 1 − p and q, p − q = V, gives KL(P‖Q) + KL(Q‖P) ≥ V(logit p − logit q); with
  y = (p+q−1)/2 the difference of logits is ln[((1+V)²/4 − y²)/((1−V)²/4 − y²)], least at y = 0. So the mean of both is
  at least kl(β) = (1−2β)ln((1−β)/β), and being at most nκχ̄² on average over v, n ≥ kl(β)/(κχ̄²).
- Affinity: A = Σ√(PQ) has V² ≤ 1 − A², so Σ_i ln(1/A_i) = ln(1/A) ≥ L = −½ln(4β(1−β)); A_i = 1 − x_i, x_i = H_i²/2.
  Two laws whose ratio is within e^{±ε} have A_i ≥ 1/cosh(ε/2), and x_i ≤ (e^ε−1)²‖M_v‖₁²/32 as above: with x* the
  lesser bound of x_i, convexity of −ln(1−x) gives ln(1/A_i) ≤ c·x_i, c = −ln(1−x*)/x*, and n ≥ 8L/(cχ̄²).

The second is the better where c < 1/κ nearly: at every ε ≤ 4.

**n users, sequential**, if all μ_v are one ν: under ν^n the transcript has a law that does not depend on v, so by the
chain rule the average KL(ν‖λ_v) of transcripts is at most nκχ̄² (Edmonds, Nikolov & Ullman, STOC 2020, for this case).
As V² ≤ 1 − e^{−KL} (Bretagnolle & Huber, 1979), KL ≥ 2L and n ≥ 2L/(κχ̄²).

**Pairs around a centre: e^ε times better.** Let y ≥ 0 have diag(y) ⪰ MᵀΠM and sum Y, as the relaxation of ‖M‖² has
(``norm``), and let ν ≥ φ·y/Y, φ ≤ 1, be a distribution with λ_v, μ_v = ν ± M_v/2. Write r(y|x) = m(y)(1 + τf_y(x)),
τ = tanh(ε/2), |f_y| ≤ 1, and s = Σ_x(y_x/Y)f_y(x). As M1 = 0, E_π(M_vf)² = E_π(M_v(f − s1))² ≤ Σ_x y_x(f(x) − s)² ≤
Y(1 − s²). The law of a report under ν is at least φ·m(1 + τs), and m(1 + τs) sums to 1, so

.. math:: E_\pi\sum_y\frac{(p_v-q_v)^2}{\rho_\nu} \le \frac{Y}{\varphi}\,\tau^2\max_s\frac{1-s^2}{(1+\tau s)^2}
          = \sinh^2(\varepsilon/2)\,Y/\varphi =: \hat\chi^2

(s = −τ), and sinh²(ε/2) = e^{−ε}(e^ε−1)²/4. With w = (p−q)/(2ρ), |w| ≤ w* = min(τ, (e^ε−1)/4·max‖M_v‖₁), the affinity
of one report is A_i = Σρ√(1−w²) ≥ 1 − (x*/w*²)Σρw², x* = 1 − √(1−w*²), so ln(1/A_i) ≤ −ln(1−w*²)/(2w*²)·Σρw², on
average at most −ln(1−w*²)/(8w*²)·χ̂²: n ≥ 8L·w*²/(−ln(1−w*²)χ̂²). For a sequential protocol let μ_v = ν, λ_v = ν + M_v
instead: KL(ν‖λ_v) = Σρ(u − ln(1+u)) with u = (p−ρ)/ρ ≥ −u*, u* = min(1 − e^{−ε}, (e^ε−1)/2·max‖M_v‖₁), is at most
κ'Σρu², κ' = (−ln(1−u*) − u*)/u*², so n ≥ 2L/(κ'χ̂²).
"""

from __future__ import annotations

import math
from typing import Any, Literal

from factormech.arrays import check_epsilon
from factormech.errors import BadValue, UnknownName

Protocol = Literal["non-interactive", "sequential"]
PROTOCOLS: tuple[Protocol, ...] = ("non-interactive", "sequential")

# Every bound is a handful of roundings of functions that are right to a few units in the last place.
_SLACK = 1.0 - 2.0**-44
# Below this ε the series of κ is used: the closed form would lose half of its digits.
_SERIES_BELOW = 1e-2


def kappa(epsilon: float) -> float:
    """κ(ε) = (1 − (1+ε)e^{−ε})/(1 − e^{−ε})²: KL ≤ κ·χ² where no likelihood ratio is below e^{−ε}."""
    e = check_epsilon(epsilon)
    if e < _SERIES_BELOW:
        # (e^ε − 1 − ε)e^{−ε} over (1 − e^{−ε})², both divided by ε²; the next terms are below 1e-16.
        top = math.exp(-e) * sum(e**j / math.factorial(j + 2) for j in range(8))
        return top / (-math.expm1(-e) / e) ** 2
    return (-math.expm1(-e) - e * math.exp(-e)) / math.expm1(-e) ** 2


def kl_of_error(beta: float) -> float:
    """kl(β) = (1 − 2β)ln((1−β)/β): the divergence of coins of bias β and 1 − β."""
    b = checked_error(beta)
    return (1.0 - 2.0 * b) * (math.log1p(-b) - math.log(b))


def log_affinity(beta: float) -> float:
    """L = −½ln(4β(1−β)), at most ln(1/A) where the total variation is at least 1 − 2β."""
    return -0.5 * math.log1p(-((1.0 - 2.0 * checked_error(beta)) ** 2))


def chi_squared(norm: float, epsilon: float) -> float:
    """χ̄² = (e^ε − 1)²/4·‖M‖²: bounds one report's average χ²."""
    return 0.25 * (math.expm1(check_epsilon(epsilon)) * _checked_norm(norm)) ** 2


def kullback_leibler(norm: float, epsilon: float) -> float:
    """κχ̄²: bounds one report's average Kullback–Leibler divergence, nats."""
    return kappa(epsilon) * chi_squared(norm, epsilon)


def squared_hellinger(norm: float, epsilon: float) -> float:
    """χ̄²/4: bounds one report's average Σ(√p − √q)²."""
    return 0.25 * chi_squared(norm, epsilon)


def total_variation(norm: float, epsilon: float) -> float:
    """(e^ε − 1)/4·‖M‖: bounds one report's average total variation; ‖M‖_{∞→L1(π)} may be put for the norm."""
    return 0.25 * math.expm1(check_epsilon(epsilon)) * _checked_norm(norm)


def information(users: int, epsilon: float) -> float:
    """nε²/8: bounds the mutual information of the data and n reports in nats, for any law of the data."""
    return users * check_epsilon(epsilon) ** 2 / 8.0


def convexity(epsilon: float, row_mass: float = 2.0) -> float:
    """c ≥ 1 with ln(1/A) ≤ c·H²/2 for the laws of one report, ``row_mass`` being the largest ‖λ_v − μ_v‖₁."""
    e = check_epsilon(epsilon)
    x = min(1.0 - 1.0 / math.cosh(min(0.5 * e, 300.0)), (math.expm1(min(e, 300.0)) * row_mass) ** 2 / 32.0)
    if x < 1e-8:  # 1 + x/2 and more
        return 1.0 + x
    return -math.log1p(-x) / x * (1.0 + 2.0**-44) if x < 1.0 else math.inf


def advantage(norm: float, epsilon: float, users: int, row_mass: float = 2.0) -> float:
    """The average over π of the total variation of n reports is at most this, whatever the randomizers.

    The least of √(1 − exp(−2cnχ̄²/8)), √(1 − exp(−nκχ̄²)) and √(nκχ̄²/2), all concave in the divergence of one v.
    """
    chi2 = chi_squared(norm, epsilon)
    kl = kappa(epsilon) * chi2
    exponent = min(0.25 * convexity(epsilon, row_mass) * chi2, kl)
    return min(math.sqrt(-math.expm1(-users * exponent)), math.sqrt(0.5 * users * kl)) / _SLACK


def users_to_distinguish(
    norm: float, epsilon: float, beta: float, *, protocol: Protocol = "non-interactive", row_mass: float = 2.0
) -> float:
    """A number of users that no ε-LDP protocol distinguishes with fewer than: TV(P_v, Q_v) ≥ 1 − 2β for all v.

    Parameters
    ----------
    norm
        An upper bound on ‖M‖_{∞→L2(π)}.
    beta
        Both errors of the tests, 0 < β < ½.
    protocol
        ``sequential`` may be asked for only where all μ_v are equal.
    row_mass
        The largest ‖λ_v − μ_v‖₁, at most 2.
    """
    if protocol not in PROTOCOLS:
        raise UnknownName("protocol", protocol, PROTOCOLS)
    chi2 = chi_squared(norm, epsilon)
    affinity, k = log_affinity(beta), kappa(epsilon)
    if chi2 == 0.0:
        return math.inf
    if protocol == "sequential":
        return _SLACK * 2.0 * affinity / (k * chi2)
    return _SLACK * max(kl_of_error(beta) / k, 8.0 * affinity / convexity(epsilon, row_mass)) / chi2


def users_around_centre(
    norm: float, epsilon: float, beta: float, share: float, row_mass: float, *, protocol: Protocol = "non-interactive"
) -> float:
    """Return ``users_to_distinguish`` for pairs around a centre ν (see the module); 0 for a share of 0.

    Parameters
    ----------
    norm
        √Y of a y ≥ 0 with diag(y) ⪰ MᵀΠM and sum Y.
    share
        φ with ν ≥ φ·y/Y.
    row_mass
        The largest ‖M_v‖₁.
    protocol
        ``non-interactive`` for λ_v, μ_v = ν ± M_v/2; ``sequential`` for ν + M_v and ν.
    """
    if protocol not in PROTOCOLS:
        raise UnknownName("protocol", protocol, PROTOCOLS)
    e, squared = check_epsilon(epsilon), _checked_norm(norm) ** 2
    if not 0.0 <= share <= 1.0:
        raise BadValue("share", share, "be between 0 and 1", "give the share of the centre")
    if squared == 0.0 or share == 0.0:
        return 0.0 if share == 0.0 else math.inf
    chi2 = math.sinh(0.5 * e) ** 2 * squared / share
    if protocol == "sequential":
        u = min(-math.expm1(-e), 0.5 * math.expm1(e) * row_mass)
        # Σ u^{j−2}/j, j ≥ 2; at most ½ + u/3 + u²/(4(1−u)).
        constant = 0.5 + u / 3.0 + 0.25 * u * u / (1.0 - u) if u < 1e-4 else (-math.log1p(-u) - u) / u**2
        return _SLACK * (1.0 - 1e-9) * 2.0 * log_affinity(beta) / (constant * chi2)
    w = min(math.tanh(0.5 * e), 0.25 * math.expm1(e) * row_mass) ** 2
    constant = 1.0 + 0.5 * w / (1.0 - w) if w < 1e-8 else -math.log1p(-w) / w
    return _SLACK * 8.0 * log_affinity(beta) / (constant * chi2)


def checked_error(beta: Any) -> float:
    """β as a float in (0, ½)."""
    if not (isinstance(beta, (int, float)) and not isinstance(beta, bool) and 0.0 < beta < 0.5):
        raise BadValue("beta", beta, "be an error probability above 0 and below 1/2", "give for example 0.25")
    return float(beta)


def _checked_norm(norm: float) -> float:
    if not norm >= 0.0:
        raise BadValue("norm", norm, "be a number of at least 0", "give an upper bound on the norm of M")
    return float(norm)
