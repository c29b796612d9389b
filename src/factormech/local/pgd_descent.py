"""One run of the published strategy optimiser: from one strategy with one step size, at constant or falling steps.

What is minimised, how a step is made and which steps are tried is told in :mod:`factormech.local.adaptive_pgd`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from factormech.arrays import FloatArray, RealArray
from factormech.local.bounded_simplex import bounds_are_feasible, pull_back, step_columns
from factormech.local.optimal.problem import Report, Step
from factormech.local.strategy_objective import StrategyObjective

# Steps are halved this often at most, in the search and in the long run: far beyond the range of useful ones.
HALVINGS = 400
# Iterates are of single precision from so many entries on, where it is worth it; for ratios from this one on, at which
# singles tell the entries of a row apart to a millionth of their range; and for workloads of such ‖W‖_F², with which no
# gradient overflows.
SINGLE_FROM, SINGLE_RATIO, SINGLE_TRACES = 2**13, 1.05, (1e-12, 1e12)


@dataclass(frozen=True)
class Problem:
    """What stays the same while Q moves."""

    objective: StrategyObjective
    ratio: float
    unit_step: float
    exact_chain_rule: bool
    report: Report

    def precision(self, entries: int) -> type[np.float32 | np.float64]:
        """Of iterates with so many entries."""
        least, most = SINGLE_TRACES
        fits = self.ratio >= SINGLE_RATIO and least <= self.objective.trace <= most
        return np.float32 if entries >= SINGLE_FROM and fits else np.float64

    def slope(self, gradient: RealArray, Q: RealArray, z: RealArray) -> FloatArray:
        """∇_z L, by the chain rule chosen, times the step of z per step of Q, 1/(n e^ε)."""
        dz = pull_back(gradient, Q, z, self.ratio, multipliers_move=self.exact_chain_rule)
        dz /= self.objective.domain_size * self.ratio
        return dz


class Memory:
    """Four arrays for the largest number of rows; fewer rows use a contiguous part of each.

    At n = 4096, m = 4n, one array is a quarter of a gigabyte: nothing of that size is allocated in a loop.
    """

    def __init__(self, Q: FloatArray, precision: type[np.float32 | np.float64]) -> None:
        self.columns, size = Q.shape[1], Q.size
        self.current, self.best, self.scratch, self.gradient = (np.empty(size, precision) for _ in range(4))

    def shaped(self, flat: RealArray, rows: int) -> RealArray:
        """The first part of an array as the transpose of a rows × columns matrix."""
        matrix: RealArray = flat[: rows * self.columns].reshape(self.columns, rows)
        return matrix


@dataclass(frozen=True)
class Looked:
    """What a look at a strategy found, for descents that begin there: L, its gradient, transposed, and z's slope."""

    objective: float
    gradient: RealArray
    slope: FloatArray


class Descent:
    """Algorithm 2 from one strategy with one step size, remembering the best iterate."""

    def __init__(
        self,
        problem: Problem,
        Q: RealArray,
        step: float,
        memory: Memory,
        *,
        stage: str,
        limit: int,
        known: Looked | None = None,
    ) -> None:
        self.problem, self.step, self.memory, self.known = problem, step, memory, known
        self.stage, self.limit = stage, limit
        self.history: list[float] = []
        self.best_objective, self.best_rows = math.inf, Q.shape[0]
        self._place(Q.T)

    @property
    def best(self) -> RealArray:
        """The best iterate, in memory that the next descent overwrites."""
        return self.memory.shaped(self.memory.best, self.best_rows).T

    def _place(self, T: RealArray) -> None:
        self.T = self.memory.shaped(self.memory.current, T.shape[1])
        self.T[...] = T
        self.z = self.T.min(axis=0)

    def look(self, *, last: bool = False) -> bool:
        """Evaluate L, and its gradient unless this is the last look; whether L is finite."""
        memory, rows = self.memory, self.z.size
        L = self._evaluate(None if last else memory.shaped(memory.gradient, rows))
        centred = L - self.problem.objective.constant
        self.problem.report(Step(self.stage, len(self.history), self.limit, centred, 0.0))
        self.history.append(L)
        if self.best_objective > L:
            self.best_objective, self.best_rows = L, rows
            memory.shaped(memory.best, rows)[...] = self.T
        return math.isfinite(L)

    def _evaluate(self, gradient: RealArray | None) -> float:
        """L, its gradient and the slope of z; those of the first strategy may be known."""
        known, self.known = self.known, None
        if known is not None and gradient is not None:
            gradient[...], self.slope = known.gradient, known.slope
            return known.objective
        scratch = self.memory.shaped(self.memory.scratch, self.z.size)
        L = self.problem.objective.evaluate(self.T, scratch, gradient)
        if gradient is not None and math.isfinite(L):
            self.slope = self.problem.slope(gradient.T, self.T.T, self.z)
        return L

    def looked(self) -> Looked:
        """What the last look found."""
        gradient = self.memory.shaped(self.memory.gradient, self.z.size)
        return Looked(self.history[-1], gradient.copy(), self.slope)

    def row_minima(self, step: float) -> RealArray | None:
        """z after a step, or ``None`` if no strategy has such row minima."""
        z: RealArray = np.clip(self.z - step * self.slope, 0.0, 1.0).astype(self.T.dtype)
        return z if bounds_are_feasible(z, self.problem.ratio) else None

    def move(self, z: RealArray, step: float) -> None:
        """Step Q against the gradient, drop the rows without probability, and project onto what z allows."""
        memory = self.memory
        gradient = memory.shaped(memory.gradient, self.z.size)
        kept = np.flatnonzero(z)
        if kept.size == z.size:
            step_columns(self.T.T, gradient.T, step, z, self.problem.ratio)
        else:
            # The strategy moves to the scratch before its own memory takes the gradient.
            T, G = memory.shaped(memory.scratch, kept.size), memory.shaped(memory.current, kept.size)
            np.take(self.T, kept, axis=1, out=T, mode="clip")
            np.take(gradient, kept, axis=1, out=G, mode="clip")
            memory.current, memory.scratch = memory.scratch, memory.current
            self.T, z = T, z[kept]
            step_columns(self.T.T, G.T, step, z, self.problem.ratio)
        self.z = z

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

    def _shortened(self, decay: float) -> RealArray | None:
        """The next z, after halving the step until it is feasible; ``None`` if none is."""
        for _ in range(HALVINGS):
            z = self.row_minima(self.step * decay)
            if z is not None:
                return z
            self.step *= 0.5
        return None
