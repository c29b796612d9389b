"""The table of a study pivoted as a paper prints it: rows of places, columns of series, cells as text.

A :class:`Grid` is one float. Its cells are numerals of :mod:`factormech.tables.numerals`, or reasons why there is none.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from factormech import labels
from factormech.experiments.base import Column
from factormech.experiments.paper_table import PaperTable, Shown
from factormech.tables.cells import Cell, as_text, is_number, told_once, with_best
from factormech.tables.experiments import is_empty
from factormech.tables.numerals import numeral
from factormech.tables.panels import told

if TYPE_CHECKING:
    import pandas as pd

Values: TypeAlias = tuple[Any, ...]
# The fewest rows that a block of a thinned table keeps, and the floats above which tables are thinned.
FEWEST, MOST_FLOATS = 3, 3
# The lines that the heading of a block takes.
HEADING = 1.5


@dataclass(frozen=True)
class Grid:
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


def grids(frame: pd.DataFrame, paper: PaperTable, columns: Mapping[str, Column], lines: int) -> list[Grid]:
    """Return the floats of a paper's table, each of at most so many lines.

    Rows that differ in the innermost key alone are a block, and floats have whole blocks. Where more than
    :data:`MOST_FLOATS` would be needed, blocks are thinned evenly, and a note says so.
    """
    for name, value in paper.where:
        frame = frame[frame[name] == value]
    for name, value in paper.without:
        frame = frame[frame[name] != value]
    if frame.empty:
        return []
    frame = _spread(frame, [*paper.rows, *paper.columns])
    keys = [name for name in paper.rows if name not in paper.floats and _varies(frame, name)]
    found, shown, total = [], 0, 0
    for part in _groups(frame, [name for name in paper.floats if _varies(frame, name)]).values():
        rows, every = _groups(part, keys), _in_order(part, keys)
        for blocks in _packed(_blocks(every), lines):
            places = [place for block in blocks for place in block]
            some = part.loc[[i for place in places for i in rows[place].index]]
            here = tuple(name for name in keys if _varies(some, name))
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
    """What a reader calls a value of a column; nothing, if it is empty."""
    if is_empty(value):
        return ""
    if name == "bound_name":
        return labels.bound_label(value)
    if name in ("concept_class", "family"):
        return labels.workload_label(value)
    return labels.accuracy(value, math.nan).replace("nan", "α") if name == "metric" else labels.value_label(name, value)


def _spread(frame: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """The rows with "" for an empty key; a row whose key is empty is there for every value of that key."""
    import pandas as pd

    frame = frame.assign(**{name: [_plain(value) for value in frame[name].tolist()] for name in names})
    for name in names:
        empty = frame[name].map(is_empty)
        values = frame.loc[~empty, [name]].drop_duplicates()
        if empty.any() and len(values) and isinstance(values[name].iloc[0], float):
            everywhere = frame[empty].drop(columns=name).merge(values, how="cross")
            frame = pd.concat([frame[~empty], everywhere[frame.columns]], ignore_index=True)
    return frame


def _plain(value: Any) -> Any:
    return "" if is_empty(value) else value


def _grid(
    frame: pd.DataFrame, paper: PaperTable, columns: Mapping[str, Column], said: Sequence[str], thinned: str
) -> Grid:
    """The float of some rows, of which ``paper.rows`` vary among the keys ``said``."""
    by_place = _groups(frame, paper.rows)
    places = _in_order(frame, paper.rows)
    parts = [by_place[place] for place in places]
    if paper.total and len(places) > 1:
        places, parts = [*places, (*[""] * (len(paper.rows) - 1), paper.total)], [*parts, frame]
    series = _series(frame, parts, paper, columns)
    shown = with_best({head: cells for head, cells in series.items() if any(map(is_number, cells))}, paper.best)
    beside = _beside(parts, shown, paper, columns)
    fixed = [name for name in (*said, *paper.columns) if name not in paper.rows and not _varies(frame, name)]
    notes = [
        *_not_shown({head: cells for head, cells in series.items() if head not in shown}),
        thinned,
        _shared(frame, paper),
        _width(frame, paper),
    ]
    return Grid(
        fixed=tuple(dict.fromkeys(filter(None, (named(columns[name], frame[name].iloc[0]) for name in fixed)))),
        keys=tuple(columns[name] for name in paper.rows),
        places=tuple(places),
        heads=(*shown, *beside),
        cells=told_once([*map(as_text, shown.values()), *map(as_text, beside.values())]),
        beside=len(beside),
        notes=tuple(filter(None, notes)),
    )


def _in_order(frame: pd.DataFrame, names: Sequence[str]) -> list[Values]:
    """The values that some columns have together: numbers ascending, texts as the table has them first."""
    found = dict.fromkeys(zip(*(frame[name].tolist() for name in names), strict=True)) if names else {(): None}
    first: dict[Any, int] = {}
    for values in found:
        for value in values:
            first.setdefault(value, len(first))
    return sorted(found, key=lambda values: [first[v] if isinstance(v, str) else v for v in values])


def _groups(frame: pd.DataFrame, names: Sequence[str]) -> dict[Values, pd.DataFrame]:
    return dict(iter(frame.groupby(list(names), sort=False))) if names else {(): frame}


def _varies(frame: pd.DataFrame, name: str) -> bool:
    return len(set(frame[name])) > 1


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
    """At most so many of the places: both ends, and evenly between."""
    where = np.unique(np.linspace(0, len(block) - 1, min(most, len(block))).round().astype(int))
    return [block[i] for i in where]


def _series(
    frame: pd.DataFrame, parts: Sequence[pd.DataFrame], paper: PaperTable, columns: Mapping[str, Column]
) -> dict[str, list[Cell]]:
    """The cells of every series, and of what is shown of it."""
    names = [name for name in paper.columns if _varies(frame, name)]
    groups = [_groups(part, names) for part in parts]
    found = {}
    for values, shown in itertools.product(_in_order(frame, names), paper.shown):
        label = shown.label or (columns[shown.column].label if len(paper.shown) > 1 or not values else "")
        texts = [*(named(columns[name], value) for name, value in zip(names, values, strict=True)), label]
        head = ", ".join(filter(None, texts))
        found[head] = [_cell(group[values], shown) if values in group else Cell() for group in groups]
    return found


def _cell(rows: pd.DataFrame, shown: Shown) -> Cell:
    numbers = rows[shown.column].astype("float64").dropna()
    if numbers.empty and shown.how != "count":
        return Cell(reason=next((reason for reason in rows.get("reason", []) if reason), ""))
    if shown.how == "largest":
        return Cell(float(numbers.abs().max()))
    low = rows[shown.low].min() if shown.low else math.nan
    return Cell(float(getattr(numbers, "max" if shown.low else shown.how)()), float(low))


def _beside(
    parts: Sequence[pd.DataFrame], shown: Mapping[str, list[Cell]], paper: PaperTable, columns: Mapping[str, Column]
) -> dict[str, list[Cell]]:
    """What holds for a whole row: other columns, the lower bound, and the smallest number over the bound."""
    found = {columns[name].label: [Cell(float(part[name].max())) for part in parts] for name in paper.beside}
    if paper.bound:
        # Where rows differ in it, the least; a bound below zero says no more than zero does.
        bounds = [max(float(part[paper.bound].min(skipna=False)), 0.0) for part in parts]
        cells = zip(*shown.values(), strict=True) if shown else [()] * len(bounds)
        rows = [[cell.value for cell in row if is_number(cell)] for row in cells]
        ratios = [min(row) / bound if row and bound > 0 else math.nan for row, bound in zip(rows, bounds, strict=True)]
        found[columns[paper.bound].label] = [*map(Cell, bounds)]
        found["best over bound"] = [*map(Cell, ratios)]
    return {head: cells for head, cells in found.items() if any(map(is_number, cells))}


def _not_shown(dropped: Mapping[str, Sequence[Cell]]) -> list[str]:
    """A sentence for each reason for which series have no number at all."""
    by_reason: dict[str, list[str]] = {}
    for head, cells in dropped.items():
        why = "; ".join(told([cell.reason for cell in cells if cell.reason])) or "no number"
        by_reason.setdefault(why, []).append(head)
    return [f"Not shown: {'; '.join(heads)} ({why})" for why, heads in by_reason.items()]


def _shared(frame: pd.DataFrame, paper: PaperTable) -> str:
    """How many seeds or starts share a cell."""
    names = [name for name in ("seed", "start") if name in frame and _varies(frame, name)]
    how = "medians " * ({shown.how for shown in paper.shown} == {"median"})
    return f"{how}over {' and '.join(f'{frame[name].nunique()} {name}s' for name in names)}" if names else ""


def _width(frame: pd.DataFrame, paper: PaperTable) -> str:
    """How wide the intervals around the numbers are."""
    if not paper.ends:
        return ""
    low, high = (frame[name].astype("float64") for name in paper.ends)
    share = ((high - low) / 2 / frame[paper.shown[0].column].astype("float64").abs()).replace(np.inf, np.nan)
    width = float(share[share > 0].median())
    if math.isnan(width) or width < 5e-5:
        return ""
    return f"the intervals of the CSV file reach ±{numeral(100 * width, 2)} % of the number (median)"
