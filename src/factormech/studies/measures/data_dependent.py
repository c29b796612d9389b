"""The exact error of mechanisms on given data, and how many users it takes to reach a target error there.

The variance of one user drawn from data of shares p is Σ_u p_u·variance_u (Theorem 3.4 of McKenna, Maity, Mazumdar &
Miklau, PVLDB 13(11), 2020, divided by the number of users); its Section 6.4 puts it in the place of the worst case.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from factormech.arrays import FloatArray, IntArray
from factormech.bounds import spectral
from factormech.bounds.registry import variance_bound
from factormech.data.registry import shares
from factormech.errors import Unavailable
from factormech.mechanisms.local.errors import Question, StrategyFor, evaluated
from factormech.mechanisms.local.strategy import Strategy
from factormech.workloads.base import Workload

# In the place of a data set: the worst data there are, every user of the type of largest variance.
WORST_CASE = "worst-case"


@dataclass(frozen=True)
class OnData:
    """A mechanism on one data set at one grid point; ``variance`` is per user, summed over the queries."""

    workload: str
    domain_size: int
    epsilon: float
    seed: int
    data: str
    mechanism: str
    queries: int
    variance: float
    status: str
    reason: str


@dataclass(frozen=True)
class BoundOnData:
    """The strongest of the lower bounds that hold on one data set at one grid point."""

    workload: str
    domain_size: int
    epsilon: float
    seed: int
    data: str
    queries: int
    variance_bound: float
    bound_name: str


def measure_on_data(
    mechanism: str,
    strategy_for: StrategyFor,
    questions: Sequence[Question],
    epsilons: Sequence[float],
    data: Mapping[str, IntArray],
) -> Iterator[OnData]:
    """A mechanism at every point of questions × epsilons × (data sets and the worst case)."""
    by_size = sorted(questions, key=lambda asked: asked.workload.domain_size)
    for n, group in itertools.groupby(by_size, key=lambda asked: asked.workload.domain_size):
        distributions = {name: shares(counts, n) for name, counts in data.items()}
        for epsilon, asked in itertools.product(epsilons, list(group)):
            yield from _measured(mechanism, strategy_for(asked, epsilon), asked, epsilon, distributions)


def _measured(
    mechanism: str,
    strategy: Strategy | Unavailable,
    asked: Question,
    epsilon: float,
    distributions: Mapping[str, FloatArray],
) -> Iterator[OnData]:
    found: dict[str, float] = dict.fromkeys([*distributions, WORST_CASE], np.nan)
    if isinstance(strategy, Unavailable):
        status, reason = "unavailable", strategy.reason
    else:
        evaluation = evaluated(mechanism, strategy, asked.workload, asked.centred_gram, epsilon)
        status, reason = ("ok", "") if evaluation.answered else ("refused", evaluation.refusal)
        if evaluation.answered:
            found = {name: evaluation.on(p) for name, p in distributions.items()} | {WORST_CASE: evaluation.worst}
    for name, variance in found.items():
        yield OnData(
            asked.workload.name,
            asked.workload.domain_size,
            epsilon,
            asked.seed,
            name,
            mechanism,
            asked.workload.queries,
            variance,
            status,
            reason,
        )


def bounds_on_data(
    bounds: Sequence[str],
    questions: Sequence[Question],
    epsilons: Sequence[float],
    data: Mapping[str, IntArray],
    evaluate: Callable[[str, Workload, float], float] = variance_bound,
) -> Iterator[BoundOnData]:
    """The strongest bound on each data set at every point.

    The named bounds are on the average over the user types, hence on the worst case; on data there is the bound of
    ``bounds/spectral.py``, which holds even for a mechanism made for these data.
    """
    for asked, epsilon in itertools.product(questions, epsilons):
        workload = asked.workload
        point = (workload.name, workload.domain_size, epsilon, asked.seed)
        for name, counts in data.items():
            p = shares(counts, workload.domain_size)
            value = spectral.centred_svd_on(asked.centred_gram, p, epsilon)
            yield BoundOnData(*point, name, workload.queries, value, spectral.NAME)
        value, best = max((evaluate(bound, workload, epsilon), bound) for bound in bounds)
        yield BoundOnData(*point, WORST_CASE, workload.queries, value, best)
