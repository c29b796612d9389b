"""``factormech``: one question answered without a workflow.

Exit codes: 0 answered, 1 a wrong value or file, 2 wrong usage.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from factormech.config.studies import Study

SCHEMA = Path("workflow/schemas/config.schema.yaml")


def main(arguments: Sequence[str] | None = None) -> None:
    """Parse the command line, answer, exit."""
    args = _parser().parse_args(arguments)
    try:
        args.answer(args)
    except ValueError as error:
        sys.exit(f"error: {error}" if hasattr(error, "remedy") else str(error))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="factormech", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    check = commands.add_parser("check", help="check a configuration, and say what a run will take")
    _configured(check)
    check.set_defaults(answer=_check)

    study = commands.add_parser("study", help="the studies of a configuration").add_subparsers(required=True)
    listing = study.add_parser("list", help="their names, grids and files")
    _configured(listing)
    listing.add_argument("--made", action="store_true", help="only say where the figures and tables are")
    listing.set_defaults(answer=_list_studies)

    show = study.add_parser("show", help="one of them, with its kind, its cost and its files")
    show.add_argument("name")
    _configured(show)
    show.set_defaults(answer=_show_study)

    workload = commands.add_parser("workload", help="the workloads").add_subparsers(required=True)
    workload.add_parser("list", help="the registered families").set_defaults(answer=_list_workloads)
    describe = workload.add_parser("describe", help="numbers of one workload")
    describe.add_argument("name", help="a registered name, or a CSV, NPY, MTX or HDF5 file")
    describe.add_argument("--domain-size", type=int, help="number of user types (a file brings its own)")
    describe.add_argument("--seed", type=int, default=0)
    describe.set_defaults(answer=_describe_workload)
    return parser


def _configured(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--config", type=Path, default=Path("config.yaml"))
    parser.add_argument("--schema", type=Path, default=SCHEMA)
    parser.add_argument("--quick", action="store_true", help="the small grids")


def _check(args: argparse.Namespace) -> None:
    from factormech.measure.estimate import norm_points, run_seconds

    studies = _studies(args)
    _check_data(args, studies.values())
    points = sum(len(s.grid.points()) * len(s.mechanisms) for s in studies.values())
    points += sum(len(norm_points(s, norm)) for s in studies.values() for norm in s.norms)
    points += sum(len(list(s.asked.points())) for s in studies.values() if s.asked is not None)
    seconds = run_seconds(list(studies.values()))
    cores = os.cpu_count() or 1
    print(
        f"{args.config}: {len(studies)} studies, {points} measurements; "
        f"from nothing about {_duration(seconds / cores)} on {cores} cores"
    )


def _check_data(args: argparse.Namespace, studies: Iterable[Study]) -> None:
    """Say which data are used; a named folder that lacks a file ends here."""
    from factormech.config.studies import read_yaml
    from factormech.data import files

    asked = list(dict.fromkeys(name for study in studies for name in study.grid.data))
    folder = files.named_folder(read_yaml(args.config).get("data"), args.config.resolve().parent)
    if found := list(files.problems(asked, folder)):
        sys.exit("\n".join(f"data: {problem}" for problem in found))
    if asked:
        print(f"data: {', '.join(files.resolved(asked, folder))}" + (f" from {folder}" if folder else ""))


def _duration(seconds: float) -> str:
    return f"{max(round(seconds), 1)} s" if seconds < 90 else f"{seconds / 60:.0f} min"


def _list_studies(args: argparse.Namespace) -> None:
    for name, study in _studies(args).items():
        if args.made:
            print(f"figures/{name}.pdf  (.svg, .png, caption .txt)   results/tables/{name}.csv  (.tex)")
            continue
        _print_study(study)


def _show_study(args: argparse.Namespace) -> None:
    """One study: what is asked, and what it makes."""
    from factormech.errors import UnknownName
    from factormech.measure.estimate import run_seconds

    studies = {name.removeprefix("quick/"): study for name, study in _studies(args).items()}
    if args.name not in studies:
        raise UnknownName("study", args.name, studies)
    study = studies[args.name]
    _print_study(study)
    print(f"  {'kind':<13} {study.kind}")
    print(f"  {'alone':<13} from nothing about {_duration(run_seconds([study]))} on one core")
    print(f"  {'figure':<13} figures/{study.name}.pdf  (.svg, .png, caption .txt)")
    print(f"  {'table':<13} results/tables/{study.name}.csv  (.tex), results/{study.name}.h5")


def _print_study(study: Study) -> None:
    grid, asked = study.grid, study.asked
    print(f"{study.name}: {study.paper}, {study.artefact}: {study.title}")
    axes: dict[str, Any] = {
        "workloads": grid.workloads,
        "domain sizes": grid.domain_sizes,
        "epsilons": grid.epsilons,
        "alphas": grid.alphas,
        "mechanisms": study.mechanisms,
        "norms": study.norms,
    }
    if asked is not None:
        axes = {name.replace("_", " "): value for name, value in (*asked.grid.items(), *asked.settings.items())}
    for name, values in axes.items():
        if values not in ((), [], None):
            several = isinstance(values, (tuple, list))
            print(f"  {name:<13} {', '.join(map(str, values)) if several else values}")


def _studies(args: argparse.Namespace):  # type: ignore[no-untyped-def]
    from factormech.config.studies import load, read_yaml

    config = load(read_yaml(args.config), args.schema, base=args.config.resolve().parent)
    return config.quick_studies if args.quick else config.studies


def _list_workloads(args: argparse.Namespace) -> None:
    from factormech.workloads.registry import names

    print("\n".join(names()))


def _describe_workload(args: argparse.Namespace) -> None:
    from factormech.errors import BadValue
    from factormech.workloads.base import Workload
    from factormech.workloads.matrix import from_file
    from factormech.workloads.registry import create, resolve

    path = Path(args.name)
    if path.suffix:
        workload: Workload = from_file(path)
    else:
        resolve(args.name)
        if args.domain_size is None:
            raise BadValue(
                "--domain-size", None, "be given for a registered workload", "add for example --domain-size 64"
            )
        workload = create(args.name, args.domain_size, seed=args.seed)
    values, centred = workload.singular_values(), workload.centred_singular_values()
    sums = workload.column_sums()
    rows = {
        "workload": workload.name,
        "domain size": f"{workload.domain_size}",
        "queries": f"{workload.queries}",
        "Frobenius norm": f"{workload.frobenius_squared() ** 0.5:.10g}",
        "column sums": f"{sums.min():.10g} to {sums.max():.10g}",
        "rank": f"{int((values > 0).sum())}",
        "singular values": f"{values[0]:.10g} to {values[-1]:.10g}, sum {values.sum():.10g}",
        "centred, sum": f"{centred.sum():.10g}",
        "symmetry": "translations of the bits" if workload.walsh_spectrum() is not None else "none known",
    }
    for key, value in rows.items():
        print(f"{key:16} {value}")
