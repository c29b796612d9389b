"""What holds of every figure: no text is cut off or covers another."""

from __future__ import annotations

import itertools
from typing import Any

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.text import Text

from factormech.plots import registry, style
from factormech.plots.text import renderer_of
from factormech.tables.kinds import kind_of


def said(title: str, text: str, frame: pd.DataFrame, **options: bool) -> str:
    """All that is said of a figure: its caption, and its notes."""
    found = registry.words(kind_of(frame), title, text, frame, **options)
    return f"{found.caption} {found.notes}".strip()


def text_boxes(figure: Figure) -> list[tuple[str, Any]]:
    """Every visible text of a figure and its box in pixels."""
    renderer = renderer_of(figure)
    with style.context():
        figure.draw_without_rendering()
        texts = [t for t in figure.findobj(Text) if t.get_visible() and t.get_text().strip()]
        return [(t.get_text(), t.get_window_extent(renderer)) for t in texts]


def assert_no_overlaps(figure: Figure) -> None:
    boxes = text_boxes(figure)
    assert len(boxes) > 8
    for text, box in boxes:
        assert min(box.x0, box.y0) >= 0, text
        assert box.x1 <= figure.bbox.width, text
        assert box.y1 <= figure.bbox.height, text
    for (a, box), (b, other) in itertools.combinations(boxes, 2):
        width = min(box.x1, other.x1) - max(box.x0, other.x0)
        height = min(box.y1, other.y1) - max(box.y0, other.y0)
        assert min(width, height) < 0.5, (a, b)
    # Nothing but titles and ticks comes between the panels, and the legend is below all of them.
    legend = figure.legends[0].get_window_extent(renderer_of(figure))
    assert all(legend.y1 < ax.get_tightbbox().y0 for ax in figure.axes)
