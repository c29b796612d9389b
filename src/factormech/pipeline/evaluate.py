"""Evaluate one part of a study, or several, each into a file of its own."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from factormech.data.files import given
from factormech.pipeline.common import job_parser, run
from factormech.spec import shared
from factormech.store import hdf5
from factormech.studies.asked import Asked
from factormech.studies.base import Experiment
from factormech.studies.registry import experiment
from factormech.tables.rows import part_of


def main() -> None:
    """Read the request and the solutions, measure, and write the rows."""
    parser = job_parser(__doc__)
    parser.add_argument("--kind", required=True)
    parser.add_argument("--study", required=True)
    parser.add_argument("--part", nargs="+", required=True, help="names among the parts of the study")
    parser.add_argument("--asked", nargs="+", required=True, help="what each part is asked, in JSON")
    parser.add_argument("--solved", type=Path, nargs="*", default=[], help="files of what the part needs solved")
    words = "read the files of everything that the part needs solved: they may be more than a command line holds"
    parser.add_argument("--planned", action="store_true", help=words)
    parser.add_argument("--data", nargs="?", default=None, help="the folder of the data sets, if there is one")
    parser.add_argument("--output", type=Path, nargs="+", required=True, help="a file for each part")
    args = parser.parse_args()
    kind = experiment(args.kind)
    for part, text, output in zip(args.part, args.asked, args.output, strict=True):
        evaluate(args, kind, part, Asked.from_json(text), output)


def evaluate(args: argparse.Namespace, kind: Experiment, part: str, asked: Asked, output: Path) -> None:
    """Measure a part and write its rows."""
    solved = args.solved
    if args.planned:
        solved = [Path(request.file) for request in dict.fromkeys(kind.solves(asked))]
    with shared(solved), given(Path(args.data) if args.data else None):
        frame = part_of(kind, args.study, kind.measure(asked))
    attributes = {
        "kind_of_study": kind.kind,
        "study": args.study,
        "part": part,
        "asked": json.loads(asked.to_json()),
        "solved": [str(path) for path in solved],
        "root_seed": asked.seed,
        "code": args.code,
    }
    hdf5.write(output, "part", datasets={"rows": frame}, attributes=attributes)


if __name__ == "__main__":
    run(main)
