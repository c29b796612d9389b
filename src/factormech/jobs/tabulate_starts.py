"""Put what solvers found from random starts over the strongest lower bound into a table: CSV, LaTeX and HDF5."""

from __future__ import annotations

from pathlib import Path

from factormech import store
from factormech.jobs.common import job_parser, run
from factormech.measure.starts import starts_table
from factormech.tables import kinds as tables


def main() -> None:
    """Read the starts and bounds, divide, write the three forms."""
    parser = job_parser(__doc__)
    parser.add_argument("--study", required=True)
    parser.add_argument("--starts", type=Path, nargs="+", required=True)
    parser.add_argument("--bounds", type=Path, required=True)
    parser.add_argument("--csv", type=Path, required=True)
    parser.add_argument("--latex", type=Path, required=True)
    parser.add_argument("--hdf5", type=Path, required=True)
    args = parser.parse_args()
    measured = [store.read(path, "starts")["starts"] for path in args.starts]
    frame = starts_table(args.study, measured, store.read(args.bounds, "bounds")["bounds"])
    tables.write(frame, args.csv, args.latex)
    attributes = {"study": args.study, "code": args.code}
    store.write(args.hdf5, "table", datasets={"table": frame}, attributes=attributes)


if __name__ == "__main__":
    run(main)
