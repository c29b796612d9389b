"""What a run computes and draws: ``config.yaml``, checked at once and as a whole.

The rules of single settings, their defaults and their words are the schema's
(``workflow/schemas/config.schema.yaml``); relations between settings, and between settings and what the package
can do, are in :mod:`factormech.config.relations`. :func:`load` takes the mapping that Snakemake has merged with
its command line.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from factormech.config import kinds
from factormech.config import schema as schemas
from factormech.config.relations import Definitions, Known, plugin_problems, registries, relation_problems
from factormech.config.yaml_file import read_yaml, seen_from
from factormech.errors import BadValue, UnknownName
from factormech.names import Family
from factormech.studies.asked import Asked
from factormech.studies.drawing import NONE, Drawing
from factormech.studies.registry import experiment, is_experiment

__all__ = [
    "Config",
    "ConfigErrors",
    "Family",
    "Known",
    "Study",
    "defaults",
    "load",
    "read_yaml",
    "registries",
]

QUICK = "quick/"
FilePath: TypeAlias = str | os.PathLike[str]


class ConfigErrors(ValueError):
    """Everything that is wrong with a configuration, a line each."""

    def __init__(self, problems: Iterable[BadValue]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(f"config: {problem}" for problem in self.problems))


@dataclass(frozen=True)
class Study:
    """One item of one paper.

    ``asked`` has the grid and the settings of its kind. ``figure`` says how the study is drawn; it is ``None`` for a
    study with a table and no figure.
    """

    name: str
    paper: str
    artefact: str
    kind: str
    title: str
    caption: str
    quick: bool
    asked: Asked
    figure: Mapping[str, Any] | None

    @property
    def formats(self) -> tuple[str, ...]:
        """The formats of the figure; none of a study without a figure."""
        return () if self.figure is None else Drawing.of(self.figure).formats


@dataclass(frozen=True)
class Config:
    """A whole configuration, defaults filled in.

    ``data`` is the folder of the data sets and ``data_source`` the address that they are fetched from, where the
    configuration says so.
    ``quick_studies`` has every study again as the quick run sees it, under the name ``quick/<name>``.
    """

    seed: int
    threads: int
    data: str | None
    data_source: str | None
    workloads: Definitions
    studies: dict[str, Study]
    quick_studies: dict[str, Study]

    def study(self, name: str) -> Study:
        """A study in its full or, under ``quick/<name>``, in its quick form."""
        every = self.studies | self.quick_studies
        if name not in every:
            raise UnknownName("study", name, every)
        return every[name]


def load_file(path: FilePath, schema: FilePath) -> Config:
    """Check the configuration in a file; its paths as they are seen from the working folder, as a run reads it."""
    return load(seen_from(read_yaml(path), Path(path).resolve().parent, Path.cwd()), schema, base=Path.cwd())


def load(config: Mapping[str, Any], schema: FilePath, *, base: FilePath, known: Known | None = None) -> Config:
    """Check a configuration and fill in its defaults.

    Parameters
    ----------
    config
        What ``config.yaml`` and the command line say.
    schema
        The path of ``config.schema.yaml``.
    base
        The folder that the paths of a user's own files are relative to. Plugins are loaded into this process.
    known
        Names that may be used; those of the registries, if ``None``.

    Raises
    ------
    ConfigErrors
        With all problems at once: for each the key, the value, the rule and the remedy on one line.
    """
    given, problems = schemas.plain(config)
    broken = plugin_problems(given, Path(base))
    rules = kinds.with_experiments(read_yaml(schema), given)
    problems += schemas.problems_of(rules, given)
    relations = relation_problems(given, Path(base), registries() if known is None else known)
    # A name that nothing has may be that of a plugin which could not be loaded: first things first.
    first = bool(broken) or any(problem.name.startswith("plugins") for problem in problems)
    problems += broken + [found for found in relations if not (first and isinstance(found, UnknownName))]
    problems += _refusals(given, problems)
    if problems:
        raise ConfigErrors(problems)
    filled = schemas.with_defaults(rules, given)
    studies = {name: _study(name, settings, filled) for name, settings in filled["studies"].items()}
    quick = {QUICK + name: _quick_study(name, settings, filled) for name, settings in filled["studies"].items()}
    places = (filled.get("data"), filled.get("data_source"))
    return Config(filled["seed"], filled["threads"], *places, filled["workloads"], studies, quick)


def _refusals(given: Any, found: Iterable[BadValue]) -> list[BadValue]:
    """Return what experiments refuse in studies that are sound so far, and what the quick settings add to that."""
    told = [problem.name for problem in found]
    refused = []
    for name, settings in schemas.mapping(schemas.mapping(given).get("studies")).items():
        key = schemas.place(("studies", name))
        wrong = any(other == key or other.startswith((f"{key}.", f"{key}[")) for other in told)
        if wrong or "studies" in told or not is_experiment(schemas.mapping(settings).get("kind")):
            continue
        own = kinds.refusals(("studies", name), settings)
        quick = kinds.refusals(("studies", name, "quick"), _merged(settings, settings.get("quick", {})))
        already = {(str(problem.value), problem.rule) for problem in own}
        refused += own + [problem for problem in quick if (str(problem.value), problem.rule) not in already]
    return refused


def defaults(schema: FilePath) -> dict[str, Any]:
    """The default of every setting that has one, by key (``studies.<name>.alpha``)."""
    return schemas.defaults(read_yaml(schema))


def _study(name: str, settings: Mapping[str, Any], config: Mapping[str, Any], *, quick: bool = False) -> Study:
    words = {key: settings[key] for key in ("paper", "artefact", "kind", "title", "caption")}
    asked = kinds.asked(settings, seed=config["seed"], definitions=config["workloads"])
    figure = settings["figure"]
    if figure == NONE or experiment(settings["kind"]).figure == "":
        figure = None
    return Study(name, quick=quick, asked=asked, figure=figure, **words)


def _quick_study(name: str, settings: Mapping[str, Any], config: Mapping[str, Any]) -> Study:
    return _study(QUICK + name, _merged(settings, settings["quick"]), config, quick=True)


def _merged(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """``old`` with the settings of ``new`` instead; mappings are merged, lists replaced."""
    both = {
        key: _merged(old[key], value) if isinstance(value, Mapping) and isinstance(old.get(key), Mapping) else value
        for key, value in new.items()
    }
    return {**old, **both}
