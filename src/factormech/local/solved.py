"""Mechanisms whose strategy is found by a solver, once, and kept in a file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np

from factormech.arrays import FloatArray
from factormech.local.optimal.problem import Report
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
        A solver for strategy matrices says its ``rows`` m; one that bounds every ε-LDP strategy from below says the
        certified ``gap``, objective ÷ lower bound − 1.
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


@runtime_checkable
class SolvedWithRows(SolvedMechanism, Protocol):
    """A mechanism whose solver can be asked for a number of rows."""

    def solve_with_rows(
        self, workload: Workload, epsilon: float | None, rng: np.random.Generator, rows: int
    ) -> Solution:
        """Find a strategy of at most ``rows`` outputs, m, from a start that ``rng`` draws."""
        ...


@runtime_checkable
class SolvedWithReport(SolvedMechanism, Protocol):
    """A mechanism whose solver tells where it stands."""

    def solve_with_report(
        self, workload: Workload, epsilon: float | None, rng: np.random.Generator, report: Report
    ) -> Solution:
        """The solution of ``solve``, bit for bit; ``report`` is told tr(X_c⁺C) of what has been found on the way."""
        ...
