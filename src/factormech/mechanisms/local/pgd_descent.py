r"""One run of the published strategy optimiser, and the projection of its steps.

**The projection.** Every column of a matrix is projected onto {z ≤ q ≤ a·z, 1ᵀq = 1}, with the derivative in z.
Problem 4.1, Proposition 4.2 and Algorithm 1 of McKenna, Maity, Mazumdar & Miklau, "A workload-adaptive mechanism for
linear queries under local differential privacy", PVLDB 13(11), 2020. A strategy Q (m outputs × n user types) is ε-LDP
if and only if, with a = e^ε, every column lies in that set for one common vector z of row minima. The projection of a
column r is

.. math:: q = \operatorname{clip}(r + λ, z, a z), \qquad λ \text{ the root of } f(λ) = \sum_o
          \operatorname{clip}(r_o + λ, z_o, a z_o) = 1.

f is piecewise linear and nondecreasing, so a Newton step taken on the right piece is exact: the paper sorts
the 2m break points to find that piece, here a bracketed Newton iteration finds it in a handful of passes
and no memory.

Layout. Everything works on columns, so they are kept contiguous: the arrays returned are Fortran-ordered,
and the kernels see their transposes, of shape (n, m) in C order.

**One run.** It starts from one strategy, with one step size, at constant or falling steps. What is minimised, how a
step is made and which steps are tried is told in :mod:`factormech.mechanisms.local.adaptive_pgd`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from factormech.arrays import FloatArray, RealArray
from factormech.errors import BadValue
from factormech.mechanisms.local.optimal.problem import Report, Step
from factormech.mechanisms.local.strategy_objective import StrategyObjective

# The projection.

# 1ᵀz may pass 1 (or a·1ᵀz miss it) by this much: rounding of a z that sums to 1 on paper, and no more.
SUM_TOLERANCE = 2.0**-50


def project_columns(points: FloatArray, lower: FloatArray, ratio: float, *, overwrite: bool = False) -> FloatArray:
    r"""Project each column r_u of ``points`` onto {q : z ≤ q ≤ a·z, 1ᵀq = 1}.

    Parameters
    ----------
    points
        R, of shape (m, n); finite.
    lower
        z ≥ 0, of shape (m,), with 1ᵀz ≤ 1 ≤ a·1ᵀz: otherwise the set is empty and ``BadValue`` is raised.
    ratio
        a ≥ 1, for example e^ε.
    overwrite
        Work in the memory of ``points`` if it is Fortran-ordered, and return it.

    Returns
    -------
    Q of shape (m, n), Fortran-ordered. Its entries obey z ≤ q ≤ fl(a·z) exactly, entries on a bound equal
    it exactly, and the exact sums of its columns differ from 1 by a few units in the last place.
    """
    z, a = check_bounds(lower, ratio)
    R = np.asarray(points, dtype=np.float64)
    if R.ndim != 2 or R.shape[0] != z.size:
        remedy = "give one row for each entry of lower"
        raise BadValue("points", R.shape, f"have shape ({z.size}, columns)", remedy)
    from factormech.mechanisms.local import column_kernels

    T = np.ascontiguousarray(R.T) if overwrite else np.array(R.T, order="C")
    if not np.isfinite(T.sum()):
        raise BadValue("points", "an array with NaN or infinity", "be finite", "look for too large a step")
    # No entry of a distribution passes 1: a smaller bound, the same set.
    column_kernels.project(T, z, np.minimum(a * z, 1.0))
    return T.T


def step_columns(points: RealArray, gradient: RealArray, size: float, lower: RealArray, ratio: float) -> None:
    """Take a step against a gradient, in place: R ← Π(R − size·G), for iterates.

    The same set and the same bounds as :func:`project_columns`, but for the last digits of the column sums, which are
    some units in the last place from 1: project what is kept of the iterates once more. Both arrays are
    Fortran-ordered, (m, n), and only read or written in place; all are of double or all of single precision.
    """
    z, a = check_bounds(lower, ratio)
    from factormech.mechanisms.local import column_kernels

    if not math.isfinite(size * max(float(gradient.max()), -float(gradient.min()))):
        raise BadValue("points", "an array with NaN or infinity", "be finite", "look for too large a step")
    column_kernels.step(points.T, gradient.T, size, z, np.minimum(a * z, 1.0))


def pull_back(
    gradient: RealArray,
    projected: RealArray,
    lower: RealArray,
    ratio: float,
    *,
    multipliers_move: bool = True,
) -> FloatArray:
    r"""The chain rule through the projection: ∇_z of a function of Q = Π_z(R), from its gradient in Q.

    In a column with free entries F = {o : z_o < q_o < a z_o}, an entry on its lower (upper) bound moves
    with z_o (with a·z_o), and the multiplier λ moves all free entries alike so that the column still sums
    to 1. With c_o = 1 on the lower bound, a on the upper and 0 between,

    .. math:: \frac{∂L}{∂z_o} = \sum_u c_{ou} (g_{ou} - \bar g_u), \qquad
              \bar g_u = \operatorname{mean}\{g_{ou} : o ∈ F_u\}.

    Adding a constant to a column of the gradient changes nothing, as it must: column sums cannot change. A
    column without free entries has one-sided derivatives only; the mean over all its entries stands in for
    ḡ_u there.

    Parameters
    ----------
    gradient, projected
        ∂L/∂Q and Q, of shape (m, n); no copy is made of Fortran-ordered arrays.
    lower, ratio
        z of shape (m,) and a, the very ones that Q was projected with: bounds are recognised by equality.
    multipliers_move
        ``False`` holds every λ_u fixed: Σ_u c_ou g_ou, without ḡ. This is not the derivative, but what the
        runs published with the paper used.
    """
    from factormech.mechanisms.local import column_kernels

    a = float(ratio)
    G, T = np.ascontiguousarray(gradient.T), np.ascontiguousarray(projected.T)
    out = np.zeros(lower.size)
    column_kernels.pull_back(G, T, lower, a * lower, a, multipliers_move, out)
    return out


def bounds_are_feasible(lower: RealArray, ratio: float) -> bool:
    """Return whether a column with z ≤ q ≤ a·z and 1ᵀq = 1 exists: 1ᵀz ≤ 1 ≤ a·1ᵀz (up to ``SUM_TOLERANCE``)."""
    total = math.fsum(lower)
    return total <= 1.0 + SUM_TOLERANCE and ratio * total >= 1.0 - SUM_TOLERANCE


def check_bounds(lower: RealArray, ratio: float) -> tuple[RealArray, float]:
    """Return z as a contiguous float array and a as a float, or say which rule they break. Singles stay singles."""
    given = np.asarray(lower)
    z: RealArray = np.ascontiguousarray(given, dtype=np.float32 if given.dtype == np.float32 else np.float64)
    a = float(ratio)
    if not (math.isfinite(a) and a >= 1):
        raise BadValue("ratio", ratio, "be finite and at least 1", "give exp(epsilon)")
    if z.ndim != 1 or not np.all(np.isfinite(z)) or np.any(z < 0):
        raise BadValue("lower", lower, "be a vector of finite numbers, none negative", "clip it at 0")
    if not bounds_are_feasible(z, a):
        remedy = "take a smaller step in lower, or rescale it"
        raise BadValue("sum(lower)", math.fsum(z), f"lie between 1/ratio = {1 / a:.6g} and 1", remedy)
    return z, a


# One run.

# Steps are halved this often at most, in the search and in the long run: far beyond the range of useful ones.
HALVINGS = 400
# Iterates are of single precision from so many entries on, where it is worth it; for ratios from this one on, at which
# singles tell the entries of a row apart to a millionth of their range; and for workloads of such ‖W‖_F², with which no
# gradient overflows.
SINGLE_FROM, SINGLE_RATIO, SINGLE_TRACES = 2**13, 1.05, (1e-12, 1e12)


@dataclass(frozen=True)
class DescentProblem:
    """The quantities that stay the same while Q moves."""

    objective: StrategyObjective
    ratio: float
    unit_step: float
    exact_chain_rule: bool
    report: Report

    def precision(self, entries: int) -> type[np.float32 | np.float64]:
        """Return the float type of iterates with so many entries."""
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
        problem: DescentProblem,
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
        """Return the result of the last look."""
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
        """Return whether a short run at constant step stays feasible to its end."""
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
