"""A table of sample complexities on data sets as its readers see it: a panel per workload, domain size and ε."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from factormech import labels
from factormech.arrays import FloatArray
from factormech.studies.data_dependent import WORST_CASE
from factormech.tables import panels as arrange
from factormech.tables.kinds import format_named
from factormech.tables.panels import number, with_numbers

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Series:
    """A mechanism in a panel: users needed on each data set, NaN where there is no number; over the seeds."""

    name: str
    middle: FloatArray
    low: FloatArray
    high: FloatArray


@dataclass(frozen=True)
class Panel:
    """One workload, domain size, ε and α; ``bound`` is the strongest on each data set, 0 where it says nothing."""

    title: str
    series: tuple[Series, ...]
    bound: FloatArray


@dataclass(frozen=True)
class View:
    """A whole table; ``data`` are the data sets, the worst case last, and ``alpha`` is its letter where α varies."""

    metric: str
    alpha: float | str
    seeds: int
    data: tuple[str, ...]
    mechanisms: tuple[str, ...]
    bounds: tuple[str, ...]
    panels: tuple[Panel, ...]
    missing: tuple[str, ...]

    @property
    def drawn(self) -> tuple[str, ...]:
        """The mechanisms with a number above 0 somewhere."""
        return with_numbers(self.mechanisms, ((s.name, s.middle) for panel in self.panels for s in panel.series))

    @property
    def standins(self) -> tuple[str, ...]:
        """The data sets that are synthetic."""
        return labels.standins(self.data)

    def spread(self, series: Series) -> float:
        """The most users over the fewest, over the data sets (the worst case is none)."""
        values = series.middle[[name != WORST_CASE for name in self.data]]
        return float(values.max() / values.min()) if values.size and np.all(values > 0) else np.nan

    def worst_over(self, series: Series) -> float:
        """The worst case over the data set that needs the fewest users."""
        here = np.array([name != WORST_CASE for name in self.data])
        if here.all() or not here.any() or not np.all(series.middle > 0):
            return np.nan
        return float(series.middle[~here][0] / series.middle[here].min())


def view(frame: pd.DataFrame) -> View:
    """Arrange a table of sample complexities on data sets."""
    format_named("data-dependent").check(frame)
    arrange.check_one_study(frame)
    names = arrange.in_order(frame, ("workload", "data", "mechanism"))
    numbers = [np.unique(frame[c]).tolist() for c in ("domain_size", "epsilon", "alpha")]
    places = itertools.product(names["workload"], *numbers)
    return View(
        metric=str(frame["metric"].iloc[0]),
        alpha=float(frame["alpha"].iloc[0]) if len(numbers[-1]) == 1 else "α",
        seeds=int(frame["seed"].nunique()),
        data=names["data"],
        mechanisms=names["mechanism"],
        bounds=tuple(frame["bound_name"].unique().tolist()),
        panels=tuple(_panel(frame, place, names["data"], several=len(numbers[-1]) > 1) for place in places),
        missing=tuple(_missing(frame)),
    )


def _panel(frame: pd.DataFrame, place: tuple[Any, ...], data: tuple[str, ...], *, several: bool) -> Panel:
    workload, size, epsilon, alpha = place
    at = arrange.rows_at(frame, {"workload": workload, "domain_size": size, "epsilon": epsilon, "alpha": alpha})
    title = f"{labels.workload_label(workload)}, n = {size}, ε = {number(epsilon)}"
    series = []
    for name, rows in at.groupby("mechanism", sort=False):
        need = rows["sample_complexity"]
        values = (arrange.along(need, rows["data"], data, how) for how in ("median", "min", "max"))
        series.append(Series(str(name), *values))
    bound = arrange.along(at["lower_bound"], at["data"], data, "median")
    return Panel(f"{title}, α = {number(alpha)}" if several else title, tuple(series), bound)


def _missing(frame: pd.DataFrame) -> list[str]:
    """A phrase for each mechanism and status, with where and why."""
    return arrange.unmeasured(frame, _where) + arrange.without_number(frame, "sample_complexity", "needs no users")


def _where(rows: pd.DataFrame) -> str:
    points = rows[["workload", "domain_size", "epsilon"]].drop_duplicates().itertuples(index=False)
    return "; ".join(f"{labels.workload_label(w)}, n = {n}, ε = {number(e)}" for w, n, e in points)
