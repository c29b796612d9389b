"""Mechanisms whose strategy a solver finds once and keeps in a file, and strategies that a plugin returns.

**Strategies of plugins.** Everything that can be checked is checked.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol, Self, TypeAlias

import numpy as np
import numpy.typing as npt

from factormech.errors import BadValue, Unavailable
from factormech.mechanisms.local.optimal.problem import Report, silent
from factormech.mechanisms.local.strategy import Strategy, StrategyMatrix
from factormech.privacy.guarantee import REPLACE_ONE, guarantee_of
from factormech.workloads.base import Workload

# Solved mechanisms.

# Settings of a solver, by name.
Options: TypeAlias = Mapping[str, str | int]


@dataclass(frozen=True)
class Solution:
    """The strategy that a solver found, with the solver's record.

    Attributes
    ----------
    datasets
        The strategy, as the arrays that the mechanism restores it from, and what proves its bound, if kept.
    record
        How it was found: ``objective``, ``iterations``, ``stopped``, and ``lower_bound`` where the solver has one.
        A solver for strategy matrices says its ``rows`` m; one that bounds every ε-LDP strategy from below says the
        certified ``gap``, objective ÷ lower bound − 1.
    """

    datasets: Mapping[str, npt.NDArray[Any]]
    record: Mapping[str, Any]


class SolvedMechanism(Protocol):
    """The protocol of a mechanism that has a solver.

    ``epsilon`` is ``None`` where the registry says that one strategy serves every budget.
    """

    def solve(self, workload: Workload, epsilon: float | None, rng: np.random.Generator) -> Solution:
        """Find the strategy for a workload."""
        ...

    def restore(self, solution: Solution, epsilon: float) -> Strategy:
        """The strategy from what was kept, its privacy verified again."""
        ...


class ReportingMechanism(SolvedMechanism, Protocol):
    """A mechanism whose solver reports its progress, as its line in the registry says."""

    def solve(
        self, workload: Workload, epsilon: float | None, rng: np.random.Generator, report: Report = silent
    ) -> Solution:
        """The same solution, bit for bit; ``report`` is told tr(X_c⁺C) of what has been found on the way."""
        ...


class BeginningMechanism(ReportingMechanism, Protocol):
    """A mechanism whose solver can begin with another of its own solutions, as its registry's line says."""

    def solve(
        self,
        workload: Workload,
        epsilon: float | None,
        rng: np.random.Generator,
        report: Report = silent,
        start: Solution | None = None,
    ) -> Solution:
        """The same solution, bit for bit, sooner."""
        ...


class ConfigurableMechanism(SolvedMechanism, Protocol):
    """A mechanism whose solver has settings, named in its registry's line."""

    def with_options(self, **options: Any) -> Self:
        """The mechanism with these settings in place of its own."""
        ...


@dataclass(frozen=True)
class Option:
    """A setting of a solver: one of some words, or, where there are none, a positive whole number.

    ``default`` is the value of a solve that does not give the setting, where it is one of these.
    """

    words: tuple[str, ...] = ()
    default: str | int | None = None

    @property
    def rule(self) -> str:
        """The rule for a good value, continuing "must …"."""
        return f"be one of {', '.join(self.words)}" if self.words else "be a positive whole number"

    @property
    def example(self) -> str | int:
        """A good value."""
        return self.words[0] if self.words else 256

    def problem(self, key: str, value: object) -> BadValue | None:
        """Return the mistake in a value, if there is one."""
        good = value in self.words if self.words else type(value) is int and value >= 1
        return None if good else BadValue(key, value, self.rule, f"give for example {self.example}")


@dataclass(frozen=True)
class Begins:
    """With which solution the solver may begin: that of the same settings without ``option``.

    On at most ``up_to`` types it has no use of one. The solution is the same with it and without it.
    """

    option: str
    up_to: int


# Strategies of plugins.

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
