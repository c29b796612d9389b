r"""The privacy of Gaussian noise, exactly and enclosed, and how much noise a guarantee needs.

**The analytic Gaussian mechanism.** This part has the exact δ of Gaussian noise, and the least noise for (ε, δ).

**Enclosures.** δ(ε) of given floats lies between two numbers that hold in exact arithmetic. With s = σ/Δ, a = 1/(2s)
− εs and b = −1/(2s) − εs, Balle & Wang (ICML 2018, Theorem 8) give δ = Φ(a) − e^ε Φ(b). As b² − a² = 2ε, e^ε φ(b) =
φ(a), and with the Mills ratio M(x) = Φ(−x)/φ(x)

.. math:: δ = φ(a)\,[M(-a) - M(-b)] \quad (a \le 0), \qquad δ = 1 - φ(a)\,[M(a) + M(-b)] \quad (a > 0),

so that M is asked at x ≥ 0 alone. There it is enclosed in two ways, with decimals, whose arithmetic, roots and
exponentials are correctly rounded:

* x < 4: M(x) = 1/(2φ(x)) − Σ_k x^{2k+1}/(1·3⋯(2k+1)). The terms are positive, and once a term is below half the one
  before it, what follows the last one is at most that last one.
* x ≥ 4: two successive convergents of Laplace's continued fraction 1/(x + 1/(x + 2/(x + 3/⋯))), which lie on either
  side of M(x); every operation has positive arguments.

The digits lost to cancellation are those of 1/δ and 1/s; precision is raised until they do not matter.

**Noise of a trusted curator.** This part applies a calibration, and checks the floats that are used. Everywhere in
this module two data sets are neighbours if they are histograms of real numbers with ‖x − x'‖₁ ≤ 1, so that the
sensitivity of Rx is the largest column norm of R (a difference is a mixture of ±e_j, and norms are convex).
Exchanging one user for another moves a histogram of counts by 2 in ‖·‖₁: it is two such steps.

**Noise for any guarantee.** Given the sensitivity, this part chooses the calibration. The sensitivity is between
neighbours of the guarantee's own relation. Each number is rounded outward, so that the float that comes out keeps the
guarantee as a real number.
"""

from __future__ import annotations

import math
from decimal import Context, Decimal, getcontext, localcontext
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.special import erfcx, ndtr

from factormech.arrays import check_epsilon
from factormech.errors import BadValue, UnknownName
from factormech.numerics.rounding import above, rounded_down, rounded_up
from factormech.privacy.guarantee import UNIT_STEP, Guarantee

# The analytic Gaussian mechanism.

# Relative margin that keeps the calibrated noise on the private side of the rounding errors made here.
ROUNDING_MARGIN = 1e-12

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(24)


def check_delta(value: Any, name: str = "delta") -> float:
    """Return the failure probability as a ``float`` strictly between 0 and 1."""
    good = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    if not good or not 0 < value < 1:
        raise BadValue(name, value, "be a number above 0 and below 1", "give for example 1e-9")
    return float(value)


def gaussian_delta(noise_multiplier: float, epsilon: float) -> float:
    r"""Least δ for which noise N(0, s²) on a quantity of sensitivity 1 is (ε, δ)-private.

    .. math:: δ = Φ(a) − e^{ε} Φ(b), \qquad a = \tfrac{1}{2s} − εs, \quad b = −\tfrac{1}{2s} − εs

    for s = ``noise_multiplier`` (Balle & Wang, ICML 2018, Theorem 8). As b² − a² = 2ε, the second term is
    φ(a)·M(−b) with the Mills ratio M(x) = Φ(−x)/φ(x), so δ = φ(a)[M(−a) − M(−b)]. The two Mills ratios
    agree in most digits when 1/s is small; there their difference is ∫(1 − yM(y))dy over [−a, −b],
    which has no cancellation between its ends.
    """
    s, mu = noise_multiplier, 1.0 / noise_multiplier
    a, b = 0.5 * mu - epsilon * s, -0.5 * mu - epsilon * s
    density = math.exp(-0.5 * a * a) / math.sqrt(2 * math.pi)
    if a > 0 and mu > 1:  # M(−a) may overflow; Φ(a) ≥ ½ cannot
        return float(ndtr(a) - density * _mills(-b))
    if mu > 1:
        return float(density * (_mills(-a) - _mills(-b)))
    y = -a + 0.5 * mu * (_NODES + 1)
    return density * 0.5 * mu * float(_WEIGHTS @ _mills_slope(y))


def gaussian_noise_multiplier(epsilon: float, delta: float) -> float:
    """Least standard deviation, as a multiple of the L2 sensitivity, that is (ε, δ)-private, for any ε > 0.

    The root of :func:`gaussian_delta` (decreasing in the noise), found to the last digits and then
    moved to the private side by ``ROUNDING_MARGIN``.
    """
    return _noise_multiplier(check_epsilon(epsilon), check_delta(delta))


@lru_cache(maxsize=256)
def _noise_multiplier(epsilon: float, delta: float) -> float:
    from scipy.optimize import brentq

    def excess(log_s: float) -> float:
        found = gaussian_delta(math.exp(log_s), epsilon)
        return math.log(max(found, 1e-320)) - math.log(delta)

    # A bracket from near the classical scale √(2 ln(1.25/δ))/ε, widened until it holds the root.
    low = high = math.log(math.sqrt(2 * math.log(2 / delta)) / max(epsilon, delta))
    while excess(high) > 0:
        high += 1.0
    while excess(low) < 0:
        low -= 1.0
    return math.exp(float(brentq(excess, low, high, xtol=1e-15, rtol=1e-15))) * (1 + ROUNDING_MARGIN)


