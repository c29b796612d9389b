r"""The optimiser for any workload: sets found by pricing, masses by a quasi-Newton method, rows kept within a budget.

The problem (``problem.py``) is convex, but over 2ⁿ − 2 sets. So, starting from sets sampled to resemble the optimum
(``copula.py``) and from the sets of given strategies, rounds of

1. *pricing*: from every set of the strategy a short local search for a set that deserves more mass than it has
   (``pricing.py``); the searches are cut short on purpose, for sets that all end at the same few summits add little,
2. *reweighting*: better masses for old and new sets together (``reweight.py``),
3. *pruning*: back to the budget of rows (``pruning.py``)

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
from factormech.local.optimal import copula
from factormech.local.optimal.frame import Frame
from factormech.local.optimal.options import BEST, STANDARD, GeneralOptions
from factormech.local.optimal.problem import BoolArray, Optimised, Problem, Report, silent
from factormech.local.optimal.search import Search
from factormech.local.optimal.start import Start
from factormech.local.optimal.target import target_blocks

__all__ = ["BEST", "STANDARD", "GeneralOptions", "solve"]

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
    search = Search(frame, replace(options, rows=rows), lower_bound, report)
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
    return frame.canonical(copula.sample(frame, target_blocks(problem, frame), problem.epsilon, count, rng))
