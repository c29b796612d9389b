"""``studies/<paper>.claims.yaml``: what a paper says, where, and what tests it; all files checked at once.

The rules of single entries are the schema's (``workflow/schemas/claims.schema.yaml``); here are those between them:
one measure that exists, with the settings that it takes, on tables that the claim names.

**Universes** are declared sets of mechanisms and tables, under each of which the same claim is judged. A paper that
compares mechanisms does not always say which version of a rival it means. Its file of claims may then declare
universes, each with words and with what stands for ``$names``:

    universes:
      published: {says: as published, stands: {rivals: [hadamard-table1, fourier], table: mckenna2020-figure-1}}

A claim with ``universes: [published, …]`` has one measure with ``$rivals`` and ``$table`` in it, and becomes a claim
with one reading for each universe. ``page.py`` prints the matrix of verdicts.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from factormech.claims import evidence
from factormech.claims.evidence import Predictions
from factormech.claims.measures import check, parameters
from factormech.claims.selection import names_in
from factormech.config import schema as schemas
from factormech.config.yaml_file import read_yaml
from factormech.errors import BadValue, UnknownName

SIGN = "$"


def universe_problems(content: Mapping[str, Any]) -> Iterator[BadValue]:
    """Everything that is wrong with the universes of a file and with the claims that use them."""
    known = content.get("universes", {})
    for name, entry in content["claims"].items():
        here = f"claims.{name}"
        if "universes" not in entry:
            if unknown := sorted(_names_in({key: entry[key] for key in ("study", "measure") if key in entry})):
                yield BadValue(here, SIGN + unknown[0], "stand only in a claim that has universes", "add universes")
            continue
        if "readings" in entry or "measure" not in entry:
            rule = "have one measure, and no readings beside universes"
            yield BadValue(here, sorted(entry), rule, "make each reading a universe")
        for universe in entry["universes"]:
            if universe not in known:
                yield UnknownName(f"{here}.universes", universe, known)
            elif missing := _names_in(entry.get("measure", {})) - set(known[universe]["stands"]):
                rule = f"stand for something in the universe {universe}"
                yield BadValue(here, SIGN + min(missing), rule, f"add it to universes.{universe}.stands")


def expanded(entry: Mapping[str, Any], universes: Mapping[str, Any]) -> dict[str, Any]:
    """Return an entry with a reading for each of its universes; one without universes as it is."""
    if "universes" not in entry:
        return dict(entry)
    chosen = [universes[name] for name in entry["universes"]]
    studies = [_with(study, universe["stands"]) for universe in chosen for study in entry.get("study", ())]
    readings = [
        {"reading": universe["says"], "measure": _with(entry["measure"], universe["stands"])} for universe in chosen
    ]
    kept = {key: value for key, value in entry.items() if key not in ("measure", "universes")}
    return {**kept, "study": list(dict.fromkeys(studies)), "readings": readings}


def _names_in(value: Any) -> set[str]:
    if isinstance(value, Mapping):
        return set().union(*map(_names_in, value.values()))
    if isinstance(value, list):
        return set().union(*map(_names_in, value))
    return {value[1:]} if isinstance(value, str) and value.startswith(SIGN) else set()


def _with(value: Any, stands: Mapping[str, Any]) -> Any:
    """A setting in which names are replaced by what they stand for; in a list, a list takes the place of its name."""
    if isinstance(value, Mapping):
        return {key: _with(inner, stands) for key, inner in value.items()}
    if isinstance(value, list):
        new: list[Any] = []
        for inner in value:
            found = _with(inner, stands)
            new += found if isinstance(found, list) else [found]
        return new
    return stands[value[1:]] if isinstance(value, str) and value.startswith(SIGN) else value


_OPERANDS = ("of", "left", "right")
ENDING = ".claims.yaml"
EVERYWHERE = {"at_least": 1.0, "because": "at every point"}
PAPERS = ("mckenna2020", "edmonds2020", "edmonds2023", "liu2024", "nikolov2023")


class LedgerErrors(ValueError):
    """Everything that is wrong with a ledger, a line each."""

    remedy = "correct the ledger"

    def __init__(self, problems: Iterable[BadValue]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(f"claims: {problem}" for problem in self.problems))


@dataclass(frozen=True)
class Expectation:
    """What a measured interval must lie within, ends included, and why its tolerance is what it is."""

    least: float | None
    most: float | None
    because: str

    def words(self) -> str:
        """The expectation as a condition."""
        if self.least is not None and self.most is not None:
            return f"{self.least:.6g}" if self.least == self.most else f"from {self.least:.6g} to {self.most:.6g}"
        return f"at most {self.most:.6g}" if self.least is None else f"at least {self.least:.6g}"


@dataclass(frozen=True)
class Check:
    """One way to test a claim: its words if it is a reading of ours ("" if not), a measure and an expectation."""

    reading: str
    measure: str
    settings: Mapping[str, Any]
    expect: Expectation


@dataclass(frozen=True)
class Claim:
    """A claim of a paper, and the kind of evidence for it (``evidence.py``).

    ``checks`` is empty where no table tests it: ``why`` or ``test`` says more then. ``range`` is why a slope is taken
    over fewer than two decades. The first check is of the claim as it is printed if its ``reading`` is empty; the
    others are readings.
    """

    id: str
    paper: str
    kind: str
    where: str
    text: str
    studies: tuple[str, ...] = ()
    checks: tuple[Check, ...] = ()
    why: str = ""
    note: str = ""
    test: str = ""
    range: str = ""
    universes: bool = False


@dataclass(frozen=True)
class Ledger:
    """All claims, in the order of the files."""

    claims: tuple[Claim, ...]

    def studies(self) -> list[str]:
        """The studies that some claim is tested by, each once."""
        return list(dict.fromkeys(study for claim in self.claims for study in claim.studies))

    def need_data(self, names: Iterable[str]) -> list[Claim]:
        """Return the claims that have no verdict where stand-ins are used for these data sets.

        A claim has none if its check as printed names one of the data sets; without such a check, if all readings do.
        """
        missing = set(names)
        return [claim for claim in self.claims if _needs_data(claim, missing)]


def files_in(folder: Path) -> list[Path]:
    """Return the files of the ledger in a folder, in the order in which pages show the papers."""
    found = {path.name.removesuffix(ENDING): path for path in folder.glob(f"*{ENDING}")}
    return [found[paper] for paper in sorted(found, key=lambda paper: (_position(paper), paper))]


def read(paths: Sequence[Path | str], schema: Path | str) -> Ledger:
    """Return the ledger in some files, one for each paper.

    Raises
    ------
    LedgerErrors
        With everything that is wrong with it.
    BadValue
        If a file is not YAML.
    """
    return Ledger(tuple(claim for path in paths for claim in _read_one(Path(path), schema)))


def _position(paper: str) -> int:
    return PAPERS.index(paper) if paper in PAPERS else len(PAPERS)


def _read_one(path: Path, schema: Path | str) -> Iterator[Claim]:
    """The claims of one paper."""
    content, problems = schemas.plain(read_yaml(path))
    problems += schemas.problems_of(_rules(str(schema)), content)
    if problems:
        raise LedgerErrors(problems)
    if problems := list(universe_problems(content)):
        raise LedgerErrors(problems)
    paper, own = content["paper"], Predictions.from_entry(content.get("predictions", {}))
    declared = content.get("universes", {})
    entries = {name: expanded(entry, declared) for name, entry in content["claims"].items()}
    found = [problem for name, entry in entries.items() for problem in _relations(name, entry, own)]
    if path.name != f"{paper}{ENDING}":
        found.insert(0, BadValue("paper", paper, f"be the one that the file {path.name} is named after", "rename one"))
    for name in entries:
        if not name.startswith(f"{paper}-"):
            found.append(BadValue(f"claims.{name}", name, f"begin with '{paper}-'", "rename the claim"))
    if found:
        raise LedgerErrors(found)
    yield from (
        replace(_claim(paper, name, entry), universes=bool(content["claims"][name].get("universes")))
        for name, entry in entries.items()
    )


@functools.cache
def _rules(path: str) -> Mapping[str, Any]:
    return read_yaml(path)


def _claim(paper: str, name: str, entry: Mapping[str, Any]) -> Claim:
    return Claim(
        id=name,
        paper=paper,
        where=entry["where"],
        text=entry["claim"],
        studies=tuple(entry.get("study", ())),
        checks=tuple(_checks(entry)),
        why=entry.get("why", ""),
        note=entry.get("note", ""),
        kind=entry["kind"],
        test=entry.get("test", ""),
        range=entry.get("range", ""),
    )


def _checks(entry: Mapping[str, Any]) -> Iterator[Check]:
    """The claim as printed, then its readings, which inherit what they do not say."""
    printed, grid = {key: entry[key] for key in ("measure", "expect") if key in entry}, entry.get("grid", {})
    if "measure" in printed and _expected(printed):
        yield _check("", printed, grid)
    for reading in entry.get("readings", ()):
        said = {**printed, **reading}
        if "measure" in said and _expected(said):
            yield _check(reading["reading"], said, grid)


def _expected(said: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the expectation of a check; an inequality without one must hold at every point."""
    wanted: Mapping[str, Any] | None = said.get("expect")
    return wanted or (EVERYWHERE if said.get("measure", {}).get("name") == "holds" else None)


