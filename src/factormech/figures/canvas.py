"""An empty figure, of which every kind of figure is made."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def empty_figure(width: float, height: float) -> Figure:
    """A figure of this size in inches; not pyplot's: it belongs to its caller, not to a global list."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height))
    FigureCanvasAgg(figure)
    return figure
