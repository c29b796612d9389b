"""The names of all workloads: the one place where a name becomes an object.

A user's own is registered by :func:`workload`, from a file outside of the package (:mod:`factormech.plugins`). To add
one to the package, write one module with a callable ``(name, domain_size, …) -> Workload`` (a class will do), and
``WORKLOADS = {"name": "callable"}``, or ``{"name": {"make": "callable", "binary": True}}``. A ``{k}`` in the name is a
whole number that the callable gets as ``k``; a ``binary`` family exists only over 2^d types, d ≥ k; a ``seeded`` one
gets a generator ``rng``. Modules are imported when a workload of theirs is made, and not before.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar, cast

from factormech import plugins
from factormech.arrays import DENSE_BYTES_LIMIT, check_positive_integer
from factormech.errors import BadValue, UnknownName
from factormech.names import declarations
from factormech.seeds import rng_for
from factormech.workloads import binary
from factormech.workloads.base import Workload


@dataclass(frozen=True)
class Entry:
    """A family of workloads (see the module's docstring)."""

    pattern: str
    target: str
    binary: bool = False
    seeded: bool = False
    dense: bool = False
    """Whether the family is kept as a dense n × n matrix, and so exists only where that fits in memory."""
    own: Callable[..., Any] | None = None
    """What makes it, of a plugin: a function (domain_size, …) to a matrix or a workload, or a class as above."""

    @property
    def module(self) -> str:
        """The module that makes it."""
        return self.target.partition(":")[0]


@dataclass(frozen=True)
class Member:
    """A name, its family, and what the name says beside the family."""

    name: str
    entry: Entry
    parameters: dict[str, int]


_HERE = "factormech.workloads."
ENTRIES = [
    Entry("histogram", _HERE + "histogram:Histogram"),
    Entry("total", _HERE + "histogram:Total"),
    Entry("prefix", _HERE + "ranges:Prefix"),
    Entry("all-ranges", _HERE + "ranges:AllRanges"),
    Entry("all-marginals", _HERE + "marginals:of_all_widths", binary=True),
    Entry("{k}-way-marginals", _HERE + "marginals:exactly", binary=True),
    Entry("at-most-{k}-way-marginals", _HERE + "marginals:at_most", binary=True),
    Entry("parities", _HERE + "parities:of_all_sizes", binary=True),
    Entry("{k}-way-parities", _HERE + "parities:exactly", binary=True),
    Entry("at-most-{k}-way-parities", _HERE + "parities:at_most", binary=True),
    Entry("parities-01", _HERE + "parities:of_all_sizes_01", binary=True),
    Entry("{k}-way-parities-01", _HERE + "parities:exactly_01", binary=True),
    Entry("at-most-{k}-way-parities-01", _HERE + "parities:at_most_01", binary=True),
    Entry("conjunctions-{k}", _HERE + "conjunctions:Conjunctions", binary=True),
    Entry("random-signs", _HERE + "matrix:random_signs", seeded=True, dense=True),
]
# Those that say so themselves: name → what makes it, or a mapping with ``make`` and the fields of an entry.
for _module, _declared in declarations(Path(__file__).parent, "WORKLOADS"):
    for _pattern, _said in _declared.items():
        _fields = dict(_said) if isinstance(_said, dict) else {"make": _said}
        ENTRIES.append(Entry(_pattern, f"{_HERE}{_module}:{_fields.pop('make')}", **_fields))

# Without leading zeros: one workload has one name, and so one file.
_NUMBER = r"(0|[1-9][0-9]{0,5})"


Made = TypeVar("Made", bound=Callable[..., Any])


def workload(name: str, *, label: str = "", binary: bool = False, seeded: bool = False) -> Callable[[Made], Made]:
    """Register a workload of one's own under a name that no other has.

    What is decorated is a function (domain_size) → W, a matrix with one row a query and one column a user type, or a
    :class:`Workload`; or a class derived from :class:`Workload`, made with (name, domain_size). Where the name has a
    ``{k}``, both get ``k`` as well, and of a ``seeded`` one ``rng``. A ``binary`` one exists over 2^d types only.
    ``label`` is what figures call it.
    """

    plugins.check_new("workload", name, [name] if _clash(name) else [], label)

    def register(made_by: Made) -> Made:
        entry = Entry(name, plugins.target_of(made_by), binary=binary, seeded=seeded, own=made_by)
        ENTRIES.append(entry)
        plugins.registered("workload", name, label, lambda: ENTRIES.remove(entry))
        return made_by

    return register


def _clash(name: Any) -> Entry | None:
    """The family with which a new name, or pattern, would share a name."""
    if not isinstance(name, str):
        return None
    for entry in ENTRIES:
        pairs = ((entry.pattern, name), (name, entry.pattern))
        if any(_match(pattern, other.replace("{k}", "0")) for pattern, other in pairs):
            return entry
    return None


def _match(pattern: str, name: str) -> re.Match[str] | None:
    return re.fullmatch(re.escape(pattern).replace(r"\{k\}", _NUMBER), name)


def names() -> list[str]:
    """The names of all families; ``{k}`` stands for a whole number from 0 to the number of attributes."""
    return [entry.pattern for entry in ENTRIES]


def is_known(name: str) -> bool:
    """Return whether :func:`resolve` finds this name."""
    return _find(name) is not None


def resolve(name: str) -> Member:
    """The family of a name, and the numbers in it; an unknown name is answered with the known ones."""
    member = _find(name)
    if member is None:
        raise UnknownName("workload", name, names())
    return member


def _find(name: Any) -> Member | None:
    for entry in ENTRIES if isinstance(name, str) else ():
        found = _match(entry.pattern, name)
        if found is not None:
            return Member(name, entry, dict(zip(["k"], map(int, found.groups()), strict=False)))
    return None


def module_of(name: str) -> str:
    """The module that a name is registered to."""
    return resolve(name).entry.module


def is_seeded(name: str) -> bool:
    """Return whether the workload of this name depends on the seed."""
    return resolve(name).entry.seeded


def reason_against(name: str, domain_size: int) -> str | None:
    """Return why the family has no member over this many types, or ``None``; no workload is made or imported."""
    member = resolve(name)
    try:
        n = check_positive_integer("domain_size", domain_size)
    except BadValue as error:
        return str(error)
    if member.entry.binary:
        return binary.reason_against(n, member.parameters.get("k", 0))
    if member.entry.dense and 8 * n**2 > DENSE_BYTES_LIMIT:
        return f"its {n} x {n} matrix takes {8 * n**2 / 2**30:.1f} GiB; give a smaller domain size"
    return None


def create(name: str, domain_size: int, *, seed: int = 0, stream: tuple[str, ...] = ()) -> Workload:
    """Make the workload of this name over ``domain_size`` types.

    A seeded one is fixed by ``seed``, its name, its domain size, and the further names in ``stream``.
    """
    member = resolve(name)
    reason = reason_against(name, domain_size)
    if reason is not None:
        raise BadValue("domain_size", domain_size, f"suit the workload {name}", reason)
    parameters: dict[str, Any] = dict(member.parameters)
    if member.entry.seeded:
        parameters["rng"] = rng_for(seed, "workload", name, str(domain_size), *stream)
    made = _made(member, int(domain_size), parameters)
    if member.entry.seeded:
        made.drawn = (seed, stream)
    return made


def _made(member: Member, domain_size: int, parameters: dict[str, Any]) -> Workload:
    if member.entry.own is not None:
        return _own(member.entry.own, member.name, domain_size, parameters)
    module, _, attribute = member.entry.target.partition(":")
    target = getattr(import_module(module), attribute)
    return cast(Workload, target(member.name, domain_size, **parameters))


def _own(made_by: Callable[..., Any], name: str, domain_size: int, parameters: dict[str, Any]) -> Workload:
    """A workload of a plugin, which may be given by its matrix: of the right shape, and finite numbers."""
    from factormech.workloads.matrix import MatrixWorkload, checked_matrix

    what = f"workload {name}"
    arguments = (name, domain_size) if isinstance(made_by, type) else (domain_size,)
    made = plugins.call(made_by, what, *arguments, **parameters)
    if not isinstance(made, Workload):
        made = MatrixWorkload(name, checked_matrix(f"matrix of {what}", made))
    if made.domain_size != domain_size:
        rule = f"be {domain_size}, the domain size that it is asked for"
        raise BadValue(f"columns of {what}", made.domain_size, rule, "make one column for each user type")
    made.name = name  # results are kept under the name that was asked for
    return cast(Workload, made)
