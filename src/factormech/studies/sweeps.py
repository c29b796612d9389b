"""Axes for kinds of study whose code takes one value of a quantity at a time.

A kind that measures at one privacy budget, say, is written with ``asked["epsilon"]`` as a number. :func:`swept` makes
the budget an axis of the kind: its parts, measurements, refusals and costs are those of every value in turn, and the
column of the quantity becomes a key of the table. The random streams of such a kind do not depend on the quantity, so
that a study with one value has the numbers that it had when the quantity was a setting.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from factormech.errors import BadValue
from factormech.studies.asked import Asked
from factormech.studies.base import Axis, Curves, Experiment, PaperTable
from factormech.studies.solves import Solve

__all__ = ["quantity", "swept"]


def quantity(axis: Axis, default: float, note: str = "", **changes: Any) -> Axis:
    """Return an axis that a study may leave out, or say as one value beside its grid.

    Parameters
    ----------
    axis
        The axis whose name and rules it has, but for ``changes``.
    default
        The value of a study that leaves it out.
    note
        A sentence on the values that the kind takes.
    """
    return replace(axis, default=(default,), example=default, note=note, beside=True, **changes)


def swept(kind: Experiment, *axes: Axis) -> Experiment:
    """Return the kind with these quantities, which its functions take as settings, as axes of its grid.

    Parameters
    ----------
    kind
        A kind without a function ``table`` whose functions take ``asked[axis.name]`` as one value.
    axes
        The quantities. A column of the name is kept; else the kind gets one, with the axis' default in tables that were
        written before.
    """
    names = [axis.name for axis in axes]
    known = {column.name for column in kind.columns}
    added = [replace(axis.column(), added=(axis.default or (None,))[0]) for axis in axes if axis.name not in known]

    def measure(asked: Asked) -> Iterator[Mapping[str, Any]]:
        for values, one in _each(asked, axes):
            yield from ({**values, **row} for row in kind.measure(one))

    def parts(asked: Asked) -> Mapping[str, Asked]:
        several = [name for name in names if len(asked.grid.get(name, ())) > 1]
        found: dict[str, Asked] = {}
        for values, one in _each(asked, axes):
            suffix = "".join(f"_{values[name]}" for name in several)
            found |= {f"{name}{suffix}": _back(part, values) for name, part in kind.parts(one).items()}
        return found

    def refuse(asked: Asked) -> Iterable[BadValue]:
        problems = (problem for _, one in _each(asked, axes) for problem in kind.refuse(one))
        return {(problem.name, problem.rule): problem for problem in problems}.values()

    def solves(asked: Asked) -> Iterator[Solve]:
        return itertools.chain.from_iterable(kind.solves(one) for _, one in _each(asked, axes))

    return replace(
        kind,
        axes=(*kind.axes, *axes),
        columns=(*added, *kind.columns),
        keys=(*names, *kind.keys),
        measure=measure,
        parts=parts,
        refuse=refuse,
        solves=solves,
        tables=tuple(_with_rows(table, names) for table in kind.tables),
        figure=_with_panels(kind.figure, names) if isinstance(kind.figure, Curves) else kind.figure,
        seconds=lambda asked: sum(kind.seconds(one) for _, one in _each(asked, axes)),
        memory_mb=lambda asked: max(kind.memory_mb(one) for _, one in _each(asked, axes)),
        swept=tuple(names),
    )


def _each(asked: Asked, axes: Iterable[Axis]) -> Iterator[tuple[dict[str, Any], Asked]]:
    """Yield the values of the axes, and the request that has these values as settings."""
    names = [axis.name for axis in axes]
    values = [
        asked.grid.get(axis.name) or (asked.settings.get(axis.name, (axis.default or (None,))[0]),) for axis in axes
    ]
    grid = {name: found for name, found in asked.grid.items() if name not in names}
    for point in itertools.product(*values):
        at = dict(zip(names, point, strict=True))
        yield at, replace(asked, grid=grid, settings={**asked.settings, **at})


def _back(part: Asked, values: Mapping[str, Any]) -> Asked:
    """A part with the values as axes again."""
    settings = {name: value for name, value in part.settings.items() if name not in values}
    return replace(part, grid={**part.grid, **{name: (value,) for name, value in values.items()}}, settings=settings)


def _with_rows(table: PaperTable, names: list[str]) -> PaperTable:
    return replace(table, rows=(*(name for name in names if name not in table.rows), *table.rows))


def _with_panels(figure: Curves, names: list[str]) -> Curves:
    """The figure with a panel for each value of the quantities, or a note below it where they have one."""
    return replace(figure, panel=(*figure.panels, *(name for name in names if name not in figure.place)))
