"""``factormech study`` and ``check``: the studies of a configuration."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from factormech.cli.answer import Answer, WrappedLine, counted, pairs, short, terminal_width
from factormech.cli.progress import duration
from factormech.errors import BadValue, UnknownName

if TYPE_CHECKING:
    from factormech.config.studies import Config, Study


def check(args: argparse.Namespace) -> Answer:
    """Check a configuration, and say which data it uses and how long a run will take."""
    from factormech.pipeline.planning import Plan

    config = config_of(args)
    studies = config.quick_studies if args.quick else config.studies
    used, folder = _data(config, studies.values())
    plan = Plan(config)
    points = plan.measurements(studies)
    seconds, cores = plan.seconds(studies), os.cpu_count() or 1
    replaced = [] if folder else [name for name, study in studies.items() if _public_data(study)]
    unjudged = _unjudged(args.schema, [studies[name] for name in replaced])
    lines = [f"data: {', '.join(used)}" + (f" from {folder}" if folder else "")] if used else []
    lines += _announced(replaced, unjudged) if replaced else []
    lines.append(
        f"{args.config}: {counted(len(studies), 'study', 'studies')}, {counted(points, 'measurement')}; "
        f"from nothing about {duration(seconds / cores)} on {counted(cores, 'core')}"
    )
    data = {"file": str(args.config), "names": list(studies), "measurements": points, "data": used}
    data |= {"with_standins": replaced, "unjudged_claims": unjudged}
    return Answer(data | {"expected_seconds": seconds / cores, "cores": cores, "status": "ok"}, lines)


def init(args: argparse.Namespace) -> Answer:
    """Begin a project in a folder, and say what to type next."""
    from factormech.shipped import start_project

    written = start_project(args.folder, args.study)
    lines = [f"{args.folder}: {', '.join(str(path.relative_to(args.folder)) for path in written)}"]
    there = "" if args.folder.resolve() == Path.cwd() else f"cd {args.folder} && "
    lines.append(f"next: {there}factormech check && snakemake --quiet rules")
    return Answer({"file": str(args.folder), "names": args.study or ["first"], "status": "ok"}, lines)


def _announced(studies: list[str], unjudged: list[str]) -> list[str]:
    """Return lines on what synthetic data change, and how to get the real data."""
    claims = f"; {len(unjudged)} claims about the data sets are not judged" if unjudged else ""
    return [
        f"      the data sets are not here: synthetic stand-ins are used in {', '.join(studies)}{claims}",
        "      to fetch the data sets: source .venv/bin/activate && snakemake data",
    ]


def _public_data(study: Study) -> list[str]:
    """The public data sets in the grid of a study."""
    from factormech.data.registry import PUBLIC

    return [name for name in study.asked.grid.get("data", ()) if name in PUBLIC]


def _unjudged(schema: Path, studies: list[Study]) -> list[str]:
    """The claims that the project's ledger cannot judge on stand-ins in these studies."""
    from factormech.claims.ledger import files_in, read

    ledger, rules = files_in(Path("studies")), schema.with_name("claims.schema.yaml")
    if not studies or not (ledger and rules.is_file()):
        return []
    names = {study.name.removeprefix("quick/") for study in studies}
    data = {name for study in studies for name in _public_data(study)}
    return [claim.id for claim in read(ledger, rules).need_data(data) if names & set(claim.studies)]


def _data(config: Config, studies: Iterable[Study]) -> tuple[list[str], str]:
    """Return the data sets that are used and their folder; a named folder that lacks a file is refused."""
    from factormech.data import files

    asked = list(dict.fromkeys(name for study in studies for name in study.asked.grid.get("data", ())))
    folder = files.named_folder(config.data, Path())
    if found := list(files.problems(asked, folder)):
        raise ValueError("\n".join(f"data: {problem}" for problem in found))
    return (files.resolved(asked, folder) if asked else []), str(folder or "")


