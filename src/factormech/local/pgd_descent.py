"""One run of the published strategy optimiser: from one strategy with one step size, at constant or falling steps.

What is minimised, how a step is made and which steps are tried is told in :mod:`factormech.local.adaptive_pgd`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from factormech.arrays import FloatArray
from factormech.local.bounded_simplex import bounds_are_feasible, project_columns, pull_back, step_columns
from factormech.local.optimal.problem import Report, Step
from factormech.local.strategy_objective import StrategyObjective

# Steps are halved this often at most, in the search and in the long run: far beyond the range of useful ones.
HALVINGS = 400
# From so many entries on, the largest product of a gradient is of single precision; L, bounds and steps never are.
SINGLE_FROM = 2**17


@dataclass(frozen=True)
class Problem:
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


class Memory:
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


class Descent:
    """Algorithm 2 from one strategy with one step size, remembering the best iterate."""

    def __init__(self, problem: Problem, Q: FloatArray, step: float, memory: Memory, *, stage: str, limit: int) -> None:
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
        scratch, single = memory.shaped(memory.scratch, rows), self.T.size >= SINGLE_FROM
        L = self.problem.objective.evaluate(self.T, scratch, gradient, single=single)
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
        kept = np.flatnonzero(z)
        if kept.size == z.size:
            step_columns(self.T.T, gradient.T, step, z, self.problem.ratio)
        else:
            gradient *= -step
            self.T += gradient
            T = memory.shaped(memory.gradient, kept.size)
            np.take(self.T, kept, axis=1, out=T, mode="clip")
            memory.current, memory.gradient = memory.gradient, memory.current
            self.T, z = T, z[kept]
            project_columns(self.T.T, z, self.problem.ratio, overwrite=True)
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

    def _shortened(self, decay: float) -> FloatArray | None:
        """The next z, after halving the step until it is feasible; ``None`` if none is."""
        for _ in range(HALVINGS):
            z = self.row_minima(self.step * decay)
            if z is not None:
                return z
            self.step *= 0.5
        return None
