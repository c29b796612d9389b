"""Evaluate lower bounds over the workloads and budgets of a study."""

from __future__ import annotations

from pathlib import Path

from factormech import store
from factormech.jobs.common import job_parser, read_workloads, run
from factormech.measure.exact import as_frame, measure_bounds


def main() -> None:
    """Read the workloads, evaluate every bound at every point, write the table."""
    parser = job_parser(__doc__)
    parser.add_argument("--bounds", nargs="+", required=True)
    parser.add_argument("--epsilons", type=float, nargs="+", required=True)
    parser.add_argument("--workloads", type=Path, nargs="+", required=True)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--output", type=Path, required=True)
    args = parser.parse_args()
    workloads = list(read_workloads(args.workloads, args.seeds))
    frame = as_frame(measure_bounds(args.bounds, workloads, args.epsilons))
    attributes = {"bounds": args.bounds, "epsilons": args.epsilons, "code": args.code}
    store.write(args.output, "bounds", datasets={"bounds": frame}, attributes=attributes)


if __name__ == "__main__":
    run(main)
