r"""The largest information of reports that name from 1 to n − 1 types: B of ``pairwise.py`` by ν and ω."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from factormech.arrays import FloatArray


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
