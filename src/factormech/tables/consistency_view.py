"""A table of consistent estimates as its readers see it: a panel per workload, domain size, ε and data set."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from factormech import labels
from factormech.arrays import FloatArray
from factormech.studies import consistency
from factormech.tables import panels as arrange
from factormech.tables.kinds import format_named
from factormech.tables.panels import number, with_numbers

if TYPE_CHECKING:
    import pandas as pd

# What a panel has one value of.
KEYS = ("workload", "domain_size", "epsilon", "data")
LABELS = {
    consistency.NONE: "unprocessed",
    consistency.FREE: "non-negative",
    consistency.FIXED: "non-negative, total known",
}


@dataclass(frozen=True)
class ProcessedErrors:
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
    by_processing: dict[str, ProcessedErrors]


@dataclass(frozen=True)
class ConsistencyPanel:
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
class ConsistencyView:
    """A whole table."""

    metric: str
    trials: int
    level: float
    seeds: int
    users: FloatArray
    data: tuple[str, ...]
    mechanisms: tuple[str, ...]
    panels: tuple[ConsistencyPanel, ...]
    violation: float
    missing: tuple[str, ...]

    @property
    def drawn(self) -> tuple[str, ...]:
        """The mechanisms with an error to draw somewhere."""
        return with_numbers(self.mechanisms, ((s.name, s.exact) for panel in self.panels for s in panel.series))

    @property
    def standins(self) -> tuple[str, ...]:
        """The data sets that are synthetic."""
        return labels.standins(self.data)

    def ratios(self, name: str, processing: str) -> FloatArray:
        """Return all ratios of a mechanism after a processing, (panels, users)."""
        return np.array([s.by_processing[processing].ratio for p in self.panels for s in p.series if s.name == name])


def view(frame: pd.DataFrame) -> ConsistencyView:
    """Arrange a table of consistent estimates."""
    format_named("consistency").check(frame)
    arrange.check_one_study(frame)
    names = arrange.in_order(frame, ("workload", "data", "mechanism"))
    sizes, epsilons = (np.unique(frame[c]).tolist() for c in ("domain_size", "epsilon"))
    users = np.unique(frame["users"]).astype(float)
    places = itertools.product(names["workload"], sizes, epsilons, names["data"])
    return ConsistencyView(
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


def _panel(frame: pd.DataFrame, place: tuple[str, int, float, str], users: FloatArray) -> ConsistencyPanel:
    at = arrange.rows_at(frame, dict(zip(KEYS, place, strict=True)))
    series = [_series(str(name), rows, users) for name, rows in at.groupby("mechanism", sort=False)]
    return ConsistencyPanel(*place, tuple(series))


def _series(name: str, rows: pd.DataFrame, users: FloatArray) -> Series:
    parts = {p: rows[rows["processing"] == p] for p in consistency.PROCESSINGS}
    exact = _along(parts[consistency.NONE], "exact_error", "mean", users) * users
    return Series(name, exact, {p: _measured(part, users) for p, part in parts.items()})


def _measured(rows: pd.DataFrame, users: FloatArray) -> ProcessedErrors:
    columns = (("measured_error", "mean"), ("measured_low", "min"), ("measured_high", "max"))
    ratios = (("ratio_to_unprocessed", "mean"), ("ratio_low", "min"), ("ratio_high", "max"))
    return ProcessedErrors(
        *(_along(rows, column, how, users) * users for column, how in columns),
        *(_along(rows, column, how, users) for column, how in ratios),
    )


def _along(rows: pd.DataFrame, column: str, how: str, users: FloatArray) -> FloatArray:
    return arrange.along(rows[column], rows["users"].astype("float64"), users, how)


def _missing(frame: pd.DataFrame) -> list[str]:
    """A phrase for each mechanism and status, with where and why."""
    return arrange.unmeasured(frame, _where) + arrange.without_number(frame, "exact_error", "no error")


def _where(rows: pd.DataFrame) -> str:
    counts = f"N from {number(rows['users'].min())} to {number(rows['users'].max())}"
    return f"{arrange.workloads_of(rows)}; {counts}"
