"""Put the clocked iterations and traces of a study into a table: CSV, LaTeX and HDF5."""

from __future__ import annotations

from pathlib import Path

from factormech import store
from factormech.jobs.common import job_parser, run
from factormech.measure.timing import timing_table
from factormech.tables import kinds as tables


def main() -> None:
    """Read iterations, traces and bounds, find when each gap was reached, write the three forms."""
    parser = job_parser(__doc__)
    parser.add_argument("--study", required=True)
    parser.add_argument("--gaps", type=float, nargs="+", required=True)
    parser.add_argument("--iterations", type=Path, required=True)
    parser.add_argument("--traces", type=Path, nargs="+", required=True)
    parser.add_argument("--bounds", type=Path, required=True)
    parser.add_argument("--csv", type=Path, required=True)
    parser.add_argument("--latex", type=Path, required=True)
    parser.add_argument("--hdf5", type=Path, required=True)
    args = parser.parse_args()
    single = store.read(args.iterations, "iterations")["iterations"]
    traces = [store.read(path, "traces")["traces"] for path in args.traces]
    frame = timing_table(args.study, single, traces, store.read(args.bounds, "bounds")["bounds"], args.gaps)
    tables.write(frame, args.csv, args.latex)
    attributes = {"study": args.study, "gaps": args.gaps, "code": args.code}
    store.write(args.hdf5, "table", datasets={"table": frame}, attributes=attributes)


if __name__ == "__main__":
    run(main)
