"""A table of norms as its readers see it: a panel per workload, a curve per norm, and what is known beside them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from factormech.arrays import FloatArray
from factormech.errors import BadValue
from factormech.tables.panels import Curve

if TYPE_CHECKING:
    import pandas as pd

# A norm and, where domain sizes vary, its α.
Asked: TypeAlias = tuple[str, float | None]
APPROXIMATE, SHIFTED = "gamma-2-approximate", "gamma-2-shifted"


@dataclass(frozen=True)
class Interval:
    """What is known of a norm along the axis, NaN where nothing is, and what it is called."""

    asked: Asked
    name: str
    lower: FloatArray
    upper: FloatArray


@dataclass(frozen=True)
class NormPanel:
    """One workload: certified ends of each norm, the trace bound, what is known, and, where α varies, a sandwich.

    ``sandwich`` is 2γ̂₂(W, α) + 1 + α, which γ₂(W, α) is at most (Edmonds, PhD thesis, 2023); γ̂₂(W, α) it is at least.
    """

    workload: str
    x: FloatArray
    curves: dict[Asked, Curve]
    trace: FloatArray
    known: tuple[Interval, ...]
    sandwich: FloatArray
    missing: dict[str, tuple[str, ...]]


@dataclass(frozen=True)
class NormView:
    """A whole table; ``axis`` is ``domain_size``, or ``alpha`` if there is but one size and several α."""

    axis: str
    fixed: float
    asked: tuple[Asked, ...]
    panels: tuple[NormPanel, ...]


def norm_view(frame: pd.DataFrame) -> NormView:
    """Arrange a table; over several seeds the widest interval is shown."""
    if frame.empty:
        raise BadValue("table", "no rows", "have at least one row", "run the workflow again")
    sizes, alphas = frame["domain_size"].nunique(), frame["entry_error"].nunique()
    axis = "entry_error" if sizes == 1 and alphas > 1 else "domain_size"
    keys = zip(frame["norm"], frame["entry_error"].tolist(), strict=True)
    # Where α varies along the axis, a norm without one is no curve of its own: it is the same at every α.
    asked = tuple(dict.fromkeys((norm, None if axis == "entry_error" or math.isnan(a) else a) for norm, a in keys))
    fixed = math.nan if axis == "domain_size" else float(frame["domain_size"].iloc[0])
    panels = tuple(_panel(str(name), part, axis, asked) for name, part in frame.groupby("workload", sort=False))
    return NormView(axis, fixed, asked, panels)


def _panel(workload: str, frame: pd.DataFrame, axis: str, asked: tuple[Asked, ...]) -> NormPanel:
    x = np.sort(frame[axis].dropna().unique()).astype(np.float64)
    rows = {key: _rows_of(frame, key, axis) for key in asked}
    curves = {key: _curve(key, part, axis, x) for key, part in rows.items()}
    known = tuple(
        Interval(key, str(name), *(_along(some, axis, x, column, "max") for column in ("known_lower", "known_upper")))
        for key, part in rows.items()
        for name, some in part[part["known"] != ""].groupby("known", sort=False)
    )
    gone = frame[frame["status"] != "ok"]
    missing = {str(norm): tuple(dict.fromkeys(part["reason"])) for norm, part in gone.groupby("norm", sort=False)}
    trace = _along(frame, "domain_size", x, "trace_bound", "max") if axis == "domain_size" else np.full(x.shape, np.nan)
    return NormPanel(workload, x, curves, trace, known, _sandwich(curves, axis, x), missing)


def _rows_of(frame: pd.DataFrame, key: Asked, axis: str) -> pd.DataFrame:
    rows = frame[frame["norm"] == key[0]]
    return rows if axis == "entry_error" or key[1] is None else rows[rows["entry_error"] == key[1]]


def _curve(key: Asked, rows: pd.DataFrame, axis: str, x: FloatArray) -> Curve:
    upper = _along(rows, axis, x, "upper", "max")
    return Curve(key[0], upper, _along(rows, axis, x, "lower", "min"), upper)


def _along(rows: pd.DataFrame, axis: str, x: FloatArray, column: str, how: str) -> FloatArray:
    if axis == "entry_error" and rows["entry_error"].isna().all():
        return np.full(x.shape, float(rows[column].agg(how)))
    groups = rows.groupby(rows[axis].astype("float64"))[column]
    return np.asarray(groups.agg(how).reindex(x).to_numpy(dtype=np.float64))


def _sandwich(curves: dict[Asked, Curve], axis: str, x: FloatArray) -> FloatArray:
    names = {curve.name: curve for curve in curves.values()}
    if axis != "entry_error" or not {APPROXIMATE, SHIFTED} <= set(names):
        return np.full(x.shape, np.nan)
    return np.asarray(2.0 * names[SHIFTED].high + 1.0 + x)
