"""Fill the blocks of numbers of ``docs/papers/mckenna2020.md`` from the tables of a full run.

A table that is missing, or of stand-ins for the data sets, is an error, and nothing is written. What the paper claims
is judged elsewhere: ``studies/*.claims.yaml``, ``docs/claims.md``.
"""

from __future__ import annotations

from pathlib import Path

import blocks
import pandas as pd

from factormech.tables.kinds import read_csv

ROOT = Path(__file__).resolve().parent.parent
TABLES = ROOT / "results" / "tables"
PAPER = ROOT / "docs" / "papers" / "mckenna2020.md"


def main() -> None:
    """Fill every block."""
    page = PAPER.read_text()
    for name, body in numbers().items():
        page = blocks.fill(page, name, body)
    PAPER.write_text(page)


def table(name: str) -> pd.DataFrame:
    """A table of the run."""
    return read_csv(TABLES / f"{name}.csv")


def numbers() -> dict[str, str]:
    """The blocks of the paper's page."""
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


if __name__ == "__main__":
    main()
