"""What a run makes of a study: its parts, and the modules that their results depend on."""

from __future__ import annotations

from collections.abc import Mapping

from factormech.experiments.asked import Asked, check_parts
from factormech.experiments.registry import experiment, module_of


def parts_of(kind: str, asked: Asked) -> Mapping[str, Asked]:
    """The parts of a study by name, in the order of the table."""
    return check_parts(kind, experiment(kind).parts(asked))


def modules_of(kind: str, asked: Asked) -> list[str]:
    """Where the code of a part begins: in the module of its kind, and in those of the names that it is asked for."""
    declared = experiment(kind)
    families = [(axis.names, asked[axis.name]) for axis in declared.axes]
    families += [(setting.names, asked[setting.name]) for setting in declared.settings]
    named = {
        family.module_of(name)
        for family, values in families
        if family is not None and family.module_of is not None
        for name in values
    }
    return [module_of(kind), *sorted(named)]


def seconds_of(kind: str, asked: Asked) -> list[float]:
    """What each part takes, in a process that has started."""
    return [experiment(kind).seconds(part) for part in parts_of(kind, asked).values()]
