r"""Where mechanisms come from: for each name of the registry the function that makes its factors or its release.

Each takes the ``FactorRequest`` and returns factorizations to choose from (a list, or a function that looks for the
best), a finished ``LocalRelease``, or ``Unavailable`` with the reason.

**Polynomials** answer marginals and conjunctions: the upper bound beside Corollary 6 of Edmonds, Nikolov & Ullman
(2020).

A query asks whether all of w literals hold. With z_i = ±1 for a literal that holds or not, and s of them true, it is
[s = w], and a polynomial Σ_t f_t e_t(z) in the elementary symmetric functions of z that is within a of it at
s = 0, …, w answers it to a (Thaler, Ullman & Vadhan, ICALP 2012). e_t(z) is a sum of parities of t attributes, up to
signs, so W̃ = RA + c1ᵀ: a row of A for every parity of 1 to w attributes, ω_t χ_T(u), and entries ±f_t/ω_t in R; f₀ is
the shift. At s true literals e_t is the Krawtchouk number κ_t(s) = Σ_i (−1)^i C(w−s, i) C(s, t−i).

*The least degree*: for each degree the best uniform polynomial is a linear program, and its error is the distance.

*The least norm.* With ω_t² ∝ |f_t|√(C(w, t)/C(d, t)) the product of the norms is

.. math:: \|R\|_{2\to\infty}\|A\|_{1\to2} = \sum_{t\ge1} \sqrt{\tbinom dt \tbinom wt}\;|f_t| .

For all marginals of one width w this sum, minimised over f, *is* γ̂₂(W, a). Proof: flips and permutations of attributes
act transitively on queries and on types, and the mean over the group of an optimal W̃ is as good and invariant: a
function of s, so Σ f_tM_t, M_t = Σ_{|T|=t} r_Tχ_Tᵀ with (r_T) orthogonal; for a transitive group γ₂ is the trace norm
over √(kN), and r_Tχ_Tᵀ has the singular value √(N·k·C(w,t)/C(d,t)), for each of C(d, t) sets T. So the best a for
accuracy α, min over a and f of the sum over (α − a), is one linear program too: with z = 1/(α − a) (Charnes & Cooper)
and f' = zf, minimise the sum of f' subject to |Σ f'_tκ_t(s) − z[s = w]| ≤ αz − 1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import comb
from typing import TypeAlias

import numpy as np

from factormech.arrays import FloatArray, IntArray, check_dense_size
from factormech.errors import BadValue, Unavailable
from factormech.mechanisms.local.factorized import releases
from factormech.mechanisms.local.factorized.factors import (
    LocalFactorization,
    Tried,
    best_distance,
    factorization,
    fewest_users,
    norm_at,
)
from factormech.mechanisms.local.factorized.release import LocalRelease
from factormech.mechanisms.local.factorized.releases import AdditiveRelease, OneQuery, StrategyRelease
from factormech.mechanisms.local.strategy import StrategyMatrix
from factormech.norms.certified import CertifiedNorm
from factormech.norms.subsets.marginals import krawtchouk
from factormech.workloads import binary
from factormech.workloads.base import Workload
from factormech.workloads.binary import popcounts
from factormech.workloads.conjunctions import Conjunctions
from factormech.workloads.marginals import Marginals
from factormech.workloads.ranges import Prefix

_Bounds: TypeAlias = list[tuple[int | None, None]]
_WEIGHT_STEPS = 200  # of the search for weights of parities where widths are mixed


@dataclass(frozen=True)
class Literals:
    """Queries as sets of literals: the masks of their attributes, and which of them are to be 1, (k,) each."""

    attributes: int
    sets: IntArray
    ones: IntArray

    @property
    def widths(self) -> IntArray:
        return np.bitwise_count(self.sets).astype(np.int64)


def literals(workload: Workload) -> Literals | None:
    """The literals of a workload of marginals or monotone conjunctions, in the order of its queries; else ``None``."""
    if isinstance(workload, Conjunctions):
        masks = binary.sets(workload.d, range(workload.k + 1))
        return Literals(workload.d, masks, masks)
    if isinstance(workload, Marginals):
        sets, ones = [], []
        for w in workload.widths:
            for mask in binary.sets(workload.d, [w]).tolist():
                cells = _cells(mask, w)
                sets.append(np.full(len(cells), mask))
                ones.append(cells)
        return Literals(workload.d, np.concatenate(sets), np.concatenate(ones))
    return None


def uniform_polynomial(width: int, degree: int) -> tuple[FloatArray, float]:
    """Coefficients f (width + 1,) of the best polynomial of this degree for [s = width], and its largest error."""
    w, t = width, min(width, degree)
    if t == w:
        return np.full(w + 1, 2.0**-w), 0.0  # the product of the (1 + z_i)/2
    K = _krawtchouk(w)[:, : t + 1]
    target = (np.arange(w + 1) == w).astype(float)
    ones = np.ones((w + 1, 1))
    A = np.vstack([np.hstack([K, -ones]), np.hstack([-K, -ones])])
    cost = np.r_[np.zeros(t + 1), 1.0]
    f = _linear_program(cost, A, np.r_[target, -target], [(None, None)] * (t + 1) + [(0, None)])[:-1]
    return np.r_[f, np.zeros(w - t)], float(np.max(np.abs(K @ f - target)))


def least_norm_polynomial(attributes: int, width: int, alpha: float) -> tuple[FloatArray, float, float]:
    """f of the least γ̂₂(W, a)/(α − a) over f and a, for all marginals of one width; that a, and the objective.

    The distance is the error of the f that was found, which may be the program's a up to rounding.
    """
    d, w = attributes, width
    K, target = _krawtchouk(w), (np.arange(w + 1) == w).astype(float)
    sizes = np.array([comb(d, t) * comb(w, t) for t in range(w + 1)], dtype=float) ** 0.5
    sizes[0] = 0.0
    # Unknowns: f'₊ and f'₋, both ≥ 0, and z.
    top = np.hstack([K, -K, -(target + alpha)[:, None]])
    bottom = np.hstack([-K, K, (target - alpha)[:, None]])
    found = _linear_program(
        np.r_[sizes, sizes, 0.0], np.vstack([top, bottom]), np.full(2 * w + 2, -1.0), [(0, None)] * (2 * w + 3)
    )
    z = float(found[-1])
    f = (found[: w + 1] - found[w + 1 : -1]) / z
    a = float(np.max(np.abs(K @ f - target)))
    return f, a, float(sizes @ np.abs(f)) / (alpha - a)


def by_degree(workload: Workload, degree: int) -> LocalFactorization:
    """Factors from the best uniform polynomials of at most this degree, one for each width."""
    queries = _queries(workload)
    polynomials = {int(w): uniform_polynomial(int(w), degree) for w in np.unique(queries.widths)}
    distance = max(error for _, error in polynomials.values())
    return factors_of(workload, queries, {w: f for w, (f, _) in polynomials.items()}, distance)


def of_least_norm(workload: Workload, alpha: float) -> LocalFactorization:
    """Factors of the least γ̂₂(W, a)/(α − a), for all marginals of one width."""
    queries = _queries(workload)
    widths = np.unique(queries.widths)
    if not isinstance(workload, Marginals) or len(widths) != 1:
        rule = "hold all marginals of one width"
        raise BadValue("workload", workload.name, rule, "ask for 'polynomial', or for 'shifted'")
    w = int(widths[0])
    f, distance, _ = least_norm_polynomial(queries.attributes, w, alpha)
    return factors_of(workload, queries, {w: f}, distance)


def factors_of(
    workload: Workload, queries: Literals, polynomials: dict[int, FloatArray], distance: float
) -> LocalFactorization:
    """R, A and c of the polynomials (coefficients f by width), within ``distance`` of the workload."""
    d, n = queries.attributes, workload.domain_size
    weights = _weights(d, polynomials)
    T = binary.sets(d, [t for t in range(1, d + 1) if t < len(weights) and weights[t] > 0])
    check_dense_size("polynomial factors", workload.queries + n, max(len(T), 1))
    order = popcounts(1 << d)[T]
    coefficients = np.zeros((workload.queries, len(T)))
    shift = np.empty(workload.queries)
    for w, f in polynomials.items():  # a few widths
        rows = np.flatnonzero(queries.widths == w)
        padded = np.r_[f, np.zeros(d + 1 - len(f))]
        # A literal wants its attribute to be b: z = (−1)^(u + b), and so a literal that wants 1 has z = −χ.
        signs = 1.0 - 2.0 * (np.bitwise_count(T & queries.ones[rows, None]) % 2)
        inside = (T & ~queries.sets[rows, None]) == 0
        coefficients[rows] = np.where(inside, signs * padded[order], 0.0)
        shift[rows] = -f[0]
    omega = np.sqrt(weights[order])
    A = omega[:, None] * (1.0 - 2.0 * (np.bitwise_count(T[:, None] & np.arange(n)) % 2))
    return factorization(workload.matrix(), coefficients / omega, A, shift, distance=distance)


def _weights(d: int, polynomials: dict[int, FloatArray]) -> FloatArray:
    """ω_t², entry t, of small column norm² Σ C(d,t)ω_t² × largest row norm² Σ C(w,t)f_t²/ω_t² over the widths.

    The best are ω_t² ∝ √(Σ_w λ_w C(w,t)f_t²/C(d,t)) for the multipliers λ of the widths (one width: in closed form),
    found by multiplicative steps; the best met are kept, and any are right.
    """
    longest = max(len(f) for f in polynomials.values())
    rows = np.zeros((len(polynomials), longest))
    for i, (w, f) in enumerate(polynomials.items()):
        rows[i, : len(f)] = [comb(w, t) * value**2 for t, value in enumerate(f.tolist())]
    rows[:, 0] = 0.0
    columns = np.array([float(comb(d, t)) for t in range(longest)])
    multipliers, best, least = np.full(len(rows), 1.0 / len(rows)), np.zeros(longest), np.inf
    for _ in range(_WEIGHT_STEPS if len(rows) > 1 else 1):
        squares = np.sqrt(multipliers @ rows / columns)
        used = squares > 0
        norms = (rows[:, used] / squares[used]).sum(axis=1)
        objective = float(norms.max(initial=0.0) * (columns @ squares))
        if objective < least:
            best, least = squares, objective
        multipliers = multipliers * (norms / max(float(norms.max(initial=0.0)), 1e-300)) ** 0.5
        multipliers = np.maximum(multipliers / multipliers.sum(), 1e-12)
    return best


def _krawtchouk(width: int) -> FloatArray:
    """κ, (width + 1, width + 1): row s, column t."""
    return np.array(krawtchouk(width), dtype=np.float64)


def _cells(mask: int, width: int) -> IntArray:
    """Cell by cell of the table of the attributes in ``mask``: those that are 1, as a mask."""
    cells = np.zeros(1, dtype=np.int64)
    rest = mask
    for _ in range(width):
        lowest = rest & -rest
        cells = np.concatenate([cells, cells | lowest])
        rest ^= lowest
    return cells


def _queries(workload: Workload) -> Literals:
    queries = literals(workload)
    if queries is None:
        rule = "hold marginals or monotone conjunctions"
        raise BadValue("workload", workload.name, rule, "ask for 'shifted', which suits every workload")
    return queries


def _linear_program(cost: FloatArray, A: FloatArray, b: FloatArray, bounds: _Bounds) -> FloatArray:
    """The x of least cost·x with Ax ≤ b; refused where the program fails, which these never should."""
    from scipy.optimize import linprog

    found = linprog(cost, A_ub=A, b_ub=b, bounds=bounds, method="highs")
    if found.x is None:
        raise BadValue("polynomial", found.message, "be found by the linear program", "ask for another width or alpha")
    return np.asarray(found.x)


@dataclass(frozen=True)
class FactorRequest:
    """A request for factors: the workload, the budget, the accuracy where it matters, and the seeds of solvers."""

    name: str
    workload: Workload
    epsilon: float
    alpha: float | None
    seed: int
    root_seed: int

    @cached_property
    def matrix(self) -> FloatArray:
        """The matrix W of the queries, (k, N)."""
        return self.workload.matrix()

    def accuracy(self) -> float:
        """α, which this mechanism is made for."""
        if self.alpha is None:
            raise BadValue("alpha", None, f"be given for {self.name}", "give the accuracy that it is to reach")
        return self.alpha


# Given how many users any factors are predicted to need, the best ones.
Choice = Callable[[Callable[[LocalFactorization], int]], LocalFactorization]
Made = list[LocalFactorization] | Choice | LocalRelease | Unavailable
Source = Callable[[FactorRequest], Made]


def optimal(request: FactorRequest) -> Made:
    """The factors of γ₂(W): exact, without shifts (Edmonds, Nikolov & Ullman, STOC 2020)."""
    from factormech.norms.by_workload import automatic_norm

    norm = automatic_norm(request.workload)
    return [factorization(request.matrix, norm.left.dense(), norm.right.dense())]


def approximate(request: FactorRequest) -> Made:
    """γ₂(W, a), its a chosen for the accuracy."""
    return _searched(request, shifted=False)


def shifted(request: FactorRequest) -> Made:
    """Return factors that attain γ̂₂(W, a), with free row shifts and the a that suits the accuracy."""
    return _searched(request, shifted=True)


def half_alpha(request: FactorRequest) -> Made:
    """γ₂(W, α/2): the choice of the papers."""
    a = 0.5 * request.accuracy()
    return [_of_norm(request.matrix, norm_at(request.workload, a, shifted=False), a)]


def independent(request: FactorRequest) -> Made:
    """Noise on every query: R = I, the middle of every query's range being its public shift."""
    W = request.matrix
    middle = 0.5 * (W.max(axis=1) + W.min(axis=1))
    return [factorization(W, np.eye(len(W)), W - middle[:, None], -middle)]


