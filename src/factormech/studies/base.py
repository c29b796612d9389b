"""What a kind of study is: what may be asked, what is measured, the columns of its table, its figure.

A module of a kind has one :class:`Experiment` as ``EXPERIMENT``. It is imported to read a configuration and to plan
a run, so it is light: what :attr:`Experiment.measure` needs is imported inside that function.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Literal, TypeAlias

from factormech.errors import BadValue, UnknownName
from factormech.names import Family
from factormech.studies.asked import Asked, Parts, split, whole
from factormech.studies.drawn import Compared, Curves, PaperTable, Shown
from factormech.studies.solves import Solve

__all__ = [
    "NAMES",
    "REASON",
    "Asked",
    "Axis",
    "Column",
    "Compared",
    "Curves",
    "Experiment",
    "Family",
    "PaperTable",
    "Problem",
    "Setting",
    "Shown",
    "TableKind",
    "listed",
    "split",
    "whole",
]

# The first column of a row that breaks a rule, and the rule, continuing the sentence "must …".
Problem: TypeAlias = tuple[str, str] | None
Type: TypeAlias = Literal["text", "integer", "number"]
Stage: TypeAlias = Literal["measure", "table", "figure"]

# The schema of a setting that is a list of names.
NAMES = {"type": "array", "minItems": 1, "uniqueItems": True, "items": {"type": "string"}}
# Settings that every study has.
COMMON = ("paper", "artefact", "kind", "title", "caption", "grid", "figure", "quick")


@dataclass(frozen=True)
class Column:
    """A column of a kind of table: its name in the vocabulary, and the rules of the kind's rows.

    What a column means is in :mod:`factormech.studies.columns`, the same for every kind.

    Parameters
    ----------
    name
        The name in the vocabulary.
    empty
        ``never``, or in rows with a ``reason`` (and at least one of these columns is), or ``free``.
    at_least
        The least value that is possible.
    infinite
        Whether ∞ is a value.
    added
        The value of the column in tables that were written before the column existed; ``None`` if all tables have it.
    """

    name: str
    empty: Literal["never", "reason", "free"] = "never"
    at_least: float | None = None
    infinite: bool = False
    added: Any = None

    def __post_init__(self) -> None:
        """Refuse a name that is not in the vocabulary."""
        vocabulary().meaning(self.name)

    @property
    def type(self) -> Type:
        """The type of the values; an integer is never missing, so integers that may be are stored as numbers."""
        found: Type = vocabulary().meaning(self.name).type
        return "number" if found == "integer" and self.empty != "never" else found

    @property
    def label(self) -> str:
        """The label of the column, as on an axis."""
        return str(vocabulary().meaning(self.name).label)

    @property
    def short(self) -> str:
        """The symbol, or the label of a column without one."""
        return str(vocabulary().meaning(self.name).symbol) or self.label


def vocabulary() -> Any:
    """Return the module of the meanings, by its name: a label is no part of the code that a measurement depends on."""
    return import_module("factormech.studies.columns")


REASON = Column("reason", empty="free")


@dataclass(frozen=True)
class Axis:
    """An axis of a study's grid: a column of the vocabulary, and a list of values that obey a JSON-schema fragment.

    Parameters
    ----------
    name
        Its key in ``grid``. An axis ``workload`` has registered workloads and the user's own, and with an axis
        ``domain_size`` their sizes are checked.
    entry
        The schema of a value; ``rule`` says what the other keys cannot.
    example
        A good value.
    default
        The axis of a study that leaves it out; ``None`` if it must be given.
    names
        What the values are names of.
    note
        A sentence on the values that the kind takes.
    beside
        Whether a study may also say one value beside the grid, as in ``alpha: 0.01``.
    stage
        The first stage of a run that depends on the axis.
    """

    name: str
    entry: Mapping[str, Any]
    example: Any
    default: tuple[Any, ...] | None = None
    names: Family | None = None
    note: str = ""
    beside: bool = False
    stage: Stage = "measure"

    @property
    def description(self) -> str:
        """The meaning of a value, and what the kind adds to it."""
        return f"{vocabulary().meaning(self.name).description} {self.note}".strip()

    def column(self) -> Column:
        """The column of this axis in a table, where the values obey the least one of the axis."""
        number = vocabulary().meaning(self.name).type == "number"
        infinite = number and "type" not in self.entry  # a number, or the word inf
        return Column(self.name, at_least=self.entry.get("minimum"), infinite=infinite)


@dataclass(frozen=True)
class Setting:
    """A setting beside the grid: its JSON-schema fragment, and its default (``None`` if it must be given).

    The entries of a setting that is a list may be ``names``. ``optional``: ``None`` is its default. ``stage`` is
    the first stage of a run that depends on the setting: a change remakes that stage and the later ones alone.
    """

    name: str
    schema: Mapping[str, Any]
    description: str
    example: Any
    default: Any = None
    names: Family | None = None
    optional: bool = False
    stage: Stage = "measure"


def listed(kind: str, known: Collection[str]) -> Family:
    """Return the family of a fixed list of names; ``kind`` is what the message about an unknown name calls them."""

    def check(name: str) -> None:
        if name not in known:
            raise UnknownName(kind, name, known)

    return Family(lambda: known, check)


def _no_problem(_: Mapping[str, Any]) -> Problem:
    return None


def _nothing(_: Asked) -> Iterable[BadValue]:
    return ()


def _no_solves(_: Asked) -> Iterable[Solve]:
    return ()


def _no_tables(_: Asked) -> Mapping[str, str]:
    return {}


def _a_second(_: Asked) -> float:
    return 1.0


def _little_memory(_: Asked) -> int:
    return 400


@dataclass(frozen=True)
class TableKind:
    """A kind of table that is made from a study's table; its fields are those of :class:`Experiment`."""

    kind: str
    columns: tuple[Column, ...]
    keys: tuple[str, ...]
    check: Callable[[Mapping[str, Any]], Problem]
    check_table: Callable[[Any, str], None]
    complete: bool = True
    figure: Curves | str = ""
    tables: tuple[PaperTable, ...] = ()

    def column(self, name: str) -> Column:
        """The column of this name."""
        return next(column for column in self.columns if column.name == name)


