"""Draw the figure of a study from its CSV alone, and write its caption."""

from __future__ import annotations

import json
from pathlib import Path

from factormech.pipeline.common import job_parser, run
from factormech.plots.registry import draw, module_of, words
from factormech.plots.save import save
from factormech.store.atomic import write_whole
from factormech.studies.drawing import Drawing
from factormech.tables.kinds import read_csv


def main() -> None:
    """Read the table, draw, save in three formats; the caption is text beside them."""
    parser = job_parser(__doc__)
    parser.add_argument("--kind", required=True)
    parser.add_argument("--title", default="")
    parser.add_argument("--caption", default="")
    parser.add_argument("--settings", type=json.loads, default={}, help="of the kind's figure, in JSON")
    parser.add_argument("--figure", type=json.loads, default={}, help="how the study is drawn, in JSON")
    parser.add_argument("table", type=Path)
    parser.add_argument("stem", type=Path, help="path of the figure without its suffix")
    args = parser.parse_args()
    module_of(args.kind)  # an unknown kind is refused before any file is read
    frame = read_csv(args.table)
    settings = {**args.settings, "figure": args.figure}
    said = words(args.kind, args.title, args.caption, frame, **settings)
    write_whole(args.stem.with_suffix(".txt"), f"{said.caption}\n".encode())
    write_whole(args.stem.with_suffix(".notes.txt"), f"{said.notes}\n".encode())
    save(draw(args.kind, frame, **settings), args.stem, Drawing.of(args.figure).formats)


if __name__ == "__main__":
    run(main)
