"""What approximation is worth: users that the factorization mechanism needs, against the a that its factors miss W by.

The mechanism of Edmonds, Nikolov & Ullman (STOC 2020, §4) and of Edmonds (PhD thesis, 2023, chapter 5) factors a W̃
within a of W in every entry, a = α/2, and leaves α − a to the noise. Here a goes through [0, α), for γ₂(W, a) and for
γ̂₂(W, a), which may add a constant to each query, and each is compared with the least number of users over all a and
both norms that were looked at. A search for the best a (:mod:`factormech.mechanisms.local.factorized.factors`) is
among them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from factormech import labels
from factormech.errors import BadValue
from factormech.studies.axes import DOMAIN_SIZE, WORKLOAD
from factormech.studies.base import (
    REASON,
    Asked,
    Axis,
    Column,
    Curves,
    Experiment,
    PaperTable,
    Problem,
    Setting,
    Shown,
    split,
)
from factormech.studies.local_releases import ACCURACY, BUDGET, PANEL, panel

if TYPE_CHECKING:
    import pandas as pd

GRID, BEST = "grid", "best"
FACTORS = ("shifted", "approximate")
SHARE = Axis(
    "bias_share",
    {"type": "number", "minimum": 0, "exclusiveMaximum": 1, "rule": "be a number of at least 0 and below 1"},
    0.5,
    default=(0.0, 0.01, 0.03, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9),
    note="The papers have 0.5.",
)


def measure(asked: Asked) -> Iterator[dict[str, Any]]:
    """Yield a row for each share of the grid, and one for the fewest users over these and over a search."""
    from factormech.mechanisms.local.factorized.release import half_ranges
    from factormech.studies.asked import workload_of

    for name, n, epsilon, alpha in asked.points("workload", "domain_size", "epsilon", "alpha"):
        W = workload_of(asked, name, n)
        shown = panel(asked, name, domain_size=n, epsilon=epsilon)
        point = {"panel": shown, "workload": name, "domain_size": n, "epsilon": epsilon, "alpha": alpha}
        constants = float(half_ranges(W.matrix()).max(initial=0.0))
        if alpha >= constants:
            reason = f"constants err by {constants:g} at most"
            empty = [
                {**point, "factors": norm, "choice": GRID, "bias_share": s}
                for norm in FACTORS
                for s in asked["bias_share"]
            ]
            yield from ({**row, "reason": reason} for row in empty)
            continue
        rows = [{**point, **row} for key in FACTORS for row in _rows(W, epsilon, alpha, key, asked)]
        least = min(row["predicted_users"] for row in rows)
        yield from ({**row, "ratio_to_least": row["predicted_users"] / least} for row in rows)


def _rows(W: Any, epsilon: float, alpha: float, key: str, asked: Asked) -> list[dict[str, Any]]:
    """The grid of one norm, and its best a."""
    from factormech.errors import Unavailable
    from factormech.mechanisms.local.factorized import registry
    from factormech.mechanisms.local.factorized.factors import factorization, norm_at

    found = []
    for share in asked["bias_share"]:
        a = share * alpha
        norm = norm_at(W, a, shifted=key == "shifted")
        shift = norm.witness.get("shift")
        options = {} if shift is None else {"shift": shift}
        factors = factorization(
            W.matrix(), norm.left.dense(), norm.right.dense(), distance=a + norm.residual, **options
        )
        release = registry.release_of(key, factors, epsilon, randomizer=asked["randomizer"])
        found.append(_row(release, key, share, alpha) | {"lower": norm.lower, "upper": norm.upper})
    searched = registry.build(key, W, epsilon, alpha=alpha, randomizer=asked["randomizer"])
    if isinstance(searched, Unavailable):
        raise BadValue("workload", W.name, f"have {key} factors ({searched.reason})", "leave the workload out")
    found.append(_row(searched, key, float(searched.distance / alpha), alpha))
    best = min(found, key=lambda row: row["predicted_users"])
    return [*found[:-1], {**best, "choice": BEST}]


def _row(release: Any, key: str, share: float, alpha: float) -> dict[str, Any]:
    return {
        "factors": key,
        "choice": GRID,
        "bias_share": share,
        "distance": release.distance,
        "predicted_users": release.predicted_users(alpha),
        "guaranteed_users": release.guaranteed_users(alpha),
    }


def check(row: Mapping[str, Any]) -> Problem:
    """Return the problem of a row whose proved users are below the predicted ones, or whose ends are out of order."""
    if row["guaranteed_users"] < row["predicted_users"]:
        return "guaranteed_users", "be at least predicted_users"
    if row["lower"] > row["upper"]:  # never true of nan: the best a may be off the grid
        return "lower", "be at most upper"
    return None


def refuse(asked: Asked) -> Iterator[BadValue]:
    """Refuse randomizers with a δ, which are compared in another study."""
    from factormech.mechanisms.local.randomizers import registry

    if asked["randomizer"] not in [name for name in registry.names() if not registry.has_delta(name)]:
        pure = ", ".join(name for name in registry.names() if not registry.has_delta(name))
        yield BadValue("randomizer", asked["randomizer"], f"be one of {pure}", "give for example half-sphere")


def told(frame: pd.DataFrame) -> Iterator[str]:
    """Yield the notes on stars and dots, and on the cost of a = α/2."""
    yield "Stars: the least of each curve, a searched one included. Dotted: a = α/2."
    half = frame[(frame["choice"] == GRID) & (frame["bias_share"] == 0.5) & frame["ratio_to_least"].notna()]
    if len(half):
        ends = (round(float(value), 2) for value in (half["ratio_to_least"].min(), half["ratio_to_least"].max()))
        low, high = (labels.value_label("ratio_to_least", value) for value in ends)
        yield f"There the mechanism needs {low} to {high} times the users of the best a."


def seconds(asked: Asked) -> float:
    """Return the seconds by the number of solves: one for each share, and about ten in a search."""
    solves = (
        2.0 * (len(asked["bias_share"]) + 10.0) * len(asked["alpha"]) * len(asked["epsilon"]) * len(asked["workload"])
    )
    return float(sum(solves * (0.02 + 0.12 * (n / 64) ** 2) for n in asked["domain_size"]))


_users = partial(Column, empty="reason", at_least=1.0)


EXPERIMENT = Experiment(
    kind="local-approximation",
    description=(
        "Users that the factorization mechanism needs for an expected ℓ∞ error α, against the share a/α of it that its "
        "factors miss the workload by."
    ),
    axes=(WORKLOAD, DOMAIN_SIZE, BUDGET, ACCURACY, SHARE),
    settings=(
        Setting(
            "randomizer",
            {"type": "string", "enum": ["half-sphere", "priv-unit"]},
            "Of the points of the ball.",
            "half-sphere",
            default="half-sphere",
        ),
    ),
    columns=(
        PANEL,
        WORKLOAD.column(),
        DOMAIN_SIZE.column(),
        BUDGET.column(),
        ACCURACY.column(),
        Column("factors"),
        Column("choice"),
        SHARE.column(),
        Column("distance", empty="reason", at_least=0.0),
        Column("lower", empty="free", at_least=0.0),
        Column("upper", empty="free", at_least=0.0),
        _users("predicted_users"),
        _users("guaranteed_users"),
        Column("ratio_to_least", empty="reason", at_least=1.0),
        REASON,
    ),
    keys=("workload", "domain_size", "epsilon", "alpha", "factors", "choice", "bias_share"),
    complete=False,
    measure=measure,
    check=check,
    refuse=refuse,
    parts=split("workload"),
    figure=Curves(
        panel=("workload", "domain_size", "epsilon"),
        x="bias_share",
        y="ratio_to_least",
        series="alpha",
        dash="factors",
        where=("choice", GRID),
        stars=("choice", BEST),
        uprights=(0.5,),
        x_scale="linear",
        y_scale="ratio",
        text=(
            "Users that are predicted for E‖answers − Wp‖∞ ≤ α on every data set p, over the least number for this α "
            "over all a and both norms; neighbouring data sets replace one user's type, and reports are purely ε-LDP"
        ),
        told="factormech.studies.local_approximation:told",
    ),
    tables=(
        PaperTable(
            rows=("panel", "alpha", "bias_share"),
            columns=("factors",),
            shown=(Shown("predicted_users"),),
            best="min",
            where=(("choice", GRID),),
        ),
    ),
    seconds=seconds,
    memory_mb=lambda asked: 600,
)
