"""Measure one mechanism, exactly, over the workloads and budgets of a study."""

from __future__ import annotations

from pathlib import Path

from factormech import store
from factormech.jobs.common import job_parser, options_of, read_workloads, run
from factormech.jobs.solutions import Asked, record_of, strategies_of
from factormech.measure.exact import as_frame, measure_mechanism, questions_of


def main() -> None:
    """Read the workloads, evaluate the mechanism at every point, write the table."""
    parser = job_parser(__doc__)
    parser.add_argument("--mechanism", required=True)
    parser.add_argument("--epsilons", type=float, nargs="+", required=True)
    parser.add_argument("--workloads", type=Path, nargs="+", required=True)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--root-seed", type=int, default=0)
    parser.add_argument("--strategies", type=Path, nargs="*", default=[], help="of a solved mechanism")
    parser.add_argument("--options", type=options_of, default={}, help="settings of its solver, in JSON")
    parser.add_argument("--output", type=Path, required=True)
    args = parser.parse_args()
    questions = questions_of(read_workloads(args.workloads, args.seeds))
    asked = Asked(args.mechanism, args.options, args.root_seed)
    strategies = strategies_of(asked, args.strategies, questions, args.epsilons)
    measured = measure_mechanism(args.mechanism, strategies, questions, args.epsilons, record_of(strategies))
    frame = as_frame(measured)
    attributes = {"mechanism": args.mechanism, "epsilons": args.epsilons, "code": args.code}
    store.write(args.output, "measurement", datasets={"measurements": frame}, attributes=attributes)


if __name__ == "__main__":
    run(main)
