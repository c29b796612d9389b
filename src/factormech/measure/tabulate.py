"""From measurements to the tables that figures and papers show: sample complexities, and simulated collections."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from factormech.measure.sample_complexity import sample_complexity

if TYPE_CHECKING:
    import pandas as pd

_POINT = ["workload", "domain_size", "seed", "epsilon"]


def sample_complexity_table(
    study: str,
    measurements: Sequence[pd.DataFrame],
    bounds: pd.DataFrame,
    *,
    metric: str,
    alpha: float,
) -> pd.DataFrame:
    """One row for each grid point and mechanism, and one for each grid point and bound.

    The row of a mechanism carries the strongest bound of its point. The rows of bounds have status ``bound``. The
    order is that of the grid: workload, domain size, seed, ε, then mechanisms, then bounds. The seed is a column only
    where the grid has several.
    """
    import pandas as pd

    from factormech.tables.sample_complexity import COLUMNS, LOWER_BOUND

    def users(frame: pd.DataFrame, column: str) -> list[float]:
        pairs = zip(frame[column], frame["queries"], strict=True)
        return [sample_complexity(metric, variance, int(p), alpha) for variance, p in pairs]

    measured = pd.concat(measurements, ignore_index=True)
    measured["sample_complexity"] = users(measured, "worst_variance")
    bounded = bounds.assign(lower_bound=users(bounds, "variance_bound"))
    strongest = bounded.loc[bounded.groupby(_POINT)["lower_bound"].idxmax(), [*_POINT, "lower_bound", "bound_name"]]
    measured = measured.merge(strongest, on=_POINT, how="left", validate="many_to_one")
    bounded = bounded.assign(mechanism=LOWER_BOUND, status="bound", reason="")
    table = pd.concat([measured, bounded], ignore_index=True).assign(study=study, metric=metric, alpha=alpha)
    ranks = {name: rank for rank, name in enumerate(dict.fromkeys(table["mechanism"]))}
    asked = {name: rank for rank, name in enumerate(dict.fromkeys(table["workload"]))}
    order = table.assign(_w=table["workload"].map(asked), _m=table["mechanism"].map(ranks)).sort_values(
        ["_w", "domain_size", "seed", "epsilon", "_m"], kind="stable"
    )
    columns = list(COLUMNS)
    if len(set(table["seed"])) > 1:
        columns.insert(columns.index("epsilon") + 1, "seed")
    return order[columns].reset_index(drop=True)


def collection_table(study: str, measurements: Sequence[pd.DataFrame], *, level: float) -> pd.DataFrame:
    """One row for each collection of ``measure.collection.as_frame``, in the order of the grid.

    The order is workload as asked, domain size, ε, population as asked, users, seed, then mechanisms as measured.
    ``level`` is that of the intervals, which rows do not say.
    """
    import pandas as pd

    from factormech.tables.collections import COLUMNS

    measured = pd.concat(measurements, ignore_index=True).assign(study=study, metric="mse", level=level)
    asked = ("workload", "population", "mechanism")
    ranks = {c: {name: rank for rank, name in enumerate(dict.fromkeys(measured[c]))} for c in asked}
    order = measured.assign(**{f"_{c}": measured[c].map(ranks[c]) for c in asked}).sort_values(
        ["_workload", "domain_size", "epsilon", "_population", "users", "seed", "_mechanism"], kind="stable"
    )
    return order[list(COLUMNS)].reset_index(drop=True)
