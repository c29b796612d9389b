"""CSV as people have it: the bytes of a file as a matrix with names, or one sentence on what to change in which line.

Read are commas, semicolons and tabs; quotes; UTF-8 with or without a byte order mark, UTF-16 with one, Windows-1252
(Latin-1); line ends of every system; a header; a first column of names. Values are read strictly: a cell that is not a
plain number with a decimal point is refused, and a first line that could be a header or a query is refused, too.

``parse`` is a pure function of the bytes: it opens no file and keeps nothing.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from factormech.arrays import FloatArray, check_dense_size
from factormech.errors import BadValue

DELIMITERS = ("\t", ";", ",")
# First cells of a header that say: the first column holds names.
NAME_COLUMN = ("", "name", "names", "query", "queries", "index", "id", "label", "row")
# Lines that are looked at to tell which delimiter a file has.
_LOOKED_AT = 20
_NUMBER = re.compile(r"\s*[+-]?((\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|nan|inf(inity)?)\s*", re.IGNORECASE)
# What may be meant as a number: 1_000, 1'000, 0x10; as the name of a row it would hide the number.
_MISTYPED = re.compile(r"\s*[+-]?(0x[0-9a-f]+|\d[\d_.' ]*)\s*", re.IGNORECASE)
# What rows of counts and of parities consist of.
_SIGNS = {-1.0, 0.0, 1.0}
_QUOTED = re.compile(r'"[^"]*"')
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_LINE_ENDS = re.compile(r"\r\n|\r|\n")
_SAVE = "save it as CSV text in UTF-8"


@dataclass(frozen=True)
class Table:
    """Numbers with the names of their rows and columns.

    Attributes
    ----------
    values
        (rows, columns), finite.
    row_names, column_names
        The first column and the header, where there are any.
    first_line
        The number of the line that holds the first row.
    """

    values: FloatArray
    row_names: tuple[str, ...] | None
    column_names: tuple[str, ...] | None
    first_line: int = 1


def parse(content: bytes, where: str) -> Table:
    """Return the table in the content of a CSV file; ``where`` names the file in errors."""
    lines = _lines_of(_decoded(content, where), where)
    delimiter = _delimiter(lines)
    cells = _Cells(lines, delimiter, where)
    _check_comment(cells, where)
    header, named = _layout(cells, where)
    first = 1 if header else 0
    columns = _common_length(cells, first, where)
    check_dense_size(where, len(lines) - first, columns - named)
    values = _numbers(cells, first, named, where)
    if not header and not named:
        _check_first_query(cells, values, where)
    column_names = _header_names(cells, columns, named, where) if header else None
    row_names = _row_names(cells, first, where) if named else None
    return Table(values, row_names, column_names, first + 1)


def is_number(cell: str) -> bool:
    """Return whether a cell is a number, written with a decimal point and without separators of thousands."""
    return _NUMBER.fullmatch(cell) is not None


# Text ---------------------------------------------------------------------------------------------------------------


def _decoded(content: bytes, where: str) -> str:
    try:
        if content.startswith((b"\xff\xfe", b"\xfe\xff")):
            return content.decode("utf-16")
        try:
            return content.decode("utf-8-sig")
        except UnicodeDecodeError:
            return content.decode("cp1252")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        found = f"a byte {content[error.start]:#04x}, which is not text"
        raise BadValue(f"{where}, line {line}", found, "be text (a whole CSV file)", _SAVE) from None


def _lines_of(text: str, where: str) -> list[str]:
    lines = _LINE_ENDS.split(text)
    while lines and not lines[-1].strip():
        lines.pop()
    if not lines:
        raise BadValue(where, "no rows", "hold a matrix", "write the file again")
    control = _CONTROL.search(text)
    if control is not None:
        number = len(_LINE_ENDS.findall(text[: control.start()])) + 1
        raise BadValue(f"{where}, line {number}", control[0], "be text (a whole CSV file)", _SAVE)
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            raise BadValue(f"{where}, line {number}", "an empty line", "hold a row", "remove this line")
    return lines


def _delimiter(lines: Sequence[str]) -> str:
    """The delimiter that every line has equally often; a comma comes last, because it may stand in numbers."""
    bare = [_QUOTED.sub("", line) for line in lines[:_LOOKED_AT]]
    there = [sign for sign in DELIMITERS if sign in bare[0]]
    steady = [sign for sign in there if len({line.count(sign) for line in bare}) == 1]
    return next(iter(steady or there), ",")


class _Cells:
    """The cells of a line, on demand: large files are read by NumPy, and only looked at here."""

    def __init__(self, lines: list[str], delimiter: str, where: str) -> None:
        self.lines, self.delimiter, self.where = lines, delimiter, where
        self.quoted = any('"' in line for line in lines)
        if self.quoted:
            self._rows = [self._split(number, line) for number, line in enumerate(lines, start=1)]
            self.lengths = [len(row) for row in self._rows]
        else:
            self.lengths = [line.count(delimiter) + 1 for line in lines]

    def _split(self, number: int, line: str) -> list[str]:
        try:
            rows = list(csv.reader([line], delimiter=self.delimiter, skipinitialspace=True, strict=True))
        except csv.Error:
            rows = []
        if len(rows) != 1:
            raise BadValue(
                f"{self.where}, line {number}", line, "close every quote it opens", 'write a quote in a name as ""'
            )
        return [cell.strip() for cell in rows[0]]

    def row(self, i: int) -> list[str]:
        """Return all cells of a line."""
        return self._rows[i] if self.quoted else [cell.strip() for cell in self.lines[i].split(self.delimiter)]

    def first(self, i: int) -> str:
        """The first cell of a line."""
        return self._rows[i][0] if self.quoted else self.lines[i].partition(self.delimiter)[0].strip()


# Header and names ---------------------------------------------------------------------------------------------------


def _layout(cells: _Cells, where: str) -> tuple[bool, bool]:
    """Return whether there is a header, and whether the first column holds names."""
    head, count = cells.row(0), len(cells.lines)
    texts = [cell for cell in head if not is_number(cell)]
    below = range(1, count)
    short = count > 1 and cells.lengths[1] == len(head) + 1  # R writes no name above the names of rows
    named = count > 1 and max(cells.lengths[1:]) > 1 and all(not is_number(cells.first(i)) for i in below)
    if head[0].lower() in NAME_COLUMN and len(head) > 1 and count > 1:
        return True, True
    if texts and len(texts) == len(head):
        _check_header(head, count, where)
        return True, bool(named or short)
    if short and named and not texts:
        return True, True
    if not texts:
        return False, False
    if len(texts) == 1 and not is_number(head[0]) and (named or count == 1) and not _MISTYPED.fullmatch(head[0]):
        return False, True
    _refuse_mixed(cells, where)
    raise AssertionError  # pragma: no cover


def _check_comment(cells: _Cells, where: str) -> None:
    """Refuse a first line that is a remark; '# a,b' above rows of two cells is a header."""
    if cells.lengths[0] == 1 < max(cells.lengths) and cells.first(0).startswith("#"):
        raise BadValue(f"{where}, line 1", cells.first(0), "be a header or a row", "remove this line")


def _check_header(head: list[str], count: int, where: str) -> None:
    """Refuse a header without rows, and a single cell that may be a mistyped number."""
    if count == 1 and len(head) > 1 and not any(re.match(r"[\d+.-]", cell) for cell in head):
        rule = "stand above rows of numbers, as a header does"
        raise BadValue(f"{where}, line 1", ", ".join(head), rule, "write a line for each query below it")
    single = len(head) == 1 and re.match(r"[\d+.-]", head[0]) is not None
    if count == 1 or single:
        raise BadValue(f"{where}, line 1, column 1", head[0], "be a number", _remedy(head[0]))


def _refuse_mixed(cells: _Cells, where: str) -> None:
    """A first line of numbers and texts is neither a row nor a header."""
    head = cells.row(0)
    j = next((i for i, cell in enumerate(head) if not is_number(cell) and (i or not _all_named(cells))), 0)
    remedy = _remedy(head[j])
    if len(head) > 2:
        remedy += "; or, if line 1 is a header, let its first cell be 'query' and begin each row with a name"
    raise BadValue(f"{where}, line 1, column {j + 1}", head[j], "be a number", remedy)


def _check_first_query(cells: _Cells, values: FloatArray, where: str) -> None:
    """Refuse a first line of rising or falling numbers above rows that are unlike it: 18,30,45 above zeros and ones.

    Headers have whole numbers; a line with a decimal point is a query.
    """
    head, rest = values[0], values[1:]
    if not all(re.fullmatch(r"[+-]?\d+", cell.strip()) for cell in cells.row(0)):
        return
    steps = np.diff(head)
    if not (len(rest) and len(steps) and (np.all(steps > 0) or np.all(steps < 0))) or set(head) <= _SIGNS:
        return
    if np.isin(rest, list(_SIGNS)).all():
        beside = "the other lines have no other numbers than 0, 1 and -1"
    elif len(head) > 2 and np.all(steps == 1) and not np.all(np.diff(rest, axis=1) > 0, axis=1).any():
        beside = "its numbers are consecutive, unlike those of the other lines"
    else:
        return
    first = cells.row(0)
    shown = ", ".join(first[:6]) + (", …" if len(first) > 6 else "")
    rule = f"be a query; it looks like a header, because {beside}"
    remedy = "if it is a header, remove it, or begin it with 'query' and each row with a name; if a query, move it down"
    raise BadValue(f"{where}, line 1", shown, rule, remedy)


def _all_named(cells: _Cells) -> bool:
    return all(not is_number(cells.first(i)) for i in range(len(cells.lines)))


def _common_length(cells: _Cells, first: int, where: str) -> int:
    """Return the number of cells that every row has; a row that differs from most is refused."""
    lengths = cells.lengths[first:]
    (columns, _), *others = Counter(lengths).most_common()
    if others:
        number, found = next((i, length) for i, length in enumerate(lengths, start=first + 1) if length != columns)
        rule = f"have as many cells as line {first + 1 + lengths.index(columns)}, {columns}"
        raise BadValue(f"{where}, line {number}: cells", found, rule, "complete or remove this line")
    return columns


def _header_names(cells: _Cells, columns: int, named: bool, where: str) -> tuple[str, ...]:
    head = cells.row(0)
    if len(head) not in (columns, columns - named):
        rule = f"have as many cells as line 2, {columns}"
        raise BadValue(f"{where}, line 1: cells", len(head), rule, "complete the header")
    names = head[1:] if named and len(head) == columns else head
    return _unique(names, [f"line 1, column {j}" for j in range(1 + len(head) - len(names), 1 + len(head))], where)


def _row_names(cells: _Cells, first: int, where: str) -> tuple[str, ...]:
    places = range(first, len(cells.lines))
    return _unique([cells.first(i) for i in places], [f"line {i + 1}, column 1" for i in places], where)


def _unique(names: Sequence[str], places: Sequence[str], where: str) -> tuple[str, ...]:
    seen: dict[str, str] = {}
    for name, place in zip(names, places, strict=True):
        if not name:
            raise BadValue(f"{where}, {place}", "", "be a name, as its neighbours are", "write a name into this cell")
        if name in seen:
            rule = f"be another name than in {seen[name]}"
            raise BadValue(f"{where}, {place}", name, rule, "rename one of the two")
        seen[name] = place
    return tuple(names)


# Values -------------------------------------------------------------------------------------------------------------


def _numbers(cells: _Cells, first: int, named: bool, where: str) -> FloatArray:
    columns = range(int(named), cells.lengths[first])
    try:
        values = np.loadtxt(
            cells.lines[first:],
            delimiter=cells.delimiter,
            comments=None,
            quotechar='"' if cells.quoted else None,
            usecols=list(columns) if named else None,
            ndmin=2,
        )
    except ValueError as error:
        raise _bad_cell(cells, first, named, where, error) from None
    bad = np.argwhere(~np.isfinite(values))
    if bad.size:
        i, j = bad[0]
        place = f"{where}, line {i + 1 + first}, column {j + 1 + named}"
        rule, remedy = "be a finite number", f"correct this cell ({len(bad)} such in all)"
        raise BadValue(place, float(values[i, j]), rule, remedy)
    return np.asarray(values)


def _bad_cell(cells: _Cells, first: int, named: bool, where: str, error: Exception) -> BadValue:
    """The first cell that is not a number: looked for only once the fast reader has refused the file."""
    for i in range(first, len(cells.lines)):
        for j, cell in enumerate(cells.row(i)):
            if (j or not named) and not is_number(cell):
                return BadValue(f"{where}, line {i + 1}, column {j + 1}", cell, "be a number", _remedy(cell))
    said = " ".join(str(error).split())
    return BadValue(where, said, "be a whole CSV file", "write the file again")


def _remedy(cell: str) -> str:
    """Return the remedy for a cell: what to write in its place."""
    if not cell:
        return "write a number into this empty cell, for example 0"
    if cell.endswith("%"):
        return "write a fraction: 0.5 for 50%"
    if re.fullmatch(r"[+-]?\d{1,3}(([.,' \xa0])\d{3})(\2\d{3})+|[+-]?\d{1,3}[' \xa0]\d{3}", cell):
        return "leave out the separators of thousands"
    if re.fullmatch(r"[+-]?\d{1,3},\d{3}", cell):
        point, plain = cell.replace(",", "."), cell.replace(",", "")
        return f"write a decimal point, {point}, or no separator of thousands, {plain}"
    if re.fullmatch(r"[+-]?\d+,\d*", cell):
        return f"write a decimal point: {cell.replace(',', '.')}"
    if len(parts := cell.split()) > 1 and all(map(is_number, parts)):
        return "separate the numbers by commas, semicolons or tabs"
    return "correct this cell"
