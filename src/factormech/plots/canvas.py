"""An empty figure, of which every kind of figure is made."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from factormech.plots import form, style

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def empty_figure(width: float, height: float) -> Figure:
    """Return a figure of this size in inches, or as wide as the form of print says; no global list of pyplot has it."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    class NotebookFigure(Figure):
        """A figure that a notebook shows where it is the value of a cell, without pyplot and its backends."""

        def _repr_png_(self) -> bytes:
            stream = io.BytesIO()
            self.savefig(stream, format="png", dpi=120, facecolor=style.WHITE)
            return stream.getvalue()

    figure = NotebookFigure(figsize=form.figure_size(width, height))
    FigureCanvasAgg(figure)
    return figure
