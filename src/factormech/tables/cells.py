"""The cells of a printed table: numbers as text, the best of each row, reasons why there is none."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from factormech.tables.numerals import between, numeral, scientific, whole
from factormech.tables.panels import told_as


@dataclass(frozen=True)
class Cell:
    """A cell: a number, with its certified lower end if it has one, as text; or why there is none."""

    value: float = math.nan
    low: float = math.nan
    text: tuple[str, ...] = ()
    reason: str = ""
    best: bool = False


def is_number(cell: Cell) -> bool:
    """Whether a cell has a number, be it infinite."""
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
