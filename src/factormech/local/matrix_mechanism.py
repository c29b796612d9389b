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
from dataclasses import dataclass, field

import numpy as np

from factormech.arrays import FloatArray, IntArray, check_epsilon
from factormech.errors import BadValue
from factormech.local import ball
from factormech.local.gaussian import check_delta, gaussian_noise_multiplier
from factormech.local.l1_strategies import l1_diameter, laplace_strategy
from factormech.local.l2_strategies import (
    LOST_ENERGY,
    SolverRecord,
    diameter_strategy,
    enclosing_ball_strategy,
    gram_root,
)
from factormech.local.solved import Solution
from factormech.local.strategy import Evaluation
from factormech.workloads.base import Workload

DEFAULT_DELTA = 1e-9
# Outward margin on every sensitivity; the sums of k terms behind it are off by at most about k·2⁻⁵³
# relatively.
SENSITIVITY_MARGIN = 1e-12
_CENTRED = 1e-9  # how far C1 may be from 0, and eigenvalues below 0, relative to the largest entry


@dataclass(frozen=True)
class AdditiveStrategy:
    """A strategy with its noise, its exact variances for one workload, and how it was found.

    Attributes
    ----------
    noise
        ``"laplace"``, ``"half-sphere"`` or ``"gaussian"``.
    columns
        A (k × n): what a user of each type hands to the randomizer. For the half-sphere the columns
        have been shifted and scaled into the unit ball.
    centre
        ā = A1/n (k,): what the server subtracts per user.
    inverse
        (AP)⁺ (n × k): histogram estimates are N/n + inverse·(Σ reports − N·centre).
    scale
        Laplace scale b, Gaussian σ, or norm B of a half-sphere report.
    sensitivity
        Outward-rounded Δ₁ (Laplace), Δ₂ (Gaussian), or largest column norm (half-sphere), of these very
        columns.
    second_moment
        E⟨θ, y⟩² of the half-sphere report, or variance of one coordinate of the noise.
    epsilon, delta
        The guarantee of one report.
    variance
        (n,): variance of one user's contribution, summed over the queries, by the user's type.
    solver
        Objective ‖R‖_F² × size², and the bound that no other A can beat.
    """

    noise: str
    columns: FloatArray
    centre: FloatArray
    inverse: FloatArray
    scale: float
    sensitivity: float
    second_moment: float
    epsilon: float
    delta: float
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

    def report(self, types: IntArray, rng: np.random.Generator) -> FloatArray:
        """Independent reports (N, k) of users of the given ``types`` (integers, (N,))."""
        a: FloatArray = self.columns.T[types]
        if self.columns.shape[0] == 0:
            return a
        if self.noise == "half-sphere":
            return ball.sample(a, self.epsilon, rng)
        draw = rng.laplace if self.noise == "laplace" else rng.normal
        return np.asarray(a + draw(scale=self.scale, size=a.shape))

    def histogram(self, report_sum: FloatArray, users: int) -> FloatArray:
        """x̂ (n,) with E Wx̂ = Wx, from the sum (k,) of the reports of ``users`` users."""
        return users / len(self.variance) + self.inverse @ (report_sum - users * self.centre)


def matrix_l1(centred_gram: FloatArray, epsilon: float, *, max_iterations: int = 60) -> AdditiveStrategy:
    """Laplace noise on the best strategy found; pure ε. The record's bound holds for every strategy."""
    C, epsilon = _check_gram(centred_gram), check_epsilon(epsilon)
    B = gram_root(C)
    if not len(B):
        return _nothing_to_ask("laplace", C, epsilon, 0.0)
    A, _, found = enclosing_ball_strategy(B)
    A, record = laplace_strategy(C, A, found.lower_bound, max_iterations=max_iterations)
    return laplace_mechanism(A, C, epsilon, record)


def matrix_l2(
    centred_gram: FloatArray, epsilon: float, *, tolerance: float = 1e-9, max_iterations: int = 500
) -> AdditiveStrategy:
    """Half-sphere reports of the strategy of least ‖R‖_F² × radius²; pure ε."""
    C, epsilon = _check_gram(centred_gram), check_epsilon(epsilon)
    B = gram_root(C)
    if not len(B):
        return _nothing_to_ask("half-sphere", C, epsilon, 0.0)
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
    C, epsilon, delta = _check_gram(centred_gram), check_epsilon(epsilon), check_delta(delta)
    B = gram_root(C)
    if not len(B):
        return _nothing_to_ask("gaussian", C, epsilon, delta)
    _, q, _ = enclosing_ball_strategy(B, tolerance=tolerance)
    A, record = diameter_strategy(B, q, tolerance=tolerance, max_iterations=max_iterations)
    return gaussian_mechanism(A, C, epsilon, delta, record)


