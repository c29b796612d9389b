r"""The published strategy optimiser: projected gradient descent on the strategy and on its row minima.

Algorithm 2 of McKenna, Maity, Mazumdar & Miklau, "A workload-adaptive mechanism for linear queries under
local differential privacy", PVLDB 13(11), 2020, with the choices of its section 4 and of the runs published
with it. It minimises L(Q) of :mod:`factormech.local.strategy_objective` over strategies Q (m × n) and row
minima z (m) with 1ᵀz ≤ 1, by

.. math:: z ← \operatorname{clip}(z - α ∇_z L, 0, 1), \qquad Q ← Π_{z,ε}(Q - β ∇_Q L), \qquad α = β / (n e^ε),

Π being the projection of :mod:`factormech.local.bounded_simplex`. It is kept as published (one random
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

Privacy. Bounds use a ratio slightly inside e^ε, see :func:`inner_ratio`: the floats returned are ε-LDP as
they are.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from factormech import privacy
from factormech.arrays import FloatArray, check_epsilon, check_positive_integer
from factormech.errors import BadValue
from factormech.local.bounded_simplex import bounds_are_feasible, project_columns, pull_back
from factormech.local.optimal.problem import Report, Step, silent
from factormech.local.solved import Solution
from factormech.local.strategy import StrategyMatrix
from factormech.local.strategy_objective import StrategyObjective
from factormech.workloads.base import Workload

# Below, e^ε is 1 up to rounding; above, e^{-ε} is 0 compared with any probability that matters.
SMALLEST_EPSILON, LARGEST_EPSILON = 1e-12, 100.0
# Steps are halved this often at most, in the search and in the long run: far beyond the range of useful ones.
HALVINGS = 400
# Short runs to be completed before the best step is chosen, and the most there will be if smaller steps
# keep winning.
SHORT_RUNS, MOST_SHORT_RUNS = 3, 12
# The largest step of the ladder is 2^FIRST_RUNG / tr G.
FIRST_RUNG = 40


@dataclass(frozen=True)
class OptimisedStrategy:
    """What an optimiser found, and how.

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
        L at the start and after each step of the long run; ∞ where a step left the row space of the workload.
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
    problem = _Problem(objective, a, 1.0 / objective.trace, exact_chain_rule, report)
    return _optimise(problem, Q, iterations)


def inner_ratio(epsilon: float) -> float:
    """The largest ratio allowed between two entries of a row: e^ε, less 2⁻⁴⁶ of it.

    The margin, 64 units in the last place, covers the rounding of the exponential, of the bounds, and of the
    column sums by which a sampler divides.
    """
    if not SMALLEST_EPSILON <= check_epsilon(epsilon) <= LARGEST_EPSILON:
        rule = f"lie between {SMALLEST_EPSILON} and {LARGEST_EPSILON}"
        raise BadValue("epsilon", epsilon, rule, "choose a budget at which floats can hold the strategy")
    return privacy.inner_ratio(epsilon)


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


@dataclass(frozen=True)
class _Problem:
    """What stays the same while Q moves."""

    objective: StrategyObjective
    ratio: float
    unit_step: float
    exact_chain_rule: bool
    report: Report

    def slope(self, gradient: FloatArray, Q: FloatArray, z: FloatArray) -> FloatArray:
        """∇_z L, by the chain rule chosen, times the step of z per step of Q, 1/(n e^ε)."""
        dz = pull_back(gradient, Q, z, self.ratio, multipliers_move=self.exact_chain_rule)
        dz /= self.objective.domain_size * self.ratio
        return dz


class _Memory:
    """Four arrays for the largest number of rows; fewer rows use a contiguous part of each.

    At n = 4096, m = 4n, one array is half a gigabyte: nothing of that size is allocated in a loop.
    """

    def __init__(self, Q: FloatArray) -> None:
        self.columns, size = Q.shape[1], Q.size
        self.current, self.best, self.scratch, self.gradient = (np.empty(size) for _ in range(4))

    def shaped(self, flat: FloatArray, rows: int) -> FloatArray:
        """The first part of an array as the transpose of a rows × columns matrix."""
        matrix: FloatArray = flat[: rows * self.columns].reshape(self.columns, rows)
        return matrix


