"""Solve one request: the strategy of a mechanism, a lower bound, or the factorization for a norm."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from factormech import store
from factormech.errors import BadValue
from factormech.experiments.solves import Solve, start_of
from factormech.jobs.common import job_parser, run
from factormech.jobs.progress import progress
from factormech.workloads.base import Workload

# Datasets, and what else is said of them.
Solved: TypeAlias = tuple[Mapping[str, Any], Mapping[str, Any]]


def main() -> None:
    """Make the workload, solve, write the solution with the request and the solver's record."""
    parser = job_parser(__doc__)
    parser.add_argument("--request", type=Solve.from_json, required=True, help="what is solved, in JSON")
    parser.add_argument("--start", type=Path, nargs="?", help="the strategy file that the solver begins with, if any")
    parser.add_argument("--output", type=Path, required=True)
    args = parser.parse_args()
    request: Solve = args.request
    workload = request.made()
    datasets, record = SOLVERS[request.family](request, workload, args.start)
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
    store.write(args.output, request.family, datasets=datasets, attributes=attributes)


def strategy(request: Solve, workload: Workload, start: Path | None) -> Solved:
    """The strategy of a mechanism, whose privacy is verified before it is written."""
    from factormech.local.registry import restore, solution_for

    first = None if start is None else started(start, request)
    solution = solution_for(request.spec(workload), workload, progress(), first)
    if request.epsilon is not None:
        restore(request.name, solution, request.epsilon)
    options = json.dumps(request.options, sort_keys=True)
    return solution.datasets, {"mechanism": request.name, "options": options, **solution.record}


def started(path: Path, request: Solve) -> Any:
    """The solution that the solver begins with, if it answers the right request."""
    from factormech.local.solved import Solution

    kept, wanted = store.read(path, "strategy"), start_of(request)
    if wanted is None or kept.attributes["request"] != wanted.to_json():
        rule = "be the solution that this solve begins with"
        raise BadValue(f"{path}: request", kept.attributes["request"], rule, "give the start of the same solve")
    return Solution(kept.datasets, kept.attributes)


def bound(request: Solve, workload: Workload, _: Path | None) -> Solved:
    """A lower bound on the variance."""
    from factormech.bounds.registry import variance_bound

    if request.epsilon is None:
        raise BadValue("epsilon", None, "be given for a bound", "let the workflow call the job")
    value = variance_bound(request.name, workload, request.epsilon)
    return {"value": np.array([value])}, {"bound": request.name}


def factorization(request: Solve, workload: Workload, _: Path | None) -> Solved:
    """The factors of a norm, its certified interval, the witness and the solver's record."""
    from factormech.measure.norms import NormQuestion, solved_here
    from factormech.norms.stored import to_datasets

    question = NormQuestion(workload, request.seed or 0, bool(request.options.get("concepts", False)))
    datasets, record = to_datasets(solved_here(request.name)(question, request.alpha))
    return datasets, {
        "norm": request.name,
        "queries": question.workload.queries,
        "alpha": request.alpha,
        "concepts": question.concepts,
        **record,
    }


SOLVERS: dict[str, Callable[[Solve, Workload, Path | None], Solved]] = {
    "strategy": strategy,
    "bound": bound,
    "factorization": factorization,
}

if __name__ == "__main__":
    run(main)
