"""Panels of coloured cells with their numbers: what figures over two parameters share."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from factormech.arrays import FloatArray
from factormech.plots import form, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap

# Relative luminance at which black and white have the same contrast, (L + 0.05)² = 0.05·1.05 (WCAG 2).
_EQUAL = (0.05 * 1.05) ** 0.5 - 0.05


def draw_cells(
    ax: Axes,
    values: FloatArray,
    colours: Colormap,
    ends: tuple[float, float],
    told: Callable[[float], str],
    x: list[str],
    y: list[str],
) -> None:
    """``values``, lines upwards, as colours of their logarithms between those of ``ends``; ``told`` says a number."""
    low, high = np.log(ends)
    ax.grid(visible=False)
    ax.set_facecolor(style.IMPOSSIBLE)
    logs = np.log(values)
    ax.imshow(logs, cmap=colours, vmin=low, vmax=high, aspect="auto", origin="lower")
    for (i, j), value in np.ndenumerate(values):
        if np.isfinite(value):
            colour = ink(colours(float(np.clip((logs[i, j] - low) / (high - low), 0.0, 1.0)))[:3])
            ax.text(j, i, told(float(value)), ha="center", va="center", fontsize=form.small_size(), color=colour)
    ax.set_xticks(range(len(x)), x)
    ax.set_yticks(range(len(y)), y)
    ax.tick_params(length=0)


def shades(*colours: str) -> Colormap:
    """A map of colours through these."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("cells", list(colours))


def ink(background: tuple[float, ...]) -> str:
    """Black or white, whichever has the larger contrast on this colour (red, green and blue from 0 to 1)."""
    c = np.array(background[:3])
    linear = np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)
    return style.BLACK if float(linear @ np.array([0.2126, 0.7152, 0.0722])) > _EQUAL else style.WHITE
