"""Text where it fits: lines of measured width, legend and footer below the panels, notes in them."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from factormech.arrays import FloatArray
from factormech.plots import axes as scales
from factormech.plots import form, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

PAD = 0.07  # inches between blocks below the panels
# Decimals of the places of panels, in parts of the figure.
PLACES = 6
NOTE_WIDTH = 0.78
# How plain text writes the norms; a character as subscript exists for digits, but not for F.
_NORM = re.compile("γ(\N{COMBINING CIRCUMFLEX ACCENT}?)(₂|₍[₀-₉]+₎|F)")
_DIGITS = str.maketrans("₀₁₂₃₄₅₆₇₈₉₍₎", "0123456789()")
# Raised digits of a power come from another font than the rest: they are set as a formula too.
_RAISED = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
_POWER = re.compile("10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)")
# Nor has the font of formulas the digit of ‖x‖₁.
_LOWERED = re.compile("(?<=‖)[₀₁₂₃₄₅₆₇₈₉]+")
# A hat over any other letter is a character of its own, which the font sets beside it or not at all.
_HATTED = re.compile("([A-Za-zα-ω])\N{COMBINING CIRCUMFLEX ACCENT}")
_CORNERS = ((1, 1), (0, 1), (0, 0), (1, 0))  # right or left, upper or lower


def wrap(figure: Figure, text: str, width: float, size: float) -> str:
    """Break a text into lines of at most ``width`` inches; words break at hyphens, or anywhere if they must.

    A dollar in the text is a dollar, not the start of a formula; norms have real subscripts.
    """
    lines: list[str] = []
    line = ""
    for piece in _pieces(figure, text, width, size):
        if line and _width(figure, (line + piece).rstrip(), size) > width:
            lines.append(line.rstrip())
            line = ""
        line += piece
    return "\n".join(map(_as_set, [*lines, line.rstrip()]))


def renderer_of(figure: Figure) -> Any:
    """Return the renderer that measures text; the figure has an Agg canvas."""
    return cast("FigureCanvasAgg", figure.canvas).get_renderer()


def place_around(
    figure: Figure, x_label: str, y_label: str, handles: list[Any], labels: list[str], footer: list[str]
) -> None:
    """Labels of the shared axes, and below them the legend and the footer.

    The figure grows by the height that these need, and its layout is then fixed.
    """
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    width, panels = (float(side) for side in figure.get_size_inches())
    size = form.text_size() + 0.5
    y_text = figure.text(0, 0, balanced(figure, y_label, panels - 0.4, size), fontsize=size, rotation=90)
    y_text.set(va="center", ha="left", multialignment="center", linespacing=1.05)
    x_text = figure.text(0, 0, wrap(figure, x_label, width, size), fontsize=size, va="bottom", ha="center")
    notes = figure.text(0, 0, "\n".join(footer), fontsize=form.small_size(), va="bottom", linespacing=1.15)
    legend = _widest_legend(figure, handles, labels)
    renderer = renderer_of(figure)
    left = PAD / 2 + y_text.get_window_extent(renderer).width / figure.dpi

    # Heights in inches, from the bottom up.
    at_legend = PAD + (_height(notes) + PAD if footer else 0.0)
    at_label = at_legend + _height(legend) + 1.5 * PAD
    below = at_label + _height(x_text) + PAD / 4
    total = panels + below
    figure.set_size_inches(width, total)
    notes.set_position((1.5 * PAD / width, PAD / total))
    legend.set_loc("lower center")
    legend.set_bbox_to_anchor((0.5, at_legend / total))
    area = (left / width, below / total, 1 - left / width, 1 - below / total)
    figure.set_layout_engine(ConstrainedLayoutEngine(rect=area, w_pad=0.04, h_pad=0.04))
    # Fixed here: laid out again for every format, text that fits in one might not fit in the next.
    figure.draw_without_rendering()
    figure.set_layout_engine(None)  # not "none": for an engine that does nothing, every format is drawn twice
    legend.set_in_layout(True)  # whoever crops the figure to what it shows, as notebooks do, keeps the legend
    # The layout's solver takes its variables in no fixed order, and the last bits of places are in the SVG's names.
    for ax in figure.axes:
        ax.set_position(tuple(np.round(ax.get_position().bounds, PLACES)))
    boxes = np.array([ax.get_position().get_points() for ax in figure.axes])
    (x0, y0), (x1, y1) = boxes.min(axis=(0, 1)), boxes.max(axis=(0, 1))
    x_text.set_position(((x0 + x1) / 2, at_label / total))
    y_text.set_position((PAD / 2 / width, (y0 + y1) / 2))


def place_note(
    figure: Figure, ax: Axes, lines: list[str], set_limits: Callable[[Axes, float, float], None] = scales.set_decades
) -> None:
    """Small text in a corner without curves; if there is none, the panel gets room at its top by ``set_limits``."""
    if not lines:
        return
    frame = ax.get_window_extent()
    room = NOTE_WIDTH * frame.width / figure.dpi
    note = ax.text(
        0,
        0,
        "\n".join(wrap(figure, line, room, form.small_size()) for line in lines),
        transform=ax.transAxes,
        fontsize=form.small_size(),
        color=style.INK,
        linespacing=1.1,
        zorder=5,
    )
    box = note.get_window_extent(renderer_of(figure))
    gap = 0.05 * figure.dpi
    size = np.array([(box.width + 2 * gap) / frame.width, (box.height + 2 * gap) / frame.height])
    points = _ink(ax)
    corner = next((c for c in _CORNERS if not _covered(points, c, size).size), None)
    if corner is None:
        corner = min(((1, 1), (0, 1)), key=lambda c: float(_highest(points, c, size)))
        _raise_top(ax, _highest(points, corner, size), float(size[1]), set_limits)
    inset = np.array([gap / frame.width, gap / frame.height])
    x, y = (inset[i] if corner[i] == 0 else 1 - inset[i] for i in (0, 1))
    note.set(position=(x, y), ha=("left", "right")[corner[0]], va=("bottom", "top")[corner[1]])
    note.set_multialignment(("left", "right")[corner[0]])


def balanced(figure: Figure, text: str, width: float, size: float) -> str:
    """Like :func:`wrap`, with lines of about equal width."""
    wrapped = wrap(figure, text, width, size)
    lines = wrapped.count("\n")
    for share in np.arange(0.95, 0.5, -0.05) if lines else ():
        narrower = wrap(figure, text, width * share, size)
        if narrower.count("\n") > lines:
            break
        wrapped = narrower
    return wrapped


def _pieces(figure: Figure, text: str, width: float, size: float) -> list[str]:
    """Return words, equations such as "ε = 4", and the blanks after them; a long piece is broken anywhere."""
    pieces: list[str] = []
    for word in re.findall(r"\S+(?: = \S+)*\s*", text):
        if _width(figure, word.rstrip(), size) <= width:
            pieces.append(word)
            continue
        for part in re.findall(r"[^-_/]+[-_/]*\s*|[-_/]+\s*", word):
            rest = part
            while _width(figure, rest.rstrip(), size) > width and len(rest) > 1:
                lengths = range(1, len(rest))
                fits = max(bisect_right(lengths, width, key=lambda k: _width(figure, rest[:k], size)), 1)
                pieces.append(rest[:fits])
                rest = rest[fits:]
            pieces.append(rest)
    return pieces


def _as_set(text: str) -> str:
    """A line as matplotlib is given it: dollars escaped, what is raised or lowered set as in formulas."""
    with_norms = _NORM.sub(_norm_as_set, text.replace("$", r"\$"))
    hatted = _HATTED.sub(lambda found: rf"$\hat{{\mathregular{{{found[1]}}}}}$", with_norms)
    lowered = _LOWERED.sub(lambda found: f"$_{{\\mathregular{{{found[0].translate(_DIGITS)}}}}}$", hatted)
    return _POWER.sub(lambda found: f"10$^{{\\mathregular{{{found[1].translate(_RAISED)}}}}}$", lowered)


def _norm_as_set(found: re.Match[str]) -> str:
    gamma = r"\hat{\mathregular{γ}}" if found[1] else r"\mathregular{γ}"
    return rf"${gamma}_{{\mathregular{{{found[2].translate(_DIGITS)}}}}}$"


def _width(figure: Figure, text: str, size: float) -> float:
    """Width of one line in inches, as it is set."""
    from matplotlib.font_manager import FontProperties

    formula = any(pattern.search(text) for pattern in (_NORM, _HATTED, _POWER, _LOWERED))
    shown = _as_set(text) if formula else text
    renderer = renderer_of(figure)
    width, _, _ = renderer.get_text_width_height_descent(shown, FontProperties(size=size), ismath=formula)
    return float(width / figure.dpi)


def _height(artist: Any) -> float:
    """Height in inches."""
    figure = artist.get_figure()
    return float(artist.get_window_extent(renderer_of(figure)).height / figure.dpi)


def _widest_legend(figure: Figure, handles: list[Any], labels: list[str]) -> Any:
    """The legend with the most columns that fit the figure's width."""
    renderer = renderer_of(figure)
    limit = figure.bbox.width - 2 * PAD * figure.dpi
    for columns in range(max(len(labels), 1), 0, -1):
        legend = figure.legend(handles, labels, ncols=columns, loc="lower center")
        legend.set_in_layout(False)
        if legend.get_window_extent(renderer).width <= limit or columns == 1:
            break
        legend.remove()
    return legend


