"""Write the table of all studies into docs/studies.md, between its two marks; ``--check`` compares only.

A row is what ``config.yaml`` says of a study (paper, artefact, title), its place in the gallery if it has one, and the
minutes of one core that it took alone, from nothing, in the run that the gallery shows (``docs/gallery/times.csv``).
"""

from __future__ import annotations

import argparse
import csv
import itertools
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from factormech.config.studies import Config, Study, load, read_yaml

ROOT = Path(__file__).parents[1]
BEGIN, END = "<!-- studies: make docs -->\n", "<!-- end of studies -->\n"


def rows(config: Config) -> Iterator[str]:
    """The table, a paper after the other."""
    yield "| paper | artefact | study | min |\n| --- | --- | --- | --- |\n"
    by_paper = sorted(config.studies.values(), key=lambda study: list(papers(config)).index(study.paper))
    for paper, studies in itertools.groupby(by_paper, key=lambda study: study.paper):
        name = f"[{paper}](papers/{paper}.md)" if (ROOT / f"docs/papers/{paper}.md").is_file() else paper
        for study in studies:
            yield f"| {name} | {study.artefact}: {study.title} | {linked(study)} | {minutes(study)} |\n"
            name = ""


def papers(config: Config) -> dict[str, None]:
    """The papers, in the order in which their first studies stand."""
    return dict.fromkeys(study.paper for study in config.studies.values())


def linked(study: Study) -> str:
    """The name of a study, which leads to its figure."""
    figure = f"gallery/{study.name}.svg"
    return f"[`{study.name}`]({figure})" if (ROOT / "docs" / figure).is_file() else f"`{study.name}`"


def minutes(study: Study) -> str:
    """Minutes of one core, or that it is less than one; more than those where some jobs were not measured."""
    row = measured().get(study.name)
    if row is None:
        return "–"
    found = float(row["cpu_seconds"]) / 60
    if row["measured"] != row["jobs"]:
        return f"> {int(found)}"
    return str(round(found)) if found >= 0.5 else "< 1"


@cache
def measured() -> dict[str, dict[str, str]]:
    """What studies took, by their names."""
    with (ROOT / "docs/gallery/times.csv").open(newline="") as file:
        return {row["study"]: row for row in csv.DictReader(file)}


def main() -> None:
    """Write, or compare."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    page = ROOT / "docs/studies.md"
    text = page.read_text(encoding="utf-8")
    head, _, rest = text.partition(BEGIN)
    _, _, tail = rest.partition(END)
    config = load(read_yaml(ROOT / "config.yaml"), ROOT / "workflow/schemas/config.schema.yaml", base=ROOT)
    wanted = head + BEGIN + "".join(rows(config)) + END + tail
    if not args.check:
        page.write_text(wanted, encoding="utf-8")
    elif text != wanted:
        sys.exit("docs/studies.md is not what config.yaml says; run: make docs")


if __name__ == "__main__":
    main()
