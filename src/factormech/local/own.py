"""What a mechanism outside of the package returns: taken at its word about nothing that can be checked."""

from __future__ import annotations

from typing import Any

import numpy as np

from factormech.errors import BadValue
from factormech.local.strategy import Strategy, StrategyMatrix
from factormech.privacy import REPLACE_ONE, guarantee_of
from factormech.unavailable import Unavailable

# The δ of the package's own (ε, δ)-private strategies.
LARGEST_DELTA = 1e-9


def checked_strategy(name: str, built: Any, domain_size: int, epsilon: float) -> Strategy | Unavailable:
    """The strategy, verified: of a matrix its privacy on the very floats, of a strategy what it promises.

    A matrix is ε-LDP by verification. A ``Strategy`` of another kind states its guarantee, which must be for a user's
    type exchanged for any other, of no more than ``epsilon``, and of a δ of at most ``LARGEST_DELTA``.
    """
    what = f"mechanism {name}"
    if isinstance(built, Unavailable):
        return built
    try:
        strategy = StrategyMatrix(_matrix(built), epsilon) if _is_matrix(built) else built
        found = guarantee_of(strategy, REPLACE_ONE)
    except BadValue as error:
        raise BadValue(f"{what}: {error.name}", error.value, error.rule, error.remedy) from error
    if not found.epsilon <= epsilon:
        rule = f"be at most the budget it is asked for, {epsilon:g}"
        raise BadValue(f"{what}: epsilon of its guarantee", found.epsilon, rule, "make it with the epsilon given")
    if not found.delta <= LARGEST_DELTA:
        rule = f"be at most {LARGEST_DELTA:g}: no table shows the δ of a strategy"
        raise BadValue(f"{what}: delta of its guarantee", found.delta, rule, "make it private with a smaller δ")
    if strategy.domain_size != domain_size:
        rule = f"have one column for each of the {domain_size} user types"
        raise BadValue(what, f"{strategy.domain_size} columns", rule, "return outputs × user types")
    checked: Strategy = strategy
    return checked


def _is_matrix(built: Any) -> bool:
    return isinstance(built, (np.ndarray, list, tuple))


def _matrix(built: Any) -> Any:
    Q = np.asarray(built)
    if Q.dtype.kind not in "biuf":
        raise BadValue("strategy", Q.dtype.name, "hold real numbers", "convert it to float64")
    return Q
