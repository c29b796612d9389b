"""One look for every figure: how mechanisms and bounds are drawn.

Colours are those of Okabe & Ito ("Color Universal Design", 2008) without the yellow, which is too pale for
thin lines on white, plus a wine red and, for mechanisms that this module does not know, an indigo. Any two of
them stay :data:`LEAST_DISTANCE` apart in CIELAB (1976) for normal, protanope and deuteranope eyes. Mechanisms
of one family share their colour and differ by marker and line; every marker belongs to one mechanism, so that
markers alone suffice.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from factormech import labels
from factormech.plots import form

Marker: TypeAlias = str | tuple[int, int, int]
Line: TypeAlias = str | tuple[int, tuple[float, ...]]

# ΔE*ab = √(ΔL² + Δa² + Δb²). Okabe & Ito's own closest pair (green and purple, deuteranope) has 17.9.
LEAST_DISTANCE = 17.0

ORANGE, SKY, GREEN, BLUE = "#E69F00", "#56B4E9", "#009E73", "#0072B2"
VERMILLION, PURPLE, BLACK = "#D55E00", "#CC79A7", "#000000"
WINE, INDIGO = "#882255", "#332288"
GREY, IMPOSSIBLE = "#6E6E6E", "#EDEDED"
WHITE, PALE_SKY = "#FFFFFF", "#DDEFFA"
# Of notes, of lines that are no data, and of the grid behind them.
INK, DARK, GRID = "#303030", "#404040", "#D9D9D9"
# A band below a certified bound, and its edge: warm and pale, behind every colour of a mechanism.
BAND, BAND_EDGE = "#F3E3DC", "#A98274"

SOLID: Line = "-"
DASHED: Line = (0, (4.0, 1.6))
DASH_DOTTED: Line = (0, (4.0, 1.4, 1.0, 1.4))
DOTTED: Line = (0, (1.0, 1.4))
# Where lines tell curves apart, in this order.
LINES: tuple[Line, ...] = (SOLID, DASHED, DASH_DOTTED, DOTTED)

# Widths in inches of a figure with one, two and three columns of panels; the last is a page of two columns.
WIDTHS = {1: 5.2, 2: 6.0, 3: 7.0}
# The edge of a shaded area, in the panel and in the legend; of the grey area, the legend alone has one.
EDGE: dict[str, Any] = {"color": BAND_EDGE, "linewidth": 1.3, "solid_capstyle": "butt", "zorder": 1.6}
PATCH_EDGE, IMPOSSIBLE_EDGE = 0.8, "#C8C8C8"
# The line at 1 of an axis of ratios.
ONE: dict[str, Any] = {"color": DARK, "linewidth": 0.8}


@dataclass(frozen=True)
class Style:
    """How one mechanism or bound is drawn; ``filled`` markers are for what a figure is about.

    Some markers look smaller than they are: ``scale`` makes up for it.
    """

    label: str
    colour: str
    marker: Marker
    line: Line
    filled: bool = False
    scale: float = 1.0


MECHANISMS: dict[str, Style] = {
    "randomized-response": Style(labels.MECHANISMS["randomized-response"], ORANGE, "o", SOLID),
    "rappor": Style(labels.MECHANISMS["rappor"], SKY, "s", SOLID),
    "subset-selection": Style(labels.MECHANISMS["subset-selection"], WINE, "D", SOLID),
    "hadamard": Style(labels.MECHANISMS["hadamard"], BLUE, "^", SOLID),
    "hadamard-table1": Style(labels.MECHANISMS["hadamard-table1"], BLUE, "v", DASHED),
    "hierarchical": Style(labels.MECHANISMS["hierarchical"], GREEN, ">", SOLID),
    "hierarchical-table1": Style(labels.MECHANISMS["hierarchical-table1"], GREEN, "<", DASHED),
    "fourier": Style(labels.MECHANISMS["fourier"], PURPLE, "P", SOLID, scale=1.1),
    "fourier-3": Style(labels.MECHANISMS["fourier-3"], PURPLE, "X", DASHED, scale=1.1),
    "matrix-l1": Style(labels.MECHANISMS["matrix-l1"], VERMILLION, "x", SOLID),
    "matrix-l2": Style(labels.MECHANISMS["matrix-l2"], VERMILLION, "+", DASHED),
    "matrix-l2-gaussian": Style(labels.MECHANISMS["matrix-l2-gaussian"], VERMILLION, "1", DASH_DOTTED, scale=1.5),
    "adaptive-pgd": Style(labels.MECHANISMS["adaptive-pgd"], BLACK, (4, 1, 0), DASHED, scale=1.6),
    "optimised": Style(labels.MECHANISMS["optimised"], BLACK, "*", SOLID, filled=True, scale=1.4),
}

NORMS: dict[str, Style] = {
    "gamma-2": Style("", BLACK, "o", SOLID),
    "gamma-f": Style("", BLUE, "s", SOLID),
    "gamma-2-approximate": Style("", VERMILLION, "^", SOLID),
    "gamma-2-shifted": Style("", GREEN, "v", SOLID),
    "gamma-2-difference": Style("", PURPLE, "P", SOLID, scale=1.1),
    "eta": Style("", ORANGE, "X", SOLID, scale=1.1),
    "margin-complexity": Style("", WINE, "D", SOLID),
}
# Of γ_(p), by increasing p.
_ORDERS: tuple[tuple[str, Marker], ...] = ((SKY, "D"), (PURPLE, "v"), (GREEN, "^"), (ORANGE, "<"), (WINE, ">"))

FACTORIZATIONS: dict[str, Style] = {
    "optimal": Style(labels.FACTORIZATIONS["optimal"], BLACK, "*", SOLID, filled=True, scale=1.4),
    "square-root": Style(labels.FACTORIZATIONS["square-root"], BLUE, "o", SOLID),
    "binary-tree": Style(labels.FACTORIZATIONS["binary-tree"], GREEN, "s", SOLID),
    "identity": Style(labels.FACTORIZATIONS["identity"], ORANGE, "x", SOLID),
}

CALIBRATIONS: dict[str, Style] = {
    "analytic": Style(labels.CALIBRATIONS["analytic"], BLUE, "o", SOLID),
    "classical": Style(labels.CALIBRATIONS["classical"], VERMILLION, "s", DASHED),
}

DIRECTIONS: dict[str, Style] = {
    "euclidean-directions": Style(labels.DIRECTIONS["euclidean-directions"], BLUE, "o", SOLID),
    "maximum-directions": Style(labels.DIRECTIONS["maximum-directions"], VERMILLION, "s", DASHED),
}

_FACTORED: dict[str, tuple[str, Marker]] = {
    "shifted": (VERMILLION, (5, 0, 0)),
    "approximate": (VERMILLION, (6, 0, 0)),
    "optimal": (BLUE, "s"),
    "half-alpha": (SKY, "v"),
    "independent": (PURPLE, "x"),
    "dyadic-tree": (GREEN, "^"),
    "dyadic-tree-plain": (GREEN, (3, 0, 30)),
    "polynomial": (WINE, "8"),
    "symmetric-polynomial": (WINE, "d"),
}
_RANDOMIZER_LINES: dict[str, Line] = {"half-sphere": SOLID, "priv-unit": DASHED, "gaussian": DOTTED}
# One colour and marker for each factorization, one line for each randomizer.
RELEASES: dict[str, Style] = {
    f"{name}/{randomizer}": Style(labels.RELEASES[f"{name}/{randomizer}"], *look, line, scale=0.9)
    for name, look in _FACTORED.items()
    for randomizer, line in _RANDOMIZER_LINES.items()
} | {"one-query": Style(labels.RELEASES["one-query"], GREY, "+", SOLID)}

APPROXIMATIONS: dict[str, Style] = {
    "shifted": Style(labels.APPROXIMATIONS["shifted"], VERMILLION, (5, 0, 0), SOLID),
    "approximate": Style(labels.APPROXIMATIONS["approximate"], BLUE, (6, 0, 0), DASHED),
}

# What shares a look with one of FACTORIZATIONS is the same, or never in a figure with it.
CENTRAL: dict[str, Style] = {
    "gamma-f": Style(labels.CENTRAL["gamma-f"], SKY, "v", SOLID),
    "gamma-p4": Style(labels.CENTRAL["gamma-p4"], PURPLE, "<", DASHED),
    "gamma-p8": Style(labels.CENTRAL["gamma-p8"], PURPLE, ">", DASH_DOTTED),
    "gamma-2": Style(labels.CENTRAL["gamma-2"], WINE, "^", SOLID),
    "square-root-normalised": Style(labels.CENTRAL["square-root-normalised"], BLUE, "D", DASHED),
    "binary-tree-plain": Style(labels.CENTRAL["binary-tree-plain"], GREEN, "P", DASHED, scale=1.1),
    "gaussian-input": Style(labels.CENTRAL["gaussian-input"], ORANGE, "x", SOLID),
    "gaussian-output": Style(labels.CENTRAL["gaussian-output"], VERMILLION, "+", SOLID, scale=1.2),
    "gaussian-projection": Style(labels.CENTRAL["gaussian-projection"], VERMILLION, "X", SOLID, filled=True, scale=1.1),
    "gamma-f-projection": Style(labels.CENTRAL["gamma-f-projection"], BLUE, "h", SOLID, filled=True),
}
PURE: dict[str, Style] = {
    "laplace": Style(labels.PURE["laplace"], ORANGE, "o", SOLID),
    "laplace-projection": Style(labels.PURE["laplace-projection"], ORANGE, "<", DASHED),
    "l2-ball-projection": Style(labels.PURE["l2-ball-projection"], SKY, "s", DASHED),
    "k-norm": Style(labels.PURE["k-norm"], BLUE, "^", SOLID),
    "k-norm-projection": Style(labels.PURE["k-norm-projection"], BLUE, "v", DASHED),
    "recursive": Style(labels.PURE["recursive"], GREEN, "P", DASHED, scale=1.1),
    "recursive-full": Style(labels.PURE["recursive-full"], GREEN, "D", SOLID),
    "recursive-equal": Style(labels.PURE["recursive-equal"], GREEN, "X", DASH_DOTTED, scale=1.1),
    "recursive-projection": Style(labels.PURE["recursive-projection"], GREEN, "d", DASHED),
    "split": Style(labels.PURE["split"], WINE, "h", SOLID),
    "split-projection": Style(labels.PURE["split-projection"], WINE, "H", DASHED),
    "jl": Style(labels.PURE["jl"], BLACK, "*", SOLID, filled=True, scale=1.4),
    "jl-or-k-norm": Style(labels.PURE["jl-or-k-norm"], PURPLE, "x", DASH_DOTTED),
    "shaped-gaussian": Style(labels.PURE["shaped-gaussian"], VERMILLION, "p", SOLID),
    "shaped-gaussian-projection": Style(labels.PURE["shaped-gaussian-projection"], VERMILLION, "X", DASHED),
    "shaped-zcdp": Style(labels.PURE["shaped-zcdp"], PURPLE, "8", SOLID),
    "shaped-zcdp-projection": Style(labels.PURE["shaped-zcdp-projection"], PURPLE, ">", DASHED),
}

SKETCHES: dict[str, Style] = {
    "jl-balanced": Style(labels.SKETCHES["jl-balanced"], BLACK, "*", SOLID, filled=True, scale=1.4),
    "trace": Style(labels.SKETCHES["trace"], VERMILLION, "o", SOLID),
    "trace-projection": Style(labels.SKETCHES["trace-projection"], VERMILLION, "D", DASHED),
    "l2-ball": Style(labels.SKETCHES["l2-ball"], SKY, "<", SOLID),
    "coarse-jl": Style(labels.SKETCHES["coarse-jl"], WINE, "P", DASHED, scale=1.1),
    "distance-rate": Style(labels.SKETCHES["distance-rate"], BLUE, "o", SOLID),
    "width-ratio": Style(labels.SKETCHES["width-ratio"], VERMILLION, "s", SOLID),
    "projected": Style(labels.SKETCHES["projected"], GREEN, "o", SOLID),
    "hardt-talwar": Style(labels.SKETCHES["hardt-talwar"], PURPLE, "s", SOLID),
    "hardt-talwar-optimal": Style(labels.SKETCHES["hardt-talwar-optimal"], PURPLE, "D", DASHED),
}

SELECTION: dict[str, Style] = {
    "moss-most-played": Style(labels.SELECTION["moss-most-played"], BLACK, "*", SOLID, filled=True, scale=1.4),
    "moss-uniform": Style(labels.SELECTION["moss-uniform"], BLUE, "o", SOLID),
    "moss-validated": Style(labels.SELECTION["moss-validated"], SKY, "s", DASHED),
    "sequential-halving": Style(labels.SELECTION["sequential-halving"], GREEN, "^", SOLID),
    "one-coordinate": Style(labels.SELECTION["one-coordinate"], VERMILLION, "D", DASH_DOTTED),
}

SHRINKAGE: dict[str, Style] = {
    "optimised/shrunk": Style(labels.SHRINKAGE["optimised/shrunk"], BLUE, "o", SOLID),
}

LEARNING: dict[str, Style] = {
    "learner/half-sphere": Style(labels.LEARNING["learner/half-sphere"], BLUE, "o", SOLID),
    "learner/priv-unit": Style(labels.LEARNING["learner/priv-unit"], VERMILLION, "s", DASHED),
    "refuter/half-sphere": Style(labels.LEARNING["refuter/half-sphere"], BLUE, "o", SOLID),
    "refuter/priv-unit": Style(labels.LEARNING["refuter/priv-unit"], VERMILLION, "s", DASHED),
    "realizable/half-sphere": Style(labels.LEARNING["realizable/half-sphere"], GREEN, "^", SOLID),
    "realizable/priv-unit": Style(labels.LEARNING["realizable/priv-unit"], PURPLE, "v", DASHED),
    "users/agnostic-learner": Style(labels.LEARNING["users/agnostic-learner"], BLUE, "o", SOLID),
    "users/realizable-learner": Style(labels.LEARNING["users/realizable-learner"], SKY, "s", SOLID),
    "users/kearns-learner": Style(labels.LEARNING["users/kearns-learner"], GREEN, "^", SOLID),
    "users/agnostic-refuter": Style(labels.LEARNING["users/agnostic-refuter"], BLACK, "D", DASHED),
    "users/realizable-refuter": Style(labels.LEARNING["users/realizable-refuter"], VERMILLION, "v", DASHED),
    "users/one-more-round": Style(labels.LEARNING["users/one-more-round"], ORANGE, "x", DOTTED),
    "users/kearns-one-more-round": Style(labels.LEARNING["users/kearns-one-more-round"], WINE, "+", DOTTED),
    "users/guaranteed": Style(labels.LEARNING["users/guaranteed"], ORANGE, "p", SOLID),
    "users/predicted": Style(labels.LEARNING["users/predicted"], BLUE, "h", DASHED),
    "users/bound": Style(labels.LEARNING["users/bound"], BLACK, "d", DOTTED),
    "users/sequential": Style(labels.LEARNING["users/sequential"], GREEN, "*", SOLID),
    "class-gamma-2": Style(labels.LEARNING["class-gamma-2"], BLUE, "o", SOLID),
    "class-gamma-2-shifted": Style(labels.LEARNING["class-gamma-2-shifted"], SKY, "v", DASHED),
    "class-gamma-2-difference": Style(labels.LEARNING["class-gamma-2-difference"], GREEN, "^", DASH_DOTTED),
    "class-eta": Style(labels.LEARNING["class-eta"], VERMILLION, "s", SOLID),
    "class-margin": Style(labels.LEARNING["class-margin"], PURPLE, "x", DOTTED),
}

QUERIES: dict[str, Style] = {
    "exact": Style(labels.QUERIES["exact"], BLUE, "o", SOLID),
    "sampled": Style(labels.QUERIES["sampled"], GREEN, "^", SOLID),
    "adversarial": Style(labels.QUERIES["adversarial"], VERMILLION, "s", SOLID),
    "simulated": Style(labels.QUERIES["simulated"], PURPLE, "D", SOLID),
    "unbiased": Style(labels.QUERIES["unbiased"], BLACK, "o", SOLID),
    "as-printed": Style(labels.QUERIES["as-printed"], GREY, "o", DASHED),
    "learner/exact": Style(labels.QUERIES["learner/exact"], BLUE, "o", SOLID),
    "learner/adversarial": Style(labels.QUERIES["learner/adversarial"], VERMILLION, "s", SOLID),
    "coarse/exact": Style(labels.QUERIES["coarse/exact"], SKY, "^", DASHED),
    "coarse/adversarial": Style(labels.QUERIES["coarse/adversarial"], WINE, "D", DASHED),
    "sequential-reports": Style(labels.QUERIES["sequential-reports"], BLUE, "o", SOLID),
    "pan-private-stream": Style(labels.QUERIES["pan-private-stream"], VERMILLION, "s", SOLID),
    "random-signs": Style(labels.QUERIES["random-signs"], BLUE, "o", SOLID),
    "every-concept": Style(labels.QUERIES["every-concept"], VERMILLION, "s", SOLID),
    "sqd-uniform": Style(labels.QUERIES["sqd-uniform"], BLACK, "o", SOLID),
    "sqd-all-hypotheses": Style(labels.QUERIES["sqd-all-hypotheses"], GREEN, "^", SOLID),
    "sqd-realizable": Style(labels.QUERIES["sqd-realizable"], BLUE, "D", SOLID),
    "sqd-agnostic": Style(labels.QUERIES["sqd-agnostic"], VERMILLION, "s", SOLID),
}

# The names that tell the curves of an experiment apart, of all its kinds.
SERIES: dict[str, Style] = (
    MECHANISMS
    | FACTORIZATIONS
    | CALIBRATIONS
    | DIRECTIONS
    | RELEASES
    | APPROXIMATIONS
    | CENTRAL
    | PURE
    | SKETCHES
    | SELECTION
    | SHRINKAGE
    | LEARNING
    | QUERIES
)
# Of curves told apart by a number, from the least on.
_NUMBERED: tuple[tuple[str, Marker], ...] = (
    (BLUE, "o"),
    (VERMILLION, "s"),
    (GREEN, "^"),
    (PURPLE, "v"),
    (ORANGE, "D"),
    (SKY, "<"),
    (WINE, ">"),
    (BLACK, "x"),
)

BOUNDS: dict[str, Style] = {
    "svd": Style(labels.BOUNDS["svd"], GREY, "", DASHED),
    "centred-svd": Style(labels.BOUNDS["centred-svd"], BLACK, "", DOTTED),
}

_PLUGIN_MARKERS: tuple[Marker, ...] = ("h", "d", "p", "2", "3", "4")
_PLUGIN_LINES: tuple[Line, ...] = (SOLID, DASHED, DASH_DOTTED)
_BOUND_LINES: tuple[Line, ...] = (DASH_DOTTED, (0, (7.0, 2.0)), (0, (7.0, 1.5, 1.0, 1.5, 1.0, 1.5)))


def mechanism_styles(names: Iterable[str]) -> dict[str, Style]:
    """The style of every mechanism of a figure, no two alike.

    A name that :data:`MECHANISMS` does not have is a plugin's: it is drawn in indigo, and the hash of its
    name picks its marker and line. Where plugins pick the same marker, the later in the alphabet moves on to
    the next that is free, and only when there is none to the next line. A mechanism with settings of its own
    (:func:`factormech.labels.variant`) has its look; beside another of the name, another line and an empty marker.
    """
    names = list(dict.fromkeys(names))
    variants = [name for name in names if "=" in name and name.partition(" ")[0] in MECHANISMS]
    reserve = _reserve(sorted(set(names) - set(MECHANISMS) - set(variants)))
    own = {name: MECHANISMS.get(name) or reserve[name] for name in names if name not in variants}
    return {name: own.get(name) or _variant(name, variants, own) for name in names}


def _variant(name: str, variants: list[str], others: Mapping[str, Style]) -> Style:
    """The look of a mechanism with settings: its own, unless the figure has the mechanism in another form, too."""
    base = name.partition(" ")[0]
    look, label = MECHANISMS[base], labels.mechanism_label(name)
    same = [base] * (base in others) + [one for one in variants if one.partition(" ")[0] == base]
    place = same.index(name)
    if place == 0:
        return replace(look, label=label)
    lines = [line for line in LINES if line != look.line]
    return replace(look, label=label, line=lines[(place - 1) % len(lines)], filled=not look.filled)


def series_styles(values: Iterable[Any], symbol: str = "") -> dict[Any, Style]:
    """The style of every curve of an experiment, no two alike: of names, or of numbers (``symbol`` = …).

    A name that :data:`SERIES` does not have is a plugin's, as in :func:`mechanism_styles`.
    """
    every = set(values)
    names = {value for value in every if isinstance(value, str)}
    reserve = _reserve(sorted(names - SERIES.keys()))
    found: dict[Any, Style] = {name: SERIES.get(name) or reserve[name] for name in names}
    for i, value in enumerate(sorted(every - names)):
        colour, marker = _NUMBERED[i % len(_NUMBERED)]
        line = LINES[i // len(_NUMBERED) % len(LINES)]
        found[value] = Style(f"{symbol} = {labels.value_label('', value)}", colour, marker, line)
    return found


def norm_styles(curves: Iterable[tuple[str, float | None]]) -> dict[tuple[str, float | None], Style]:
    """The style of each norm (and α) of a figure: a colour and marker a norm, a line an α."""
    curves = list(dict.fromkeys(curves))
    orders = sorted({name for name, _ in curves if name not in NORMS}, key=lambda name: (len(name), name))
    looks = NORMS | {name: Style("", *_ORDERS[i % len(_ORDERS)], SOLID) for i, name in enumerate(orders)}
    styles = {}
    for name, alpha in curves:
        alphas = [other for norm, other in curves if norm == name]
        line = LINES[alphas.index(alpha) % len(LINES)]
        styles[name, alpha] = replace(looks[name], label=labels.norm_label(name, alpha), line=line)
    return styles


def bound_styles(names: Iterable[str]) -> dict[str, Style]:
    """The style of every lower bound of a figure: grey or black lines without markers."""
    names = list(dict.fromkeys(names))
    unknown = sorted(set(names) - set(BOUNDS))
    spare = {
        name: Style(labels.bound_label(name), (GREY, BLACK)[i % 2], "", _BOUND_LINES[i % len(_BOUND_LINES)])
        for i, name in enumerate(unknown)
    }
    return {name: BOUNDS.get(name) or spare[name] for name in names}


def as_drawn(look: Style, size: float) -> dict[str, Any]:
    """A style as the arguments of a line."""
    return {
        "color": look.colour,
        "linestyle": look.line,
        "marker": look.marker,
        "markersize": size * look.scale,
        "markerfacecolor": look.colour if look.filled else "none",
        "linewidth": 1.2 if look.filled else 0.9,
    }


def line(look: Style) -> dict[str, Any]:
    """A style as the arguments of a line without markers."""
    return {"color": look.colour, "linestyle": look.line, "linewidth": 0.9}


def points(look: Style, size: float) -> dict[str, Any]:
    """A style as the arguments of a cloud of small points."""
    return {
        "linestyle": "",
        "marker": "o",
        "markersize": size,
        "markerfacecolor": look.colour,
        "markeredgewidth": 0,
        "alpha": 0.35,
    }


def spread(look: Style, alpha: float = 0.15) -> dict[str, Any]:
    """A style as the arguments of the band around a curve."""
    return {"color": look.colour, "alpha": alpha, "linewidth": 0}


def bar(look: Style) -> dict[str, Any]:
    """A style as the arguments of upright bars."""
    return {"color": look.colour, "linewidth": 0.8}


def star(look: Style, *, apart: bool = False) -> dict[str, Any]:
    """Return a style as the arguments of stars; with ``apart``, of thick crosses, a marker that no mechanism has."""
    if apart:
        return {"color": GREY, "linestyle": "", "marker": "X", "markersize": 7.0}
    return {"color": look.colour, "linestyle": "", "marker": "*", "markersize": 7.0}


def censored(look: Style) -> dict[str, Any]:
    """A style as the arguments of arrows: at least so much."""
    return {"color": look.colour, "linestyle": "", "marker": r"$\uparrow$", "markersize": 8.0}


def reference(i: int) -> dict[str, Any]:
    """Return how the i-th grey line along x is drawn, as arguments of Matplotlib."""
    lines = (DASHED, DOTTED, DASH_DOTTED)
    return {"color": GREY, "linestyle": lines[i % len(lines)], "linewidth": 0.9}


def mark(i: int) -> dict[str, Any]:
    """The look of the i-th upright line."""
    lines = (DOTTED, DASH_DOTTED, DASHED)
    return {"color": DARK, "linestyle": lines[i % len(lines)], "linewidth": 1.0}


def plain(label: str) -> Style:
    """The style of a curve that is the only one."""
    return Style(label, BLACK, "o", SOLID)


def width(columns: int) -> float:
    """The width in inches of a figure with so many columns of panels."""
    return WIDTHS[min(columns, max(WIDTHS))]


@contextmanager
def context() -> Iterator[None]:
    """Draw in this style, whatever the user's matplotlibrc says; on leaving, the user's settings are back."""
    import matplotlib as mpl

    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(_SETTINGS | form.settings())
        yield


def _reserve(plugins: list[str]) -> dict[str, Style]:
    looks = [(marker, line) for line in _PLUGIN_LINES for marker in _PLUGIN_MARKERS]
    # Numbers as markers, should there ever be more plugins than looks.
    looks += [(f"${i}$", SOLID) for i in range(1, len(plugins) - len(looks) + 1)]
    styles: dict[str, Style] = {}
    for name in plugins:
        digest = hashlib.sha256(name.encode()).digest()
        start = int.from_bytes(digest[:8], "big") % len(looks)
        order = looks[start:] + looks[:start]
        taken = {(style.marker, style.line) for style in styles.values()}
        markers = {marker for marker, _ in taken}
        free = [look for look in order if look not in taken]
        marker, line = next((look for look in free if look[0] not in markers), free[0])
        styles[name] = Style(
            labels.mechanism_label(name), INDIGO, marker, line, scale=1.5 if marker in ("2", "3", "4") else 1.0
        )
    return styles


_SETTINGS: dict[str, Any] = {
    "axes.linewidth": 0.6,
    "axes.edgecolor": DARK,
    "axes.axisbelow": True,
    "axes.grid": True,
    "axes.titlepad": 4.0,
    "grid.color": GRID,
    "grid.linewidth": 0.4,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.major.size": 2.5,
    "ytick.major.size": 2.5,
    "ytick.minor.size": 1.5,
    "ytick.minor.width": 0.4,
    "xtick.minor.size": 1.5,
    "xtick.minor.width": 0.4,
    "xtick.direction": "in",
    "ytick.direction": "in",
    "lines.linewidth": 0.9,
    "lines.markeredgewidth": 0.8,
    "legend.frameon": False,
    "legend.handlelength": 2.8,
    "legend.columnspacing": 1.6,
    "legend.labelspacing": 0.35,
    "legend.handletextpad": 0.6,
    "legend.borderpad": 0.0,
    "legend.borderaxespad": 0.0,
    "text.hinting": "no_hinting",  # else the letters of small text stand unevenly in the PNG
    "pdf.fonttype": 42,  # TrueType: journals refuse Type 3
    "svg.fonttype": "path",
    "svg.hashsalt": "factormech",
    "path.simplify": False,
}