def _check(reading: str, said: Mapping[str, Any], grid: Mapping[str, Any]) -> Check:
    settings = {key: _pinned(value, grid) for key, value in said["measure"].items() if key != "name"}
    wanted = _expected(said) or {}
    if "near" in wanted:
        least, most = wanted["near"] - wanted["within"], wanted["near"] + wanted["within"]
    else:
        least, most = wanted.get("at_least"), wanted.get("at_most")
    return Check(reading, said["measure"]["name"], settings, Expectation(least, most, wanted["because"]))


def _pinned(setting: Any, grid: Mapping[str, Any]) -> Any:
    """An operand at the points that the claim is about; other settings as they are."""
    if not isinstance(setting, Mapping):
        return setting
    inner = {"by": _pinned(setting["by"], grid)} if "by" in setting else {}
    return {**setting, **inner, "where": {**grid, **setting.get("where", {})}}


def _relations(name: str, entry: Mapping[str, Any], predictions: Predictions) -> Iterator[BadValue]:
    """Yield the contradictions between the entries of one claim."""
    here = f"claims.{name}"
    tested = "measure" in entry or "readings" in entry
    yield from evidence.problems(here, entry, predictions)
    if "measure" in entry and not _expected(entry):
        yield BadValue(f"{here}.expect", schemas.Missing(), "be there where there is a measure", "say what is expected")
    if tested and not entry.get("study"):
        yield BadValue(f"{here}.study", schemas.Missing(), "name the studies that test the claim", "give a list")
    for i, reading in enumerate(entry.get("readings", ())):
        full: Mapping[str, Any] = {**entry, **reading}
        for key in [k for k, there in (("measure", "measure" in full), ("expect", _expected(full))) if not there]:
            rule = "be there, in the reading or in the claim"
            yield BadValue(f"{here}.readings[{i}].{key}", schemas.Missing(), rule, f"add {key}")
    named: set[str] = set()
    for place, said in _measures(here, entry):
        yield from _measure_problems(place, said, entry.get("study", ()))
        named |= {operand["table"] for operand in operands(said) if "table" in operand}
        named |= set(entry.get("study", ())[:1]) if any("table" not in o for o in operands(said)) else set()
    if unused := [study for study in entry.get("study", ()) if study not in named]:
        yield BadValue(f"{here}.study", unused[0], "be a study that a measure reads", "remove it")


