"""What the table of a study says of one mechanism: its improvement on the others, and growth with the domain size."""

from __future__ import annotations

from pathlib import Path

from factormech.jobs.common import job_parser, run
from factormech.measure.compare import improvement, slopes
from factormech.tables import kinds as tables


def main() -> None:
    """Read the table, compute the comparison, write CSV and LaTeX."""
    parser = job_parser(__doc__)
    parser.add_argument("--what", choices=["improvement", "slopes"], required=True)
    parser.add_argument("--mechanism", required=True)
    parser.add_argument("--exclude", nargs="*", default=[], help="mechanisms that do not compete")
    parser.add_argument("--table", type=Path, required=True)
    parser.add_argument("--csv", type=Path, required=True)
    parser.add_argument("--latex", type=Path, required=True)
    args = parser.parse_args()
    frame = tables.read_csv(args.table)
    found = improvement(frame, args.mechanism, args.exclude) if args.what == "improvement" else slopes(frame)
    tables.write(found, args.csv, args.latex)


if __name__ == "__main__":
    run(main)
