"""The caption of a figure of sample complexities: what is fixed, what is drawn, what is missing and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

from factormech import labels
from factormech.figures import captions
from factormech.figures.captions import absent, drawn, fixed_and_varied, places, sentence
from factormech.tables.panels import View, view

if TYPE_CHECKING:
    import pandas as pd

BOUNDS = {
    "svd": "from the singular values of the workload (McKenna, Maity, Mazumdar & Miklau, PVLDB 13(11), 2020, "
    "Corollary 5.7)",
    "centred-svd": "a stronger closed form, from the singular values of the workload after subtracting "
    "the mean of its columns",
    "parametric": "the same with weights of the user types, chosen by a concave problem",
    "pairwise": "the same with weights of the pairs of user types",
    "certified": "the largest of this package's bounds that a domain of this size affords",
}


def words(title: str, text: str, frame: pd.DataFrame, *, band: bool = False) -> captions.Words:
    """Caption and notes of a study's figure, whose strongest bound is drawn as a band if ``band`` says so."""
    table = view(frame)
    seeds = f"Lines are medians over {table.seeds} seeds, bands reach from the least to the largest."
    impossible, bounds = _band(table) if band else _bounds(table)
    return captions.words(
        [
            captions.lead(
                title, f"users needed for {labels.accuracy(table.metric, table.alpha)}, {fixed_and_varied(table)}"
            ),
            text,
            impossible,
            seeds if table.seeds > 1 else "",
        ],
        [drawn(table), *bounds, *absent(table)],
    )


def _bounds(table: View) -> tuple[str, list[str]]:
    """What no mechanism can do, and every bound."""
    if not table.bounds:
        return "", []
    shaded = "bound" if len(table.bounds) == 1 else "strongest bound"
    below = f"No unbiased linear ε-LDP strategy needs fewer users than the {shaded} (below it: shaded)."
    return below, [_bound(i, name, table) for i, name in enumerate(table.bounds)]


def _bound(i: int, name: str, table: View) -> str:
    """One bound: what it is, and where it says nothing."""
    what = f": {BOUNDS[name]}" if name in BOUNDS else ""
    vacuous = [(panel, tuple(panel.x[panel.bounds[i].middle <= 0].tolist())) for panel in table.panels]
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


def _band(table: View) -> tuple[str, list[str]]:
    """What no strategy can do, which bounds make the edge of the band and where, and the lines beside it."""
    if not table.bounds:
        return "", []
    names = [labels.bound_label(name) for name in table.bounds]
    best = names[0] if len(names) == 1 else f"the largest, at each point, of: {'; '.join(names)}"
    published = [_bound(i, name, table) for i, name in enumerate(table.bounds) if name in labels.PUBLISHED_BOUNDS]
    return "No unbiased linear ε-LDP strategy of any number of outputs lies in the band.", [
        f"The edge of the band is {best}",
        *published,
    ]
