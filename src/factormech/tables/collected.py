"""A table of simulated collections as its readers see it, in numbers and words.

**Phrases.** They say where rows are, what is missing, and what cannot be drawn.

**The verdict.** It says whether all measured errors agree with the exact ones at once.

**The view.** The figure and its caption are two renderings of one :class:`Collected`. Points that differ only in
population and seed are copies: they stand together, by their mean and the hull of their intervals.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from factormech import labels
from factormech.arrays import FloatArray
from factormech.studies.axes import DOMAIN_SIZE, EPSILON, USERS
from factormech.tables import panels
from factormech.tables import panels as arrange
from factormech.tables.kinds import format_named
from factormech.tables.panels import number, span, with_numbers

if TYPE_CHECKING:
    import pandas as pd

    from factormech.studies.measures.collection import Agreement


# Phrases.


def pool_place(mechanism: str, workload: str, size: int | None = None, epsilon: float | None = None) -> str:
    """A pool of points: those of a mechanism and a workload, at one domain size and ε or at all."""
    at = "all of its points" if size is None or epsilon is None else f"n = {size}, ε = {number(epsilon)}"
    return f"{labels.mechanism_label(mechanism)}, {labels.workload_label(workload)}, {at}"


def place(row: pd.Series[Any]) -> str:
    """A single collection."""
    pool = pool_place(row["mechanism"], row["workload"], row["domain_size"], row["epsilon"])
    return f"{pool}, {row['population']}, N = {row['users']}, seed {row['seed']}"


def gaps(frame: pd.DataFrame) -> list[str]:
    """What was not measured, with its reasons, a phrase for each mechanism and status."""
    return panels.unmeasured(frame, lambda rows: _places(rows, frame))


def misses(rows: pd.DataFrame) -> pd.Series[bool]:
    """Where a collection was measured whose interval does not hold the exact error; false where it has none."""
    return (rows["interval_low"] > rows["exact_error"]) | (rows["interval_high"] < rows["exact_error"])


def missed(frame: pd.DataFrame) -> list[str]:
    """Whose single intervals do not hold the exact error; the hull of several might hide it."""
    found = frame[misses(frame)].groupby("mechanism", sort=False)
    return [
        f"{len(rows)} interval{'s' * (len(rows) > 1)} without the exact error (black): "
        f"{labels.mechanism_label(str(name))}{_where(rows, frame)}"
        for name, rows in found
    ]


def free(frame: pd.DataFrame) -> list[str]:
    """What a logarithmic axis cannot show."""
    phrases = []
    for name, rows in frame[frame["exact_error"] == 0].groupby("mechanism", sort=False):
        largest = rows["measured_error"].max()
        measured = f"measured at most {largest:.2g}" if np.isfinite(largest) else "not measured"
        phrases.append(
            f"not drawn: {labels.mechanism_label(str(name))}{_where(rows, frame)} — exact error 0, {measured}"
        )
    return phrases


def listed(values: Sequence[float]) -> str:
    """Parameters, separated by commas."""
    return ", ".join(number(value) for value in values)


def _where(rows: pd.DataFrame, frame: pd.DataFrame) -> str:
    return panels.unless_everywhere(rows, frame, lambda some: _places(some, frame))


def _places(rows: pd.DataFrame, frame: pd.DataFrame) -> str:
    """The places of some rows of a mechanism: "Prefix, Total at N ≥ 1000; Histogram"."""
    by_place: dict[str, list[str]] = {}
    for workload, part in rows.groupby("workload", sort=False):
        whole = frame[(frame["workload"] == workload) & (frame["mechanism"] == part["mechanism"].iloc[0])]
        by_place.setdefault(_where_in(part, whole), []).append(labels.workload_label(str(workload)))
    workloads = len(frame["workload"].unique())
    texts = []
    for at, names in by_place.items():
        if workloads == 1:
            texts.append(at)
            continue
        who = "every workload" if len(names) == workloads else ", ".join(names)
        texts.append(f"{who} at {at}" if at else who)
    return "; ".join(texts)


def _where_in(part: pd.DataFrame, whole: pd.DataFrame) -> str:
    """Places inside a workload, by the axes on which they are not everywhere."""
    spans = [
        span(part[axis.name].unique().tolist(), np.unique(whole[axis.name]), axis.column())
        for axis in (DOMAIN_SIZE, EPSILON, USERS)
    ]
    names = part["population"].unique().tolist()
    spans.append(", ".join(names) if len(names) < whole["population"].nunique() else "")
    if part["seed"].nunique() < whole["seed"].nunique():
        spans.append(f"seed {listed(part['seed'].unique().tolist())}")
    axes = ("domain_size", "epsilon", "users", "population", "seed")
    product = np.prod([part[axis].nunique() for axis in axes])
    some = "some points" if len(part) < product else ""
    return ", ".join(text for text in (some, *spans) if text)


# The verdict.


@dataclass(frozen=True)
class Verdict:
    """Whether all measured points agree at once, and which comparison, and which point, is the most deviant.

    ``worst`` says where the smallest p-value is; ``farthest`` the point of the largest |z|, which is ``farthest_z``.
    """

    agreement: Agreement
    worst: str
    farthest: str
    farthest_z: float


def verdict_of(frame: pd.DataFrame) -> Verdict | None:
    """The verdict on what was measured; ``None`` if nothing was."""
    from factormech.studies.measures.collection import collection_agreement

    measured = frame[frame["status"] == "ok"]
    if measured.empty:
        return None
    agreement = collection_agreement(
        measured.rename(columns={"z_score": "z", "ratio_to_exact": "ratio"}).itertuples(index=False)
    )
    z = measured["z_score"].abs().to_numpy()
    farthest = int(z.argmax())
    worst = agreement.worst
    if isinstance(worst, tuple):
        return Verdict(agreement, f"pool: {pool_place(*worst)}", place(measured.iloc[farthest]), float(z[farthest]))
    where = place(measured.iloc[int(str(worst))])
    # Named once where it is the same point.
    elsewhere = "" if farthest == worst else place(measured.iloc[farthest])
    return Verdict(agreement, where, elsewhere, float(z[farthest]))


def verdict_text(found: Verdict | None) -> str:
    """The verdict in words, without a full stop."""
    if found is None:
        return "nothing was measured: there is no verdict"
    agreement = found.agreement
    points = "the measured collection agrees" if agreement.points == 1 else "all measured collections agree"
    says = f"{points} with the exact error" if agreement.passed else "MEASURED AND EXACT ERRORS DISAGREE"
    farthest = (
        f"; the largest |z| of a single one is {found.farthest_z:.2f} ({found.farthest})" if found.farthest else ""
    )
    return (
        f"{says} at the simultaneous level {level_text(agreement.level)}: over {agreement.comparisons} comparisons of "
        f"{agreement.points} points and their pools, in mean error and in bias, the most deviant ({found.worst}) has "
        f"z = {signed(agreement.z)} and simultaneous p = {agreement.p_value:.2g}{farthest}"
    )


def level_text(level: float) -> str:
    """A level as one would type it: 0.05, 1e-6."""
    return f"{level:g}".replace("e-0", "e-")


def signed(value: float) -> str:
    """A deviation with two places and a true minus."""
    return f"{value:.2f}".replace("-", "−")


# The view.

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
            parts.append(f"the largest domain size, n = {sizes[-1]}, of {listed(self.sizes)}")
        if len(epsilons) < len(self.epsilons):
            parts.append(f"ε = {listed(epsilons)} of {listed(self.epsilons)}")
        return f"panels show {' and '.join(parts)}; the verdict is on all" if parts else ""


def view(frame: pd.DataFrame) -> Collected:
    """Arrange a table of simulated collections."""
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
        misses=tuple(missed(frame)),
        missing=(*gaps(frame), *free(frame)),
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
        misses=np.isin(users, live.loc[misses(live), "users"].unique()),
    )
