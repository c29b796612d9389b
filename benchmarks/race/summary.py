"""Ratios and growth exponents of the rounds, with intervals that assume no law of the times.

The ratio of a round is theirs over ours, both of that round. The interval is between two order statistics of the n
ratios: the true median is outside [x₍ₖ₎, x₍ₙ₊₁₋ₖ₎] with probability 2·P(Binomial(n, ½) < k). Of few rounds only k = 1
is left, the least and the largest ratio, at level 1 − 2¹⁻ⁿ: 93.75 % of five rounds, 75 % of three. An exponent is the
slope of log seconds on log size by least squares within each round; its interval is that of the rounds' slopes.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from benchmarks.race.contest import Contest
from benchmarks.race.runner import Row

LEVEL = 0.95
# Memory below this is not told apart from nothing.
LEAST_MEBIBYTES = 1.0


@dataclass(frozen=True)
class Estimate:
    """A median, and an interval for it at a level that is at least ``LEVEL`` where the rounds allow."""

    median: float
    low: float
    high: float
    level: float
    rounds: int

    @property
    def verdict(self) -> str:
        """Of a ratio theirs/ours."""
        if self.rounds > 1 and self.low > 1.0:
            return "wins"
        return "loses" if self.rounds > 1 and self.high < 1.0 else "open"


def median_interval(values: Sequence[float]) -> Estimate:
    """The narrowest symmetric interval of order statistics at level ``LEVEL`` at least, or else the widest."""
    x, n = sorted(values), len(values)
    k, below = 0, 0.0  # P(Binomial(n, ½) < k + 1) = below, once k is kept
    while k + 1 <= (n - 1) // 2:
        more = below + math.comb(n, k) / 2.0**n
        further = more + math.comb(n, k + 1) / 2.0**n
        if 1.0 - 2.0 * further < LEVEL:
            break
        k, below = k + 1, more
    outside = 2.0 * (below + math.comb(n, k) / 2.0**n)
    return Estimate(statistics.median(x), x[k], x[n - 1 - k], max(0.0, 1.0 - outside), n)


@dataclass(frozen=True)
class Ratio:
    """Theirs over ours at one size."""

    contest: str
    size: int
    peer: str
    ours: str
    cpu: Estimate
    wall: Estimate
    memory: Estimate


@dataclass(frozen=True)
class Growth:
    """CPU seconds ~ size^exponent."""

    contest: str
    contestant: str
    sizes: tuple[int, ...]
    exponent: Estimate


def by_round(rows: Sequence[Row], contest: str, size: int, name: str) -> dict[int, Row]:
    """The rounds of a contestant."""
    asked = (contest, str(size), name)
    return {int(row["round"]): row for row in rows if (row["contest"], row["size"], row["contestant"]) == asked}


def memory(row: Row) -> float:
    """Mebibytes of the work: the peak above what was resident before."""
    return max(LEAST_MEBIBYTES, float(row["peak_mebibytes"]) - float(row["base_mebibytes"]))


def ratios(rows: Sequence[Row], contest: Contest) -> list[Ratio]:
    """Of every peer to every one of ours, size by size."""
    found = []
    for size in contest.sizes:
        ours = [who.name for who in contest.at(size) if who.is_ours]
        peers = [who.name for who in contest.at(size) if not who.is_ours]
        for peer in peers:
            for our in ours:
                theirs, mine = (by_round(rows, contest.name, size, name) for name in (peer, our))
                common = sorted(theirs.keys() & mine.keys())
                if not common:
                    continue
                pairs = [(theirs[i], mine[i]) for i in common]
                cpu, wall = (
                    median_interval([float(a[key]) / float(b[key]) for a, b in pairs])
                    for key in ("cpu_seconds", "wall_seconds")
                )
                mebibytes = median_interval([memory(a) / memory(b) for a, b in pairs])
                found.append(Ratio(contest.name, size, peer, our, cpu, wall, mebibytes))
    return found


def growth(rows: Sequence[Row], contest: Contest) -> list[Growth]:
    """The exponent of each contestant that ran at two sizes or more, over the rounds that all of them have."""
    found = []
    for who in contest.contestants:
        runs = {size: by_round(rows, contest.name, size, who.name) for size in who.sizes}
        sizes = tuple(size for size, known in runs.items() if known)
        if len(sizes) < 2:
            continue
        common = sorted(set.intersection(*(set(runs[size]) for size in sizes)))
        slopes = [slope(sizes, [float(runs[size][i]["cpu_seconds"]) for size in sizes]) for i in common]
        if slopes:
            found.append(Growth(contest.name, who.name, sizes, median_interval(slopes)))
    return found


def slope(sizes: Sequence[int], seconds: Sequence[float]) -> float:
    """Of log seconds on log size, by least squares."""
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def ratio_table(found: Sequence[Ratio]) -> list[Row]:
    """A line for each ratio."""
    lines = []
    for one in found:
        line = {"contest": one.contest, "size": str(one.size), "peer": one.peer, "ours": one.ours}
        line |= {"rounds": str(one.cpu.rounds), "level": f"{one.cpu.level:.4f}", "verdict": one.cpu.verdict}
        for key, estimate in (("cpu", one.cpu), ("wall", one.wall), ("memory", one.memory)):
            numbers = zip(("ratio", "low", "high"), (estimate.median, estimate.low, estimate.high), strict=True)
            line |= {f"{key}_{name}": f"{number:.4g}" for name, number in numbers}
        lines.append(line)
    return lines


def growth_table(found: Sequence[Growth]) -> list[Row]:
    """A line for each exponent."""
    return [
        {
            "contest": one.contest,
            "contestant": one.contestant,
            "sizes": " ".join(map(str, one.sizes)),
            "rounds": str(one.exponent.rounds),
            "level": f"{one.exponent.level:.4f}",
            "exponent": f"{one.exponent.median:.3f}",
            "low": f"{one.exponent.low:.3f}",
            "high": f"{one.exponent.high:.3f}",
        }
        for one in found
    ]
