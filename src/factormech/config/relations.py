"""What no setting of a configuration breaks alone: names that nothing has, sizes that a workload lacks.

Values of a wrong type are passed over here, for the schema has named them already.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Any, TypeAlias

from factormech import plugins
from factormech.config import kinds
from factormech.config.schema import mapping, place
from factormech.config.yaml_file import leads_outside
from factormech.errors import BadValue, UnknownName
from factormech.names import Family
from factormech.studies.registry import is_experiment

Definitions: TypeAlias = dict[str, dict[str, Any]]
Key: TypeAlias = tuple[str | int, ...]
Settings: TypeAlias = tuple[Key, Mapping[str, Any]]


# What ``snakemake NAME`` already means: the targets, and the rules, which share one namespace with them.
TARGETS = frozenset(
    (
        *("all", "quick", "figures", "tables", "claims", "report", "verify", "data"),
        *("workload", "solve", "evaluate", "tabulate", "derive", "draw", "judge", "verify_strategies"),
    )
)

# What the names of tables end with that are made from a study's table.
DERIVED = ("-improvement", "-slopes")


@dataclass(frozen=True)
class Known:
    """The names of the package that a configuration may use.

    ``workload_reason`` takes a name, a domain size, the user's definitions and the folder of their files; it
    says why there is no such workload at that size, or gives ``None``, and raises ``BadValue`` for a definition
    that is broken at every size. Other names are looked up in the families that axes and settings name.
    """

    workloads: Family
    workload_reason: Callable[[str, int, Mapping[str, Any], Path], str | None]


def registries() -> Known:
    """Return the names that the registries of the package know."""
    from factormech.workloads import definitions
    from factormech.workloads import registry as workloads

    return Known(Family(workloads.names, workloads.resolve), definitions.reason_against)


def plugin_problems(config: Any, base: Path) -> list[BadValue]:
    """Load the plugins of a configuration, before any name is looked up; return a line for each mistake."""
    found: list[BadValue] = []
    for i, path in _texts(mapping(config).get("plugins")):
        key = place(("plugins", i))
        outside = list(_path_problems(("plugins", i), path, base))
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
    """Return every broken relation of a configuration, defaults not filled in; ``base`` is where its files are."""
    given = mapping(config)
    workloads = _Workloads(mapping(given.get("workloads")), base, known)
    found = [*_path_problems(("data",), given.get("data"), base), *workloads.problems()]
    studies = mapping(given.get("studies"))
    papers = {paper for study in studies.values() if isinstance(paper := mapping(study).get("paper"), str)}
    for name, study in studies.items():
        found += _name_problems(name, study, studies, papers)
        whole: Settings = (("studies", name), mapping(study))
        if is_experiment(whole[1].get("kind")):
            found += _of_study(whole, workloads)
    return found


def _name_problems(name: str, study: Any, studies: Mapping[str, Any], papers: set[str]) -> Iterator[BadValue]:
    """A study or a paper that the workflow could not tell from another target, rule or table."""
    rule, key = "differ from the workflow's own targets and rules", place(("studies", name, "paper"))
    if name in TARGETS or name in papers:
        yield BadValue("name in studies", name, rule, f"rename the study, for example to '{name}-study'")
    if (paper := mapping(study).get("paper")) in sorted(TARGETS):
        yield BadValue(key, paper, rule, f"rename the paper, for example to '{paper}-paper'")
    for derived in DERIVED:
        if name.endswith(derived) and name.removesuffix(derived) in studies:
            rule = f"differ from the table {name} of the study {name.removesuffix(derived)}"
            yield BadValue("name in studies", name, rule, f"rename the study, for example to '{name}-study'")


def _of_study(own: Settings, workloads: _Workloads) -> Iterator[BadValue]:
    """Problems of a study and of its quick settings."""
    path, settings = own
    checks = (workloads.name_problem, workloads.size_problem)
    yield from kinds.problems(path, settings, None, *checks)
    quick = mapping(settings.get("quick"))
    yield from kinds.problems((*path, "quick"), quick, settings, *checks)


class _Workloads:
    """The registered and the user-defined workloads; some definitions may be wrong."""

    def __init__(self, definitions: Mapping[str, Any], base: Path, known: Known) -> None:
        self.definitions, self.base, self.known = definitions, base, known
        self.sound: Definitions = {}
        self.circular = False  # whether any of them is made from itself

    def problems(self) -> Iterator[BadValue]:
        """Yield the mistakes in the definitions; afterwards ``sound`` has the definitions that can be used."""
        sound = {name: value for name, value in self.definitions.items() if _has_a_shape(value)}
        try:
            TopologicalSorter({name: self._parts(name) for name in self.definitions}).prepare()
        except CycleError:
            self.circular = True
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
        if self.circular and name in self._made_from(name):
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
        outside = list(_path_problems(("workloads", name, "file"), file, self.base))
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


def _path_problems(key: Key, value: Any, base: Path) -> Iterator[BadValue]:
    """The line for a relative path that climbs out of the project, or that Snakemake would take for a pattern."""
    if isinstance(value, str) and not {"{", "}"}.isdisjoint(value):
        yield BadValue(place(key), value, "be a path without braces, which Snakemake takes for wildcards", "rename it")
    elif isinstance(value, str) and leads_outside(value, base):
        rule, remedy = "stay inside the folder of the project", "give the absolute path, or move it into the project"
        yield BadValue(place(key), value, rule, remedy)


def _name_problem(key: Key, name: str, family: Family, more_names: Iterable[str] = ()) -> Iterator[BadValue]:
    try:
        family.check(name)
    except UnknownName:
        yield UnknownName(place(key), name, {*family.names(), *more_names})
    except BadValue as error:  # the name of a family with an impossible number in it
        yield BadValue(place(key), name, error.rule, error.remedy)


def _has_a_shape(definition: Any) -> bool:
    """Return whether a definition is of one of the three shapes, as far as its meaning needs it."""
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
