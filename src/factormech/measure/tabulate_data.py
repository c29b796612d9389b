"""From measurements on data sets to the tables that figures and papers show."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from factormech.measure.sample_complexity import sample_complexity

if TYPE_CHECKING:
    import pandas as pd

_POINT = ["workload", "domain_size", "epsilon", "seed", "data"]


def on_data_table(
    study: str, measurements: Sequence[pd.DataFrame], bounds: pd.DataFrame, *, metric: str, alpha: float
) -> pd.DataFrame:
    """One row for each grid point, data set (the worst case last) and mechanism, with the strongest bound there."""
    import pandas as pd

    from factormech.tables.on_data import COLUMNS

    def users(frame: pd.DataFrame, column: str) -> list[float]:
        pairs = zip(frame[column], frame["queries"], strict=True)
        return [sample_complexity(metric, variance, int(p), alpha) for variance, p in pairs]

    bounded = bounds.assign(lower_bound=users(bounds, "variance_bound"))[[*_POINT, "lower_bound", "bound_name"]]
    measured = pd.concat(measurements, ignore_index=True)
    measured = measured.assign(sample_complexity=users(measured, "variance"), study=study, metric=metric, alpha=alpha)
    table = measured.merge(bounded, on=_POINT, how="left", validate="many_to_one")
    return _ordered(table, ["_workload", "domain_size", "epsilon", "seed", "_data", "_mechanism"])[list(COLUMNS)]


def consistency_table(study: str, measurements: Sequence[pd.DataFrame], *, level: float) -> pd.DataFrame:
    """One row for each collection and processing of ``measure.consistency.as_frame``, in the order of the grid."""
    import pandas as pd

    from factormech.tables.consistency import COLUMNS

    table = pd.concat(measurements, ignore_index=True).assign(study=study, metric="mse", level=level)
    keys = ["_workload", "domain_size", "epsilon", "_data", "users", "seed", "_mechanism", "_processing"]
    return _ordered(table, keys)[list(COLUMNS)]


def _ordered(table: pd.DataFrame, keys: Sequence[str]) -> pd.DataFrame:
    """Rows in the order of these columns; one with ``_`` before its name in the order of first appearance."""
    asked = [key[1:] for key in keys if key.startswith("_")]
    ranks = {c: {name: rank for rank, name in enumerate(dict.fromkeys(table[c]))} for c in asked}
    ranked = table.assign(**{f"_{c}": table[c].map(ranks[c]) for c in asked})
    return ranked.sort_values(list(keys), kind="stable").reset_index(drop=True)
