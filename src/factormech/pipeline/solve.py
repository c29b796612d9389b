"""Solve one request: a strategy, a lower bound or a factorization, each by a module of its own.

So the code of a solution is that of its family, and a change of norms makes no strategy again.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from factormech.pipeline.common import job_parser, run
from factormech.store import hdf5
from factormech.studies.solves import Solve


def main() -> None:
    """Make the workload, solve, write the solution with the request and the solver's record."""
    parser = job_parser(__doc__)
    parser.add_argument("--solve", type=Solve.from_json, required=True, help="what is solved, in JSON")
    parser.add_argument("--start", type=Path, nargs="?", help="the strategy file that the solver begins with, if any")
    parser.add_argument("--output", type=Path, required=True)
    args = parser.parse_args()
    request: Solve = args.solve
    workload = request.made()
    datasets, record = import_module(f"factormech.pipeline.solve_{request.family}").solve(request, workload, args.start)
    attributes = {
        "request": request.to_json(),
        "spec": request.spec(workload).text,
        "workload": request.workload,
        "domain_size": request.domain_size,
        "definition": request.definitions,
        "epsilon": request.epsilon,
        "root_seed": request.root_seed,
        "seed": request.seed,
        "code": args.code,
        **record,
    }
    hdf5.write(args.output, request.family, datasets=datasets, attributes=attributes)


if __name__ == "__main__":
    run(main)
