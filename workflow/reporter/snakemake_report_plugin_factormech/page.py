"""One page of HTML that shows studies: their figures, captions and tables, and how they were made.

Everything is in the file, compressed: pictures as they are in ``figures``, tables as the CSV they are in
``results/tables``, which the page's own scripts sort, filter and plot, and what stands behind their rows. A browser
unpacks a study when it is first shown. The page's policy forbids every request, so that it is the same page on a
machine without a network; a browser would refuse one that a later change let in, and the test would see the refusal.
"""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from snakemake_report_plugin_factormech.details import Entry
from snakemake_report_plugin_factormech.times import Times

HERE = Path(__file__).parent
SCRIPTS = ("table.js", "plot.js", "report.js")


def packed(content: bytes) -> Markup:
    """Compressed bytes as a text in which nothing ends a script; equal bytes give equal texts."""
    return Markup(base64.b64encode(gzip.compress(content, mtime=0)).decode())


@dataclass(frozen=True)
class Figure:
    """A picture (SVG), its caption (HTML), and in words what it shows."""

    file: str
    svg: bytes
    caption: str
    alt: str = ""

    @property
    def packed(self) -> Markup:
        """The picture, compressed."""
        return packed(self.svg)


@dataclass(frozen=True)
class Table:
    """A table (CSV) and its caption (HTML)."""

    file: str
    csv: str
    caption: str

    @property
    def packed(self) -> Markup:
        """The file, compressed."""
        return packed(self.csv.encode())


@dataclass(frozen=True)
class Study:
    """A study of a paper, what made it, how its first table is plotted, and what is behind the rows."""

    name: str
    paper: str
    artefact: str
    title: str
    figures: Sequence[Figure]
    tables: Sequence[Table]
    made_with: dict[str, str] = field(default_factory=dict)
    configuration: str = ""
    times: Times | None = None
    plot: dict[str, Any] | None = None

    @property
    def packed(self) -> Markup:
        """How the first table is plotted, compressed."""
        return packed(json.dumps(self.plot, ensure_ascii=False).encode())

    @property
    def anchor(self) -> str:
        """The name, as a place of the page."""
        return self.name.replace("/", "-")


@dataclass(frozen=True)
class Jobs:
    """The jobs of a rule: how many, their seconds together, and those of the longest."""

    rule: str
    number: int
    seconds: float
    longest: float


def render(
    *, title: str, description: str, studies: Sequence[Study], jobs: Sequence[Jobs], claims: Iterable[Entry] = ()
) -> str:
    """The page, a paper after the other, and the ledger of claims; ``description`` is HTML."""
    order = list(dict.fromkeys(study.paper for study in studies))
    by_paper = groupby(sorted(studies, key=lambda study: order.index(study.paper)), lambda study: study.paper)
    made_with = list(dict.fromkeys(tuple(libraries(study).items()) for study in studies))
    environment = Environment(
        loader=FileSystemLoader(HERE), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    return environment.get_template("report.html.jinja").render(
        title=title,
        description=Markup(description),
        papers=[(paper, list(group)) for paper, group in by_paper],
        made_with=[dict(found) for found in made_with if found],
        jobs=jobs,
        claims=[*claims],
        shown={study.name.removeprefix("quick/"): study.anchor for study in studies},
        style=Markup((HERE / "report.css").read_text(encoding="utf-8")),
        script=Markup("\n".join((HERE / name).read_text(encoding="utf-8") for name in SCRIPTS)),
    )


def libraries(study: Study) -> dict[str, str]:
    """What made a study, its own code aside."""
    return {name: version for name, version in study.made_with.items() if name != "code"}
