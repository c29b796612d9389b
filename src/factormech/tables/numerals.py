"""Numbers as a table prints them: four significant digits, or the digits that both ends of an interval share."""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal

DIGITS = 4
# Beyond these, numbers have a power of ten; below the last one, what is certified is as good as zero.
LEAST, LARGEST, NOTHING = 1e-4, 1e9, 1e-12


def numeral(value: float, digits: int = DIGITS, rounding: str = ROUND_HALF_EVEN) -> str:
    """Return a finite number with so many significant digits, as siunitx reads it: "0.01230", "1230", "1.230e9"."""
    if value == 0:
        return "0"
    if not LEAST <= abs(value) < LARGEST:
        return scientific(value, digits, rounding)
    return f"{_rounded(value, digits, rounding):f}"


def scientific(value: float, digits: int = DIGITS, rounding: str = ROUND_HALF_EVEN) -> str:
    """Return a finite number with a power of ten: "1.230e-2"."""
    if value == 0:
        return "0"
    rounded = _rounded(value, digits, rounding)
    return f"{rounded.scaleb(-rounded.adjusted()):f}e{rounded.adjusted()}"


def whole(value: float) -> str:
    """Return a whole number, as it is below ten thousand and with four significant digits above."""
    return f"{value:.0f}" if abs(value) < 10**DIGITS else numeral(value)


def between(lower: float, upper: float, digits: int = DIGITS) -> tuple[str, str]:
    """Return what both ends round to, with as many digits from ``digits`` + 1 to two as that allows.

    If there is none, return both ends, rounded outwards to three digits.
    """
    if 0 <= lower <= upper < NOTHING:
        return "0", "0"
    for count in range(digits + 1, 1, -1):
        low, high = (numeral(end, count) for end in (lower, upper))
        if low == high:
            return low, high
    return numeral(lower, 3, ROUND_FLOOR), numeral(upper, 3, ROUND_CEILING)


def _rounded(value: float, digits: int, rounding: str) -> Decimal:
    rounded = Context(prec=digits, rounding=rounding).create_decimal(value)
    return rounded.quantize(Decimal(1).scaleb(rounded.adjusted() - digits + 1))
