"""``factormech paper``: what a manuscript takes from a study."""

from __future__ import annotations

import argparse
import os
import re

from factormech.cli.answer import Answer
from factormech.errors import BadValue

# Inches of each unit; a bare number is in inches.
UNITS = {"": 1.0, "in": 1.0, "cm": 1 / 2.54, "mm": 1 / 25.4, "pt": 1 / 72.27}


def paper(args: argparse.Namespace) -> Answer:
    """Write the files, and say where they are and what the table was."""
    from factormech.manuscript import export

    source = args.table or export.find_table(args.study, args.config.absolute().parent)
    files = export.paper(
        args.study,
        args.out,
        width=inches(args.width),
        size=args.size,
        font=args.font,
        monochrome=args.monochrome,
        panels=listed(args.panels),
        mechanisms=listed(args.mechanisms),
        formats=listed(args.formats),
        prefix=args.prefix,
        table=source,
        config=args.config,
    )
    numbers = next(path for path in files if path.name.endswith("-numbers.tex"))
    macros = numbers.read_text(encoding="utf-8").count("\\newcommand")
    shown = os.path.relpath(source)
    lines = [f"{args.study}, from {shown}: {macros} numbers as macros", *(f"  {path}" for path in files)]
    names = [str(path) for path in files]
    return Answer({"study": args.study, "table": shown, "files": names, "macros": macros, "status": "ok"}, lines)


def inches(text: str) -> float:
    """Return a width in inches: "3.33in", "8.5cm", "84mm", "240pt" or a bare number."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([a-z]*)", text.strip())
    if found is None or found[2] not in UNITS:
        raise BadValue("--width", text, "be a number with in, cm, mm or pt", "give for example --width 3.33in")
    return float(found[1]) * UNITS[found[2]]


def listed(text: str) -> list[str]:
    """Return the words of a list with commas."""
    return [word.strip() for word in text.split(",") if word.strip()]
