r"""The privacy of Gaussian noise, enclosed: δ(ε) of given floats between two numbers that hold in exact arithmetic.

With s = σ/Δ, a = 1/(2s) − εs and b = −1/(2s) − εs, Balle & Wang (ICML 2018, Theorem 8) give δ = Φ(a) − e^ε Φ(b). As
b² − a² = 2ε, e^ε φ(b) = φ(a), and with the Mills ratio M(x) = Φ(−x)/φ(x)

.. math:: δ = φ(a)\,[M(-a) - M(-b)] \quad (a \le 0), \qquad δ = 1 - φ(a)\,[M(a) + M(-b)] \quad (a > 0),

so that M is asked at x ≥ 0 alone. There it is enclosed in two ways, with decimals, whose arithmetic, roots and
exponentials are correctly rounded:

* x < 4: M(x) = 1/(2φ(x)) − Σ_k x^{2k+1}/(1·3⋯(2k+1)). The terms are positive, and once a term is below half the one
  before it, what follows the last one is at most that last one.
* x ≥ 4: two successive convergents of Laplace's continued fraction 1/(x + 1/(x + 2/(x + 3/⋯))), which lie on either
  side of M(x); every operation has positive arguments.

The digits lost to cancellation are those of 1/δ and 1/s; precision is raised until they do not matter.
"""

from __future__ import annotations

import math
from decimal import Context, Decimal, getcontext, localcontext
from fractions import Fraction

from factormech.errors import BadValue
from factormech.numerics.rounding import rounded_down, rounded_up

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
    (near, near_error), (far, far_error) = _mills(x), _mills(y)
    unit = Decimal(10) ** (_LOST - _precision())
    # φ at a rounded argument: x²·unit relatively, beside its own roundings.
    relative = unit * (1 + x * x)
    slack = near_error + far_error + (near + far) * relative
    if a <= 0:
        return density * (near - far), density * slack
    return 1 - density * (near + far), density * slack + unit


def _mills(x: Decimal) -> tuple[Decimal, Decimal]:
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
    """The same for x ≥ 4, by convergents of doubling depth."""
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
    """By Machin's formula, π = 16 atan(1/5) − 4 atan(1/239), ten digits more than asked."""
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
