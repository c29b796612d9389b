"""The figures: what draws a study, and its caption.

A kind of study says what its figure shows (:class:`factormech.experiments.curves.Curves`), or names the module that
draws it, with ``draw(frame) -> Figure`` and ``words(title, text, frame) -> Words``
(:mod:`factormech.figures.captions`), which take the kind's settings of
the stage ``figure`` by keyword.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

from factormech.experiments import registry as experiments

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from factormech.figures.captions import Words

# What draws the kinds that say what their figure shows.
DECLARED = "factormech.figures.declared"


def module_of(kind: str) -> str:
    """The module that draws a kind."""
    figure = experiments.experiment(kind).figure
    return figure if isinstance(figure, str) else DECLARED


def draw(kind: str, frame: pd.DataFrame, **settings: Any) -> Figure:
    """The figure of a table of this kind."""
    return cast("Figure", import_module(module_of(kind)).draw(frame, **_declared(kind), **settings))


def caption(kind: str, study_title: str, caption_text: str, frame: pd.DataFrame, **settings: Any) -> str:
    """The caption of the figure of this kind for a table, with the study's own words."""
    return words(kind, study_title, caption_text, frame, **settings).caption


def notes(kind: str, study_title: str, caption_text: str, frame: pd.DataFrame, **settings: Any) -> str:
    """What is said of the figure beside its caption: what is missing and why, and settings; it may be empty."""
    return words(kind, study_title, caption_text, frame, **settings).notes


def words(kind: str, study_title: str, caption_text: str, frame: pd.DataFrame, **settings: Any) -> Words:
    """Caption and notes."""
    module = import_module(module_of(kind))
    return cast("Words", module.words(study_title, caption_text, frame, **_declared(kind), **settings))


def _declared(kind: str) -> dict[str, Any]:
    return {"experiment": experiments.experiment(kind)} if module_of(kind) == DECLARED else {}
