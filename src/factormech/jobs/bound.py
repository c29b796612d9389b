"""Evaluate lower bounds over the workloads and budgets of a study, or at one point that many studies need."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from factormech import store
from factormech.bounds.registry import variance_bound
from factormech.errors import BadValue
from factormech.jobs.common import job_parser, read_workload, run
from factormech.measure.exact import as_frame, measure_bounds
from factormech.workloads.base import Workload

# Bound, workload, domain size, budget.
Key = tuple[str, str, int, float]


def main() -> None:
    """Read the workloads, evaluate every bound at every point that no file has, write the table."""
    parser = job_parser(__doc__)
    parser.add_argument("--bounds", nargs="+", required=True)
    parser.add_argument("--epsilons", type=float, nargs="+", required=True)
    parser.add_argument("--workloads", type=Path, nargs="+", required=True)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--points", type=Path, nargs="*", default=[], help="files of this job with a single point each")
    parser.add_argument("--output", type=Path, required=True)
    args = parser.parse_args()
    known = KnownBounds(args.points)
    rows = []
    for workload, own in map(read_workload, args.workloads):
        seeds = args.seeds if own is None else [own]
        pairs = [(workload, seed) for seed in seeds]
        rows += list(measure_bounds(args.bounds, pairs, args.epsilons, known.of(own)))
    known.refuse_unused()
    attributes = {
        "bounds": args.bounds,
        "epsilons": args.epsilons,
        "code": args.code,
        "workload_seed": own if len(args.workloads) == 1 else None,
    }
    store.write(args.output, "bounds", datasets={"bounds": as_frame(rows)}, attributes=attributes)


class KnownBounds:
    """What files of single points hold; a point that is in none is evaluated, once for all seeds that share it."""

    def __init__(self, paths: Sequence[Path]) -> None:
        self.values: dict[tuple[int | None, Key], float] = {}
        self.unused: dict[tuple[int | None, Key], Path] = {}
        for path in paths:
            record = store.read(path, "bounds")
            for row in record.datasets["bounds"].to_dict("records"):
                key: Key = (row["bound_name"], row["workload"], int(row["domain_size"]), float(row["epsilon"]))
                self.values[record.attributes["workload_seed"], key] = float(row["variance_bound"])
                self.unused[record.attributes["workload_seed"], key] = path

    def of(self, own: int | None) -> BoundFor:
        """The bounds of one workload; ``own`` is its seed if it was drawn at random."""
        return BoundFor(self, own)

    def refuse_unused(self) -> None:
        """A file that nobody asked for belongs to another study."""
        for (_, key), path in self.unused.items():
            rule = "be of a bound, workload, domain size and budget of this study"
            raise BadValue(str(path), key, rule, "give the points of this study's grid, or none")


class BoundFor:
    """A function (bound, workload, epsilon) → number, for :func:`~factormech.measure.exact.measure_bounds`."""

    def __init__(self, known: KnownBounds, own: int | None) -> None:
        self.known, self.own = known, own

    def __call__(self, name: str, workload: Workload, epsilon: float) -> float:
        """Read, or evaluate and remember."""
        key = self.own, (name, workload.name, workload.domain_size, epsilon)
        self.known.unused.pop(key, None)
        if key not in self.known.values:
            self.known.values[key] = variance_bound(name, workload, epsilon)
        return self.known.values[key]


if __name__ == "__main__":
    run(main)
