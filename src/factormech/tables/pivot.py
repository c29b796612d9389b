"""The table of a study pivoted as a paper prints it.

A paper prints the tables that the kind of the study declares, or else those that its figure suggests. One floating
table of LaTeX is a :class:`TableFloat`. Its cells are numerals of :mod:`factormech.tables.cells`, or reasons why there
is none.
"""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from factormech import labels
from factormech.studies.base import Column
from factormech.studies.drawn import PaperTable, Shown
from factormech.tables.cells import Cell, as_text, is_number, numeral, told_once, with_best
from factormech.tables.consistency_view import LABELS as PROCESSINGS
from factormech.tables.panels import told
from factormech.tables.rows import is_empty

if TYPE_CHECKING:
    import pandas as pd


# Numbers of a study as rows and columns.

Values: TypeAlias = tuple[Any, ...]
Rows: TypeAlias = list[dict[str, Any]]
# The fewest rows that a block of a thinned table keeps, and the floats above which tables are thinned.
FEWEST, MOST_FLOATS = 3, 3
_HOW: Mapping[str, Callable[[list[float]], float]] = {
    "median": statistics.median,
    "mean": statistics.fmean,
    "min": min,
    "max": max,
    "largest": lambda numbers: max(map(abs, numbers)),
}
# The lines that the heading of a block takes.
HEADING = 1.5


@dataclass(frozen=True)
class TableFloat:
    """One float.

    Parameters
    ----------
    fixed
        What all its rows share, as text: "p = 2".
    keys
        The columns that name a row, the innermost last.
    places
        The values of the keys in each row.
    heads
        What heads each column of numbers.
    cells
        For each head, a cell of each row.
    beside
        How many of the heads, at the end, are no series: lower bounds and what else holds for a row.
    notes
        What must be read with the numbers.
    """

    fixed: tuple[str, ...]
    keys: tuple[Column, ...]
    places: tuple[Values, ...]
    heads: tuple[str, ...]
    cells: tuple[tuple[Cell, ...], ...]
    beside: int
    notes: tuple[str, ...]


def grids(frame: pd.DataFrame, paper: PaperTable, columns: Mapping[str, Column], lines: int) -> list[TableFloat]:
    """Return the floats of a paper's table, each of at most so many lines.

    Rows that differ in the innermost key alone are a block, and floats have whole blocks. Where more than
    :data:`MOST_FLOATS` would be needed, blocks are thinned evenly, and a note says so.
    """
    rows = [
        row
        for row in frame.to_dict("records")
        if all(row[name] == value for name, value in paper.where)
        and all(row[name] != value for name, value in paper.without)
    ]
    rows = _spread(rows, [*paper.rows, *paper.columns])
    keys = [name for name in paper.rows if name not in paper.floats and _varies(rows, name)] or [*paper.rows[:1]]
    found, shown, total = [], 0, 0
    for part in _groups(rows, [name for name in paper.floats if _varies(rows, name)]).values():
        by_place, every = _groups(part, keys), _in_order(part, keys)
        for blocks in _packed(_blocks(every), lines):
            places = [place for block in blocks for place in block]
            some = [row for place in places for row in by_place[place]]
            here = tuple(name for name in keys if _varies(some, name)) or tuple(keys[-1:])
            found.append((some, replace(paper, rows=here)))
            shown += len(places)
        total += len(every)
    thinned = f"{shown} of {total} rows are printed, evenly chosen; the CSV file has all" if shown < total else ""
    return [_grid(some, one, columns, paper.rows, thinned) for some, one in found]


def _blocks(places: list[Values]) -> list[list[Values]]:
    return [list(block) for _, block in itertools.groupby(places, key=lambda values: values[:-1])]


def named(column: Column, value: Any) -> str:
    """A value with its symbol where it is a number: "δ = 10⁻⁶"."""
    label = value_label(column.name, value)
    return label if isinstance(value, str) else f"{column.short} = {label}"


def value_label(name: str, value: Any) -> str:
    """Return what a reader calls a value of a column; an empty text if the value is empty."""
    if is_empty(value):
        return ""
    if name == "bound_name":
        return labels.bound_label(value)
    if name == "excluded":
        return f"without {', '.join(map(labels.mechanism_label, value.split()))}"
    if name == "processing":
        return PROCESSINGS[value]
    return labels.accuracy(value, math.nan).replace("nan", "α") if name == "metric" else labels.value_label(name, value)


