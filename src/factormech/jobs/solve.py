"""Find the strategy of a solved mechanism for one workload, and one budget unless it serves all."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from factormech import store
from factormech.errors import BadValue
from factormech.jobs.common import job_parser, options_of, read_workload, run
from factormech.jobs.progress import progress
from factormech.local.registry import begins_with, restore, solution_for, strategy_spec
from factormech.local.solved import Options, Solution


def main() -> None:
    """Read the workload, solve, write the strategy with its record."""
    parser = job_parser(__doc__)
    parser.add_argument("--mechanism", required=True)
    parser.add_argument("--epsilon", type=float, default=None, help="none where one strategy serves every budget")
    parser.add_argument("--root-seed", type=int, required=True)
    parser.add_argument("--seed", type=int, default=None, help="none where chance has no part")
    parser.add_argument("--options", type=options_of, default={}, help="settings of the solver, in JSON")
    parser.add_argument("--start", type=Path, nargs="?", help="the strategy file that the solver begins with, if any")
    parser.add_argument("workload", type=Path)
    parser.add_argument("--output", type=Path, required=True)
    args = parser.parse_args()
    workload, _ = read_workload(args.workload)
    spec = strategy_spec(
        args.mechanism, workload, args.epsilon, options=args.options, seed=args.seed, root_seed=args.root_seed
    )
    asked = {
        "mechanism": args.mechanism,
        "workload": workload.name,
        "domain_size": workload.domain_size,
        "epsilon": args.epsilon,
        "root_seed": args.root_seed,
        "seed": args.seed,
    }
    start = None if args.start is None else started(args.start, asked, args.options)
    solution = solution_for(spec, workload, progress(), start)
    if args.epsilon is not None:
        restore(args.mechanism, solution, args.epsilon)  # what is written is private: refused here, not when it is read
    options = json.dumps(args.options, sort_keys=True)
    attributes = {**asked, "options": options, "code": args.code, **solution.record}
    store.write(args.output, "strategy", datasets=solution.datasets, attributes=attributes)


def started(path: Path, asked: Mapping[str, Any], options: Options) -> Solution:
    """The solution that the solver begins with, if it is of the same question."""
    kept = store.read(path, "strategy")
    rest = begins_with(str(asked["mechanism"]), options, int(asked["domain_size"]))
    for key, value in {**asked, "options": json.dumps(rest, sort_keys=True)}.items():
        if kept.attributes[key] != value:
            raise BadValue(f"{path}: {key}", kept.attributes[key], f"be {value}", "give the start of the same solve")
    return Solution(kept.datasets, kept.attributes)


if __name__ == "__main__":
    run(main)
