"""Single iterations of the published optimiser, in seconds of the processor."""

from __future__ import annotations

from pathlib import Path

from factormech import store
from factormech.jobs.common import job_parser, run
from factormech.measure.exact import as_frame
from factormech.measure.timing import time_iterations


def main() -> None:
    """Clock, write the table."""
    parser = job_parser(__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", required=True)
    parser.add_argument("--output", type=Path, required=True)
    args = parser.parse_args()
    attributes = {"sizes": args.sizes, "code": args.code}
    frame = as_frame(time_iterations(args.sizes))
    store.write(args.output, "iterations", datasets={"iterations": frame}, attributes=attributes)


if __name__ == "__main__":
    run(main)