def _spread(rows: Rows, names: Sequence[str]) -> Rows:
    """The rows with "" for an empty key; a row whose key is empty is there for every number that the key has."""
    rows = [row | {name: "" if is_empty(row[name]) else row[name] for name in names} for row in rows]
    for name in names:
        values = [value for value in dict.fromkeys(row[name] for row in rows) if value != ""]
        if values and isinstance(values[0], float):
            rows = [row | {name: value} for row in rows for value in (values if row[name] == "" else [row[name]])]
    return rows


def _grid(
    rows: Rows, paper: PaperTable, columns: Mapping[str, Column], said: Sequence[str], thinned: str
) -> TableFloat:
    """The float of some rows, of which ``paper.rows`` vary among the keys ``said``."""
    by_place = _groups(rows, paper.rows)
    places = _in_order(rows, paper.rows)
    parts = [by_place[place] for place in places]
    if paper.total and len(places) > 1:
        places, parts = [*places, (*[""] * (len(paper.rows) - 1), paper.total)], [*parts, rows]
    series = _series(rows, parts, paper, columns)
    shown = with_best({head: cells for head, cells in series.items() if any(map(is_number, cells))}, paper.best)
    beside = _beside(parts, shown, paper, columns)
    fixed = [name for name in (*said, *paper.columns) if name not in paper.rows and not _varies(rows, name)]
    notes = [
        *_not_shown({head: cells for head, cells in series.items() if head not in shown}),
        thinned,
        _shared(rows, paper),
        _width(rows, paper),
    ]
    return TableFloat(
        fixed=tuple(dict.fromkeys(filter(None, (named(columns[name], rows[0][name]) for name in fixed)))),
        keys=tuple(columns[name] for name in paper.rows),
        places=tuple(places),
        heads=(*shown, *beside),
        cells=told_once([*map(as_text, shown.values()), *map(as_text, beside.values())]),
        beside=len(beside),
        notes=tuple(filter(None, notes)),
    )


def _in_order(rows: Rows, names: Sequence[str]) -> list[Values]:
    """The values that some columns have together: numbers ascending, texts as the table has them first."""
    found = [*_groups(rows, names)]
    first: dict[Any, int] = {}
    for values in found:
        for value in values:
            first.setdefault(value, len(first))
    return sorted(found, key=lambda values: [first[v] if isinstance(v, str) else v for v in values])


def _groups(rows: Rows, names: Sequence[str]) -> dict[Values, Rows]:
    found: dict[Values, Rows] = {}
    for row in rows:
        found.setdefault(tuple(row[name] for name in names), []).append(row)
    return found


def _varies(rows: Rows, name: str) -> bool:
    return len({row[name] for row in rows}) > 1


def _numbers(rows: Rows, name: str) -> list[float]:
    return [float(row[name]) for row in rows if not is_empty(row[name])]


def _packed(blocks: list[list[Values]], lines: int) -> list[list[list[Values]]]:
    """The blocks of each float, with all their places if few floats hold them, else with fewer."""
    longest = min(max(map(len, blocks)), max(int(lines - HEADING), FEWEST))
    for most in range(longest, FEWEST - 1, -1):
        found = _filled([_thinned(block, most) for block in blocks], lines)
        if len(found) <= MOST_FLOATS:
            return found
    return _filled([_thinned(block, FEWEST) for block in blocks], lines)


def _filled(blocks: list[list[Values]], lines: int) -> list[list[list[Values]]]:
    found: list[list[list[Values]]] = [[]]
    for block in blocks:
        if found[-1] and sum(len(one) + HEADING for one in [*found[-1], block]) > lines:
            found.append([])
        found[-1].append(block)
    return found


def _thinned(block: list[Values], most: int) -> list[Values]:
    """Return at most the given number of positions: both ends, and evenly between them."""
    where = np.unique(np.linspace(0, len(block) - 1, min(most, len(block))).round().astype(int))
    return [block[i] for i in where]


