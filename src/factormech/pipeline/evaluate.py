"""Evaluate one part of a study."""

from __future__ import annotations

import json
from pathlib import Path

from factormech.data.files import given
from factormech.pipeline.common import job_parser, run
from factormech.spec import shared
from factormech.store import hdf5
from factormech.studies.asked import Asked
from factormech.studies.registry import experiment
from factormech.tables.rows import part_of


def main() -> None:
    """Read the request and the solutions, measure, and write the rows."""
    parser = job_parser(__doc__)
    parser.add_argument("--kind", required=True)
    parser.add_argument("--study", required=True)
    parser.add_argument("--part", required=True, help="its name among the parts of the study")
    parser.add_argument("--asked", required=True, help="what the study asks, in JSON")
    parser.add_argument("--solved", type=Path, nargs="*", default=[], help="files of what the part needs solved")
    words = "read the files of everything that the part needs solved: they may be more than a command line holds"
    parser.add_argument("--planned", action="store_true", help=words)
    parser.add_argument("--data", nargs="?", default=None, help="the folder of the data sets, if there is one")
    parser.add_argument("--output", type=Path, required=True)
    args = parser.parse_args()
    kind, asked = experiment(args.kind), Asked.from_json(args.asked)
    solved = args.solved
    if args.planned:
        solved = [Path(request.file) for request in dict.fromkeys(kind.solves(asked))]
    with shared(solved), given(Path(args.data) if args.data else None):
        frame = part_of(kind, args.study, kind.measure(asked))
    attributes = {
        "kind_of_study": kind.kind,
        "study": args.study,
        "part": args.part,
        "asked": json.loads(asked.to_json()),
        "solved": [str(path) for path in solved],
        "root_seed": asked.seed,
        "code": args.code,
    }
    hdf5.write(args.output, "part", datasets={"rows": frame}, attributes=attributes)


if __name__ == "__main__":
    run(main)
