r"""PrivUnit: the pure ε-LDP, unbiased report of a unit vector with the least squared norm.

Bhowmick, Duchi, Freudiger, Kapoor & Rogers (arXiv 1812.00984, 2018). Asi, Feldman & Talwar (ICML 2022) show that with
its parameters chosen best no unbiased ε-LDP randomizer of the unit sphere has a smaller worst-case E‖Y‖².

With γ > 0 the cap is smaller than the half sphere, and its loyalty may be larger for its mass (``cap_randomizer.py``):
κ = e^ε − 1 allows λ/(1 − λ) = κq, hence

.. math:: m(γ) = \frac{λA}{q} = \frac{κA(γ)}{1 + κq(γ)} .

In the classical description the cap is drawn with probability p = λ + (1−λ)q = e^εq/(e^εq + 1 − q).

**The best γ.** A' = −γf and q' = −f give m'(γ) = κf·(m(γ) − γ)/(1 + κq). As m(0) > 0, m rises until it meets the line
m = γ, whose crossing is downward and so the only one. *The best cap reaches down to the mean of the report:* γ = m(γ).
(d = 3: q = (1−γ)/2, A = (1−γ²)/4, and γ = tanh(ε/4).) Iterating γ ← m(γ) from 0 is Dinkelbach's method for this ratio:
it rises monotonically and ends quadratically, m' being 0 at the end.

**Consequences of γ = m**, for unit vectors v: the second moment along v is 1 more than across, so that the *covariance
is isotropic*, (1/m² − 1)/d·I. (In the computed randomizer γ and m differ by the rounding of λ, and the moments are
those of the computed one.)

**In floating point** λ is a multiple of 2⁻⁵³ below κq/(1 + κq) for a q that is certainly not above the mass of the
cap of this very γ, and m = λA/q belongs to this λ.
"""

from __future__ import annotations

import math
from typing import ClassVar

from factormech.arrays import check_epsilon, check_positive_integer
from factormech.errors import BadValue
from factormech.local.randomizers.cap_randomizer import CapRandomizer
from factormech.local.randomizers.caps import MASS_MARGIN, cap_mass, cap_moment
from factormech.privacy import loss_of_ratio

_STEP = 2.0**-53
_LARGEST_EPSILON = 650.0  # e^ε is a float
# 1 − γ falls as e^{−2ε/(d+1)}. More budget than 12(d+1) is not spent: it would bring 1/m nearer to 1 than 1e-10, by a
# cap that floats can no longer tell from a point.
_EPSILON_BY_DIMENSION = 12.0


class PrivUnit(CapRandomizer):
    """The randomizer of the unit ball of ℝ^dimension on the best cap."""

    name: ClassVar[str] = "priv-unit"

    def __init__(self, dimension: int, epsilon: float) -> None:
        d, epsilon = check_positive_integer("dimension", dimension), check_epsilon(epsilon)
        spent = min(epsilon, _LARGEST_EPSILON if d == 1 else _EPSILON_BY_DIMENSION * (d + 1))
        kappa = math.expm1(min(spent, _LARGEST_EPSILON))
        height = best_height(d, kappa)
        q = cap_mass(d, height)
        loyalty = loyal_probability(kappa * q * (1 - MASS_MARGIN))
        if loyalty <= 0:
            rule = "be large enough for a loyal report in steps of 2**-53"
            raise BadValue("epsilon", epsilon, rule, "give for example 0.001")
        mean = loyalty * cap_moment(d, height) / q
        ratio = 1 + loyalty / (1 - loyalty) / (q * (1 - MASS_MARGIN))
        super().__init__(d, epsilon, height, loyalty, mean, min(loss_of_ratio(ratio), epsilon))


def best_height(dimension: int, kappa: float) -> float:
    """γ = m(γ), from below; in one dimension, where all caps are one, 0."""
    if dimension == 1:
        return 0.0
    height = 0.0
    while True:
        mean = kappa * cap_moment(dimension, height) / (1 + kappa * cap_mass(dimension, height))
        if not mean > height:
            return height
        height = mean


def loyal_probability(odds: float) -> float:
    """The multiple of 2⁻⁵³ that is at most four of them below odds/(1 + odds), never above.

    The quotient is off by at most two of them when the odds themselves are off by a few units in their last place.
    """
    return (math.floor(odds / (1 + odds) / _STEP) - 3) * _STEP
