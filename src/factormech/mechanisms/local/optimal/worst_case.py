r"""The strategy whose worst-case variance is the least of all, and a prior that proves it.

Setting: McKenna, Maity, Mazumdar & Miklau (PVLDB 13(11), 2020), as in ``exact.py``. With C = RRᵀ a user of type u adds
the variance Σ_S θ_Sv_S(u)‖V_S‖² − C_uu to the answers, VQ = Rᵀ. In p and U_S = p_SV_S, with the columns ζ_S of the
uniform prior, x_S = 1 + tUζ_S, and e_S ≥ ‖U_S‖²/p_S, the least worst case is a second-order cone program,

.. math:: \min \tau: \quad \sum_S x_S(u)\,e_S - C_{uu} \le \tau \;\forall u, \quad
          \sum_S U_S\zeta_S^\top = R^\top U/t,\; \sum_S U_S = 0, \quad \sum_S p_S\zeta_S = 0,\; \sum_S p_S = 1 .

It is convex in (p, U, e), so minimax holds: the multipliers x of its first constraints are a prior under which no
strategy has a smaller *average* variance than τ. Hence the method: solve the program over some columns; at its prior,
solve for the best average over all columns (``exact.py``), which is a lower bound on every strategy's worst case, valid
whatever the prior; add the columns that this solution uses; repeat. At the maximising prior few columns are enough:
there ‖RᵀΞ⁻¹ζ_S‖² is linear in ζ_S over all sets in use (``interior.py``), so that the variance of every type depends on
Ξ alone, which is unique where C has rank n − 1.

**The reconstruction** for the worst case is, at the maximising prior, the one that is best on average under it,

.. math:: b_S = U\,\Xi^{-1}\zeta_S/t + Px , \qquad \sum_S Q_{Su}b_S = P e_u ,

with ζ and Ξ those of the prior x: not the one of ``StrategyMatrix``, which is best under the uniform prior. Near that
prior its worst case is off by the first order of the distance, so the program's own U_S/p_S are tried beside it.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass

import numpy as np

from factormech.arrays import FloatArray, IntArray, check_positive_integer
from factormech.errors import BadValue
from factormech.mechanisms.local.optimal.exact import DOMAIN_LIMIT, ReducedProblem, balanced, pruned, range_of, trivial
from factormech.mechanisms.local.optimal.interior import minimise
from factormech.mechanisms.local.optimal.problem import Optimised, Problem, Report, Step, Stopped, silent

# Beside its few outputs a solution under a prior adds its largest weights, this many times n; 16 times more when stuck.
ADDED = 4
# Columns whose weight is below this fraction of the mass are dropped from the answer.
DROPPED = 1e-9
# Columns of at least this share of the mass stay in the program; it is slow to solve with more, and no better.
ACTIVE = 1e-6
# Without a gap below this share of that of so many programs before, rounding has the last word.
PROGRESS, PATIENCE = 0.9, 2
# What the program is solved to, in its own units; where rounding prevents that, the certificate judges.
TOLERANCE = 1e-9
# A prior keeps this much of the uniform one, so that no type is without weight.
UNIFORM_SHARE = 1e-9
INNER_ITERATIONS = 200


def solve_worst_case(
    problem: Problem,
    *,
    gap: float = 1e-6,
    iteration_limit: int = 30,
    lower_bound: float = -math.inf,
    report: Report = silent,
) -> Optimised:
    """The strategy and reconstruction of least worst-case variance, n ≤ 20; the problem has no prior of its own.

    The objective is n·(worst-case variance per user) + tr C, which is the objective of ``exact.solve`` where all types
    have the same variance; the lower bound is in the same terms, so ``gap`` compares with that of averages.
    ``lower_bound`` is one that is known of the average under the uniform prior.

    Returns
    -------
    Optimised
        ``details`` has ``prior`` x, (n,), under which no unbiased linear strategy has a smaller average variance than
        the bound (unless ``lower_bound`` is better); ``dual`` and ``multiplier`` of ``exact.solve``, which prove it;
        ``reconstruction`` B, (n, m): the centred data vector is estimated by By, as in ``StrategyMatrix``;
        and ``variance``, (n,), of a user of each type under it.
    """
    if problem.prior is not None:
        raise BadValue("prior", "given", "be None", "the worst case chooses its own prior; use exact.solve")
    if problem.domain_size > DOMAIN_LIMIT:
        raise BadValue("domain_size", problem.domain_size, f"be at most {DOMAIN_LIMIT}", "bound the average instead")
    if not (math.isfinite(gap) and gap > 0.0):
        raise BadValue("gap", gap, "be a finite number above 0", "give for example 1e-6")
    check_positive_integer("iteration_limit", iteration_limit)
    if ReducedProblem.of(problem) is None:
        return trivial(problem)
    return _PriorSearch(problem, gap, lower_bound).run(iteration_limit, report)


@dataclass(frozen=True)
class Play:
    """A strategy with its reconstruction, and the worst case they have."""

    sets: IntArray
    weights: FloatArray
    reconstruction: FloatArray
    variance: FloatArray
    objective: float


class _PriorSearch:
    """The alternation: a program over some columns, and the best reply to its prior over all of them."""

    def __init__(self, problem: Problem, gap: float, lower_bound: float) -> None:
        self.problem, self.gap, n = problem, gap, problem.domain_size
        self.C, self.t = problem.centred_gram, math.tanh(problem.epsilon / 2.0)
        self.trace, self.unit = float(np.trace(self.C)), 1.0
        self.bound, self.prior = lower_bound, np.full(n, 1.0 / n)
        self.proved, self.dual, self.multiplier = -math.inf, np.zeros((n, n)), np.zeros(n)
        self.best: Play | None = None
        self.added = ADDED
        self.uniform = self._reduced(self.prior)

    def run(self, limit: int, report: Report) -> Optimised:
        """Alternate until the gap is reached."""
        stopped: Stopped = "iteration_limit"
        sets, iteration = self._reply(self.prior), 0
        self.unit = self.bound / self.uniform.scale  # so that the program's numbers are near 1
        gaps: list[float] = []
        for iteration in range(1, limit + 1):
            program = self._program(sets)
            if program is None:
                stopped = "stalled"
                break
            p, x, answers = program
            self._see(sets, p, x, answers)
            reply = self._reply(x)
            objective = self.best.objective if self.best else math.inf
            report(Step("worst case", iteration, limit, objective, self.bound))
            gaps.append(objective / self.bound - 1.0)
            if gaps[-1] <= self.gap:
                stopped = "gap"
                break
            if len(gaps) > PATIENCE and not gaps[-1] < PROGRESS * gaps[-1 - PATIENCE]:
                stopped = "stalled"
                break
            if not len(np.setdiff1d(reply, sets)):
                if self.added > ADDED:
                    stopped = "stalled"
                    break
                self.added = 16 * ADDED
            sets = np.union1d(sets[p > ACTIVE * p.sum()], reply)
        return self._answer(iteration, stopped)

    def _reduced(self, x: FloatArray) -> ReducedProblem:
        found = ReducedProblem.of(Problem(self.C, self.problem.epsilon, x))
        assert found is not None  # C is not zero
        return found

    def _reply(self, x: FloatArray) -> IntArray:
        """The columns that the best strategy on average under x uses; its bound is taken note of."""
        reduced, n = self._reduced(x), len(x)
        found = minimise(
            reduced.columns,
            reduced.root,
            reduced.columns.start(),
            gap=0.1 * self.gap,
            iteration_limit=INNER_ITERATIONS,
            report=silent,
        )
        # n·(average variance under x) + tr C; the queries centred under x have Σx_u‖We_u‖² = xᵀdiag C − xᵀCx.
        own = n * float(x @ np.diagonal(self.C) - x @ self.C @ x)
        bound = n * reduced.scale / self.t**2 * found.lower_bound - own + self.trace
        if bound > self.proved:
            self.proved, self.prior = bound, x
            self.dual, self.multiplier = reduced.certificate(found)
            self.bound = max(self.bound, bound)
        within = (1.0 + self.gap) * max(found.objective, found.lower_bound)
        few, p, _ = pruned(reduced.columns, reduced.root, found.weights, 0.1 * self.gap, within)
        ratio = reduced.columns.scale.ravel()[few] / self.uniform.columns.scale.ravel()[few]
        self._see(few, p * ratio, x)
        heavy = np.argsort(-found.weights, kind="stable")[: self.added * n]
        return np.union1d(few, heavy[found.weights[heavy] > DROPPED])

    def _program(self, sets: IntArray) -> tuple[FloatArray, FloatArray, FloatArray] | None:
        """p, x and the U_S of the program over these columns, (rank, K); None where its solver fails."""
        import cvxpy as cp

        n, zeta, basis = len(self.C), self.uniform.columns.some(sets), self.uniform.columns.basis
        R = self.uniform.root / math.sqrt(self.unit / n) / self.t  # UᵀR/t in the program's units
        own = np.diagonal(self.C) / (self.uniform.scale * self.unit / n)
        p, e, U = cp.Variable(len(sets)), cp.Variable(len(sets)), cp.Variable((R.shape[1], len(sets)))
        tau, x = cp.Variable(), 1.0 + self.t * zeta @ basis.T
        types = x.T @ e - own <= tau
        constraints = [
            types,
            cp.SOC(p + e, cp.vstack([2.0 * U, cp.reshape(p - e, (1, len(sets)), order="F")]), axis=0),
            U @ zeta == R.T,
            cp.sum(U, axis=1) == 0.0,
            p @ zeta == 0.0,
            cp.sum(p) == 1.0,
        ]
        program = cp.Problem(cp.Minimize(tau), constraints)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # "inaccurate" is for the certificate to judge
            try:
                program.solve(solver=cp.CLARABEL, tol_gap_rel=TOLERANCE, tol_gap_abs=TOLERANCE, tol_feas=TOLERANCE)
            except cp.error.SolverError:
                return None
        if p.value is None or U.value is None or types.dual_value is None:
            return None
        prior = np.maximum(np.asarray(types.dual_value), 0.0)
        prior = (1.0 - UNIFORM_SHARE) * prior / prior.sum() + UNIFORM_SHARE / n
        answers = np.asarray(U.value) * math.sqrt(self.uniform.scale * self.unit / n)
        return np.maximum(np.asarray(p.value), 0.0), prior / prior.sum(), answers

    def _see(self, sets: IntArray, p: FloatArray, x: FloatArray, answers: FloatArray | None = None) -> None:
        """The worst case of these weights: with the reconstruction that is best under x, and with ``answers``."""
        keep = p > DROPPED * p.sum()
        sets, given, reduced = sets[keep], p[keep], self._reduced(x)
        ratio = self.uniform.columns.scale.ravel()[sets] / reduced.columns.scale.ravel()[sets]
        zeta, U, n = reduced.columns.some(sets), reduced.columns.basis, len(x)
        p, objective = balanced(zeta, reduced.root, given * ratio)
        if not math.isfinite(objective):
            return
        E, values = range_of((zeta.T * p) @ zeta)
        B = U @ (E @ ((E.T @ zeta.T) / values[:, None])) / self.t + (x - 1.0 / n)[:, None]
        theta = 2.0 * p * reduced.columns.scale.ravel()[sets] / (math.exp(self.problem.epsilon) + 1.0)
        Q = theta[:, None] * np.where(reduced.columns.supports(sets), math.exp(self.problem.epsilon), 1.0)
        F = math.sqrt(reduced.scale) * reduced.root.T @ U.T
        self._keep_if_better(sets, theta, Q, F, B)
        if answers is not None:
            # VQ = F but for the solver's tolerance; what is missing is answered by B and a constant, and V = F(F⁺V).
            V = answers[:, keep] / given
            missing = F - V @ Q
            V = V + missing @ B + missing.mean(axis=1, keepdims=True)
            self._keep_if_better(sets, theta, Q, F, np.linalg.pinv(F) @ V)

    def _keep_if_better(self, sets: IntArray, theta: FloatArray, Q: FloatArray, F: FloatArray, B: FloatArray) -> None:
        # Σ_o Q_ou‖F(b_o − e_u)‖², FᵀF = C: nothing cancels where the variance is far below C_uu.
        misses = np.square((F @ B)[:, :, None] - F[:, None, :]).sum(axis=0)
        variance = np.einsum("ou,ou->u", Q, misses)
        worst = len(variance) * float(variance.max()) + self.trace
        if self.best is None or worst < self.best.objective:
            self.best = Play(sets, theta, B, variance, worst)

    def _answer(self, iterations: int, stopped: Stopped) -> Optimised:
        best = self.best
        if best is None:
            raise BadValue("gap", self.gap, "be reachable", "no strategy was found; scale the workload")
        details: dict[str, object] = {
            "prior": self.prior,
            "dual": self.dual,
            "multiplier": self.multiplier,
            "reconstruction": best.reconstruction,
            "variance": best.variance,
        }
        supports = self.uniform.columns.supports(best.sets)
        return Optimised(supports, best.weights, best.objective, self.bound, iterations, stopped, details)