# -------------------------------------------------------------------- any A, made private and measured


def laplace_mechanism(A: FloatArray, C: FloatArray, epsilon: float, record: SolverRecord) -> AdditiveStrategy:
    """Laplace noise on the columns of any A (k × n): scale Δ₁/ε, variance 2(Δ₁/ε)²‖R‖_F² for every type."""
    sensitivity = _outward(l1_diameter(A), len(A))
    scale = sensitivity / epsilon
    return _independent_noise("laplace", A, C, (epsilon, 0.0), (scale, sensitivity, 2 * scale**2), record)


def gaussian_mechanism(
    A: FloatArray, C: FloatArray, epsilon: float, delta: float, record: SolverRecord
) -> AdditiveStrategy:
    """Gaussian noise on the columns of any A (k × n), σ for their exact diameter; variance σ²‖R‖_F²."""
    sensitivity = _outward(_l2_diameter(A), len(A))
    scale = sensitivity * gaussian_noise_multiplier(epsilon, delta)
    return _independent_noise("gaussian", A, C, (epsilon, delta), (scale, sensitivity, scale**2), record)


def half_sphere_mechanism(A: FloatArray, C: FloatArray, epsilon: float, record: SolverRecord) -> AdditiveStrategy:
    """Half-sphere reports of the columns of any A (d × n) whose enclosing ball is centred at 0.

    The columns are scaled so that the largest norm is just below 1, and checked. Variance of type u:
    (B²/d)‖R‖_F² − ‖R·a_u‖².
    """
    A = A / _outward(_largest_norm(A), len(A))
    ball.check_points(A.T)
    moment = ball.second_moment(len(A), epsilon)
    J = _inverse(A, C)
    z = J @ A
    signal = np.einsum("vu,vu->u", z, C @ z)
    return AdditiveStrategy(
        noise="half-sphere",
        columns=A,
        centre=A.mean(axis=1),
        inverse=J,
        scale=ball.half_sphere_radius(len(A), epsilon),
        sensitivity=_largest_norm(A),
        second_moment=moment,
        epsilon=epsilon,
        delta=0.0,
        variance=moment * _energy(J, C) - signal,
        solver=record,
    )


def _independent_noise(
    noise: str,
    A: FloatArray,
    C: FloatArray,
    guarantee: tuple[float, float],
    size: tuple[float, float, float],
    record: SolverRecord,
) -> AdditiveStrategy:
    J = _inverse(A, C)
    scale, sensitivity, moment = size
    return AdditiveStrategy(
        noise=noise,
        columns=A,
        centre=A.mean(axis=1),
        inverse=J,
        scale=scale,
        sensitivity=sensitivity,
        second_moment=moment,
        epsilon=guarantee[0],
        delta=guarantee[1],
        variance=np.full(len(C), moment * _energy(J, C)),
        solver=record,
    )


def _nothing_to_ask(noise: str, C: FloatArray, epsilon: float, delta: float) -> AdditiveStrategy:
    """All columns of W are equal: the answers follow from the number of users; nobody reports anything."""
    n = len(C)
    return AdditiveStrategy(
        noise=noise,
        columns=np.zeros((0, n)),
        centre=np.zeros(0),
        inverse=np.zeros((n, 0)),
        scale=0.0,
        sensitivity=0.0,
        second_moment=0.0,
        epsilon=epsilon,
        delta=delta,
        variance=np.zeros(n),
        solver=SolverRecord(0.0, 0.0, 0, "every user gives the same answers"),
    )


def _inverse(A: FloatArray, C: FloatArray) -> FloatArray:
    """(AP)⁺; refused if the rows of WP do not lie in the row space of AP."""
    from scipy.linalg import qr

    # The k × n matrix through its n × n triangle when it is tall; singular values keep full relative
    # accuracy.
    centred = A - A.mean(axis=1, keepdims=True)
    Q, T = qr(centred, mode="economic") if len(A) > A.shape[1] else (None, centred)
    U, s, Vt = np.linalg.svd(T, full_matrices=False)
    keep = s > max(A.shape) * np.finfo(float).eps * max(float(s[0]), np.finfo(float).tiny)
    U, s, Vt = U[:, keep], s[keep], Vt[keep]
    lost = 1.0 - np.sum((Vt @ C) * Vt) / np.trace(C)
    if not lost <= LOST_ENERGY:
        raise BadValue(
            "strategy",
            lost,
            "determine the workload (the value is the share of its energy outside the row space)",
            "add rows to the strategy",
        )
    return np.asarray((Vt.T / s) @ (U.T if Q is None else (Q @ U).T))


