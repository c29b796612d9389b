"""Strategies of every registered mechanism on small domains; what a solver finds is kept for all tests of a process."""

from __future__ import annotations

from functools import cache

import numpy as np

from factormech.errors import Unavailable
from factormech.mechanisms.local import registry
from factormech.mechanisms.local.errors import Question
from factormech.mechanisms.local.solved import Solution
from factormech.mechanisms.local.strategy import Strategy
from factormech.workloads.registry import create

SOLVED = [name for name in registry.names() if registry.is_solved(name)]


@cache
def _solution(name: str, workload: str, n: int, epsilon: float | None) -> Solution:
    return registry.solve(name, create(workload, n), epsilon, np.random.default_rng(0))


def strategy(name: str, workload: str, n: int, epsilon: float) -> Strategy | Unavailable:
    """The mechanism's strategy for the workload of this name."""
    if not registry.is_solved(name):
        return registry.build(name, n, epsilon)
    wanted = epsilon if registry.solver_of(name).per_epsilon else None
    return registry.restore(name, _solution(name, workload, n, wanted), epsilon)


def asked(name: str, question: Question, epsilon: float) -> Strategy | Unavailable:
    """The same for a question, as the measurements ask."""
    return strategy(name, question.workload.name, question.workload.domain_size, epsilon)
