"""Find the strategy of a solved mechanism for one workload, and one budget unless it serves all."""

from __future__ import annotations

import json
from pathlib import Path

from factormech import store
from factormech.jobs.common import job_parser, options_of, read_workload, run
from factormech.jobs.progress import progress
from factormech.local.registry import restore, rng_of, solve


def main() -> None:
    """Read the workload, solve, write the strategy with its record."""
    parser = job_parser(__doc__)
    parser.add_argument("--mechanism", required=True)
    parser.add_argument("--epsilon", type=float, default=None, help="none where one strategy serves every budget")
    parser.add_argument("--root-seed", type=int, required=True)
    parser.add_argument("--seed", type=int, default=None, help="none where chance has no part")
    parser.add_argument("--options", type=options_of, default={}, help="settings of the solver, in JSON")
    parser.add_argument("workload", type=Path)
    parser.add_argument("--output", type=Path, required=True)
    args = parser.parse_args()
    workload, _ = read_workload(args.workload)
    rng = rng_of(args.mechanism, workload, args.epsilon, args.root_seed, args.seed or 0)
    solution = solve(args.mechanism, workload, args.epsilon, rng, args.options, progress())
    if args.epsilon is not None:
        restore(args.mechanism, solution, args.epsilon)  # what is written is private: refused here, not when it is read
    attributes = {
        "mechanism": args.mechanism,
        "workload": workload.name,
        "domain_size": workload.domain_size,
        "epsilon": args.epsilon,
        "root_seed": args.root_seed,
        "seed": args.seed,
        "options": json.dumps(args.options, sort_keys=True),
        "code": args.code,
        **solution.record,
    }
    store.write(args.output, "strategy", datasets=solution.datasets, attributes=attributes)


if __name__ == "__main__":
    run(main)
