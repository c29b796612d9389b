"""Captions of figures, in plain text, from the same tables as the figures."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from factormech import labels
from factormech.tables.panels import Gap, Panel, View, number, span, told

if TYPE_CHECKING:
    import pandas as pd


def caption(study_title: str, caption_text: str, frame: pd.DataFrame) -> str:
    """The caption of a study's figure, of the kind that its table says: see ``registry.caption``."""
    from factormech.figures import registry
    from factormech.tables.kinds import kind_of

    return registry.caption(kind_of(frame), study_title, caption_text, frame)


def sentence(text: str) -> str:
    """A text on one line, ending as a sentence does."""
    text = " ".join(text.split())
    return text if not text or text[-1] in ".!?" else text + "."


def capital(text: str) -> str:
    """A text with a capital at its start."""
    return text[:1].upper() + text[1:]


def paragraph(sentences: Iterable[str]) -> str:
    """Sentences one after the other; those that say nothing are left out."""
    return " ".join(text for text in sentences if text)


def fixed_and_varied(table: View) -> str:
    """What varies, what is fixed, and the workloads: "against … from 8 to 64, with ε = 1; workloads: Prefix"."""
    varied = {"epsilon": "privacy budget ε", "domain_size": "domain size n", "row_factor": "rows over domain size m/n"}
    fixed = f"n = {number(table.fixed)}" if table.axis == "epsilon" else f"ε = {number(table.fixed)}"
    x = table.panels[0].x
    across = f"from {number(x[0])} to {number(x[-1])}" if len(x) > 1 else f"= {number(x[0])}"
    panels = ", ".join(labels.workload_label(panel.workload) for panel in table.panels)
    return f"against {varied[table.axis]} {across}, with {fixed}; workloads: {panels}"


def drawn(table: View) -> str:
    """The mechanisms with a number somewhere."""
    names = [labels.mechanism_label(name) for name in table.drawn]
    return f"Mechanisms drawn: {', '.join(names)}." if names else "No mechanism has a number to draw."


def absent(table: View) -> list[str]:
    """A sentence for each mechanism without a number anywhere, and for each mechanism and status elsewhere."""
    return [
        *(
            sentence(f"Not drawn: {labels.mechanism_label(name)} ({'; '.join(reasons)})")
            for name, reasons in table.never_drawn.items()
        ),
        *_missing(table),
    ]


def _missing(table: View) -> list[str]:
    """A sentence per mechanism and status, for those that are drawn somewhere."""
    found: dict[tuple[str, str], list[tuple[Panel, Gap]]] = {}
    for panel in table.panels:
        for gap in panel.gaps:
            if gap.name in table.drawn:
                found.setdefault((gap.name, gap.status), []).append((panel, gap))
    sentences = []
    for (name, status), gaps in found.items():
        where = places([(panel, gap.where) for panel, gap in gaps], table)
        why = "; ".join(told([reason for _, gap in gaps for reason in gap.reasons]))
        sentences.append(f"{labels.mechanism_label(name)} is missing for {where} ({status}: {why}).")
    return sentences


def places(found: list[tuple[Panel, tuple[float, ...]]], table: View) -> str:
    """Workloads by the part of the axis that they share: "Prefix, Total at n ≥ 32; Histogram at n = 8"."""
    by_span: dict[str, list[str]] = {}
    for panel, where in found:
        by_span.setdefault(span(where, panel.x, table.axis), []).append(labels.workload_label(panel.workload))
    several = len(table.panels) > 1
    texts = []
    for place, names in by_span.items():
        who = "every workload" if several and len(names) == len(table.panels) else ", ".join(names)
        texts.append(f"{who} at {place}" if place else who)
    return "; ".join(texts)
