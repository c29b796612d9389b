"""Put the parts of a study into its table: CSV, LaTeX and HDF5."""

from __future__ import annotations

import json
from pathlib import Path

from factormech.errors import BadValue
from factormech.pipeline.common import job_parser, run
from factormech.store import hdf5
from factormech.studies.asked import Asked
from factormech.studies.registry import experiment
from factormech.tables import kinds as tables
from factormech.tables.rows import table_of


def main() -> None:
    """Read the parts in their order, write the three forms."""
    parser = job_parser(__doc__)
    parser.add_argument("--kind", required=True)
    parser.add_argument("--study", required=True)
    parser.add_argument("--asked", required=True, help="what the study asks, in JSON")
    parser.add_argument("--parts", type=Path, nargs="+", required=True)
    parser.add_argument("--csv", type=Path, required=True)
    parser.add_argument("--latex", type=Path, required=True)
    parser.add_argument("--hdf5", type=Path, required=True)
    args = parser.parse_args()
    kind, asked = experiment(args.kind), Asked.from_json(args.asked)
    records = [hdf5.read(path, "part", needs=["rows"]) for path in args.parts]
    for record in records:
        if (record.attributes["kind_of_study"], record.attributes["study"]) != (args.kind, args.study):
            found = f"{record.attributes['kind_of_study']}, {record.attributes['study']}"
            rule = f"be a part of study {args.study}, of kind {args.kind}"
            raise BadValue(str(record.path), found, rule, "give the parts of this study")
    parts = {record.attributes["part"]: record["rows"] for record in records}
    digests = {record.attributes["part"]: record.provenance["content_digest"] for record in records}
    frame = table_of(kind, args.study, asked, parts, digests)
    tables.write(frame, args.csv, args.latex)
    attributes = {
        "study": args.study,
        "kind_of_study": args.kind,
        "asked": json.loads(asked.to_json()),
        "parts": digests,
        "code": args.code,
    }
    hdf5.write(args.hdf5, "table", datasets={"table": frame}, attributes=attributes)


if __name__ == "__main__":
    run(main)
