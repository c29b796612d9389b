"""Solve for one mechanism and one workload from several random starts, with several numbers of rows."""

from __future__ import annotations

from pathlib import Path

from factormech import store
from factormech.jobs.common import job_parser, read_workloads, run
from factormech.measure.exact import as_frame, questions_of
from factormech.measure.starts import Starts, measure_starts


def main() -> None:
    """Read the workload at its sizes, solve from every start, write the table."""
    parser = job_parser(__doc__)
    parser.add_argument("--mechanism", required=True)
    parser.add_argument("--epsilons", type=float, nargs="+", required=True)
    parser.add_argument("--rows", type=int, nargs="+", required=True, help="of the starts, over the domain size")
    parser.add_argument("--starts", type=int, required=True, help="how many, for each number of rows")
    parser.add_argument("--root-seed", type=int, required=True)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--workloads", type=Path, nargs="+", required=True)
    parser.add_argument("--output", type=Path, required=True)
    args = parser.parse_args()
    questions = questions_of(read_workloads(args.workloads, args.seeds))
    wanted = Starts(args.rows, args.starts, args.root_seed)
    frame = as_frame(measure_starts(args.mechanism, questions, args.epsilons, wanted))
    attributes = {
        "mechanism": args.mechanism,
        "epsilons": args.epsilons,
        "rows": args.rows,
        "starts": args.starts,
        "root_seed": args.root_seed,
        "code": args.code,
    }
    store.write(args.output, "starts", datasets={"starts": frame}, attributes=attributes)


if __name__ == "__main__":
    run(main)
