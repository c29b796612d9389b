"""A tree of user types: ask for the ancestor of the user's type at a random level, by Hadamard response.

Cormode, Kulkarni & Srivastava (PVLDB 12(10), 2019) and Wang et al. (SIGMOD 2019), with branching 4 and the level drawn
uniformly. Leaves are the n types in order; level j has ⌈n/4ʲ⌉ nodes; the root, which says nothing, is not asked for.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from factormech.arrays import FloatArray
from factormech.mechanisms.local import hadamard
from factormech.mechanisms.local.strategy import Strategy, StrategyMatrix
from factormech.mechanisms.local.two_valued import two_valued

BRANCHING = 4


def strategy(domain_size: int, epsilon: float) -> Strategy:
    """Hierarchical with the block version of Hadamard response at each level."""
    return _hierarchical(domain_size, epsilon, hadamard.block_sets)


def table1_strategy(domain_size: int, epsilon: float) -> Strategy:
    """Hierarchical with the single-block Hadamard response of Table 1 at each level."""
    return _hierarchical(domain_size, epsilon, hadamard.table1_sets)


def level_sizes(domain_size: int) -> list[int]:
    """Nodes of each level, leaves first, the root left out (but for a domain of one type)."""
    sizes = [domain_size]
    while sizes[-1] > BRANCHING:
        sizes.append(-(-sizes[-1] // BRANCHING))
    return sizes


def _hierarchical(
    domain_size: int, epsilon: float, sets: Callable[[int, float], npt.NDArray[np.bool_]]
) -> StrategyMatrix:
    levels = level_sizes(domain_size)
    rows: list[FloatArray] = []
    ancestor = np.arange(domain_size)
    for nodes in levels:
        rows.append(two_valued(sets(nodes, epsilon), epsilon)[:, ancestor] / len(levels))
        ancestor = ancestor // BRANCHING
    return StrategyMatrix(np.vstack(rows), epsilon)
