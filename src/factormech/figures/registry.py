"""The kinds of figure.

To add one, write a module with ``draw(frame) -> Figure``, which draws a table (:mod:`factormech.tables.kinds`), and
``words(title, text, frame) -> Words`` (:mod:`factormech.figures.captions`), which says what it draws; and add its line
to :data:`KINDS`. The kinds of :mod:`factormech.experiments` need no line: each says what its figure shows, or which
module draws it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

from factormech.errors import BadValue, UnknownName
from factormech.experiments import registry as experiments

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from factormech.figures.captions import Words

KINDS = {
    "sample-complexity": "factormech.figures.sample_complexity",
    "simulated-collection": "factormech.figures.simulated_collection",
    "data-dependent": "factormech.figures.data_dependent",
    "consistency": "factormech.figures.consistency",
    "optimality-gap": "factormech.figures.optimality_gap",
    "initialisation": "factormech.figures.initialisation",
    "timing": "factormech.figures.timing",
    "norms": "factormech.figures.norms",
    "prefix-factorizations": "factormech.figures.prefix_factorizations",
}
# The kinds that can draw a lower bound as a band.
BANDED = frozenset({"sample-complexity"})
# What draws the experiments that say what their figure shows.
DECLARED = "factormech.figures.declared"


def names() -> list[str]:
    """The known kinds, sorted."""
    return sorted([*KINDS, *experiments.names()])


def module_of(kind: str) -> str:
    """The module that draws a kind."""
    if kind in KINDS:
        return KINDS[kind]
    if not experiments.is_experiment(kind):
        raise UnknownName("kind of figure", kind, names())
    figure = experiments.experiment(kind).figure
    return figure if isinstance(figure, str) else DECLARED


def draw(kind: str, frame: pd.DataFrame, *, band: bool = False) -> Figure:
    """The figure of this kind for a table; ``band``, where the kind has one, draws the strongest bound as a band."""
    return cast("Figure", import_module(module_of(kind)).draw(frame, **_options(kind, band=band)))


def caption(kind: str, study_title: str, caption_text: str, frame: pd.DataFrame, *, band: bool = False) -> str:
    """The caption of the figure of this kind for a table, with the study's own words."""
    return words(kind, study_title, caption_text, frame, band=band).caption


def notes(kind: str, study_title: str, caption_text: str, frame: pd.DataFrame, *, band: bool = False) -> str:
    """What is said of the figure beside its caption: what is missing and why, and settings; it may be empty."""
    return words(kind, study_title, caption_text, frame, band=band).notes


def words(kind: str, study_title: str, caption_text: str, frame: pd.DataFrame, *, band: bool = False) -> Words:
    """Caption and notes."""
    options = _options(kind, band=band)
    return cast("Words", import_module(module_of(kind)).words(study_title, caption_text, frame, **options))


def _options(kind: str, *, band: bool) -> dict[str, Any]:
    if band and kind not in BANDED:
        remedy = f"leave it out; kinds with one: {', '.join(sorted(BANDED))}"
        raise BadValue("band", band, f"not be asked of a figure of kind {kind}", remedy)
    declared = {"experiment": experiments.experiment(kind)} if module_of(kind) == DECLARED else {}
    return declared | ({"band": True} if band else {})
