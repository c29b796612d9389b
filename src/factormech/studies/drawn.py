"""What a figure of curves and a printed table show, in names of columns.

**Figures.** :class:`Curves` is drawn by :mod:`factormech.plots.declared`, and :class:`Compared` by
:mod:`factormech.plots.compared`.

**Printed tables.** :mod:`factormech.tables.latex` typesets them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

# Figures.

Scale = Literal["linear", "log", "log2", "auto"]
Height = Literal["log", "linear", "ratio"]


@dataclass(frozen=True)
class Curves:
    """Panels of curves: one panel for each value of a column, in it one curve for each value of another.

    Parameters
    ----------
    x, y
        Columns of numbers. Rows without a ``y`` are said on the figure, with their ``reason``.
    label, name
        The label of y, and what a reader calls the curve where there is one, if the column's own label says too little.
    one
        What a grey line at y = 1 is, if there is one.
    series
        The column that tells the curves apart by colour and marker: names of the one map of styles
        (:mod:`factormech.plots.style`), or numbers; one curve, if empty.
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
    floor
        What the band is, for the legend: "bound for every ε-LDP protocol"; the label of ``below``, if empty.
    references
        Columns with one value at each ``x`` of a panel, drawn as grey lines.
    far_references
        Whether the grey lines are shown wherever they are; else as far as they are near the curves.
    marks
        Columns with one value of ``x`` in a panel, or none, drawn as upright grey lines.
    line
        A column whose values are the lines; ``y`` are then marks alone, as of what is measured on what is predicted.
    censored
        A column that is above 0 where runs were stopped: there ``y`` is the least that it can be, an arrow without
        bars and off the curve.
    where
        Column and value of the rows that are drawn; all rows, if empty.
    stars
        Column and value of rows that are drawn as stars on the curves, and in no other way.
    apart
        What the starred rows are, for the legend, if they are no part of the curves: they are then crosses.
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
    series: str = ""
    panel: str | tuple[str, ...] | None = None
    dash: str | None = None
    low: str | None = None
    high: str | None = None
    bars: str = ""
    below: str | None = None
    floor: str = ""
    references: tuple[str, ...] = ()
    marks: tuple[str, ...] = ()
    far_references: bool = False
    line: str | None = None
    censored: str | None = None
    where: tuple[str, str] | None = None
    stars: tuple[str, str] | None = None
    apart: str = ""
    uprights: tuple[float, ...] = ()
    far_below: bool = False
    told: str = ""
    x_scale: Scale = "linear"
    y_scale: Height = "log"
    label: str = ""
    name: str = ""
    one: str = ""
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
        """The columns that the figure names."""
        named = (self.x, self.y, self.series, *self.panels, self.dash, self.low, self.high, self.below)
        return tuple(name for name in (*named, self.line, self.censored, *self.references, *self.marks) if name)

    @property
    def place(self) -> tuple[str, ...]:
        """The columns that say where in the figure a row is."""
        return tuple(name for name in (*self.panels, self.series, self.dash, self.x) if name)


@dataclass(frozen=True)
class Compared:
    """Curves of mechanisms on a grid, with the lower bounds of the same table, and notes on what is missing.

    Of the columns of the grid, those that vary are x, panels or summarised by the rules of
    :mod:`factormech.studies.drawing`.

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
        """The columns that the figure names."""
        return (self.x, self.y, "workload", "mechanism")


# Printed tables.

# What is printed of rows that share a cell, such as those of several seeds; "largest" is of the absolute values.
How = Literal["median", "mean", "min", "max", "largest", "count"]


@dataclass(frozen=True)
class Shown:
    """A column whose numbers fill cells.

    Parameters
    ----------
    column
        Its name.
    how
        What is printed of rows that share a cell.
    label
        What a reader calls the number, if not what the column says.
    low
        A column with the lower end of a certified interval, of which ``column`` is the upper end: the digits that both
        ends share are printed, or both ends.
    """

    column: str
    how: How = "median"
    label: str = ""
    low: str = ""


@dataclass(frozen=True)
class PaperTable:
    """A table of a paper: places down its side, series across its head, numbers in its cells.

    Parameters
    ----------
    rows
        The columns of the CSV file whose values name a row. Those that do not vary are said in the caption; a row whose
        key is empty holds at every value of that key.
    shown
        What fills the cells.
    columns
        The columns of the CSV file whose values head the columns of the table; none, if only ``shown`` does.
    best
        Which number of a row is bold.
    bound
        A column with what no number can be below: it is printed last, with the smallest number over it.
    beside
        Other columns with one number for each row of the table.
    ends
        Columns with the ends of intervals around the numbers, of which a note says how wide they are.
    where
        Only rows of the CSV file with these values, as pairs of a column and a value.
    without
        Rows with these values are left out.
    floats
        The keys among ``rows`` that have a float for each value, whatever the length of the table.
    total
        What a last row is called that is made of all rows; none, if not given.
    text
        The first sentence of the caption, without a full stop; made of the labels, if not given.
    """

    rows: tuple[str, ...]
    shown: tuple[Shown, ...]
    columns: tuple[str, ...] = ()
    best: Literal["", "min", "max"] = ""
    bound: str = ""
    beside: tuple[str, ...] = ()
    ends: tuple[str, ...] = ()
    where: tuple[tuple[str, Any], ...] = ()
    without: tuple[tuple[str, Any], ...] = ()
    floats: tuple[str, ...] = ()
    total: str = ""
    text: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """The columns that the figure names."""
        shown = [name for one in self.shown for name in (one.column, one.low)]
        where = [name for name, _ in (*self.where, *self.without)]
        named = (*self.rows, *shown, *self.columns, self.bound, *self.beside, *self.ends, *where, *self.floats)
        return tuple(name for name in dict.fromkeys(named) if name)
