"""Write what was tried into docs/trust-faults.md, between its marks; ``--check`` only says whether it is current.

The trials are those of docs/trust-faults.csv, which ``make trust`` writes, fuzzed inputs those of docs/trust-fuzz.csv
(``make fuzz``), mutants those of docs/trust-mutants.csv (``make mutants``); bad input is counted where it is kept.
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "trust-faults.md"
TABLE = PAGE.with_suffix(".csv")
FUZZ, MUTANTS = (PAGE.with_name(f"trust-{name}.csv") for name in ("fuzz", "mutants"))


def counts(table: Path, names: int = 1) -> str:
    """The counts of a table whose first columns are names, and their sums."""
    header, *rows = csv.reader(table.read_text(encoding="utf-8").splitlines())
    sums = [str(sum(map(int, column))) for column in list(zip(*rows, strict=True))[names:]]
    return _table(header, [*rows, ["all", *[""] * (names - 1), *sums]])


def bad_input() -> str:
    """How much bad input is in the catalogue, by what it is."""
    sys.path.insert(0, str(ROOT))
    from tests import test_verify_certificate, test_verify_strategies
    from tests.bad_input.catalogue import FILES, SETTINGS, TEXTS
    from tests.cli.test_refusals import USAGE, WRONG

    counts = {
        "settings of a configuration": SETTINGS,
        "texts that are no configuration": TEXTS,
        "files of a user's own queries": FILES,
        "values and files on command lines": WRONG,
        "usage of the command line": USAGE,
        "forged certificates": test_verify_certificate.FORGERIES,
        "forged files of strategies": {**test_verify_strategies.FORGERIES, **test_verify_strategies.LIES},
    }
    rows = [[name, str(len(entries))] for name, entries in counts.items()]
    return _table(["bad input", "entries"], [*rows, ["all", str(sum(map(len, counts.values())))]])


def _table(header: list[str], rows: Iterable[list[str]]) -> str:
    lines = (header, ["---"] * len(header), *rows)
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def filled(page: str, parts: dict[str, str]) -> str:
    """A page with each part between its two marks."""
    for name, part in parts.items():
        begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->\n"
        before, found, rest = page.partition(begin)
        _, ended, after = rest.partition(end)
        if not (found and ended):
            sys.exit(f"error: the page has no part {name!r} between its marks")
        page = before + begin + part + end + after
    return page


def write(*, check: bool = False, table: Path = TABLE, page: Path = PAGE) -> int:
    """Write the page, or say that it is not current."""
    kept = page.read_text(encoding="utf-8")
    parts = {"trials": counts(table, 2), "bad input": bad_input(), "fuzz": counts(FUZZ), "mutants": counts(MUTANTS)}
    made = filled(kept, parts)
    if not check:
        page.write_text(made, encoding="utf-8")
    elif made != kept:
        print(f"{page.name} is not current: python tools/trust_page.py", file=sys.stderr)
        return 1
    return 0


def main() -> int:
    """Write, or compare."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="only say whether the page is current")
    return write(check=parser.parse_args().check)


if __name__ == "__main__":
    sys.exit(main())
