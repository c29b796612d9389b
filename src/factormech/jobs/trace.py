"""Solve for one mechanism: what it had found after how many seconds of the processor."""

from __future__ import annotations

from pathlib import Path

from factormech import store
from factormech.jobs.common import job_parser, read_workloads, run
from factormech.measure.exact import as_frame, questions_of
from factormech.measure.timing import trace


def main() -> None:
    """Read the workloads, solve, write the table."""
    parser = job_parser(__doc__)
    parser.add_argument("--mechanism", required=True)
    parser.add_argument("--epsilons", type=float, nargs="+", required=True)
    parser.add_argument("--root-seed", type=int, required=True)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--workloads", type=Path, nargs="+", required=True)
    parser.add_argument("--output", type=Path, required=True)
    args = parser.parse_args()
    questions = questions_of(read_workloads(args.workloads, args.seeds))
    frame = as_frame(trace(args.mechanism, questions, args.epsilons, args.root_seed))
    attributes = {
        "mechanism": args.mechanism,
        "epsilons": args.epsilons,
        "root_seed": args.root_seed,
        "code": args.code,
    }
    store.write(args.output, "traces", datasets={"traces": frame}, attributes=attributes)


if __name__ == "__main__":
    run(main)
