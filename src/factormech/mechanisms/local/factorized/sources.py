"""Where mechanisms come from: for each name of the registry the function that makes its factors or its release.

Each takes the ``FactorRequest`` and returns factorizations to choose from (a list, or a function that looks for the
best), a finished ``LocalRelease``, or ``Unavailable`` with the reason.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from factormech.arrays import FloatArray
from factormech.errors import BadValue, Unavailable
from factormech.mechanisms.local.factorized import polynomial, releases
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
from factormech.workloads.base import Workload
from factormech.workloads.conjunctions import Conjunctions
from factormech.workloads.ranges import Prefix


@dataclass(frozen=True)
class FactorRequest:
    """What is asked for: the workload, the budget, the accuracy where it matters, and the seeds of solvers."""

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
    queries = polynomial.literals(request.workload)
    if queries is None:
        return Unavailable("polynomials answer marginals and monotone conjunctions only")
    width = int(queries.widths.max())
    limit = request.accuracy()
    found = [polynomial.by_degree(request.workload, degree) for degree in range(1, width + 1)]
    return [factors for factors in found if factors.distance < limit]


def symmetric_polynomial(request: FactorRequest) -> Made:
    """The polynomial of the least norm: γ̂₂(W, a) itself for all marginals of one width."""
    queries = polynomial.literals(request.workload)
    if queries is None or len(np.unique(queries.widths)) != 1 or isinstance(request.workload, Conjunctions):
        return Unavailable("the polynomial of the least norm is known for all marginals of one width only")
    return [polynomial.of_least_norm(request.workload, request.accuracy())]


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
