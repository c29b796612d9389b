"""Find the optimal factorization of one workload for one norm, with its certified interval."""

from __future__ import annotations

from pathlib import Path

from factormech import store
from factormech.jobs.common import job_parser, run
from factormech.jobs.factorizations import add_workload_arguments, question_of
from factormech.measure.norms import solved_here
from factormech.norms.stored import to_datasets


def main() -> None:
    """Make the workload, solve, write the factors, the interval, its witness and the solver's record."""
    parser = job_parser(__doc__)
    add_workload_arguments(parser)
    parser.add_argument("--norm", required=True)
    parser.add_argument("--workload", required=True)
    parser.add_argument("--domain-size", type=int, required=True)
    parser.add_argument("--seed", type=int, default=None, help="of a workload that is drawn at random")
    parser.add_argument("--alpha", type=float, default=None, help="error of an approximate norm")
    parser.add_argument("--output", type=Path, required=True)
    args = parser.parse_args()
    question = question_of(args, args.workload, args.domain_size, args.seed or 0)
    datasets, found = to_datasets(solved_here(args.norm)(question, args.alpha))
    attributes = {
        "norm": args.norm,
        "workload": args.workload,
        "domain_size": args.domain_size,
        "queries": question.workload.queries,
        "seed": args.seed,
        "alpha": args.alpha,
        "concepts": args.concepts,
        "root_seed": args.root_seed,
        "definition": args.definitions,
        "code": args.code,
        **found,
    }
    store.write(args.output, "factorization", datasets=datasets, attributes=attributes)


if __name__ == "__main__":
    run(main)