class _Descent:
    """Algorithm 2 from one strategy with one step size, remembering the best iterate."""

    def __init__(
        self, problem: _Problem, Q: FloatArray, step: float, memory: _Memory, *, stage: str, limit: int
    ) -> None:
        self.problem, self.step, self.memory = problem, step, memory
        self.stage, self.limit = stage, limit
        self.history: list[float] = []
        self.best_objective, self.best_rows = math.inf, Q.shape[0]
        self._place(Q.T)

    @property
    def best(self) -> FloatArray:
        """The best iterate, in memory that the next descent overwrites."""
        return self.memory.shaped(self.memory.best, self.best_rows).T

    def _place(self, T: FloatArray) -> None:
        self.T = self.memory.shaped(self.memory.current, T.shape[1])
        self.T[...] = T
        self.z = self.T.min(axis=0)

    def look(self, *, last: bool = False) -> bool:
        """Evaluate L, and its gradient unless this is the last look; whether L is finite."""
        memory, rows = self.memory, self.z.size
        gradient = None if last else memory.shaped(memory.gradient, rows)
        L = self.problem.objective.evaluate(self.T, memory.shaped(memory.scratch, rows), gradient)
        centred = L - self.problem.objective.constant
        self.problem.report(Step(self.stage, len(self.history), self.limit, centred, 0.0))
        self.history.append(L)
        if self.best_objective > L:
            self.best_objective, self.best_rows = L, rows
            memory.shaped(memory.best, rows)[...] = self.T
        if gradient is not None and math.isfinite(L):
            self.slope = self.problem.slope(gradient.T, self.T.T, self.z)
        return math.isfinite(L)

    def row_minima(self, step: float) -> FloatArray | None:
        """z after a step, or ``None`` if no strategy has such row minima."""
        z = np.clip(self.z - step * self.slope, 0.0, 1.0)
        return z if bounds_are_feasible(z, self.problem.ratio) else None

    def move(self, z: FloatArray, step: float) -> None:
        """Step Q against the gradient, drop the rows without probability, and project onto what z allows."""
        memory = self.memory
        gradient = memory.shaped(memory.gradient, self.z.size)
        gradient *= -step
        self.T += gradient
        kept = np.flatnonzero(z)
        if kept.size < z.size:
            T = memory.shaped(memory.gradient, kept.size)
            np.take(self.T, kept, axis=1, out=T, mode="clip")
            memory.current, memory.gradient = memory.gradient, memory.current
            self.T, z = T, z[kept]
        self.z = z
        project_columns(self.T.T, z, self.problem.ratio, overwrite=True)

    def completes(self, iterations: int) -> bool:
        """Whether a short run at constant step stays feasible to its end."""
        for _ in range(iterations):
            z = self.row_minima(self.step) if self.look() else None
            if z is None:
                return False
            self.move(z, self.step)
        return self.look(last=True)

    def run(self, iterations: int) -> str:
        """The long run; why it stopped."""
        for t in range(iterations):
            if not self.look():
                self.step *= 0.5
                self._place(self.best.T)
                continue
            decay = 0.5 ** (5 * t // iterations)
            z = self._shortened(decay)
            if z is None:
                return "step vanished"
            self.move(z, self.step * decay)
        self.look(last=True)
        return "iterations"

    def _shortened(self, decay: float) -> FloatArray | None:
        """The next z, after halving the step until it is feasible; ``None`` if none is."""
        for _ in range(HALVINGS):
            z = self.row_minima(self.step * decay)
            if z is not None:
                return z
            self.step *= 0.5
        return None


def _optimise(problem: _Problem, Q: FloatArray, iterations: int) -> OptimisedStrategy:
    """Search for a step size, then the long run from the best short run."""
    memory = _Memory(Q)
    step, Q = _search(problem, Q, memory, max(1, iterations // 5))
    descent = _Descent(problem, Q, step, memory, stage="descent", limit=iterations)
    stopped = descent.run(iterations)
    history = np.array(descent.history)
    Q, L = descent.best.copy(order="F"), descent.best_objective
    return OptimisedStrategy(Q, L, history.size - 1, step, stopped, history)


def _search(problem: _Problem, start: FloatArray, memory: _Memory, short: int) -> tuple[float, FloatArray]:
    """The step size whose short run ends lowest, and the best strategy of that run."""
    step = _largest_step(problem, start, memory)
    best_objective, best_step, best = math.inf, step, start
    completed = 0
    for _ in range(HALVINGS):
        descent = _Descent(problem, start, step, memory, stage="step size", limit=short)
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


def _largest_step(problem: _Problem, start: FloatArray, memory: _Memory) -> float:
    """The largest step of the ladder whose first move keeps 1ᵀz feasible."""
    step = problem.unit_step * 2.0**FIRST_RUNG
    descent = _Descent(problem, start, step, memory, stage="step size", limit=0)
    if not descent.look():
        rule = "span the queries (W must lie in the row space of the strategy)"
        raise BadValue("rows of the start", start.shape[0], rule, "ask for more rows, or another start")
    for _ in range(HALVINGS):
        if descent.row_minima(step) is not None:
            break
        step *= 0.5
    return step


@dataclass(frozen=True)
class AdaptivePgd:
    """The registered mechanism: the published optimiser with its published settings, 4n rows unless told."""

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
