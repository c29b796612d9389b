"""Write docs/columns.md: every column, and the kinds of table that have it; ``--check`` only compares."""

from __future__ import annotations

import argparse
from pathlib import Path

from factormech.studies.columns import MEANINGS
from factormech.tables import kinds
from factormech.tables.rows import KIND, ORIGIN, STUDY

PAGE = Path(__file__).parents[1] / "docs" / "columns.md"
BAR = r"\|"
HEAD = """\
# Columns

Every column of every table, each with one meaning, whatever the kind of study. A table begins with `study` and `kind`
and ends with `origin`. Numbers are empty where there are none; `reason` says why. An integer that may be empty is
written as a number (`256.0`). The columns are defined in `src/factormech/studies/columns.py`; older names, by which
older tables are read, are in `renamed.py` beside it. `python tools/columns_page.py` writes this page.

| column | symbol | unit | type | meaning | kinds |
| --- | --- | --- | --- | --- | --- |
"""


def kinds_by_column() -> dict[str, list[str]]:
    """The kinds of table that have a column, by its name."""
    found: dict[str, list[str]] = {name: ["all"] for name in (STUDY, KIND, ORIGIN)}
    for kind in kinds.names():
        for column in kinds.declared(kind).columns:
            found.setdefault(column.name, []).append(kind)
    return found


def page() -> str:
    """The whole page."""
    by_column = kinds_by_column()
    rows = []
    for found in MEANINGS:
        meaning = f"{found.label}: {found.description}"
        cells = (f"`{found.name}`", found.symbol, found.unit, found.type, meaning, ", ".join(by_column[found.name]))
        rows.append(f"| {' | '.join(cell.replace('|', BAR) for cell in cells)} |")
    return HEAD + "\n".join(rows) + "\n"


def main() -> int:
    """Write the page, or say that it is not current."""
    parser = argparse.ArgumentParser(description=str(__doc__))
    parser.add_argument("--check", action="store_true", help="only say whether the page is current")
    if not parser.parse_args().check:
        PAGE.write_text(page(), encoding="utf-8")
        return 0
    current = PAGE.exists() and PAGE.read_text(encoding="utf-8") == page()
    print("" if current else "docs/columns.md is not current: python tools/columns_page.py")
    return 0 if current else 1


if __name__ == "__main__":
    raise SystemExit(main())
