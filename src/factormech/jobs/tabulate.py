"""Put the results of a study into its table: CSV, LaTeX and HDF5."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from factormech import store
from factormech.errors import BadValue
from factormech.jobs.common import job_parser, options_of, run
from factormech.measure.registry import Tabulated, function_of, tabulated
from factormech.tables import kinds as tables


def main() -> None:
    """Read measurements and what they are held against, make the table of the study's kind, write its three forms."""
    parser = job_parser(__doc__)
    parser.add_argument("--kind", required=True)
    parser.add_argument("--study", required=True)
    parser.add_argument("--measured", type=Path, nargs="+", required=True)
    parser.add_argument("--bounds", type=Path, default=None, help="of the kinds that have lower bounds")
    parser.add_argument("--iterations", type=Path, default=None, help="clocked, of a kind that has them")
    parser.add_argument("--settings", type=options_of, default={}, help="that the table depends on, in JSON")
    parser.add_argument("--csv", type=Path, required=True)
    parser.add_argument("--latex", type=Path, required=True)
    parser.add_argument("--hdf5", type=Path, required=True)
    args = parser.parse_args()
    how = tabulated(args.kind)
    _check(args, how)
    frame = function_of(args.kind)(args.study, *_frames(args, how), **_settings(args))
    tables.write(frame, args.csv, args.latex)
    attributes = {"study": args.study, **args.settings, "code": args.code}
    store.write(args.hdf5, "table", datasets={"table": frame}, attributes=attributes)


def _check(args: argparse.Namespace, how: Tabulated) -> None:
    """Refuse what the kind lacks, and its lack of what it has."""
    for name, wanted in (("bounds", bool(how.bounds)), ("iterations", how.iterations)):
        if wanted != (getattr(args, name) is not None):
            rule = f"{'be given' if wanted else 'not be given'} for a study of kind {args.kind}"
            raise BadValue(f"--{name}", getattr(args, name), rule, "let the workflow call the job")
    if set(args.settings) != set(how.settings):
        found, rule = sorted(args.settings), f"be {', '.join(how.settings) or 'empty'} for kind {args.kind}"
        raise BadValue("--settings", found, rule, "let the workflow call the job")


def _frames(args: argparse.Namespace, how: Tabulated) -> list[Any]:
    """The measurements and, where there is one, the bounds."""
    kind, dataset = how.measured
    measured = [store.read(path, kind)[dataset] for path in args.measured]
    return [measured, *([store.read(args.bounds, how.bounds)["bounds"]] if how.bounds else [])]


def _settings(args: argparse.Namespace) -> dict[str, Any]:
    if args.iterations is None:
        return dict(args.settings)
    return {**args.settings, "iterations": store.read(args.iterations, "iterations")["iterations"]}


if __name__ == "__main__":
    run(main)
