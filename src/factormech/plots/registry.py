"""The figures: what draws a study, and its caption.

A kind of study says what its figure shows (:mod:`factormech.studies.drawn`), or names the module that
draws it, with ``draw(frame) -> Figure`` and ``words(title, text, frame) -> Words``
(:mod:`factormech.plots.captions`), which take the kind's settings of
the stage ``figure`` by keyword.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

from factormech.errors import BadValue
from factormech.plots import form
from factormech.studies import registry as experiments
from factormech.studies.drawing import Drawing
from factormech.studies.drawn import Compared, Curves
from factormech.tables.layout import named

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from factormech.plots.captions import Words

# What draws the kinds that say what their figure shows.
RENDERERS = {Curves: "factormech.plots.declared", Compared: "factormech.plots.compared"}


def module_of(kind: str) -> str:
    """The module that draws a kind."""
    figure = experiments.experiment(kind).figure
    if figure == "":
        raise BadValue("kind", kind, "be a kind of study with a figure", "read its table")
    return figure if isinstance(figure, str) else RENDERERS[type(figure)]


def draw(kind: str, frame: pd.DataFrame, *, figure: Mapping[str, Any] | None = None, **settings: Any) -> Figure:
    """Return the figure of a table of this kind; ``figure`` is the block of the study that says how it is drawn."""
    drawing, (frame, _) = Drawing.of(figure), _one_value(kind, frame)
    with form.printed(form.filled(drawing.width, drawing.font_size)):
        return cast("Figure", import_module(module_of(kind)).draw(frame, **_declared(kind, drawing), **settings))


def words(
    kind: str,
    study_title: str,
    caption_text: str,
    frame: pd.DataFrame,
    *,
    figure: Mapping[str, Any] | None = None,
    **settings: Any,
) -> Words:
    """Caption and notes."""
    module, declared = import_module(module_of(kind)), _declared(kind, Drawing.of(figure))
    frame, left_out = _one_value(kind, frame)
    found = cast("Words", module.words(study_title, caption_text, frame, **declared, **settings))
    return replace(found, notes=" ".join(filter(None, (left_out, found.notes))))


def _one_value(kind: str, frame: pd.DataFrame) -> tuple[pd.DataFrame, str]:
    """The rows that a figure of a fixed form shows, of swept quantities one value each, and a sentence that says so."""
    experiment = experiments.experiment(kind)
    told = []
    for name in experiment.swept if isinstance(experiment.figure, str) else ():
        values = sorted(set(frame[name]))
        if len(values) > 1:
            frame = frame[frame[name] == values[0]]
            told.append(named(experiment.column(name), values[0]))
    return frame, f"The figure shows {' and '.join(told)} alone; the table has all values." if told else ""


def _declared(kind: str, drawing: Drawing) -> dict[str, Any]:
    experiment = experiments.experiment(kind)
    return {} if isinstance(experiment.figure, str) else {"experiment": experiment, "drawing": drawing}
