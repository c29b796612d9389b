"""Judge the claims of the papers on the tables of studies: a CSV file and a page of Markdown."""

from __future__ import annotations

from pathlib import Path

from factormech.claims import page as listing
from factormech.claims.ledger import read
from factormech.claims.page import page, summary
from factormech.claims.verdicts import Folder, judge
from factormech.pipeline.common import job_parser, run
from factormech.store.atomic import write_whole


def main() -> None:
    """Read the ledger and the tables, write the verdicts."""
    parser = job_parser(__doc__)
    parser.add_argument("--ledger", type=Path, nargs="+", required=True, help="the files of claims")
    parser.add_argument("--schema", type=Path, required=True)
    parser.add_argument("--tables", type=Path, required=True, help="the folder of the tables of studies")
    parser.add_argument("--csv", type=Path, required=True)
    parser.add_argument("--page", type=Path, required=True)
    parser.add_argument("--made", default="", help="from what, for the page")
    args = parser.parse_args()
    found = judge(read(args.ledger, args.schema), Folder(args.tables))
    write_whole(args.csv, listing.text(found).encode())
    write_whole(args.page, page(found, args.made).encode())
    print(summary(found), end="")


if __name__ == "__main__":
    run(main)
