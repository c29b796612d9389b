"""The cells of a printed table: numbers as text, the best of each row, and reasons.

**Numbers.** A number has four significant digits, or the digits that both ends of an interval share.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal

from factormech.tables.panels import told_as

# Numbers.

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


# Cells.


@dataclass(frozen=True)
class Cell:
    """A cell: a number, with its certified lower end if it has one, as text; or why there is none."""

    value: float = math.nan
    low: float = math.nan
    text: tuple[str, ...] = ()
    reason: str = ""
    best: bool = False


def is_number(cell: Cell) -> bool:
    """Return whether a cell has a number, which may be infinite."""
    return not math.isnan(cell.value)


def with_best(series: Mapping[str, list[Cell]], best: str) -> dict[str, list[Cell]]:
    """The cells with the best of each row marked; what reads the same is equally good."""
    if not best or len(series) < 2:
        return dict(series)
    rows = []
    for row in zip(*series.values(), strict=True):
        numbers = [cell.value for cell in row if math.isfinite(cell.value)]
        least = numeral((min if best == "min" else max)(numbers)) if numbers else ""
        rows.append([replace(c, best=math.isfinite(c.value) and numeral(c.value) == least) for c in row])
    return dict(zip(series, map(list, zip(*rows, strict=True)), strict=True))


def as_text(cells: Sequence[Cell]) -> list[Cell]:
    """The cells of a column with their numbers as text, alike: all whole, or all with a power of ten if one is."""
    numbers = [cell.value for cell in cells if math.isfinite(cell.value)]
    form = whole if all(value == round(value) for value in numbers) else numeral
    if any("e" in form(value) for value in numbers):
        form = scientific
    return [replace(cell, text=_texts(cell, form)) for cell in cells]


def _texts(cell: Cell, form: Callable[[float], str]) -> tuple[str, ...]:
    if math.isnan(cell.value):
        return ()
    if math.isinf(cell.value):
        return ("∞" if cell.value > 0 else "−∞",)
    if math.isnan(cell.low):
        return (form(cell.value),)
    return tuple(dict.fromkeys(between(cell.low, cell.value)))


def told_once(columns: Sequence[Sequence[Cell]]) -> tuple[tuple[Cell, ...], ...]:
    """The cells with one reason for all that differ only in numbers."""
    reasons = told_as(cell.reason for column in columns for cell in column if cell.reason)
    return tuple(tuple(replace(cell, reason=reasons.get(cell.reason, "")) for cell in column) for column in columns)
