"""``docs/race.md``: what was measured and how, written from the tables alone."""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Iterator, Mapping, Sequence

from benchmarks.race.contest import Contest, Contestant
from benchmarks.race.runner import FEWER, LONG, ROUNDS, Row
from benchmarks.race.summary import Estimate, Growth, Ratio, by_round, memory

HEAD = f"""\
# The race

Written by `make race` from [the rounds](../benchmarks/race.csv), beside [the ratios](../benchmarks/race-ratios.csv) and
[the growth exponents](../benchmarks/race-growth.csv); `make lint` checks that it is. Every ratio is theirs over ours:
above 1 we are faster or need less memory, below 1 we lose.

![Ratios of CPU seconds by contest, and CPU seconds against size](gallery/race.svg)

## How

* Every measurement is a process of its own with one thread (also of BLAS, jax and compiled code). Contestants take
  turns, and who begins changes from round to round: {ROUNDS} rounds, or {FEWER} where somebody takes {LONG:g} seconds.
* Seconds are of the work alone: libraries are loaded, kernels compiled and a tiny work of the same kind done before.
  The work is done once in its process, so nothing kept from an earlier time helps.
* Memory is peak resident memory during the work above what was resident before it, at least 1 MiB; and, in brackets,
  the peak itself, in which libraries are most.
* A race is refused unless all contestants had the same inputs (a checksum) and their answers agree as each contest
  says.
* A ratio is the median of the rounds' ratios. Its interval is of order statistics and assumes no law of the times: of
  five rounds the least and the largest, at level 93.75 %; of three too, at level 75 %. An exponent is the slope of log
  seconds on log size in each round. Intervals are about the noise of the machine, not about other machines or inputs.
* **wins** and **loses**: the whole interval of CPU seconds is on one side of 1.
"""


def page(
    rows: Sequence[Row],
    contests: Mapping[str, Contest],
    ratios: Sequence[Ratio],
    growth: Sequence[Growth],
    facts: Sequence[Row],
) -> str:
    """All of it."""
    parts = [HEAD, *machine(rows, facts), *headline(ratios, contests)]
    for contest in contests.values():
        if any(row["contest"] == contest.name for row in rows):
            parts += section(rows, contest, [one for one in ratios if one.contest == contest.name])
    parts += exponents(growth, contests)
    if absent := list(unmeasured(rows, contests)):
        parts += ["## Not measured yet", "", *absent, ""]
    return "\n".join(parts).rstrip() + "\n"


def unmeasured(rows: Sequence[Row], contests: Mapping[str, Contest]) -> Iterator[str]:
    """Who has no round yet, size by size."""
    for contest in contests.values():
        for size in contest.sizes:
            names = [who.name for who in contest.at(size) if not by_round(rows, contest.name, size, who.name)]
            if names:
                yield f"* {contest.name} at {size}: {'; '.join(names)}"


def machine(rows: Sequence[Row], facts: Sequence[Row]) -> Iterator[str]:
    """Where it was measured."""
    yield "## Where"
    yield ""
    yield from (f"* {row['fact']}: {row['value']}" for row in facts)
    loads = [float(row["load"]) for row in rows]
    if loads:
        yield (
            f"* load of the machine when a measurement began: {statistics.median(loads):.1f} in the median, "
            f"{max(loads):.1f} at most. Wall seconds suffer from the load of others, CPU seconds less so"
        )
    versions = sorted({(row["package"], row["version"]) for row in rows})
    yield ""
    yield "Packages: " + ", ".join(f"{package} {version}" for package, version in versions) + "."
    yield ""


