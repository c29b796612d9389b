"""``factormech results``: which files a run has made, and what each of them is for."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from factormech.cli.answer import Answer, WrappedLine, counted, pairs
from factormech.cli.studies import config_of, study_named
from factormech.errors import BadValue
from factormech.mechanisms.base import in_words

if TYPE_CHECKING:
    from factormech.config.studies import Study
    from factormech.pipeline.planning import Plan
    from factormech.studies.solves import Solve

FAMILIES = {"strategy": "strategy", "bound": "lower bound", "factorization": "factorization"}
# Attributes that a reader is shown, and what they are called; JSON has all.
SHOWN = {
    "kind": "kind of file",
    "options": "settings",
    "chosen": "found by",
    "objective": "objective L",
    "lower_bound": "lower bound",
    "upper_bound": "upper bound",
    "gap": "gap",
    "worst_variance": "worst variance",
    "average_variance": "average variance",
    "rows": "outputs",
    "stopped": "stopped by",
}
# Attributes of a result file that say where it was made, not what it holds.
_ORIGIN = ("_version", "digest", "threads", "code", "format")


def listed(args: argparse.Namespace) -> Answer:
    """List how far every study of the configuration is made: its figure, table, parts and solutions."""
    plan = _plan(args)
    studies = plan.config.quick_studies if args.quick else plan.config.studies
    found = [_progress(plan, study) for study in studies.values()]
    begun = [one for one in found if one["made"]]
    lines = [_line(one, max(len(each["study"]) for each in begun)) for one in begun]
    if len(begun) < len(found):
        missing = counted(len(found) - len(begun), "study has", "studies have")
        target = "figures/quick/STUDY.pdf" if args.quick else "STUDY"
        lines.append(f"{missing} no results in this folder yet; make them with: snakemake {target}")
    lines.append("factormech results show STUDY lists the files of a study; results show FILE says what a file is for")
    return Answer({"progress": found, "status": "ok"}, lines)


def _progress(plan: Plan, study: Study) -> dict[str, Any]:
    parts = [_part(study.name, part) for part in plan.parts[study.name]]
    solved = list(plan.solved_for([study.name]))
    figure, table = f"figures/{study.name}.pdf", f"results/tables/{study.name}.csv"
    made = {"figure": _is_made(figure), "table": _is_made(table), "parts": _count(parts), "solutions": _count(solved)}
    return {
        "study": study.name,
        "paper": study.paper,
        "artefact": study.artefact,
        "figure": figure,
        "table": table,
        "made": any(made.values()),
        "missing": [name for name in ("figure", "table") if not made[name]],
        "parts": [made["parts"], len(parts)],
        "solutions": [made["solutions"], len(solved)],
    }


def _line(one: Mapping[str, Any], width: int) -> str:
    (parts, of_parts), (solutions, of_solutions) = one["parts"], one["solutions"]
    state = "complete" if not one["missing"] else f"no {' or '.join(one['missing'])} yet"
    text = f"{one['study']:<{width}}  {state:<22}  {parts} of {counted(of_parts, 'part')}"
    return WrappedLine.of(text + (f", {solutions} of {counted(of_solutions, 'solution')}" if of_solutions else ""))


def show(args: argparse.Namespace) -> Answer:
    """Say which files a study has, or what a file is and which studies it is for."""
    path = Path(args.name)
    if path.suffix == ".h5" and not _is_study_file(path):
        return _show_file(args, path)
    from factormech.pipeline.provenance import study_of

    args.name = study_of(args.name)
    args.quick = args.quick or args.name.startswith("quick/")
    study, plan = study_named(args), _plan(args)
    data = _progress(plan, study)
    requests = plan.solved_for([study.name])
    files = [_request(file, request) for file, request in requests.items()]
    parts, of_parts = data["parts"]
    lines = [f"{study.name}: {study.paper}, {study.artefact}: {study.title}"]
    lines += pairs(
        {
            "figure": _marked(data["figure"], ", .svg, .png; caption .txt, notes .notes.txt"),
            "table": _marked(data["table"], ", .tex"),
            "results": _marked(f"results/{study.name}.h5"),
            "parts": f"{parts} of {of_parts} made, in results/parts/{study.name}",
            "solutions": f"{data['solutions'][0]} of {len(files)} made" if files else "none are needed",
        }
    )
    groups: dict[str, list[str]] = {}
    for file, request in requests.items():
        groups.setdefault(_kind_of(request), []).append(file)
    for kind, together in groups.items():
        lines += ["", f"{kind}:", *(WrappedLine.of(f"  {_marked(file)}") for file in together)]
    return Answer(data | {"files": files, "status": "ok"}, lines)


def _show_file(args: argparse.Namespace, path: Path) -> Answer:
    """A strategy, bound, factorization or part: by its request, and by what it holds if it is made."""
    plan, name = _plan(args), _relative(path)
    request = plan.requests.get(name)
    holds = _attributes(path) if path.is_file() else {}
    if request is None and not path.is_file():
        rule = "be a result file, or one that this configuration asks for"
        raise BadValue("FILE", str(path), rule, "list the files of a study with: factormech results show STUDY")
    studies = _users_of(plan, name)
    description = _described(request) if request is not None else "not asked for by this configuration"
    data = {"file": name, "made": path.is_file(), "description": description, "used_by": studies, "holds": holds}
    rows = {"file": _marked(name), "what": description, "studies": ", ".join(studies) or "none"}
    shown = {
        name: in_words(_parsed(holds[key])) for key, name in SHOWN.items() if holds.get(key) not in (None, "", "{}")
    }
    return Answer(data | {"status": "ok"}, pairs(rows | shown))


def _request(file: str, request: Solve) -> dict[str, Any]:
    return {"file": file, "made": _is_made(file), "description": _described(request)}


def _kind_of(request: Solve) -> str:
    """Return a label of what was solved, with the settings that the file's name does not spell out."""
    from factormech.labels import mechanism_label

    label = mechanism_label(request.name, request.options) if request.family == "strategy" else request.name
    return f"{FAMILIES[request.family]} {label}"