def listed(args: argparse.Namespace) -> Answer:
    """List the studies, a line each by paper: name, item of the paper, title; those alone that have a text in them."""
    wanted = (args.text or "").casefold()
    found = {name: study for name, study in _studies(args).items() if wanted in _searched(study).casefold()}
    if not found:
        rule = "be part of the name, paper, item or title of a study"
        raise BadValue("TEXT", args.text, rule, "leave it out for all studies")
    lines = [_made(name) for name in found] if args.made else _by_paper(found)
    return Answer(
        {"file": str(args.config), "studies": [_object(study) for study in found.values()], "status": "ok"}, lines
    )


def _searched(study: Study) -> str:
    return f"{study.name} {study.paper} {study.artefact} {study.title}"


def _by_paper(found: Mapping[str, Study]) -> list[str]:
    """A heading for each paper, and a line for each of its studies."""
    name_width = max(map(len, found))
    room = terminal_width() or 120
    item_width = min(max(len(study.artefact) for study in found.values()), max((room - name_width - 4) // 2, 12))
    lines: list[str] = []
    for paper in dict.fromkeys(study.paper for study in found.values()):
        lines += ["", paper] if lines else [paper]
        for study in (one for one in found.values() if one.paper == paper):
            item = short(study.artefact, item_width)
            left = room - name_width - item_width - 6
            title = short(study.title, left) if left > 12 else ""
            lines.append(WrappedLine.of(f"  {study.name:<{name_width}}  {item:<{item_width}}  {title}".rstrip()))
    several = counted(len(found), "study", "studies")
    return [*lines, "", f"{several}; factormech study show STUDY has the settings and files of one"]


def _made(name: str) -> str:
    return f"figures/{name}.pdf  (.svg, .png, caption .txt, notes .notes.txt)   results/tables/{name}.csv  (.tex)"


def show(args: argparse.Namespace) -> Answer:
    """Say what one study asks, and what it makes."""
    from factormech.mechanisms.base import in_words
    from factormech.pipeline.planning import Plan

    study = study_named(args)
    seconds = Plan(config_of(args)).seconds([study.name])
    rows = {name.replace("_", " "): in_words(values) for name, values in _axes(study).items()}
    rows |= {
        "kind": study.kind,
        "expected": f"from nothing about {duration(seconds)} on one core",
        "figure": f"figures/{study.name}.pdf  (.svg, .png, caption .txt, notes .notes.txt)",
        "table": f"results/tables/{study.name}.csv  (.tex), results/{study.name}.h5",
    }
    lines = [f"{study.name}: {study.paper}, {study.artefact}: {study.title}", *pairs(rows)]
    return Answer(_object(study) | {"expected_seconds": seconds, "status": "ok"}, lines)


def study_named(args: argparse.Namespace) -> Study:
    """Return the study that is named, with or without the quick run's prefix."""
    studies = {name.removeprefix("quick/"): study for name, study in _studies(args).items()}
    if args.name.removeprefix("quick/") not in studies:
        raise UnknownName("study", args.name, studies)
    return studies[args.name.removeprefix("quick/")]


def _axes(study: Study) -> dict[str, Any]:
    """The grid and the settings of a study, without those that are empty."""
    axes = dict((*study.asked.grid.items(), *study.asked.settings.items()))
    return {name: value for name, value in axes.items() if value not in ((), [], {}, None)}


def _object(study: Study) -> dict[str, Any]:
    return {
        "study": study.name,
        "kind": study.kind,
        "paper": study.paper,
        "artefact": study.artefact,
        "title": study.title,
        "grid": _axes(study),
        "figure": f"figures/{study.name}.pdf",
        "table": f"results/tables/{study.name}.csv",
    }


def _studies(args: argparse.Namespace) -> Mapping[str, Study]:
    config = config_of(args)
    return config.quick_studies if args.quick else config.studies


def config_of(args: argparse.Namespace) -> Config:
    """Return the checked configuration that the options name."""
    from factormech.config.studies import load_file

    for name, path in (("--config", args.config), ("--schema", args.schema)):
        if not path.is_file():
            what = f"{path} ({'a folder' if path.is_dir() else 'no such file'})"
            remedy = f"run it in the project's folder, begin one (factormech init FOLDER), or give {name} FILE"
            raise BadValue(name, what, "be a file", remedy)
    return load_file(args.config, args.schema)
