r"""What consistency gains: errors of simulated collections before and after non-negative least squares.

Every trial of a collection gives an unbiased estimate, and from it two consistent ones
(``mechanisms/local/consistency.py``): with the total of the data vector free, as in the full version of McKenna,
Maity, Mazumdar & Miklau (PVLDB 13(11), 2020), and fixed to the number of users, which is public. The estimate's own
error has an exact expectation (Theorem 3.4 there); that of the others has none, so it is measured, and compared on
the same reports.

**Intervals.** Errors of the t trials are independent and alike: the interval of their mean is Student's, with t − 1
degrees of freedom. That of the ratio R = ā/b̄ of the means after and before is Student's for the mean of a_i − Rb_i
over b̄ (the delta method); the pairing takes out most of the spread of the trials."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from factormech.arrays import FloatArray, IntArray, check_positive_integer
from factormech.data.registry import shares
from factormech.errors import BadValue, Unavailable
from factormech.mechanisms.local.consistency import NonNegative
from factormech.mechanisms.local.errors import Question, StrategyFor, evaluated
from factormech.mechanisms.local.registry import is_solved
from factormech.mechanisms.local.simulate import check_level
from factormech.mechanisms.local.strategy import Evaluation, SimulatedStrategy, Strategy
from factormech.seeds import rng_for

NONE, FREE, FIXED = "none", "nonnegative", "nonnegative-total"
PROCESSINGS = (NONE, FREE, FIXED)
_NAN = math.nan


@dataclass(frozen=True)
class Processed:
    """Errors of one collection after one processing, in the metric ``mse``.

    Attributes
    ----------
    exact_error
        The exact expectation for the unprocessed estimate.
    measured_error, standard_error, interval_low, interval_high
        Mean over the trials, and its interval.
    ratio_to_unprocessed, ratio_low, ratio_high
        Measured error over that of the unprocessed estimates of the same reports, and its interval.
    violation
        The largest violation of the optimality conditions (0 for unprocessed estimates).
    """

    workload: str
    domain_size: int
    epsilon: float
    seed: int
    data: str
    users: int
    mechanism: str
    processing: str
    trials: int
    exact_error: float = _NAN
    measured_error: float = _NAN
    standard_error: float = _NAN
    measured_low: float = _NAN
    measured_high: float = _NAN
    ratio_to_unprocessed: float = _NAN
    ratio_low: float = _NAN
    ratio_high: float = _NAN
    violation: float = _NAN
    status: str = "ok"
    reason: str = ""


@dataclass(frozen=True)
class ConsistencyGrid:
    """Numbers of users, data sets (name → counts in bins), trials, level of intervals, and the root of all seeds."""

    users: Sequence[int]
    data: Mapping[str, IntArray]
    trials: int
    level: float = 0.05
    root_seed: int = 0

    def __post_init__(self) -> None:
        for users in self.users:
            check_positive_integer("users", users)
        if not self.users or not self.data:
            raise BadValue("grid", "no users or no data", "hold one of each at least", "repair the axis of the grid")
        check_positive_integer("trials", self.trials, minimum=2)
        check_level(self.level)


def process(
    mechanism: str,
    strategy_for: StrategyFor,
    questions: Sequence[Question],
    epsilons: Sequence[float],
    grid: ConsistencyGrid,
) -> Iterator[Processed]:
    """Collect and process at every point of questions × epsilons × grid."""
    for asked in questions:
        solvers = _Solvers(asked)
        for epsilon in epsilons:
            yield from _on_question(mechanism, strategy_for(asked, epsilon), asked, epsilon, grid, solvers)


class _Solvers:
    """The two post-processings of one workload, prepared once."""

    def __init__(self, asked: Question) -> None:
        self.centred_gram, self.gram = asked.centred_gram, asked.workload.gram()
        self.free, self.fixed = NonNegative(self.gram), NonNegative(self.centred_gram, fixed_total=True)

    def errors(self, x: FloatArray, estimates: FloatArray) -> dict[str, tuple[FloatArray, float]]:
        """Squared errors of every trial, summed over the queries, and the violation, by processing."""
        users = float(x.sum())
        fixed = self.fixed(estimates, users)
        free = self.free(estimates, start=fixed.values > 0)
        return {
            NONE: (_squared(self.centred_gram, estimates - x[:, None]), 0.0),
            FREE: (_squared(self.gram, free.values - x[:, None]), free.violation),
            FIXED: (_squared(self.centred_gram, fixed.values - x[:, None]), fixed.violation),
        }


def _squared(G: FloatArray, e: FloatArray) -> FloatArray:
    return np.asarray(np.maximum(np.einsum("ut,ut->t", e, G @ e), 0.0))


def _on_question(
    mechanism: str,
    strategy: Strategy | Unavailable,
    asked: Question,
    epsilon: float,
    grid: ConsistencyGrid,
    solvers: _Solvers,
) -> Iterator[Processed]:
    n = asked.workload.domain_size
    evaluation = None
    if not isinstance(strategy, Unavailable):
        evaluation = evaluated(mechanism, strategy, asked.workload, asked.centred_gram, epsilon)
    for (name, counts), users in itertools.product(grid.data.items(), grid.users):
        point: dict[str, Any] = {
            "workload": asked.workload.name,
            "domain_size": n,
            "epsilon": epsilon,
            "seed": asked.seed,
            "data": name,
            "users": users,
            "mechanism": mechanism,
            "trials": grid.trials,
        }
        status, reason = _status(strategy, evaluation, users)
        if evaluation is None or not isinstance(strategy, SimulatedStrategy) or status != "ok":
            for processing in PROCESSINGS:
                yield Processed(**point, processing=processing, status=status, reason=reason)
            continue
        x = drawn(name, shares(counts, n), users, grid.root_seed, asked.seed)
        rng = _reports_rng(point, grid.root_seed)
        estimates = strategy.simulate_estimates(x, grid.trials, rng) + users / n
        errors = solvers.errors(x.astype(float), estimates)
        exact = evaluation.on(x.astype(float))
        yield from _rows(point, asked.workload.queries, exact, errors, grid.level)


def _status(strategy: Strategy | Unavailable, evaluation: Evaluation | None, users: int) -> tuple[str, str]:
    """Return whether a collection can be simulated, or why not."""
    if isinstance(strategy, Unavailable):
        return "unavailable", strategy.reason
    if evaluation is not None and not evaluation.answered:
        return "refused", evaluation.refusal
    if not isinstance(strategy, SimulatedStrategy):
        return "unavailable", f"{type(strategy).__name__} has no simulation"
    refusal = strategy.simulation_refusal(users)
    return ("unavailable", refusal) if refusal else ("ok", "")


def drawn(name: str, p: FloatArray, users: int, root_seed: int, seed: int) -> IntArray:
    """Users by type, drawn independently from a data set: the same for all mechanisms, workloads and budgets."""
    rng = rng_for(root_seed, "data", name, str(len(p)), str(users), str(seed))
    return np.asarray(rng.multinomial(users, p), dtype=np.int64)


def _reports_rng(point: Mapping[str, Any], root_seed: int) -> np.random.Generator:
    """The stream of the reports, which knows of the workload only where the strategy does."""
    keys = ["mechanism", "epsilon", "domain_size", "data", "users", "seed"]
    if is_solved(point["mechanism"]):
        keys.append("workload")
    return rng_for(root_seed, "consistency", *(str(point[key]) for key in keys))


def _rows(
    point: Mapping[str, Any],
    queries: int,
    exact: float,
    errors: Mapping[str, tuple[FloatArray, float]],
    level: float,
) -> Iterator[Processed]:
    unit = 1.0 / (queries * float(point["users"]) ** 2)
    before = errors[NONE][0] * unit
    for processing, (total, violation) in errors.items():
        after = total * unit
        mean, error, low, high = student(after, level)
        ratio, ratio_low, ratio_high = paired_ratio(after, before, level)
        yield Processed(
            **point,
            processing=processing,
            exact_error=exact * unit,
            measured_error=mean,
            standard_error=error,
            measured_low=low,
            measured_high=high,
            ratio_to_unprocessed=ratio,
            ratio_low=ratio_low,
            ratio_high=ratio_high,
            violation=violation,
        )


def student(values: FloatArray, level: float) -> tuple[float, float, float, float]:
    """Mean of errors, its standard error, and Student's two-sided interval, cut at 0."""
    mean, spread = float(values.mean()), float(values.std(ddof=1)) / math.sqrt(len(values))
    half = _quantile(len(values), level) * spread
    return mean, spread, max(mean - half, 0.0), mean + half


def paired_ratio(after: FloatArray, before: FloatArray, level: float) -> tuple[float, float, float]:
    """Mean after over mean before, and its interval from the pairs, cut at 0; NaN where nothing was wrong before."""
    below = float(before.mean())
    if below <= 0:
        return _NAN, _NAN, _NAN
    ratio = float(after.mean()) / below
    spread = float((after - ratio * before).std(ddof=1)) / math.sqrt(len(after)) / below
    half = _quantile(len(after), level) * spread
    return ratio, max(ratio - half, 0.0), ratio + half


def _quantile(count: int, level: float) -> float:
    from scipy.special import stdtrit

    return float(stdtrit(count - 1, 1.0 - check_level(level) / 2))
