"""What a table of sample complexities says: by how much a mechanism improves on the others, and how needs grow with n.

Columns are documented in ``tables/comparisons.py``.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from factormech.arrays import FloatArray
from factormech.errors import BadValue, UnknownName
from factormech.studies.asked import Asked
from factormech.studies.sample_complexity import LOWER_BOUND, PLACES
from factormech.tables import kinds as tables
from factormech.tables.comparisons import ALL_SIZES, IMPROVEMENT, LEAST_SIZES, UPPER_HALF

if TYPE_CHECKING:
    import pandas as pd


def improvement(frame: pd.DataFrame, mechanism: str, exclude: Sequence[str] = ()) -> pd.DataFrame:
    """The table of improvements of ``mechanism`` on the best of the others, at each point of a grid.

    Where several others are equally good, the first of the table is named. Those of ``exclude`` do not compete.
    """
    others = frame.loc[~frame["mechanism"].isin([mechanism, LOWER_BOUND]), "mechanism"].unique().tolist()
    if not (frame["mechanism"] == mechanism).any() or mechanism == LOWER_BOUND:
        raise UnknownName("mechanism", mechanism, others)
    for name in exclude:
        if name not in others:
            raise UnknownName("mechanism that does not compete", name, others)
    points = frame[~frame["mechanism"].isin(list(exclude))].groupby(["study", *PLACES], sort=False)
    told = {"excluded": " ".join(exclude)}
    return tables.from_rows(({**_improvement(part, mechanism), **told} for _, part in points), "improvement")


def improvement_of_study(frame: pd.DataFrame, asked: Asked) -> pd.DataFrame:
    """The table of improvements of the mechanism that a study compares."""
    return improvement(frame, asked["compare"], asked["exclude"])


def slopes_of_study(frame: pd.DataFrame, _: Asked) -> pd.DataFrame:
    """The table of growth of a study."""
    return slopes(frame)


def _improvement(point: pd.DataFrame, mechanism: str) -> dict[str, Any]:
    """One row: the mechanism against the others of its grid point."""
    ours = point[point["mechanism"] == mechanism]
    if len(ours) != 1:
        raise BadValue("table", f"{len(ours)} rows for {mechanism}", "have one at each point", "read a whole table")
    [row] = ours.to_dict("records")
    value, bound = row["sample_complexity"], row["lower_bound"]
    kept = {"study": row["study"], "origin": row.get("origin", "")} | {
        c.name: row[c.name] for c in IMPROVEMENT.columns if c.name in row
    }
    kept["ratio_to_bound"] = value / bound if bound > 0 else math.nan
    if row["status"] != "ok":
        return kept
    if value == 0:
        return {**kept, "status": "free", "reason": "it needs no users"}
    rivals = point[(point["status"] == "ok") & (point["mechanism"] != mechanism)]
    if rivals.empty:
        return {**kept, "status": "alone", "reason": "no other mechanism has a number here"}
    best = rivals.loc[rivals["sample_complexity"].idxmin()]
    needed = float(best["sample_complexity"])
    competition = {
        "competitor": best["mechanism"],
        "competitor_sample_complexity": needed,
        "improvement": needed / value,
    }
    return {**kept, **competition}


def slopes(frame: pd.DataFrame) -> pd.DataFrame:
    """The table of growth: slopes of log(sample complexity) against log(domain size), of mechanisms and bounds."""
    sizes = np.unique(frame["domain_size"].to_numpy())
    if len(sizes) < LEAST_SIZES:
        rule = f"have at least {LEAST_SIZES} domain sizes"
        raise BadValue("table", f"{len(sizes)} domain sizes", rule, "give a study over domain sizes")
    return tables.from_rows(_slope_rows(frame, sizes.tolist()), "slopes")


def _slope_rows(frame: pd.DataFrame, sizes: list[int]) -> Iterator[dict[str, Any]]:
    halves = {ALL_SIZES: sizes, UPPER_HALF: sizes[len(sizes) // 2 :]}
    is_bound = frame["mechanism"] == LOWER_BOUND
    curves = frame.assign(
        bound_name=frame["bound_name"].where(is_bound, ""),
        needed=frame["sample_complexity"].where(~is_bound, frame["lower_bound"]),
    )
    keys = ["study", "workload", "epsilon", "metric", "alpha", "mechanism", "bound_name"]
    for place, rows in curves.groupby(keys, sort=False):
        needed = rows.groupby("domain_size")["needed"].median()
        for part, chosen in halves.items():
            there = needed[needed.index.isin(chosen) & (needed > 0)]
            fit = _fit(there.index.to_numpy(dtype=np.float64), there.to_numpy(dtype=np.float64), part, rows)
            yield {**dict(zip(keys, _tuple(place), strict=True)), "part": part, **fit}


def _tuple(place: Hashable) -> tuple[Any, ...]:
    return place if isinstance(place, tuple) else (place,)


def _fit(n: FloatArray, needed: FloatArray, part: str, rows: pd.DataFrame) -> dict[str, Any]:
    """Slope and root mean square residual of log(needed) against log(n), for three sizes or more."""
    used = {
        "sizes": len(n),
        "smallest_size": int(n.min(initial=math.inf)) if len(n) else 0,
        "largest_size": int(n.max(initial=0)),
    }
    if len(n) < LEAST_SIZES:
        return {**used, "status": "too-few", "reason": _too_few(len(n), part, rows)}
    x, y = (np.log(values) - np.log(values).mean() for values in (n, needed))
    slope = float(x @ y / (x @ x))
    residual = float(np.sqrt(np.mean((y - slope * x) ** 2)))
    return {**used, "slope": slope, "residual": residual, "status": "ok", "reason": ""}


def _too_few(count: int, part: str, rows: pd.DataFrame) -> str:
    where = "the upper half of the sizes" if part == UPPER_HALF else "all sizes"
    reasons = [reason for reason in dict.fromkeys(rows["reason"]) if reason]
    why = f" ({reasons[0]})" if reasons else ""
    return f"{count} of {where} with a number above 0, and a slope needs {LEAST_SIZES}{why}"
