"""The caption of a figure of compared mechanisms: what is fixed, what is drawn, what is missing and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from factormech import labels
from factormech.plots import captions
from factormech.plots.captions import absent, drawn, fixed_and_varied, places, sentence
from factormech.studies.drawing import Drawing
from factormech.tables.panels import View, grouped, view

if TYPE_CHECKING:
    import pandas as pd

    from factormech.studies.base import Experiment

BOUNDS = {
    "svd": "from the singular values of the workload (McKenna, Maity, Mazumdar & Miklau, PVLDB 13(11), 2020, "
    "Corollary 5.7)",
    "centred-svd": "a stronger closed form, from the singular values of the workload after subtracting "
    "the mean of its columns",
    "parametric": "the same with weights of the user types, chosen by a concave problem",
    "pairwise": "the same with weights of the pairs of user types",
    "certified": "the largest of this package's bounds that a domain of this size affords",
}


def words(
    title: str,
    text: str,
    frame: pd.DataFrame,
    *,
    experiment: Experiment,
    drawing: Drawing | None = None,
    band: bool = False,
    groups: Mapping[str, Sequence[str]] | None = None,
) -> captions.Words:
    """Caption and notes of a study's figure, whose strongest bound is drawn as a band if ``band`` says so."""
    table = grouped(view(frame, experiment, drawing), groups or {})
    shown = table.shown
    counts = {column: int(frame[column].nunique()) for column in ("start", "seed") if column in frame}
    impossible, bounds = (_band(table) if band else _bounds(table)) if shown.height == "bounds" else (_floor(table), [])
    what = f"{shown.what.format(accuracy=accuracy(table))}, {fixed_and_varied(table)}"
    return captions.words(
        [
            captions.lead(title, what),
            text,
            *(line.format(**counts) for line in shown.text),
            impossible,
            "" if shown.points else table.summary,
        ],
        [
            *shown.notes,
            drawn(table),
            *bounds,
            *_ratio_bounds(table, frame),
            *absent(table),
            *table.left_out,
        ],
    )


def accuracy(table: View) -> str:
    """Return the target error; where α has several values, its letter."""
    metrics, alphas = table.accuracy
    if not metrics:
        return ""
    varies = len(alphas) > 1 and "alpha" not in table.roles.summarised
    return labels.accuracy(" or ".join(metrics), "α" if varies else alphas[0])


def _ratio_bounds(table: View, frame: pd.DataFrame) -> list[str]:
    """Which bounds the ratios are over."""
    return (
        [bound_words(list(dict.fromkeys(filter(None, frame["bound_name"]))))] if table.shown.height == "ratio" else []
    )


def _bounds(table: View) -> tuple[str, list[str]]:
    """Return the sentences on what no mechanism can do, and on every bound."""
    if not table.bounds:
        return "", []
    shaded = "bound" if len(table.bounds) == 1 else "strongest bound"
    below = f"No unbiased linear ε-LDP strategy needs fewer users than the {shaded} (below it: shaded)."
    return below, [_bound(name, table) for name in table.bounds]


def _bound(name: str, table: View) -> str:
    """Return a sentence on one bound: its name, and where it is vacuous."""
    what = f": {BOUNDS[name]}" if name in BOUNDS else ""
    lines = [(panel, bound) for panel in table.panels for bound in panel.bounds if bound.name == name]
    vacuous = [(panel, tuple(panel.x[bound.middle <= 0].tolist())) for panel, bound in lines]
    vacuous = [(panel, where) for panel, where in vacuous if where]
    nothing = f"; it is 0 or less, which says nothing, for {places(vacuous, table)}" if vacuous else ""
    return sentence(f"{labels.bound_label(name)}{what}{nothing}")


def bound_words(names: list[str]) -> str:
    """Which bounds the strongest is, in words."""
    words = [labels.bound_label(name) + (f": {BOUNDS[name]}" if name in BOUNDS else "") for name in names]
    return sentence(
        ("The bound is, where it is the strongest of the study's, " if len(names) > 1 else "The bound: ")
        + "; ".join(words)
    )


def _floor(table: View) -> str:
    """Return the sentence on what no strategy can do, for ratios over the bounds of the table."""
    return "No unbiased linear ε-LDP strategy of any number of outputs is below 1." if table.bounds else ""


def _band(table: View) -> tuple[str, list[str]]:
    """Return the text on the band: what no strategy can do, which bounds make its edge and where, and other lines."""
    if not table.bounds:
        return "", []
    names = [labels.bound_label(name) for name in table.bounds]
    best = names[0] if len(names) == 1 else f"the largest, at each point, of: {'; '.join(names)}"
    published = [_bound(name, table) for name in table.bounds if name in labels.PUBLISHED_BOUNDS]
    return "No unbiased linear ε-LDP strategy of any number of outputs lies in the band; strips: users over it.", [
        f"The edge of the band is {best}",
        *published,
    ]
