r"""How much information about its user one ε-LDP report can carry.

For a row q of a strategy with max q ≤ e^ε min q, the trace of its part of X_c (see ``mechanisms/local/strategy.py``),
relative to its share 1ᵀq/n of the mass, is n‖q‖²/(1ᵀq)² − 1. ‖q‖² is convex, so on {1ᵀq = 1} its maximum is at an
extreme row, proportional to 1 + (a−1)1_S with a = e^ε; with k = |S| it equals

.. math:: \sigma_k = \frac{(a-1)^2 k(n-k)}{(n+(a-1)k)^2} .

Hence tr X_c ≤ σ = max_k σ_k ≤ sinh²(ε/2) for every ε-LDP strategy, with equality for subset selection of the best size.

**The limit B(ω).** It is the largest information of reports in the bound with weights of types (``parametric.py``),
for the ω of these weights.

**The limit with weights of pairs.** For reports that name from 1 to n − 1 types it is the B of ``pairwise.py``, by ν
and ω.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from factormech.arrays import FloatArray, check_epsilon, check_positive_integer


def information_of_size(domain_size: int, epsilon: float, size: int) -> float:
    """σ_k for the subset size k, written so that nothing overflows or cancels: with c = (1−e^{−ε})."""
    n, k = domain_size, size
    c = -math.expm1(-epsilon)
    # (a−1)/(n+(a−1)k) = c / (n e^{−ε} + c k)
    return float(c**2 * k * (n - k) / (n * math.exp(-epsilon) + c * k) ** 2)


def best_subset_size(domain_size: int, epsilon: float) -> int:
    """The k in 1 … n − 1 (1 if n = 1) with the largest σ_k; σ rises to n/(a+1) and falls after it."""
    n = check_positive_integer("domain_size", domain_size)
    epsilon = check_epsilon(epsilon)
    centre = n * math.exp(-epsilon) / (1.0 + math.exp(-epsilon))
    candidates = {min(max(k, 1), max(n - 1, 1)) for k in (math.floor(centre), math.ceil(centre))}
    return max(sorted(candidates), key=lambda k: information_of_size(n, epsilon, k))


def largest_information(domain_size: int, epsilon: float) -> float:
    """σ: no ε-LDP strategy on n types has tr X_c above it; 0 if n = 1."""
    n = check_positive_integer("domain_size", domain_size)
    value = information_of_size(n, epsilon, best_subset_size(n, epsilon))
    return value if np.isfinite(value) else math.inf


# The limit B(ω).

# Where e^{−ε} is below this, weights differ by about a millionth at most, and are not looked for.
NEGLIGIBLE = 1e-12


@dataclass(frozen=True)
class InformationLimit:
    """B(ω), the limit on n·tr(X_cY).

    Attributes
    ----------
    few, many
        σ_k and σ_{k+1}.
    ct_few, ct_many
        ct_k and ct_{k+1}.
    ceiling
        1/c², the largest ω.
    """

    few: float
    many: float
    ct_few: float
    ct_many: float
    ceiling: float

    @classmethod
    def of(cls, domain_size: int, epsilon: float) -> InformationLimit | None:
        """The limit for n types; None where weights gain nothing: n = 1, or e^{−ε}, and so ω, is negligible."""
        n, low = domain_size, math.exp(-epsilon)
        if n == 1 or low < NEGLIGIBLE or largest_information(n, epsilon) <= 0.0:
            return None
        k = math.floor(n * low / (1.0 + low))
        ct = [0.5 * n * (1.0 + low) / ((n - j) * low + j) for j in (k, k + 1)]
        sigma = [information_of_size(n, epsilon, j) for j in (k, k + 1)]
        return cls(sigma[0], sigma[1], ct[0], ct[1], 4.0 * low / (1.0 + low) ** 2)

    @property
    def spread(self) -> float:
        """c²(t_k − t_{k+1})²."""
        return (self.ct_few - self.ct_many) ** 2

    @property
    def floor(self) -> float:
        """ω_0, kept above zero: the smallest useful ω."""
        return min(max(abs(self.many - self.few) / self.spread, 1e-9 * self.ceiling), self.ceiling)

    def share(self, omega: float) -> float:
        """The best w."""
        return min(max(0.5 + (self.many - self.few) / (2.0 * omega * self.spread), 0.0), 1.0)

    def at(self, omega: float) -> tuple[float, float]:
        """B(ω) and dB/dω."""
        w = self.share(omega)
        slope = w * (1.0 - w) * self.spread
        return (1.0 - w) * self.few + w * self.many + omega * slope, slope


def smallest_omega(weights: FloatArray, sizes: FloatArray | None = None) -> float:
    """1 − n²/Σ(1/p_u) for weights that sum to one, each standing for ``sizes`` types, written so as not to cancel."""
    p = weights
    s = np.ones(len(p)) if sizes is None else sizes
    alpha = float(s.sum()) / float(np.sum(s / p))
    return float(np.sum(s * (p - alpha) ** 2 / p))


def feasible_omega(weights: FloatArray, omega: float, limit: InformationLimit) -> float:
    """ω raised to where Y ⪰ 0, for ``weights`` that sum to one; infinite where no ω ≤ 1/c² is enough."""
    least = smallest_omega(weights) * (1.0 + 1e-9)  # so that no eigenvalue of Y on the complement of 1 is all rounding
    return math.inf if least > limit.ceiling else min(max(omega, least), limit.ceiling)


# The limit with weights of pairs.


@dataclass(frozen=True)
class Limit:
    """B, and its derivatives by ν and by ω."""

    value: float
    by_nu: float
    by_omega: float


@dataclass(frozen=True)
class SizeLimit:
    """B(ν, ω) for one n and ε; see ``pairwise.py``.

    Attributes
    ----------
    tau
        τ_j = cn/((n−j)e^{−ε/2} + je^{ε/2}) for j = 1 … n − 1, falling, (n−1,).
    kappa
        κ = 2/(e^ε+1).
    flatness
        1/c², c = cosh(ε/2).
    """

    tau: FloatArray
    kappa: float
    flatness: float

    @classmethod
    def of(cls, domain_size: int, epsilon: float) -> SizeLimit:
        """The limit for n ≥ 2 types; nothing overflows at large ε."""
        low, j = math.exp(-epsilon), np.arange(1, domain_size)
        tau: FloatArray = np.asarray(0.5 * domain_size * (1.0 + low) / ((domain_size - j) * low + j), dtype=np.float64)
        return cls(tau, 2.0 * low / (1.0 + low), 4.0 * low / (1.0 + low) ** 2)

    def at(self, nu: float, omega: float) -> Limit:
        """The maximum of E φ + ω Var τ over laws on ``tau``, from pairs of neighbours and the outermost pair."""
        first = np.append(np.arange(max(len(self.tau) - 1, 1)), 0)
        second = np.minimum(np.append(np.arange(len(first) - 1) + 1, len(self.tau) - 1), len(self.tau) - 1)
        t, s = self.tau[first], self.tau[second]
        low, high = self._phi(t, nu), self._phi(s, nu)
        step = s - t
        # On a segment, (1−q)φ(t) + qφ(s) + ωq(1−q)(s−t)² is concave in q; in this form nothing cancels at large ω.
        height = omega * np.where(step == 0.0, 1.0, step) ** 2
        q = np.where(step == 0.0, 0.0, np.clip(0.5 + (high - low) / (2.0 * height), 0.0, 1.0))
        mean = t + q * step
        values = (1.0 - q) * low + q * high + omega * q * (1.0 - q) * step**2
        i = int(np.argmax(values))
        variance = float(q[i] * (1.0 - q[i]) * step[i] ** 2)
        # E(1−κτ)²
        spare = float((1.0 - self.kappa * mean[i]) ** 2) + self.kappa**2 * variance
        return Limit(float(values[i]), spare, variance)

    def _phi(self, tau: FloatArray, nu: float) -> FloatArray:
        return np.asarray(2.0 * tau - 1.0 - self.flatness * tau**2 + nu * (1.0 - self.kappa * tau) ** 2)
