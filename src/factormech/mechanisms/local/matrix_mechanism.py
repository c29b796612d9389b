r"""The local matrix mechanisms: every user sends one column of a strategy A, blurred by additive noise.

McKenna, Maity, Mazumdar & Miklau (PVLDB 13(11), 2020, §6.1) compare with this "distributed" matrix
mechanism; Edmonds, Nikolov & Ullman (STOC 2020, §3) analyse the L2 form. A user of type u reports y =
a_u + noise; with R = WP(AP)⁺, the least ‖R‖_F of all RAP = WP, the server estimates Wx by

    W1·N/n + R(Σ y − N·ā),   ā = A1/n,

unbiased when the rows of WP lie in the row space of AP: an offset common to all columns is free, since
N, the number of users, is public (P = I − 11ᵀ/n; neighbours replace one user). The variance of one
user's contribution, summed over the queries, is ‖R‖_F²·(second moment of the noise) less, for the ball,
‖R·a_u‖². It depends on W only through the centred Gram matrix C = PWᵀWP, which is all that is asked for
here.

* ``matrix-l1``: Laplace noise of scale Δ₁/ε in each coordinate, Δ₁ = max ‖a_u − a_v‖₁; A has small
  ‖R‖_F²·Δ₁² (a search, with a bound).
* ``matrix-l2``: the half-sphere randomizer, pure ε; A has the least ‖R‖_F²·radius², the radius of the
  minimum enclosing ball of the columns.
* ``matrix-l2-gaussian``: N(0, σ²I) with the analytic (ε, δ) calibration; A has the least ‖R‖_F²·Δ₂²,
  Δ₂ = max ‖a_u − a_v‖₂.

For ``matrix-l2`` the error is (B_d²/d)·γ² less ‖W(e_u − q)‖², q the weights of the ball's centre. What
is minimised is γ², exactly; B_d²/d lies between c² and (π/2)·c² and depends only on d, here always the
least possible one, the rank of C.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from factormech.arrays import FloatArray, check_epsilon
from factormech.errors import BadValue
from factormech.mechanisms.local.calibrated_columns import CalibratedColumns
from factormech.mechanisms.local.l1_strategies import laplace_strategy
from factormech.mechanisms.local.l2_strategies import (
    LOST_ENERGY,
    SolverRecord,
    diameter_strategy,
    enclosing_ball_strategy,
)
from factormech.mechanisms.local.noisy_columns import (
    NoisyColumns,
    check_centred_gram,
    singular_vectors,
    variance_by_type,
    with_gaussian_noise,
    with_half_sphere_noise,
    with_laplace_noise,
)
from factormech.mechanisms.local.solved import Solution
from factormech.numerics.vectors import root
from factormech.privacy.gaussian import check_delta
from factormech.workloads.base import Workload

DEFAULT_DELTA = 1e-9


@dataclass(frozen=True)
class AdditiveStrategy(NoisyColumns):
    """A strategy with its noise, its exact variances for one workload, and how it was found.

    Attributes
    ----------
    centre
        ā = A1/n (k,): what the server subtracts per user.
    inverse
        (AP)⁺ (n × k): histogram estimates are N/n + inverse·(Σ reports − N·centre).
    variance
        (n,): variance of one user's contribution, summed over the queries, by the user's type.
    solver
        Objective ‖R‖_F² × size², and the bound that no other A can beat.
    """

    centre: FloatArray
    inverse: FloatArray
    variance: FloatArray
    solver: SolverRecord

    @property
    def worst_variance(self) -> float:
        """Largest variance of a user type."""
        return float(self.variance.max())

    @property
    def average_variance(self) -> float:
        """Mean variance over user types."""
        return float(self.variance.mean())

    def histogram(self, report_sum: FloatArray, users: int) -> FloatArray:
        """x̂ (n,) with E Wx̂ = Wx, from the sum (k,) of the reports of ``users`` users."""
        return users / len(self.variance) + self.inverse @ (report_sum - users * self.centre)


def matrix_l1(centred_gram: FloatArray, epsilon: float, *, max_iterations: int = 60) -> AdditiveStrategy:
    """Laplace noise on the best strategy found; pure ε. The record's bound holds for every strategy."""
    C, epsilon = check_centred_gram(centred_gram), check_epsilon(epsilon)
    B = root(C).T
    if not len(B):
        return _nothing_to_ask(with_laplace_noise(B, epsilon), C)
    A, _, found = enclosing_ball_strategy(B)
    A, record = laplace_strategy(C, A, found.lower_bound, max_iterations=max_iterations)
    return laplace_mechanism(A, C, epsilon, record)


def matrix_l2(
    centred_gram: FloatArray, epsilon: float, *, tolerance: float = 1e-9, max_iterations: int = 500
) -> AdditiveStrategy:
    """Half-sphere reports of the strategy of least ‖R‖_F² × radius²; pure ε."""
    C, epsilon = check_centred_gram(centred_gram), check_epsilon(epsilon)
    B = root(C).T
    if not len(B):
        return _nothing_to_ask(with_half_sphere_noise(B, epsilon), C)
    A, _, record = enclosing_ball_strategy(B, tolerance=tolerance, max_iterations=max_iterations)
    return half_sphere_mechanism(A, C, epsilon, record)


