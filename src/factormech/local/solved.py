"""Mechanisms whose strategy is found by a solver, once, and kept in a file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from factormech.arrays import FloatArray
from factormech.local.strategy import Strategy
from factormech.workloads.base import Workload


@dataclass(frozen=True)
class Solution:
    """What a solver found.

    Attributes
    ----------
    datasets
        The strategy, as the arrays that the mechanism restores it from.
    record
        How it was found: ``objective``, ``iterations``, ``stopped``, and ``lower_bound`` where the solver has one.
    """

    datasets: Mapping[str, FloatArray]
    record: Mapping[str, Any]


class SolvedMechanism(Protocol):
    """What a mechanism with a solver offers.

    ``epsilon`` is ``None`` where the registry says that one strategy serves every budget.
    """

    def solve(self, workload: Workload, epsilon: float | None, rng: np.random.Generator) -> Solution:
        """Find the strategy for a workload."""
        ...

    def restore(self, solution: Solution, epsilon: float) -> Strategy:
        """The strategy from what was kept, its privacy verified again."""
        ...
