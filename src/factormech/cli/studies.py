"""``factormech study`` and ``check``: what a configuration asks for."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from factormech.cli.answer import Answer
from factormech.errors import BadValue, UnknownName

if TYPE_CHECKING:
    from factormech.config.studies import Config, Study


def check(args: argparse.Namespace) -> Answer:
    """Whether a configuration is right, which data it uses, and what a run will take."""
    from factormech.planning import Plan

    config = _config(args)
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
        f"{args.config}: {len(studies)} studies, {points} measurements; "
        f"from nothing about {_duration(seconds / cores)} on {cores} cores"
    )
    data = {"file": str(args.config), "names": list(studies), "measurements": points, "data": used}
    data |= {"with_standins": replaced, "unjudged_claims": unjudged}
    return Answer(data | {"expected_seconds": seconds / cores, "cores": cores, "status": "ok"}, lines)


def _announced(studies: list[str], unjudged: list[str]) -> list[str]:
    """What synthetic data change, and how to get the real data."""
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
    from factormech.claims.ledger import read

    ledger, rules = Path("claims.yaml"), schema.with_name("claims.schema.yaml")
    if not studies or not (ledger.is_file() and rules.is_file()):
        return []
    names = {study.name.removeprefix("quick/") for study in studies}
    data = {name for study in studies for name in _public_data(study)}
    return [claim.id for claim in read(ledger, rules).need_data(data) if names & set(claim.studies)]


def _data(config: Config, studies: Iterable[Study]) -> tuple[list[str], str]:
    """Which data are used, and the folder they are in; a named folder that lacks a file ends here."""
    from factormech.data import files

    asked = list(dict.fromkeys(name for study in studies for name in study.asked.grid.get("data", ())))
    folder = files.named_folder(config.data, Path())
    if found := list(files.problems(asked, folder)):
        raise ValueError("\n".join(f"data: {problem}" for problem in found))
    return (files.resolved(asked, folder) if asked else []), str(folder or "")


def _duration(seconds: float) -> str:
    return f"{max(round(seconds), 1)} s" if seconds < 90 else f"{seconds / 60:.0f} min"


def listed(args: argparse.Namespace) -> Answer:
    """Every study with its grid, or with its files."""
    lines: list[str] = []
    found = []
    for name, study in _studies(args).items():
        lines += [_made(name)] if args.made else _lines(study)
        found.append(_object(study))
    return Answer({"file": str(args.config), "studies": found, "status": "ok"}, lines)


def _made(name: str) -> str:
    return f"figures/{name}.pdf  (.svg, .png, caption .txt, notes .notes.txt)   results/tables/{name}.csv  (.tex)"


def show(args: argparse.Namespace) -> Answer:
    """One study: what is asked, and what it makes."""
    from factormech.planning import Plan

    studies = {name.removeprefix("quick/"): study for name, study in _studies(args).items()}
    if args.name not in studies:
        raise UnknownName("study", args.name, studies)
    study = studies[args.name]
    seconds = Plan(_config(args)).seconds([study.name])
    rows = {
        "kind": study.kind,
        "alone": f"from nothing about {_duration(seconds)} on one core",
        "figure": f"figures/{study.name}.pdf  (.svg, .png, caption .txt, notes .notes.txt)",
        "table": f"results/tables/{study.name}.csv  (.tex), results/{study.name}.h5",
    }
    lines = [*_lines(study), *(f"  {key:<13} {value}" for key, value in rows.items())]
    return Answer(_object(study) | {"expected_seconds": seconds, "status": "ok"}, lines)


def _axes(study: Study) -> dict[str, Any]:
    """What the study ranges over, without what it leaves empty."""
    axes = dict((*study.asked.grid.items(), *study.asked.settings.items()))
    return {name: value for name, value in axes.items() if value not in ((), [], {}, None)}


def _lines(study: Study) -> list[str]:
    found = [f"{study.name}: {study.paper}, {study.artefact}: {study.title}"]
    for name, values in _axes(study).items():
        several = isinstance(values, (tuple, list))
        text = ", ".join(map(str, values)) if several else values
        found.append(f"  {name.replace('_', ' '):<13} {text}")
    return found


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
    config = _config(args)
    return config.quick_studies if args.quick else config.studies


def _config(args: argparse.Namespace) -> Config:
    from factormech.config.studies import load_file

    for name, path in (("--config", args.config), ("--schema", args.schema)):
        if not path.is_file():
            what = f"{path} ({'a folder' if path.is_dir() else 'no such file'})"
            raise BadValue(name, what, "be a file", f"run it in the project's folder, or give {name} FILE")
    return load_file(args.config, args.schema)
