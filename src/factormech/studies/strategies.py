"""The strategy matrix of a local mechanism, for studies that need its very entries."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from factormech.arrays import FloatArray
    from factormech.workloads.base import Workload


def matrix_of(mechanism: str, workload: Workload, epsilon: float, root_seed: int, most: int) -> FloatArray | str:
    """Q, outputs × types, of at most so many outputs; or why there is none at hand."""
    from factormech.errors import Unavailable
    from factormech.mechanisms.local.registry import strategy_for
    from factormech.mechanisms.local.strategy import StrategyMatrix
    from factormech.mechanisms.local.symmetric.strategy import SymmetricStrategy

    strategy = strategy_for(mechanism, workload, epsilon, root_seed=root_seed)
    if isinstance(strategy, Unavailable):
        return strategy.reason
    if not isinstance(strategy, (StrategyMatrix, SymmetricStrategy)):
        return "its reports are not drawn from a matrix"
    if strategy.outputs > most:
        return f"more than {most} possible reports"
    return (strategy.as_matrix() if isinstance(strategy, SymmetricStrategy) else strategy).matrix