def _described(request: Solve) -> str:
    """A request in words: what, for which workload, at which budget, with which settings."""
    said = [f"{_kind_of(request)}: {request.workload}, n = {request.domain_size}"]
    said += [
        f"{name} = {value:g}" for name, value in (("ε", request.epsilon), ("α", request.alpha)) if value is not None
    ]
    said += [f"seed {request.seed}"] if request.seed is not None else []
    return ", ".join(said)


def _users_of(plan: Plan, file: str) -> list[str]:
    """The studies whose parts need a file, directly or as the start of another solve."""
    return [name for name in plan.studies if file in plan.solved_for([name]) or file in _parts(plan, name)]


def _parts(plan: Plan, study: str) -> Iterable[str]:
    return (_part(study, part) for part in plan.parts[study])


def _part(study: str, part: str) -> str:
    return f"results/parts/{study}/{part}.h5"


def _is_study_file(path: Path) -> bool:
    """Return whether it is the table of a whole study, ``results/{study}.h5``."""
    inner = ("strategies", "bounds", "factorizations", "parts", "workloads")
    return path.parts[:1] == ("results",) and len(path.parts) > 1 and path.parts[1] not in inner


def _relative(path: Path) -> str:
    """The path as the configuration has it, relative to the folder of the run."""
    absolute, here = path.absolute(), Path.cwd()
    return (absolute.relative_to(here) if absolute.is_relative_to(here) else path).as_posix()


def _attributes(path: Path) -> dict[str, Any]:
    from factormech.store import hdf5

    found = hdf5.read(path)
    kept = {key: value for key, value in found.attributes.items() if not any(mark in key for mark in _ORIGIN)}
    return {"kind": found.kind, **kept}


def _parsed(value: Any) -> Any:
    """Settings are kept as JSON texts."""
    try:
        return json.loads(value) if isinstance(value, str) and value[:1] in "{[" else value
    except json.JSONDecodeError:
        return value


def _is_made(file: str) -> bool:
    return Path(file).is_file()


def _count(files: Iterable[str]) -> int:
    return sum(map(_is_made, files))


def _marked(file: str, others: str = "") -> str:
    """A file with the suffixes of the files beside it, and whether it is there."""
    return f"{file}{others}{'' if _is_made(file) else ' (not made yet)'}"


def _plan(args: argparse.Namespace) -> Plan:
    from factormech.pipeline.planning import Plan

    return Plan(config_of(args))
