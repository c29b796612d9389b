"""Put the errors of a study's mechanisms on data sets, and their bounds, into its table: CSV, LaTeX and HDF5."""

from __future__ import annotations

from pathlib import Path

from factormech import store
from factormech.jobs.common import job_parser, run
from factormech.measure.tabulate_data import on_data_table
from factormech.tables import kinds as tables


def main() -> None:
    """Read the measurements and bounds, compute sample complexities, write the three forms."""
    parser = job_parser(__doc__)
    parser.add_argument("--study", required=True)
    parser.add_argument("--metric", required=True)
    parser.add_argument("--alpha", type=float, required=True)
    parser.add_argument("--measurements", type=Path, nargs="+", required=True)
    parser.add_argument("--bounds", type=Path, required=True)
    parser.add_argument("--csv", type=Path, required=True)
    parser.add_argument("--latex", type=Path, required=True)
    parser.add_argument("--hdf5", type=Path, required=True)
    args = parser.parse_args()
    measured = [store.read(path, "data-measurement")["measurements"] for path in args.measurements]
    bounds = store.read(args.bounds, "data-bounds")["bounds"]
    frame = on_data_table(args.study, measured, bounds, metric=args.metric, alpha=args.alpha)
    tables.write(frame, args.csv, args.latex)
    attributes = {"study": args.study, "metric": args.metric, "alpha": args.alpha, "code": args.code}
    store.write(args.hdf5, "table", datasets={"table": frame}, attributes=attributes)


if __name__ == "__main__":
    run(main)