def one_query(request: FactorRequest) -> Made:
    """Randomized response on one random query."""
    return OneQuery(request.name, request.matrix, request.epsilon)


def dyadic_tree(request: FactorRequest) -> Made:
    """The tree of intervals, decoded by least squares."""
    return _tree(request, releases.least_squares)


def dyadic_tree_plain(request: FactorRequest) -> Made:
    """The tree of intervals, decoded by adding up the fewest."""
    return _tree(request, releases.plain)


def polynomials(request: FactorRequest) -> Made:
    """Best uniform polynomials of every degree that is accurate enough (Thaler, Ullman & Vadhan, ICALP 2012)."""
    queries = literals(request.workload)
    if queries is None:
        return Unavailable("polynomials answer marginals and monotone conjunctions only")
    width = int(queries.widths.max())
    limit = request.accuracy()
    found = [by_degree(request.workload, degree) for degree in range(1, width + 1)]
    return [factors for factors in found if factors.distance < limit]


def symmetric_polynomial(request: FactorRequest) -> Made:
    """The polynomial of the least norm: γ̂₂(W, a) itself for all marginals of one width."""
    queries = literals(request.workload)
    if queries is None or len(np.unique(queries.widths)) != 1 or isinstance(request.workload, Conjunctions):
        return Unavailable("the polynomial of the least norm is known for all marginals of one width only")
    return [of_least_norm(request.workload, request.accuracy())]


