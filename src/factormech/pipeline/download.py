"""Fetch the public data sets into a folder; what is there and right is kept."""

from __future__ import annotations

from pathlib import Path

from factormech.data.files import PUBLIC_SOURCE, download
from factormech.data.registry import PUBLIC
from factormech.pipeline.common import job_parser, run


def main() -> None:
    """Fetch what is missing, say what was done."""
    parser = job_parser(__doc__)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--source", default=PUBLIC_SOURCE, help="address of the folder that has the files")
    args = parser.parse_args()
    fetched = download(PUBLIC, args.folder, args.source)
    print(f"{args.folder}: {len(PUBLIC)} data sets as published, {len(fetched)} fetched now")


if __name__ == "__main__":
    run(main)
