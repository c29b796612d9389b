r"""How many users selection takes, whatever the protocol, every constant explicit.

**Planted families.** ν on the domain, and λ_v = ν·(1 + θψ_v) for N functions ψ_v = ±1 that are orthonormal and of mean
0 under ν: coordinates of fair coins with θ = 2g (one of them gets mean ½ + g), or parities χ_S of uniform ±1 data
(their mean becomes θ). A protocol that names v with probability s, on average over v, needs many users. Write an ε-LDP
randomizer as r(y|x) = m(y)(1 + τf_y(x)), |f_y| ≤ 1, τ = tanh(ε/2), and E_νf = a. Under ν a report has the law ρ = m(1 +
τa), under λ_v it has ρ(1 + u_v) with u_v = τθE[fψ_v]/(1 + τa). Two facts:

- Σ_v E[fψ_v]² ≤ E[f²] − a² ≤ 1 − a² (Bessel), so the mean of u_v² over v is at most (θ²/N)·τ²(1−a²)/(1+τa)² ≤
  (θ²/N)·sinh²(ε/2), the largest being at a = −τ;
- |E[fψ_v]| ≤ 1 − |a|, ψ_v being ±1 and balanced, so |u_v| ≤ τθ(1−|a|)/(1+τa) ≤ w := τθ.

*Sequential.* KL(ρ‖ρ(1+u)) = Σρ(u − ln(1+u)) ≤ κ⁻(w)·Σρu², κ⁻(w) = (−ln(1−w) − w)/w². Under νⁿ the transcript does not
know v, so by the chain rule the mean over v of KL(νⁿ‖λ_vⁿ) of transcripts is at most n·κ⁻·(θ²/N)sinh²(ε/2). The events
"names v" have mean probability at most 1/N under νⁿ and s under λ_vⁿ; by data processing and joint convexity

.. math:: n \ge \frac{N\,\mathrm{kl}(1/N\Vert s)}{\kappa^-(\tau\theta)\,\theta^2\sinh^2(\varepsilon/2)} .

*Non-interactive* (public coins allowed). I(v; reports) ≤ Σ_i E_v KL(ρ_i(1+u_v)‖ρ_i), the reference being νⁿ for all v,
and (1+u)ln(1+u) − u ≤ κ⁺(w)u², κ⁺(w) = ((1−w)ln(1−w) + w)/w². Naming v under a uniform v succeeds with probability 1/N
where the reports are independent of it, so I ≥ kl(s‖1/N) (Fano's inequality, without its last slack) and

.. math:: n \ge \frac{N\,\mathrm{kl}(s\Vert 1/N)}{\kappa^+(\tau\theta)\,\theta^2\sinh^2(\varepsilon/2)},

which grows like N ln N. The proofs of Edmonds, Nikolov & Ullman (STOC 2020) and Edmonds (PhD thesis, Toronto 2023,
Lemmas 2 to 4) have e^ε(e^ε−1)² = 4e^{2ε}sinh²(ε/2) and no κ.

**Parities** (Edmonds 2023, Appendix B.3). N = C(d, w) parities of width w ≥ 1, selection with accuracy α: the planted
bias is just above α, and in the limit θ = α. Release with largest error α names v if the bias is just above 2α: θ = 2α.
No random sign is needed, and the empty parity, which is no query, is left out.

**Set disjointness** (Edmonds 2023, Theorem 6). Two parties with sets A, B ⊂ [d] toss for every user a public coin; the
user's vector is the set of the one who got them with probability 2g and 0 otherwise. Common elements have mean 2g, all
others at most g: a protocol of accuracy below g names a common element, if there is one, with probability 1 − δ.
Drawing the vector is part of the randomizer, which is ε'-LDP, ε' = ln(1 + 2g(e^ε−1)) (the thesis has 2gε, which is
less), so the transcript T has at most nC*(ε') nats about (A, B) (:mod:`factormech.learning.information`). From below:
let D_j say which party's bit j is a fair coin, the other's being 0 (Bar-Yossef, Jayram, Kumar & Sivakumar, JCSS 68(4),
2004). The coordinates are independent given D, and for each of them, with h² = 1 − Σ√(pq), in bits,

.. math:: I_j \ge \tfrac12\bigl(h^2(T_{00},T_{01}) + h^2(T_{00},T_{10})\bigr) \ge \tfrac14h^2(T_{01},T_{10})
              = \tfrac14h^2(T_{00},T_{11}) .

Two bounds on the affinity of T_00 and T_11. (i) After T, two bits more tell whether the named element is common. The
decision never errs where the sets are disjoint, so the affinity is at most √(1·δ) + 0: I ≥ (d/4)(1 − √δ) − 2 bits
(1 − 2√δ in the original, for errors on both sides: nothing is left of it at δ = ⅓). (ii) Without the two bits: "names
j" has probability q_j on T_00, of mean q ≤ 2/d as P(A_j = B_j = 0) = ½, and 1 − δ on T_11: I ≥ (d/4)(1 − √(q(1−δ)) −
√((1−q)δ)), the affinity being concave. The larger of both, over C*(ε').
"""

from __future__ import annotations

import math

from factormech.arrays import check_epsilon, check_positive_integer
from factormech.errors import BadValue
from factormech.learning.information import binary_divergence, largest_capacity, relative_constant
from factormech.learning.selection.protocols import checked_gap
from factormech.numerics.roots import bisect

