"""Run simulated collections of one mechanism over the grid of a study, beside their exact errors."""

from __future__ import annotations

from pathlib import Path

from factormech import store
from factormech.jobs.common import job_parser, options_of, read_workloads, run
from factormech.jobs.solutions import Asked, strategies_of
from factormech.measure.collection import CollectionGrid, as_frame, collect
from factormech.measure.exact import questions_of


def main() -> None:
    """Read the workloads, run the collections, write the table."""
    parser = job_parser(__doc__)
    parser.add_argument("--mechanism", required=True)
    parser.add_argument("--epsilons", type=float, nargs="+", required=True)
    parser.add_argument("--users", type=int, nargs="+", required=True)
    parser.add_argument("--populations", nargs="+", required=True)
    parser.add_argument("--trials", type=int, required=True)
    parser.add_argument("--level", type=float, required=True)
    parser.add_argument("--root-seed", type=int, required=True)
    parser.add_argument("--seeds", type=int, nargs="+", required=True)
    parser.add_argument("--workloads", type=Path, nargs="+", required=True)
    parser.add_argument("--strategies", type=Path, nargs="*", default=[], help="of a solved mechanism")
    parser.add_argument("--options", type=options_of, default={}, help="settings of its solver, in JSON")
    parser.add_argument("--output", type=Path, required=True)
    args = parser.parse_args()
    questions = questions_of(read_workloads(args.workloads, args.seeds))
    asked = Asked(args.mechanism, args.options, args.root_seed)
    strategies = strategies_of(asked, args.strategies, questions, args.epsilons)
    grid = CollectionGrid(args.users, args.populations, args.trials, level=args.level, root_seed=args.root_seed)
    frame = as_frame(collect(args.mechanism, strategies, questions, args.epsilons, grid))
    attributes = {
        "mechanism": args.mechanism,
        "epsilons": args.epsilons,
        "users": args.users,
        "populations": args.populations,
        "trials": args.trials,
        "level": args.level,
        "root_seed": args.root_seed,
        "code": args.code,
    }
    store.write(args.output, "collections", datasets={"collections": frame}, attributes=attributes)


if __name__ == "__main__":
    run(main)
