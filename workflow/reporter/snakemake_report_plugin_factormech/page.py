"""One page of HTML that shows studies: their figures, captions and tables, and how they were made.

Everything is in the file: pictures as data, tables as the CSV they are in ``results/tables``, which the page's own
script sorts and filters. The page's policy forbids every request, so that it is the same page on a machine without a
network; a browser would refuse one that a later change let in, and the test would see the refusal.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from snakemake_report_plugin_factormech.times import Times

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Figure:
    """A picture (SVG) and its caption (HTML)."""

    file: str
    svg: bytes
    caption: str

    @property
    def uri(self) -> str:
        """The picture, as an address."""
        return "data:image/svg+xml;base64," + base64.b64encode(self.svg).decode()


@dataclass(frozen=True)
class Table:
    """A table (CSV) and its caption (HTML)."""

    file: str
    csv: str
    caption: str

    @property
    def json(self) -> Markup:
        """The file as a string of JSON, in which nothing ends a script."""
        return Markup(json.dumps(self.csv, ensure_ascii=False).replace("<", "\\u003c"))


@dataclass(frozen=True)
class Study:
    """A study of a paper, and what made it."""

    name: str
    paper: str
    artefact: str
    title: str
    figures: Sequence[Figure]
    tables: Sequence[Table]
    made_with: dict[str, str] = field(default_factory=dict)
    configuration: str = ""
    times: Times | None = None

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


def render(*, title: str, description: str, studies: Sequence[Study], jobs: Sequence[Jobs]) -> str:
    """The page, a paper after the other; ``description`` is HTML."""
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
        style=Markup((HERE / "report.css").read_text(encoding="utf-8")),
        script=Markup((HERE / "report.js").read_text(encoding="utf-8")),
    )


def libraries(study: Study) -> dict[str, str]:
    """What made a study, its own code aside."""
    return {name: version for name, version in study.made_with.items() if name != "code"}
