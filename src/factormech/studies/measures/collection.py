"""Collections over a grid beside their exact predictions, and whether both agree.

**Collections of one mechanism over a grid.** The points are questions × budgets × populations × numbers of users ×
seeds. A seed fixes the users, by the names of the data alone, and, with the mechanism's name, the reports; a strategy
that does not depend on the workload is sampled once for all workloads over a domain, since its reports know nothing
of them.

**Agreement.** One verdict, at one simultaneous level, says whether measured errors agree with exact ones over a whole
grid.
"""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Protocol

import numpy as np

from factormech.arrays import FloatArray, check_positive_integer
from factormech.errors import BadValue, Unavailable
from factormech.mechanisms.local.error_law import ErrorLaw, SquaredError
from factormech.mechanisms.local.errors import Question, StrategyFor
from factormech.mechanisms.local.populations import population
from factormech.mechanisms.local.registry import is_solved
from factormech.mechanisms.local.simulate import LEVEL, Simulated, check_level, compare, tail_probability, two_sided
from factormech.mechanisms.local.strategy import SimulatedStrategy, Strategy
from factormech.seeds import rng_for

# Collections of one mechanism over a grid.

_NAN = float("nan")
# What a row takes from a ``Simulated``: two errors, and numbers without a unit.
_NUMBERS = (
    "mean",
    "standard_error",
    "ratio",
    "z",
    "p_value",
    "bias_ratio",
    "bias_p_value",
    "relative_variance",
    "relative_scale",
)


@dataclass(frozen=True)
class CollectionRun:
    """A mechanism run at one grid point. ``status`` is ``ok``, or ``refused`` or ``unavailable`` with a reason.

    Errors are in the metric ``mse``: the mean squared error of a normalised query, E‖Wx/N − estimate‖²/queries, which
    is the total squared error of the counts over queries·users². The interval is for the exact error, at the two-sided
    level asked for; z, the p-values and their laws are those of ``mechanisms/local/simulate.py``.
    """

    workload: str
    domain_size: int
    epsilon: float
    seed: int
    population: str
    users: int
    mechanism: str
    queries: int
    trials: int
    exact_error: float
    measured_error: float
    standard_error: float
    interval_low: float
    interval_high: float
    ratio: float
    z: float
    p_value: float
    bias_ratio: float
    bias_p_value: float
    relative_variance: float
    relative_scale: float
    status: str
    reason: str


@dataclass(frozen=True)
class CollectionGrid:
    """The axes of the data, and how often each collection is run.

    Attributes
    ----------
    users, populations
        Numbers of users, and names of synthetic populations.
    trials
        Collections run at each point.
    seeds
        Seeds of users and reports; where there are none, each question's own.
    level
        Two-sided level of the interval of each point.
    root_seed
        The seed that all named random streams start from; the other seeds are names of streams under it.
    """

    users: Sequence[int]
    populations: Sequence[str]
    trials: int
    seeds: Sequence[int] = ()
    level: float = LEVEL
    root_seed: int = 0

    def __post_init__(self) -> None:
        for name, axis in (("users", self.users), ("populations", self.populations)):
            if len(axis) == 0 or len(set(axis)) < len(axis):
                raise BadValue(name, axis, "hold at least one value, each once", "repair the axis of the grid")
        for users in self.users:
            check_positive_integer("users", users)
        check_positive_integer("trials", self.trials)
        check_level(self.level)


@dataclass(frozen=True)
class _Point:
    """One collection: the mechanism, the number of users, their population, and the seed."""

    mechanism: str
    epsilon: float
    seed: int
    population: str
    users: int


def collect(
    mechanism: str,
    strategy_for: StrategyFor,
    questions: Sequence[Question],
    epsilons: Sequence[float],
    grid: CollectionGrid,
) -> Iterator[CollectionRun]:
    """Run a mechanism at every point of questions × epsilons × grid, domain by domain."""
    asked_twice = [q for q in questions if sum(_same(q, other) for other in questions) > 1]
    if grid.seeds and asked_twice:
        remedy = "leave the seeds of the grid out, and each question keeps its own"
        raise BadValue("questions", asked_twice[0].workload.name, "be asked once where the grid has seeds", remedy)
    by_size = sorted(questions, key=lambda q: q.workload.domain_size)
    for _, group in itertools.groupby(by_size, key=lambda q: q.workload.domain_size):
        same_size = list(group)
        for epsilon in epsilons:
            yield from _collect(mechanism, strategy_for, same_size, epsilon, grid)


def _same(one: Question, other: Question) -> bool:
    """Return whether two questions differ in their seeds at most."""
    a, b = one.workload, other.workload
    return (a.name, a.domain_size) == (b.name, b.domain_size)


