"""``factormech trace``: from a point of a figure back to its row, part, solutions and code."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from typing import Any

from factormech.cli.answer import Answer
from factormech.errors import BadValue

# Rows that are shown whole; of more, the count is said.
MOST = 8


def trace(args: argparse.Namespace) -> Answer:
    """Say where the rows of a point come from."""
    from factormech.pipeline.provenance import trace as traced

    found = traced(args.figure, point_of(args.point), folder=args.folder)
    rows = [one.as_data() for one in found]
    lines = [f"{len(found)} row{'s' * (len(found) != 1)} of {found[0].table}"]
    for one in found[:MOST]:
        lines += ["", *_lines(one)]
    if len(found) > MOST:
        lines += ["", f"and {len(found) - MOST} more: name more columns by --point, or ask for --json"]
    return Answer({"figure": args.figure, "traced": rows, "status": "ok"}, lines)


def point_of(words: Iterable[str]) -> dict[str, str]:
    """Column → value from ``KEY=VALUE``."""
    found = {}
    for word in words:
        key, sign, value = word.partition("=")
        if not sign or not key:
            raise BadValue("--point", word, "be KEY=VALUE", "try --point epsilon=1.0")
        found[key] = value
    return found


def _lines(one: Any) -> list[str]:
    numbers = {key: value for key, value in one.row.items() if value not in ("", None) and value == value}
    said = ", ".join(f"{key} {value}" for key, value in numbers.items() if key not in ("study", "kind", "origin"))
    lines = [f"row       {said}", f"part      {one.part}, code {one.code}"]
    for file, holds in one.solved.items():
        words = ", ".join(f"{key} {value}" for key, value in holds.items())
        lines.append(f"solution  {file}: {words}")
    versions = ", ".join(f"{key.removesuffix('_version')} {value}" for key, value in one.provenance.items())
    return [*lines, f"made with {versions}"]
