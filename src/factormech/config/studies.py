"""What a run computes and draws: ``config.yaml``, checked at once and as a whole.

The rules of single settings, their defaults and their words are the schema's
(``workflow/schemas/config.schema.yaml``); relations between settings, and between settings and what the package
can do, are in :mod:`factormech.config.relations`. :func:`load` takes the mapping that Snakemake has merged with
its command line.
"""

from __future__ import annotations

import itertools
import math
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from factormech.config import experiments
from factormech.config import schema as schemas
from factormech.config.paths import seen_from
from factormech.config.relations import Definitions, Known, plugin_problems, registries, relation_problems
from factormech.config.strict_yaml import read_yaml
from factormech.errors import BadValue, UnknownName
from factormech.experiments.asked import Asked
from factormech.experiments.registry import is_experiment
from factormech.family import Family

__all__ = [
    "Config",
    "ConfigErrors",
    "Family",
    "Grid",
    "Known",
    "Point",
    "Study",
    "defaults",
    "load",
    "read_yaml",
    "reference",
    "registries",
]

QUICK = "quick/"
FilePath: TypeAlias = str | os.PathLike[str]


class ConfigErrors(ValueError):
    """Everything that is wrong with a configuration, a line each."""

    def __init__(self, problems: Iterable[BadValue]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(f"config: {problem}" for problem in self.problems))


class Point(NamedTuple):
    """One point of a grid."""

    workload: str
    domain_size: int
    epsilon: float
    seed: int


@dataclass(frozen=True)
class Grid:
    """The axes of a study; the last four, and budgets, are those of the kinds that have them."""

    workloads: tuple[str, ...] = ()
    domain_sizes: tuple[int, ...] = ()
    epsilons: tuple[float, ...] = ()
    seeds: tuple[int, ...] = ()
    users: tuple[int, ...] = ()
    populations: tuple[str, ...] = ()
    data: tuple[str, ...] = ()
    alphas: tuple[float, ...] = ()

    def points(self) -> list[Point]:
        """All that is asked of a mechanism: the combinations of the first four axes, the last fastest."""
        axes = (self.workloads, self.domain_sizes, self.epsilons, self.seeds)
        return [Point(*values) for values in itertools.product(*axes)]


@dataclass(frozen=True)
class Study:
    """One artefact of one paper: a grid, what is compared on it, and how it is drawn.

    ``options`` has the settings of the mechanisms' solvers, for those that have any. A study of a kind that is an
    experiment (:mod:`factormech.experiments`) has what it asks in ``asked``, and an empty grid.
    """

    name: str
    paper: str
    artefact: str
    kind: str
    title: str
    caption: str
    quick: bool
    grid: Grid = field(default_factory=Grid)
    asked: Asked | None = None
    mechanisms: tuple[str, ...] = ()
    norms: tuple[str, ...] = ()
    concepts: bool = False
    factorizations: tuple[str, ...] = ()
    solver: str = ""
    options: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    metric: str = ""
    alpha: float = math.nan
    bounds: tuple[str, ...] = ()
    compare: str | None = None
    exclude: tuple[str, ...] = ()
    band: bool = False
    rows: tuple[int, ...] = ()
    starts: int = 0
    gaps: tuple[float, ...] = ()
    iteration_sizes: tuple[int, ...] = ()
    trials: int = 0
    level: float = math.nan


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
    rules = experiments.with_experiments(read_yaml(schema), given)
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
    """What the experiments of studies that are sound so far refuse; of the quick settings, what these bring about."""
    told = [problem.name for problem in found]
    refused = []
    for name, settings in schemas.mapping(schemas.mapping(given).get("studies")).items():
        key = schemas.place(("studies", name))
        wrong = any(other == key or other.startswith((f"{key}.", f"{key}[")) for other in told)
        if wrong or "studies" in told or not is_experiment(schemas.mapping(settings).get("kind")):
            continue
        own = experiments.refusals(("studies", name), settings)
        quick = experiments.refusals(("studies", name, "quick"), _merged(settings, settings.get("quick", {})))
        already = {(str(problem.value), problem.rule) for problem in own}
        refused += own + [problem for problem in quick if (str(problem.value), problem.rule) not in already]
    return refused


def defaults(schema: FilePath) -> dict[str, Any]:
    """The default of every setting that has one, by key (``studies.<name>.alpha``)."""
    return schemas.defaults(read_yaml(schema))


def reference(schema: FilePath) -> str:
    """The page ``docs/configuration.md``: every setting, as the schema states it."""
    rules = read_yaml(schema)
    return _REFERENCE_HEAD + schemas.reference(experiments.with_experiments(rules, {})) + experiments.references(rules)


_REFERENCE_HEAD = """\
# Configuration

What a run computes and draws is in `config.yaml`. Every setting is here; this page is made from
`workflow/schemas/config.schema.yaml`, and for the kinds with settings of their own from their modules, by
`python tools/configuration_reference.py`, and a test compares them. Settings with a default may be left out. A
mistake is answered before anything runs, all mistakes at once, each with its key, its value, the rule and the remedy.
Another file in its place is `make CONFIG=mine.yaml` or `snakemake --configfile mine.yaml`; its paths are
relative to it.

`<name>` stands for a name of your choice, `[]` for every entry of a list. A number such as 1e-3 is text to
YAML: write `0.001` or `1.0e-3`.

"""


def _study(name: str, settings: Mapping[str, Any], config: Mapping[str, Any], *, quick: bool = False) -> Study:
    words = {key: settings[key] for key in ("paper", "artefact", "kind", "title", "caption")}
    if is_experiment(settings["kind"]):
        asked = experiments.asked(settings, seed=config["seed"], definitions=config["workloads"])
        return Study(name, quick=quick, asked=asked, **words)
    grid = settings["grid"]
    axes = Grid(
        tuple(grid["workload"]),
        tuple(grid["domain_size"]),
        tuple(float(epsilon) for epsilon in grid.get("epsilon", ())),
        tuple(grid["seed"]),
        tuple(grid.get("users", ())),
        tuple(grid.get("population", ())),
        tuple(grid.get("data", ())),
        tuple(sorted(float(alpha) for alpha in grid.get("alpha", ()))),
    )
    mechanisms, bounds = tuple(settings.get("mechanisms", ())), tuple(settings["bounds"])
    return Study(
        name,
        grid=axes,
        mechanisms=mechanisms,
        norms=tuple(settings.get("norms", ())),
        concepts=settings["concepts"],
        factorizations=tuple(settings["factorizations"]),
        solver=settings["solver"],
        options=settings["options"],
        bounds=bounds,
        compare=settings.get("compare"),
        exclude=tuple(settings["exclude"]),
        band=settings["band"],
        rows=tuple(sorted(settings["rows"])),
        starts=settings["starts"],
        gaps=tuple(sorted(float(gap) for gap in settings["gaps"])),
        iteration_sizes=tuple(sorted(settings["iteration_sizes"])),
        metric=settings["metric"],
        alpha=float(settings["alpha"]),
        trials=settings["trials"],
        level=float(settings["level"]),
        quick=quick,
        **words,
    )


def _quick_study(name: str, settings: Mapping[str, Any], config: Mapping[str, Any]) -> Study:
    return _study(QUICK + name, _merged(settings, settings["quick"]), config, quick=True)


def _merged(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """``old`` with the settings of ``new`` instead; mappings are merged, lists replaced."""
    both = {
        key: _merged(old[key], value) if isinstance(value, Mapping) and isinstance(old.get(key), Mapping) else value
        for key, value in new.items()
    }
    return {**old, **both}
