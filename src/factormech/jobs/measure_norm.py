"""Measure one norm of the workloads of a study, between certified ends."""

from __future__ import annotations

from pathlib import Path

from factormech import store
from factormech.jobs.common import job_parser, run
from factormech.jobs.factorizations import add_workload_arguments, norms_of, question_of
from factormech.measure.exact import as_frame
from factormech.measure.norms import measure_norm
from factormech.workloads import definitions


def main() -> None:
    """Make the workloads, read or find their factorizations, write the table."""
    parser = job_parser(__doc__)
    add_workload_arguments(parser)
    parser.add_argument("--norm", required=True)
    parser.add_argument("--solver", default="auto")
    parser.add_argument("--workloads", nargs="+", required=True, help="names")
    parser.add_argument("--domain-sizes", type=int, nargs="+", required=True)
    parser.add_argument("--seeds", type=int, nargs="+", required=True)
    parser.add_argument("--alphas", type=float, nargs="*", default=[], help="errors of approximate norms")
    parser.add_argument("--factorizations", type=Path, nargs="*", default=[], help="that are there already")
    parser.add_argument("--output", type=Path, required=True)
    args = parser.parse_args()
    questions = [
        question_of(args, workload, domain_size, seed)
        for workload in args.workloads
        for domain_size in args.domain_sizes
        for seed in args.seeds
    ]
    solved = norms_of(args.norm, args.factorizations, questions, args.alphas, args.solver)
    frame = as_frame(measure_norm(args.norm, questions, args.alphas, solved))
    attributes = {
        "norm": args.norm,
        "solver": args.solver,
        "alphas": args.alphas,
        "concepts": args.concepts,
        "seeded": sorted(w for w in args.workloads if definitions.is_seeded(w, args.definitions)),
        "root_seed": args.root_seed,
        "code": args.code,
    }
    store.write(args.output, "norms", datasets={"norms": frame}, attributes=attributes)


if __name__ == "__main__":
    run(main)
