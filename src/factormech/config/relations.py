"""What no setting of a configuration breaks alone: names that nothing has, sizes that a workload lacks.

Values of a wrong type are passed over here, for the schema has named them already.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from factormech import plugins
from factormech.config import experiments
from factormech.config.paths import leads_outside
from factormech.config.schema import Missing, mapping, place
from factormech.errors import BadValue, UnknownName
from factormech.experiments.registry import is_experiment
from factormech.family import Family

Definitions: TypeAlias = dict[str, dict[str, Any]]
Key: TypeAlias = tuple[str | int, ...]
Settings: TypeAlias = tuple[Key, Mapping[str, Any]]


COLLECTION, SAMPLE_COMPLEXITY = "simulated-collection", "sample-complexity"
DATA_DEPENDENT, CONSISTENCY = "data-dependent", "consistency"
GAP, STARTS = "optimality-gap", "initialisation"
NORMS, PREFIX = "norms", "prefix-factorizations"
OF_NORMS = (NORMS, PREFIX)
OF_MECHANISMS = (
    SAMPLE_COMPLEXITY,
    COLLECTION,
    GAP,
    STARTS,
    "timing",
    DATA_DEPENDENT,
    CONSISTENCY,
)
# Axes and settings that only some kinds of study have, and need: which kinds, and an example.
AXES = {
    "epsilon": (OF_MECHANISMS, "[1.0]"),
    "users": ((COLLECTION, CONSISTENCY), "[1000, 1000000]"),
    "population": ((COLLECTION,), "[uniform, zipf]"),
    "data": ((DATA_DEPENDENT, CONSISTENCY), "[hepth, medcost, nettrace]"),
}
# How many of domain size and ε may vary in one study of these kinds, whose figures have one axis; in others, both.
DRAWN_AXES = {SAMPLE_COMPLEXITY: 1, GAP: 1, STARTS: 0}
SETTINGS = {"mechanisms": (OF_MECHANISMS, "[hadamard]"), "norms": (OF_NORMS, "[gamma-2, gamma-f]")}
# What ``snakemake NAME`` already means: the targets, and the rules, which share one namespace with them.
TARGETS = frozenset(
    [
        "all",
        "quick",
        "figures",
        "tables",
        "verify",
        "verify_strategies",
        "experiment",
        "tabulate_experiment",
        "data",
        "workload",
        "solve",
        "measure",
        "bound",
        "collect",
        "process",
        "tabulate",
        "draw",
        "compare",
        "starts",
        "iterate",
        "trace",
        "factorize",
        "measure_norm",
    ]
)


@dataclass(frozen=True)
class Known:
    """What the package can do, as far as a configuration names it.

    ``workload_reason`` takes a name, a domain size, the user's definitions and the folder of their files; it
    says why there is no such workload at that size, or gives ``None``, and raises ``BadValue`` for a definition
    that is broken at every size. ``option_problems`` takes a mechanism, settings of its solver and their key.
    """

    workloads: Family
    mechanisms: Family
    bounds: Family
    populations: Family
    data: Family
    norms: Family
    factorizations: Family
    workload_reason: Callable[[str, int, Mapping[str, Any], Path], str | None]
    option_problems: Callable[[str, Mapping[str, Any], str], list[BadValue]]


def registries() -> Known:
    """What the registries of the package know."""
    from factormech.bounds import registry as bounds
    from factormech.data import registry as data_sets
    from factormech.local import registry as mechanisms
    from factormech.measure import populations, prefix_errors
    from factormech.norms import registry as norms
    from factormech.workloads import definitions
    from factormech.workloads import registry as workloads

    return Known(
        Family(workloads.names, workloads.resolve),
        Family(mechanisms.names, mechanisms.module_of),
        Family(bounds.names, bounds.module_of),
        Family(populations.names, lambda name: populations.probabilities(name, 1)),
        Family(data_sets.names, data_sets.check_name),
        Family(norms.quantities, norms.quantity),
        Family(prefix_errors.factorizations, prefix_errors.check_name),
        definitions.reason_against,
        mechanisms.check_options,
    )


def plugin_problems(config: Any, base: Path) -> list[BadValue]:
    """Load the plugins of a configuration, before any name is looked up; what is wrong with one, a line each."""
    found: list[BadValue] = []
    for i, path in _texts(mapping(config).get("plugins")):
        key = place(("plugins", i))
        outside = list(_outside(("plugins", i), path, base))
        if outside:
            found += outside
            continue
        try:
            # As it was given where possible: commands and files are to be those of another machine.
            plugins.load(Path(path) if base.absolute() == Path.cwd() else base / path)
        except BadValue as error:
            name = key if error.name == key else f"{key}: {error.name}"
            found.append(BadValue(name, error.value, error.rule, error.remedy))
    return found


def relation_problems(config: Any, base: Path, known: Known) -> list[BadValue]:
    """Every broken relation of a configuration, defaults not filled in; ``base`` is where its files are."""
    given = mapping(config)
    workloads = _Workloads(mapping(given.get("workloads")), base, known)
    found = [*_outside(("data",), given.get("data"), base), *workloads.problems()]
    studies = mapping(given.get("studies"))
    papers = {paper for study in studies.values() if isinstance(paper := mapping(study).get("paper"), str)}
    for name, study in studies.items():
        if name in TARGETS or name in papers:
            remedy = f"rename the study, for example to '{name}-study'"
            found.append(BadValue("name in studies", name, "differ from the workflow's own targets and rules", remedy))
        whole: Settings = (("studies", name), mapping(study))
        if is_experiment(whole[1].get("kind")):
            found += _of_experiment(whole, workloads)
            continue
        found += _of_settings(whole, None, workloads, known)
        if "quick" in whole[1]:
            quick: Settings = ((*whole[0], "quick"), mapping(whole[1]["quick"]))
            found += _of_settings(quick, whole, workloads, known)
    return found


def _of_experiment(own: Settings, workloads: _Workloads) -> Iterator[BadValue]:
    """Problems of a study of a kind that says itself what may be asked, and of its quick settings."""
    path, settings = own
    checks = (workloads.name_problem, workloads.size_problem)
    yield from experiments.problems(path, settings, None, *checks)
    quick = mapping(settings.get("quick"))
    yield from experiments.problems((*path, "quick"), quick, settings, *checks)


def _of_settings(own: Settings, replaced: Settings | None, workloads: _Workloads, known: Known) -> Iterator[BadValue]:
    """Problems of a study, or of its quick settings, which replace some of the study's."""
    path, settings = own
    whole = (replaced or own)[1]
    grid = mapping(settings.get("grid"))
    for i, name in _texts(grid.get("workload")):
        yield from workloads.name_problem((*path, "grid", "workload", i), name)
    for i, name in _texts(settings.get("mechanisms")):
        yield from _name_problem((*path, "mechanisms", i), name, known.mechanisms)
    yield from _option_problems(path, mapping(settings.get("options")), known)
    for i, name in _texts(settings.get("bounds")):
        yield from _name_problem((*path, "bounds", i), name, known.bounds)
    for setting, family in (("norms", known.norms), ("factorizations", known.factorizations)):
        for i, name in _texts(settings.get(setting)):
            yield from _name_problem((*path, setting, i), name, family)
    for i, name in _texts(grid.get("population")):
        yield from _name_problem((*path, "grid", "population", i), name, known.populations)
    for i, name in _texts(grid.get("data")):
        yield from _name_problem((*path, "grid", "data", i), name, known.data)
    if replaced is None:
        yield from _axes_of_kind(path, settings, grid)
        yield from _of_norms(path, settings, grid)
    yield from _axes_drawn(own, replaced)
    compared, others = (
        settings.get("compare"),
        _list((settings if "mechanisms" in settings else whole).get("mechanisms")),
    )
    if isinstance(compared, str) and compared not in others:
        remedy = "give one of them, or leave the key out"
        yield BadValue(place((*path, "compare")), compared, "be a mechanism of the study", remedy)
    if mapping(whole.get("grid")).get("data"):
        yield from _sizes_of_data(path, grid)
    for i, name in _texts(settings.get("exclude")):
        if name not in others or name == (compared or whole.get("compare")):
            remedy = "give mechanisms that do not compete, or leave the key out"
            yield BadValue(place((*path, "exclude", i)), name, "be another mechanism of the study", remedy)
    if settings.get("band") is True and mapping(settings if "kind" in settings else whole).get("kind") not in (
        SAMPLE_COMPLEXITY,
        None,
    ):
        yield BadValue(place((*path, "band")), True, f"be of studies of kind {SAMPLE_COMPLEXITY} only", "leave it out")
    if "domain_size" in grid or "workload" in grid:
        names, sizes = (_axis(axis, own, replaced) for axis in ("workload", "domain_size"))
        for (_, name), (key, size) in itertools.product(names, sizes):
            if isinstance(name, str) and type(size) is int and size >= 1:
                yield from workloads.size_problem(key, name, size)


