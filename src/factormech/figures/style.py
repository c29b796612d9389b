"""One look for every figure: how mechanisms, workloads and bounds are named and drawn.

Colours are those of Okabe & Ito ("Color Universal Design", 2008) without the yellow, which is too pale for
thin lines on white, plus a wine red and, for mechanisms that this module does not know, an indigo. Any two of
them stay :data:`LEAST_DISTANCE` apart in CIELAB (1976) for normal, protanope and deuteranope eyes. Mechanisms
of one family share their colour and differ by marker and line; every marker belongs to one mechanism, so that
markers alone suffice.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeAlias

Marker: TypeAlias = str | tuple[int, int, int]
Line: TypeAlias = str | tuple[int, tuple[float, ...]]

# ΔE*ab = √(ΔL² + Δa² + Δb²). Okabe & Ito's own closest pair (green and purple, deuteranope) has 17.9.
LEAST_DISTANCE = 17.0

ORANGE, SKY, GREEN, BLUE = "#E69F00", "#56B4E9", "#009E73", "#0072B2"
VERMILLION, PURPLE, BLACK = "#D55E00", "#CC79A7", "#000000"
WINE, INDIGO = "#882255", "#332288"
GREY, IMPOSSIBLE = "#6E6E6E", "#EDEDED"

SOLID: Line = "-"
DASHED: Line = (0, (4.0, 1.6))
DASH_DOTTED: Line = (0, (4.0, 1.4, 1.0, 1.4))
DOTTED: Line = (0, (1.0, 1.4))

TEXT_SIZE, SMALL_SIZE = 8.0, 6.5
# Widths in inches of a figure with one, two and three columns of panels; the last is a page of two columns.
WIDTHS = {1: 5.2, 2: 6.0, 3: 7.0}


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
    "randomized-response": Style("Randomized response", ORANGE, "o", SOLID),
    "rappor": Style("RAPPOR", SKY, "s", SOLID),
    "subset-selection": Style("Subset selection", WINE, "D", SOLID),
    "hadamard": Style("Hadamard (block)", BLUE, "^", SOLID),
    "hadamard-table1": Style("Hadamard (Table 1)", BLUE, "v", DASHED),
    "hierarchical": Style("Hierarchical (block Hadamard)", GREEN, ">", SOLID),
    "hierarchical-table1": Style("Hierarchical (Table 1)", GREEN, "<", DASHED),
    "fourier": Style("Fourier (all parities)", PURPLE, "P", SOLID, scale=1.1),
    "fourier-3": Style("Fourier (≤ 3-way)", PURPLE, "X", DASHED, scale=1.1),
    "matrix-l1": Style("Matrix mechanism (L1)", VERMILLION, "x", SOLID),
    "matrix-l2": Style("Matrix mechanism (L2)", VERMILLION, "+", DASHED),
    "matrix-l2-gaussian": Style("Matrix mechanism (L2, Gaussian)", VERMILLION, "1", DASH_DOTTED, scale=1.5),
    "adaptive-pgd": Style("Adaptive PGD (as published)", BLACK, (4, 1, 0), DASHED, scale=1.6),
    "optimised": Style("Optimised", BLACK, "*", SOLID, filled=True, scale=1.4),
}

BOUNDS: dict[str, Style] = {
    "svd": Style("Lower bound (SVD, McKenna et al. Cor. 5.7)", GREY, "", DASHED),
    "centred-svd": Style("Lower bound (centred SVD)", BLACK, "", DOTTED),
}

WORKLOADS: dict[str, str] = {
    "all-ranges": "All Ranges",
    "all-marginals": "All Marginals",
    "random-signs": "Random Signs",
}

METRICS: dict[str, str] = {"mse": "mean squared error {} per query"}

_PLUGIN_MARKERS: tuple[Marker, ...] = ("h", "d", "p", "2", "3", "4")
_PLUGIN_LINES: tuple[Line, ...] = (SOLID, DASHED, DASH_DOTTED)
_BOUND_LINES: tuple[Line, ...] = (DASH_DOTTED, (0, (7.0, 2.0)), (0, (7.0, 1.5, 1.0, 1.5, 1.0, 1.5)))

_WORKLOAD_FAMILIES = (
    (re.compile(r"at-most-(\d+)-way-(.+)"), "{1} (≤ {0}-way)"),
    (re.compile(r"(\d+)-way-(.+)"), "{0}-Way {1}"),
    (re.compile(r"conjunctions-(\d+)"), "Conjunctions (≤ {0})"),
)


def mechanism_styles(names: Iterable[str]) -> dict[str, Style]:
    """The style of every mechanism of a figure, no two alike.

    A name that :data:`MECHANISMS` does not have is a plugin's: it is drawn in indigo, and the hash of its
    name picks its marker and line. Where plugins pick the same marker, the later in the alphabet moves on to
    the next that is free, and only when there is none to the next line.
    """
    names = list(dict.fromkeys(names))
    reserve = _reserve(sorted(set(names) - set(MECHANISMS)))
    return {name: MECHANISMS.get(name) or reserve[name] for name in names}


def bound_styles(names: Iterable[str]) -> dict[str, Style]:
    """The style of every lower bound of a figure: grey or black lines without markers."""
    names = list(dict.fromkeys(names))
    unknown = sorted(set(names) - set(BOUNDS))
    spare = {
        name: Style(f"Lower bound ({name})", (GREY, BLACK)[i % 2], "", _BOUND_LINES[i % len(_BOUND_LINES)])
        for i, name in enumerate(unknown)
    }
    return {name: BOUNDS.get(name) or spare[name] for name in names}


def mechanism_label(name: str) -> str:
    """What a reader calls a mechanism; a plugin goes by its own name."""
    return MECHANISMS[name].label if name in MECHANISMS else name


def bound_label(name: str) -> str:
    """What a reader calls a lower bound."""
    return bound_styles([name])[name].label


def workload_label(name: str) -> str:
    """What a reader calls a workload: by family, else its name in title case."""
    if name in WORKLOADS:
        return WORKLOADS[name]
    if name.endswith("-01"):
        return workload_label(name.removesuffix("-01")) + " (0/1)"
    for pattern, form in _WORKLOAD_FAMILIES:
        match = pattern.fullmatch(name)
        if match:
            return form.format(*(part if part.isdigit() else _title(part) for part in match.groups()))
    return _title(name)


def accuracy(metric: str, alpha: float) -> str:
    """What α means; a metric without words of its own goes by its name."""
    return METRICS.get(metric, metric.replace("{", "{{").replace("}", "}}") + " {}").format(f"{alpha:g}")


@contextmanager
def context() -> Iterator[None]:
    """Draw in this style, whatever the user's matplotlibrc says; on leaving, the user's settings are back."""
    import matplotlib as mpl

    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(_SETTINGS)
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
        styles[name] = Style(name, INDIGO, marker, line, scale=1.5 if marker in ("2", "3", "4") else 1.0)
    return styles


def _title(name: str) -> str:
    # Not str.title: it would write "Bob'S" and lower the rest of "XOR".
    return " ".join(word[:1].upper() + word[1:] for word in re.split(r"[-_ ]+", name) if word)


_SETTINGS = {
    # Both come with matplotlib, so that every machine draws the same letters; the second has what the first
    # lacks.
    "font.family": ["STIXGeneral", "DejaVu Sans"],
    "mathtext.fontset": "stix",
    "font.size": TEXT_SIZE,
    "axes.titlesize": TEXT_SIZE + 0.5,
    "axes.labelsize": TEXT_SIZE + 0.5,
    "xtick.labelsize": TEXT_SIZE - 0.5,
    "ytick.labelsize": TEXT_SIZE - 0.5,
    "legend.fontsize": TEXT_SIZE,
    "axes.linewidth": 0.6,
    "axes.edgecolor": "#404040",
    "axes.axisbelow": True,
    "axes.grid": True,
    "axes.titlepad": 4.0,
    "grid.color": "#D9D9D9",
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
