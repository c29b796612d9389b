"""Numbers as a table prints them: four significant digits, or the digits that both ends of an interval share."""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal

DIGITS = 4
# Beyond these, numbers have a power of ten.
LEAST, LARGEST = Decimal("1e-4"), Decimal("1e7")


def numeral(value: float, digits: int = DIGITS, rounding: str = ROUND_HALF_EVEN) -> str:
    """Return a finite number with so many significant digits, as siunitx reads it: "0.01230", "1230", "1.230e9"."""
    if value == 0:
        return "0"
    rounded = Context(prec=digits, rounding=rounding).create_decimal(value)
    power = rounded.adjusted()
    rounded = rounded.quantize(Decimal(1).scaleb(power - digits + 1))
    return f"{rounded:f}" if LEAST <= abs(rounded) < LARGEST else f"{rounded.scaleb(-power):f}e{power}"


def whole(value: float) -> str:
    """Return a whole number, as it is below ten thousand and with four significant digits above."""
    return f"{value:.0f}" if abs(value) < 10**DIGITS else numeral(value)


def between(lower: float, upper: float, digits: int = DIGITS) -> tuple[str, str]:
    """Return what both ends round to, with as many digits from ``digits`` + 1 to two as that allows.

    If there is none, return both ends, rounded outwards to three digits.
    """
    for count in range(digits + 1, 1, -1):
        low, high = (numeral(end, count) for end in (lower, upper))
        if low == high:
            return low, high
    return numeral(lower, 3, ROUND_FLOOR), numeral(upper, 3, ROUND_CEILING)
