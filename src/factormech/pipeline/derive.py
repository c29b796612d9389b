"""A table that is made from the table of a study, such as by how much a mechanism improves on the others."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from factormech.errors import UnknownName
from factormech.pipeline.common import job_parser, run
from factormech.studies.asked import Asked
from factormech.studies.registry import experiment
from factormech.tables import kinds as tables


def main() -> None:
    """Read the table, make the other one, write CSV and LaTeX."""
    parser = job_parser(__doc__)
    parser.add_argument("--kind", required=True)
    parser.add_argument("--what", required=True, help="which table, as the kind names it")
    parser.add_argument("--asked", required=True, help="what the study asks, in JSON")
    parser.add_argument("--table", type=Path, required=True)
    parser.add_argument("--csv", type=Path, required=True)
    parser.add_argument("--latex", type=Path, required=True)
    args = parser.parse_args()
    asked = Asked.from_json(args.asked)
    known = experiment(args.kind).derived(asked)
    if args.what not in known:
        raise UnknownName("--what", args.what, known)
    module, _, function = known[args.what].partition(":")
    frame = getattr(import_module(module), function)(tables.read_csv(args.table), asked)
    tables.write(frame, args.csv, args.latex)


if __name__ == "__main__":
    run(main)
