"""How a figure is printed: its width, the size and family of its text, and colours or greys.

The default is the form of the project's own figures. A manuscript asks for another one::

    with form.printed(form.Form(width=3.33, size=7.0)):
        figure = draw(kind, frame)

The form is read while a figure is drawn and saved, so lines of text are measured and broken at their final size.
Nothing is scaled afterwards.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from factormech.errors import BadValue

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Points; small text is this share of the other text.
SIZE, SMALL = 8.0, 6.5 / 8.0
SIZES, WIDTHS = (5.0, 14.0), (2.0, 20.0)
# The narrowest panel in inches, at the default size of text, with room for the labels of its axis.
NARROWEST = 1.6
# What is drawn as a line is no lighter than this in grey, so that it is seen on white.
LIGHTEST_LINE = 0.45
# Both come with matplotlib, so that every machine draws the same letters. DejaVu has the characters that the other
# lacks.
FAMILIES = {"serif": (["STIXGeneral", "DejaVu Sans"], "stix"), "sans": (["DejaVu Sans"], "dejavusans")}


@dataclass(frozen=True)
class Form:
    """A form of print.

    Parameters
    ----------
    width
        Of the figure, in inches; the width that suits its panels, if ``None``.
    size
        Of its text, in points.
    font
        ``serif``, ``sans``, or the name of a font that is installed.
    monochrome
        Whether colours are replaced by greys; curves differ by their markers and lines, too.
    """

    width: float | None = None
    size: float = SIZE
    font: str = "serif"
    monochrome: bool = False

    def __post_init__(self) -> None:
        """Refuse what cannot be printed."""
        if self.width is not None and not WIDTHS[0] <= self.width <= WIDTHS[1]:
            rule = f"be from {WIDTHS[0]:g} to {WIDTHS[1]:g} inches"
            raise BadValue("width", self.width, rule, "give for example 3.33in for one column of a page")
        if not SIZES[0] <= self.size <= SIZES[1]:
            rule = f"be from {SIZES[0]:g} to {SIZES[1]:g} points"
            raise BadValue("size", self.size, rule, "give the size of the manuscript's captions, for example 8")


_FORM: ContextVar[Form] = ContextVar("the form of print", default=Form())  # noqa: B039 (a frozen dataclass)


@contextmanager
def printed(form: Form) -> Iterator[None]:
    """Draw figures in this form within the context."""
    token = _FORM.set(form)
    try:
        yield
    finally:
        _FORM.reset(token)


def filled(width: float | None, size: float | None) -> Form:
    """Return the present form with what a study says of width and size, where no other form of print is asked for."""
    asked = _FORM.get()
    if asked == Form():
        asked = replace(asked, width=width, size=size or asked.size)
    return asked


def text_size() -> float:
    """Return the size of text in points."""
    return _FORM.get().size


def small_size() -> float:
    """Return the size of small text in points: notes in panels, the footer."""
    return SMALL * _FORM.get().size


def figure_size(width: float, height: float) -> tuple[float, float]:
    """Return the size in inches of a figure that is this large by itself."""
    asked = _FORM.get().width
    return (width, height) if asked is None else (asked, height * asked / width)


def columns(wanted: int) -> int:
    """Return how many panels of ``wanted`` stand side by side."""
    form = _FORM.get()
    if form.width is None:
        return wanted
    return max(1, min(wanted, math.floor(form.width / (NARROWEST * form.size / SIZE) + 1e-9)))


def settings() -> dict[str, Any]:
    """Return matplotlib's settings of text."""
    form = _FORM.get()
    families, formulas = FAMILIES.get(form.font) or _installed(form.font)
    return {
        "font.family": families,
        "mathtext.fontset": formulas,
        "font.size": form.size,
        "axes.titlesize": form.size + 0.5,
        "axes.labelsize": form.size + 0.5,
        "xtick.labelsize": form.size - 0.5,
        "ytick.labelsize": form.size - 0.5,
        "legend.fontsize": form.size,
    }


def _installed(font: str) -> tuple[list[str], str]:
    from matplotlib import font_manager

    try:
        font_manager.findfont(font, fallback_to_default=False)
    except ValueError:
        rule = f"be {', '.join(FAMILIES)} or the name of an installed font"
        raise BadValue("font", font, rule, "install the font, or choose serif or sans") from None
    return [font, *FAMILIES["serif"][0]], "stix"


def in_grey(figure: Figure) -> None:
    """Replace every colour of a figure by the grey of the same luminance; lines are darkened to be seen on white."""
    from matplotlib.collections import Collection, LineCollection
    from matplotlib.image import AxesImage
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch
    from matplotlib.text import Text

    for artist in figure.findobj():
        if isinstance(artist, Line2D):
            artist.set_color(_grey(artist.get_color(), line=True))
            artist.set_markerfacecolor(_grey(artist.get_markerfacecolor(), line=True))
            artist.set_markeredgecolor(_grey(artist.get_markeredgecolor(), line=True))
        elif isinstance(artist, Collection):
            line = isinstance(artist, LineCollection)
            if artist.get_array() is not None:
                artist.set_cmap(_grey_map(artist.get_cmap()))
            else:
                artist.set_facecolor([_grey(colour, line=line) for colour in artist.get_facecolor()])
            artist.set_edgecolor([_grey(colour, line=line) for colour in artist.get_edgecolor()])
        elif isinstance(artist, Patch):
            artist.set(facecolor=_grey(artist.get_facecolor()), edgecolor=_grey(artist.get_edgecolor()))
        elif isinstance(artist, AxesImage):
            artist.set_cmap(_grey_map(artist.get_cmap()))
        elif isinstance(artist, Text):
            artist.set_color(_grey(artist.get_color()))


def _grey_map(colours: Any) -> Any:
    from matplotlib.colors import ListedColormap

    return ListedColormap([_grey(colour) for colour in colours(range(colours.N))])


def _grey(colour: Any, *, line: bool = False) -> Any:
    """A colour's grey (ITU-R BT.709), of the same opacity; a colour that is grey already, and "none", are kept."""
    from matplotlib.colors import to_rgba

    if isinstance(colour, str) and colour in ("none", "auto"):
        return colour
    red, green, blue, alpha = to_rgba(colour)
    if red == green == blue:
        return red, green, blue, alpha
    grey = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    return (*(min(grey, LIGHTEST_LINE) if line else grey,) * 3, alpha)
