"""What a table of simulated collections says in words: one verdict, where its rows are, what is missing.

The verdict: do all measured errors agree with the exact ones at once?
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from factormech import labels
from factormech.studies.axes import DOMAIN_SIZE, EPSILON, USERS
from factormech.tables import panels
from factormech.tables.panels import number, span

if TYPE_CHECKING:
    import pandas as pd

    from factormech.studies.measures.collection import Agreement


# What a table of simulated collections says in words: where its rows are, what is missing, what cannot be drawn.


def pool_place(mechanism: str, workload: str, size: int | None = None, epsilon: float | None = None) -> str:
    """A pool of points: those of a mechanism and a workload, at one domain size and ε or at all."""
    at = "all of its points" if size is None or epsilon is None else f"n = {size}, ε = {number(epsilon)}"
    return f"{labels.mechanism_label(mechanism)}, {labels.workload_label(workload)}, {at}"


def place(row: pd.Series[Any]) -> str:
    """A single collection."""
    pool = pool_place(row["mechanism"], row["workload"], row["domain_size"], row["epsilon"])
    return f"{pool}, {row['population']}, N = {row['users']}, seed {row['seed']}"


def gaps(frame: pd.DataFrame) -> list[str]:
    """Return the gaps of the table with their reasons, a phrase for each mechanism and status."""
    return panels.unmeasured(frame, lambda rows: _places(rows, frame))


def misses(rows: pd.DataFrame) -> pd.Series[bool]:
    """Return where a measured interval does not contain the exact error; false where there is no interval."""
    return (rows["interval_low"] > rows["exact_error"]) | (rows["interval_high"] < rows["exact_error"])


def missed(frame: pd.DataFrame) -> list[str]:
    """Return phrases on the collections whose single intervals do not contain the exact error."""
    found = frame[misses(frame)].groupby("mechanism", sort=False)
    return [
        f"{len(rows)} interval{'s' * (len(rows) > 1)} without the exact error: "
        f"{labels.mechanism_label(str(name))}{_where(rows, frame)}"
        for name, rows in found
    ]


def free(frame: pd.DataFrame) -> list[str]:
    """Return phrases on what a logarithmic axis cannot show."""
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


# The one verdict on a table of simulated collections: do all measured errors agree with the exact ones at once?


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
