"""The exact errors of one mechanism, and the bounds on all of them, over the points of a grid."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from factormech.arrays import FloatArray
from factormech.bounds.registry import variance_bound
from factormech.local.registry import build, is_adaptive
from factormech.local.strategy import Evaluation, Strategy, Unavailable
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
    """One mechanism at one grid point. ``status`` is ``ok``, or ``refused`` or ``unavailable`` with a reason."""

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
    status: str
    reason: str


def question(workload: Workload, seed: int) -> Question:
    """Prepare a workload: its centred Gram matrix is computed once for all mechanisms and budgets."""
    return Question(workload, seed, workload.centred_gram())


def measure_mechanism(
    mechanism: str, questions: Sequence[Question], epsilons: Sequence[float]
) -> Iterator[Measurement]:
    """Measure a mechanism at every point of questions × epsilons.

    Strategies that do not depend on the workload are built once for a domain size and budget.
    """
    by_size = itertools.groupby(
        sorted(questions, key=lambda q: q.workload.domain_size), key=lambda q: q.workload.domain_size
    )
    for _, group in by_size:
        same_size = list(group)
        for epsilon in epsilons:
            shared = None if is_adaptive(mechanism) else build(mechanism, same_size[0].workload, epsilon)
            for asked in same_size:
                strategy = shared or build(mechanism, asked.workload, epsilon, seed=asked.seed)
                yield _measure(mechanism, strategy, asked, epsilon)


def _measure(mechanism: str, strategy: Strategy | Unavailable, asked: Question, epsilon: float) -> Measurement:
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
        evaluation = strategy.evaluate(asked.centred_gram)
        status, reason = ("ok", "") if evaluation.answered else ("refused", evaluation.refusal)
    return Measurement(
        **point,
        log2_outputs=math.log2(evaluation.outputs) if evaluation.outputs else math.nan,
        worst_variance=evaluation.worst,
        average_variance=evaluation.average,
        residual=evaluation.residual,
        privacy_loss=evaluation.privacy_loss,
        status=status,
        reason=reason,
    )


def measure_bounds(
    bounds: Sequence[str], workloads: Sequence[tuple[Workload, int]], epsilons: Sequence[float]
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
            "variance_bound": variance_bound(bound, workload, epsilon),
        }


def as_frame(records: Iterable[Measurement] | Iterable[dict[str, Any]]) -> pd.DataFrame:
    """A table with one row for each record."""
    import pandas as pd

    return pd.DataFrame([asdict(r) if isinstance(r, Measurement) else r for r in records])
