"""The caption of a figure of sample complexities: what is fixed, what is drawn, what is missing and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

from factormech import labels
from factormech.figures.captions import sentence
from factormech.tables.panels import Gap, Panel, View, number, span, told, view

if TYPE_CHECKING:
    import pandas as pd

BOUNDS = {
    "svd": "from the singular values of the workload (McKenna, Maity, Mazumdar & Miklau, PVLDB 13(11), 2020, "
    "Corollary 5.7)",
    "centred-svd": "a stronger closed form, from the singular values of the workload after subtracting "
    "the mean of its columns",
    "parametric": "the same with weights of the user types, chosen by a concave problem",
    "certified": "the dual certificate that the optimiser ends with, checked on its own",
}


def caption(study_title: str, caption_text: str, frame: pd.DataFrame, *, band: bool = False) -> str:
    """The caption of a study's figure, in plain text.

    Parameters
    ----------
    study_title, caption_text
        The study's own words: the paper and its artefact, and what to see. Either may be empty.
    frame
        The table that the figure draws (:mod:`factormech.tables.sample_complexity`).
    band
        Whether the strongest bound is drawn as a band.
    """
    table = view(frame)
    sentences = [
        sentence(study_title),
        sentence(caption_text),
        _parameters(table),
        _drawn(table),
        _band(table) if band else _bounds(table),
        *(_never(name, reasons) for name, reasons in table.never_drawn.items()),
        *_missing(table),
    ]
    return " ".join(text for text in sentences if text)


def _parameters(table: View) -> str:
    varied = "privacy budget ε" if table.axis == "epsilon" else "domain size n"
    fixed = f"n = {number(table.fixed)}" if table.axis == "epsilon" else f"ε = {number(table.fixed)}"
    x = table.panels[0].x
    across = f"{varied} from {number(x[0])} to {number(x[-1])}" if len(x) > 1 else f"{varied} = {number(x[0])}"
    seeds = (
        f" Lines are medians over {table.seeds} seeds, bands reach from the least to the largest."
        if table.seeds > 1
        else ""
    )
    panels = ", ".join(labels.workload_label(panel.workload) for panel in table.panels)
    return (
        f"Users needed for {labels.accuracy(table.metric, table.alpha)}, against {across}, with {fixed}; "
        f"workloads: {panels}.{seeds}"
    )


def _drawn(table: View) -> str:
    names = [labels.mechanism_label(name) for name in table.drawn]
    return f"Mechanisms drawn: {', '.join(names)}." if names else "No mechanism has a number to draw."


def _bounds(table: View) -> str:
    if not table.bounds:
        return ""
    shaded = "bound" if len(table.bounds) == 1 else "strongest bound"
    sentences = [f"No mechanism can need fewer users than the {shaded} (shaded: impossible)."]
    for i, name in enumerate(table.bounds):
        sentences.append(_bound(i, name, table))
    return " ".join(sentences)


def _bound(i: int, name: str, table: View) -> str:
    """One bound: what it is, and where it says nothing."""
    what = f": {BOUNDS[name]}" if name in BOUNDS else ""
    vacuous = [(panel, tuple(panel.x[panel.bounds[i].middle <= 0].tolist())) for panel in table.panels]
    vacuous = [(panel, where) for panel, where in vacuous if where]
    nothing = f"; it is 0 or less, which says nothing, for {_places(vacuous, table)}" if vacuous else ""
    return sentence(f"{labels.bound_label(name)}{what}{nothing}")


def _band(table: View) -> str:
    """The band, which bounds make its edge and where, and the lines beside it."""
    if not table.bounds:
        return ""
    names = [labels.bound_label(name) for name in table.bounds]
    best = names[0] if len(names) == 1 else f"the largest, at each point, of: {'; '.join(names)}"
    sentences = [f"No ε-LDP strategy of any number of outputs lies in the band; its edge is {sentence(best)}"]
    for i, name in enumerate(table.bounds):
        if name in labels.PUBLISHED_BOUNDS:
            sentences.append(_bound(i, name, table))
    return " ".join(sentences)


def _never(name: str, reasons: tuple[str, ...]) -> str:
    return sentence(f"Not drawn: {labels.mechanism_label(name)} ({'; '.join(reasons)})")


def _missing(table: View) -> list[str]:
    """A sentence per mechanism and status, for those that are drawn somewhere."""
    found: dict[tuple[str, str], list[tuple[Panel, Gap]]] = {}
    for panel in table.panels:
        for gap in panel.gaps:
            if gap.name in table.drawn:
                found.setdefault((gap.name, gap.status), []).append((panel, gap))
    sentences = []
    for (name, status), gaps in found.items():
        where = _places([(panel, gap.where) for panel, gap in gaps], table)
        why = "; ".join(told([reason for _, gap in gaps for reason in gap.reasons]))
        sentences.append(f"{labels.mechanism_label(name)} is missing for {where} ({status}: {why}).")
    return sentences


def _places(found: list[tuple[Panel, tuple[float, ...]]], table: View) -> str:
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
