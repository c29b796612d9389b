"""Put the norms of a study into a table: CSV, LaTeX and HDF5."""

from __future__ import annotations

from pathlib import Path

from factormech import store
from factormech.jobs.common import job_parser, run
from factormech.measure.norms import norm_table
from factormech.tables import kinds as tables


def main() -> None:
    """Read the norms, arrange, write the three forms."""
    parser = job_parser(__doc__)
    parser.add_argument("--study", required=True)
    parser.add_argument("--norms", type=Path, nargs="+", required=True)
    parser.add_argument("--csv", type=Path, required=True)
    parser.add_argument("--latex", type=Path, required=True)
    parser.add_argument("--hdf5", type=Path, required=True)
    args = parser.parse_args()
    measured = [store.read(path, "norms")["norms"] for path in args.norms]
    frame = norm_table(args.study, measured)
    tables.write(frame, args.csv, args.latex)
    attributes = {"study": args.study, "code": args.code}
    store.write(args.hdf5, "table", datasets={"table": frame}, attributes=attributes)


if __name__ == "__main__":
    run(main)
