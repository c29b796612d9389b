"""What a figure shows, said in names of columns.

:class:`Curves` is drawn by :mod:`factormech.figures.declared`, and :class:`Compared` by
:mod:`factormech.figures.compared`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Scale = Literal["linear", "log", "log2", "auto"]
Height = Literal["log", "linear", "ratio"]


@dataclass(frozen=True)
class Curves:
    """Panels of curves: one panel for each value of a column, in it one curve for each value of another.

    Parameters
    ----------
    x, y
        Columns of numbers. Rows without a ``y`` are said on the figure, with their ``reason``.
    series
        The column that tells the curves apart by colour and marker: names of the one map of styles
        (:mod:`factormech.figures.style`), or numbers.
    panel
        The column that tells the panels apart, or several, of which those that do not vary are said below the figure
        and the others in the titles; one panel, if ``None``.
    dash
        A second column that tells curves apart, by their line.
    low, high
        Columns with the ends of intervals around ``y``, drawn as bars.
    bars
        What the bars are, for the caption: "a 99 % interval"; the labels of the columns, if empty.
    below
        A column with what no curve can be below, drawn as a shaded band: where rows of one place differ in it, the
        least value, and none where one of them has none.
    references
        Columns with one value at each ``x`` of a panel, drawn as grey lines.
    far_references
        Whether the grey lines are shown wherever they are; else as far as they are near the curves.
    marks
        Columns with one value of ``x`` in a panel, or none, drawn as upright grey lines.
    line
        A column whose values are the lines; ``y`` are then marks alone, as of what is measured on what is predicted.
    where
        Column and value of the rows that are drawn; all rows, if empty.
    stars
        Column and value of rows that are drawn as stars on the curves, and in no other way.
    uprights
        Values of ``x`` with an upright grey line in all panels.
    far_below
        Whether the band is shown whole, however far it is below the curves.
    told
        A function, as ``module:name``, from the table to more sentences of the caption.
    x_scale, y_scale
        ``log2`` labels every value of ``x``, and ``auto`` follows the values; a ``ratio`` is logarithmic, from a
        line at 1 upwards.
    text
        A sentence of the caption: what ``y`` is, in full.
    note
        What must be read with the figure wherever it goes: below it, and in the caption.
    """

    x: str
    y: str
    series: str
    panel: str | tuple[str, ...] | None = None
    dash: str | None = None
    low: str | None = None
    high: str | None = None
    bars: str = ""
    below: str | None = None
    references: tuple[str, ...] = ()
    marks: tuple[str, ...] = ()
    far_references: bool = False
    line: str | None = None
    where: tuple[str, str] | None = None
    stars: tuple[str, str] | None = None
    uprights: tuple[float, ...] = ()
    far_below: bool = False
    told: str = ""
    x_scale: Scale = "linear"
    y_scale: Height = "log"
    text: str = ""
    note: str = ""

    @property
    def panels(self) -> tuple[str, ...]:
        """The columns that tell the panels apart."""
        if self.panel is None:
            return ()
        return (self.panel,) if isinstance(self.panel, str) else self.panel

    @property
    def columns(self) -> tuple[str, ...]:
        """Every column that is named."""
        named = (self.x, self.y, self.series, *self.panels, self.dash, self.low, self.high, self.below)
        return tuple(name for name in (*named, self.line, *self.references, *self.marks) if name is not None)

    @property
    def place(self) -> tuple[str, ...]:
        """The columns that say where in the figure a row is."""
        return tuple(name for name in (*self.panels, self.series, self.dash, self.x) if name is not None)


@dataclass(frozen=True)
class Compared:
    """Curves of mechanisms on a grid, with the lower bounds of the same table, and notes on what is missing.

    Of the columns of the grid, those that vary are x, panels or summarised by the rules of
    :mod:`factormech.experiments.drawing`.

    Parameters
    ----------
    y
        The column of what is compared.
    x
        The column of x where no column of numbers varies.
    height
        ``bounds``: a logarithmic axis, with the lower bounds of the table; ``ratio``: multiples of a lower bound,
        from a line at 1 upwards.
    points
        Whether every summarised value is drawn as a small point, beside the line of the medians.
    fixed
        Whether ``x`` is x even where it does not vary and another column does.
    what
        The start of the caption and the label of y, with ``{accuracy}`` for the error that is asked for.
    text, notes
        Sentences of the caption, and of the notes.
    """

    y: str
    what: str
    label: str
    x: str = "epsilon"
    height: Literal["bounds", "ratio"] = "bounds"
    points: bool = False
    fixed: bool = False
    text: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """Every column that is named."""
        return (self.x, self.y, "workload", "mechanism")
