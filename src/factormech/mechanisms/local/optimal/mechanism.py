r"""The optimised mechanism: for every workload and budget the best strategy that any solver of this package finds.

Which solver is asked depends on the workload:

* the exact one on small domains (``exact.py``, ``worst_case.py``),
* the symmetric one where the centred Gram matrix depends on u ⊕ v alone (``local/symmetric``),
* the general one otherwise, and beside the symmetric one where that leaves a gap (``search.py``), followed by the game
  against the prior where the worst case is the objective (``worst.py``).

Every fixed strategy of the package competes as well, and is where the general solver starts from. Whatever has the
least error is taken, so that no fixed strategy is ever better. The error is that of the strategy as it is stored:
verified, rounded, evaluated.

The record says L = ‖W1‖²/n + tr(X_c⁺C), the objective of McKenna, Maity, Mazumdar & Miklau (PVLDB 13(11), 2020), with a
lower bound on it. For the worst case L has n times the worst variance in place of the sum of all, so the same lower
bound holds of it. ``proof.py`` keeps what proves the bound, or one near it, beside the strategy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np

from factormech.arrays import FloatArray, check_epsilon
from factormech.bounds import pairwise, triples
from factormech.bounds.centred import CentredGram
from factormech.bounds.pairwise import certified
from factormech.bounds.proved import same_for_all
from factormech.bounds.worst_case import universal_variance
from factormech.errors import BadValue, Unavailable
from factormech.mechanisms.local import hadamard, hierarchical, subsets, two_valued
from factormech.mechanisms.local.optimal import average, proof, search, worst
from factormech.mechanisms.local.optimal.problem import Optimised, Problem, Report, silent
from factormech.mechanisms.local.optimal.proof import CHOSEN, from_symmetric, restored, to_datasets
from factormech.mechanisms.local.solved import Solution
from factormech.mechanisms.local.strategy import Evaluation, Strategy, StrategyMatrix
from factormech.workloads.base import Workload

Objective: TypeAlias = Literal["average", "worst"]
Effort: TypeAlias = Literal["standard", "best"]

# The fixed strategies that compete, by their names in the registry.
COMPETITORS: dict[str, Callable[[int, float], Strategy | Unavailable]] = {
    "randomized-response": subsets.randomized_response,
    "subset-selection": subsets.subset_selection,
    "rappor": subsets.rappor,
    "hadamard": hadamard.strategy,
    "hadamard-table1": hadamard.table1_strategy,
    "hierarchical": hierarchical.strategy,
    "hierarchical-table1": hierarchical.table1_strategy,
    "fourier": two_valued.fourier,
    "fourier-3": two_valued.fourier_3,
}
# Domains on which the exact solver runs, by effort; with a budget of rows the general one runs instead.
EXACT_UP_TO = {"standard": 16, "best": 20}
# A fixed strategy this close to the bound on a small domain leaves nothing to look for: in the variance for the least
# average; in L for the least worst case, where rounding stops the exact solver (measured: from ε = 12 on it finds
# nothing better than randomized response). A certificate this much below the bound is not kept.
EXACT_IS_ENOUGH = {"average": 1e-6, "worst": 1e-5}
WEAKER = 1e-6
# What is taken off the lower bounds that solvers compute in floats: their roundings are below 1e-11 of L.
FLOATS = 1e-9
# Up to this budget the exact solver of averages is asked whatever is known: its certificate is in whole numbers.
CERTIFICATE_UP_TO = 10.0
# A symmetric strategy this close to the bound leaves nothing to look for.
SYMMETRIC_IS_ENOUGH = 5e-3
# The general solver runs up to this n: beyond, its matrices take many gigabytes.
GENERAL_UP_TO = 4096


@dataclass(frozen=True)
class Competitor:
    """A strategy that competes.

    Attributes
    ----------
    solver
        Who found it.
    datasets
        What it is restored from.
    evaluation
        Its exact error.
    lower_bound
        On tr(X_c⁺C) of any strategy, as far as this solver knows.
    iterations, stopped
        What the solver says of its run.
    """

    solver: str
    datasets: dict[str, FloatArray]
    evaluation: Evaluation
    lower_bound: float
    iterations: int
    stopped: str


@dataclass(frozen=True)
class OptimisedMechanism:
    """The registered mechanism.

    Attributes
    ----------
    objective
        What is made least: the variance averaged over the user types, or the largest.
    effort
        ``standard`` for figures, ``best`` for benchmarks.
    rows
        The most outputs of the strategy; none leaves it to the solvers.
    """

    objective: Objective = "average"
    effort: Effort = "standard"
    rows: int | None = None

    def with_options(
        self, objective: Objective = "average", effort: Effort = "standard", rows: int | None = None
    ) -> OptimisedMechanism:
        """The mechanism with these settings."""
        return replace(self, objective=objective, effort=effort, rows=rows)

    def solve(
        self,
        workload: Workload,
        epsilon: float | None,
        rng: np.random.Generator,
        report: Report = silent,
        start: Solution | None = None,
    ) -> Solution:
        """The best of all solvers and competitors.

        ``start`` is the solution of the same mechanism with the objective ``average``, by the same random numbers, for
        the objective ``worst`` to begin with: less time, the same solution.
        """
        known = None if start is None else average.Average.of(start, workload.domain_size)
        if known is not None and self.objective != "worst":
            raise BadValue("start", self.objective, "be given for the objective worst alone", "leave it out")
        if self.is_exact_on(workload.domain_size):
            known = None
        run = _Run(self, workload, check_epsilon(epsilon), rng, report, known)
        return run.solution()

    def is_exact_on(self, domain_size: int) -> bool:
        """Whether the exact solver is asked."""
        return 1 < domain_size <= EXACT_UP_TO[self.effort] and self.rows is None

    def restore(self, solution: Solution, epsilon: float) -> Strategy:
        """The strategy from what was kept, verified again."""
        name = str(solution.record[CHOSEN])
        if name in COMPETITORS:
            built = COMPETITORS[name](int(solution.record["domain_size"]), epsilon)
            if isinstance(built, Unavailable):
                raise BadValue("stored strategy", name, f"exist ({built.reason})", "solve it again")
            return built
        return restored(solution, epsilon)


class _Run:
    """One solve."""

    def __init__(
        self,
        options: OptimisedMechanism,
        workload: Workload,
        epsilon: float,
        rng: np.random.Generator,
        report: Report,
        known: average.Average | None = None,
    ) -> None:
        self.options, self.workload, self.epsilon = options, workload, epsilon
        self.rng, self.report, self.known = rng, report, known
        self.C = workload.centred_gram()
        self.problem = Problem(self.C, epsilon)
        self.certificate = proof.Proof()
        self.trace = float(np.trace(self.C))
        n = workload.domain_size
        self.weights: pairwise.PairwiseBound | None = None
        self.triples: triples.TripleCertificate | None = None
        self.symmetric_variance: dict[str, float] = {}
        self.fixed: tuple[str, float] = ("", np.inf)
        self.variance_bound = self.worst_bound = 0.0
        if same_for_all(workload, self.trace):
            self.bound = 0.0
            return
        if known is not None:
            self.bound, self.variance_bound = known.bound, known.variance_bound
            return
        if n <= proof.RIGOROUS_UP_TO:
            # ``certified`` with the weights that it is made from, which are kept.
            self.weights = pairwise.solve(self.C, epsilon)
            self.variance_bound = pairwise.variance_of(workload, epsilon, self.weights)
            by_triples, self.triples = triples.proved(workload, epsilon, self.variance_bound)
            self.variance_bound = max(self.variance_bound, by_triples)
        else:
            self.variance_bound = certified(workload, epsilon)
        self.bound = n * self.variance_bound + self.trace

    def error(self, evaluation: Evaluation) -> float:
        """What is made least."""
        return evaluation.worst if self.options.objective == "worst" else evaluation.average

    def solution(self) -> Solution:
        """The best of all, with its record."""
        solved, rivals = self._contest()
        best = min([*solved, *rivals], key=lambda found: self.error(found.evaluation))
        bound = max(self.bound, *((1.0 - FLOATS) * found.lower_bound for found in [*solved, best]))
        if self.certificate.lower_bound and self.certificate.lower_bound < bound * (1.0 - WEAKER):
            self.certificate = proof.Proof()
        constant = self.workload.total_squared() / self.workload.domain_size
        objective = self.workload.domain_size * self.error(best.evaluation) + self.trace + constant
        # What is proved in whole numbers, where it is, in place of what floats say.
        lower = self.certificate.lower_bound or bound + constant
        lower = lower if self.known is None else max(lower, self.known.lower_bound)
        kept = proof.Proof() if self.certificate.lower_bound else self._rigorous()
        record = {
            CHOSEN: best.solver,
            "domain_size": self.workload.domain_size,
            "objective": objective,
            "lower_bound": lower,
            "gap": max(objective / lower - 1.0, 0.0) if lower > 0.0 else 0.0,
            "rows": best.evaluation.outputs if best.evaluation.outputs < 2**63 else str(best.evaluation.outputs),
            "iterations": best.iterations,
            "stopped": best.stopped,
            "average_variance": best.evaluation.average,
            "worst_variance": best.evaluation.worst,
            average.BOUND: self.bound,
            average.VARIANCE_BOUND: self.variance_bound,
            average.WORST_BOUND: max(self.variance_bound, self.worst_bound),
            average.FIXED: self.fixed[0],
            average.FIXED_WORST: self.fixed[1],
            **self.symmetric_variance,
            **self.certificate.record,
            **kept.record,
        }
        return Solution({**best.datasets, **self.certificate.datasets, **kept.datasets}, record)

    def _rigorous(self) -> proof.Proof:
        """What is proved beyond rounding by the weights of the bound."""
        if self.known is not None:
            return self.known.proof
        if self.weights is None:
            return proof.Proof()
        if self.triples is not None:
            return proof.triple_bound(self.workload, self.epsilon, self.triples)
        return proof.rigorous_bound(self.workload, self.C, self.epsilon, self.weights)

    @property
    def solver_rows(self) -> int | None:
        """The rows that a solver may take: one is left for what makes columns sum to one (``rows.py``)."""
        return None if self.options.rows is None else max(self.options.rows - 1, 2)

    def _allowed(self, evaluation: Evaluation) -> bool:
        budget = self.options.rows
        return evaluation.answered and (budget is None or evaluation.outputs <= budget)

    def _contest(self) -> tuple[list[Competitor], list[Competitor]]:
        """What the solvers find, and the fixed strategies: with a solution of least average, those that may yet win."""
        known = self.known
        if known is None or (known.solver in COMPETITORS and not self._fixed_wins(known)):
            competitors = list(self._competitors(COMPETITORS))
            rivals = [found for found, _ in competitors]
            least = min(rivals, key=lambda found: found.evaluation.worst, default=None)
            self.fixed = ("", np.inf) if least is None else (least.solver, least.evaluation.worst)
            if self._is_enough(rivals):
                return [], rivals
            matrices = [strategy.matrix for _, strategy in competitors if isinstance(strategy, StrategyMatrix)]
            return list(self._solved(matrices)), rivals
        self.fixed = known.fixed, known.fixed_worst
        if known.symmetric < np.inf:
            self.symmetric_variance = {average.SYMMETRIC: known.symmetric}
        solved = [] if known.solver in COMPETITORS else list(self._after(known))
        wins = all(known.fixed_worst < self.error(found.evaluation) for found in solved)
        return solved, [found for found, _ in self._competitors([known.fixed])] if wins else []

    def _is_enough(self, rivals: list[Competitor]) -> bool:
        """Whether the exact solver could gain nothing that it looks for: at large ε randomized response is optimal."""
        if not self.options.is_exact_on(self.workload.domain_size) or not self.variance_bound > 0.0:
            return False
        least = min((self.error(found.evaluation) for found in rivals), default=np.inf)
        enough = EXACT_IS_ENOUGH[self.options.objective]
        if self.options.objective == "average":
            return self.epsilon > CERTIFICATE_UP_TO and bool(least <= (1.0 + enough) * self.variance_bound)
        return bool(self.workload.domain_size * (least - self.variance_bound) <= enough * self.bound)

    def _fixed_wins(self, known: average.Average) -> bool:
        """Whether the solvers stopped at a symmetric strategy, near the bound, and a fixed one is better.

        They would again: its variance is that of every type, and so the worst is the average.
        """
        if not known.fixed_worst < known.symmetric < np.inf:
            return False
        objective = self.workload.domain_size * known.symmetric + self.trace
        return objective <= self.bound * (1.0 + SYMMETRIC_IS_ENOUGH)

    def _competitors(self, names: Iterable[str]) -> Iterator[tuple[Competitor, Strategy]]:
        """The fixed strategies of these names that answer the workload within the budget of rows."""
        for name in names:
            strategy = COMPETITORS[name](self.workload.domain_size, self.epsilon)
            if isinstance(strategy, Unavailable):
                continue
            evaluation = strategy.evaluate(self.C)
            if self._allowed(evaluation):
                yield Competitor(name, {}, evaluation, 0.0, 0, "fixed"), strategy

    def _solved(self, starts: list[FloatArray]) -> Iterator[Competitor]:
        """What the solvers that suit the workload find."""
        n = self.workload.domain_size
        if self.options.is_exact_on(n):
            yield from self._exact()
            return
        symmetric = self._symmetric()
        yield from symmetric
        reached = min((self._gap(found) for found in symmetric), default=np.inf)
        if n <= GENERAL_UP_TO and reached > SYMMETRIC_IS_ENOUGH:
            yield from self._general(starts)

    def _gap(self, found: Competitor) -> float:
        objective = self.workload.domain_size * self.error(found.evaluation) + self.trace
        bound = max(self.bound, found.lower_bound)
        return objective / bound - 1.0 if bound > 0.0 else 0.0

    def _exact(self) -> Iterator[Competitor]:
        """Small domains: every set is looked at."""
        from factormech.mechanisms.local.optimal import exact

        if self.options.objective == "worst":
            yield self._evaluated("exact", self._worst_of_all())
        else:
            found = exact.solve(self.problem, self.rng, report=self.report)
            dual, multiplier = (np.asarray(found.details[key]) for key in ("dual", "multiplier"))
            self.certificate = proof.certificate(self.workload, self.epsilon, dual, multiplier)
            gram, uniform = CentredGram.of(self.workload), np.full(len(self.C), 1.0 / len(self.C))
            proved = universal_variance(gram, self.epsilon, uniform, dual, multiplier)
            self.variance_bound = max(self.variance_bound, proved, self.certificate.variance_bound)
            yield self._evaluated("exact", found)

    def _worst_of_all(self) -> Optimised:
        """The strategy of least worst case on a small domain; the bound on the variance learns from its prior."""
        from factormech.mechanisms.local.optimal import worst_case

        found = worst_case.solve_worst_case(self.problem, lower_bound=self.bound, report=self.report)
        if "prior" not in found.details:  # every query has one answer for all types: nothing to bound
            return found
        prior, dual, multiplier = (np.asarray(found.details[key]) for key in ("prior", "dual", "multiplier"))
        gram = CentredGram.of(self.workload)
        self.worst_bound = universal_variance(gram, self.epsilon, prior, dual, multiplier)
        return found

    def _symmetric(self) -> list[Competitor]:
        """Workloads that translations of {0,1}^d leave alone: all types have one variance, on average and at worst."""
        if self.workload.centred_walsh_spectrum() is None or self.workload.domain_size < 2 or not self.bound > 0.0:
            return []
        from factormech.mechanisms.local.symmetric import solver

        rows = self.options.rows
        found = solver.solve(self.workload, self.epsilon, rng=self.rng, report=self.report, rows=rows)
        evaluation = found.strategy.evaluate(self.C)
        if not self._allowed(evaluation):
            return []
        self.symmetric_variance = {average.SYMMETRIC: evaluation.worst}
        kept = from_symmetric(found.strategy)
        return [Competitor("symmetric", kept, evaluation, found.lower_bound, found.iterations, found.stopped)]

    def _general(self, starts: list[FloatArray]) -> Iterator[Competitor]:
        """Any workload."""
        spend = search.BEST if self.options.effort == "best" else search.STANDARD
        options = replace(spend, rows=self.solver_rows)
        found = search.solve(
            self.problem, self.rng, options=options, lower_bound=self.bound, starts=starts, report=self.report
        )
        yield self._evaluated("general", found)
        yield from self._played(found)

    def _played(self, found: Optimised) -> Iterator[Competitor]:
        """What the game makes of a strategy of little average variance, where the worst case is asked for.

        Where translations leave the workload alone the best worst case is the best average.
        """
        if self.options.objective == "worst" and self.workload.centred_walsh_spectrum() is None:
            game = worst.BEST if self.options.effort == "best" else worst.STANDARD
            played = worst.solve(
                self.problem,
                found,
                options=game,
                rows=self.solver_rows,
                lower_bound=self.bound,
                report=self.report,
            )
            yield self._evaluated("game", played)

    def _after(self, known: average.Average) -> Iterator[Competitor]:
        """The same strategies as without the solution of least average, but for those that it has ruled out."""
        n = self.workload.domain_size
        strategy = restored(Solution(known.datasets, {"domain_size": n}), self.epsilon)
        evaluation = strategy.evaluate(self.C)
        if known.symmetric < evaluation.worst and known.solver != "symmetric":
            yield from self._symmetric()
        yield Competitor(known.solver, known.datasets, evaluation, known.bound, known.iterations, known.stopped)
        if known.solver == "general":
            yield from self._played(known.staircase(n))

    def _evaluated(self, solver: str, found: Optimised) -> Competitor:
        """A staircase strategy as it will be restored."""
        datasets = to_datasets(found)
        strategy = restored(Solution(datasets, {"domain_size": self.workload.domain_size}), self.epsilon)
        evaluation = strategy.evaluate(self.C)
        return Competitor(solver, datasets, evaluation, found.lower_bound, found.iterations, found.stopped)


MECHANISM = OptimisedMechanism()