def _collect(
    mechanism: str, strategy_for: StrategyFor, questions: list[Question], epsilon: float, grid: CollectionGrid
) -> Iterator[CollectionRun]:
    """Yield all points of one domain and budget; questions that share a strategy share its simulated reports."""
    sharing = [[asked] for asked in questions] if is_solved(mechanism) else [questions]
    for group in sharing:
        yield from _run(mechanism, strategy_for(group[0], epsilon), group, epsilon, grid)


def _run(
    mechanism: str, strategy: Strategy | Unavailable, questions: list[Question], epsilon: float, grid: CollectionGrid
) -> Iterator[CollectionRun]:
    """Run one strategy on every population of the grid, and compare it on every question."""
    laws = [_law(strategy, asked) for asked in questions]
    for seed in grid.seeds or dict.fromkeys(asked.seed for asked in questions):
        members = [(asked, law) for asked, law in zip(questions, laws, strict=True) if grid.seeds or asked.seed == seed]
        for kind, users in itertools.product(grid.populations, grid.users):
            yield from _run_point(strategy, _Point(mechanism, epsilon, seed, kind, users), members, grid)


def _run_point(
    strategy: Strategy | Unavailable,
    point: _Point,
    members: Sequence[tuple[Question, ErrorLaw | _Nothing]],
    grid: CollectionGrid,
) -> Iterator[CollectionRun]:
    """One collection, sampled once, compared on every question that can be answered from it."""
    domain_size = members[0][0].workload.domain_size
    counts = population(point.population, domain_size, point.users, grid.root_seed, str(point.seed))
    refusal = ""
    estimates: FloatArray | None = None
    if isinstance(strategy, SimulatedStrategy) and any(isinstance(law, ErrorLaw) for _, law in members):
        refusal = strategy.simulation_refusal(point.users)
        if not refusal:
            rng = _reports_rng(point, members[0][0], grid.root_seed)
            estimates = strategy.simulate_estimates(counts, grid.trials, rng)
    for asked, law in members:
        if isinstance(law, _Nothing):
            yield _row(asked, point, grid, _NAN, None, law.status, law.reason)
        elif estimates is None:
            yield _row(asked, point, grid, float(law.variance @ counts), None, "unavailable", refusal)
        else:
            result = compare(law, counts, estimates, level=grid.level)
            yield _row(asked, point, grid, result.expected, result, "ok", "")


@dataclass(frozen=True)
class _Nothing:
    """Why a strategy has no simulated error on a question."""

    status: str
    reason: str


def _law(strategy: Strategy | Unavailable, asked: Question) -> ErrorLaw | _Nothing:
    """The law of the error on this question, or why there is none."""
    if isinstance(strategy, Unavailable):
        return _Nothing("unavailable", strategy.reason)
    evaluation = strategy.evaluate(asked.centred_gram)
    if not evaluation.answered:
        return _Nothing("refused", evaluation.refusal)
    if not isinstance(strategy, SimulatedStrategy):
        return _Nothing("unavailable", f"{type(strategy).__name__} has no simulation")
    return strategy.error_law(asked.centred_gram)


def _reports_rng(point: _Point, asked: Question, root_seed: int) -> np.random.Generator:
    """The stream of the reports, which knows of the workload only where the strategy does."""
    workload = (asked.workload.name, str(asked.seed)) if is_solved(point.mechanism) else ()
    size = str(asked.workload.domain_size)
    data = (point.population, size, str(point.users))
    name = ("reports", point.mechanism, repr(float(point.epsilon)))
    return rng_for(root_seed, *name, *data, str(point.seed), *workload)


def _row(
    asked: Question,
    point: _Point,
    grid: CollectionGrid,
    expected: float,
    result: Simulated | None,
    status: str,
    reason: str,
) -> CollectionRun:
    """One row, its errors in the metric ``mse``."""
    unit = 1.0 / (asked.workload.queries * float(point.users) ** 2)
    numbers: dict[str, Any] = {name: _NAN if result is None else getattr(result, name) for name in _NUMBERS}
    low, high = (_NAN, _NAN) if result is None else result.interval
    return CollectionRun(
        workload=asked.workload.name,
        domain_size=asked.workload.domain_size,
        **asdict(point),
        queries=asked.workload.queries,
        trials=grid.trials,
        exact_error=expected * unit,
        measured_error=numbers.pop("mean") * unit,
        standard_error=numbers.pop("standard_error") * unit,
        interval_low=low * unit,
        interval_high=high * unit,
        **numbers,
        status=status,
        reason=reason,
    )


def row_of(found: CollectionRun) -> dict[str, Any]:
    """Return a simulated collection as a row of a table, by the names of its columns."""
    row = asdict(found)
    return row | {"ratio_to_exact": row.pop("ratio"), "z_score": row.pop("z")}


# Agreement.


