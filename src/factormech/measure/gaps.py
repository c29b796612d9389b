"""How far from optimal: variances over the strongest lower bound on those of every ε-LDP strategy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

POINT = ["workload", "domain_size", "seed", "epsilon"]


def strongest_bounds(bounds: pd.DataFrame) -> pd.DataFrame:
    """For each point of the frame of ``measure_bounds`` the largest bound on the average variance, and its name."""
    best = bounds.loc[bounds.groupby(POINT)["variance_bound"].idxmax(), [*POINT, "variance_bound", "bound_name"]]
    return best.rename(columns={"variance_bound": "lower_bound"})


def ratios(row: dict[str, Any]) -> dict[str, Any]:
    """The ratios of a measured row with its bound, or the status that says why there are none."""
    if row["status"] != "ok":
        return {}
    if row["average_variance"] == 0.0:
        return {"status": "free", "reason": "its variance is 0"}
    if row["lower_bound"] == 0.0:
        return {"status": "unbounded", "reason": "every lower bound is 0 here"}
    bound = row["lower_bound"]
    return {"ratio": row["average_variance"] / bound, "worst_ratio": row["worst_variance"] / bound}


def gap_table(study: str, measurements: Sequence[pd.DataFrame], bounds: pd.DataFrame) -> pd.DataFrame:
    """The table of ``tables/gaps.py`` in the order of the grid, mechanisms as measured."""
    import pandas as pd

    from factormech.tables.gaps import FORMAT

    measured = pd.concat(measurements, ignore_index=True)
    joined = measured.merge(strongest_bounds(bounds), on=POINT, how="left", validate="many_to_one").assign(study=study)
    asked = {column: _ranks(joined[column]) for column in ("workload", "mechanism")}
    order = joined.assign(**{f"_{c}": joined[c].map(ranks) for c, ranks in asked.items()}).sort_values(
        ["_workload", "domain_size", "epsilon", "seed", "_mechanism"], kind="stable"
    )
    seeded = len(set(joined["seed"])) > 1
    columns = [c for c in (FORMAT.seeded if seeded else FORMAT.columns) if c in order]
    return FORMAT.from_rows({**row, **ratios(row)} for row in order[columns].to_dict("records"))


def _ranks(column: pd.Series[Any]) -> dict[Any, int]:
    return {name: rank for rank, name in enumerate(dict.fromkeys(column))}