def _mills(x: Any) -> Any:
    """Φ(−x)/φ(x)."""
    return math.sqrt(math.pi / 2) * erfcx(np.asarray(x) / math.sqrt(2))


def _mills_slope(y: Any) -> Any:
    """1 − yM(y) = −M'(y), by its asymptotic series where the difference would lose digits."""
    far = np.maximum(y, 30.0) ** -2
    series = far * (1 - 3 * far * (1 - 5 * far * (1 - 7 * far * (1 - 9 * far))))
    return np.where(y > 30.0, series, 1 - y * _mills(np.minimum(y, 30.0)))


# Enclosures.

_DIGITS = 60
_MOST_DIGITS = 2000
# A chain of operations below loses fewer units in the last place than 10 to this power.
_LOST = 8
_SERIES_END = Decimal(4)


def gaussian_delta_bounds(sigma: float, sensitivity: float, epsilon: float) -> tuple[float, float]:
    """Numbers at most and at least the δ for which N(0, σ²) is exactly (ε, δ)-private at this L2 sensitivity.

    The three floats are taken for the real numbers that they are. The two ends are neighbouring floats, or nearly so.
    """
    for name, given in (("sigma", sigma), ("sensitivity", sensitivity), ("epsilon", epsilon)):
        if not (isinstance(given, (int, float)) and 0.0 < given < math.inf):
            raise BadValue(name, given, "be a finite number above 0", "give for example 1.0")
    s = Fraction(float(sigma)) / Fraction(float(sensitivity))
    half, shift = 1 / (2 * s), Fraction(float(epsilon)) * s
    digits = _DIGITS
    while digits <= _MOST_DIGITS:
        with localcontext(Context(prec=digits, Emax=10**15, Emin=-(10**15))):
            value, error = _delta(half - shift, half + shift)
            least, most = value - error, value + error
        if least > 0 and error < value.scaleb(-20):
            return rounded_down(least), rounded_up(most)
        digits *= 2
    # Not reached by floats of sane size: the upper end is still proved.
    return 0.0, rounded_up(max(most, Decimal(0)))


def _delta(a: Fraction, minus_b: Fraction) -> tuple[Decimal, Decimal]:
    """δ and a bound on its error."""
    x, y = _decimal(abs(a)), _decimal(minus_b)
    density = (-x * x / 2).exp() / (2 * _pi()).sqrt()
    (near, near_error), (far, far_error) = _mills_profile(x), _mills_profile(y)
    unit = Decimal(10) ** (_LOST - _precision())
    # φ at a rounded argument: x²·unit relatively, beside its own roundings.
    relative = unit * (1 + x * x)
    slack = near_error + far_error + (near + far) * relative
    if a <= 0:
        return density * (near - far), density * slack
    return 1 - density * (near + far), density * slack + unit


def _mills_profile(x: Decimal) -> tuple[Decimal, Decimal]:
    return _series(x) if x < _SERIES_END else _continued_fraction(x)


def _series(x: Decimal) -> tuple[Decimal, Decimal]:
    """M(x) and a bound on its error, for 0 ≤ x < 4."""
    unit = Decimal(10) ** (-_precision())
    term, total, k = x, x, 0
    while k < 16 or term > unit:
        k += 1
        term = term * x * x / (2 * k + 1)
        total += term
    half = (2 * _pi()).sqrt() * (x * x / 2).exp() / 2
    # The last term bounds the rest (k ≥ 16 makes x²/(2k + 3) < ½); half is at most 4000, and so is the sum.
    return half - total, term + half * unit.scaleb(_LOST)


def _continued_fraction(x: Decimal) -> tuple[Decimal, Decimal]:
    """Return the value for x ≥ 4, by convergents of doubling depth."""
    goal = Decimal(10) ** (-_precision())
    depth = 32
    while True:
        low, high = sorted((_convergent(x, depth), _convergent(x, depth + 1)))
        if high - low <= goal * high or depth > 1 << 22:
            break
        depth *= 2
    return low, (high - low) + high * goal.scaleb(_LOST)


def _convergent(x: Decimal, depth: int) -> Decimal:
    value = x
    for k in range(depth, 0, -1):
        value = x + k / value
    return 1 / value


def _pi() -> Decimal:
    """Return π by Machin's formula, π = 16 atan(1/5) − 4 atan(1/239), with ten digits more than asked."""
    with localcontext() as context:
        context.prec += 10
        value = 16 * _inverse_tangent(5) - 4 * _inverse_tangent(239)
    return +value


def _inverse_tangent(q: int) -> Decimal:
    """atan(1/q), q ≥ 2: the series alternates and falls, so that the first term left out bounds the error."""
    power, total, k, limit = Decimal(1) / q, Decimal(0), 0, Decimal(10) ** (-_precision())
    while abs(power) > limit:
        total += power / (2 * k + 1)
        power /= -q * q
        k += 1
    return total


def _decimal(value: Fraction) -> Decimal:
    return Decimal(value.numerator) / Decimal(value.denominator)


def _precision() -> int:
    return getcontext().prec


# Noise of a trusted curator.

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


# Noise for any guarantee.


def laplace_scale(sensitivity: float, guarantee: Guarantee) -> float:
    """b ≥ Δ₁/ε: independent Laplace noise of scale b in every entry is ε-private (Dwork et al., TCC 2006)."""
    if not (guarantee.pure and guarantee.epsilon > 0.0):
        raise BadValue("guarantee", guarantee, "be ε-privacy with ε above 0", "Laplace noise needs no δ")
    return rounded_up(Fraction(_checked(sensitivity)) / Fraction(guarantee.epsilon))


def gaussian_deviation(sensitivity: float, guarantee: Guarantee) -> float:
    """σ for the L2 sensitivity: the analytic least for (ε, δ), Δ₂/√(2ρ) for ρ-zCDP."""

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