# The bounds are a handful of roundings.
_SLACK = 1.0 - 2.0**-40


def planted_information(size: int, bias: float, epsilon: float, *, interactive: bool) -> float:
    """What one report adds on average over v: κ^∓(τθ)·θ²sinh²(ε/2)/N nats.

    Parameters
    ----------
    size, bias
        N and θ of the planted family.
    interactive
        Whether it is KL(ν‖λ_v), for sequential protocols, or KL(λ_v‖ν).
    """
    N, theta = check_positive_integer("size", size, minimum=2), _checked_bias(bias)
    e = check_epsilon(epsilon)
    w = math.tanh(0.5 * e) * theta
    return relative_constant(w, interactive=interactive) * theta**2 * math.sinh(0.5 * e) ** 2 / N


def users_to_name(size: int, bias: float, epsilon: float, *, interactive: bool, success: float = 2.0 / 3.0) -> float:
    """With fewer users no ε-LDP protocol names the planted one with this probability, on average over v."""
    N = check_positive_integer("size", size, minimum=2)
    _check_success(success, N)
    each = planted_information(N, bias, epsilon, interactive=interactive)
    sequential = binary_divergence(1.0 / N, success) / planted_information(N, bias, epsilon, interactive=True)
    if interactive:
        return _SLACK * sequential
    return _SLACK * max(sequential, binary_divergence(success, 1.0 / N) / each)


def largest_success(users: int, size: int, bias: float, epsilon: float, *, interactive: bool) -> float:
    """The probability, on average over v, that no ε-LDP protocol with n users exceeds in naming the planted one."""
    n = check_positive_integer("users", users)

    def impossible(success: float) -> bool:
        return users_to_name(size, bias, epsilon, interactive=interactive, success=success) > n

    most = 1.0 - 1e-12
    return bisect(impossible, 1.0 / size, most)[1] if impossible(most) else 1.0


def users_to_select(
    dimension: int, gap: float, epsilon: float, *, interactive: bool, success: float = 2.0 / 3.0
) -> float:
    """Selection among d fair coins, one of them of mean ½ + g, with an accuracy below g."""
    return users_to_name(dimension, 2.0 * checked_gap(gap), epsilon, interactive=interactive, success=success)


def users_for_parities(
    bits: int, width: int, alpha: float, epsilon: float, *, task: str = "selection", interactive: bool = False
) -> float:
    """All parities of width w over ±1 bits, with probability 2/3: naming one within α of the largest, or release.

    Parameters
    ----------
    bits, width
        d and w, 1 ≤ w ≤ d, C(d, w) ≥ 2.
    task
        ``selection``, or ``release`` (largest error at most α).
    """
    d = check_positive_integer("bits", bits)
    w = check_positive_integer("width", width)
    if math.comb(d, w) < 2:
        raise BadValue("width", w, f"leave at least two parities of {d} bits", "give a smaller width")
    if task not in ("selection", "release"):
        raise BadValue("task", task, "be selection or release", "give one of them")
    theta = alpha if task == "selection" else 2.0 * alpha
    return users_to_name(math.comb(d, w), theta, epsilon, interactive=interactive)


def mixed_epsilon(share: float, epsilon: float) -> float:
    """ε' = ln(1 + η(e^ε−1)): what a report says of a vector that is used with probability η, 0 being used else."""
    if not 0.0 < share <= 1.0:
        raise BadValue("share", share, "be above 0 and at most 1", "give for example 0.5")
    return math.log1p(share * math.expm1(check_epsilon(epsilon)))


def disjointness_information(dimension: int, failure: float) -> float:
    """Nats that a transcript has about the hard sets, given D, if it misses a common element with probability δ."""
    d = check_positive_integer("dimension", dimension, minimum=2)
    if not 0.0 <= failure <= 1.0:
        raise BadValue("failure", failure, "be a probability", "give for example 1/3")
    first = 0.25 * d * (1.0 - math.sqrt(failure)) - 2.0
    q = min(2.0 / d, 1.0 - failure)
    second = 0.25 * d * (1.0 - math.sqrt(q * (1.0 - failure)) - math.sqrt((1.0 - q) * failure))
    return math.log(2.0) * max(first, second, 0.0)


def users_for_disjointness(dimension: int, gap: float, epsilon: float, *, success: float = 2.0 / 3.0) -> float:
    """Users of a sequential protocol of accuracy below g on every law, from the information of set disjointness."""
    each = largest_capacity(mixed_epsilon(2.0 * checked_gap(gap), epsilon))
    return _SLACK * disjointness_information(dimension, 1.0 - success) / each


def least_failure(users: int, dimension: int, gap: float, epsilon: float) -> float:
    """The probability δ of missing a common element that no sequential protocol with n users goes below."""
    cap = check_positive_integer("users", users) * largest_capacity(mixed_epsilon(2.0 * checked_gap(gap), epsilon))

    def possible(failure: float) -> bool:
        return disjointness_information(dimension, failure) <= cap

    return 0.0 if possible(0.0) else bisect(possible, 0.0, 1.0)[0]


def _checked_bias(bias: float) -> float:
    if not 0.0 < bias <= 1.0:
        raise BadValue("bias", bias, "be above 0 and at most 1", "give for example 0.1")
    return float(bias)


def _check_success(success: float, size: int) -> None:
    if not 1.0 / size < success < 1.0:
        raise BadValue("success", success, f"be above 1/{size}, a guess, and below 1", "give for example 2/3")
