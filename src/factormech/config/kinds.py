"""Studies by kind: their schema, their broken relations, and what they ask.

A kind declares what may be asked of it. Here the declaration becomes a part of the schema of the configuration, so that
all mistakes are answered at once and before anything runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

from factormech.config.schema import mapping, place
from factormech.errors import BadValue, UnknownName
from factormech.names import Family
from factormech.studies import drawing
from factormech.studies.asked import Asked
from factormech.studies.base import Axis, Experiment, Setting
from factormech.studies.registry import experiment, is_experiment, names
from factormech.studies.renamed import RENAMED

Node: TypeAlias = Mapping[str, Any]
Key: TypeAlias = tuple[str | int, ...]
# What a schema says to the reader.
WORDS = ("description", "rule", "remedy")
# Key, name → problems of the name of a workload; key, name, size → problems of a size that it lacks.
NameProblem: TypeAlias = Callable[[Key, str], Iterator[BadValue]]
SizeProblem: TypeAlias = Callable[[Key, str, int], Iterator[BadValue]]


def with_experiments(rules: Node, given: Any) -> dict[str, Any]:
    """The schema with the kinds of study, and for each study of one of them in ``given`` its own rules."""
    studies = rules["properties"]["studies"]
    common = studies["additionalProperties"]
    kind = common["properties"]["kind"]
    every = {**kind, "enum": names()}
    # Of a study of no known kind, nothing else is judged.
    quick = {k: v for k, v in common["properties"]["quick"].items() if k in ("partial", "default", *WORDS)}
    properties = {**common["properties"], "kind": every, "quick": quick}
    known = {**common, "additionalProperties": True, "properties": properties}
    own = {name: study_schema(experiment(found), common) for name, found in _experiments_in(given)}
    studies = {**studies, "additionalProperties": known, "properties": own}
    return {**rules, "properties": {**rules["properties"], "studies": studies}}


def study_schema(kind: Experiment, common: Node) -> dict[str, Any]:
    """The rules of a study of this kind; ``common`` has those that all studies share."""
    shared = {key: common["properties"][key] for key in ("paper", "artefact", "title", "caption", "figure")}
    axes = {axis.name: _axis(axis) for axis in kind.axes}
    needed = [axis.name for axis in kind.axes if axis.default is None]
    words = f"be a mapping with the keys {', '.join(needed)}" if needed else "be a mapping of axes"
    more = [axis.name for axis in kind.axes if axis.default is not None]
    example = {axis.name: [axis.example] for axis in kind.axes}
    grid = {
        "type": "object",
        "additionalProperties": False,
        "required": needed,
        "description": "The points that are measured.",
        "rule": words + (f" and, if wanted, {', '.join(more)}" if more else ""),
        "remedy": f"give for example {_flow(example)}",
        "properties": axes,
        "renamed": {old: new for old, new in RENAMED.get(kind.kind, {}).items() if new in axes},
    }
    beside = {axis.name: _beside(axis) for axis in kind.axes if axis.beside}
    settings = {setting.name: _setting(setting) for setting in kind.settings} | beside
    required = [setting.name for setting in kind.settings if setting.default is None and not setting.optional]
    of_kind = {**common["properties"]["kind"], "enum": [kind.kind]}
    quick = common["properties"]["quick"]
    replaced = {**shared, "grid": {k: v for k, v in grid.items() if k != "required"}, **settings}
    return {
        **common,
        "required": ["paper", "artefact", "kind", "title", "grid", *required],
        "properties": {
            **shared,
            "kind": of_kind,
            "grid": grid,
            **settings,
            "quick": {**quick, "remedy": "give for example {grid: …}, or {}", "properties": replaced},
        },
    }


def problems(
    path: Key, settings: Node, replaced: Node | None, name_problem: NameProblem, size_problem: SizeProblem
) -> Iterator[BadValue]:
    """Yield unknown names, and sizes that a workload does not have, in a study or its quick settings.

    ``replaced`` are the settings that quick ones replace some of.
    """
    kind = experiment((replaced or settings)["kind"])
    grid = mapping(settings.get("grid"))
    for axis in kind.axes:
        yield from _names((*path, "grid", axis.name), grid.get(axis.name), axis.names)
    for setting in kind.settings:
        yield from _names((*path, setting.name), settings.get(setting.name), setting.names)
    if not any(axis.name == "workload" for axis in kind.axes):
        return
    for i, name in enumerate(_list(grid.get("workload"))):
        if isinstance(name, str) and name:
            yield from name_problem((*path, "grid", "workload", i), name)
    if {"workload", "domain_size"} & grid.keys():
        whole = {**mapping((replaced or settings).get("grid")), **grid}
        here = (*path, "grid") if "domain_size" in grid else (*path[:-1], "grid")
        for name in _list(whole.get("workload")):
            for i, size in enumerate(_list(whole.get("domain_size"))):
                if isinstance(name, str) and type(size) is int and size >= 1:
                    yield from size_problem((*here, "domain_size", i), name, size)


def refusals(path: Key, settings: Node) -> list[BadValue]:
    """Return the mistakes that the experiment, or the figure of its kind, finds in a study that obeys its schema."""
    kind = experiment(settings["kind"])
    names = [column.name for column in kind.drawable]
    numbers = [column.name for column in kind.drawable if column.type != "text"]
    figure = drawing.problems(mapping(settings.get("figure")), numbers, names, kind.kind)
    return [
        BadValue(f"{place(path)}.{found.name}", found.value, found.rule, found.remedy)
        for found in [*kind.refuse(asked(settings)), *figure, *_said_twice(kind, settings)]
    ]


def _said_twice(kind: Experiment, settings: Node) -> Iterator[BadValue]:
    """Axes that a study gives in its grid and beside it."""
    for axis in kind.axes:
        if axis.beside and axis.name in settings and axis.name in mapping(settings["grid"]):
            rule, remedy = f"be said once, and grid.{axis.name} says it too", "leave it out here"
            yield BadValue(axis.name, settings[axis.name], rule, remedy)


def asked(settings: Node, *, seed: int = 0, definitions: Node | None = None) -> Asked:
    """Return the request of a study, defaults filled in: numbers are floats, whatever YAML made of them."""
    kind = experiment(settings["kind"])
    grid = mapping(settings["grid"])
    axes = {axis.name: tuple(_canonical(axis.entry, v) for v in _values(axis, grid, settings)) for axis in kind.axes}
    others = {
        setting.name: _canonical(setting.schema, settings.get(setting.name, setting.default))
        for setting in kind.settings
    }
    return Asked(axes, others, seed, definitions or {})


def _values(axis: Axis, grid: Node, settings: Node) -> Any:
    """The values of an axis: in the grid, or one beside it, or the default."""
    if axis.beside and axis.name in settings and axis.name not in grid:
        return [settings[axis.name]]
    return grid.get(axis.name, axis.default)


def _axis(axis: Axis) -> dict[str, Any]:
    schema = {
        "type": "array",
        "minItems": 1,
        "uniqueItems": True,
        "items": {**axis.entry, "remedy": f"give for example {_flow(axis.example)}"},
        "description": axis.description,
        "remedy": f"give for example {_flow([axis.example])}",
    }
    # An axis that may be said beside the grid has no default there: it would hide what is said.
    return schema if axis.default is None or axis.beside else schema | {"default": list(axis.default)}


def _beside(axis: Axis) -> dict[str, Any]:
    """The rules of one value of an axis, beside the grid."""
    description = f"The axis `{axis.name}` of the grid, where it has one value."
    if axis.default is not None:
        description += f" Without either, {_flow(list(axis.default))}."
    return {**axis.entry, "remedy": f"give for example {_flow(axis.example)}", "description": description}


def _setting(setting: Setting) -> dict[str, Any]:
    schema = {
        **setting.schema,
        "description": setting.description,
        "remedy": f"give for example {_flow(setting.example)}",
    }
    if "items" in schema and "remedy" not in schema["items"]:
        schema["items"] = {**schema["items"], "remedy": f"give for example {_flow(setting.example[0])}"}
    return schema if setting.default is None else schema | {"default": setting.default}


def _names(key: Key, values: Any, family: Family | None) -> Iterator[BadValue]:
    for i, name in enumerate(_list(values)):
        if family is not None and isinstance(name, str):
            try:
                family.check(name)
            except UnknownName:
                yield UnknownName(place((*key, i)), name, family.names())
            except BadValue as error:  # the name of a family with an impossible number in it
                yield BadValue(place((*key, i)), name, error.rule, error.remedy)


def _canonical(schema: Node, value: Any) -> Any:
    """A good value as it goes to a job: equal questions have equal texts."""
    if isinstance(value, (list, tuple)):
        return [_canonical(schema.get("items", {}), entry) for entry in value]
    if isinstance(value, Mapping):
        return {key: _canonical(mapping(schema.get("properties")).get(key, {}), entry) for key, entry in value.items()}
    # A number, or "inf".
    return float(value) if schema.get("type") == "number" or "anyOf" in schema else value


def _experiments_in(given: Any) -> list[tuple[str, str]]:
    studies = mapping(mapping(given).get("studies"))
    kinds = [(name, mapping(study).get("kind")) for name, study in studies.items()]
    return [(name, str(kind)) for name, kind in kinds if is_experiment(kind)]


def _flow(value: Any) -> str:
    """A value as YAML on one line."""
    import yaml

    text: str = yaml.safe_dump(value, default_flow_style=True, width=10**6, sort_keys=False)
    return text.removesuffix("\n").removesuffix("\n...")


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
