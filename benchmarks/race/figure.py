"""``docs/gallery/race.svg``: every ratio with its interval, and CPU seconds against the size."""

from __future__ import annotations

import itertools
import math
import statistics
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.race.contest import Contest
from benchmarks.race.runner import Row
from benchmarks.race.summary import Growth, Ratio, by_round

CAPTION = """\
The race. Left: CPU seconds of other packages over ours, on the same work, one thread, interleaved; medians of the
rounds with intervals of order statistics. Blue: we are faster; vermilion: we lose; grey: the interval has 1 in it.
Right: CPU seconds against the size, with growth exponents; ours solid, theirs dashed. All numbers: docs/race.md.
"""


def draw(
    rows: Sequence[Row], contests: Mapping[str, Contest], ratios: Sequence[Ratio], growth: Sequence[Growth]
) -> bytes:
    """The SVG, the same bytes for the same numbers."""
    from matplotlib.figure import Figure

    from factormech.plots import style
    from factormech.plots.save import save

    with style.context():
        figure = Figure(
            figsize=(style.WIDTHS[3], 0.5 + 0.11 * max(40, len(ratios) + len({one.contest for one in ratios})))
        )
        grid = figure.add_gridspec(1, 2, width_ratios=(0.75, 1.0))
        _ratios(figure.add_subplot(grid[0]), contests, ratios)
        shown = [name for name in contests if any(one.contest == name and len(one.sizes) > 2 for one in growth)]
        right = grid[1].subgridspec(max(1, (len(shown) + 1) // 2), 2)
        for i, name in enumerate(shown):
            _times(figure.add_subplot(right[i // 2, i % 2]), rows, contests[name], growth)
        figure.set_layout_engine("constrained")
        with tempfile.TemporaryDirectory() as folder:
            paths = save(figure, Path(folder) / "race")
            return next(path for path in paths if path.suffix == ".svg").read_bytes()


def _ratios(axes: Any, contests: Mapping[str, Contest], ratios: Sequence[Ratio]) -> None:
    """A row for each ratio under the title of its contest, from the top."""
    from factormech.plots import style

    colours = {"wins": style.BLUE, "loses": style.VERMILLION, "open": style.GREY}
    labels: list[str] = []
    for name, group in itertools.groupby(ratios, key=lambda one: one.contest):
        axes.axhline(len(labels) - 0.5, color="#D9D9D9", linewidth=0.5)
        labels.append(_mathematical(contests[name].title))
        for one in group:
            colour, e, y = colours[one.cpu.verdict], one.cpu, len(labels)
            axes.plot([e.low, e.high], [y, y], color=colour, linewidth=1.2, solid_capstyle="butt")
            axes.plot([e.median], [y], color=colour, marker="o", markersize=2.4)
            ours = one.ours.removeprefix("factormech").removeprefix(", ")
            labels.append(f"{one.peer}{f' / {ours}' if ours else ''}, {contests[name].size} = {one.size:,}")
    axes.axvline(1.0, color="black", linewidth=0.8)
    axes.set_xscale("log")
    axes.set_yticks(range(len(labels)), labels, fontsize=5.5)
    titles = {_mathematical(contest.title) for contest in contests.values()}
    for tick, label in zip(axes.get_yticklabels(), labels, strict=True):
        if label in titles:
            tick.set_fontsize(6.5)
    axes.set_ylim(len(labels) - 0.4, -0.6)
    axes.grid(visible=False, axis="y")
    axes.set_xlabel("CPU seconds, theirs over ours", fontsize=6.5)
    axes.tick_params(axis="x", labelsize=6.0)


def _times(axes: Any, rows: Sequence[Row], contest: Contest, growth: Sequence[Growth]) -> None:
    """One contest's medians against the size; the exponents are in the legend."""
    from factormech.plots import style

    palette = (style.VERMILLION, style.GREEN, style.PURPLE, style.ORANGE)
    blues = (style.BLUE, style.SKY)
    ours = theirs = 0
    for one in growth:
        if one.contest != contest.name:
            continue
        known = [list(by_round(rows, contest.name, size, one.contestant).values()) for size in one.sizes]
        seconds = [statistics.median(float(row["cpu_seconds"]) for row in at) for at in known]
        is_ours = contest.contestant(one.contestant).is_ours
        colour = blues[ours % len(blues)] if is_ours else palette[theirs % len(palette)]
        ours, theirs = ours + is_ours, theirs + (not is_ours)
        exponent = round(one.exponent.median, 1) + 0.0  # no "-0.0"
        label = f"{one.contestant}: {exponent:.1f}"
        axes.plot(one.sizes, seconds, "o-" if is_ours else "s--", color=colour, markersize=2.2, label=label)
    axes.set_xscale("log")
    axes.set_yscale("log")
    # Whole decades, so that two ticks at least say what the scale is; and room for the legend above the curves.
    low, high = (10.0**end for end in (math.floor(math.log10(axes.get_ylim()[0])), math.log10(axes.get_ylim()[1])))
    high = max(high, 10.0 * low)
    axes.set_ylim(low, high * (high / low) ** (0.11 * (ours + theirs)))
    axes.set_title(_mathematical(contest.title), fontsize=6.5)
    axes.tick_params(labelsize=5.5)
    axes.minorticks_off()
    axes.set_xticks(contest.sizes, [_power(size) for size in contest.sizes])
    axes.legend(fontsize=5.0, handlelength=2.0, labelspacing=0.2, loc="upper left", borderaxespad=0.4)
    axes.set_xlabel(contest.size, fontsize=6.0, labelpad=1.0)
    axes.set_ylabel("CPU seconds", fontsize=6.0, labelpad=1.0)


def _power(size: int) -> str:
    """Large sizes, which are powers of ten, as such."""
    return f"{size}" if size < 10_000 else f"$10^{len(str(size)) - 1}$"


def _mathematical(title: str) -> str:
    """γ₂ and γ_F as in all figures."""
    return title.replace("γ₂", r"$\gamma_2$").replace("γ_F", r"$\gamma_F$")