def matrix_l2_gaussian(
    centred_gram: FloatArray,
    epsilon: float,
    delta: float = DEFAULT_DELTA,
    *,
    tolerance: float = 1e-4,
    max_iterations: int = 300,
) -> AdditiveStrategy:
    """Gaussian noise on the strategy of least ‖R‖_F² × diameter²; (ε, δ)."""
    C, epsilon, delta = check_centred_gram(centred_gram), check_epsilon(epsilon), check_delta(delta)
    B = root(C).T
    if not len(B):
        return _nothing_to_ask(with_gaussian_noise(B, epsilon, delta), C)
    _, q, _ = enclosing_ball_strategy(B, tolerance=tolerance)
    A, record = diameter_strategy(B, q, tolerance=tolerance, max_iterations=max_iterations)
    return gaussian_mechanism(A, C, epsilon, delta, record)


# -------------------------------------------------------------------- any A, made private and measured


def laplace_mechanism(A: FloatArray, C: FloatArray, epsilon: float, record: SolverRecord) -> AdditiveStrategy:
    """Return Laplace noise on the columns of A (k × n): scale Δ₁/ε, variance 2(Δ₁/ε)²‖R‖_F² for every type."""
    return _measured(with_laplace_noise(A, epsilon), C, record)


def gaussian_mechanism(
    A: FloatArray, C: FloatArray, epsilon: float, delta: float, record: SolverRecord
) -> AdditiveStrategy:
    """Return Gaussian noise on the columns of A (k × n), σ for their exact diameter; variance σ²‖R‖_F²."""
    return _measured(with_gaussian_noise(A, epsilon, delta), C, record)


def half_sphere_mechanism(A: FloatArray, C: FloatArray, epsilon: float, record: SolverRecord) -> AdditiveStrategy:
    """Return half-sphere reports of the columns of A (d × n), whose enclosing ball is centred at 0.

    Variance of type u: (B²/d)‖R‖_F² − ‖R·a_u‖².
    """
    return _measured(with_half_sphere_noise(A, epsilon), C, record)


def _measured(noisy: NoisyColumns, C: FloatArray, record: SolverRecord) -> AdditiveStrategy:
    """The strategy with its exact variances; refused if the rows of WP do not lie in the row space of AP."""
    A = noisy.columns
    U, s, Vt = singular_vectors(A)
    J = (Vt.T / s) @ U.T
    lost = 1.0 - float(np.sum((Vt @ C) * Vt)) / float(np.trace(C))
    if not lost <= LOST_ENERGY:
        raise BadValue(
            "strategy",
            lost,
            "determine the workload (the value is the share of its energy outside the row space)",
            "add rows to the strategy",
        )
    return AdditiveStrategy(
        **vars(noisy), centre=A.mean(axis=1), inverse=J, variance=variance_by_type(noisy, J, C), solver=record
    )


def _nothing_to_ask(noisy: NoisyColumns, C: FloatArray) -> AdditiveStrategy:
    """Return the strategy without reports: all columns of W are equal, and the number of users gives the answers."""
    n = len(C)
    record = SolverRecord(0.0, 0.0, 0, "every user gives the same answers")
    return AdditiveStrategy(
        **vars(noisy), centre=np.zeros(0), inverse=np.zeros((n, 0)), variance=np.zeros(n), solver=record
    )


# ------------------------------------------------------------------------------ the registered mechanisms


@dataclass(frozen=True)
class MatrixMechanism:
    """A registered mechanism: how its strategy is found, and how its noise is calibrated.

    The strategy serves every budget: noise only scales with ε (for the ball, the randomizer itself depends on ε, its
    best strategy does not).
    """

    find: Callable[[FloatArray, float], AdditiveStrategy]
    calibrate: Callable[[FloatArray, float], NoisyColumns]

    def solve(self, workload: Workload, epsilon: float | None, rng: np.random.Generator) -> Solution:
        """The strategy A for a workload; neither ε nor chance matters."""
        found = self.find(workload.centred_gram(), 1.0)
        record = {
            "objective": found.solver.objective,
            "lower_bound": found.solver.lower_bound,
            "iterations": found.solver.iterations,
            "stopped": found.solver.stopped,
        }
        return Solution({"columns": found.columns}, record)

    def restore(self, solution: Solution, epsilon: float) -> CalibratedColumns:
        """The columns with the noise for this budget."""
        return CalibratedColumns(solution.datasets["columns"], check_epsilon(epsilon), self.calibrate)


def _gaussian(A: FloatArray, epsilon: float) -> NoisyColumns:
    return with_gaussian_noise(A, epsilon, DEFAULT_DELTA)


L1 = MatrixMechanism(matrix_l1, with_laplace_noise)
L2 = MatrixMechanism(matrix_l2, with_half_sphere_noise)
L2_GAUSSIAN = MatrixMechanism(matrix_l2_gaussian, _gaussian)