def strategy(request: FactorRequest) -> Made:
    """A mechanism of ``mechanisms/local/registry.py`` on the same workload."""
    from factormech.mechanisms.local.calibrated_columns import CalibratedColumns
    from factormech.mechanisms.local.registry import strategy_for
    from factormech.mechanisms.local.symmetric.strategy import SymmetricStrategy

    found = strategy_for(
        request.name, request.workload, request.epsilon, seed=request.seed, root_seed=request.root_seed
    )
    if isinstance(found, Unavailable):
        return found
    evaluation = found.evaluate(request.workload.centred_gram())
    if not evaluation.answered:
        return Unavailable(evaluation.refusal)
    if isinstance(found, SymmetricStrategy):
        found = found.as_matrix()
    if isinstance(found, StrategyMatrix):
        return StrategyRelease(request.name, request.matrix, found)
    if isinstance(found, CalibratedColumns):
        factors = _decoded(request.matrix, found.noisy.columns, found.inverse)
        return [factors] if found.noisy.noise == "half-sphere" else AdditiveRelease(request.name, factors, found.noisy)
    return Unavailable(f"the outputs of {request.name} over {request.workload.domain_size} types are too many to list")


def _searched(request: FactorRequest, *, shifted: bool) -> Made:
    alpha, W = request.accuracy(), request.matrix
    search = best_distance(request.workload, alpha, shifted=shifted)

    def solve(a: float) -> Tried:
        return Tried(a, norm_at(request.workload, a, shifted=shifted))

    def choose(users: Callable[[LocalFactorization], int]) -> LocalFactorization:
        best = fewest_users(search, alpha, solve, lambda one: users(_of_norm(W, one.norm, one.distance)))
        return _of_norm(W, best.norm, best.distance)

    return choose


def _of_norm(W: FloatArray, norm: CertifiedNorm, a: float) -> LocalFactorization:
    shift = norm.witness.get("shift", np.zeros(len(W)))
    return factorization(W, norm.left.dense(), norm.right.dense(), shift, distance=a + norm.residual)


def _decoded(W: FloatArray, columns: FloatArray, inverse: FloatArray) -> LocalFactorization:
    """R = W(AP)⁺, centred as the strategy is, and the shift that its answers W1/N + R(Ȳ − ā) have."""
    R = (W - W.mean(axis=1, keepdims=True)) @ inverse
    return factorization(W, R, columns, (R @ columns - W).mean(axis=1), distance=1e-8 * float(np.abs(W).max()))


def _tree(request: FactorRequest, decode: Callable[[FloatArray], LocalFactorization]) -> Made:
    if not isinstance(request.workload, Prefix):
        return Unavailable("the dyadic tree answers thresholds (the workload prefix) only")
    return [decode(request.matrix)]
