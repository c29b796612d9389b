"""The exact errors of one mechanism, and the bounds on all of them, over the points of a grid."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from factormech.arrays import FloatArray
from factormech.bounds.registry import variance_bound
from factormech.local.optimal.average import VARIANCE_BOUND
from factormech.local.registry import build
from factormech.local.strategy import Evaluation, Strategy
from factormech.measure.contradictions import evaluated
from factormech.unavailable import Unavailable
from factormech.workloads.base import Workload

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Question:
    """A workload at one domain size and seed, with what evaluation needs of it."""

    workload: Workload
    seed: int
    centred_gram: FloatArray


@dataclass(frozen=True)
class Measurement:
    """One mechanism at one grid point. ``status`` is ``ok``, or ``refused`` or ``unavailable`` with a reason.

    ``rows`` and ``certified_gap`` are what the record of its solver says of them, NaN where it says nothing.
    """

    workload: str
    domain_size: int
    seed: int
    epsilon: float
    mechanism: str
    queries: int
    log2_outputs: float
    worst_variance: float
    average_variance: float
    residual: float
    privacy_loss: float
    rows: float
    certified_gap: float
    status: str
    reason: str


def questions_of(workloads: Iterable[tuple[Workload, int]]) -> list[Question]:
    """Prepare workloads: the centred Gram matrix is computed once for all seeds and budgets."""
    questions: list[Question] = []
    for workload, seed in workloads:
        known = questions and questions[-1].workload is workload
        C = questions[-1].centred_gram if known else workload.centred_gram()
        questions.append(Question(workload, seed, C))
    return questions


StrategyFor = Callable[[Question, float], Strategy | Unavailable]
# What a solver recorded of the strategy for a question at a budget.
RecordFor = Callable[[Question, float], Mapping[str, Any]]


def unrecorded(asked: Question, epsilon: float) -> Mapping[str, Any]:
    """The record of a mechanism without a solver."""
    del asked, epsilon
    return {}


def built(mechanism: str) -> StrategyFor:
    """The strategies of a fixed mechanism; the last one is kept for the other workloads of its domain."""
    last = lru_cache(maxsize=1)(lambda domain_size, epsilon: build(mechanism, domain_size, epsilon))
    return lambda asked, epsilon: last(asked.workload.domain_size, epsilon)


def measure_mechanism(
    mechanism: str,
    strategy_for: StrategyFor,
    questions: Sequence[Question],
    epsilons: Sequence[float],
    record_for: RecordFor = unrecorded,
) -> Iterator[Measurement]:
    """Measure a mechanism at every point of questions × epsilons, domain by domain and budget by budget."""
    by_size = sorted(questions, key=_domain_size)
    for _, group in itertools.groupby(by_size, key=_domain_size):
        for epsilon, asked in itertools.product(epsilons, list(group)):
            strategy = strategy_for(asked, epsilon)
            yield _measure(mechanism, strategy, asked, epsilon, record_for(asked, epsilon))


def _domain_size(asked: Question) -> int:
    return asked.workload.domain_size


def _measure(
    mechanism: str, strategy: Strategy | Unavailable, asked: Question, epsilon: float, record: Mapping[str, Any]
) -> Measurement:
    point: dict[str, Any] = {
        "workload": asked.workload.name,
        "domain_size": asked.workload.domain_size,
        "seed": asked.seed,
        "epsilon": epsilon,
        "mechanism": mechanism,
        "queries": asked.workload.queries,
    }
    nothing = Evaluation(np.array([np.nan]), np.nan, np.nan, 0)
    if isinstance(strategy, Unavailable):
        evaluation, status, reason = nothing, "unavailable", strategy.reason
    else:
        evaluation = evaluated(mechanism, strategy, asked.workload, asked.centred_gram, epsilon)
        status, reason = ("ok", "") if evaluation.answered else ("refused", evaluation.refusal)
    return Measurement(
        **point,
        log2_outputs=math.log2(evaluation.outputs) if evaluation.outputs else math.nan,
        worst_variance=evaluation.worst,
        average_variance=evaluation.average,
        residual=evaluation.residual,
        privacy_loss=evaluation.privacy_loss,
        rows=float(record.get("rows", math.nan)) if status == "ok" else math.nan,
        certified_gap=certified_gap(record, evaluation.average) if status == "ok" else math.nan,
        status=status,
        reason=reason,
    )


def certified_gap(record: Mapping[str, Any], average: float) -> float:
    """The average variance over the solver's own lower bound on it, less 1; NaN where the bound certifies nothing.

    The record of a solver that states a ``gap`` has a ``variance_bound`` on the average of every unbiased linear strategy,
    rounded down.
    """
    if "gap" not in record:
        return math.nan
    if average == 0.0:
        return 0.0
    bound = float(record[VARIANCE_BOUND])
    return max(average / bound - 1.0, 0.0) if bound > 0.0 else math.nan


def measure_bounds(
    bounds: Sequence[str],
    workloads: Sequence[tuple[Workload, int]],
    epsilons: Sequence[float],
    evaluate: Callable[[str, Workload, float], float] = variance_bound,
) -> Iterator[dict[str, Any]]:
    """Every bound on the variance at every point of workloads (with their seeds) × epsilons."""
    for (workload, seed), epsilon, bound in itertools.product(workloads, epsilons, bounds):
        yield {
            "workload": workload.name,
            "domain_size": workload.domain_size,
            "seed": seed,
            "epsilon": epsilon,
            "bound_name": bound,
            "queries": workload.queries,
            "variance_bound": evaluate(bound, workload, epsilon),
        }


def as_frame(records: Iterable[Measurement] | Iterable[dict[str, Any]]) -> pd.DataFrame:
    """A table with one row for each record."""
    import pandas as pd

    return pd.DataFrame([asdict(r) if isinstance(r, Measurement) else r for r in records])
