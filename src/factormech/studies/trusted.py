"""What studies of a trusted curator's mechanisms share: their names, axes and columns.

Not a kind of study itself. All of them measure unnormalised answers Wx, with the neighbours of
:mod:`factormech.mechanisms.central`, which the figure says together with ε and δ.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from factormech.errors import UnknownName
from factormech.studies.axes import ORDER
from factormech.studies.base import NAMES, Column, Family, Problem, Setting

# Neighbours, as below every figure.
NEIGHBOURS = "Neighbours: histograms with ‖x − x'‖₁ ≤ 1"
OPTIMAL = "optimal"
# Rounding, where a number is held against a bound on it.
ROUNDING = 1e-9

ORDERS = replace(
    ORDER,
    entry={
        "anyOf": [{"type": "integer", "minimum": 2, "maximum": 999}, {"enum": ["inf"]}],
        "rule": "be a whole number from 2 to 999, or inf",
    },
    example=2,
    default=(2, 4, "inf"),
)
RELATIVE_WIDTH = Setting(
    "relative_width",
    {"type": "number", "minimum": 0.001, "maximum": 0.5},
    "A simulation ends when its intervals are so narrow, relatively to the mean.",
    0.02,
    default=0.02,
)
RELATION = Column("relation", empty="free")


def module_of(name: str) -> str:
    """The module of a mechanism; ``optimal`` has the factors of the norm of each order."""
    from factormech.mechanisms.central import registry

    return registry.module_of("gamma-2" if name == OPTIMAL else name)


def mechanisms(known: tuple[str, ...], refused: tuple[str, ...], default: tuple[str, ...], more: str = "") -> Setting:
    """The mechanisms of a study, but for those that are refused here."""

    def check(name: str) -> None:
        if name in refused:
            raise UnknownName("mechanism of such a study", name, known)
        module_of(name)

    return Setting(
        "mechanisms",
        NAMES,
        f"Names of central mechanisms, or gamma-p{{p}}; one curve each.{more}",
        list(default[:1]),
        default=list(default),
        names=Family(lambda: known, check, module_of),
    )


FACTORIZATIONS = (
    OPTIMAL,
    "gamma-f",
    "gamma-p4",
    "gamma-p8",
    "gamma-2",
    "square-root",
    "square-root-normalised",
    "binary-tree",
    "binary-tree-plain",
    "gaussian-input",
    "gaussian-output",
)
# Their errors depend on the data.
OF_DATA = ("gaussian-projection", "gamma-f-projection", "approximate")
BY_ORDER = mechanisms(
    FACTORIZATIONS,
    OF_DATA,
    ("optimal", "square-root", "binary-tree", "gaussian-input", "gaussian-output"),
    " optimal has for each p the factors of the norm of that order.",
)

# Of rows by order, beside the axes.
ORDER_COLUMNS = (
    Column("mechanism"),
    Column("queries"),
    Column("order_p_error", empty="reason", at_least=0.0),
    Column("low", empty="free", at_least=0.0),
    Column("high", empty="free", at_least=0.0),
    Column("total_error", empty="reason", at_least=0.0),
    Column("factor_error", empty="reason", at_least=0.0),
    Column("sigma", empty="reason", at_least=0.0),
    Column("sensitivity", empty="reason", at_least=0.0),
    Column("root_mean_square", empty="free", at_least=0.0),
    Column("draws", empty="free", at_least=0.0),
    Column("lower_bound", empty="free", at_least=0.0),
    Column("root_lower_bound", empty="free", at_least=0.0),
    RELATION,
)


def check_orders(row: Mapping[str, Any]) -> Problem:
    """Return the problem of a row whose error is below its lower bound, or whose interval misses its mean."""
    simulated = math.isinf(row["p"])
    top = row["high"] if simulated else row["order_p_error"]
    if not top >= row["lower_bound"] * (1.0 - ROUNDING):
        return "order_p_error", "be at least lower_bound"
    if simulated and not row["low"] <= row["order_p_error"] <= row["high"]:
        return "order_p_error", "be between low and high"
    if simulated and not row["root_mean_square"] >= row["order_p_error"]:
        return "root_mean_square", "be at least the mean"
    return None
