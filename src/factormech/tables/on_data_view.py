"""A table of sample complexities on data sets as its readers see it: a panel per workload, domain size and ε."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from factormech import labels
from factormech.arrays import FloatArray
from factormech.errors import BadValue
from factormech.tables import on_data
from factormech.tables.panels import number, told

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
    """One workload, domain size and ε; ``bound`` is the strongest on each data set, 0 where it says nothing."""

    workload: str
    domain_size: int
    epsilon: float
    series: tuple[Series, ...]
    bound: FloatArray

    @property
    def title(self) -> str:
        """What is fixed in the panel."""
        return f"{labels.workload_label(self.workload)}, n = {self.domain_size}, ε = {number(self.epsilon)}"


@dataclass(frozen=True)
class View:
    """A whole table; ``data`` are the data sets, the worst case last."""

    metric: str
    alpha: float
    seeds: int
    data: tuple[str, ...]
    mechanisms: tuple[str, ...]
    bounds: tuple[str, ...]
    panels: tuple[Panel, ...]
    missing: tuple[str, ...]

    @property
    def drawn(self) -> tuple[str, ...]:
        """The mechanisms with a number above 0 somewhere."""
        shown = {s.name for panel in self.panels for s in panel.series if np.any(s.middle > 0)}
        return tuple(name for name in self.mechanisms if name in shown)

    @property
    def standins(self) -> tuple[str, ...]:
        """The data sets that are synthetic."""
        return tuple(name for name in self.data if name.endswith(labels.STANDIN))

    def spread(self, series: Series) -> float:
        """The most users over the fewest, over the data sets (the worst case is none)."""
        values = series.middle[[name != on_data.WORST_CASE for name in self.data]]
        return float(values.max() / values.min()) if values.size and np.all(values > 0) else np.nan

    def worst_over(self, series: Series) -> float:
        """The worst case over the data set that needs the fewest users."""
        here = np.array([name != on_data.WORST_CASE for name in self.data])
        if here.all() or not here.any() or not np.all(series.middle > 0):
            return np.nan
        return float(series.middle[~here][0] / series.middle[here].min())


def view(frame: pd.DataFrame) -> View:
    """Arrange a table of sample complexities on data sets (:mod:`factormech.tables.on_data`)."""
    on_data.FORMAT.check(frame)
    if len(frame["study"].unique()) > 1:
        found = ", ".join(frame["study"].unique())
        raise BadValue("column study of the table", found, "have one value", "draw one study at a time")
    names: dict[str, tuple[Any, ...]] = {
        c: tuple(frame[c].unique().tolist()) for c in ("workload", "data", "mechanism")
    }
    sizes, epsilons = (np.unique(frame[c]).tolist() for c in ("domain_size", "epsilon"))
    places = itertools.product(names["workload"], sizes, epsilons)
    return View(
        metric=str(frame["metric"].iloc[0]),
        alpha=float(frame["alpha"].iloc[0]),
        seeds=int(frame["seed"].nunique()),
        data=names["data"],
        mechanisms=names["mechanism"],
        bounds=tuple(frame["bound_name"].unique().tolist()),
        panels=tuple(_panel(frame, place, names["data"]) for place in places),
        missing=tuple(_missing(frame)),
    )


def _panel(frame: pd.DataFrame, place: tuple[str, int, float], data: tuple[str, ...]) -> Panel:
    workload, size, epsilon = place
    at = frame[(frame["workload"] == workload) & (frame["domain_size"] == size) & (frame["epsilon"] == epsilon)]
    series = []
    for name, rows in at.groupby("mechanism", sort=False):
        groups = rows.groupby("data")["sample_complexity"]
        values = (np.asarray(getattr(groups, how)().reindex(data), dtype=float) for how in ("median", "min", "max"))
        series.append(Series(str(name), *values))
    bound = np.asarray(at.groupby("data")["lower_bound"].median().reindex(data), dtype=float)
    return Panel(workload, size, epsilon, tuple(series), bound)


def _missing(frame: pd.DataFrame) -> list[str]:
    """A phrase for each mechanism and status, with where and why."""
    phrases = []
    for (name, status), rows in frame[frame["status"] != "ok"].groupby(["mechanism", "status"], sort=False):
        points = rows[["workload", "domain_size", "epsilon"]].drop_duplicates().itertuples(index=False)
        everywhere = len(rows) == int((frame["mechanism"] == name).sum())
        where = "; ".join(f"{labels.workload_label(w)}, n = {n}, ε = {number(e)}" for w, n, e in points)
        at = "" if everywhere else f" [{where}]"
        phrases.append(
            f"{status}: {labels.mechanism_label(str(name))}{at} — {'; '.join(told(rows['reason'].tolist()))}"
        )
    for name, rows in frame[frame["sample_complexity"] == 0].groupby("mechanism", sort=False):
        where = ", ".join(labels.workload_label(w) for w in rows["workload"].unique().tolist())
        phrases.append(f"not drawn: {labels.mechanism_label(str(name))} [{where}] — needs no users")
    return phrases
