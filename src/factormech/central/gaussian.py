r"""How much Gaussian noise a trusted curator adds, by which calibration, and the check of the very floats.

Everywhere in this room two data sets are neighbours if they are histograms of real numbers with ‖x − x'‖₁ ≤ 1, so that
the sensitivity of Rx is the largest column norm of R (a difference is a mixture of ±e_j, and norms are convex).
Exchanging one person for another moves a histogram of counts by 2 in ‖·‖₁: it is two such steps.
"""

from __future__ import annotations

import math

from factormech.arrays import check_epsilon
from factormech.central.profile import gaussian_delta_bounds
from factormech.errors import BadValue, UnknownName
from factormech.gaussian import check_delta, gaussian_noise_multiplier
from factormech.numerics.rounding import above
from factormech.privacy import UNIT_STEP

RELATION = UNIT_STEP
CALIBRATIONS = ("analytic", "classical")


def standard_deviation(sensitivity: float, epsilon: float, delta: float, calibration: str = "analytic") -> float:
    r"""σ at which N(0, σ²I) added to a quantity of this L2 sensitivity is (ε, δ)-private in exact arithmetic.

    ``analytic``: the least one up to 1e-12 relatively (Balle & Wang, ICML 2018), for every ε. ``classical``:
    √(2 ln(1.25/δ)) Δ/ε (Dwork & Roth, The Algorithmic Foundations of Differential Privacy, 2014, Theorem A.1), whose
    proof needs ε < 1, and which is refused elsewhere. A sensitivity of 0 needs no noise.
    """
    epsilon, delta = check_epsilon(epsilon), check_delta(delta)
    if calibration not in CALIBRATIONS:
        raise UnknownName("calibration", calibration, CALIBRATIONS)
    if not (isinstance(sensitivity, (int, float)) and 0.0 <= sensitivity < math.inf):
        raise BadValue("sensitivity", sensitivity, "be a finite number of at least 0", "give the largest column norm")
    if sensitivity == 0.0:
        return 0.0
    if calibration == "classical":
        if epsilon >= 1.0:
            raise BadValue("epsilon", epsilon, "be below 1 for the classical calibration", "use the analytic one")
        multiplier = above(math.sqrt(2.0 * math.log(1.25 / delta)) / epsilon, 8)
    else:
        multiplier = gaussian_noise_multiplier(epsilon, delta)
    sigma = above(sensitivity * multiplier, 1)
    check_private(sigma, sensitivity, epsilon, delta)
    return sigma


def check_private(sigma: float, sensitivity: float, epsilon: float, delta: float) -> float:
    """An upper bound of the δ that these floats have at ε, in exact arithmetic; refused where it is above ``delta``."""
    _, found = gaussian_delta_bounds(sigma, sensitivity, epsilon)
    if found > delta:
        rule = f"give δ ≤ {delta:g} at ε = {epsilon:g} and sensitivity {sensitivity:.17g}; it gives {found:.17g}"
        raise BadValue("sigma", sigma, rule, "take standard_deviation(sensitivity, epsilon, delta)")
    return found