def headline(ratios: Sequence[Ratio], contests: Mapping[str, Contest]) -> Iterator[str]:
    """How many are won and lost, the extremes of each contest, and every one lost or open."""
    yield "## Won and lost"
    yield ""
    count = {verdict: sum(one.cpu.verdict == verdict for one in ratios) for verdict in ("wins", "loses", "open")}
    yield (
        f"Of {len(ratios)} ratios of CPU seconds {count['wins']} are won, {count['loses']} lost, and "
        f"{count['open']} have an interval with 1 in it."
    )
    yield ""
    yield "| contest | ratios | least | largest |"
    yield "| --- | ---: | ---: | ---: |"
    for name, group in itertools.groupby(ratios, key=lambda one: one.contest):
        medians = [one.cpu.median for one in group]
        yield f"| {contests[name].title} | {len(medians)} | {number(min(medians))} | {number(max(medians))} |"
    yield ""
    for one in sorted(ratios, key=lambda one: one.cpu.median):
        if one.cpu.verdict != "wins":
            word = "loses" if one.cpu.verdict == "loses" else "open"
            yield f"* {word}: {one.contest} at {one.size}, {one.ours} against {one.peer}: {interval(one.cpu)}"
    heavier = [one for one in ratios if one.memory.verdict == "loses"]
    if heavier:
        yield ""
        yield "More memory than theirs:"
        yield ""
        yield from (
            f"* {one.contest} at {one.size}, {one.ours} against {one.peer}: {interval(one.memory)}" for one in heavier
        )
    yield ""


def section(rows: Sequence[Row], contest: Contest, ratios: Sequence[Ratio]) -> Iterator[str]:
    """A contest: who, at which size, how fast."""
    yield f"## {contest.title}"
    yield ""
    yield f"`{contest.name}`. Answers must agree: {contest.agreement}."
    yield ""
    found = [f"* {who.name}: {who.unlike}." for who in contest.contestants if who.unlike]
    if found:
        yield "Not like for like:"
        yield ""
        yield from found
        yield ""
    yield f"| {contest.size} | who | CPU s | wall s | memory MiB | {contest.first} | disagreement |"
    yield "| ---: | --- | ---: | ---: | ---: | ---: | ---: |"
    for size in contest.sizes:
        for who in contest.at(size):
            if known := list(by_round(rows, contest.name, size, who.name).values()):
                yield f"| {size} | {' | '.join(measured(who, known))} |"
    yield ""
    yield f"| {contest.size} | theirs over ours | CPU | wall | memory | rounds | |"
    yield "| ---: | --- | ---: | ---: | ---: | ---: | --- |"
    for one in ratios:
        verdict = {"wins": "wins", "loses": "**loses**", "open": "open"}[one.cpu.verdict]
        numbers = " | ".join(interval(estimate) for estimate in (one.cpu, one.wall, one.memory))
        yield f"| {one.size} | {one.peer} / {one.ours} | {numbers} | {one.cpu.rounds} | {verdict} |"
    yield ""


def measured(who: Contestant, rows: Sequence[Row]) -> list[str]:
    """Medians of the rounds."""

    def median(key: str) -> float:
        return statistics.median(float(row[key]) for row in rows)

    above = statistics.median(memory(row) for row in rows)
    return [
        who.name,
        f"{median('cpu_seconds'):.3g}",
        f"{median('wall_seconds'):.3g}",
        f"{above:.0f} ({median('peak_mebibytes'):.0f})",
        f"{median('answer'):.8g}",
        f"{max(float(row['disagreement']) for row in rows):.1g}",
    ]


def exponents(growth: Sequence[Growth], contests: Mapping[str, Contest]) -> Iterator[str]:
    """How CPU seconds grow."""
    yield "## Growth"
    yield ""
    yield "CPU seconds grow like a power of the size; two sizes say little about it."
    yield ""
    yield "| contest | who | sizes | exponent | level |"
    yield "| --- | --- | --- | ---: | ---: |"
    for one in growth:
        sizes = f"{contests[one.contest].size} = {', '.join(map(str, one.sizes))}"
        e = one.exponent
        shown = "{} [{}, {}]".format(*(f"{round(x, 2) + 0.0:.2f}" for x in (e.median, e.low, e.high)))
        yield f"| {contests[one.contest].title} | {one.contestant} | {sizes} | {shown} | {100 * e.level:.4g} % |"
    yield ""


def interval(estimate: Estimate) -> str:
    """A median with its interval."""
    return f"{number(estimate.median)} [{number(estimate.low)}, {number(estimate.high)}]"


def number(value: float) -> str:
    """Three digits, never in powers of ten."""
    return f"{value:.3g}" if value < 1000 else f"{value:.0f}"
