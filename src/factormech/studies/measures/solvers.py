"""What solvers find from random starts, and what they cost.

**Random starts.** There are several, with several numbers of rows. As in section 6.5 of McKenna, Maity, Mazumdar &
Miklau, PVLDB 13(11), 2020; the variances are set over a lower bound on those of every strategy instead of over the
best one found.

**Cost.** One study measures the time of an iteration, another what is found after how many seconds. Seconds are of
the processor, of all threads together: with one thread those of a clock on a machine that does nothing else, and
nearly the same on one that is shared, where a clock would count the others' turns too. They are the only results that
a second run does not repeat, of the machine and the moment. All else here (iterations, objectives) is as
deterministic as the solvers.
"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from factormech.errors import Unavailable
from factormech.mechanisms.local.adaptive_pgd import inner_ratio, random_strategy
from factormech.mechanisms.local.errors import Question
from factormech.mechanisms.local.optimal.problem import Step, silent
from factormech.mechanisms.local.pgd_descent import DescentProblem, step_columns
from factormech.mechanisms.local.registry import restore, solve_with_report, solve_with_rows, strategy_spec
from factormech.mechanisms.local.strategy_objective import StrategyObjective
from factormech.workloads.registry import create

# Random starts.


@dataclass(frozen=True)
class Starts:
    """Which starts: rows as multiples of the domain size, how many of each, and the root of their random streams."""

    row_factors: Sequence[int]
    starts: int
    root_seed: int = 0


def measure_starts(
    mechanism: str, questions: Sequence[Question], epsilons: Sequence[float], starts: Starts
) -> Iterator[dict[str, Any]]:
    """One record for each question, budget, number of rows and start; every start has a random stream of its own."""
    for asked, epsilon, factor, start in itertools.product(
        questions, epsilons, starts.row_factors, range(starts.starts)
    ):
        workload = asked.workload
        spec = strategy_spec(mechanism, workload, epsilon, seed=asked.seed, root_seed=starts.root_seed)
        rng = spec.stream(factor, start)
        found = solve_with_rows(mechanism, workload, epsilon, rng, factor * workload.domain_size)
        yield {
            "workload": workload.name,
            "domain_size": workload.domain_size,
            "seed": asked.seed,
            "epsilon": epsilon,
            "mechanism": mechanism,
            "row_factor": factor,
            "start": start,
            **_NOTHING,
        } | (_refused(found) if isinstance(found, Unavailable) else _found(mechanism, found, asked, epsilon))


_NOTHING = {"rows": math.nan, "average_variance": math.nan, "worst_variance": math.nan, "stopped": ""}


def _refused(reason: Unavailable) -> dict[str, Any]:
    return {"status": "unavailable", "reason": reason.reason}


def _found(mechanism: str, solution: Any, asked: Question, epsilon: float) -> dict[str, Any]:
    evaluation = restore(mechanism, solution, epsilon).evaluate(asked.centred_gram)
    if not evaluation.answered:
        return {"status": "refused", "reason": evaluation.refusal}
    return {
        "rows": float(evaluation.outputs),
        "average_variance": evaluation.average,
        "worst_variance": evaluation.worst,
        "stopped": str(solution.record["stopped"]),
        "status": "ok",
        "reason": "",
    }


# Cost.

PUBLISHED = "adaptive-pgd"
# Repetitions up to this size and beyond it, where one takes seconds to minutes.
LARGE_SIZE, REPETITIONS, LARGE_REPETITIONS = 1024, 15, 3
# Small solves that reach every part of an optimiser: small domains, no symmetry, and translations of the bits.
WARM_UPS = (("prefix", 8), ("prefix", 32), ("histogram", 32))
ROUNDING = 1e-9


@dataclass(frozen=True)
class Iteration:
    """Seconds of one iteration, and of its two large parts."""

    seconds: float
    gradient: float
    projection: float


def iterations(domain_size: int, repetitions: int) -> Iterator[Iteration]:
    """Iterations of the published optimiser, clocked one by one.

    As in section 6.6 of McKenna, Maity, Mazumdar & Miklau, PVLDB 13(11), 2020: identity Gram matrix, random 4n × n
    strategy, ε = 1. One iteration is the objective with its gradient, the chain rule to the row minima, a step and its
    projection, in the precision that the optimiser takes; the cost depends on n alone.
    """
    n, a, m = domain_size, inner_ratio(1.0), 4 * domain_size
    problem = DescentProblem(StrategyObjective(np.eye(n)), a, 1.0, False, silent)
    precision = problem.precision(m * n)
    Q = random_strategy(m, n, a, np.random.default_rng(0)).astype(precision, order="F")
    z = Q.min(axis=1)
    scratch, gradient = np.empty((n, m), precision), np.empty((n, m), precision)
    # Entries of Q are about 1/m, of the gradient about 140 n: a step of a hundredth of Q, and far less of z.
    step = 0.01 / (140 * n * m)
    for _ in range(repetitions):
        begin = time.process_time()
        problem.objective.evaluate(Q.T, scratch, gradient)
        evaluated = time.process_time()
        z = np.clip(z - step * problem.slope(gradient.T, Q, z), 0.0, 1.0).astype(precision)
        sloped = time.process_time()
        step_columns(Q, gradient.T, step, z, a)
        end = time.process_time()
        yield Iteration(end - begin, evaluated - begin, end - sloped)


def time_iterations(sizes: Sequence[int]) -> Iterator[dict[str, Any]]:
    """For each domain size the mean seconds of an iteration, as the paper reports, and the least."""
    for n in sizes:
        large = n > LARGE_SIZE
        repetitions = LARGE_REPETITIONS if large else REPETITIONS
        if not large:
            list(iterations(n, 1))  # compiles or loads the kernels, and touches the memory
        seconds = [one.seconds for one in iterations(n, repetitions)]
        yield {
            "domain_size": n,
            "mechanism": PUBLISHED,
            "iterations": repetitions,
            "seconds": float(np.mean(seconds)),
            "least_seconds": min(seconds),
        }


@dataclass
class Trace:
    """The reports of a solver, with the time of each."""

    begin: float = field(default_factory=time.process_time)
    steps: list[tuple[str, float, float]] = field(default_factory=list)

    def __call__(self, step: Step) -> None:
        """Hear of a step: its stage, when, and its objective."""
        self.steps.append((step.stage, time.process_time() - self.begin, step.objective))

    def improvements(self, least: float) -> Iterator[dict[str, Any]]:
        """Yield every time that something better had been found.

        What is below ``least``, the objective of the strategy that the solver returned in the end, was not a strategy
        (of points that do not keep all constraints, an optimiser tells less), and is passed over.
        """
        best = math.inf
        for told, (stage, seconds, objective) in enumerate(self.steps, start=1):
            if least * (1.0 - ROUNDING) <= objective < best:
                best = objective
                yield {"stage": stage, "told": told, "seconds": seconds, "objective": objective}


def trace(
    mechanism: str, questions: Sequence[Question], epsilons: Sequence[float], root_seed: int
) -> Iterator[dict[str, Any]]:
    """Rows of the traces of a solver: ``seconds`` since its start, and ``average_variance`` of the best by then.

    The last row of each has stage ``end``, and the variance of the strategy as it is returned. tr(X_c⁺C), which solvers
    tell, is n·average + tr C.
    """
    _warm_up(mechanism)
    for asked, epsilon in itertools.product(questions, epsilons):
        workload = asked.workload
        point = {
            "workload": workload.name,
            "domain_size": workload.domain_size,
            "seed": asked.seed,
            "epsilon": epsilon,
            "mechanism": mechanism,
        }
        rng = strategy_spec(mechanism, workload, epsilon, seed=asked.seed, root_seed=root_seed).stream()
        heard = Trace()
        found = solve_with_report(mechanism, workload, epsilon, rng, heard)
        if isinstance(found, Unavailable):
            nothing = {"stage": "end", "told": 0, "seconds": math.nan, "average_variance": math.nan}
            yield {**point, **nothing, "reason": found.reason}
            continue
        ended = time.process_time() - heard.begin
        average = restore(mechanism, found, epsilon).evaluate(asked.centred_gram).average
        n, energy = workload.domain_size, float(np.trace(asked.centred_gram))
        for row in heard.improvements(n * average + energy):
            so_far = max((row.pop("objective") - energy) / n, average)
            yield {**point, **row, "average_variance": so_far, "reason": ""}
        end = {"stage": "end", "told": len(heard.steps), "seconds": ended}
        yield {**point, **end, "average_variance": average, "reason": ""}


def _warm_up(mechanism: str) -> None:
    """Compile or load the kernels, which no solve should be charged with."""
    for name, domain_size in WARM_UPS:
        solve_with_report(mechanism, create(name, domain_size), 1.0, np.random.default_rng(0), Trace())
