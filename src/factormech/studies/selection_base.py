"""What the studies of selection share: their axes, settings and random streams."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from factormech.studies.axes import ALPHA, EPSILON
from factormech.studies.axes import COORDINATES as ANY_COORDINATES
from factormech.studies.base import NAMES, Asked, Axis, Column, Family, Setting
from factormech.studies.sweeps import quantity

if TYPE_CHECKING:
    from factormech.learning.selection.protocols import Validation

_ROOM = "factormech.learning.selection.protocols"
# Two-sided error of the intervals of single rows, as everywhere in simulations.
LEVEL = 1e-6
FAILURE = 1.0 / 3.0


def _names() -> Iterable[str]:
    from factormech.learning.selection import protocols

    return protocols.names()


def _module_of(name: str) -> str:
    from factormech.learning.selection import protocols

    protocols.protocol(name)
    return _ROOM


def _check(name: str) -> None:
    _module_of(name)


PROTOCOLS = Setting(
    "protocols",
    NAMES,
    "Names of protocols of selection.",
    ["moss-most-played"],
    names=Family(_names, _check, _module_of),
)
COORDINATES = replace(ANY_COORDINATES, entry={"type": "integer", "minimum": 2, "maximum": 4096})
BUDGET: Axis = replace(EPSILON, entry={"type": "number", "exclusiveMinimum": 0, "maximum": 10}, default=(1.0,))
GAP = quantity(
    ALPHA,
    0.25,
    name="mean_gap",
    entry={"type": "number", "exclusiveMinimum": 0, "maximum": 0.5, "rule": "be a number above 0, at most 1/2"},
)
PROTOCOL = Column("protocol")


def trials(default: int) -> Setting:
    """Return the setting for the number of simulated runs of every protocol."""
    schema = {"type": "integer", "minimum": 100, "maximum": 1000000, "rule": "be a whole number from 100 to 1000000"}
    return Setting("trials", schema, "Runs of every protocol.", default, default=default)


def validation_of(name: str, gap: float, epsilon: float) -> Validation | None:
    """The fresh reports of a protocol that has them, for failure 1/3."""
    from factormech.learning.selection.protocols import protocol, validation_for

    return validation_for(gap, epsilon, FAILURE) if protocol(name).validated else None


def scale(gap: float, dimension: int, epsilon: float) -> float:
    """g²/(c²d): users times this are drawn."""
    from factormech.learning.selection.protocols import loss_factor

    return gap**2 / (loss_factor(epsilon) ** 2 * dimension)


def seconds_of_reports(asked: Asked, reports: float) -> float:
    """Time of this many simulated reports; those of MOSS cost most."""
    del asked
    return 6e-8 * reports
