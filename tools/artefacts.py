"""Write the table of all studies into README.md, between its two marks; ``--check`` only says whether it is current.

A row is what ``config.yaml`` says of a study (paper, artefact, title), its place in the gallery if it has one, and the
minutes that it takes alone, from nothing, on one core, as ``factormech study show`` estimates them.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from collections.abc import Iterator
from pathlib import Path

from factormech.config.studies import Config, Study, load, read_yaml
from factormech.measure.estimate import run_seconds

ROOT = Path(__file__).parents[1]
BEGIN, END = "<!-- studies: make docs -->\n", "<!-- end of studies -->\n"


def rows(config: Config) -> Iterator[str]:
    """The table, a paper after the other."""
    yield "| paper | artefact | study | min |\n| --- | --- | --- | --- |\n"
    by_paper = sorted(config.studies.values(), key=lambda study: list(papers(config)).index(study.paper))
    for paper, studies in itertools.groupby(by_paper, key=lambda study: study.paper):
        name = f"[{paper}](docs/papers/{paper}.md)" if (ROOT / f"docs/papers/{paper}.md").is_file() else paper
        for study in studies:
            yield f"| {name} | {study.artefact}: {study.title} | {linked(study)} | {minutes(study)} |\n"
            name = ""


def papers(config: Config) -> dict[str, None]:
    """The papers, in the order in which their first studies stand."""
    return dict.fromkeys(study.paper for study in config.studies.values())


def linked(study: Study) -> str:
    """The name of a study, which leads to its figure."""
    figure = f"docs/gallery/{study.name}.svg"
    return f"[`{study.name}`]({figure})" if (ROOT / figure).is_file() else f"`{study.name}`"


def minutes(study: Study) -> str:
    """Minutes of one core, or that it is less than one."""
    found = round(run_seconds([study]) / 60)
    return str(found) if found else "< 1"


def main() -> None:
    """Write, or compare."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    page = ROOT / "README.md"
    text = page.read_text(encoding="utf-8")
    head, _, rest = text.partition(BEGIN)
    _, _, tail = rest.partition(END)
    config = load(read_yaml(ROOT / "config.yaml"), ROOT / "workflow/schemas/config.schema.yaml", base=ROOT)
    wanted = head + BEGIN + "".join(rows(config)) + END + tail
    if not args.check:
        page.write_text(wanted, encoding="utf-8")
    elif text != wanted:
        sys.exit("README.md is not what config.yaml says; run: make docs")


if __name__ == "__main__":
    main()