def _option_problems(path: Key, options: Mapping[str, Any], known: Known) -> Iterator[BadValue]:
    """Settings of mechanisms that are not known or have no such settings."""
    for name, settings in options.items():
        key = (*path, "options", name)
        unknown = list(_name_problem(key, name, known.mechanisms))
        yield from unknown or known.option_problems(name, mapping(settings), place(key))


def _sizes_of_data(path: Key, grid: Mapping[str, Any]) -> Iterator[BadValue]:
    """Domain sizes that the bins of the data sets cannot be summed to."""
    from factormech.data.registry import BINS, size_reason

    for i, size in enumerate(_list(grid.get("domain_size"))):
        reason = size_reason(size) if type(size) is int and size >= 1 else None
        if reason is not None:
            rule = f"be a divisor of {BINS} in a study on data sets ({reason})"
            yield BadValue(place((*path, "grid", "domain_size", i)), size, rule, "give for example 512")


def _axes_of_kind(path: Key, settings: Mapping[str, Any], grid: Mapping[str, Any]) -> Iterator[BadValue]:
    """Budgets, users, populations, data sets, mechanisms and norms belong to some kinds of study, and to no others."""
    kind = settings.get("kind")
    for where, found, rules, noun in (
        ((*path, "grid"), grid, AXES, "an axis"),
        (path, settings, SETTINGS, "a setting"),
    ):
        for name, (kinds, example) in rules.items():
            key, named = place((*where, name)), _named(kinds)
            if kind in kinds and name not in found:
                yield BadValue(key, Missing(), f"be given in a study of kind {kind}", f"give for example {example}")
            if kind in (*OF_MECHANISMS, *OF_NORMS) and kind not in kinds and name in found:
                yield BadValue(key, found[name], f"be {noun} of studies of {named} only", "leave it out")


