r"""The published strategy optimiser: projected gradient descent on the strategy and on its row minima.

Algorithm 2 of McKenna, Maity, Mazumdar & Miklau, "A workload-adaptive mechanism for linear queries under
local differential privacy", PVLDB 13(11), 2020, with the choices of its section 4 and of the runs published
with it. It minimises L(Q) of :mod:`factormech.mechanisms.local.strategy_objective` over strategies Q (m × n) and row
minima z (m) with 1ᵀz ≤ 1, by

.. math:: z ← \operatorname{clip}(z - α ∇_z L, 0, 1), \qquad Q ← Π_{z,ε}(Q - β ∇_Q L), \qquad α = β / (n e^ε),

Π being the projection of :mod:`factormech.mechanisms.local.pgd_descent`. It is kept as published (one random
start, no other solver), so that comparisons with it mean something.

Three choices that the paper leaves open, and what is done here.

*The chain rule.* Q depends on z through both the bounds and the multipliers λ of the projection. The
published runs differentiate the bounds and hold λ fixed (and so feel the constants per column in ∇_Q L,
which is that of tr[X⁺G] without the constraint on column sums). That is the default, and what reproduces
the published numbers; ``exact_chain_rule=True`` differentiates λ too.

*The step size.* The steps tried are β = 2^{−k}/tr G, free of the scale of the workload: the gradient step
of size 2^{−k} on the average variance in units of the mean squared column norm of W. Going down from the
largest step that leaves 1ᵀz feasible once, the first at which a short run (a fifth of ``iterations``) stays
feasible to its end is compared with its half and its quarter, and on to smaller ones as long as the
smallest is the best. The best short run goes on for ``iterations`` more, the step halved after each fifth
of them.

*Leaving the feasible set.* Should the long run step out of it (1ᵀz > 1, e^ε 1ᵀz < 1, or L = ∞), it returns
to its best iterate with half the step.

*Precision.* Iterates of large strategies are of single precision
(:data:`factormech.mechanisms.local.pgd_descent.SINGLE_FROM`): a step only needs a direction. What is returned is the
best of them, projected in double precision, with its own L.

Privacy. Bounds use a ratio slightly inside e^ε, see :func:`inner_ratio`: the floats returned are ε-LDP as
they are.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from factormech.arrays import FloatArray, RealArray, check_epsilon, check_positive_integer
from factormech.errors import BadValue
from factormech.mechanisms.local.optimal.problem import Report, silent
from factormech.mechanisms.local.pgd_descent import HALVINGS, Descent, DescentProblem, Looked, Memory, project_columns
from factormech.mechanisms.local.solved import Solution
from factormech.mechanisms.local.strategy import StrategyMatrix
from factormech.mechanisms.local.strategy_objective import StrategyObjective
from factormech.privacy import guarantee
from factormech.workloads.base import Workload

# Below, e^ε is 1 up to rounding; above, e^{-ε} is 0 compared with any probability that matters.
SMALLEST_EPSILON, LARGEST_EPSILON = 1e-12, 100.0
# Short runs to be completed before the best step is chosen, and the most there will be if smaller steps
# keep winning.
SHORT_RUNS, MOST_SHORT_RUNS = 3, 12
# The largest step of the ladder is 2^FIRST_RUNG / tr G.
FIRST_RUNG = 40


@dataclass(frozen=True)
class OptimisedStrategy:
    """The strategy that an optimiser found, and how it was found.

    Attributes
    ----------
    strategy
        Q, of shape (m, n), with exact column sums 1 up to the last digits and rows within ratio e^ε.
    objective
        L(Q), which is n × average variance per user + ‖W‖_F².
    iterations
        Steps taken by the long run.
    step_size
        β of its first step.
    stopped
        Why it ended: "iterations" (all done), "step vanished", or "nothing to optimise" (L is the same for
        every strategy).
    history
        L at the start and after each step of the long run; ∞ where a step left the row space of the workload. Right to
        some millionths of iterates in single precision.
    """

    strategy: FloatArray
    objective: float
    iterations: int
    step_size: float
    stopped: str
    history: FloatArray


def optimise(
    gram: FloatArray,
    epsilon: float,
    *,
    rows: int | None = None,
    iterations: int = 250,
    rng: np.random.Generator,
    start: FloatArray | None = None,
    exact_chain_rule: bool = False,
    report: Report = silent,
) -> OptimisedStrategy:
    """Optimise an ε-LDP strategy for the workload with Gram matrix ``gram``.

    Parameters
    ----------
    gram
        G = WᵀW, of shape (n, n), of any rank.
    epsilon
        Privacy budget ε.
    rows
        Outputs m of the random start, 4n by default. Rows whose minimum reaches 0 are dropped on the way.
    iterations
        Steps T of the long run.
    rng
        Draws the start, and nothing else.
    start
        An ε-LDP strategy to start from instead, of shape (m, n).
    exact_chain_rule
        See the module's text; False is the published method.
    report
        Is told of every iterate that is evaluated, in the stages "step size" and "descent", and changes nothing. Its
        objective is tr(X_c⁺C) = L − ‖W1‖²/n, as other optimisers report it, and its lower bound 0: there is none.

    Returns
    -------
    The best iterate of the long run, and the record of the run.

    Raises
    ------
    BadValue
        For arguments out of range, a start that is not ε-LDP, or one that cannot answer the queries (fewer
        rows than independent queries).
    """
    a = inner_ratio(epsilon)
    iterations = check_positive_integer("iterations", iterations)
    objective = StrategyObjective(gram)
    n = objective.domain_size
    if start is None:
        m = check_positive_integer("rows", 4 * n if rows is None else rows)
        Q = random_strategy(m, n, a, rng)
    else:
        Q = _checked_start(start, n, a, rows)
    if objective.root.shape[1] == 0:
        L = objective.constant
        return OptimisedStrategy(Q, L, 0, 0.0, "nothing to optimise", np.array([L]))
    problem = DescentProblem(objective, a, 1.0 / objective.trace, exact_chain_rule, report)
    return _optimise(problem, Q, iterations)


def inner_ratio(epsilon: float) -> float:
    """The largest ratio allowed between two entries of a row: e^ε, less 2⁻⁴⁶ of it.

    The margin, 64 units in the last place, covers the rounding of the exponential, of the bounds, and of the
    column sums by which a sampler divides.
    """
    if not SMALLEST_EPSILON <= check_epsilon(epsilon) <= LARGEST_EPSILON:
        rule = f"lie between {SMALLEST_EPSILON} and {LARGEST_EPSILON}"
        raise BadValue("epsilon", epsilon, rule, "choose a budget at which floats can hold the strategy")
    return guarantee.inner_ratio(epsilon)


def random_strategy(rows: int, columns: int, ratio: float, rng: np.random.Generator) -> FloatArray:
    """The start of section 4: U[0, 1] entries, projected with z = (1 + 1/a)/(2m)·1, midway of its limits."""
    R = rng.random((columns, rows)).T
    z = np.full(rows, (1 + 1 / ratio) / (2 * rows))
    return project_columns(R, z, ratio, overwrite=True)


def _checked_start(start: FloatArray, columns: int, ratio: float, rows: int | None) -> FloatArray:
    """The given strategy without its empty rows, moved inside the ratio by no more than rounding."""
    Q = np.asarray(start, dtype=np.float64)
    if Q.ndim != 2 or Q.shape[1] != columns or rows not in (None, Q.shape[0]):
        shape = f"({'rows' if rows is None else rows}, {columns})"
        raise BadValue("start", Q.shape, f"have shape {shape}", "give one column for each user type, or no start")
    if not np.all(np.isfinite(Q)) or Q.min() < 0 or float(np.abs(Q.sum(axis=0) - 1).max()) > 1e-9:
        raise BadValue("start", "a matrix", "have non-negative columns that sum to 1", "normalise its columns")
    Q = Q[Q.max(axis=1) > 0]
    z = Q.min(axis=1)
    if np.any(Q.max(axis=1) > ratio * (1 + 1e-9) * z):
        with np.errstate(divide="ignore"):
            worst = float(np.log((Q.max(axis=1) / z).max()))
        raise BadValue("start", f"a {worst:.6g}-LDP strategy", f"be {math.log(ratio):.6g}-LDP", "use a larger epsilon")
    return project_columns(Q, z * min(1.0, 1.0 / math.fsum(z)), ratio)


def _optimise(problem: DescentProblem, Q: FloatArray, iterations: int) -> OptimisedStrategy:
    """Search for a step size, then the long run from the best short run."""
    memory = Memory(Q, problem.precision(Q.size))
    step, Q = _search(problem, Q, memory, max(1, iterations // 5))
    descent = Descent(problem, Q, step, memory, stage="descent", limit=iterations)
    stopped = descent.run(iterations)
    history = np.array(descent.history)
    single = descent.best.dtype == np.float32
    Q = _settled(descent.best, problem.ratio)
    L = problem.objective.value(Q) if single else descent.best_objective
    return OptimisedStrategy(Q, L, history.size - 1, step, stopped, history)


def _settled(iterate: RealArray, ratio: float) -> FloatArray:
    """An iterate in double precision with column sums of 1 to the last digit, moved by rounding."""
    Q = iterate.astype(np.float64)
    z: FloatArray = Q.min(axis=1)
    # Sums of singles may pass their limits by rounding.
    z *= min(1.0, 1.0 / math.fsum(z))
    return project_columns(Q, z * max(1.0, 1.0 / (ratio * math.fsum(z))), ratio)


def _search(problem: DescentProblem, start: FloatArray, memory: Memory, short: int) -> tuple[float, RealArray]:
    """The step size whose short run ends lowest, and the best strategy of that run."""
    step, known = _largest_step(problem, start, memory)
    best_objective, best_step, best = math.inf, step, np.asarray(start, dtype=memory.best.dtype)
    completed = 0
    for _ in range(HALVINGS):
        descent = Descent(problem, start, step, memory, stage="step size", limit=short, known=known)
        if descent.completes(short):
            completed += 1
            before = descent.history[0]
            if descent.best_objective < best_objective:
                best_objective, best_step = descent.best_objective, step
                best = descent.best.copy(order="F")
            done = completed >= SHORT_RUNS and best_step > step and best_objective < before
            if done or completed == MOST_SHORT_RUNS:
                break
        step *= 0.5
    return best_step, best


def _largest_step(problem: DescentProblem, start: FloatArray, memory: Memory) -> tuple[float, Looked]:
    """The largest step of the ladder whose first move keeps 1ᵀz feasible, and the look at the start."""
    step = problem.unit_step * 2.0**FIRST_RUNG
    descent = Descent(problem, start, step, memory, stage="step size", limit=0)
    if not descent.look():
        rule = "span the queries (W must lie in the row space of the strategy)"
        raise BadValue("rows of the start", start.shape[0], rule, "ask for more rows, or another start")
    for _ in range(HALVINGS):
        if descent.row_minima(step) is not None:
            break
        step *= 0.5
    return step, descent.looked()


@dataclass(frozen=True)
class AdaptivePgd:
    """The registered mechanism: the published optimiser with its published settings; 4n rows by default."""

    rows: int | None = None

    def with_options(self, rows: int | None = None) -> AdaptivePgd:
        """The same from starts of another number of rows."""
        return AdaptivePgd(rows)

    def solve(
        self, workload: Workload, epsilon: float | None, rng: np.random.Generator, report: Report = silent
    ) -> Solution:
        """250 iterations from a random start; ``report`` changes nothing."""
        found = optimise(workload.gram(), check_epsilon(epsilon), rows=self.rows, rng=rng, report=report)
        record = {
            "objective": found.objective,
            "rows": found.strategy.shape[0],
            "iterations": found.iterations,
            "stopped": found.stopped,
            "step_size": found.step_size,
        }
        return Solution({"strategy": found.strategy, "history": found.history}, record)

    def restore(self, solution: Solution, epsilon: float) -> StrategyMatrix:
        """The stored matrix, verified."""
        return StrategyMatrix(solution.datasets["strategy"], epsilon)


MECHANISM = AdaptivePgd()
