"""What the studies of local releases share: names of mechanisms with their randomizers, panels, and their columns.

A mechanism whose users report points of the ball is named with its randomizer, ``shifted/priv-unit``; others have a
plain name.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from factormech import labels
from factormech.errors import UnknownName
from factormech.studies.axes import ALPHA, EPSILON
from factormech.studies.base import Asked, Column, Family, Setting, vocabulary

if TYPE_CHECKING:
    import pandas as pd


def names() -> list[str]:
    """Return the names of the local releases, with every randomizer that each can have."""
    from factormech.mechanisms.local.factorized import registry
    from factormech.mechanisms.local.randomizers import registry as randomizers

    found = []
    for name in registry.names():
        found += [f"{name}/{ball}" for ball in randomizers.names()] if registry.uses_randomizer(name) else [name]
    return found


def check_name(name: str) -> None:
    """Refuse a name that is not among them."""
    if name not in names():
        raise UnknownName("mechanism", name, names())


def apart(name: str) -> tuple[str, str]:
    """The mechanism and its randomizer, "" where there is none."""
    mechanism, _, randomizer = name.partition("/")
    return mechanism, randomizer


def module_of(name: str) -> str:
    """The module that a mechanism's own code starts from; what all share is imported where it is measured."""
    from factormech.mechanisms.local.factorized import registry
    from factormech.mechanisms.local.randomizers import registry as randomizers

    mechanism, randomizer = apart(name)
    return randomizers.module_of(randomizer) if randomizer else registry.module_of(mechanism)


def delta_of(name: str, delta: float) -> float | None:
    """δ for the randomizers that have one."""
    from factormech.mechanisms.local.randomizers import registry as randomizers

    randomizer = apart(name)[1]
    return delta if randomizer and randomizers.has_delta(randomizer) else None


def panel(asked: Asked, workload: str, **point: float | str) -> str:
    """Return the title of a panel: its workload, and its values on the axes that have several."""
    several = [name for name in point if len(asked[name]) > 1]
    told = [
        f"{vocabulary().meaning(name).symbol} = {labels.value_label(name, point[name])}"
        if vocabulary().meaning(name).symbol
        else labels.value_label(name, point[name])
        for name in several
    ]
    return ", ".join([labels.workload_label(workload), *told])


def told_of_privacy(frame: pd.DataFrame) -> list[str]:
    """Return whether the mechanisms of a table are purely private."""
    deltas = {float(delta) for delta in frame["delta"].dropna()}
    return ["δ of each mechanism is in the table." if deltas - {0.0} else "All mechanisms are purely ε-LDP."]


def mechanisms(default: Iterable[str]) -> Setting:
    """The setting that lists them."""
    return Setting(
        "mechanisms",
        {"type": "array", "minItems": 1, "uniqueItems": True, "items": {"type": "string", "minLength": 1}},
        "Names of mechanisms; those whose users report points of the ball have a randomizer after a slash.",
        ["shifted/half-sphere"],
        default=list(default),
        names=Family(names, check_name, module_of),
    )


BUDGET = replace(EPSILON, default=(1.0,))
ACCURACY = replace(
    ALPHA, entry={"type": "number", "exclusiveMinimum": 0, "maximum": 1000000, "rule": "be a number above 0"}
)
DELTA_SETTING = Setting(
    "delta",
    {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1, "rule": "be a number above 0 and below 1"},
    "δ of randomizers that have one (gaussian); all others are purely private.",
    1e-9,
    default=1e-9,
)
PANEL = Column("panel")
MECHANISM = Column("mechanism")
OWN_DELTA = Column("delta", empty="reason", at_least=0.0)
