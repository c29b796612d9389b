"""How much additive noise a guarantee needs, for a sensitivity: every calibration of the package behind one door.

The sensitivity is between neighbours of the guarantee's own relation. Each number is rounded outward, so that the float
that comes out keeps the guarantee as a real number.
"""

from __future__ import annotations

import math
from fractions import Fraction

from factormech.errors import BadValue
from factormech.numerics.rounding import above, rounded_up
from factormech.privacy import Guarantee


def laplace_scale(sensitivity: float, guarantee: Guarantee) -> float:
    """b ≥ Δ₁/ε: independent Laplace noise of scale b in every entry is ε-private (Dwork et al., TCC 2006)."""
    if not (guarantee.pure and guarantee.epsilon > 0.0):
        raise BadValue("guarantee", guarantee, "be ε-privacy with ε above 0", "Laplace noise needs no δ")
    return rounded_up(Fraction(_checked(sensitivity)) / Fraction(guarantee.epsilon))


def gaussian_deviation(sensitivity: float, guarantee: Guarantee) -> float:
    """σ for the L2 sensitivity: the analytic least for (ε, δ), Δ₂/√(2ρ) for ρ-zCDP."""
    from factormech.central.gaussian import standard_deviation

    size = _checked(sensitivity)
    if guarantee.rho is not None and guarantee.rho > 0.0:
        return above(size / math.sqrt(2.0 * guarantee.rho), 4)
    if not guarantee.delta > 0.0:
        raise BadValue("guarantee", guarantee, "have a δ or a ρ above 0", "Gaussian noise is not ε-private")
    return standard_deviation(size, guarantee.epsilon, guarantee.delta)


def _checked(sensitivity: float) -> float:
    if not (isinstance(sensitivity, (int, float)) and 0.0 <= sensitivity < math.inf):
        raise BadValue("sensitivity", sensitivity, "be a finite number of at least 0", "give the largest distance")
    return float(sensitivity)
