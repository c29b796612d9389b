"""What a run makes of a study: its parts, and the modules that their results depend on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from factormech.studies.asked import Asked, check_parts
from factormech.studies.base import Experiment, Stage
from factormech.studies.registry import experiment, module_of
from factormech.workloads import definitions

STAGES = ("measure", "table", "figure")


def parts_of(kind: str, asked: Asked) -> Mapping[str, Asked]:
    """The parts of a study by name, in the order of the table, each without what it does not depend on."""
    declared = experiment(kind)
    parts = check_parts(kind, declared.parts(until("measure", kind, asked)))
    return {name: _narrowed(declared, part) for name, part in parts.items()}


def until(stage: Stage, kind: str, asked: Asked) -> Asked:
    """The question without the axes and settings that only later stages of a run depend on."""
    later, declared = STAGES[STAGES.index(stage) + 1 :], experiment(kind)
    dropped = {axis.name for axis in declared.axes if axis.stage in later}
    dropped |= {setting.name for setting in declared.settings if setting.stage in later}
    grid = {name: values for name, values in asked.grid.items() if name not in dropped}
    return replace(asked, grid=grid, settings={n: value for n, value in asked.settings.items() if n not in dropped})


def figure_settings(kind: str, asked: Asked) -> dict[str, Any]:
    """The settings that the figure takes."""
    return {s.name: asked[s.name] for s in experiment(kind).settings if s.stage == "figure"}


def _narrowed(kind: Experiment, asked: Asked) -> Asked:
    """The same without definitions of other workloads, and without the seed where nothing is drawn."""
    own: dict[str, Any] = {}
    seeded = kind.seeded
    for name in asked.grid.get("workload", ()):
        own |= definitions.closure(name, asked.definitions)
        seeded |= definitions.is_seeded(name, asked.definitions)
    return replace(asked, seed=asked.seed if seeded else 0, definitions=own)


def modules_of(kind: str, asked: Asked) -> list[str]:
    """Return the modules where the code of a part begins: that of its kind, and those of the names that it asks for."""
    declared = experiment(kind)
    families = [(axis.names, asked.grid.get(axis.name, ())) for axis in declared.axes]
    families += [(setting.names, asked.settings.get(setting.name, ())) for setting in declared.settings]
    named = {
        family.module_of(name)
        for family, values in families
        if family is not None and family.module_of is not None
        for name in values
    }
    return [module_of(kind), *sorted(named)]
