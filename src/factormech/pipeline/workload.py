"""Describe a workload at one domain size: its Gram matrix or spectrum, singular values and sums."""

from __future__ import annotations

import json
from pathlib import Path

from factormech.pipeline.common import job_parser, run
from factormech.store import hdf5
from factormech.workloads import definitions
from factormech.workloads.stored import to_datasets


def main() -> None:
    """Read the definition, build the workload, write its description."""
    parser = job_parser(__doc__)
    parser.add_argument("--workload", required=True)
    parser.add_argument("--domain-size", type=int, required=True)
    parser.add_argument("--root-seed", type=int, required=True)
    parser.add_argument("--seed", type=int, default=None, help="of a workload that is drawn at random")
    parser.add_argument("--definitions", type=json.loads, default={})
    parser.add_argument("--output", type=Path, required=True)
    args = parser.parse_args()
    stream = () if args.seed is None else (str(args.seed),)
    workload = definitions.create(
        args.workload, args.domain_size, args.definitions, seed=args.root_seed, base=Path.cwd(), stream=stream
    )
    datasets, attributes = to_datasets(workload)
    attributes |= {
        "root_seed": args.root_seed,
        "seed": args.seed,
        "definition": args.definitions,
        "code": args.code,
    }
    hdf5.write(args.output, "workload", datasets=datasets, attributes=attributes)


if __name__ == "__main__":
    run(main)
