"""The table that a paper prints, said in names of columns; :mod:`factormech.tables.latex` typesets it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

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
        """Every column that is named."""
        shown = [name for one in self.shown for name in (one.column, one.low)]
        where = [name for name, _ in (*self.where, *self.without)]
        named = (*self.rows, *shown, *self.columns, self.bound, *self.beside, *self.ends, *where, *self.floats)
        return tuple(name for name in dict.fromkeys(named) if name)