def _axes_drawn(own: Settings, replaced: Settings | None) -> Iterator[BadValue]:
    """More axes that vary than the figure of the kind can show."""
    kind = (replaced or own)[1].get("kind")
    allowed = DRAWN_AXES.get(kind) if isinstance(kind, str) else None
    if allowed is None:
        return
    axes = {axis: _axis(axis, own, replaced) for axis in ("domain_size", "epsilon")}
    numbers = {
        axis: [value for _, value in found if type(value) in (int, float) and value > 0] for axis, found in axes.items()
    }
    several = {axis: axes[axis] for axis, values in numbers.items() if len(set(values)) > 1}
    if len(several) > allowed and any(axis in mapping(own[1].get("grid")) for axis in several):
        found = list(several.values())[-1]
        rule = f"have one value in a study of kind {kind}" + (" whose domain sizes vary" if allowed else "")
        remedy = "make a study of each, as its figure has one axis"
        yield BadValue(place(found[0][0][:-1]), [value for _, value in found], rule, remedy)


def _named(kinds: tuple[str, ...]) -> str:
    return "mechanisms" if kinds == OF_MECHANISMS else "kind " + " and ".join(kinds)


def _of_norms(path: Key, settings: Mapping[str, Any], grid: Mapping[str, Any]) -> Iterator[BadValue]:
    """What norms ask of the rest: an error α for some, an exact norm of prefix for factorizations of it."""
    kind = settings.get("kind")
    if "solver" in settings and kind not in (*OF_NORMS, None):
        rule = f"be a setting of studies of kind {' and '.join(OF_NORMS)} only"
        yield BadValue(place((*path, "solver")), settings["solver"], rule, "leave it out")
    found = [(i, quantity) for i, name in _texts(settings.get("norms")) if (quantity := _quantity(name)) is not None]
    tolerant = kind == NORMS and any(quantity.tolerant for _, quantity in found)
    key = (*path, "grid", "alpha")
    if tolerant and "alpha" not in grid:
        rule = "be given where a norm has an error"
        yield BadValue(place(key), Missing(), rule, "give for example [0.1]")
    if "alpha" in grid and not tolerant:
        rule = f"be an axis of studies of kind {NORMS} with a norm that has an error"
        yield BadValue(place(key), grid["alpha"], rule, "leave it out")
    if kind != PREFIX:
        return
    for i, quantity in found:
        if quantity.exponent is None:
            rule, remedy = f"be an exact norm in a study of kind {PREFIX}", "give for example gamma-2"
            yield BadValue(place((*path, "norms", i)), quantity.name, rule, remedy)
    if isinstance(grid.get("workload"), list) and grid["workload"] != ["prefix"]:
        rule = f"be [prefix] in a study of kind {PREFIX}"
        yield BadValue(place((*path, "grid", "workload")), grid["workload"], rule, "give [prefix]")