def _ink(ax: Axes) -> FloatArray:
    """Points along every line of a panel, in its own coordinates, closer than text is high."""
    chunks = []
    for line in ax.lines:
        xy = ax.transAxes.inverted().transform(ax.transData.transform(line.get_xydata()))
        good = np.isfinite(xy).all(axis=1)
        chunks.append(xy[good])
        segments = np.flatnonzero(good[:-1] & good[1:])
        t = np.linspace(0, 1, 40)[None, :, None]
        chunks.append((xy[segments, None] * (1 - t) + xy[segments + 1, None] * t).reshape(-1, 2))
    return np.concatenate(chunks) if chunks else np.zeros((0, 2))


def _covered(points: FloatArray, corner: tuple[int, int], size: FloatArray) -> FloatArray:
    """The points in a box of this size in this corner, grown by half a marker."""
    distance = np.where(np.array(corner) == 0, points, 1 - points)
    return points[(distance < size + 0.02).all(axis=1)]


def _highest(points: FloatArray, corner: tuple[int, int], size: FloatArray) -> float:
    below = _covered(points, corner, np.array([size[0], 2.0]))
    return float(below[:, 1].max(initial=0.0))


def _raise_top(ax: Axes, highest: float, needed: float, set_limits: Callable[[Axes, float, float], None]) -> None:
    """Stretch the axis until what is now at height ``highest`` is below the top ``needed`` of the panel."""
    bottom, top = np.log10(ax.get_ylim())
    share = max(1 - needed - 0.03, 0.2)
    set_limits(ax, float(bottom), float(bottom + (top - bottom) * max(highest / share, 1.0)))
