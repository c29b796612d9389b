"""What a table of simulated collections says in words: where its rows are, what is missing, what cannot be drawn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from factormech import labels
from factormech.experiments.axes import DOMAIN_SIZE, EPSILON, USERS
from factormech.tables import arrange
from factormech.tables.panels import number, span

if TYPE_CHECKING:
    import pandas as pd


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
    return arrange.unmeasured(frame, lambda rows: _places(rows, frame))


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
    return arrange.unless_everywhere(rows, frame, lambda some: _places(some, frame))


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
