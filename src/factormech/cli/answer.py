"""The answer of a command: a JSON object for programs, and lines for people, with the same numbers."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from factormech.labels import percent as percent


@dataclass(frozen=True)
class Answer:
    """The answer of a command.

    Attributes
    ----------
    data
        The JSON object, with the keys of ``schema.py``; its numbers may be infinite or NaN.
    lines
        The same numbers for a reader.
    certified
        Whether the result is certified; if it is not, ``data["reason"]`` says why.
    """

    data: Mapping[str, Any]
    lines: Sequence[str] = field(default_factory=list)
    certified: bool = True

    def as_json(self) -> str:
        """Return the JSON text of the object; numbers that are not finite become null."""
        return json.dumps(plain(self.data), indent=1, ensure_ascii=False, allow_nan=False)

    def text(self, width: int | None = None) -> str:
        """Return the lines, sentences wrapped to a width, if one is given; tables are left as they are."""
        return "\n".join(part for line in self.lines for part in _wrapped(line, width))


class WrappedLine(str):
    """A line with its own way to wrap: continuation lines are indented by ``indent``; with None it is not wrapped."""

    indent: int | None = None

    @classmethod
    def of(cls, text: str, indent: int | None = None) -> WrappedLine:
        """Return a line with this indent; None for a row of a table."""
        made = cls(text)
        made.indent = indent
        return made


def _wrapped(line: str, width: int | None) -> list[str]:
    indent = line.indent if isinstance(line, WrappedLine) else len(line) - len(line.lstrip())
    if width is None or indent is None or len(line) <= width:
        return [line]
    import textwrap

    return textwrap.wrap(
        line, max(width, indent + 20), subsequent_indent=" " * indent, break_long_words=False, break_on_hyphens=False
    )


def terminal_width() -> int | None:
    """Return the columns of the terminal that answers are written to; None if they go elsewhere."""
    if not sys.stdout.isatty():
        return None
    import shutil

    return shutil.get_terminal_size().columns


def plain(value: Any) -> Any:
    """Return the value in JSON's types; numbers that are not finite become null, and ``reason`` says why."""
    if isinstance(value, Mapping):
        found = {key: plain(item) for key, item in value.items()}
        lost = [f"{key} is {_word(item)}" for key, item in value.items() if _is_lost(item)]
        if lost and not found.get("reason"):
            found["reason"] = "; ".join(lost)
        return found
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return None if _is_lost(value) else value


def _is_lost(value: Any) -> bool:
    return isinstance(value, float) and not math.isfinite(value)


def _word(value: float) -> str:
    return "not a number" if math.isnan(value) else "infinite"


# The narrowest that a first column is made to fit the terminal.
_NARROWEST = 12


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return aligned columns: the first to the left, numbers to the right.

    Where the table is wider than the terminal, the names in the first column are cut.
    """
    cells = [list(head), *map(list, rows)]
    widths = [max(len(row[i]) for row in cells) for i in range(len(head))]
    room = terminal_width()
    if room is not None:
        others = sum(widths[1:]) + 2 * (len(widths) - 1)
        widths[0] = min(widths[0], max(room - others, _NARROWEST))

    def put(row: Sequence[str]) -> str:
        numbers = [text.rjust(width) for text, width in zip(row[1:], widths[1:], strict=True)]
        return WrappedLine.of("  ".join([short(row[0], widths[0]).ljust(widths[0]), *numbers]).rstrip())

    return [put(row) for row in cells]


def pairs(values: Mapping[str, str]) -> list[str]:
    """Return ``name  value`` lines, aligned."""
    width = max(map(len, values))
    return [WrappedLine.of(f"{key:<{width}}  {value}", width + 2) for key, value in values.items()]


def short(text: str, width: int = 32) -> str:
    """Return a name for a column: on one line, and cut if it is longer than ``width``."""
    text = " ".join(text.split())
    return text if len(text) <= width else text[: width - 1] + "…"


def number(value: Any, digits: int = 6) -> str:
    """Return a number for a reader; a dash if it is missing or not finite."""
    if value is None or _is_lost(float(value)):
        return "–"
    return f"{value:,}" if isinstance(value, int) else f"{value:.{digits}g}"


def counted(count: int, one: str, many: str = "") -> str:
    """Return a number with its noun: ``1 study``, ``2 studies``."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def titled(name: str, queries: int, types: int) -> str:
    """Return a workload with its size: ``prefix: 8 queries over 8 user types``."""
    return f"{name}: {counted(queries, 'query', 'queries')} over {counted(types, 'user type')}"


def outputs(count: int) -> str:
    """Return a number of outputs in words; 0 stands for outputs that are real vectors."""
    if not count:
        return "real vectors as outputs"
    return counted(count, "output") if count < 10**15 else f"about 10^{len(str(count)) - 1} outputs"


def both_errors(alpha: float) -> str:
    """Return a mean squared error in words, with its root in percentage points."""
    return f"a mean squared error of {alpha:g}, {in_points(alpha)}"


def in_points(alpha: float) -> str:
    """Return the root of a mean squared error in words, in percentage points of the users."""
    points = f"{100.0 * alpha**0.5:.4g}"
    return f"a root mean square error of {points} percentage point{'' if points == '1' else 's'}"
