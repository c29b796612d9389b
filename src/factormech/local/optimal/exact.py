r"""The best strategy of all on a small domain, found over every extreme report at once and proved to be the best.

Setting: McKenna, Maity, Mazumdar & Miklau (PVLDB 13(11), 2020), as in ``problem.py``: minimise tr(X_c⁺C) over weights
θ of the 2ⁿ − 2 extreme reports v_S. With π = n·prior (π = 1 for the uniform one), p_S = θ_S(πᵀv_S)/n is the probability
of S under the prior, and x_S = nv_S/(πᵀv_S) satisfies Σp_Sx_S = 1 and X = Σθ_Sv_Sv_Sᵀ/(πᵀv_S) = Σp_Sx_Sx_Sᵀ/n.

**The prior.** Let W answer the queries less their mean under the prior, Wπ = 0: this changes every answer by a constant
times the number of users, which is public, and no variance. The average under the prior of the variance per user is
then Σ_S p_S‖Ve_S‖² − Σπ_u‖We_u‖²/n, and V = WX⁺QᵀD⁻¹, D = Diag(Qπ), minimises the first term under VQ = W as for the
uniform prior, to tr(X⁺WᵀW)/n. As WᵀW = ΠᵀCΠ with Π = I − π1ᵀ/n, and the complement of 1 determines a vector
orthogonal to π, X can be seen from there alone: with U an orthonormal basis of the complement of 1, t = tanh(ε/2) and
the columns ζ_S = Uᵀx_S/t of ``corners.py``,

.. math:: \operatorname{tr}(X^+W^\top W) = \tfrac n{t^2}\operatorname{tr}(\Xi^+U^\top CU), \qquad
          \Xi = \sum_S p_S\zeta_S\zeta_S^\top, \qquad \sum_S p_S\zeta_S = 0 .

The prior enters only through the scale of the columns, and nothing degenerates at small ε. ``interior.py`` solves this
over all sets, the sums over them being fast transforms: there is no search for violated sets, and none is left out.

**The bound** is that of ``interior.py`` over all sets; in the terms of ``bounds/certificate.py`` it is a Z = TR with a
multiplier λ, repaired by enumeration. T and λ are in the answer's details, so that ``bounds/rational.py`` can round
them and prove the bound again in exact arithmetic.

**The strategy** is what remains of p after its smallest weights have gone, which the gap must survive, and after the
rest has been recombined: at most n(n+1)/2 outputs are left. Where Ξ of these is singular C lies in its range.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from factormech.arrays import FloatArray, check_positive_integer
from factormech.errors import BadValue
from factormech.local.optimal.corners import AllColumns
from factormech.local.optimal.exact_pruning import pruned
from factormech.local.optimal.interior import Interior, minimise
from factormech.local.optimal.problem import BoolArray, Optimised, Problem, Report, Step, silent

# 2^n sets are held in a dozen arrays at once.
DOMAIN_LIMIT = 20
# The interior point method leaves this part of the gap to the pruning.
SEARCH_SHARE = 0.5
# Eigenvalues of C below this fraction of the largest are rounding.
NEGLIGIBLE = 1e-13


def solve(
    problem: Problem,
    rng: np.random.Generator,
    *,
    gap: float = 1e-6,
    iteration_limit: int = 200,
    starts: Sequence[tuple[BoolArray, FloatArray]] = (),
    report: Report = silent,
) -> Optimised:
    """The best strategy for ``problem``, n ≤ 20, to the relative ``gap``.

    The objective is tr(X⁺WᵀW) of the module: n times the average under the prior of the variance per user, plus
    Σπ_uG_uu with the queries centred under the prior. For the uniform prior it is tr(X_c⁺C).

    Parameters
    ----------
    problem
        The workload, the budget and the prior.
    rng, starts
        What other optimisers begin with; this one needs neither, and its answer does not depend on them.
    gap
        When to stop. Below about 1e-7 rounding may prevent it for workloads of low rank.
    iteration_limit
        Of the interior point method, which takes ten to eighty.
    report
        Told of every iteration.

    Returns
    -------
    Optimised
        ``details`` has ``dual`` T, (n, n), and ``multiplier`` λ, (n,): 1ᵀT = 0, vᵀTCTᵀv ≤ (λᵀv)(πᵀv) for all extreme v,
        and ``lower_bound`` = tr(TC)²/1ᵀλ.
    """
    del rng, starts
    n = problem.domain_size
    if n > DOMAIN_LIMIT:
        raise BadValue("domain_size", n, f"be at most {DOMAIN_LIMIT}", "use an optimiser for large domains")
    if not (math.isfinite(gap) and gap > 0.0):
        raise BadValue("gap", gap, "be a finite number above 0", "give for example 1e-6")
    check_positive_integer("iteration_limit", iteration_limit)
    reduced = ReducedProblem.of(problem)
    if reduced is None:
        return trivial(problem)
    found = minimise(
        reduced.columns,
        reduced.root,
        reduced.columns.start(),
        gap=SEARCH_SHARE * gap,
        iteration_limit=iteration_limit,
        report=lambda step: report(reduced.told(step)),
    )
    return reduced.answer(found, gap)


@dataclass(frozen=True)
class ReducedProblem:
    """The problem on the complement of 1.

    Attributes
    ----------
    columns
        ζ_S.
    root
        UᵀR, of full column rank, scaled to ‖UᵀR‖_F = 1.
    prior_weights
        π.
    scale
        tr C.
    """

    columns: AllColumns
    root: FloatArray
    prior_weights: FloatArray
    scale: float
    epsilon: float

    @classmethod
    def of(cls, problem: Problem) -> ReducedProblem | None:
        """The problem reduced; None where every strategy is as good as any, C being zero."""
        C, n = problem.centred_gram, problem.domain_size
        scale = float(np.trace(C))
        if n == 1 or scale <= 0.0:
            return None
        prior = np.ones(n) if problem.prior is None else n * problem.prior / problem.prior.sum()
        columns = AllColumns(prior, problem.epsilon)
        values, vectors = np.linalg.eigh(columns.basis.T @ (C / scale) @ columns.basis)
        keep = values > NEGLIGIBLE * values[-1]
        root = vectors[:, keep] * np.sqrt(values[keep])
        return cls(columns, root, prior, scale, problem.epsilon)

    @property
    def unit(self) -> float:
        """What one is worth of the objective in ζ, in the problem's own terms."""
        return len(self.prior_weights) * self.scale / math.tanh(self.epsilon / 2.0) ** 2

    def told(self, step: Step) -> Step:
        """News of the reduced problem in the problem's own terms."""
        return replace(step, objective=self.unit * step.objective, lower_bound=self.unit * step.lower_bound)

    def answer(self, found: Interior, gap: float) -> Optimised:
        """The strategy of few outputs, and everything in the problem's own terms."""
        reached = found.objective / found.lower_bound - 1.0
        limit = (1.0 + max(gap, reached + SEARCH_SHARE * gap)) * found.lower_bound
        chosen, p, objective = pruned(self.columns, self.root, found.weights, gap, limit)
        # θ = np/(πᵀv), and β = (a + 1)n/(2πᵀv).
        theta = 2.0 * p * self.columns.scale.ravel()[chosen] / (math.exp(self.epsilon) + 1.0)
        stopped = found.stopped
        if stopped == "gap" and objective > (1.0 + gap) * found.lower_bound:
            stopped = "stalled"
        unit = self.unit
        dual, multiplier = self.certificate(found)
        return Optimised(
            supports=self.columns.supports(chosen),
            weights=theta,
            objective=unit * objective,
            lower_bound=unit * found.lower_bound,
            iterations=found.iterations,
            stopped=stopped,
            details={"dual": dual, "multiplier": multiplier},
        )

    def certificate(self, found: Interior) -> tuple[FloatArray, FloatArray]:
        """T and λ: T maps the workload's root to U·Z, and λ is κ and μ in terms of v."""
        n, t, U, Z = len(self.prior_weights), math.tanh(self.epsilon / 2.0), self.columns.basis, found.dual
        T = U @ (Z @ np.linalg.pinv(self.root)) @ U.T
        kappa = float(self.columns.forms(Z @ Z.T, found.multiplier).max())
        return T, self.scale * t * (t * kappa * self.prior_weights / n - U @ found.multiplier) / n


def trivial(problem: Problem) -> Optimised:
    """One output, which everybody reports: the queries' answers are the same for all types."""
    n = problem.domain_size
    details: dict[str, object] = {"dual": np.zeros((n, n)), "multiplier": np.zeros(n)}
    theta = np.array([math.exp(-problem.epsilon)])
    return Optimised(np.ones((1, n), dtype=bool), theta, 0.0, 0.0, 0, "gap", details)
