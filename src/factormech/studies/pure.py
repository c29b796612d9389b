"""What studies of pure privacy share: axes, columns and rules."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from factormech.errors import BadValue
from factormech.studies.axes import DOMAIN_SIZE
from factormech.studies.axes import EPSILON as EPSILONS
from factormech.studies.base import Asked, Axis, Column, Problem
from factormech.studies.sweeps import quantity

LAPLACE, RAW, PROJECTED = "laplace", "k-norm", "k-norm-projection"
PRODUCT = Axis("users_times_epsilon", {"type": "number", "exclusiveMinimum": 0, "maximum": 1000000000}, 64.0)
TYPES = replace(
    DOMAIN_SIZE,
    entry={"type": "integer", "minimum": 2, "maximum": 65536},
    note="A power of two; there are as many parities.",
)
EPSILON = quantity(EPSILONS, 1.0, "δ is 0.")
SPENT = Column("epsilon")
USERS = Column("users", at_least=1)
ERROR = Column("l2_error", at_least=0.0)
LOW = Column("low", at_least=0.0)
HIGH = Column("high", at_least=0.0)
SPARSITY = Column("sparsity", empty="free", at_least=1.0)
LOWER = Column("lower_bound", at_least=0.0)
METHOD = Column("bound_method", empty="free")
# Sentences of captions.
MEANING = "ε-DP, one of N users replaced, N fixed; the error is E‖·‖₂/√k, a mean of norms."
FALL_SHORT = "the guarantee is that of real numbers and exact laws: floating point falls short of it"
IN_THE_LIMIT = f"{FALL_SHORT}, and noise from a Markov chain is ε-private in the limit of the chain only"


def refuse_sizes(asked: Asked) -> Iterator[BadValue]:
    """Types that are no power of two."""
    for i, N in enumerate(asked["domain_size"]):
        if N & (N - 1):
            yield BadValue(f"grid.domain_size[{i}]", N, "be a power of two", "parities are over 2^d types")


def refuse_products(asked: Asked) -> Iterator[BadValue]:
    """Products that no whole number of users has."""
    epsilon = asked["epsilon"]
    for i, product in enumerate(asked["users_times_epsilon"]):
        n = round(product / epsilon)
        if n < 1 or abs(n * epsilon - product) > 1e-9 * product:
            rule = f"be a whole number of users times ε = {epsilon:g}"
            yield BadValue(
                f"grid.users_times_epsilon[{i}]", product, rule, "there is at least one user, and users are whole"
            )


def check_errors(row: Mapping[str, Any]) -> Problem:
    """The error is within its interval, and the interval does not end below the bound."""
    if not row["low"] <= row["l2_error"] <= row["high"]:
        return "l2_error", "be between low and high"
    if row["high"] < row["lower_bound"] * (1.0 - 1e-9):
        return "high", "be at least lower_bound: no mechanism is below it"
    return None
