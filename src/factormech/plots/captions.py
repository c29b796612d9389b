"""Captions of figures and their notes, in plain text, from the same tables as the figures.

A caption has at most :data:`MOST_WORDS` words: what is plotted against what, what to see, and settings. All else that a
reader of the numbers needs, such as what is missing and why, is in the notes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from factormech import labels
from factormech.tables.panels import Gap, Name, Panel, View, number, span, told

MOST_WORDS = 90


@dataclass(frozen=True)
class Words:
    """The words on a figure: its caption, and its notes, which may be empty."""

    caption: str
    notes: str


def words(caption: Iterable[str], notes: Iterable[str] = ()) -> Words:
    """Return caption and notes made of sentences, the most important first.

    A sentence is said once. One of the caption that would make it too long is among the notes.
    """
    said, rest = (_sentences(texts) for texts in (caption, notes))
    kept: list[str] = []
    for text in said:
        if not kept or len(" ".join([*kept, text]).split()) <= MOST_WORDS:
            kept.append(text)
    left = dict.fromkeys(text for text in [*said, *rest] if text not in kept)
    return Words(" ".join(kept), " ".join(left))


def _sentences(texts: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(labels.capital(sentence(text)) for text in texts if text.strip()))


def lead(title: str, what: str) -> str:
    """The first sentence of a caption: the study's title, and what is plotted against what."""
    return f"{title.strip().rstrip('.')}: {what}" if title.strip() else what


def sentence(text: str) -> str:
    """A text on one line, ending as a sentence does."""
    text = " ".join(text.split())
    return text if not text or text[-1] in ".!?" else text + "."


def fixed_and_varied(table: View) -> str:
    """Return what varies, what is fixed, and the panels: "against … from 8 to 64, with ε = 1; workloads: Prefix"."""
    x = table.panels[0].x
    across = f"from {number(x[0])} to {number(x[-1])}" if len(x) > 1 else f"= {number(x[0])}"
    fixed = ", ".join(f"{table.columns[name].short} = {number(value)}" for name, value in table.fixed.items())
    return f"against {table.axis.label} {across}{f', with {fixed}' if fixed else ''}{_panels(table)}"


def _panels(table: View) -> str:
    """The workloads of the panels, or the columns that tell panels apart."""
    varying = [name for name in table.roles.panels if table.columns[name].type == "text" or name not in table.fixed]
    if not varying or not any(panel.title for panel in table.panels):
        return ""
    if varying == ["workload"]:
        groups = "; ".join(dict.fromkeys(panel.group for panel in table.panels if panel.group))
        workloads = "; ".join(dict.fromkeys(panel.title for panel in table.panels))
        return f"; workloads: {workloads}" + (f"; mechanisms in groups: {groups}" if groups else "")
    return f"; a panel for each {' and '.join(table.columns[name].label for name in varying)}"


def drawn(table: View) -> str:
    """The mechanisms with a number somewhere."""
    names = [table.label(name) for name in table.drawn]
    what = "Mechanisms" if table.roles.series == ("mechanism",) else "Curves"
    return f"{what} drawn: {'; '.join(names)}." if names else "No mechanism has a number to draw."


def absent(table: View) -> list[str]:
    """A sentence for each mechanism without a number anywhere, and for each mechanism and status elsewhere."""
    return [
        *(
            sentence(f"Not drawn: {table.label(name)} ({'; '.join(reasons)})")
            for name, reasons in table.never_drawn.items()
        ),
        *_missing(table),
    ]


def _missing(table: View) -> list[str]:
    """A sentence per mechanism and status, for those that are drawn somewhere."""
    found: dict[tuple[Name, str], list[tuple[Panel, Gap]]] = {}
    for panel in table.panels:
        for gap in panel.gaps:
            if gap.name in table.drawn:
                found.setdefault((gap.name, gap.status), []).append((panel, gap))
    sentences = []
    for (name, status), gaps in found.items():
        where = places([(panel, gap.where) for panel, gap in gaps], table)
        why = "; ".join(told([reason for _, gap in gaps for reason in gap.reasons]))
        sentences.append(f"{table.label(name)} is missing for {where} ({status}: {why}).")
    return sentences


def places(found: list[tuple[Panel, tuple[float, ...]]], table: View) -> str:
    """Workloads by the part of the axis that they share: "Prefix, Total at n ≥ 32; Histogram at n = 8"."""
    by_span: dict[str, dict[str, None]] = {}
    for panel, where in found:
        by_span.setdefault(span(where, panel.x, table.axis), {})[panel.title] = None
    panels = {panel.title for panel in table.panels}
    every = "every workload" if "workload" in table.roles.panels else "every panel"
    texts = []
    for place, names in by_span.items():
        who = every if len(names) == len(panels) > 1 else ", ".join(names)
        texts.append(f"{who} at {place}" if place else who)
    return "; ".join(texts)