def _needs_data(claim: Claim, missing: set[str]) -> bool:
    deciding = [check for check in claim.checks if not check.reading] or claim.checks
    return bool(deciding) and all(missing & set(_data_sets(check.settings)) for check in deciding)


def _data_sets(settings: Mapping[str, Any]) -> Iterator[str]:
    """The data sets that a measure names."""
    for operand in operands(settings):
        named = operand.get("where", {}).get("data", ())
        yield from [named] if isinstance(named, str) else named


def _measures(here: str, entry: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    if "measure" in entry:
        yield f"{here}.measure", entry["measure"]
    for i, reading in enumerate(entry.get("readings", ())):
        if "measure" in reading:
            yield f"{here}.readings[{i}].measure", reading["measure"]


def _measure_problems(place: str, said: Mapping[str, Any], studies: Iterable[str]) -> Iterator[BadValue]:
    try:
        check(said["name"])
    except BadValue as problem:
        yield BadValue(f"{place}.name", said["name"], problem.rule, problem.remedy)
        return
    taken, needed = parameters(said["name"])
    for key in said.keys() - taken - {"name"}:
        yield BadValue(
            f"{place}.{key}", said[key], f"be a setting of {said['name']}", f"known: {', '.join(sorted(taken))}"
        )
    for key in needed - said.keys():
        yield BadValue(f"{place}.{key}", schemas.Missing(), f"be given for {said['name']}", f"add {key}")
    for operand in operands(said):
        if operand.get("table", next(iter(studies), "")) not in studies:
            yield BadValue(f"{place}.table", operand.get("table"), "be among the claim's studies", "add it to study")
        for key in ("value", "low", "high"):
            try:
                names_in(str(operand.get(key, "0")))
            except BadValue as problem:
                yield BadValue(f"{place}.{key}", operand[key], problem.rule, problem.remedy)


def operands(said: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield all operands of a measure, those inside others included."""
    queue = [said[key] for key in _OPERANDS if isinstance(said.get(key), Mapping)]
    while queue:
        operand = queue.pop()
        yield operand
        if isinstance(operand.get("by"), Mapping):
            queue.append(operand["by"])
