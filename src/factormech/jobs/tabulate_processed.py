"""Put the errors of a study's processed collections into its table: CSV, LaTeX and HDF5."""

from __future__ import annotations

from pathlib import Path

from factormech import store
from factormech.jobs.common import job_parser, run
from factormech.measure.tabulate_data import consistency_table
from factormech.tables import kinds as tables


def main() -> None:
    """Read the collections of every mechanism, write the three forms."""
    parser = job_parser(__doc__)
    parser.add_argument("--study", required=True)
    parser.add_argument("--level", type=float, required=True)
    parser.add_argument("--collections", type=Path, nargs="+", required=True)
    parser.add_argument("--csv", type=Path, required=True)
    parser.add_argument("--latex", type=Path, required=True)
    parser.add_argument("--hdf5", type=Path, required=True)
    args = parser.parse_args()
    measured = [store.read(path, "processed-collections")["collections"] for path in args.collections]
    frame = consistency_table(args.study, measured, level=args.level)
    tables.write(frame, args.csv, args.latex)
    attributes = {"study": args.study, "level": args.level, "code": args.code}
    store.write(args.hdf5, "table", datasets={"table": frame}, attributes=attributes)


if __name__ == "__main__":
    run(main)