class HasExactLaw(Protocol):
    """A point of a grid compared with its exact law: a ``Simulated``, or a row of a table made of one."""

    @property
    def trials(self) -> int: ...

    @property
    def ratio(self) -> float: ...

    @property
    def z(self) -> float: ...

    @property
    def p_value(self) -> float: ...

    @property
    def bias_ratio(self) -> float: ...

    @property
    def bias_p_value(self) -> float: ...

    @property
    def relative_variance(self) -> float: ...

    @property
    def relative_scale(self) -> float: ...


class ComparedCollection(HasExactLaw, Protocol):
    """A collection of a grid, a ``CollectionRun`` or a row of its table; it was measured where its status is ``ok``."""

    @property
    def mechanism(self) -> str: ...

    @property
    def workload(self) -> str: ...

    @property
    def domain_size(self) -> int: ...

    @property
    def epsilon(self) -> float: ...

    @property
    def status(self) -> str: ...


@dataclass(frozen=True)
class Agreement:
    """Whether measured errors agree with exact ones over all points at once.

    Attributes
    ----------
    points, comparisons
        How many points were compared, and in how many ways in all: each point, and each pool of points, in its mean
        error and in its bias.
    worst
        What disagrees most: the place of a point in the order given, or the name of a pool.
    z
        The standardised deviation of its mean error.
    p_value
        Simultaneous, by Bonferroni's inequality over all comparisons, which need not be independent.
    level
        The chance, at most, of a disagreement where all is right.
    """

    points: int
    comparisons: int
    worst: Hashable
    z: float
    p_value: float
    level: float

    @property
    def passed(self) -> bool:
        """Whether nothing disagrees at the simultaneous level."""
        return self.p_value >= self.level


def agreement(
    results: Sequence[HasExactLaw], level: float = LEVEL, *, pools: Mapping[Hashable, Sequence[int]] | None = None
) -> Agreement:
    """Compare all points with their exact errors at one simultaneous level.

    ``pools`` names groups of points, by their places in ``results``, whose collections are independent: each group is
    also compared as one long experiment, which sees deviations too small for any of its points.
    """
    level = check_level(level)
    if not results:
        rule = "hold at least one measured point"
        raise BadValue("results", results, rule, "leave out refused and unavailable ones, and keep the others")
    for k, result in enumerate(results):
        if np.isnan(result.p_value) or np.isnan(result.bias_p_value):
            raise BadValue(f"results[{k}]", result, "have p-values", "leave out points that were not measured")
    found: list[tuple[float, float, Hashable]] = [
        (min(result.p_value, result.bias_p_value), result.z, k) for k, result in enumerate(results)
    ]
    for name, places in (pools or {}).items():
        found.append((*_pooled([results[k] for k in places]), name))
    p_value, z, worst = min(found, key=lambda entry: entry[0])
    return Agreement(len(results), 2 * len(found), worst, z, min(1.0, 2.0 * len(found) * p_value), level)


def collection_agreement(rows: Iterable[ComparedCollection], level: float = LEVEL) -> Agreement:
    """Return whether all rows that were measured agree with their exact errors, at one simultaneous level.

    Rows are compared one by one, and pooled over populations, users and seeds: for each mechanism, workload, domain and
    budget, and for each mechanism and workload over all domains and budgets. Collections that differ in any of these
    are independent, given the users.
    """
    measured = [row for row in rows if row.status == "ok"]
    pools: dict[Hashable, list[int]] = {}
    for k, row in enumerate(measured):
        pools.setdefault((row.mechanism, row.workload), []).append(k)
        pools.setdefault((row.mechanism, row.workload, row.domain_size, row.epsilon), []).append(k)
    return agreement(measured, level, pools=pools)


def _pooled(results: Sequence[HasExactLaw]) -> tuple[float, float]:
    """The smaller p-value of the mean error and the bias of independent points taken together, and z of the former.

    The sum of the points' mean errors, each relative to its expectation, is again a quadratic form of the kind of
    ``mechanisms/local/simulate.py``; its variance is the sum of theirs, its scale the largest.
    """
    live = [result for result in results if result.relative_variance > 0]
    if not live:
        return 1.0, 0.0
    trials = np.array([result.trials for result in live])
    variances = np.array([result.relative_variance for result in live])
    scales = np.array([result.relative_scale for result in live])
    law = SquaredError(float(len(live)), float(np.sum(variances / trials)), float(np.max(scales / trials)))
    bias_law = SquaredError(float(len(live)), float(np.sum(variances)), float(np.max(scales)))
    total = float(sum(result.ratio for result in live))
    bias = float(sum(result.bias_ratio for result in live))
    smaller = min(two_sided(total, law, 1), tail_probability(max(bias, bias_law.mean), bias_law, 1))
    return smaller, (total - law.mean) / float(np.sqrt(law.variance))