def _series(
    rows: Rows, parts: Sequence[Rows], paper: PaperTable, columns: Mapping[str, Column]
) -> dict[str, list[Cell]]:
    """The cells of every series, and of what is shown of it."""
    names = [name for name in paper.columns if _varies(rows, name)]
    groups = [_groups(part, names) for part in parts]
    found: dict[str, list[Cell]] = {}
    for values, shown in itertools.product(_in_order(rows, names), paper.shown):
        label = shown.label or (columns[shown.column].label if len(paper.shown) > 1 or not values else "")
        texts = [*(named(columns[name], value) for name, value in zip(names, values, strict=True)), label]
        head = ", ".join(filter(None, texts))
        # Two names may have one label: both are shown.
        head += f" ({', '.join(map(str, values))})" * (head in found)
        found[head] = [_cell(group[values], shown) if values in group else Cell() for group in groups]
    return found


def _cell(rows: Rows, shown: Shown) -> Cell:
    numbers = _numbers(rows, shown.column)
    if shown.how == "count":
        return Cell(float(len(numbers)))
    if not numbers:
        return Cell(reason=next((row["reason"] for row in rows if row.get("reason")), ""))
    if shown.low:
        return Cell(max(numbers), min(_numbers(rows, shown.low), default=math.nan))
    return Cell(float(_HOW[shown.how](numbers)))


def _beside(
    parts: Sequence[Rows], shown: Mapping[str, list[Cell]], paper: PaperTable, columns: Mapping[str, Column]
) -> dict[str, list[Cell]]:
    """What holds for a whole row: other columns, the lower bound, and the smallest number over the bound."""
    found = {
        columns[name].label: [Cell(max(_numbers(part, name), default=math.nan)) for part in parts]
        for name in paper.beside
    }
    if paper.bound:
        bounds = [_bound(part, paper.bound) for part in parts]
        cells = zip(*shown.values(), strict=True) if shown else [()] * len(bounds)
        rows = [[cell.value for cell in row if is_number(cell)] for row in cells]
        ratios = [min(row) / bound if row and bound > 0 else math.nan for row, bound in zip(rows, bounds, strict=True)]
        found[columns[paper.bound].label] = [*map(Cell, bounds)]
        found["best over bound"] = [*map(Cell, ratios)]
    return {head: cells for head, cells in found.items() if any(map(is_number, cells))}


def _bound(rows: Rows, name: str) -> float:
    """The least where rows differ in it, none where one has none; below zero it says no more than zero does."""
    numbers = _numbers(rows, name)
    return max(min(numbers), 0.0) if len(numbers) == len(rows) else math.nan


def _not_shown(dropped: Mapping[str, Sequence[Cell]]) -> list[str]:
    """A sentence for each reason for which series have no number at all."""
    by_reason: dict[str, list[str]] = {}
    for head, cells in dropped.items():
        why = "; ".join(told([cell.reason for cell in cells if cell.reason])) or "no number"
        by_reason.setdefault(why, []).append(head)
    return [f"Not shown: {'; '.join(heads)} ({why})" for why, heads in by_reason.items()]


def _shared(rows: Rows, paper: PaperTable) -> str:
    """Return how many seeds or starts share a cell."""
    counts = [(len({row[name] for row in rows}), name) for name in ("seed", "start") if name in rows[0]]
    several = [f"{count} {name}s" for count, name in counts if count > 1]
    how = "medians " * ({shown.how for shown in paper.shown} == {"median"})
    return f"{how}over {' and '.join(several)}" if several else ""


def _width(rows: Rows, paper: PaperTable) -> str:
    """How wide the intervals around the numbers are."""
    if not paper.ends:
        return ""
    low, high, middle = *paper.ends, paper.shown[0].column
    known = [row for row in rows if not any(is_empty(row[name]) for name in (low, high, middle)) and row[middle]]
    shares = [abs((row[high] - row[low]) / row[middle]) / 2 for row in known]
    width: float = statistics.median([share for share in shares if math.isfinite(share) and share > 0] or [0.0])
    return (
        f"the intervals of the CSV file reach ±{numeral(100 * width, 2)} % of the number (median)"
        if width > 5e-5
        else ""
    )
