"""Measure one mechanism, exactly, on the data sets of a study."""

from __future__ import annotations

from pathlib import Path

from factormech import store
from factormech.data.files import read_all
from factormech.jobs.common import job_parser, options_of, read_workloads, run
from factormech.jobs.solutions import Asked, strategies_of
from factormech.measure.data_dependent import as_frame, measure_on_data
from factormech.measure.exact import questions_of


def main() -> None:
    """Read workloads and data, evaluate the mechanism at every point, write the table."""
    parser = job_parser(__doc__)
    parser.add_argument("--mechanism", required=True)
    parser.add_argument("--epsilons", type=float, nargs="+", required=True)
    parser.add_argument("--workloads", type=Path, nargs="+", required=True)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--root-seed", type=int, default=0)
    parser.add_argument("--strategies", type=Path, nargs="*", default=[], help="of a solved mechanism")
    parser.add_argument("--options", type=options_of, default={}, help="settings of its solver, in JSON")
    parser.add_argument("--data", nargs="+", required=True, help="names of data sets")
    parser.add_argument("--data-files", type=Path, nargs="*", default=[], help="of those that are no stand-ins")
    parser.add_argument("--output", type=Path, required=True)
    args = parser.parse_args()
    questions = questions_of(read_workloads(args.workloads, args.seeds))
    asked = Asked(args.mechanism, args.options, args.root_seed)
    strategies = strategies_of(asked, args.strategies, questions, args.epsilons)
    data = read_all(args.data, args.data_files)
    frame = as_frame(measure_on_data(args.mechanism, strategies, questions, args.epsilons, data))
    attributes = {"mechanism": args.mechanism, "epsilons": args.epsilons, "data": args.data, "code": args.code}
    store.write(args.output, "data-measurement", datasets={"measurements": frame}, attributes=attributes)


if __name__ == "__main__":
    run(main)
