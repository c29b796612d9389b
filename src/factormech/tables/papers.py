"""The tables that a paper prints of every kind of study: those that the kind declares, or that its figure suggests."""

from __future__ import annotations

from factormech.studies.base import Curves, Experiment, TableKind
from factormech.studies.drawn import PaperTable, Shown


def papers_of(kind: Experiment | TableKind) -> tuple[PaperTable, ...]:
    """The tables of a kind: its own, those of its curves, or all numbers at each of its keys."""
    if kind.tables:
        return kind.tables
    curves = kind.figure
    if isinstance(curves, Curves):
        return (_of_curves(curves, getattr(kind, "swept", ())),)
    numbers = [column.name for column in kind.columns if column.type == "number" and column.name not in kind.keys]
    return (PaperTable(rows=kind.keys, shown=tuple(map(Shown, numbers))),)


def _of_curves(curves: Curves, swept: tuple[str, ...]) -> PaperTable:
    """A row for each place of a panel, a column for each curve."""
    return PaperTable(
        rows=(*(name for name in swept if name not in curves.place), *curves.panels, curves.x),
        columns=tuple(name for name in (curves.series, curves.dash) if name),
        shown=(Shown(curves.y),),
        best="min" if curves.below else "",
        bound=curves.below or "",
        beside=curves.references,
        ends=(curves.low, curves.high) if curves.low and curves.high else (),
    )
