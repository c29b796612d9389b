"""Evaluate lower bounds on the data sets of a study, and on the worst case."""

from __future__ import annotations

from pathlib import Path

from factormech import store
from factormech.data.files import read_all
from factormech.jobs.common import job_parser, read_workloads, run
from factormech.measure.data_dependent import as_frame, bounds_on_data
from factormech.measure.exact import questions_of


def main() -> None:
    """Read workloads and data, evaluate the bounds at every point, write the table."""
    parser = job_parser(__doc__)
    parser.add_argument("--bounds", nargs="+", required=True, help="on the worst case")
    parser.add_argument("--epsilons", type=float, nargs="+", required=True)
    parser.add_argument("--workloads", type=Path, nargs="+", required=True)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--data", nargs="+", required=True, help="names of data sets")
    parser.add_argument("--data-files", type=Path, nargs="*", default=[], help="of those that are no stand-ins")
    parser.add_argument("--output", type=Path, required=True)
    args = parser.parse_args()
    questions = questions_of(read_workloads(args.workloads, args.seeds))
    data = read_all(args.data, args.data_files)
    frame = as_frame(bounds_on_data(args.bounds, questions, args.epsilons, data))
    attributes = {"bounds": args.bounds, "epsilons": args.epsilons, "data": args.data, "code": args.code}
    store.write(args.output, "data-bounds", datasets={"bounds": frame}, attributes=attributes)


if __name__ == "__main__":
    run(main)
