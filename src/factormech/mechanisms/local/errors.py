"""The exact errors of local mechanisms, the users that they need, and the checks that errors pass.

**Checks.** An evaluation is refused where it contradicts the strategy's own guarantee, or a lower bound on every such
strategy. A strategy of the package computes its variances from its probabilities; one of a plugin may state any
number. Nobody's table shows a number that a theorem excludes.

**Errors over a grid.** This part measures one mechanism, and the bounds on all of them, over the points of a grid.

**Users for a target error.** There is one rule for each metric.

**Standard errors of answers.** They are exact, query by query. The estimate of the centred data vector has the
covariance Σ = Σ_u x_uΣ_u (``mechanisms/local/error_law.py``), so query q has the variance (WΣWᵀ)_qq = ‖(WL)_q‖², LLᵀ
= Σ. W is applied to a few columns of L at a time: nothing of the size of the queries times the domain is made.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from factormech.arrays import FloatArray
from factormech.bounds.registry import variance_bound
from factormech.bounds.spectral import by_singular_values
from factormech.errors import BadValue, Unavailable, UnknownName
from factormech.mechanisms.local.error_law import centred_diagonal
from factormech.mechanisms.local.optimal.average import VARIANCE_BOUND
from factormech.mechanisms.local.registry import build
from factormech.mechanisms.local.strategy import Evaluation, SimulatedStrategy, Strategy, StrategyMatrix
from factormech.privacy.guarantee import REPLACE_ONE, guarantee_of
from factormech.workloads.base import Workload

# Checks.

# Relatively: of a loss; and of the bound, a square of a sum of singular values, small ones of which are known to the
# square root of a rounding only.
ROUNDING, BOUND_ROUNDING = 1e-9, 1e-6


def evaluated(
    mechanism: str, strategy: Strategy, workload: Workload, centred_gram: FloatArray, epsilon: float
) -> Evaluation:
    """Return the exact error of a strategy on a workload, after comparing it with what is proved.

    Parameters
    ----------
    mechanism
        Its name, for the words of a refusal.
    strategy, workload, centred_gram, epsilon
        The strategy, what it is asked, C = PWᵀWP of that, and the budget that it is asked for.

    Returns
    -------
    Evaluation
        ``strategy.evaluate(centred_gram)``.

    Raises
    ------
    BadValue
        If a variance is negative or no number; if the privacy loss is above the budget; or if the average variance is
        below the centred SVD bound on every ε-LDP strategy (of (ε, δ)-private ones nothing is proved).
    """
    found = strategy.evaluate(centred_gram)
    if not found.answered:
        return found
    what = f"mechanism {mechanism} on {workload.name}, domain size {workload.domain_size}, epsilon {epsilon:g}"
    variance = np.asarray(found.variance)
    # Variances far below the second moment are known to the rounding of the latter.
    least = -1e-12 * workload.frobenius_squared()
    if variance.shape != (workload.domain_size,) or not np.all(np.isfinite(variance) & (variance >= least)):
        rule = f"be {workload.domain_size} finite numbers of at least 0, one for each user type"
        raise BadValue(f"variance of {what}", f"array of shape {variance.shape}", rule, "correct its evaluate")
    if not found.privacy_loss <= epsilon * (1.0 + ROUNDING):
        rule = f"be at most the budget that it is asked for, {epsilon:g}"
        raise BadValue(f"privacy loss of {what}", found.privacy_loss, rule, "make it with the epsilon given")
    if guarantee_of(strategy, REPLACE_ONE).pure:
        _check_bound(found, workload, epsilon, what)
    return found


def _check_bound(found: Evaluation, workload: Workload, epsilon: float, what: str) -> None:
    bound, size = by_singular_values(workload, epsilon), workload.frobenius_squared()
    if found.average < bound * (1.0 - BOUND_ROUNDING) - 1e-12 * size:
        rule = f"be at least {bound:.6g}, below which no {epsilon:g}-LDP strategy is"
        raise BadValue(f"average variance of {what}", found.average, rule, "correct its evaluate, or its guarantee")


# Errors over a grid.


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
        log2_outputs=evaluation.log2_outputs if status == "ok" else math.nan,
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

    The record of a solver that states a ``gap`` has a ``variance_bound`` on the average of every unbiased linear
    strategy, rounded down.
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
    """Yield every bound on the variance at every point of workloads (with their seeds) × epsilons."""
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


# Users for a target error.

METRICS = ("mse", "linf", "l2_mean", "lp")


def check_alpha(alpha: float) -> float:
    """Return the target error: finite and above zero."""
    if not math.isfinite(alpha) or alpha <= 0:
        raise BadValue("alpha", alpha, "be a finite number above 0", "give for example 0.01")
    return float(alpha)


def mse_sample_complexity(variance: float, queries: int, alpha: float) -> float:
    """Users needed for a mean squared error of ``alpha`` per normalised query.

    ``variance`` is that of one user, summed over the queries; with N users the mean over the queries of the squared
    error of Wx/N is variance/(queries·N) (McKenna, Maity, Mazumdar & Miklau, PVLDB 13(11), 2020, Corollaries 5.3 and
    5.4, where m is printed for the number of queries). Not rounded up.
    """
    return variance / (queries * check_alpha(alpha))


def sample_complexity(metric: str, variance: float, queries: int, alpha: float) -> float:
    """Users needed for the target error ``alpha``, read with ``metric``."""
    if metric == "mse":
        return mse_sample_complexity(variance, queries, alpha)
    if metric in METRICS:
        raise BadValue("metric", metric, "be one that an exact variance decides: mse", "choose metric: mse")
    raise UnknownName("metric", metric, METRICS)


# Standard errors of answers.

# Numbers that are held at once, and products that are taken for a list of all queries.
_CELLS, _OPERATIONS = 2**22, 2**32
# A variance is known to some units in the last place of the largest one for each user type.
_ROUNDING = 16.0 * 2.0**-52
# A standard deviation below this share of the largest entry of the reconstruction is rounding.
_NOTHING = 1e-12


def estimate_covariance(
    strategy: SimulatedStrategy, centred_gram: FloatArray, counts: FloatArray
) -> FloatArray | Unavailable:
    """Σ, (n, n), for ``counts`` users by type."""
    if isinstance(strategy, StrategyMatrix):
        B, Q = strategy.reconstruction, strategy.matrix
        return np.asarray((B * (Q @ counts)) @ B.T - centred_diagonal(counts))
    try:
        return strategy.error_law(centred_gram).covariance(counts)
    except BadValue as error:
        return Unavailable(f"no exact standard errors: {error}")


def standard_errors(workload: Workload, covariance: FloatArray) -> FloatArray:
    """The standard deviation of each estimated answer, (queries,)."""
    values, vectors = np.linalg.eigh(0.5 * (covariance + covariance.T))
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    total, step = np.zeros(workload.queries), max(1, _CELLS // workload.queries)
    for start in range(0, root.shape[1], step):
        total += np.sum(workload.answer(root[:, start : start + step]) ** 2, axis=1)
    # What every estimate knows exactly, such as the number of users, has rounding alone.
    return np.asarray(np.sqrt(np.where(total > _ROUNDING * len(root) * total.max(), total, 0.0)))


def worst_standard_errors(
    workload: Workload, strategy: StrategyMatrix, reconstruction: FloatArray, users: float
) -> FloatArray | Unavailable:
    """Return, for each query, the largest standard deviation of its estimated share over all data of so many users.

    One user of type u adds the variance Σ_o Q_ou (V_qo − W_qu)² to the answer of query q; the data that are worst for a
    query have users of one type alone. The worst data differ from query to query.
    """
    W, Q, V = workload.matrix(), strategy.matrix, reconstruction
    if V.size > _CELLS or V.size * Q.shape[1] > _OPERATIONS:
        return Unavailable(f"{len(V)} queries × {len(Q)} outputs × {Q.shape[1]} user types are too many to list")
    largest = np.zeros(len(V))
    for u in range(Q.shape[1]):
        np.maximum(largest, (V - W[:, u : u + 1]) ** 2 @ Q[:, u], out=largest)
    largest[largest <= (_NOTHING * np.abs(V).max()) ** 2] = 0.0
    return np.asarray(np.sqrt(largest / users))
