r"""What no ε-LDP channel exceeds, every constant explicit; where it says *attained*, some channel meets it.

A channel r(y|x) is ε-LDP if r(y|x) ≤ e^ε·r(y|x') always. All limits but the last two rest on one step. Let t ↦ φ(t)
be convex and let a random number t ≥ 0 of mean 1 lie in an interval [a, e^ε·a]. Then E φ(t) is at most its value for
the two ends, with the same mean: of the law of t only one parameter is left.

**Capacity** (attained). For a law of the data, m(y) its law of reports and t = r(y|x)/m(y), I = Σ_y m(y)·E[t ln t].
With the upper end taken with probability s, a = 1/(1 + s(e^ε−1)) and

.. math:: E[t\ln t] = \varepsilon\frac{s e^\varepsilon}{1+s(e^\varepsilon-1)} - \ln(1+s(e^\varepsilon-1)),

largest where 1 + s(e^ε−1) = u := ε/(1 − e^{−ε}): there it is C*(ε) = u − 1 − ln u. Subset selection with a share s of
the domain has this information about uniform data, so C* is the largest capacity. It is below ε²/8, the bound that
needs only that log-likelihoods span ε, and grows like ε rather than ε².

**Transcripts.** Given the earlier reports, the i-th report of a sequential protocol depends on the data only through
X_i; so by the chain rule n reports have at most nC*(ε) nats about the data, whatever their law, independent or not.

**Divergence of two types** (attained by randomized response). KL(r(·|x)‖r(·|x')) has t = r(y|x)/r(y|x') of mean 1
under r(·|x'), in [e^{−ε}, e^ε]: at most ε·tanh(ε/2).

**Contraction** (attained by randomized response). KL(Qλ‖Qμ) ≤ η·KL(λ‖μ) for all laws λ, μ of the data holds for
η = tanh²(ε/2): see :mod:`factormech.information.contraction`.

**Pan-privacy with one intrusion.** The state after user i has an ε-private law as a function of x_i. Exchange the users
one by one, from λ_v to μ, the first first: the state that takes the exchange is processed further in a way that depends
on v alone, so by ``divergence.total_variation`` each exchange moves the output by at most (e^ε−1)/4·‖M‖_{∞→L1(π)} on
average over v, and d_TV(λ_π^n, μ^n) ≤ n(e^ε−1)/4·‖M‖_{∞→L1(π)}. (Edmonds, PhD thesis, Toronto 2023, Lemma 5 prints
the square of ‖M‖_{∞→L2(π)}, which is false already for one user; its proof has the root.)
"""

from __future__ import annotations

import math

from factormech.arrays import check_epsilon, check_positive_integer
from factormech.bounds.hard.divergence import checked_error, total_variation

# Below this ε the series is used: u − 1 − ln u would lose half of its digits.
_SERIES_BELOW = 1e-2


def largest_capacity(epsilon: float) -> float:
    """C*(ε) = u − 1 − ln u, u = ε/(1 − e^{−ε}), nats: the largest capacity of an ε-LDP channel."""
    e = check_epsilon(epsilon)
    if e < _SERIES_BELOW:
        # u − 1 = ε/2 + ε²/12 − ε⁴/720 + …, and v − ln(1+v) = v²/2 − v³/3 + v⁴/4 − …
        v = e / 2.0 + e * e / 12.0 - e**4 / 720.0
        return v * v * (0.5 - v / 3.0 + v * v / 4.0 - v**3 / 5.0 + v**4 / 6.0)
    u = e / -math.expm1(-e)
    return u - 1.0 - math.log(u)


def best_share(epsilon: float) -> float:
    """The share s of the domain that a report of largest information is likelier for: (u − 1)/(e^ε − 1)."""
    e = check_epsilon(epsilon)
    return (e / -math.expm1(-e) - 1.0) / math.expm1(e)


def transcript_information(users: int, epsilon: float) -> float:
    """nC*(ε): n reports of a sequential ε-LDP protocol have no more nats about the data, whatever their law."""
    return check_positive_integer("users", users) * largest_capacity(epsilon)


def largest_divergence(epsilon: float) -> float:
    """ε·tanh(ε/2): the largest Kullback–Leibler divergence of the reports of two types, nats."""
    e = check_epsilon(epsilon)
    return e * math.tanh(0.5 * e)


def largest_contraction(epsilon: float) -> float:
    """tanh²(ε/2): KL(Qλ‖Qμ) is at most this share of KL(λ‖μ)."""
    return math.tanh(0.5 * check_epsilon(epsilon)) ** 2


def pan_private_total_variation(norm: float, epsilon: float, users: int) -> float:
    """n(e^ε−1)/4·‖M‖_{∞→L1(π)}, at most 1; the norm to L2(π), which is no less, may be put for the norm to L1(π)."""
    return min(check_positive_integer("users", users) * total_variation(norm, epsilon), 1.0)


def pan_private_users(norm: float, epsilon: float, beta: float) -> float:
    """4(1 − 2β)/((e^ε−1)‖M‖): with fewer users no ε-pan-private protocol tells λ_π^n from μ^n with both errors ≤ β."""
    each = total_variation(norm, epsilon)
    return (1.0 - 2.0 * checked_error(beta)) / each if each > 0.0 else math.inf


def binary_divergence(p: float, q: float) -> float:
    """kl(p‖q) of two coins, nats."""
    first = p * math.log(p / q) if p > 0.0 else 0.0
    second = (1.0 - p) * math.log((1.0 - p) / (1.0 - q)) if p < 1.0 else 0.0
    return first + second


def relative_constant(w: float, *, interactive: bool) -> float:
    """κ⁻(w) = (−ln(1−w) − w)/w² where KL(ρ‖ρ(1+u)) ≤ κ⁻Σρu² is asked (sequential), else κ⁺(w) of KL(ρ(1+u)‖ρ); u ≥ −w.

    κ⁺(w) = ((1−w)ln(1−w) + w)/w². Both quotients fall as u grows, so that their largest is at u = −w.
    """
    if w < 1e-3:  # Σ w^j/(j+2), and Σ w^j/((j+1)(j+2))
        return sum(w**j / ((j + 2) * (1 if interactive else j + 1)) for j in range(8))
    if interactive:
        return (-math.log1p(-w) - w) / w**2
    return ((1.0 - w) * math.log1p(-w) + w) / w**2
