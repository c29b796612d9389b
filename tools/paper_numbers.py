"""Fill the blocks of numbers of ``docs/papers/*.md`` from the gallery's tables; ``--check`` says if they are current.

A table that is missing, or of stand-ins for the data sets, is an error, and nothing is written. What the paper claims
is judged elsewhere: ``studies/*.claims.yaml``, ``docs/claims.md``.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import blocks
import pandas as pd

from factormech.tables.kinds import read_csv

ROOT = Path(__file__).resolve().parent.parent
TABLES = ROOT / "docs" / "gallery"
PAPERS = ROOT / "docs" / "papers"


def main() -> None:
    """Fill every block, or compare."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    wanted = pages()
    stale = [path for path, text in wanted.items() if path.read_text() != text]
    if args.check:
        if stale:
            sys.exit(f"{', '.join(path.name for path in stale)}: other numbers than the gallery's; run: make docs")
        return
    for path in stale:
        path.write_text(wanted[path])


def pages() -> dict[Path, str]:
    """Return the pages with every block filled."""
    filled = {}
    for paper, numbers in PAGES.items():
        path = PAPERS / f"{paper}.md"
        filled[path] = path.read_text()
        for name, body in numbers().items():
            filled[path] = blocks.fill(filled[path], name, body)
    return filled


def table(name: str) -> pd.DataFrame:
    """Return a table of the gallery."""
    return read_csv(TABLES / f"{name}.csv")


def mckenna2020() -> dict[str, str]:
    """Return the blocks of McKenna et al."""
    distance = [table("optimality-gap-epsilon"), table("optimality-gap-domain-size")]
    figures = [table("mckenna2020-figure-1"), table("mckenna2020-figure-2")]
    return {
        "claims": blocks.claims(figures),
        "gaps": blocks.gaps(distance),
        "slopes": blocks.slopes(table("mckenna2020-figure-2-slopes")),
        "worst-case": blocks.worst_case(distance),
        "figure-3a": blocks.data(table("mckenna2020-figure-3a")),
        "figure-3b": blocks.starts(table("mckenna2020-figure-3b")),
        "figure-3c": blocks.times(table("mckenna2020-figure-3c")),
        "consistency": blocks.consistency(table("consistency")),
    }


def edmonds2020() -> dict[str, str]:
    """Return the blocks of Edmonds, Nikolov & Ullman."""
    return {"marginals": blocks.marginals(), "lemma-22": blocks.shifts(table("edmonds2023-lemma-22"))}


def liu2024() -> dict[str, str]:
    """Return the blocks of Liu, Upadhyay & Zou."""
    return {"prefix": blocks.prefix(table("liu2024-theorem-5"))}


def nikolov2023() -> dict[str, str]:
    """Return the blocks of Nikolov."""
    return {
        "slopes-of-parity": blocks.parity_slopes(table("full-parity-users")),
        "edges": blocks.edges(table("pure-random-queries")),
        "pairs": blocks.pairs(table("two-way-marginals-users")),
    }


PAGES = {"mckenna2020": mckenna2020, "edmonds2020": edmonds2020, "liu2024": liu2024, "nikolov2023": nikolov2023}


if __name__ == "__main__":
    main()
