r"""The limit B(ω) on the information of reports, and the ω that weights of types need: see ``parametric.py``."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from factormech.arrays import FloatArray
from factormech.bounds.staircase import information_of_size, largest_information

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
