r"""The best strategy of all on a small domain, found over every extreme report at once and proved to be the best.

**All extreme reports.** Their moments come from fast transforms. The set S ⊂ {1, …,
n} stands for the report v_S = 1 + (a−1)1_S. With signs s_u = 1 for u ∈ S and −1 elsewhere, t = tanh(ε/2) and π =
n·prior, Σπ = n (π = 1 for the uniform prior),

.. math:: x_S = \frac{n\,v_S}{\pi^\top v_S} = \beta_S (\mathbf 1 + t s), \quad \beta_S = \frac{1}{1 + t\,\pi^\top s/n} .

Only its part ⟂ 1 matters: with U an orthonormal basis of the complement of 1, the *column* of S is

.. math:: \zeta_S = U^\top x_S / t = \beta_S U^\top s .

Products of up to four signs are characters of the group {−1, 1}ⁿ, a product of two being again one: all the moments
Σ_S w_S ζζᵀ and Σ_S w_S svec(ζζᵀ)svec(ζζᵀ)ᵀ are read off Walsh–Hadamard transforms of wβ², wβ³ and wβ⁴, in O(2ⁿn)
operations instead of the O(2ⁿn⁴) of the sums, and the forms ζᵀMζ of all sets are one product of 2^{n/2} × n/2 matrices.

**From weights to a strategy of few outputs.** Columns are pruned and recombined, and the mean is made exactly zero.

**The solver.** Setting: McKenna, Maity, Mazumdar & Miklau (PVLDB 13(11), 2020), as in ``problem.py``: minimise
tr(X_c⁺C) over weights θ of the 2ⁿ − 2 extreme reports v_S. With π = n·prior (π = 1 for the uniform one), p_S =
θ_S(πᵀv_S)/n is the probability of S under the prior, and x_S = nv_S/(πᵀv_S) satisfies Σp_Sx_S = 1 and X =
Σθ_Sv_Sv_Sᵀ/(πᵀv_S) = Σp_Sx_Sx_Sᵀ/n.

**The prior.** Let W answer the queries less their mean under the prior, Wπ = 0: this changes every answer by a constant
times the number of users, which is public, and no variance. The average under the prior of the variance per user is
then Σ_S p_S‖Ve_S‖² − Σπ_u‖We_u‖²/n, and V = WX⁺QᵀD⁻¹, D = Diag(Qπ), minimises the first term under VQ = W as for the
uniform prior, to tr(X⁺WᵀW)/n. As WᵀW = ΠᵀCΠ with Π = I − π1ᵀ/n, and the complement of 1 determines a vector
orthogonal to π, X can be seen from there alone: with U an orthonormal basis of the complement of 1, t = tanh(ε/2) and
the columns ζ_S = Uᵀx_S/t,

.. math:: \operatorname{tr}(X^+W^\top W) = \tfrac n{t^2}\operatorname{tr}(\Xi^+U^\top CU), \qquad
          \Xi = \sum_S p_S\zeta_S\zeta_S^\top, \qquad \sum_S p_S\zeta_S = 0 .

The prior enters only through the scale of the columns, and nothing degenerates at small ε. ``interior.py`` solves this
over all sets, the sums over them being fast transforms: there is no search for violated sets, and none is left out.

**The bound** is that of ``interior.py`` over all sets; in the terms of ``bounds/certificates.py`` it is a Z = TR with a
multiplier λ, repaired by enumeration. T and λ are in the answer's details, so that ``bounds/certificates.py`` can round
them and prove the bound again in exact arithmetic.

**The strategy** is what remains of p after its smallest weights have gone, which the gap must survive, and after the
rest has been recombined: at most n(n+1)/2 outputs are left. Where Ξ of these is singular C lies in its range.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from factormech.arrays import FloatArray, IntArray, check_positive_integer
from factormech.errors import BadValue
from factormech.mechanisms.local.optimal.interior import Interior, minimise
from factormech.mechanisms.local.optimal.problem import BoolArray, Optimised, Problem, Report, Step, silent
from factormech.mechanisms.local.optimal.rows import largest_first, recombined
from factormech.numerics.vectors import packed_squares, places
from factormech.workloads import binary

# All extreme reports.


class AllColumns:
    """ζ_S for every S: set number i holds the types whose bits of i are **not** set, so that s_u = (−1)^{bit u}.

    Parameters
    ----------
    prior_weights
        π, (n,), non-negative, of sum n.
    epsilon
        The budget.
    """

    def __init__(self, prior_weights: FloatArray, epsilon: float) -> None:
        n = len(prior_weights)
        self.basis = complement_basis(n)
        head = n // 2
        self._head, self._tail = signs(head), signs(n - head)
        self.scale = _scale(prior_weights / n, epsilon, self._head, self._tail)

    def __len__(self) -> int:
        return int(self.scale.size)

    def forms(self, M: FloatArray, mu: FloatArray) -> FloatArray:
        """ζᵀMζ + μᵀζ for every set."""
        head, tail, h = self._head, self._tail, self._head.shape[1]
        N, nu = self.basis @ M @ self.basis.T, self.basis @ mu
        values = tail @ (2.0 * N[h:, :h]) @ head.T
        values += np.einsum("vi,vi->v", tail @ N[h:, h:], tail)[:, None]
        values += np.einsum("vi,vi->v", head @ N[:h, :h], head)
        values *= self.scale
        values += (tail @ nu[h:])[:, None]
        values += head @ nu[:h]
        values *= self.scale
        return values.ravel()

    def moments(self, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Σ w ζζᵀ and Σ w ζ."""
        head, tail = self._head, self._tail
        y = weights.reshape(self.scale.shape) * self.scale
        first = np.concatenate([y.sum(axis=0) @ head, y.sum(axis=1) @ tail])
        y *= self.scale
        cross = tail.T @ y @ head
        hh, tt = (head.T * y.sum(axis=0)) @ head, (tail.T * y.sum(axis=1)) @ tail
        second = np.block([[hh, cross.T], [cross, tt]])
        return self.basis.T @ second @ self.basis, self.basis.T @ first

    def squared_moments(self, weights: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Σ w ff', f and f' in {svec(ζζᵀ), ζ}: pairs × pairs, pairs × singles, singles × singles."""
        y = weights.reshape(self.scale.shape) * self.scale**2
        characters = [_transform(y)]
        for _ in range(2):
            y *= self.scale
            characters.append(_transform(y))
        pair, single = self._masks
        B22 = self._lift.T @ characters[2][pair[:, None] ^ pair] @ self._lift
        B21 = self._lift.T @ characters[1][pair[:, None] ^ single] @ self.basis
        B11 = self.basis.T @ characters[0][single[:, None] ^ single] @ self.basis
        return B22, B21, B11

    def start(self) -> FloatArray:
        """Positive weights with Σ p_Sζ_S = 0, by symmetry, and enough on small sets and large ones."""
        n = len(self.basis)
        size = np.bitwise_count(np.arange(len(self)))
        likely = np.array([1.0 / math.sqrt(math.comb(n, k)) for k in range(n + 1)])
        p = likely[size] / self.scale.ravel()
        return np.asarray(p / p.sum())

    def some(self, chosen: IntArray) -> FloatArray:
        """ζ of these sets, (K, n − 1)."""
        s = 1.0 - 2.0 * self._bits(chosen)
        return np.asarray((s @ self.basis) * self.scale.ravel()[chosen, None])

    def supports(self, chosen: IntArray) -> BoolArray:
        """The sets themselves, boolean, (K, n)."""
        return np.asarray(self._bits(chosen) == 0)

    def _bits(self, chosen: IntArray) -> IntArray:
        return np.asarray(np.asarray(chosen)[:, None] >> np.arange(len(self.basis)) & 1)

    @cached_property
    def _masks(self) -> tuple[IntArray, IntArray]:
        single = 1 << np.arange(len(self.basis), dtype=np.int64)
        i, j = np.triu_indices(len(single))
        return single[i] ^ single[j], single

    @cached_property
    def _lift(self) -> FloatArray:
        """From products s_is_j, i ≤ j, to svec(Uᵀss'U)."""
        i, j = np.triu_indices(len(self.basis))
        U, (k, h, w) = self.basis, places(self.basis.shape[1])
        lift = U[i][:, k] * U[j][:, h] + U[j][:, k] * U[i][:, h]
        return np.asarray(lift * w * np.where(i == j, 0.5, 1.0)[:, None])


def complement_basis(n: int) -> FloatArray:
    """U, (n, n − 1): the Helmert basis of the complement of 1."""
    k = np.arange(1, n)
    U = np.where(np.arange(n)[:, None] < k, 1.0, 0.0) - np.where(np.arange(n)[:, None] == k, 1.0, 0.0) * k
    return np.asarray(U / np.sqrt(k * (k + 1.0)))


def signs(length: int) -> FloatArray:
    """All of {1, −1}^length, (2^length, length): row i has (−1)^{bit u of i} at u."""
    bits = np.arange(2**length)[:, None] >> np.arange(length) & 1
    return np.asarray(1.0 - 2.0 * bits)


def _scale(prior: FloatArray, epsilon: float, head: FloatArray, tail: FloatArray) -> FloatArray:
    """β of every set, (2^tail, 2^head), without the cancellation of 1 + tπᵀs/n."""
    low, h = np.exp(-epsilon), head.shape[1]
    inside = (0.5 * (1.0 + tail) @ prior[h:])[:, None] + 0.5 * (1.0 + head) @ prior[:h]
    outside = (0.5 * (1.0 - tail) @ prior[h:])[:, None] + 0.5 * (1.0 - head) @ prior[:h]
    return np.asarray(0.5 * (1.0 + low) / (inside + low * outside))


def _transform(values: FloatArray) -> FloatArray:
    """The Walsh–Hadamard transform of an array over (tail, head), flat, the head's bits the lowest."""
    return np.asarray(binary.transform(binary.transform(values).T.copy()).T.ravel())


# From weights to a strategy of few outputs.

# Shares of the mass that may go with the smallest weights, in units of the gap: the first that keeps the gap is taken.
SHARES = (10.0, 1.0, 0.1, 1e-2, 1e-4, 0.0)
# Eigenvalues of Ξ below this fraction of the largest are rounding.
SINGULAR = 1e-12
# How far R may be from the range of Ξ, relatively.
OUTSIDE = 1e-7
# So many columns are recombined at a time.
SLAB = 8192


def pruned(
    columns: AllColumns, root: FloatArray, weights: FloatArray, gap: float, limit: float
) -> tuple[IntArray, FloatArray, float]:
    """The sets that are kept, their weights and their objective: few sets, with an objective of at most ``limit``.

    If there are none such, those of the least objective that were found; it may be infinite.
    """
    best: tuple[IntArray, FloatArray, float] | None = None
    for share in SHARES:
        chosen = largest_first(weights, share * gap)
        chosen, p = _fewer(columns, chosen, weights[chosen])
        p, objective = balanced(columns.some(chosen), root, p)
        if best is None or objective < best[2]:
            best = chosen, p, objective
        if objective <= limit:
            break
    return best or (np.zeros(0, dtype=np.int64), np.zeros(0), math.inf)


def _fewer(columns: AllColumns, chosen: IntArray, weights: FloatArray) -> tuple[IntArray, FloatArray]:
    """As few columns as can be with the same Ξ, mean and mass."""
    while True:
        parts = np.array_split(np.arange(len(chosen)), -(-len(chosen) // SLAB))
        fewer = np.concatenate([_slab(columns.some(chosen[part]), weights[part]) for part in parts])
        chosen, weights = chosen[fewer > 0.0], fewer[fewer > 0.0]
        if len(parts) == 1:
            return chosen, weights


def _slab(columns: FloatArray, weights: FloatArray) -> FloatArray:
    size = np.maximum(np.linalg.norm(columns, axis=1), 1.0)[:, None]  # up to e^ε
    scaled = columns / size
    features = np.hstack([packed_squares(scaled), scaled / size, 1.0 / size**2])
    return np.asarray(recombined(features, weights * size[:, 0] ** 2) / size[:, 0] ** 2)


def balanced(columns: FloatArray, root: FloatArray, weights: FloatArray) -> tuple[FloatArray, float]:
    """The weights made a distribution with mean zero but for rounding, and tr(RᵀΞ⁺R), infinite outside Ξ's range."""
    p = weights / weights.sum()
    for _ in range(3):
        E, values = range_of((columns.T * p) @ columns)
        # The change of p, the least in mean square relatively to p, that takes the mean to zero.
        change = columns @ (E @ ((E.T @ (p @ columns)) / values))
        if change.max() >= 1.0:
            return p, math.inf
        p = p * (1.0 - change)
        p = p / p.sum()
    E, values = range_of((columns.T * p) @ columns)
    inside = E.T @ root
    if np.linalg.norm(root - E @ inside) > OUTSIDE * np.linalg.norm(root):
        return p, math.inf
    return p, float(np.sum(inside**2 / values[:, None]))


def range_of(X: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Orthonormal eigenvectors and eigenvalues of X ⪰ 0 without those that are zero but for rounding."""
    values, vectors = np.linalg.eigh(X)
    keep = values > SINGULAR * values[-1]
    return np.asarray(vectors[:, keep]), np.asarray(values[keep])


# The solver.

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
