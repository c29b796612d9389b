"""The optimiser for any workload: rounds of pricing, reweighting and pruning.

**The solver.** Pricing finds sets, a quasi-Newton method the masses, and the rows stay within a budget. The problem
(``problem.py``) is convex, but over 2ⁿ − 2 sets. So, starting from sets sampled to resemble the optimum
(``columns.py``) and from the sets of given strategies, rounds of

1. *pricing*: from every set of the strategy a short local search for a set that deserves more mass than it has
   (``columns.py``); the searches are cut short on purpose, for sets that all end at the same few summits add little,
2. *reweighting*: better masses for old and new sets together (``columns.py``),
3. *pruning*: back to the budget of rows (``rows.py``)

lower the objective until the gap asked for is reached, nothing is gained any more or the rounds are used up. The
search runs in single precision on large domains; the result is settled in double precision.

Up to ``EVERY_SET`` types all sets are taken from the start.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from factormech.arrays import FloatArray
from factormech.errors import BadValue
from factormech.mechanisms.local.optimal import columns, rows
from factormech.mechanisms.local.optimal import columns as pricing
from factormech.mechanisms.local.optimal.columns import Candidate, Columns
from factormech.mechanisms.local.optimal.frame import Frame, target_blocks
from factormech.mechanisms.local.optimal.problem import (
    BEST,
    STANDARD,
    BoolArray,
    GeneralOptions,
    Optimised,
    Problem,
    Report,
    Step,
    Stopped,
    silent,
)
from factormech.mechanisms.local.optimal.rows import Start

__all__ = ["BEST", "STANDARD", "GeneralOptions", "solve"]


# The rounds.

# A short search flips this share of the types at most (and two at least).
FLIPS_SHARE = 32
# Sets of a smaller excess than this are not new columns.
EXCESS = 1e-9
# Where fewer than this share of the searches find something, disturbed sets are searched from too.
DISTURB_BELOW = 0.1
# In the first rounds as many sets may join as there are, later a third as many.
WIDE_ROUNDS = 4
# The polish ends where two steps gain less than this, relatively, each; the second after a search in single precision.
POLISH_GAIN = 1e-12
POLISH_GAIN_SINGLE = 1e-6
# Columns of less than this share of the average mass are tried to be dropped, in this order.
LIGHT = (1e-6, 1e-3, 1e-1)
# The search runs in single precision above this many types.
DOUBLE_UP_TO = 64


class Search:
    """One solve: what it may spend, and what it has spent."""

    def __init__(
        self, frame: Frame, options: GeneralOptions, lower_bound: float, report: Report, floor: float = 0.0
    ) -> None:
        self.frame, self.options, self.lower_bound, self.report = frame, options, lower_bound, report
        self.floor = floor
        self.rows = int(options.rows or 0)
        self.limit = options.rounds_on(frame.domain_size)
        self.dtype = np.float64 if frame.domain_size <= DOUBLE_UP_TO else np.float32
        self.taken = 0
        self.rounds = 0
        self.stopped: Stopped = "iteration_limit"

    def objective(self, candidate: Candidate) -> float:
        """tr(X_c⁺C), in the problem's scale."""
        return candidate.value * self.frame.scale * self.frame.domain_size

    def first(self, supports: BoolArray, known: Sequence[Candidate]) -> Candidate:
        """All first sets, with the average of the masses that each source suggests."""
        n = self.frame.domain_size
        both = self.frame.canonical(np.concatenate([supports, *(c.columns.supports for c in known)]))
        columns = Columns.of(self.frame, both, self.dtype)
        place = columns.place(self._average(columns, len(supports), known))
        if place is None:  # the sets alone are no strategy: with all single types they are one
            columns = Columns.of(self.frame, self.frame.canonical(np.concatenate([both, _singles(n)])), self.dtype)
            place = columns.place(np.ones(len(columns)))
        if place is None:
            return self._single_types()
        return Candidate(columns, place)

    def _average(self, columns: Columns, sampled: int, known: Sequence[Candidate]) -> FloatArray:
        masses = np.zeros(len(columns))
        masses[:sampled] = 1.0 / max(sampled, 1)
        places = {S.tobytes(): k for k, S in enumerate(columns.supports)} if known else {}
        for candidate in known:
            at = [places[S.tobytes()] for S in candidate.columns.supports]
            np.add.at(masses, at, candidate.place.masses)
        return masses

    def _improved(self, candidate: Candidate, steps: int, gain: float = 1e-7) -> Candidate:
        better, taken = candidate.improved(steps, gain)
        self.taken += taken
        return better

    def _pruned(self, candidate: Candidate) -> Candidate:
        try:
            pruned, taken = rows.prune(candidate, self.rows, self.options.steps, 1e-7, self.options.stage)
        except BadValue:
            if self.rows < self.frame.domain_size:
                raise
            return self._single_types()
        self.taken += taken
        return pruned

    def _single_types(self) -> Candidate:
        """Randomized response: n rows, whatever the workload."""
        supports = self.frame.canonical(np.eye(self.frame.domain_size, dtype=np.bool_))
        columns = Columns.of(self.frame, supports, self.dtype)
        place = columns.place(np.ones(len(supports)))
        if place is None:
            raise ArithmeticError("the workload is outside the row space of all single types")
        return Candidate(columns, place)

    def run(self, candidate: Candidate, rng: np.random.Generator) -> Candidate:
        """The rounds; the best candidate within the budget."""
        current = best = self._pruned(self._improved(candidate, 3 * self.options.steps))
        values = [best.value]
        for number in range(1, self.options.more * self.limit + 1):
            if number > self.limit and self._is_enough(best):
                break
            self.rounds = number
            self._tell("pricing", best)
            if self._done(best, values):
                return best
            wider = self._widened(current, rng)
            if wider is None:
                self.stopped = "stalled"
                return best
            current = self._pruned(self._improved(wider, self.options.steps))
            best = current if current.value < best.value else best
            values.append(best.value)
        self._done(best, values)
        return best

    def _widened(self, candidate: Candidate, rng: np.random.Generator) -> Candidate | None:
        """With the sets that pricing finds; None if it finds none.

        Short searches from the strategy's own sets; where these find little, whole ones from disturbed sets too.
        """
        supports, n = candidate.columns.supports, self.frame.domain_size
        found, excess = pricing.climb(self.frame, candidate.place, supports, max(2, n // FLIPS_SHARE))
        if np.count_nonzero(excess > EXCESS) < DISTURB_BELOW * len(supports):
            more, further = pricing.climb(self.frame, candidate.place, _disturbed(supports, n, rng), 4 * n)
            found, excess = np.concatenate([found, more]), np.concatenate([excess, further])
        good = np.flatnonzero(excess > EXCESS)
        limit = max(len(supports) if self.rounds <= WIDE_ROUNDS else len(supports) // 3, 1)
        good = np.sort(good[np.argsort(-excess[good], kind="stable")][:limit])
        share = 0.5 * len(good) / (len(good) + len(supports))
        return candidate.joined(found[good], share) if len(good) else None

    def _done(self, best: Candidate, values: Sequence[float]) -> bool:
        if self.objective(best) <= self.lower_bound * (1.0 + self.options.gap):
            self.stopped = "gap"
            return True
        patience = self.options.patience
        if len(values) > patience and values[-patience - 1] - values[-1] <= self.options.stall * values[-1]:
            self.stopped = "stalled"
            return True
        return False

    def _is_enough(self, best: Candidate) -> bool:
        """Whether the variance, the objective less ``floor``, is near its lower bound; nobody knows without one."""
        bound = self.lower_bound - self.floor
        return self.lower_bound <= 0.0 or self.objective(best) - self.floor <= (1.0 + self.options.enough) * bound

    def _tell(self, stage: str, best: Candidate) -> None:
        self.report(Step(stage, self.rounds, max(self.limit, self.rounds), self.objective(best), self.lower_bound))

    def finish(self, candidate: Candidate, given: Sequence[Start]) -> Optimised:
        """The strategy settled in double precision, and not worse than any start."""
        settled = candidate.in_double()
        if settled is None:
            raise ArithmeticError("the strategy found in single precision is none in double precision")
        settled = self._polished(settled)
        for start in given:
            if start.value < settled.value:
                settled = self._from(start, settled)
        return self._answer(settled)

    def _polished(self, candidate: Candidate) -> Candidate:
        """With the best masses for its sets; on small domains to many digits."""
        if self.dtype is np.float32:
            return self._improved(candidate, self.options.polish, POLISH_GAIN_SINGLE)
        best = self._improved(candidate, self.options.polish, POLISH_GAIN)
        for share in LIGHT:
            # Masses that tend to zero do so slowly, more so where M becomes singular with them: try without.
            heavy = np.flatnonzero(best.place.masses > share / len(best.columns))
            kept = best.kept(heavy) if len(heavy) < len(best.columns) else None
            if kept is not None:
                thinner = self._improved(kept, self.options.polish, POLISH_GAIN)
                best = thinner if thinner.value <= best.value else best
        return best

    def _from(self, start: Start, settled: Candidate) -> Candidate:
        """A start with better masses, on fewer rows if that is not worse."""
        split = start.candidate()
        if split is None or split.value >= settled.value:
            return settled
        better = self._polished(split)
        try:
            pruned = self._pruned(better)
        except BadValue:
            return better
        return pruned if pruned.value <= start.value else better

    def _answer(self, settled: Candidate) -> Optimised:
        live = settled.place.masses > 0.0
        supports, masses = self.frame.expand(settled.columns.supports[live], settled.place.masses[live])
        weights = self.frame.row_weights(supports, masses)
        details: dict[str, object] = {
            "rounds": self.rounds,
            "rows": len(supports),
            "over_budget": len(supports) > self.rows,
            "column_gap": settled.place.column_gap,
            "symmetric": self.frame.symmetric,
        }
        value = self.objective(settled)
        return Optimised(supports, weights, value, self.lower_bound, self.taken, self.stopped, details)


def _disturbed(supports: BoolArray, n: int, rng: np.random.Generator) -> BoolArray:
    """Sets with about two types flipped, 4n of them at least, and all single types."""
    copies = np.tile(supports, (-(-4 * n // len(supports)), 1))
    return np.concatenate([copies ^ (rng.random(copies.shape) < min(2.0 / n, 0.5)), _singles(n)])


def _singles(n: int) -> BoolArray:
    return np.eye(n, dtype=np.bool_)


# The solver.

# Rows for each user type, where no budget is given.
ROWS_PER_TYPE = 16
# Of each start the heaviest level sets join the first columns, this many times the budget of rows.
SPLIT_LIMIT = 4
# Up to this many types every set is a column.
EVERY_SET = 10


def solve(
    problem: Problem,
    rng: np.random.Generator,
    *,
    options: GeneralOptions = STANDARD,
    lower_bound: float = 0.0,
    starts: Sequence[FloatArray] = (),
    report: Report = silent,
) -> Optimised:
    """A strategy for any workload, budget and prior, near the best.

    Parameters
    ----------
    problem
        C, ε, prior.
    rng
        Draws the first sets, and disturbances of sets where the search stalls.
    options
        How much to spend.
    lower_bound
        What no strategy's objective is below (``bounds/``); it only tells when to stop.
    starts
        Strategies (m, n) whose rows join the first sets. The result is not worse than any of them: should it take more
        rows than the budget to be as good as a start, it has them, and ``details["over_budget"]`` is true.
    report
        Told of every round.
    """
    n = problem.domain_size
    frame = Frame.of(problem)
    rows = _budget(options, n, frame)
    if frame.rank == 0:
        return _nothing_to_do(frame, lower_bound)
    # Under a prior the variance is not what the objective is above the trace.
    spent = replace(options, rows=rows, more=options.more if problem.prior is None else 1)
    search = Search(frame, spent, lower_bound, report, float(np.trace(problem.centred_gram)))
    given = [Start.of(frame, Q) for Q in starts]
    known = [some for start in given if (some := start.candidate(SPLIT_LIMIT * rows)) is not None]
    first = search.first(_first_sets(problem, frame, rows, rng), known)
    return search.finish(search.run(first, rng), given)


def _budget(options: GeneralOptions, n: int, frame: Frame) -> int:
    """The number of rows allowed."""
    needed = frame.rank + 1
    if options.rows is None:
        return max(ROWS_PER_TYPE * n, needed)
    if options.rows < needed:
        rule = f"be at least {needed}, one more than the rank of the workload"
        raise BadValue("rows", options.rows, rule, "allow more rows")
    return options.rows


def _nothing_to_do(frame: Frame, lower_bound: float) -> Optimised:
    """The same answers for all types: any strategy will do."""
    n = frame.domain_size
    supports = np.eye(n, dtype=np.bool_) if n > 1 else np.zeros((1, 1), dtype=np.bool_)
    weights = np.full(n, 1.0 / (n + frame.shift)) if n > 1 else np.ones(1)
    return Optimised(supports, weights, 0.0, min(lower_bound, 0.0), 0, "gap")


def _first_sets(problem: Problem, frame: Frame, rows: int, rng: np.random.Generator) -> BoolArray:
    n = frame.domain_size
    if n <= EVERY_SET:
        codes = np.arange(1, 2**n - 1)
        return frame.canonical((codes[:, None] >> np.arange(n)) & 1 == 1)
    count = max(rows, 4 * n) // (2 if frame.symmetric else 1)
    return frame.canonical(columns.sample(frame, target_blocks(problem, frame), problem.epsilon, count, rng))
