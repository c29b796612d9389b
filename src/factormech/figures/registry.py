"""The kinds of figure.

To add one, write a module with ``draw(frame) -> Figure``, which draws a table (:mod:`factormech.tables.kinds`), and
``caption(title, text, frame) -> str``, which says what it draws; and add its line to :data:`KINDS`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, cast

from factormech.errors import UnknownName

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

KINDS = {
    "sample-complexity": "factormech.figures.sample_complexity",
    "simulated-collection": "factormech.figures.simulated_collection",
    "data-dependent": "factormech.figures.data_dependent",
    "consistency": "factormech.figures.consistency",
}


def names() -> list[str]:
    """The known kinds, sorted."""
    return sorted(KINDS)


def module_of(kind: str) -> str:
    """The module that draws a kind."""
    if kind not in KINDS:
        raise UnknownName("kind of figure", kind, KINDS)
    return KINDS[kind]


def draw(kind: str, frame: pd.DataFrame) -> Figure:
    """The figure of this kind for a table."""
    return cast("Figure", import_module(module_of(kind)).draw(frame))


def caption(kind: str, study_title: str, caption_text: str, frame: pd.DataFrame) -> str:
    """The caption of the figure of this kind for a table, after the study's own words."""
    return cast("str", import_module(module_of(kind)).caption(study_title, caption_text, frame))
