"""What studies of pure privacy share: axes, columns and rules."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from factormech.errors import BadValue
from factormech.experiments.axes import DOMAIN_SIZE
from factormech.experiments.axes import EPSILON as EPSILONS
from factormech.experiments.base import Asked, Axis, Column, Problem
from factormech.experiments.sweeps import quantity

LAPLACE, RAW, PROJECTED = "laplace", "k-norm", "k-norm-projection"
PRODUCT = Axis(
    "product",
    {"type": "number", "exclusiveMinimum": 0, "maximum": 1000000000},
    "users times privacy budget, nε",
    64.0,
    symbol="nε",
    description="Products nε, each of a whole number of persons n.",
)
TYPES = replace(
    DOMAIN_SIZE,
    entry={"type": "integer", "minimum": 2, "maximum": 65536},
    label="types N",
    symbol="N",
    description="Numbers of user types N, powers of two; there are as many parities.",
)
EPSILON = quantity(EPSILONS, 1.0, "Privacy budgets ε; δ is 0.")
SPENT = Column("epsilon", "number", "privacy budget ε", "ε", "The bounds depend on n and on ε, not on nε alone.")
USERS = Column("users", "integer", "users n", "n", "Persons, a fixed number; neighbours replace one.", at_least=1)
ERROR = Column("error", "number", "error E‖·‖₂/√k", "", "Of means, on the worst data found.", at_least=0.0)
LOW = Column("low", "number", "lower end of error", "", "the lower end of the error's 99.9 % interval", at_least=0.0)
HIGH = Column("high", "number", "upper end of error", "", "the upper end", at_least=0.0)
SPARSITY = Column(
    "sparsity",
    "number",
    "types in the worst data found",
    "s",
    "Types in the worst data found, of those tried; empty where all data have one error.",
    "free",
    at_least=1.0,
)
LOWER = Column("lower_bound", "number", "lower bound", "", "Of every ε-private mechanism, on worst data.", at_least=0.0)
METHOD = Column("method", "text", "method", description="How the lower bound is proved.", empty="free")
# Sentences of captions.
MEANING = "ε-DP, one of n persons replaced, n fixed; the error is E‖·‖₂/√k, a mean of norms."
FALL_SHORT = "the guarantee is that of real numbers and exact laws: floating point falls short of it"


def refuse_sizes(asked: Asked) -> Iterator[BadValue]:
    """Types that are no power of two."""
    for i, N in enumerate(asked["domain_size"]):
        if N & (N - 1):
            yield BadValue(f"grid.domain_size[{i}]", N, "be a power of two", "parities are over 2^d types")


def refuse_products(asked: Asked) -> Iterator[BadValue]:
    """Products that no whole number of persons has."""
    epsilon = asked["epsilon"]
    for i, product in enumerate(asked["product"]):
        n = round(product / epsilon)
        if n < 1 or abs(n * epsilon - product) > 1e-9 * product:
            rule = f"be a whole number of persons times ε = {epsilon:g}"
            yield BadValue(f"grid.product[{i}]", product, rule, "there is at least one person, and persons are whole")


def check_errors(row: Mapping[str, Any]) -> Problem:
    """The error is within its interval, and the interval does not end below the bound."""
    if not row["low"] <= row["error"] <= row["high"]:
        return "error", "be between low and high"
    if row["high"] < row["lower_bound"] * (1.0 - 1e-9):
        return "high", "be at least lower_bound: no mechanism is below it"
    return None
