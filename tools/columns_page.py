"""Write docs/columns.md: every column of every kind of table, as the kinds declare them; ``--check`` only compares."""

from __future__ import annotations

import argparse
from pathlib import Path

from factormech.experiments.base import Column
from factormech.tables import kinds

PAGE = Path(__file__).parents[1] / "docs" / "columns.md"
HEAD = """\
# Columns

Every table begins with `study` and `kind` and ends with `origin`, the digest of the part that a row comes from. Numbers
are empty where there are none; `reason` says why. The columns below are those that the kinds of study declare. A name
has one meaning within a kind; where kinds differ, each has a line. `python tools/columns_page.py` writes this page.

| column | symbol | type | meaning | kinds |
| --- | --- | --- | --- | --- |
"""


def meanings() -> dict[tuple[str, str, str, str], list[str]]:
    """Name, symbol, type and meaning of a column, and the kinds of table that have it so."""
    found: dict[tuple[str, str, str, str], list[str]] = {}
    for kind in kinds.names():
        for column in kinds.declared(kind).columns:
            found.setdefault((column.name, column.symbol, column.type, meaning(column)), []).append(kind)
    return found


def meaning(column: Column) -> str:
    """The label, and what the column is."""
    text = f"{column.label}. {column.description}" if column.description else column.label
    return text.rstrip(".").replace("|", r"\|")


def page() -> str:
    """The whole page."""
    rows = [
        f"| `{name}` | {symbol.replace('|', chr(92) + '|')} | {type_} | {text} | {', '.join(of)} |"
        for (name, symbol, type_, text), of in sorted(meanings().items())
    ]
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