def _energy(J: FloatArray, C: FloatArray) -> float:
    """‖R‖_F² = ‖WJ‖_F² = tr(JᵀCJ)."""
    return float(np.sum(J * (C @ J)))


def _outward(size: float, terms: int) -> float:
    """A computed size, rounded up past the error of summing ``terms`` nonnegative numbers."""
    return size * (1.0 + max(SENSITIVITY_MARGIN, 4 * terms * np.finfo(float).eps))


def _l2_diameter(A: FloatArray) -> float:
    """max_{u,v} ‖a_u − a_v‖₂ from differences (a Gram matrix would lose half of the digits)."""
    from scipy.spatial.distance import pdist

    return float(np.max(pdist(A.T), initial=0.0))


def _largest_norm(A: FloatArray) -> float:
    return float(np.linalg.norm(A, axis=0).max())


def _check_gram(value: FloatArray) -> FloatArray:
    """C as a symmetric float array: square, finite, C1 = 0, and positive semidefinite, all up to rounding."""
    C = np.asarray(value, dtype=np.float64)
    if C.ndim != 2 or C.shape[0] != C.shape[1] or not C.size:
        raise BadValue("centred_gram", C.shape, "be a square matrix", "give Workload.centred_gram()")
    if not np.all(np.isfinite(C)):
        raise BadValue("centred_gram", "inf or nan", "be finite", "give Workload.centred_gram()")
    largest = float(np.abs(C).max())
    off = float(np.abs(C - C.T).max())
    if off > _CENTRED * largest:
        raise BadValue("centred_gram", off, "be symmetric (the value is the largest difference)", "give PGP")
    sums = float(np.abs(C.sum(axis=0)).max())
    if sums > _CENTRED * len(C) * largest:
        raise BadValue("centred_gram", sums, "have columns that sum to 0 (the value is the largest)", "give PGP")
    C = 0.5 * (C + C.T)
    least = float(np.linalg.eigvalsh(C)[0])
    if least < -_CENTRED * len(C) * largest:
        raise BadValue("centred_gram", least, "be positive semidefinite (least eigenvalue)", "give PGP, G = WᵀW")
    return C


# ------------------------------------------------------------------------------ the registered mechanisms


@dataclass(frozen=True)
class MatrixMechanism:
    """A registered mechanism: how its strategy is found, and how its noise is calibrated.

    The strategy serves every budget: noise only scales with ε (for the ball, the randomizer itself depends on ε, its
    best strategy does not).
    """

    find: Callable[[FloatArray, float], AdditiveStrategy]
    calibrate: Callable[[FloatArray, FloatArray, float, SolverRecord], AdditiveStrategy]
    delta: float = 0.0

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
        return CalibratedColumns(solution.datasets["columns"], check_epsilon(epsilon), self)


@dataclass(frozen=True)
class CalibratedColumns:
    """A strategy A with noise for a budget, as the measurements ask it.

    Attributes
    ----------
    columns
        A (k × n).
    epsilon
        The budget.
    mechanism
        Which noise.
    """

    columns: FloatArray
    epsilon: float
    mechanism: MatrixMechanism
    outputs: int = field(default=0, init=False)  # reports are real vectors

    @property
    def domain_size(self) -> int:
        return int(self.columns.shape[1])

    def evaluate(self, centred_gram: FloatArray) -> Evaluation:
        """The exact error on the workload with this centred Gram matrix PGP."""
        C = _check_gram(centred_gram)
        energy = float(np.trace(C))
        if energy <= 0:
            return Evaluation(np.zeros(self.domain_size), 0.0, self.epsilon, self.outputs)
        found = self.mechanism.calibrate(self.columns, C, self.epsilon, SolverRecord(0.0, 0.0, 0, ""))
        A = found.columns - found.centre[:, None]
        E = found.inverse @ A - np.eye(self.domain_size) + 1.0 / self.domain_size
        residual = float(np.sqrt(max(float(np.sum((C @ E) * E)), 0.0) / energy))
        return Evaluation(found.variance, residual, self.epsilon, self.outputs)


def _gaussian(A: FloatArray, C: FloatArray, epsilon: float, record: SolverRecord) -> AdditiveStrategy:
    return gaussian_mechanism(A, C, epsilon, DEFAULT_DELTA, record)


L1 = MatrixMechanism(matrix_l1, laplace_mechanism)
L2 = MatrixMechanism(matrix_l2, half_sphere_mechanism)
L2_GAUSSIAN = MatrixMechanism(matrix_l2_gaussian, _gaussian, DEFAULT_DELTA)
