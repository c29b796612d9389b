"""Write docs/configuration.md and docs/configuration/ from the schema and the kinds of study; ``--check`` compares."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from factormech.config.reference import kinds_of, pages
from factormech.config.yaml_file import read_yaml
from factormech.shipped import SCHEMA

ROOT = Path(__file__).parents[1]


def main() -> None:
    """Write, or compare."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="only say which pages are not current")
    args = parser.parse_args()
    made = {ROOT / "docs" / name: text for name, text in wanted().items()}
    there = {path: path.read_text(encoding="utf-8") for path in (ROOT / "docs/configuration").glob("*.md")}
    stale = [path for path, text in made.items() if not path.is_file() or path.read_text(encoding="utf-8") != text]
    gone = [path for path in there if path not in made]
    if args.check and (stale or gone):
        sys.exit(f"not what the schema says: {', '.join(p.name for p in (*stale, *gone))}; run: make docs")
    if not args.check:
        (ROOT / "docs/configuration").mkdir(exist_ok=True)
        for path in stale:
            path.write_text(made[path], encoding="utf-8")
        for path in gone:
            path.unlink()


def wanted() -> dict[str, str]:
    """The pages; a kind is on the page of the paper of its first study."""
    return pages(SCHEMA, dict(kinds_of(read_yaml(ROOT / "config.yaml"))))


if __name__ == "__main__":
    main()
