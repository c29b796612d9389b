"""Write docs/claims.md and docs/gallery/claims.csv from the gallery's tables; ``--check`` says if they are current.

The verdicts are those of ``factormech.claims`` on the committed tables, as a run judges its own.
"""

from __future__ import annotations

import argparse
import math
import re
import sys
from pathlib import Path

from factormech.claims import page as listing
from factormech.claims.ledger import files_in, read
from factormech.claims.page import page, summary
from factormech.claims.verdicts import Folder, Judged, judge
from factormech.store.atomic import write_whole

ROOT = Path(__file__).resolve().parent.parent
GALLERY = ROOT / "docs" / "gallery"
NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?:e[-+]?\d+)?(?![\w.])")


def judged(gallery: Path) -> list[Judged]:
    """The claims on a gallery's tables."""
    ledger = read(files_in(ROOT / "studies"), ROOT / "workflow/schemas/claims.schema.yaml")
    return judge(ledger, Folder(gallery))


def files(found: list[Judged], gallery: Path) -> dict[Path, str]:
    """What is written: the page, beside the gallery, and the list in it."""
    return {
        gallery.parent / "claims.md": page(found, made(gallery)),
        gallery / "claims.csv": listing.text(found),
    }


def made(gallery: Path) -> str:
    """With which versions the tables were made, as the gallery's pages say."""
    pages = "".join(path.read_text(encoding="utf-8") for path in sorted(gallery.glob("*.md")))
    said = re.findall(r"^`snakemake .* · (factormech .*)$", pages, re.MULTILINE)
    versions = "; ".join(dict.fromkeys(said)) or "what nobody recorded"
    versions = "; ".join(dict.fromkeys(said)) or "what nobody recorded"
    return f"From the tables of the [gallery](gallery/README.md), made with {versions}."


def agree(written: str, wanted: str) -> bool:
    """Whether two texts are the same but for numbers that machines round differently.

    Logarithms and sums of another processor differ in the last digits, and what is only rounding (below 10⁻⁹) in all of
    them; a number of four digits may differ in the last.
    """
    if NUMBER.split(written) != NUMBER.split(wanted):
        return False
    pairs = zip(NUMBER.findall(written), NUMBER.findall(wanted), strict=True)
    return all(math.isclose(float(a), float(b), rel_tol=1.01e-3, abs_tol=1e-9) for a, b in pairs)


def main() -> None:
    """Write, or compare."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    found = judged(GALLERY)
    wanted = files(found, GALLERY)
    if not args.check:
        for path, text in wanted.items():
            write_whole(path, text.encode())
        print(summary(found), end="")
    elif stale := [path.name for path, text in wanted.items() if not (path.exists() and agree(path.read_text(), text))]:
        sys.exit(f"{', '.join(stale)}: not what studies/*.claims.yaml and the gallery say; run: make docs")


if __name__ == "__main__":
    main()
