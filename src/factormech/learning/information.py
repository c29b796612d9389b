r"""What one private report can say: information, capacity, contraction, and their limits.

**Limits of every ε-LDP channel.** Every constant is explicit; where the text says *attained*, some channel meets the
limit. A channel r(y|x) is ε-LDP if r(y|x) ≤ e^ε·r(y|x') always. All limits but the last two rest on one step. Let t ↦
φ(t) be convex and let a random number t ≥ 0 of mean 1 lie in an interval [a, e^ε·a]. Then E φ(t) is at most its value
for the two ends, with the same mean: of the law of t only one parameter is left.

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

**Contraction** (attained by randomized response). KL(Qλ‖Qμ) ≤ η·KL(λ‖μ) for all laws λ, μ of the data holds for η =
tanh²(ε/2): see *Contraction* below.

**Pan-privacy with one intrusion.** The state after user i has an ε-private law as a function of x_i. Exchange the users
one by one, from λ_v to μ, the first first: the state that takes the exchange is processed further in a way that depends
on v alone, so by ``divergence.total_variation`` each exchange moves the output by at most (e^ε−1)/4·‖M‖_{∞→L1(π)} on
average over v, and d_TV(λ_π^n, μ^n) ≤ n(e^ε−1)/4·‖M‖_{∞→L1(π)}. (Edmonds, PhD thesis, Toronto 2023, Lemma 5 prints
the square of ‖M‖_{∞→L2(π)}, which is false already for one user; its proof has the root.)

**Information and capacity of a strategy matrix.** The capacity is a certified interval. Q (m × n) has laws of reports
as columns. For a law p of the types let q = Qp and D_x = KL(Q_x‖q). Then I(p) = Σ p_x D_x, and for every p (Gallager;
Arimoto, IEEE Trans. Inf. Theory 18(1), 1972; Blahut, ibid. 18(4), 1972)

.. math:: I(p) \;\le\; C = \max_p I(p) \;\le\; \max_x D_x .

**Ascent.** p_x ← p_x·e^{sD_x}, normalised; s = 1 is the algorithm of Blahut and Arimoto. At small ε all D_x are nearly
equal and s = 1 hardly moves. With η a contraction coefficient of Q, KL(Qp'‖Qp) ≤ η·KL(p'‖p), the step maximises a lower
bound of I for every s ≤ 1/η: I(p') = Σ p'_x D_x − KL(Qp'‖Qp) ≥ Σ p'_x D_x − KL(p'‖p)/s, whose maximiser is p', and
which at p' = p is I(p). So I never falls, and C − I(p after k steps) ≤ ln(n)/(sk) as for s = 1. We take
s = coth²(L/2), L being the privacy loss of Q (``limits.largest_contraction``). Types that an optimal law leaves out
lose their weight like 1/k where D_x = C just holds; that is what the limit on ``iterations`` is for: the interval is
valid wherever it stops.

**Rounding.** Each D_x is a sum of m terms of size up to Q_ox·|ln ratio|, and q is a sum of n, so its error is below
(m + n + 16)·2⁻⁵³·Σ Q_ox(1 + |ln ratio|); twice that widens both ends.

**Pairs of distributions seen through a matrix.** Reports of λ_v and μ_v have laws p_v = Qλ_v and q_v = Qμ_v. Each
divergence is averaged over the weights π, and its limit is that of :mod:`factormech.bounds.hard.divergence`, with χ̄²
= (e^ε−1)²/4·‖M‖²_{∞→L2(π)}: χ̄² for χ², κ(ε)χ̄² for KL either way round, χ̄²/4 for Σ(√p − √q)², (e^ε−1)/4·‖M‖ for the
total variation.

**Contraction.** The coefficient η says how much a matrix contracts divergences. η(Q) = sup KL(Qλ‖Qμ)/KL(λ‖μ) over
laws λ ≠ μ of the types. It is the largest over two types alone (Ordentlich & Polyanskiy, *Strong data processing
constant is achieved by binary inputs*, IEEE Trans. Inf. Theory 68(3), 2022), where for columns P, R

.. math:: \eta(P,R) = \max_{0\le\beta\le1} L(\beta),\qquad
          L(\beta) = \beta\bar\beta\sum_o\frac{(P_o-R_o)^2}{\beta P_o+\bar\beta R_o}
                   = 1-\sum_o\frac{P_oR_o}{\beta P_o+\bar\beta R_o},\quad \bar\beta = 1-\beta .

The second form is concave in β. For an ε-LDP matrix and one β the first is Σ R_o φ(P_o/R_o), φ convex, so it is at most
what the two ratios e^{±ε} give, which is L(β) of randomized response, concave and symmetric in β: at most its value at
½, tanh²(ε/2) (Zamanlooy & Asoodeh, ISIT 2023, by another way).

The maximum over β is found by bisection of L'; its tangents at the last two points give the upper end of the interval.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from factormech.arrays import FloatArray, IntArray, check_dense_size, check_epsilon, check_positive_integer
from factormech.bounds.hard import divergence
from factormech.bounds.hard.divergence import total_variation
from factormech.bounds.hard.pairs import HardPairs
from factormech.errors import BadValue
from factormech.numerics.roots import bisect_each
from factormech.privacy.guarantee import check_probabilities, privacy_loss, verify_ldp

# Limits of every ε-LDP channel.

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


# Information and capacity of a strategy matrix.

_UNIT = 2.0**-53
# Above this loss the step is 1 to rounding.
_LOSS_LIMIT = 30.0


@dataclass(frozen=True)
class Capacity:
    """An interval for the capacity in nats, the law of types that reaches its lower end, and the steps taken."""

    lower: float
    upper: float
    law: FloatArray
    iterations: int


def checked_channel(strategy: FloatArray) -> FloatArray:
    """Q with columns that sum to 1, without outputs that never occur."""
    Q = np.asarray(strategy, dtype=float)
    check_probabilities(Q)
    Q = Q[Q.any(axis=1)]
    return np.asarray(Q / Q.sum(axis=0))


def checked_law(law: FloatArray, types: int, name: str = "law") -> FloatArray:
    """A distribution over the types."""
    p = np.asarray(law, dtype=float)
    if p.shape != (types,) or not np.isfinite(p).all() or p.min() < 0.0 or abs(float(p.sum()) - 1.0) > 1e-9:
        rule = f"be {types} probabilities that sum to 1"
        raise BadValue(name, f"array of shape {p.shape}", rule, "give a distribution over the user types")
    return np.asarray(p / p.sum())


def mutual_information(strategy: FloatArray, law: FloatArray) -> float:
    """I(p) = Σ p_x KL(Q_x‖Qp) in nats, of a user's type of law p and the report.

    Parameters
    ----------
    strategy
        Q, outputs × types; columns are laws of reports.
    law
        p, (types,).
    """
    Q = checked_channel(strategy)
    p = checked_law(law, Q.shape[1])
    used = p > 0.0
    return max(float(p[used] @ _divergences(Q[:, used], Q @ p)), 0.0)


def capacity(strategy: FloatArray, *, gap: float = 1e-6, iterations: int = 20_000) -> Capacity:
    """The capacity of a strategy matrix, to a relative ``gap`` if ``iterations`` allow; the interval holds anyway.

    Parameters
    ----------
    strategy
        Q, outputs × types.
    gap
        (upper − lower)/upper at which to stop.
    iterations
        Steps at most.
    """
    Q = checked_channel(strategy)
    check_positive_integer("iterations", iterations)
    if not 0.0 < gap < 1.0:
        raise BadValue("gap", gap, "be above 0 and below 1", "give for example 1e-6")
    step = 1.0 / largest_contraction(min(max(privacy_loss(Q), 1e-8), _LOSS_LIMIT))
    p = np.full(Q.shape[1], 1.0 / Q.shape[1])
    lower, upper, best = 0.0, float(np.log(min(Q.shape))) + 1.0, p
    taken = 0
    while taken < iterations and upper - lower > gap * upper:
        taken += 1
        q = Q @ p
        D, error = _divergences(Q, q), _rounding(Q, q)
        information = float(p @ D) - error
        if information > lower:
            lower, best = information, p
        upper = min(upper, float(D.max()) + error)
        if D.max() - p @ D <= error and 2.0 * error > gap * upper:
            # What is left is rounding: no step can close the interval further, as where the capacity is 0.
            break
        weights = p * np.exp(step * (D - D.max()))
        p = weights / weights.sum()
    return Capacity(max(lower, 0.0), float(upper), best, taken)


def _divergences(Q: FloatArray, q: FloatArray) -> FloatArray:
    return np.asarray(np.einsum("ox,ox->x", Q, _log_ratio(Q, q)))


def _log_ratio(Q: FloatArray, q: FloatArray) -> FloatArray:
    # ln via log1p of the difference: at small ε the ratios are near 1.
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(Q > 0.0, np.log1p((Q - q[:, None]) / q[:, None]), 0.0))


def _rounding(Q: FloatArray, q: FloatArray) -> float:
    size = float(np.einsum("ox,ox->x", Q, 1.0 + np.abs(_log_ratio(Q, q))).max())
    return 2.0 * (sum(Q.shape) + 16) * _UNIT * size


# Pairs of distributions seen through a matrix.


@dataclass(frozen=True)
class Divergences:
    """π-averages: of χ²(p‖q), KL(p‖q), Σ(√p − √q)² and ½Σ|p − q|."""

    chi_squared: float
    kullback_leibler: float
    squared_hellinger: float
    total_variation: float


def through(family: HardPairs, strategy: FloatArray, epsilon: float) -> Divergences:
    """The average divergences of one report of each pair through an ε-LDP strategy matrix.

    Parameters
    ----------
    family
        Pairs λ_v, μ_v with weights π.
    strategy
        Q, outputs × types; verified to be ε-LDP.
    """
    verify_ldp(strategy, check_epsilon(epsilon))
    Q = checked_channel(strategy)
    if Q.shape[1] != family.first.shape[1]:
        rule = f"have {family.first.shape[1]} columns, one for each type"
        raise BadValue("strategy", strategy.shape, rule, "give a strategy for the family's domain")
    p, q = (family.first @ Q.T, family.second @ Q.T)
    d = family.difference @ Q.T
    rows = (
        (d * d / q).sum(axis=1),
        # p ln(p/q) − p + q, term by term ≥ 0, so that the linear parts cancel before they are added up.
        (p * np.log1p(d / q) - d).sum(axis=1),
        (d * d / (np.sqrt(p) + np.sqrt(q)) ** 2).sum(axis=1),
        0.5 * np.abs(d).sum(axis=1),
    )
    return Divergences(*(max(float(family.weights @ row), 0.0) for row in rows))


def limits(norm: float, epsilon: float) -> Divergences:
    """What no ε-LDP report exceeds, ``norm`` being an upper bound on ‖M‖_{∞→L2(π)}."""
    return Divergences(
        divergence.chi_squared(norm, epsilon),
        divergence.kullback_leibler(norm, epsilon),
        divergence.squared_hellinger(norm, epsilon),
        divergence.total_variation(norm, epsilon),
    )


# Contraction.

_END, _WIDTH = 1e-9, 2.0**-30  # how far from 0 and 1 β begins, and when its bracket is narrow enough
_MARGIN = 2.0**-40  # sums of some thousand terms below 1
_BLOCK = 2_000_000


@dataclass(frozen=True)
class Contraction:
    """An interval for η, and the two types that reach its lower end."""

    lower: float
    upper: float
    types: tuple[int, int]


def contraction(strategy: FloatArray) -> Contraction:
    """The contraction coefficient of Kullback–Leibler (and χ²) divergence of a strategy matrix.

    Parameters
    ----------
    strategy
        Q, outputs × types; at least two types.
    """
    Q = checked_channel(strategy)
    n = Q.shape[1]
    if n < 2:
        raise BadValue("types", n, "be at least 2", "give a strategy for a larger domain")
    check_dense_size("pairs of types x outputs", n * n, 1)
    first, second = np.triu_indices(n, 1)
    best = Contraction(0.0, 0.0, (0, 1))
    each = max(_BLOCK // len(Q), 1)
    for start in range(0, len(first), each):
        a, b = first[start : start + each], second[start : start + each]
        low, high = _of_pairs(Q[:, a], Q[:, b])
        i = int(np.argmax(low))
        types = (int(a[i]), int(b[i])) if low[i] > best.lower else best.types
        best = Contraction(max(best.lower, float(low[i])), max(best.upper, float(high.max())), types)
    return Contraction(max(best.lower - _MARGIN, 0.0), min(best.upper + _MARGIN, 1.0), best.types)


def largest_pairwise_divergence(strategy: FloatArray) -> float:
    """The largest KL(Q_x‖Q_x') over two types, nats; ∞ where a report tells one from the other."""
    Q = checked_channel(strategy)
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(Q)
        own = np.where(Q > 0.0, Q * logs, 0.0).sum(axis=0)
        if np.isneginf(logs).any():
            return _with_zeros(Q, logs)
    return float((own[:, None] - Q.T @ logs).max())


def _with_zeros(Q: FloatArray, logs: FloatArray) -> float:
    """The same where some probabilities are 0: a type that reports what another never does is infinitely far."""
    absent = (Q == 0.0).astype(float)
    if ((Q > 0.0).astype(float).T @ absent).any():
        return float("inf")
    finite = np.where(np.isneginf(logs), 0.0, logs)
    own = (Q * finite).sum(axis=0)
    return float((own[:, None] - Q.T @ finite).max())


def _of_pairs(P: FloatArray, R: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Lower and upper ends of η(P, R) for columns P, R, each (outputs, pairs)."""
    pairs = P.shape[1]

    def falls(beta: FloatArray, which: IntArray | slice) -> FloatArray:
        return np.asarray(_slope(P[:, which], R[:, which], beta) <= 0.0)

    # The maximum lies between the ends, or within the margin of one of them: below either tangent there.
    ends = bisect_each(falls, np.full(pairs, _END), np.full(pairs, 1.0 - _END), _WIDTH)
    width = ends[1] - ends[0] + _END
    values = [_value(P, R, beta) for beta in ends]
    slopes = _slope(P, R, ends[0]), -_slope(P, R, ends[1])
    low = np.maximum(*values)
    high = np.minimum(*(value + np.maximum(slope, 0.0) * width for value, slope in zip(values, slopes, strict=True)))
    return low, np.maximum(high, low)


def _value(P: FloatArray, R: FloatArray, beta: FloatArray) -> FloatArray:
    """L(β), in the form that does not cancel where P and R are near."""
    D = P - R
    mixed = R + beta * D
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(beta * (1.0 - beta) * np.where(mixed > 0.0, D * D / mixed, 0.0).sum(axis=0))


def _slope(P: FloatArray, R: FloatArray, beta: FloatArray) -> FloatArray:
    """L'(β)."""
    D = P - R
    mixed = R + beta * D
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(mixed > 0.0, P * R * D / mixed**2, 0.0).sum(axis=0))
