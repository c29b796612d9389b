r"""Certificates of hardness of symmetric classes: what the bounds on users need of a dual matrix U.

A certificate at θ has W_v•U_v ≥ θ‖U_v‖₁ for every row that it uses; its strength is W•U/γ₂*(U), and pairs of laws whose
half-gaps are θ' differ by M̃_v = 2θ'U_v/(W_v•U_v), with ‖M̃‖ ≤ 2θ'/strength and ‖M̃_v‖₁ ≤ 2θ'/θ
(``bounds.hard.certificate``; for concept classes with labels ``learning.bounds``).

A *centre* of the pairs is a law ν of labelled users that is at least φq and at least |M̃_v|/2 for every v, q being the
column weights that prove γ₂*(U). All users of one kind have equal weights and equal masses, so the totals of the kinds
decide: with q_b the weight of kind b and D_b its number of users times the largest |M̃_vx|/2 over both labels, there is
one where Σ_b max(φq_b, D_b) ≤ 1, and the largest φ is the least of (1 − Σ_{b∉S}D_b)/Σ_{b∈S}q_b over the sets S of the
kinds with the smallest D_b/q_b.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from factormech.arrays import FloatArray
from factormech.numerics.rounding import above

# More than sums over at most some hundred kinds can lose to rounding.
_SHARE_SLACK = 1.0 - 1e-12


@dataclass(frozen=True, eq=False)
class Centre:
    """What decides which part of the column weights a centre of the pairs can keep.

    Attributes
    ----------
    weights
        q_b of every kind of user, their sum 1.
    spreads
        At least D_b of every kind, for pairs ν ± M̃_v/2 of half-gap 1.
    """

    weights: FloatArray
    spreads: FloatArray

    def share(self, theta: float) -> float:
        """Return at most the largest φ for pairs of half-gap θ; 0 where no centre exists."""
        q, D = np.maximum(self.weights, np.finfo(float).tiny), theta * self.spreads
        order = np.argsort(D / q)
        q, D = q[order], D[order]
        if float(D.sum()) >= 1.0:
            return 0.0
        rest = float(D.sum()) - np.cumsum(D)
        return min(max(float(((1.0 - rest) / np.cumsum(q)).min()) * _SHARE_SLACK, 0.0), 1.0)


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
        Infinite where it is not known.
    centre
        What decides the share of a centre where columns differ in kind; ``None`` where it is not known.
    """

    theta: float
    strength: float
    peak: float = math.inf
    centre: Centre | None = None

    def norm(self, theta: float) -> float:
        """At least ‖M̃‖ of the pairs of half-gap θ'."""
        return above(2.0 * theta / self.strength, 4) if self.strength > 0.0 else math.inf

    def row_mass(self, theta: float) -> float:
        """At least the largest ‖λ_v − μ_v‖₁ of the pairs of half-gap θ'."""
        return min(above(2.0 * theta / self.theta, 4), 2.0)

    def share(self, theta: float, protocol: str = "non-interactive") -> float:
        """The share φ of a centre at least |M̃_v|/2 (or M̃⁻_v, at most twice as large); 0 where none is known."""
        if self.centre is not None:
            return self.centre.share(theta if protocol == "non-interactive" else 2.0 * theta)
        if math.isinf(self.peak):
            return 0.0
        return float(above(theta * self.peak, 4) * (1.0 if protocol == "non-interactive" else 2.0) <= 1.0)