def _quantity(name: str) -> Any:
    from factormech.norms.registry import quantity

    try:
        return quantity(name)
    except UnknownName:
        return None


class _Workloads:
    """The registered workloads and the user's own, of which some may be wrong."""

    def __init__(self, definitions: Mapping[str, Any], base: Path, known: Known) -> None:
        self.definitions, self.base, self.known = definitions, base, known
        self.sound: Definitions = {}

    def problems(self) -> Iterator[BadValue]:
        """What is wrong with the definitions; afterwards ``sound`` has the ones that can be used."""
        sound = {name: value for name, value in self.definitions.items() if _has_a_shape(value)}
        for name in self.definitions:
            for problem in self._problems_of(name):
                sound.pop(name, None)
                yield problem
        while True:  # what is made from something wrong is not asked for its sizes, either
            lost = self.definitions.keys() - sound.keys()
            kept = {name: value for name, value in sound.items() if self._parts(name).isdisjoint(lost)}
            if len(kept) == len(sound):
                break
            sound = kept
        self.sound = sound

    def name_problem(self, key: Key, name: str) -> Iterator[BadValue]:
        """The line for a name that neither the registry nor the user has."""
        if name not in self.definitions:
            yield from _name_problem(key, name, self.known.workloads, self.definitions)

    def size_problem(self, key: Key, name: str, size: int) -> Iterator[BadValue]:
        """The line for a size that a workload lacks; none for a workload that is wrong in itself."""
        wrong = name in self.definitions and name not in self.sound
        if wrong or any(self.name_problem(key, name)):
            return
        try:
            reason = self.known.workload_reason(name, size, self.sound, self.base)
        except BadValue as error:
            reason = str(error)
        if reason is not None:
            remedy = "give another size, or leave the workload out of this study"
            rule = f"be a domain size that workload {name!r} has ({reason})"
            yield BadValue(place(key), size, rule, remedy)

    def _problems_of(self, name: str) -> Iterator[BadValue]:
        definition, path = mapping(self.definitions[name]), ("workloads", name)
        if not any(_name_problem(path, name, self.known.workloads)):
            rule, remedy = "differ from the built-in names", f"rename it, for example to 'my-{name}'"
            yield BadValue("name in workloads", name, rule, remedy)
        yield from self._file_problem(name, definition)
        for key, i, part in _parts(definition):
            yield from self.name_problem((*path, key, i, "workload"), part)
        if name in self._made_from(name):
            remedy = "leave one of the links out"
            yield BadValue(place(path), dict(definition), "not be made from itself", remedy)
        factors = _list(definition.get("kronecker"))
        for i in [i for i, factor in enumerate(factors) if "domain_size" not in mapping(factor)][1:]:
            rule, remedy = "have a domain_size (an earlier factor has none)", "give for example 16"
            yield BadValue(place((*path, "kronecker", i)), factors[i], rule, remedy)

    def _file_problem(self, name: str, definition: Mapping[str, Any]) -> Iterator[BadValue]:
        file, key = definition.get("file"), place(("workloads", name, "file"))
        if not isinstance(file, str) or not _has_a_shape(definition):
            return
        outside = list(_outside(("workloads", name, "file"), file, self.base))
        if outside:
            yield outside[0]
            return
        if not _is_file(self.base / file):
            remedy = "check the path, which is relative to the folder of the configuration"
            yield BadValue(key, file, "be the path of an existing file", remedy)
            return
        try:
            self.known.workload_reason(name, 1, {name: definition}, self.base)
        except BadValue as error:
            yield BadValue(key, file, f"hold a matrix that can be read ({error})", "correct the file")

    def _parts(self, name: str) -> set[str]:
        return {part for _, _, part in _parts(mapping(self.definitions[name]))}

    def _made_from(self, name: str) -> set[str]:
        """Names of definitions that a definition is made from, directly or not."""
        reached: set[str] = set()
        waiting = [name]
        while waiting:
            new = (self._parts(waiting.pop()) & self.definitions.keys()) - reached
            reached |= new
            waiting += new
        return reached


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # a name that is too long; a zero in it
        return False


