"""``docs/gallery/race.svg``: every ratio with its interval, and CPU seconds against the size."""

from __future__ import annotations

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

    from factormech.figures import style
    from factormech.figures.save import save

    with style.context():
        figure = Figure(figsize=(style.WIDTHS[3], 0.5 + 0.115 * max(30, len(ratios))))
        grid = figure.add_gridspec(1, 2, width_ratios=(1.0, 1.0))
        _ratios(figure.add_subplot(grid[0]), contests, ratios)
        shown = [name for name in contests if sum(one.contest == name for one in growth) > 1]
        right = grid[1].subgridspec(max(1, (len(shown) + 1) // 2), 2)
        for i, name in enumerate(shown):
            _times(figure.add_subplot(right[i // 2, i % 2]), rows, contests[name], growth)
        figure.set_layout_engine("constrained")
        with tempfile.TemporaryDirectory() as folder:
            paths = save(figure, Path(folder) / "race")
            return next(path for path in paths if path.suffix == ".svg").read_bytes()


def _ratios(axes: Any, contests: Mapping[str, Contest], ratios: Sequence[Ratio]) -> None:
    """A row for each ratio, in the order of the contests, from the top."""
    from factormech.figures import style

    colours = {"wins": style.BLUE, "loses": style.VERMILLION, "open": style.GREY}
    ticks: list[str] = []
    previous = ""
    for y, one in enumerate(ratios):
        if one.contest != previous and y:
            axes.axhline(y - 0.5, color="#D9D9D9", linewidth=0.5)
        previous = one.contest
        colour, e = colours[one.cpu.verdict], one.cpu
        axes.plot([e.low, e.high], [y, y], color=colour, linewidth=1.2, solid_capstyle="butt")
        axes.plot([e.median], [y], color=colour, marker="o", markersize=2.4)
        ours = one.ours.removeprefix("factormech").removeprefix(", ")
        title, size = contests[one.contest].title, contests[one.contest].size
        ticks.append(f"{title}, {size} = {one.size:,}: {one.peer}" + (f" ({ours})" if ours else ""))
    axes.axvline(1.0, color="black", linewidth=0.8)
    axes.set_xscale("log")
    axes.set_yticks(range(len(ticks)), ticks, fontsize=5.0)
    axes.set_ylim(len(ticks) - 0.4, -0.6)
    axes.grid(visible=False, axis="y")
    axes.set_xlabel("CPU seconds, theirs over ours")


def _times(axes: Any, rows: Sequence[Row], contest: Contest, growth: Sequence[Growth]) -> None:
    """One contest's medians against the size; the exponents are in the legend."""
    import statistics

    from factormech.figures import style

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
        label = f"{one.contestant}: {one.exponent.median:.1f}"
        axes.plot(one.sizes, seconds, "o-" if is_ours else "s--", color=colour, markersize=2.2, label=label)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_title(contest.title, fontsize=6.0)
    axes.tick_params(labelsize=5.0)
    axes.minorticks_off()
    axes.set_xticks(
        contest.sizes, [f"{size:g}" if size < 10_000 else f"$10^{len(str(size)) - 1}$" for size in contest.sizes]
    )
    axes.legend(fontsize=4.5, handlelength=1.6, loc="best")
    axes.set_xlabel(contest.size, fontsize=5.5, labelpad=1.0)
