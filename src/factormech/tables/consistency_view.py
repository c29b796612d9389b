"""A table of consistent estimates as its readers see it: a panel per workload, domain size, ε and data set."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from factormech import labels
from factormech.arrays import FloatArray
from factormech.errors import BadValue
from factormech.tables import consistency
from factormech.tables.panels import number, told

if TYPE_CHECKING:
    import pandas as pd

LABELS = {
    consistency.NONE: "unprocessed",
    consistency.FREE: "non-negative",
    consistency.FIXED: "non-negative, total known",
}


@dataclass(frozen=True)
class Measured:
    """One processing along the numbers of users: errors times users, and ratios to the unprocessed ones.

    Means over the seeds, and the hull of their intervals.
    """

    middle: FloatArray
    low: FloatArray
    high: FloatArray
    ratio: FloatArray
    ratio_low: FloatArray
    ratio_high: FloatArray


@dataclass(frozen=True)
class Series:
    """A mechanism in a panel; ``exact`` is users × the exact error of the unprocessed estimate."""

    name: str
    exact: FloatArray
    by_processing: dict[str, Measured]


@dataclass(frozen=True)
class Panel:
    """One workload, domain size, ε and data set."""

    workload: str
    domain_size: int
    epsilon: float
    data: str
    series: tuple[Series, ...]

    @property
    def title(self) -> str:
        """What is fixed in the panel."""
        place = f"{labels.workload_label(self.workload)}, n = {self.domain_size}, ε = {number(self.epsilon)}"
        return f"{labels.data_label(self.data)}: {place}"


@dataclass(frozen=True)
class View:
    """A whole table."""

    metric: str
    trials: int
    level: float
    seeds: int
    users: FloatArray
    data: tuple[str, ...]
    mechanisms: tuple[str, ...]
    panels: tuple[Panel, ...]
    violation: float
    missing: tuple[str, ...]

    @property
    def drawn(self) -> tuple[str, ...]:
        """The mechanisms with an error to draw somewhere."""
        shown = {s.name for panel in self.panels for s in panel.series if np.any(s.exact > 0)}
        return tuple(name for name in self.mechanisms if name in shown)

    @property
    def standins(self) -> tuple[str, ...]:
        """The data sets that are synthetic."""
        return tuple(name for name in self.data if name.endswith(labels.STANDIN))

    def ratios(self, name: str, processing: str) -> FloatArray:
        """All ratios of a mechanism after a processing, (panels, users)."""
        return np.array([s.by_processing[processing].ratio for p in self.panels for s in p.series if s.name == name])


def view(frame: pd.DataFrame) -> View:
    """Arrange a table of consistent estimates (:mod:`factormech.tables.consistency`)."""
    consistency.FORMAT.check(frame)
    if len(frame["study"].unique()) > 1:
        found = ", ".join(frame["study"].unique())
        raise BadValue("column study of the table", found, "have one value", "draw one study at a time")
    names: dict[str, tuple[Any, ...]] = {
        c: tuple(frame[c].unique().tolist()) for c in ("workload", "data", "mechanism")
    }
    sizes, epsilons = (np.unique(frame[c]).tolist() for c in ("domain_size", "epsilon"))
    users = np.unique(frame["users"]).astype(float)
    places = itertools.product(names["workload"], sizes, epsilons, names["data"])
    return View(
        metric=str(frame["metric"].iloc[0]),
        trials=int(frame["trials"].iloc[0]),
        level=float(frame["level"].iloc[0]),
        seeds=int(frame["seed"].nunique()),
        users=users,
        data=names["data"],
        mechanisms=names["mechanism"],
        panels=tuple(_panel(frame, place, users) for place in places),
        violation=float(frame["violation"].max()),
        missing=tuple(_missing(frame)),
    )


def _panel(frame: pd.DataFrame, place: tuple[str, int, float, str], users: FloatArray) -> Panel:
    keys = ("workload", "domain_size", "epsilon", "data")
    at = frame[np.logical_and.reduce([frame[key] == value for key, value in zip(keys, place, strict=True)])]
    series = [_series(str(name), rows, users) for name, rows in at.groupby("mechanism", sort=False)]
    return Panel(*place, tuple(series))


def _series(name: str, rows: pd.DataFrame, users: FloatArray) -> Series:
    parts = {p: rows[rows["processing"] == p] for p in consistency.PROCESSINGS}
    exact = _along(parts[consistency.NONE], "exact_error", "mean", users) * users
    return Series(name, exact, {p: _measured(part, users) for p, part in parts.items()})


def _measured(rows: pd.DataFrame, users: FloatArray) -> Measured:
    columns = (("measured_error", "mean"), ("interval_low", "min"), ("interval_high", "max"))
    ratios = (("ratio", "mean"), ("ratio_low", "min"), ("ratio_high", "max"))
    return Measured(
        *(_along(rows, column, how, users) * users for column, how in columns),
        *(_along(rows, column, how, users) for column, how in ratios),
    )


def _along(rows: pd.DataFrame, column: str, how: str, users: FloatArray) -> FloatArray:
    groups = rows.groupby(rows["users"].astype("float64"))[column]
    return np.asarray(getattr(groups, how)().reindex(users), dtype=float)


def _missing(frame: pd.DataFrame) -> list[str]:
    """A phrase for each mechanism and status, with where and why."""
    phrases = []
    for (name, status), rows in frame[frame["status"] != "ok"].groupby(["mechanism", "status"], sort=False):
        everywhere = len(rows) == int((frame["mechanism"] == name).sum())
        workloads = ", ".join(labels.workload_label(w) for w in rows["workload"].unique().tolist())
        counts = f"N from {number(rows['users'].min())} to {number(rows['users'].max())}"
        at = "" if everywhere else f" [{workloads}; {counts}]"
        phrases.append(
            f"{status}: {labels.mechanism_label(str(name))}{at} — {'; '.join(told(rows['reason'].tolist()))}"
        )
    for name, rows in frame[frame["exact_error"] == 0].groupby("mechanism", sort=False):
        where = ", ".join(labels.workload_label(w) for w in rows["workload"].unique().tolist())
        phrases.append(f"not drawn: {labels.mechanism_label(str(name))} [{where}] — no error")
    return phrases