def _outside(key: Key, value: Any, base: Path) -> Iterator[BadValue]:
    """The line for a relative path that climbs out of the project."""
    if isinstance(value, str) and leads_outside(value, base):
        rule, remedy = "stay inside the folder of the project", "give the absolute path, or move it into the project"
        yield BadValue(place(key), value, rule, remedy)


def _name_problem(key: Key, name: str, family: Family, more_names: Iterable[str] = ()) -> Iterator[BadValue]:
    try:
        family.check(name)
    except UnknownName:
        yield UnknownName(place(key), name, {*family.names(), *more_names})
    except BadValue as error:  # the name of a family with an impossible number in it
        yield BadValue(place(key), name, error.rule, error.remedy)


def _axis(axis: str, own: Settings, replaced: Settings | None) -> list[tuple[Key, Any]]:
    """Keys and values of an axis: those of the quick settings if these have it, else those of the study."""
    for path, settings in (own, replaced or own):
        values = mapping(settings.get("grid")).get(axis)
        if values is not None:
            return [((*path, "grid", axis, i), value) for i, value in enumerate(_list(values))]
    return []


def _has_a_shape(definition: Any) -> bool:
    """Whether a definition is of one of the three shapes, as far as its meaning needs it."""
    definition = mapping(definition)
    match [key for key in ("file", "union", "kronecker") if key in definition]:
        case ["file"]:
            return isinstance(definition["file"], str) and isinstance(definition.get("dataset", ""), str)
        case ["union" | "kronecker" as key]:
            parts = _list(definition[key])
            return bool(parts) and all(isinstance(mapping(part).get("workload"), str) for part in parts)
    return False


def _parts(definition: Mapping[str, Any]) -> Iterator[tuple[str, int, str]]:
    """The workloads that a definition is made from: key, index, name."""
    for key in ("union", "kronecker"):
        for i, part in enumerate(_list(definition.get(key))):
            name = mapping(part).get("workload")
            if isinstance(name, str):
                yield key, i, name


def _texts(value: Any) -> list[tuple[int, str]]:
    return [(i, text) for i, text in enumerate(_list(value)) if isinstance(text, str) and text]


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
