"""How a study is drawn: the block ``figure`` of a study, and the rules that fill in what the block leaves out.

Every varying axis of a table has one of four roles: it is ``x``, it tells panels apart, it tells curves (series) apart,
or it is summarised (a median over seeds, for example). :func:`roles` gives each axis its role:

1. What the study says is done.
2. Seeds and other repetitions that have no role yet are summarised by their median, with a band from the least to the
   largest value.
3. The kind's own x is x if it varies. Otherwise, and for kinds that compare mechanisms on a grid always, x is the axis
   of numbers with the most values; of several with equally many the kind's own x, else the first in the order of the
   table.
4. The kind's own series and panels keep their role.
5. Every other axis that varies tells panels apart, in the order of the table, unless no two rows of the figure would
   coincide without it.

No study is refused because too many of its axes vary. A figure has at most :data:`MOST_PANELS` panels: of the axis of
panels with the most values it shows the first, the middle and the last one, and says so
(:mod:`factormech.tables.layout`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from factormech.errors import BadValue

__all__ = ["FORMATS", "MOST_PANELS", "NONE", "STATISTICS", "Drawing", "KeyColumn", "Roles", "problems", "roles"]

Statistic = Literal["median", "mean", "min", "max"]
STATISTICS: tuple[Statistic, ...] = ("median", "mean", "min", "max")
FORMATS = ("pdf", "svg", "png")
MOST_PANELS = 24
# What a study says that has a table and no figure.
NONE = "none"
# Columns whose values repeat one measurement with other random numbers.
REPETITIONS = ("seed", "start")
_ROLES = ("x", "panels", "series", "summarise")


@dataclass(frozen=True)
class Drawing:
    """The block ``figure`` of a study; what it leaves out is ``None`` or empty.

    Parameters
    ----------
    x
        The column along the horizontal axis.
    panels, series
        The columns that tell panels and curves apart; of two columns of series the first sets colour and marker and
        the second the line.
    summarise
        Column → statistic over its values. All columns share one statistic.
    quantiles
        The ends of the band around a summarised curve, as quantiles of what is summarised.
    width, font_size
        Of the figure in inches, and of its text in points.
    formats
        The formats that the figure is written in.
    """

    x: str = ""
    panels: tuple[str, ...] | None = None
    series: tuple[str, ...] | None = None
    summarise: Mapping[str, Statistic] = field(default_factory=dict)
    quantiles: tuple[float, float] = (0.0, 1.0)
    width: float | None = None
    font_size: float | None = None
    formats: tuple[str, ...] = FORMATS

    @staticmethod
    def of(block: Mapping[str, Any] | None) -> Drawing:
        """Return the drawing that a block of a configuration describes."""
        lists = ("panels", "series", "quantiles", "formats")
        given: dict[str, Any] = {key: tuple(v) if key in lists else v for key, v in (block or {}).items()}
        return Drawing(**given)


@dataclass(frozen=True)
class KeyColumn:
    """A column that may have a role: whether its values are numbers, and how many different ones there are."""

    name: str
    numeric: bool
    values: int


@dataclass(frozen=True)
class Roles:
    """The role of every column of a figure; ``rest`` are columns that vary and have no role yet."""

    x: str
    panels: tuple[str, ...]
    series: tuple[str, ...]
    rest: tuple[str, ...] = ()
    summarised: tuple[str, ...] = ()
    statistic: Statistic = "median"
    quantiles: tuple[float, float] = (0.0, 1.0)


def roles(
    keys: Sequence[KeyColumn],
    drawing: Drawing,
    *,
    x: str,
    panels: Sequence[str] = (),
    series: Sequence[str] = (),
    longest: bool = False,
) -> Roles:
    """Return the role of every column.

    Parameters
    ----------
    keys
        The columns that tell the rows of a table apart, in the order of the table.
    drawing
        What the study says.
    x, panels, series
        The roles that the kind of study gives, where the study says nothing.
    longest
        Whether x is the axis of numbers with the most values even where the kind's own x varies.

    Examples
    --------
    >>> keys = [Key("workload", False, 2), Key("domain_size", True, 3), Key("epsilon", True, 8), Key("seed", True, 1)]
    >>> roles(keys, Drawing(), x="domain_size", panels=("workload",))
    Roles(x='domain_size', panels=('workload',), series=(), rest=('epsilon',), summarised=('seed',), ...)
    >>> roles(keys, Drawing(x="epsilon", series=("domain_size",)), x="domain_size", panels=("workload",)).rest
    ()
    """
    said = {drawing.x, *(drawing.panels or ()), *(drawing.series or ()), *drawing.summarise}
    repeated = [key.name for key in keys if key.name in REPETITIONS and key.name not in said]
    taken = said | set(repeated)
    lines = tuple(drawing.series) if drawing.series is not None else tuple(n for n in series if n not in taken)
    across = drawing.x or _across([key for key in keys if key.name not in taken | set(lines)], x, longest=longest)
    used = taken | {across, *lines}
    if drawing.panels is None:
        own = [name for name in panels if name not in used]
    else:
        own = list(drawing.panels)
    rest = [key.name for key in keys if key.values > 1 and key.name not in used and key.name not in own]
    statistic: Statistic = next(iter(drawing.summarise.values()), "median")
    summarised = (*drawing.summarise, *repeated)
    return Roles(across, tuple(own), lines, tuple(rest), summarised, statistic, drawing.quantiles)


def _across(free: Sequence[KeyColumn], x: str, *, longest: bool) -> str:
    """The column of x, of those that are free."""
    numbers = [key for key in free if key.numeric]
    most = max(numbers, key=lambda key: (key.values, key.name == x), default=None)
    own = next((key for key in free if key.name == x), None)
    if most is None or (own is not None and own.values > 1 and not longest):
        return x
    return x if most.values < 2 else most.name


def problems(block: Mapping[str, Any], numbers: Iterable[str], columns: Iterable[str], kind: str) -> Iterator[BadValue]:
    """Yield each problem of a block ``figure`` whose schema is right, for a kind with these columns.

    Parameters
    ----------
    block
        The block of the configuration.
    numbers, columns
        The columns that x may be, and those that other roles may be; none if the kind draws its figure in its own way.
    kind
        The kind of the study.
    """
    columns, numbers = list(columns), list(numbers)
    given = [key for key in _ROLES if key in block]
    if not columns:
        for key in given:
            rule = f"not be given in a study of kind {kind}, whose figure has a fixed form"
            yield BadValue(f"figure.{key}", block[key], rule, "leave the key out")
        return
    seen: dict[str, str] = {}
    for key in given:
        allowed = numbers if key == "x" else columns
        for where, name in _named(key, block[key]):
            if name not in allowed:
                what = "column of numbers" if key == "x" else "column"
                yield BadValue(
                    f"figure.{where}", name, f"be a {what} of the kind {kind}", f"give one of {', '.join(allowed)}"
                )
            elif name in seen:
                rule = f"have one role, and {name} is in figure.{seen[name]} already"
                yield BadValue(f"figure.{where}", name, rule, "name every column once")
            seen.setdefault(name, key)
    yield from _problems_of_summary(block)


def _named(key: str, value: Any) -> Iterator[tuple[str, str]]:
    """The places and names of columns in a part of the block."""
    if key == "x":
        yield key, value
    elif key == "summarise":
        yield from ((f"{key}.{name}", name) for name in value)
    else:
        yield from ((f"{key}[{i}]", name) for i, name in enumerate(value))


def _problems_of_summary(block: Mapping[str, Any]) -> Iterator[BadValue]:
    statistics = block.get("summarise", {})
    if len(set(statistics.values())) > 1:
        rule, remedy = "have one statistic for all columns", "give for example {seed: median, workload: median}"
        yield BadValue("figure.summarise", statistics, rule, remedy)
    low, high = block.get("quantiles", (0.0, 1.0))
    if low > high:
        yield BadValue("figure.quantiles", [low, high], "have the lower end first", f"give [{high}, {low}]")