@dataclass(frozen=True)
class Experiment:
    """A kind of study.

    Parameters
    ----------
    kind
        Its name in ``config.yaml``.
    description
        What it compares, for the reader of the reference of settings.
    axes, settings
        What a study of the kind may say beside what every study says.
    columns, keys
        The table without its first column, ``study``; no two rows have equal keys.
    measure
        The rows of a part, as mappings column → value; what a row leaves out is empty. Equal questions give equal rows.
    figure
        What the figure shows; or the module that draws it, with ``draw(frame)`` and ``words(title, text, frame)``;
        empty, if studies of the kind have a table and no figure.
    tables
        The tables that a paper prints; if none, that of the curves of the figure, or all numbers at each of the keys.
    parts
        The units of work: each is a job and a file, and is asked for its share alone, so that a changed setting makes
        again the parts that it changes. Worth some seconds each.
    complete
        Whether the rows are all combinations of the values of the keys.
    table
        The rows of the table from the frames of the parts by name, where these are not the rows themselves, given the
        whole study's question. Rows leave out the column ``study``.
    solves
        The strategies, bounds and factorizations that a part needs and that studies share
        (:mod:`factormech.studies.solves`).
    derived
        Tables that are made from the study's table: name → module and name of a function of the table and the question.
    check
        The rule that a row breaks, if any, beyond those of the columns.
    check_table
        Refuses rows that do not go together, given the frame and its name, in the place of ``keys`` and ``complete``;
        of such a kind ``check`` also applies to rows with a reason.
    refuse
        What the configuration of a study breaks beyond single settings, as ``BadValue`` with the key below the study.
    seconds, memory_mb
        What a part takes, in a process that has started.
    seeded
        Whether chance has a part in the rows.
    swept
        Axes that the functions take one value of at a time (:func:`factormech.studies.sweeps.swept`).
    """

    kind: str
    description: str
    axes: tuple[Axis, ...]
    columns: tuple[Column, ...]
    keys: tuple[str, ...]
    measure: Callable[[Asked], Iterable[Mapping[str, Any]]]
    figure: Curves | Compared | str
    tables: tuple[PaperTable, ...] = ()
    settings: tuple[Setting, ...] = ()
    parts: Parts = whole
    table: Callable[[Asked, Mapping[str, Any]], Iterable[Mapping[str, Any]]] | None = None
    solves: Callable[[Asked], Iterable[Solve]] = _no_solves
    derived: Callable[[Asked], Mapping[str, str]] = _no_tables
    complete: bool = True
    check: Callable[[Mapping[str, Any]], Problem] = _no_problem
    check_table: Callable[[Any, str], None] | None = None
    refuse: Callable[[Asked], Iterable[BadValue]] = _nothing
    seconds: Callable[[Asked], float] = _a_second
    memory_mb: Callable[[Asked], int] = _little_memory
    seeded: bool = False
    swept: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse a declaration that contradicts itself."""
        where = f"experiment {self.kind}"
        names = [column.name for column in self.columns]
        _check_distinct(f"columns of {where}", ["study", "kind", "origin", *names])
        axes, settings = [axis.name for axis in self.axes], [setting.name for setting in self.settings]
        _check_distinct(f"axes and settings of {where}", [*COMMON, *axes, *settings])
        _check_known(f"keys of {where}", self.keys, names)
        if isinstance(self.figure, Curves):
            _check_known(f"figure of {where}", self.figure.columns, names)
            _check_known(f"keys of {where}", self.figure.place, list(self.keys))
        if isinstance(self.figure, Compared):
            _check_known(f"figure of {where}", self.figure.columns, names)
        for table in self.tables:
            _check_known(f"tables of {where}", table.names, names)
        for column in self.columns:
            if column.empty == "reason" and "reason" not in names:
                raise BadValue(f"columns of {where}", names, "have REASON", "add it, or let the column be empty freely")

    def column(self, name: str) -> Column:
        """The column of this name."""
        return next(column for column in self.columns if column.name == name)

    @property
    def drawable(self) -> tuple[Column, ...]:
        """The columns that a study may give a role in its figure; none where its form is the kind's own."""
        return () if isinstance(self.figure, str) else tuple(self.column(name) for name in self.keys)


def _check_distinct(where: str, names: list[str]) -> None:
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise BadValue(where, twice, "differ from each other, and from what every study has", "rename them")


def _check_known(where: str, names: Iterable[str], known: list[str]) -> None:
    for name in names:
        if name not in known:
            raise BadValue(where, name, f"be among {', '.join(known)}", "add it, or leave it out")
