"""An empty figure, of which every kind of figure is made."""

from __future__ import annotations

from typing import TYPE_CHECKING

from factormech.figures import form

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def empty_figure(width: float, height: float) -> Figure:
    """A figure of this size in inches, or as wide as the form of print says; no global list of pyplot has it."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=form.figure_size(width, height))
    FigureCanvasAgg(figure)
    return figure
