"""A table of simulated collections as its readers see it: measured next to exact, one verdict, and what is missing.

The figure and its caption are two renderings of one :class:`Collected`. Points that differ only in
population and seed are copies: they stand together, by their mean and the hull of their intervals.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from factormech.arrays import FloatArray
from factormech.tables import arrange, collected_words
from factormech.tables.kinds import format_named
from factormech.tables.panels import with_numbers
from factormech.tables.verdict import Verdict, verdict_of

if TYPE_CHECKING:
    import pandas as pd

MOST_PANELS, MOST_COLUMNS = 12, 4


@dataclass(frozen=True)
class Copies:
    """A mechanism in a panel; arrays run along the numbers of users, NaN where nothing was measured (or is known).

    Attributes
    ----------
    exact, exact_low, exact_high
        Users × exact error, which is the variance per user and query: mean, least and largest of the copies.
    measured, low, high
        Users × measured error, mean of the copies, and the hull of their intervals.
    ratios
        Measured over exact of each copy, (users, copies).
    ratio_low, ratio_high
        The hull of the intervals, each over its exact error.
    misses
        Where the interval of some copy does not hold the exact error, which the hull may hide.
    """

    name: str
    exact: FloatArray
    exact_low: FloatArray
    exact_high: FloatArray
    measured: FloatArray
    low: FloatArray
    high: FloatArray
    ratios: FloatArray
    ratio_low: FloatArray
    ratio_high: FloatArray
    misses: npt.NDArray[np.bool_]

    @property
    def ratio(self) -> FloatArray:
        """Mean ratio of the copies; NaN where there is none."""
        found = np.isfinite(self.ratios)
        total = np.where(found, self.ratios, 0.0).sum(axis=1)
        return np.where(found.any(axis=1), total / np.maximum(found.sum(axis=1), 1), np.nan)


@dataclass(frozen=True)
class Panel:
    """One workload, domain size and ε."""

    workload: str
    domain_size: int
    epsilon: float
    series: tuple[Copies, ...]


@dataclass(frozen=True)
class Collected:
    """A whole table; ``panels`` are the grid points that are drawn, workload × domain size by ε."""

    metric: str
    trials: int
    level: float
    workloads: tuple[str, ...]
    sizes: tuple[int, ...]
    epsilons: tuple[float, ...]
    populations: tuple[str, ...]
    users: FloatArray
    seeds: tuple[int, ...]
    mechanisms: tuple[str, ...]
    panels: tuple[Panel, ...]
    columns: int
    verdict: Verdict | None
    misses: tuple[str, ...]
    missing: tuple[str, ...]

    @property
    def drawn(self) -> tuple[str, ...]:
        """The mechanisms with something to draw on a logarithmic axis."""
        return with_numbers(self.mechanisms, ((s.name, s.exact) for panel in self.panels for s in panel.series))

    @property
    def copies(self) -> int:
        """How many collections stand at one place, at most."""
        return len(self.populations) * len(self.seeds)

    @property
    def copies_text(self) -> str:
        """What the copies are: "2 populations × 3 seeds"."""
        counts = ((len(self.populations), "populations"), (len(self.seeds), "seeds"))
        return " × ".join(f"{count} {what}" for count, what in counts if count > 1)

    @property
    def left_out(self) -> str:
        """Which part of the grid the panels show, if not all of it."""
        sizes = sorted({panel.domain_size for panel in self.panels})
        epsilons = sorted({panel.epsilon for panel in self.panels})
        parts = []
        if len(sizes) < len(self.sizes):
            parts.append(f"the largest domain size, n = {sizes[-1]}, of {collected_words.listed(self.sizes)}")
        if len(epsilons) < len(self.epsilons):
            parts.append(f"ε = {collected_words.listed(epsilons)} of {collected_words.listed(self.epsilons)}")
        return f"panels show {' and '.join(parts)}; the verdict is on all" if parts else ""


def view(frame: pd.DataFrame) -> Collected:
    """Arrange a table of simulated collections (:mod:`factormech.tables.collections`)."""
    format_named("simulated-collection").check(frame)
    arrange.check_one_study(frame)
    axes = arrange.in_order(frame, ("workload", "population", "mechanism"))
    axes |= {name: tuple(np.unique(frame[name]).tolist()) for name in ("domain_size", "epsilon", "seed", "users")}
    places, columns = _shown(axes["workload"], axes["domain_size"], axes["epsilon"])
    users = np.array(axes["users"], dtype=np.float64)
    return Collected(
        metric=str(frame["metric"].iloc[0]),
        trials=int(frame["trials"].iloc[0]),
        level=float(frame["level"].iloc[0]),
        workloads=axes["workload"],
        sizes=axes["domain_size"],
        epsilons=axes["epsilon"],
        populations=axes["population"],
        users=users,
        seeds=axes["seed"],
        mechanisms=axes["mechanism"],
        panels=tuple(_panel(frame, place, users) for place in places),
        columns=columns,
        verdict=verdict_of(frame),
        misses=tuple(collected_words.missed(frame)),
        missing=(*collected_words.gaps(frame), *collected_words.free(frame)),
    )


def _shown(
    workloads: Sequence[str], sizes: Sequence[int], epsilons: Sequence[float]
) -> tuple[list[tuple[str, int, float]], int]:
    """The panels to draw, row by row, and the number of columns: everything, or what a page holds of it."""
    if len(workloads) * len(sizes) * len(epsilons) > MOST_PANELS:
        sizes = sizes[-1:]
    most = min(max(MOST_PANELS // (len(workloads) * len(sizes)), 1), MOST_COLUMNS)
    if len(epsilons) > most:
        # Evenly spread, the ends included; of a single one, the middle.
        spread = np.linspace(0, len(epsilons) - 1, most) if most > 1 else np.array([len(epsilons) // 2])
        epsilons = [epsilons[int(i)] for i in np.round(spread)]
    places = list(itertools.product(workloads, sizes, epsilons))
    # A single column of panels would waste the page: they follow each other instead.
    return places, len(epsilons) if len(epsilons) > 1 else min(len(places), 3)


def _panel(frame: pd.DataFrame, place: tuple[str, int, float], users: FloatArray) -> Panel:
    workload, size, epsilon = place
    at = arrange.rows_at(frame, {"workload": workload, "domain_size": size, "epsilon": epsilon})
    groups = at.groupby("mechanism", sort=False)
    return Panel(*place, tuple(_copies(str(name), rows, users) for name, rows in groups))


def _copies(name: str, rows: pd.DataFrame, users: FloatArray) -> Copies:
    # What a logarithmic axis cannot show is left out here and told in words.
    positive = rows[rows["exact_error"] > 0]
    live = positive[positive["status"] == "ok"]

    def along(source: pd.DataFrame, column: str, how: str, unit: str) -> FloatArray:
        """A column over the copies at each number of users, times users or over the exact error."""
        values = source[column] * source["users"] if unit == "users" else source[column] / source["exact_error"]
        return arrange.along(values, source["users"].astype("float64"), users, how)

    ratios = [live.loc[live["users"] == n, "ratio_to_exact"].tolist() for n in users.tolist()]
    width = max([len(values) for values in ratios] + [1])
    return Copies(
        name,
        exact=along(positive, "exact_error", "mean", "users"),
        exact_low=along(positive, "exact_error", "min", "users"),
        exact_high=along(positive, "exact_error", "max", "users"),
        measured=along(live, "measured_error", "mean", "users"),
        low=along(live, "interval_low", "min", "users"),
        high=along(live, "interval_high", "max", "users"),
        ratios=np.array([values + [np.nan] * (width - len(values)) for values in ratios]),
        ratio_low=along(live, "interval_low", "min", "exact"),
        ratio_high=along(live, "interval_high", "max", "exact"),
        misses=np.isin(users, live.loc[collected_words.misses(live), "users"].unique()),
    )
