r"""Certificates of hardness of symmetric classes: what the bounds on users need of a dual matrix U.

A certificate at θ has W_v•U_v ≥ θ‖U_v‖₁ for every row that it uses; its strength is W•U/γ₂*(U), and pairs of laws whose
half-gaps are θ' differ by M̃_v = 2θ'U_v/(W_v•U_v), with ‖M̃‖ ≤ 2θ'/strength and ‖M̃_v‖₁ ≤ 2θ'/θ
(``bounds.hard.witness``; for concept classes with labels ``learning.bounds``).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from factormech.numerics.rounding import above


@dataclass(frozen=True)
class Hardness:
    """The numbers of a certificate, which the bounds on users take in the place of a ``Witness``.

    Attributes
    ----------
    theta
        At most W_v•U_v/‖U_v‖₁ of every row that is used.
    strength
        At most W•U/γ₂*(U).
    peak
        At least max N|U_vx|/W_v•U_v where rows and columns are all alike, N types: how far the masses are from uniform.
        Infinite where no centre of the pairs is claimed.
    """

    theta: float
    strength: float
    peak: float = math.inf

    def norm(self, theta: float) -> float:
        """At least ‖M̃‖ of the pairs of half-gap θ'."""
        return above(2.0 * theta / self.strength, 4) if self.strength > 0.0 else math.inf

    def row_mass(self, theta: float) -> float:
        """At least the largest ‖λ_v − μ_v‖₁ of the pairs of half-gap θ'."""
        return min(above(2.0 * theta / self.theta, 4), 2.0)

    def share(self, theta: float, protocol: str = "non-interactive") -> float:
        """1 where the uniform law is at least |M̃_v|/2 (or M̃⁻_v, at most twice as large), a centre; else 0."""
        if math.isinf(self.peak):
            return 0.0
        return float(above(theta * self.peak, 4) * (1.0 if protocol == "non-interactive" else 2.0) <= 1.0)
